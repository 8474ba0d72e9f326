//! Everything there is to see, under Prometheus's names.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use oarlock_io::metrics::{MetricsPage, MetricsText, engines};

use crate::metrics::{Metrics, VERDICTS, read};
use crate::outcome::Outcome;
use crate::state::{Base, Current};
use oarlock_milter::counters::{self, Counters};
use oarlock_milter::protocol::ErrorKind;

/// What is shown of a running filter.
#[derive(Debug)]
pub(crate) struct Status {
    pub(crate) base: Base,
    pub(crate) current: Arc<Current>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) is_draining: AtomicBool,
}

impl MetricsPage for Status {
    fn page(&self) -> String {
        let mut text = MetricsText::default();
        about(&mut text, self);
        connections(&mut text, &self.counters);
        messages(&mut text, &self.base.metrics, &self.counters);
        keys(&mut text, self);
        engines(&mut text, &self.base.accelerator);
        text.finish()
    }

    fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Relaxed)
    }
}

fn about(text: &mut MetricsText, status: &Status) {
    text.gauge("oarlock_build_info", "1, with the version as a label.");
    text.sample("oarlock_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    text.gauge("oarlock_draining", "1 while the filter stops, else 0.");
    text.sample("oarlock_draining", &[], u8::from(status.is_draining()));
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let seconds = time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9;
    text.counter("process_cpu_seconds_total", "Time that all threads have had on a processor.");
    text.sample("process_cpu_seconds_total", &[], seconds);
}

/// A counter without labels.
fn total(text: &mut MetricsText, name: &str, help: &str, counter: &AtomicU64) {
    text.counter(name, help);
    text.sample(name, &[], read(counter));
}

fn connections(text: &mut MetricsText, counters: &Counters) {
    text.gauge("oarlock_connections_open", "Connections of MTAs now.");
    text.sample("oarlock_connections_open", &[], read(&counters.open_connections));
    total(text, "oarlock_connections_total", "Connections taken in.", &counters.connections);
    let ended = "oarlock_connections_ended_total";
    text.counter(ended, "Connections that ended before their time, by why.");
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
    for kind in ErrorKind::ALL {
        text.sample(ended, &[("why", kind.name())], counters.protocol_errors(kind));
    }
    total(text, "oarlock_received_bytes_total", "Bytes from MTAs.", &counters.received_bytes);
    total(text, "oarlock_sent_bytes_total", "Bytes to MTAs.", &counters.sent_bytes);
}

fn messages(text: &mut MetricsText, metrics: &Metrics, counters: &Counters) {
    let name = "oarlock_milter_messages_total";
    text.counter(name, "Messages by what became of them.");
    for outcome in Outcome::ALL {
        text.sample(name, &[("outcome", outcome.name())], metrics.messages(outcome));
    }
    let name = "oarlock_milter_replies_total";
    text.counter(name, "What MTAs were told, by reply.");
    for reply in counters::Outcome::ALL {
        text.sample(name, &[("reply", reply.name())], counters.outcomes(reply));
    }
    let aborted = &counters.aborted_messages;
    total(text, "oarlock_milter_aborted_messages_total", "Messages that came to no end.", aborted);
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
        ("oarlock_milter_unsigned_total", "Signatures that were to be made and were not.", &metrics.unsigned),
        ("oarlock_milter_sealed_total", "ARC sets added.", &metrics.sealed),
        ("oarlock_milter_unsealed_total", "ARC sets that were to be added and were not.", &metrics.unsealed),
        ("oarlock_milter_forged_total", "Results in this host's name that were removed.", &metrics.forged),
        ("oarlock_milter_dropped_changes_total", "Changes that MTAs do not make.", &counters.dropped_changes),
        ("oarlock_milter_progress_total", "Times that an MTA was asked for patience.", &counters.progress),
    ] {
        total(text, name, help, counter);
    }
}

fn keys(text: &mut MetricsText, status: &Status) {
    let metrics = &status.base.metrics;
    let name = "oarlock_milter_lookups_total";
    text.counter(name, "Key records that were asked for, by answer.");
    for (answer, count) in metrics.lookups() {
        text.sample(name, &[("answer", answer)], count);
    }
    for (name, help, counter) in [
        ("oarlock_milter_cache_hits_total", "Keys that were in the cache.", &metrics.cache_hits),
        ("oarlock_milter_cache_waits_total", "Keys that somebody was asking for.", &metrics.cache_waits),
        ("oarlock_milter_key_reads_total", "Private keys read.", &*metrics.key_reads),
        ("oarlock_milter_reloads_total", "Signing tables taken into use.", &metrics.reloads),
        ("oarlock_milter_refused_reloads_total", "Signing tables refused.", &metrics.refused_reloads),
    ] {
        total(text, name, help, counter);
    }
    text.gauge("oarlock_milter_cached_names", "Names whose keys are in the cache.");
    text.sample("oarlock_milter_cached_names", &[], status.base.lookups.cached());
    text.gauge("oarlock_milter_signing_lines", "Lines of the signing table in use.");
    text.sample("oarlock_milter_signing_lines", &[], status.current.signing_lines());
}
