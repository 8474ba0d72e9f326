//! The page of metrics for Prometheus: the counters of the server, and the state of engines, keys, certificates and the
//! audit log.

use std::collections::BTreeMap;

use oarlock::metrics::MetricFamily;
use oarlock_service_kit::metrics::{
    HistogramScale, MetricsPage, MetricsText, append_device_metrics, append_engine_metrics,
    append_process_metrics, read_counter as read,
};
use oarlock_wire::proto::Code;

use crate::metrics::{CodeCounters, ServerMetrics};
use crate::service::SharedService;

impl MetricsPage for SharedService {
    fn page(&self) -> String {
        page(self)
    }

    fn is_draining(&self) -> bool {
        self.drain.is_thrown()
    }

    fn refusal(&self) -> Option<&'static str> {
        SharedService::refusal(self)
    }
}

fn page(service: &SharedService) -> String {
    let mut text = MetricsText::of_service("server", service.drain.is_thrown());
    keys_and_audit(&mut text, service);
    connections(&mut text, &service.metrics);
    let held = "Bytes that requests and answers of all clients hold now.";
    text.value("oarlock_held_bytes", held, service.clients.budget().used());
    operations(&mut text, &service.metrics);
    append_engine_metrics(&mut text, &service.accelerator);
    append_process_metrics(&mut text);
    text.finish()
}

fn keys_and_audit(text: &mut MetricsText, service: &SharedService) {
    let (keyring, audit) = (service.keyring(), &service.audit);
    text.gauge("oarlock_keys_resident", "Keys that live at the server.");
    text.sample("oarlock_keys_resident", &[("kind", "asymmetric")], keyring.asymmetric_len());
    text.sample("oarlock_keys_resident", &[("kind", "symmetric")], keyring.table.len());
    let help = "Weak DES keys met, resident keys and keys unwrapped under them.";
    text.total("oarlock_weak_keys_total", help, keyring.table.weak_keys_met());
    let help = "Entries of the audit log that could not be written.";
    text.total("oarlock_audit_entries_lost_total", help, audit.lost());
    let help = "Bytes of audit entries that wait for the disk, including reserved space.";
    text.value("oarlock_audit_queue_bytes", help, audit.queue_bytes());
    let help = "Entries of the audit log that syslog did not get.";
    text.total("oarlock_audit_syslog_lost_total", help, audit.syslog_lost());
    let help = "1 while every request is refused: draining, or the audit log cannot be written.";
    text.value("oarlock_requests_refused", help, u8::from(service.refusal().is_some()));
    certificates(text, service);
    if let Some(devices) = &service.devices {
        append_device_metrics(text, devices);
    }
}

fn certificates(text: &mut MetricsText, service: &SharedService) {
    let Some(tls) = &service.tls else { return };
    let name = "oarlock_certificate_seconds_left";
    text.gauge(name, "Seconds until a certificate in use ends, negative after it.");
    let now = service.lifetimes.clock().signed_now_s();
    let mut ends = BTreeMap::new();
    for term in &tls.get().terms {
        // Labels must be unique: of several certificates with one subject, the first to end counts.
        let left = term.seconds_left(now);
        let min = ends.entry((term.role.setting(), term.subject.clone())).or_insert(left);
        *min = left.min(*min);
    }
    for ((setting, subject), left) in ends {
        text.sample(name, &[("setting", setting), ("subject", &subject)], left);
    }
}

fn connections(text: &mut MetricsText, metrics: &ServerMetrics) {
    let help = "Connections with a known client now, except connections for metrics.";
    text.value("oarlock_connections_open", help, read(&metrics.open_connections));
    let help = "Connections of the UNIX socket that have shared memory now.";
    text.value("oarlock_rings_open", help, read(&metrics.open_rings));
    let help = "Requests for shared memory that were refused; their clients use the socket alone.";
    text.totals("oarlock_rings_refused_total", help, "reason", metrics.refused_rings.read());
    for (name, help, counter) in [
        ("oarlock_connections_total", "Connections with a known client.", &metrics.connections),
        (
            "oarlock_connections_refused_total",
            "Connections refused, and handshakes evicted, because of a limit of connections.",
            &metrics.refused_connections,
        ),
        (
            "oarlock_handshakes_failed_total",
            "Connections that ended before their client was known.",
            &metrics.failed_handshakes,
        ),
        ("oarlock_requests_total", "Requests of every kind.", &metrics.requests),
        (
            "oarlock_received_bytes_total",
            "Bytes read from connections, as they are on the wire.",
            &metrics.received_bytes,
        ),
        (
            "oarlock_sent_bytes_total",
            "Bytes written to connections, as they are on the wire.",
            &metrics.sent_bytes,
        ),
        (
            "oarlock_rings_total",
            "Connections of the UNIX socket that were given shared memory.",
            &metrics.rings,
        ),
        (
            "oarlock_ring_received_bytes_total",
            "Bytes of requests that came through shared memory.",
            &metrics.ring_received_bytes,
        ),
        (
            "oarlock_ring_sent_bytes_total",
            "Bytes of answers that left through shared memory.",
            &metrics.ring_sent_bytes,
        ),
    ] {
        text.total(name, help, read(counter));
    }
}

fn operations(text: &mut MetricsText, metrics: &ServerMetrics) {
    let rejections = metrics.rejections.read().map(|(code, value)| (code.as_str_name(), value));
    let help = "Requests and operations refused before any engine saw them, by code.";
    text.totals("oarlock_rejections_total", help, "code", rejections);
    let name = "oarlock_operations_total";
    text.counter(name, "Operations answered, by name and code.");
    let counts = by_name(&metrics.schemes).into_iter().chain(by_name(&metrics.tasks));
    for ((operation, code), value) in counts {
        text.sample(name, &[("operation", &operation), ("code", code.as_str_name())], value);
    }
    let name = "oarlock_request_seconds";
    text.histogram(name, "Time from a request to its answer, waiting included. Requests that are refused as a whole are left out.");
    text.samples(name, &[("kind", "jobs")], &metrics.jobs_ns.read(), HistogramScale::SECONDS);
    text.samples(name, &[("kind", "records")], &metrics.records_ns.read(), HistogramScale::SECONDS);
}

/// Returns the counts by name and code. Members of a family with the same name are added up, because labels must be
/// unique.
fn by_name<K: ToString + Clone + Eq>(
    family: &MetricFamily<K, CodeCounters>,
) -> BTreeMap<(String, Code), u64> {
    let mut counts = BTreeMap::new();
    for (key, by_code) in family.iter() {
        let name = key.map_or_else(|| OTHER.to_owned(), ToString::to_string);
        by_code.read().for_each(|(code, count)| *counts.entry((name.clone(), code)).or_default() += count);
    }
    counts
}

/// The name for all operations without counters of their own.
const OTHER: &str = "other";
