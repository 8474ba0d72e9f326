//! Metrics of backends and their endpoints.

use std::sync::Arc;

use oarlock_service_kit::metrics::MetricsText;

use super::endpoint::BackendEndpoint;
use super::group::Backend;
use super::set::BackendSet;

/// The maximum number of endpoints on the page. Further ones are not shown, so that the page stays readable.
const MAX_SHOWN: usize = 1_000;

/// Appends the metrics of backends.
pub(crate) fn write_backends(text: &mut MetricsText, backends: &BackendSet) {
    let unavailable = backends.iter().map(|backend| (backend.label(), backend.unavailable()));
    let help = "Connections that reached no endpoint of their backend.";
    let name = "oarlock_proxy_backend_unavailable_total";
    text.totals(name, help, "backend", unavailable.take(MAX_SHOWN));
    write_lookups(text, backends);
    let members = backends.iter().flat_map(|backend| {
        let members = backend.members();
        (0..members.len()).map(move |index| (&**backend, Arc::clone(&members[index])))
    });
    let shown: Vec<_> = members.take(MAX_SHOWN).collect();
    let shown = || shown.iter().map(|(backend, member)| (*backend, &*member.endpoint));
    write_endpoints(text, shown());
    let name = "oarlock_proxy_backend_connects_total";
    text.counter(name, "Tries to connect to an endpoint, by their result.");
    for (backend, endpoint) in shown() {
        for (result, value) in endpoint.connects() {
            let [backend, endpoint] = labels(backend, endpoint);
            text.sample(name, &[backend, endpoint, ("result", result.name())], value);
        }
    }
    let name = "oarlock_proxy_backend_checks_total";
    text.counter(name, "Health checks of an endpoint, by their result.");
    for (backend, endpoint) in shown().filter(|(backend, _)| backend.check.is_some()) {
        for (result, value) in endpoint.checks() {
            let [backend, endpoint] = labels(backend, endpoint);
            text.sample(name, &[backend, endpoint, ("result", result)], value);
        }
    }
}

fn write_lookups(text: &mut MetricsText, backends: &BackendSet) {
    let name = "oarlock_proxy_backend_lookups_total";
    text.counter(name, "Lookups of a backend's names, by their result.");
    for backend in backends.iter().take(MAX_SHOWN) {
        let lookups: Vec<_> = backend.hosts().map(|host| host.lookups()).collect();
        for index in 0..lookups.first().map_or(0, |lookup| lookup.len()) {
            let (result, value) = (lookups[0][index].0, lookups.iter().map(|lookup| lookup[index].1));
            let labels = [("backend", backend.label()), ("result", result)];
            text.sample(name, &labels, value.sum::<u64>());
        }
    }
}

fn write_endpoints<'a>(
    text: &mut MetricsText,
    shown: impl Iterator<Item = (&'a Backend, &'a BackendEndpoint)> + Clone,
) {
    let name = "oarlock_proxy_backend_up";
    text.gauge(name, "1 if an endpoint is used, 0 if checks found it down or its last connect failed.");
    for (backend, endpoint) in shown.clone() {
        let is_up = endpoint.is_healthy(backend.check.is_some());
        text.sample(name, &labels(backend, endpoint), u8::from(is_up));
    }
    let name = "oarlock_proxy_backend_connections_open";
    text.gauge(name, "Connections to an endpoint now, those that are being opened included.");
    for (backend, endpoint) in shown {
        text.sample(name, &labels(backend, endpoint), endpoint.open());
    }
}

fn labels<'a>(backend: &'a Backend, endpoint: &'a BackendEndpoint) -> [(&'static str, &'a str); 2] {
    [("backend", backend.label()), ("endpoint", endpoint.label())]
}
