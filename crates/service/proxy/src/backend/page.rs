//! Metrics of backends and their endpoints.

use std::sync::Arc;

use oarlock_service_kit::metrics::MetricsText;

use super::endpoint::Endpoint;
use super::group::Backend;
use super::set::BackendSet;

/// The maximum number of endpoints on the page. Further ones are not shown, so that the page stays readable.
const MAX_SHOWN: usize = 1_000;

/// Appends the metrics of backends.
pub(crate) fn write_backends<'a>(text: &mut MetricsText, backends: &'a BackendSet) {
    let unavailable = backends.iter().map(|backend| (backend.label(), backend.unavailable()));
    let help = "Connections that reached no endpoint of their backend.";
    let name = "oarlock_proxy_backend_unavailable_total";
    text.totals(name, help, "backend", unavailable.take(MAX_SHOWN));
    let shown = || {
        let members = |backend: &'a Arc<Backend>| {
            backend.members().iter().map(move |member| (&**backend, &*member.endpoint))
        };
        let all = backends.iter().flat_map(members);
        all.take(MAX_SHOWN)
    };
    let name = "oarlock_proxy_backend_up";
    text.gauge(name, "1 if an endpoint is used, 0 if checks found it down or its last connect failed.");
    for (backend, endpoint) in shown() {
        text.sample(name, &labels(backend, endpoint), u8::from(endpoint.is_healthy(backend.check.is_some())));
    }
    let name = "oarlock_proxy_backend_connections_open";
    text.gauge(name, "Connections to an endpoint now, those that are being opened included.");
    for (backend, endpoint) in shown() {
        text.sample(name, &labels(backend, endpoint), endpoint.open());
    }
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

fn labels<'a>(backend: &'a Backend, endpoint: &'a Endpoint) -> [(&'static str, &'a str); 2] {
    [("backend", backend.label()), ("endpoint", endpoint.label())]
}
