//! The metrics page in the format of Prometheus.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use oarlock_network::DrainSwitch;
use oarlock_service_kit::metrics::{
    MetricsPage, MetricsText, append_device_metrics, append_engine_metrics, append_process_metrics,
    read_counter as read,
};

use crate::backend::write_backends;
use crate::state::{ProxyShared, ProxyState};

/// The state that the metrics page shows.
#[derive(Debug)]
pub(crate) struct ProxyPage {
    pub(crate) shared: Arc<ProxyShared>,
    pub(crate) drain: Arc<DrainSwitch>,
}

impl MetricsPage for ProxyPage {
    fn page(&self) -> String {
        let mut text = MetricsText::of_service("proxy", self.is_draining());
        write_connections(&mut text, &self.shared);
        write_backends(&mut text, &self.shared.current.get().backends);
        write_bytes(&mut text, &self.shared);
        write_certificates(&mut text, &self.shared);
        if let Some(devices) = &self.shared.holders.devices {
            append_device_metrics(&mut text, devices);
        }
        append_process_metrics(&mut text);
        append_engine_metrics(&mut text, &self.shared.accelerator);
        text.finish()
    }

    fn is_draining(&self) -> bool {
        self.drain.is_thrown()
    }
}

fn write_connections(text: &mut MetricsText, shared: &ProxyShared) {
    let counters = &shared.counters;
    text.total("oarlock_proxy_connections_total", "Accepted connections.", read(&counters.connections));
    text.value("oarlock_proxy_connections_open", "Connections now.", shared.connections.len());
    let help = "Connections whose handshake is not finished, silent ones included.";
    text.value("oarlock_proxy_handshakes_open", help, shared.handshakes.len());
    let help = "Connections handed to a less loaded thread.";
    text.total("oarlock_proxy_connections_handed_on_total", help, read(&counters.handed_on));
    let handshakes = "oarlock_proxy_handshakes_total";
    text.counter(handshakes, "Finished handshakes with clients.");
    for (labels, value) in counters.handshakes() {
        let resumed = if labels.is_resumed { "yes" } else { "no" };
        let labels = [("version", labels.version), ("group", &*labels.group), ("resumed", resumed)];
        text.sample(handshakes, &labels, value);
    }
    let refused = counters.refused().map(|(reason, value)| (reason.name(), value));
    let help = "Connections that never reached a backend.";
    text.totals("oarlock_proxy_connections_refused_total", help, "reason", refused);
    let ended = counters.ended().map(|(kind, value)| (kind.name(), value));
    let help = "Relayed connections that ended, by the side or the limit that ended them.";
    text.totals("oarlock_proxy_connections_ended_total", help, "by", ended);
    let help = "Connections by the route that they took; default stands for [backend].";
    text.totals("oarlock_proxy_route_connections_total", help, "route", counters.routes.counts());
    let (written, lost) = shared.log.lines();
    let help = "Lines of the log of connections.";
    let lines = [("written", written), ("lost", lost)];
    text.totals("oarlock_proxy_log_lines_total", help, "result", lines);
}

fn write_bytes(text: &mut MetricsText, shared: &ProxyShared) {
    let bytes = "oarlock_proxy_bytes_total";
    text.counter(
        bytes,
        "Bytes relayed, without TLS and headers, by direction and by the path of the records.",
    );
    let relayed = &shared.counters.bytes;
    for (direction, path, counter) in [
        ("to_backends", "user", &relayed.to_backends),
        ("to_backends", "kernel", &relayed.to_backends_by_kernel),
        ("to_clients", "user", &relayed.to_clients),
        ("to_clients", "kernel", &relayed.to_clients_by_kernel),
    ] {
        text.sample(bytes, &[("direction", direction), ("path", path)], read(counter));
    }
    let transfers = "oarlock_proxy_long_transfers_total";
    text.counter(transfers, "Long transfers to clients, by the path of their records and the reason.");
    let reason = shared.kernel.reason();
    text.sample(transfers, &[("path", "kernel"), ("reason", reason)], read(&shared.counters.handed_over));
    for (reason, value) in shared.counters.long_transfers() {
        text.sample(transfers, &[("path", "user"), ("reason", reason.name())], value);
    }
    let kernel = "oarlock_proxy_kernel_tls";
    text.gauge(kernel, "1 if the kernel seals records, else 0 and the reason.");
    let why_not = shared.kernel.why_not();
    text.sample(kernel, &[("why_not", why_not.unwrap_or_default())], u8::from(why_not.is_none()));
}

fn write_certificates(text: &mut MetricsText, shared: &ProxyShared) {
    let state = shared.current.get();
    if state.server.is_some() {
        text.value("oarlock_proxy_certificates", "Certificates in use.", state.certificates().count());
        let help = "The earliest end of a certificate, in seconds since 1970.";
        let end = state.certificates().map(|entry| entry.validity.not_after).min();
        text.value("oarlock_proxy_certificate_end_seconds", help, end.unwrap_or(0));
    }
    write_crl_ends(text, &state);
    write_staples(text, shared, &state);
    let counters = &shared.counters;
    let help =
        "Finished handshakes by the file of the certificate that was chosen, resumed sessions included.";
    let certificates = counters.certificates.counts();
    text.totals("oarlock_proxy_certificate_handshakes_total", help, "certificate", certificates);
    let help = "Handshakes for which no fitting certificate was valid at the time.";
    let without = read(&counters.without_valid_certificate);
    text.total("oarlock_proxy_handshakes_without_valid_certificate_total", help, without);
    let reloads = [("done", &counters.reloads), ("rejected", &counters.refused_reloads)];
    let reloads = reloads.map(|(result, counter)| (result, read(counter)));
    let help = "Reloads of certificates and settings.";
    text.totals("oarlock_proxy_reloads_total", help, "result", reloads);
}

/// Writes the earliest end of the lists in each file.
fn write_crl_ends(text: &mut MetricsText, state: &ProxyState) {
    let mut ends: BTreeMap<&Path, i64> = BTreeMap::new();
    for (path, end_s) in state.clients().flat_map(|clients| clients.rule.lists.ends()) {
        let earliest = ends.entry(path).or_insert(end_s);
        *earliest = end_s.min(*earliest);
    }
    if ends.is_empty() {
        return;
    }
    let name = "oarlock_proxy_crl_end_seconds";
    text.gauge(name, "The earliest end of the revocation lists in a file, in seconds since 1970.");
    for (path, end_s) in ends {
        text.sample(name, &[("file", &*path.to_string_lossy())], end_s);
    }
}

/// Writes the state of the OCSP responses.
fn write_staples(text: &mut MetricsText, shared: &ProxyShared, state: &ProxyState) {
    let slots = || state.certificates().filter_map(|entry| entry.fetched.as_ref());
    let now_s = state.clock.signed_now_s();
    let fetched = slots().filter(|slot| slot.key_at(now_s).is_some()).count();
    let missing = slots().count() - fetched;
    let help = "Certificates that name an OCSP responder and have no response in a file.";
    let name = "oarlock_proxy_ocsp_responses";
    text.gauge(name, help);
    text.sample(name, &[("state", "good")], fetched);
    text.sample(name, &[("state", "missing")], missing);
    let results = shared.staples.results();
    let help = "Questions to OCSP responders, by their result.";
    text.totals("oarlock_proxy_ocsp_fetches_total", help, "result", results);
}
