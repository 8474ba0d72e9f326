//! Everything there is to see, under Prometheus's names.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use oarlock::{Accelerator, Family, Histogram, Histograms, Shape};
use oarlock_wire::proto::Code;

use super::text::{Scale, Text};
use super::{ByCode, Metrics};
use crate::service::Service;

/// The page of metrics as it is now.
pub(super) fn page(service: &Service) -> String {
    let mut text = Text::default();
    about(&mut text, service);
    connections(&mut text, &service.metrics);
    operations(&mut text, &service.metrics);
    engines(&mut text, &service.accelerator);
    histograms(&mut text, &service.accelerator.histograms());
    text.finish()
}

fn about(text: &mut Text, service: &Service) {
    text.gauge("oarlock_build_info", "1, with the version as a label.");
    text.sample("oarlock_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    text.gauge("oarlock_draining", "1 while the server stops, else 0.");
    text.sample("oarlock_draining", &[], u8::from(service.is_draining()));
    let keyring = service.keyring();
    text.gauge("oarlock_keys_resident", "Keys that live at the server.");
    text.sample("oarlock_keys_resident", &[("kind", "asymmetric")], keyring.asymmetric_len());
    text.sample("oarlock_keys_resident", &[("kind", "symmetric")], keyring.table.len());
    text.counter(
        "oarlock_weak_keys_total",
        "Weak DES keys met, resident ones and those unwrapped under them.",
    );
    text.sample("oarlock_weak_keys_total", &[], keyring.table.weak_keys_met());
    text.counter("oarlock_audit_entries_lost_total", "Entries of the audit log that could not be written.");
    text.sample("oarlock_audit_entries_lost_total", &[], service.audit.lost());
}

fn connections(text: &mut Text, metrics: &Metrics) {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    text.gauge("oarlock_connections_open", "Connections now, of every kind but this one.");
    text.sample("oarlock_connections_open", &[], read(&metrics.open_connections));
    for (name, help, counter) in [
        ("oarlock_connections_total", "Connections taken in.", &metrics.connections),
        (
            "oarlock_connections_refused_total",
            "Connections turned away because there were as many as there may be.",
            &metrics.refused_connections,
        ),
        (
            "oarlock_handshakes_failed_total",
            "Connections that ended without a client known.",
            &metrics.failed_handshakes,
        ),
        ("oarlock_requests_total", "Requests of every kind.", &metrics.requests),
        (
            "oarlock_received_bytes_total",
            "Bytes read from connections, as they are on the wire.",
            &metrics.received_bytes,
        ),
        ("oarlock_sent_bytes_total", "Bytes written to connections, likewise.", &metrics.sent_bytes),
    ] {
        text.counter(name, help);
        text.sample(name, &[], read(counter));
    }
}

fn operations(text: &mut Text, metrics: &Metrics) {
    let rejections = "oarlock_rejections_total";
    text.counter(rejections, "Requests and operations refused before any engine saw them, by code.");
    for (code, value) in metrics.rejections.read() {
        text.sample(rejections, &[("code", code.as_str_name())], value);
    }
    let name = "oarlock_operations_total";
    text.counter(name, "Operations answered, by what was done and how it ended.");
    let counts = by_name(&metrics.schemes).into_iter().chain(by_name(&metrics.tasks));
    for ((operation, code), value) in counts {
        text.sample(name, &[("operation", &operation), ("code", code.as_str_name())], value);
    }
    let name = "oarlock_request_seconds";
    text.histogram(name, "From a request to its answer, waiting and computing together.");
    text.samples(name, &[("kind", "jobs")], &metrics.jobs_ns.read(), Scale::SECONDS);
    text.samples(name, &[("kind", "records")], &metrics.records_ns.read(), Scale::SECONDS);
}

/// Names and codes are unique on a page, whatever else distinguishes the members.
fn by_name<K: ToString + Clone + Eq>(family: &Family<K, ByCode>) -> BTreeMap<(String, Code), u64> {
    let mut counts = BTreeMap::new();
    for (key, by_code) in family.iter() {
        let name = key.map_or_else(|| OTHER.to_owned(), ToString::to_string);
        by_code.read().for_each(|(code, count)| *counts.entry((name.clone(), code)).or_default() += count);
    }
    counts
}

/// What stands for all that has no place of its own.
const OTHER: &str = "other";

fn engines(text: &mut Text, accelerator: &Accelerator) {
    for (counter, value) in accelerator.counters().entries() {
        let name = format!("oarlock_dispatcher_{counter}_total");
        text.counter(&name, "See docs/cryptoserver.md.");
        text.sample(&name, &[], value);
    }
    text.gauge("oarlock_prepared_bytes", "Tables that engines have built for keys that recur.");
    text.sample("oarlock_prepared_bytes", &[], accelerator.prepared_bytes());
    text.gauge("oarlock_engine_aside", "1 for each engine put aside, and for which shape.");
    for aside in accelerator.aside() {
        let shape = aside.shape.map_or_else(|| "*".to_owned(), |shape| shape.to_string());
        text.sample("oarlock_engine_aside", &[("engine", aside.engine), ("shape", &shape)], 1);
    }
    text.gauge("oarlock_queue_operations", "Operations that wait now, by shape.");
    for (queue, operations) in queues(accelerator.queued()) {
        text.sample("oarlock_queue_operations", &[("shape", &queue)], operations);
    }
}

/// Queues that are shown apart.
const QUEUES: usize = 96;

/// Queues by name; the latest of very many together.
fn queues(queued: Vec<(String, usize)>) -> BTreeMap<String, usize> {
    let mut shown = BTreeMap::new();
    for (at, (name, operations)) in queued.into_iter().enumerate() {
        let name = if at < QUEUES { name } else { OTHER.to_owned() };
        *shown.entry(name).or_default() += operations;
    }
    shown
}

fn histograms(text: &mut Text, own: &Histograms) {
    let runs = || own.runs.iter().map(|runs| (runs, name_of(runs.shape)));
    let name = "oarlock_batch_operations";
    text.histogram(name, "Operations in a batch that an engine computed.");
    for (runs, shape) in runs() {
        let labels = [("engine", runs.engine), ("shape", &*shape)];
        text.samples(name, &labels, &runs.operations, Scale::NUMBER);
    }
    let name = "oarlock_engine_run_seconds";
    text.histogram(name, "What an engine took for a batch.");
    for (runs, shape) in runs() {
        text.samples(name, &[("engine", runs.engine), ("shape", &*shape)], &runs.run_ns, Scale::SECONDS);
    }
    let times = |name: &str, help: &str, text: &mut Text, of: fn(&oarlock::AnswerTimes) -> &Histogram| {
        text.histogram(name, help);
        for times in &own.answers {
            text.samples(name, &[("shape", &*name_of(times.shape))], of(times), Scale::SECONDS);
        }
    };
    times("oarlock_waiting_seconds", "What an operation waited in the queue.", text, |own| &own.waiting_ns);
    let help = "From an operation's submission to the engines to its answer.";
    times("oarlock_answer_seconds", help, text, |own| &own.answer_ns);
}

fn name_of(shape: Option<Shape>) -> String {
    shape.map_or_else(|| OTHER.to_owned(), |shape| shape.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_of_very_many_queues_are_shown_together() {
        let queued = (0..QUEUES + 3).map(|number| (format!("rsa{number}-private"), number)).collect();
        let shown = queues(queued);
        assert_eq!(shown.len(), QUEUES + 1);
        assert_eq!(shown.get(OTHER), Some(&(3 * QUEUES + 3)));
    }
}
