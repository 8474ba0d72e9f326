//! The metrics page in the format of Prometheus.

use std::sync::Arc;

use oarlock_network::DrainSwitch;
use oarlock_service_kit::Current;
use oarlock_service_kit::metrics::{
    HistogramScale, MetricsPage, MetricsText, append_device_metrics, append_engine_metrics,
    read_counter as read,
};

use crate::metrics::{FilterMetrics, VERDICTS};
use crate::outcome::MessageOutcome;
use crate::state::{FilterResources, FilterState};
use oarlock_milter::counters::{CountedOutcome, MilterCounters};
use oarlock_milter::protocol::ProtocolErrorKind;

/// The state that the metrics page shows.
#[derive(Debug)]
pub(crate) struct FilterStatus {
    pub(crate) base: FilterResources,
    pub(crate) current: Arc<Current<FilterState>>,
    pub(crate) counters: Arc<MilterCounters>,
    pub(crate) drain: DrainSwitch,
}

impl MetricsPage for FilterStatus {
    fn page(&self) -> String {
        let mut text = MetricsText::of_service("filter", self.is_draining());
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        let seconds = time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9;
        text.total("process_cpu_seconds_total", "CPU time of all threads.", seconds);
        write_connections(&mut text, &self.counters);
        write_messages(&mut text, &self.base.metrics, &self.counters);
        write_progress(&mut text, &self.base);
        write_keys(&mut text, self);
        if let Some(devices) = &self.base.holders.devices {
            append_device_metrics(&mut text, devices);
        }
        append_engine_metrics(&mut text, &self.base.accelerator);
        text.finish()
    }

    fn is_draining(&self) -> bool {
        self.drain.is_thrown()
    }
}

fn write_connections(text: &mut MetricsText, counters: &MilterCounters) {
    let open = read(&counters.open_connections);
    text.value("oarlock_connections_open", "Connections of MTAs now.", open);
    text.total("oarlock_connections_total", "Accepted connections.", read(&counters.connections));
    let ended = [
        ("refused", &counters.refused_connections),
        ("silent", &counters.timed_out_connections),
        ("lost", &counters.lost_connections),
        ("cut", &counters.cut_connections),
        ("panic", &counters.panics),
        ("filter", &counters.filter_faults),
    ];
    let ended = ended.map(|(why, counter)| (why, read(counter)));
    let faults = ProtocolErrorKind::ALL.map(|kind| (kind.name(), counters.protocol_errors(kind)));
    let help = "Connections that ended early, by reason.";
    text.totals("oarlock_connections_ended_total", help, "why", ended.into_iter().chain(faults));
    text.total("oarlock_received_bytes_total", "Bytes from MTAs.", read(&counters.received_bytes));
    text.total("oarlock_sent_bytes_total", "Bytes to MTAs.", read(&counters.sent_bytes));
}

fn write_messages(text: &mut MetricsText, metrics: &FilterMetrics, counters: &MilterCounters) {
    let messages = MessageOutcome::ALL.map(|outcome| (outcome.name(), metrics.messages(outcome)));
    text.totals("oarlock_milter_messages_total", "Messages by outcome.", "outcome", messages);
    let replies = CountedOutcome::ALL.map(|reply| (reply.name(), counters.outcomes(reply)));
    text.totals("oarlock_milter_replies_total", "Replies to MTAs.", "reply", replies);
    let aborted = read(&counters.aborted_messages);
    text.total("oarlock_milter_aborted_messages_total", "Messages that did not reach their end.", aborted);
    let signatures = VERDICTS.map(|verdict| (verdict.name(), metrics.signatures(verdict)));
    text.totals("oarlock_milter_signatures_total", "Signatures of others, by result.", "result", signatures);
    let chains = VERDICTS.map(|verdict| (verdict.name(), metrics.arc_chains(verdict)));
    text.totals("oarlock_milter_chains_total", "ARC chains, by result.", "result", chains);
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
        text.total(name, help, read(counter));
    }
}

fn write_progress(text: &mut MetricsText, base: &FilterResources) {
    let help = "Messages between MAIL and their verdict.";
    text.value("oarlock_milter_messages_open", help, base.open_messages());
    let name = "oarlock_milter_verdict_seconds";
    text.histogram(name, "Time from the end of a message to its verdict.");
    text.samples(name, &[], &base.metrics.verdict_time.read(), HistogramScale::SECONDS);
}

fn write_keys(text: &mut MetricsText, status: &FilterStatus) {
    let metrics = &status.base.metrics;
    let help = "Lookups of key records, by answer.";
    text.totals("oarlock_milter_lookups_total", help, "answer", metrics.lookups());
    let help = "Looked up names with key records, by their protection with DNSSEC.";
    text.totals("oarlock_milter_keys_total", help, "dnssec", metrics.protections());
    for (name, help, counter) in [
        ("oarlock_milter_cache_hits_total", "Keys found in the cache.", &metrics.cache_hits),
        ("oarlock_milter_cache_waits_total", "Keys whose lookup was in progress.", &metrics.cache_waits),
        ("oarlock_milter_key_reads_total", "Private keys read.", &*metrics.key_reads),
        ("oarlock_milter_reloads_total", "Signing tables replaced.", &metrics.reloads),
        ("oarlock_milter_refused_reloads_total", "Signing tables rejected.", &metrics.refused_reloads),
    ] {
        text.total(name, help, read(counter));
    }
    let cached = status.base.lookups.cached();
    text.value("oarlock_milter_cached_names", "Names whose keys are in the cache.", cached);
    let lines = status.current.get().signing_lines();
    text.value("oarlock_milter_signing_lines", "Lines of the signing table in use.", lines);
}
