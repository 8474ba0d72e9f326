//! The metrics page in the format of Prometheus.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use oarlock_service_kit::metrics::{MetricsPage, MetricsText, append_engine_metrics, append_process_metrics};

use crate::counters::read;
use crate::state::ProxyShared;

/// The state that the metrics page shows.
#[derive(Debug)]
pub(crate) struct ProxyPage {
    pub(crate) shared: Arc<ProxyShared>,
    pub(crate) is_draining: AtomicBool,
}

impl MetricsPage for ProxyPage {
    fn page(&self) -> String {
        let mut text = MetricsText::default();
        text.gauge("oarlock_build_info", "1, with the version as a label.");
        text.sample("oarlock_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
        text.gauge("oarlock_draining", "1 while the proxy stops, else 0.");
        text.sample("oarlock_draining", &[], u8::from(self.is_draining()));
        write_connections(&mut text, &self.shared);
        write_bytes(&mut text, &self.shared);
        write_certificates(&mut text, &self.shared);
        append_process_metrics(&mut text);
        append_engine_metrics(&mut text, &self.shared.accelerator);
        text.finish()
    }

    fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Relaxed)
    }
}

/// Writes a counter without labels.
fn write_total(text: &mut MetricsText, name: &str, help: &str, counter: &AtomicU64) {
    text.counter(name, help);
    text.sample(name, &[], read(counter));
}

fn write_connections(text: &mut MetricsText, shared: &ProxyShared) {
    let counters = &shared.counters;
    let total = "oarlock_proxy_connections_total";
    write_total(text, total, "Accepted connections.", &counters.connections);
    let open = "oarlock_proxy_connections_open";
    text.gauge(open, "Connections now.");
    text.sample(open, &[], shared.connections.len());
    let unfinished = "oarlock_proxy_handshakes_open";
    text.gauge(unfinished, "Connections whose handshake is not finished, silent ones included.");
    text.sample(unfinished, &[], shared.handshakes.len());
    let handed = "oarlock_proxy_connections_handed_on_total";
    write_total(text, handed, "Connections handed to a less loaded thread.", &counters.handed_on);
    let handshakes = "oarlock_proxy_handshakes_total";
    text.counter(handshakes, "Finished handshakes with clients.");
    for (labels, value) in counters.handshakes() {
        let resumed = if labels.is_resumed { "yes" } else { "no" };
        let labels = [("version", labels.version), ("group", &*labels.group), ("resumed", resumed)];
        text.sample(handshakes, &labels, value);
    }
    let refused = "oarlock_proxy_connections_refused_total";
    text.counter(refused, "Connections that never reached a backend.");
    for (reason, value) in counters.refused() {
        text.sample(refused, &[("reason", reason.name())], value);
    }
    let ended = "oarlock_proxy_connections_ended_total";
    text.counter(ended, "Relayed connections that ended, by the side or the limit that ended them.");
    for (kind, value) in counters.ended() {
        text.sample(ended, &[("by", kind.name())], value);
    }
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
    let state = shared.current();
    if let Some(table) = &state.table {
        let certificates = "oarlock_proxy_certificates";
        text.gauge(certificates, "Certificates in use.");
        text.sample(certificates, &[], table.entries().len());
        let end = "oarlock_proxy_certificate_end_seconds";
        text.gauge(end, "The earliest end of a certificate, in seconds since 1970.");
        text.sample(end, &[], table.earliest_end().unwrap_or(0));
    }
    let without = "oarlock_proxy_handshakes_without_valid_certificate_total";
    let help = "Handshakes for which no fitting certificate was valid at the time.";
    write_total(text, without, help, &shared.counters.without_valid_certificate);
    let reloads = "oarlock_proxy_reloads_total";
    text.counter(reloads, "Reloads of certificates and settings.");
    text.sample(reloads, &[("result", "done")], read(&shared.counters.reloads));
    text.sample(reloads, &[("result", "rejected")], read(&shared.counters.refused_reloads));
}
