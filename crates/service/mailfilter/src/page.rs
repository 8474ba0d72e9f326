//! The metrics page in the format of Prometheus.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use oarlock_service_kit::metrics::{MetricsPage, MetricsText, append_engine_metrics};

use crate::metrics::{FilterMetrics, VERDICTS, read};
use crate::outcome::MessageOutcome;
use crate::state::{CurrentState, FilterResources};
use oarlock_milter::counters::{self, MilterCounters};
use oarlock_milter::protocol::ProtocolErrorKind;

/// The state that the metrics page shows.
#[derive(Debug)]
pub(crate) struct FilterStatus {
    pub(crate) base: FilterResources,
    pub(crate) current: Arc<CurrentState>,
    pub(crate) counters: Arc<MilterCounters>,
    pub(crate) is_draining: AtomicBool,
}

impl MetricsPage for FilterStatus {
    fn page(&self) -> String {
        let mut text = MetricsText::default();
        write_process(&mut text, self);
        write_connections(&mut text, &self.counters);
        write_messages(&mut text, &self.base.metrics, &self.counters);
        write_keys(&mut text, self);
        append_engine_metrics(&mut text, &self.base.accelerator);
        text.finish()
    }

    fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Relaxed)
    }
}

fn write_process(text: &mut MetricsText, status: &FilterStatus) {
    text.gauge("oarlock_build_info", "1, with the version as a label.");
    text.sample("oarlock_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    text.gauge("oarlock_draining", "1 while the filter stops, else 0.");
    text.sample("oarlock_draining", &[], u8::from(status.is_draining()));
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let seconds = time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9;
    text.counter("process_cpu_seconds_total", "CPU time of all threads.");
    text.sample("process_cpu_seconds_total", &[], seconds);
}

/// Writes a counter without labels.
fn write_total(text: &mut MetricsText, name: &str, help: &str, counter: &AtomicU64) {
    text.counter(name, help);
    text.sample(name, &[], read(counter));
}

fn write_connections(text: &mut MetricsText, counters: &MilterCounters) {
    text.gauge("oarlock_connections_open", "Connections of MTAs now.");
    text.sample("oarlock_connections_open", &[], read(&counters.open_connections));
    write_total(text, "oarlock_connections_total", "Accepted connections.", &counters.connections);
    let ended = "oarlock_connections_ended_total";
    text.counter(ended, "Connections that ended early, by reason.");
    for (why, counter) in [
        ("refused", &counters.refused_connections),
        ("silent", &counters.timed_out_connections),
        ("lost", &counters.lost_connections),
        ("cut", &counters.cut_connections),
        ("panic", &counters.panics),
        ("filter", &counters.filter_faults),
    ] {
        text.sample(ended, &[("why", why)], read(counter));
    }
    for kind in ProtocolErrorKind::ALL {
        text.sample(ended, &[("why", kind.name())], counters.protocol_errors(kind));
    }
    write_total(text, "oarlock_received_bytes_total", "Bytes from MTAs.", &counters.received_bytes);
    write_total(text, "oarlock_sent_bytes_total", "Bytes to MTAs.", &counters.sent_bytes);
}

fn write_messages(text: &mut MetricsText, metrics: &FilterMetrics, counters: &MilterCounters) {
    let name = "oarlock_milter_messages_total";
    text.counter(name, "Messages by outcome.");
    for outcome in MessageOutcome::ALL {
        text.sample(name, &[("outcome", outcome.name())], metrics.messages(outcome));
    }
    let name = "oarlock_milter_replies_total";
    text.counter(name, "Replies to MTAs.");
    for reply in counters::CountedOutcome::ALL {
        text.sample(name, &[("reply", reply.name())], counters.outcomes(reply));
    }
    let aborted = &counters.aborted_messages;
    write_total(
        text,
        "oarlock_milter_aborted_messages_total",
        "Messages that did not reach their end.",
        aborted,
    );
    let name = "oarlock_milter_signatures_total";
    text.counter(name, "Signatures of others, by result.");
    for verdict in VERDICTS {
        text.sample(name, &[("result", verdict.name())], metrics.signatures(verdict));
    }
    let name = "oarlock_milter_chains_total";
    text.counter(name, "ARC chains, by result.");
    for verdict in VERDICTS {
        text.sample(name, &[("result", verdict.name())], metrics.arc_chains(verdict));
    }
    for (name, help, counter) in [
        ("oarlock_milter_signed_total", "Signatures made.", &metrics.signed),
        ("oarlock_milter_unsigned_total", "Signatures that could not be made.", &metrics.unsigned),
        ("oarlock_milter_sealed_total", "ARC sets added.", &metrics.sealed),
        ("oarlock_milter_unsealed_total", "ARC sets that could not be added.", &metrics.unsealed),
        ("oarlock_milter_forged_total", "Results in this host's name that were removed.", &metrics.forged),
        (
            "oarlock_milter_dropped_changes_total",
            "Changes that the MTA does not support.",
            &counters.dropped_changes,
        ),
        ("oarlock_milter_progress_total", "Progress replies to MTAs.", &counters.progress),
    ] {
        write_total(text, name, help, counter);
    }
}

fn write_keys(text: &mut MetricsText, status: &FilterStatus) {
    let metrics = &status.base.metrics;
    let name = "oarlock_milter_lookups_total";
    text.counter(name, "Lookups of key records, by answer.");
    for (answer, count) in metrics.lookups() {
        text.sample(name, &[("answer", answer)], count);
    }
    for (name, help, counter) in [
        ("oarlock_milter_cache_hits_total", "Keys found in the cache.", &metrics.cache_hits),
        ("oarlock_milter_cache_waits_total", "Keys whose lookup was in progress.", &metrics.cache_waits),
        ("oarlock_milter_key_reads_total", "Private keys read.", &*metrics.key_reads),
        ("oarlock_milter_reloads_total", "Signing tables replaced.", &metrics.reloads),
        ("oarlock_milter_refused_reloads_total", "Signing tables rejected.", &metrics.refused_reloads),
    ] {
        write_total(text, name, help, counter);
    }
    text.gauge("oarlock_milter_cached_names", "Names whose keys are in the cache.");
    text.sample("oarlock_milter_cached_names", &[], status.base.lookups.cached());
    text.gauge("oarlock_milter_signing_lines", "Lines of the signing table in use.");
    text.sample("oarlock_milter_signing_lines", &[], status.current.signing_lines());
}
