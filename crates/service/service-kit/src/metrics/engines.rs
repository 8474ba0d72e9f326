//! The metrics of the dispatcher and its engines, for every program.

use std::collections::BTreeMap;

use oarlock::metrics::{Histogram, Histograms};
use oarlock::{Accelerator, Shape};

use super::text::{HistogramScale, MetricsText};

/// The label of all items without a label of their own.
const OTHER: &str = "other";

/// Appends the metrics of the dispatcher and its engines.
pub fn append_engine_metrics(text: &mut MetricsText, accelerator: &Accelerator) {
    for (counter, value) in accelerator.counters().entries() {
        let name = format!("oarlock_dispatcher_{counter}_total");
        text.total(&name, help(counter), value);
    }
    let help_of_bytes = "Bytes of tables that engines have built for recurring keys.";
    text.value("oarlock_prepared_bytes", help_of_bytes, accelerator.prepared_bytes());
    text.gauge("oarlock_engine_quarantined", "1 for each engine in quarantine; shape is * for all shapes.");
    for quarantined in accelerator.quarantined() {
        let shape = quarantined.shape.map_or_else(|| "*".to_owned(), |shape| shape.to_string());
        text.sample("oarlock_engine_quarantined", &[("engine", quarantined.engine), ("shape", &shape)], 1);
    }
    text.gauge("oarlock_queue_operations", "Waiting operations, by shape.");
    for (queue, operations) in queues(accelerator.queued()) {
        text.sample("oarlock_queue_operations", &[("shape", &queue)], operations);
    }
    histograms(text, &accelerator.histograms());
}

/// The help text of a counter that this module does not know.
const UNKNOWN: &str = "Counted by the dispatcher.";

/// Returns the help text of a counter.
fn help(counter: &str) -> &'static str {
    match counter {
        "submitted" => "Operations submitted in any way.",
        "completed" => "Operations answered with an outcome of an engine or a holder.",
        "refused" => "Operations refused because the queue of their client was full.",
        "cancelled" => "Operations cancelled before they had a result.",
        "expired" => "Operations whose deadline passed.",
        "failed" => "Operations that no engine could compute.",
        "on_caller" => "Operations run on the thread that submitted them.",
        "bulk" => "Operations run as bulk work: records.",
        "batches" => "Batches run on an engine.",
        "batched_ops" => "Operations in batches run on an engine.",
        "engine_ns" => "Nanoseconds of engines for these batches.",
        "far_batches" => "Batches given to devices.",
        "held" => "Operations handed to holders of keys.",
        "held_dropped" => "Operations that a holder never answered.",
        "tasks" => "Tasks of callers that were run, such as batches of records.",
        "tasks_dropped" => "Tasks of callers that were cancelled before a thread was free.",
        "faults" => "Faults of engines, panics among them.",
        "hangs" => "Batches abandoned because their engine hung.",
        "rerun" => "Operations run again after a fault or a hang.",
        "confirmed" => "RSA private results and signatures confirmed by the public operation before release.",
        "unconfirmed" => {
            "RSA private results and signatures that the public operation did not confirm, and not because of their key."
        }
        "recomputed" => "SLH-DSA signatures computed twice before release.",
        "bad_keys" => {
            "RSA private results that could not be confirmed because the numbers of their key contradict each other."
        }
        "cross_checked" => "Results computed again on another engine.",
        "cross_unchecked" => "Results due for a second computation that no second engine could make.",
        "disputes" => "Results in which two engines differed, decided by the referee.",
        "referee_wavered" => "Results in which the referee contradicted itself.",
        "quarantines" => "Engines put into quarantine.",
        "probes" => "Probes of engines in quarantine.",
        "returned" => "Engines that returned from quarantine.",
        // The counter is newer than this table.
        _ => UNKNOWN,
    }
}

/// The maximum number of queues with a label of their own.
const QUEUES: usize = 96;

/// Returns the queues by name. Beyond the limit, the latest are summed.
fn queues(queued: Vec<(String, usize)>) -> BTreeMap<String, usize> {
    let mut shown = BTreeMap::new();
    for (at, (name, operations)) in queued.into_iter().enumerate() {
        let name = if at < QUEUES { name } else { OTHER.to_owned() };
        *shown.entry(name).or_default() += operations;
    }
    shown
}

fn histograms(text: &mut MetricsText, histograms: &Histograms) {
    let runs = || histograms.runs.iter().map(|runs| (runs, name_of(runs.shape)));
    let name = "oarlock_batch_operations";
    text.histogram(name, "Operations in a batch that an engine computed.");
    for (runs, shape) in runs() {
        let labels = [("engine", runs.engine), ("shape", &*shape)];
        text.samples(name, &labels, &runs.operations, HistogramScale::NUMBER);
    }
    let name = "oarlock_engine_run_seconds";
    text.histogram(name, "The time that an engine took for a batch.");
    for (runs, shape) in runs() {
        text.samples(
            name,
            &[("engine", runs.engine), ("shape", &*shape)],
            &runs.run_ns,
            HistogramScale::SECONDS,
        );
    }
    let times = |name: &str,
                 help: &str,
                 text: &mut MetricsText,
                 of: fn(&oarlock::metrics::AnswerTimes) -> &Histogram| {
        text.histogram(name, help);
        for times in &histograms.answers {
            text.samples(name, &[("shape", &*name_of(times.shape))], of(times), HistogramScale::SECONDS);
        }
    };
    times("oarlock_waiting_seconds", "The time that an operation waited in the queue.", text, |times| {
        &times.waiting_ns
    });
    let help = "The time from the submission of an operation to its answer.";
    times("oarlock_answer_seconds", help, text, |times| &times.answer_ns);
}

fn name_of(shape: Option<Shape>) -> String {
    shape.map_or_else(|| OTHER.to_owned(), |shape| shape.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_a_help_text_and_a_row_in_the_page() {
        let accelerator = Accelerator::builder().engines(["scalar"]).cost_cache(None).lazy().build().unwrap();
        let page = include_str!("../../../../../docs/cryptoserver/metrics.md");
        let (_, table) = page.split_once("`oarlock_dispatcher_NAME_total`").unwrap();
        for (counter, _) in accelerator.counters().entries() {
            assert_ne!(help(counter), UNKNOWN, "{counter}");
            let is_row = |line: &str| line.starts_with("| `") && line.contains(&format!("`{counter}`"));
            assert!(table.lines().any(is_row), "docs/cryptoserver/metrics.md has no row for {counter}");
        }
    }

    #[test]
    fn sums_the_latest_queues_beyond_the_limit() {
        let queued = (0..QUEUES + 3).map(|number| (format!("rsa{number}-private"), number)).collect();
        let shown = queues(queued);
        assert_eq!(shown.len(), QUEUES + 1);
        assert_eq!(shown.get(OTHER), Some(&(3 * QUEUES + 3)));
    }
}
