//! The counters of the filter for operators.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use oarlock::metrics::Recorder;
use oarlock_dkim::{DkimVerdict, KeyAnswer, KeyProtection};
use oarlock_service_kit::metrics::read_counter as read;

use crate::outcome::MessageOutcome;
use crate::table::TableReload;
use oarlock_milter::counters::count;

/// The counters of the filter. Those of the protocol are [`MilterCounters`](oarlock_milter::MilterCounters).
#[derive(Debug, Default)]
pub struct FilterMetrics {
    messages: [AtomicU64; MessageOutcome::ALL.len()],
    verified: [AtomicU64; VERDICTS.len()],
    chains: [AtomicU64; VERDICTS.len()],
    /// The time from the end of each message to its verdict, in nanoseconds.
    pub verdict_time: Recorder,
    /// The number of signatures made.
    pub signed: AtomicU64,
    /// The number of signatures that could not be made.
    pub unsigned: AtomicU64,
    /// The number of ARC sets added.
    pub sealed: AtomicU64,
    /// The number of ARC sets that could not be added.
    pub unsealed: AtomicU64,
    /// The number of removed `Authentication-Results` fields under this filter's name.
    pub forged: AtomicU64,
    lookups: [AtomicU64; LOOKUPS.len()],
    protected: [AtomicU64; KeyProtection::ALL.len()],
    /// The number of keys found in the cache.
    pub cache_hits: AtomicU64,
    /// The number of keys whose lookup was already in progress.
    pub cache_waits: AtomicU64,
    /// The number of key files read.
    pub key_reads: Arc<AtomicU64>,
    /// The number of tables replaced.
    pub reloads: AtomicU64,
    /// The number of new tables rejected.
    pub refused_reloads: AtomicU64,
}

/// The verdicts in the order of their counters.
pub(crate) const VERDICTS: [DkimVerdict; 7] = [
    DkimVerdict::None,
    DkimVerdict::Pass,
    DkimVerdict::Fail,
    DkimVerdict::Policy,
    DkimVerdict::Neutral,
    DkimVerdict::Temperror,
    DkimVerdict::Permerror,
];

/// The results of lookups in the order of their counters.
pub(crate) const LOOKUPS: [&str; 3] = ["records", "none", "error"];

impl FilterMetrics {
    pub(crate) fn message(&self, outcome: MessageOutcome) {
        // unreachable because the list holds every outcome
        let index = MessageOutcome::ALL.iter().position(|known| *known == outcome).unwrap_or_default();
        count(&self.messages[index], 1);
    }

    pub(crate) fn verified(&self, verdict: DkimVerdict) {
        count(&self.verified[index_of(verdict)], 1);
    }

    pub(crate) fn chain(&self, verdict: DkimVerdict) {
        count(&self.chains[index_of(verdict)], 1);
    }

    pub(crate) fn lookup(&self, answer: &KeyAnswer) {
        let index = match answer {
            KeyAnswer::Records { protection, .. } => {
                // unreachable because the list holds every state
                let state =
                    KeyProtection::ALL.iter().position(|known| known == protection).unwrap_or_default();
                count(&self.protected[state], 1);
                0
            }
            KeyAnswer::NoRecord => 1,
            KeyAnswer::Unknown(_) => 2,
        };
        count(&self.lookups[index], 1);
    }

    pub(crate) fn cache_hit(&self) {
        count(&self.cache_hits, 1);
    }

    pub(crate) fn cache_wait(&self) {
        count(&self.cache_waits, 1);
    }

    pub(crate) fn reload(&self, reload: &TableReload) {
        match reload {
            TableReload::Unchanged => {}
            TableReload::Replaced(_) => count(&self.reloads, 1),
            TableReload::Refused(_) => count(&self.refused_reloads, 1),
        }
    }

    /// Returns the number of messages with this outcome.
    #[must_use]
    pub fn messages(&self, outcome: MessageOutcome) -> u64 {
        let found = MessageOutcome::ALL.iter().zip(&self.messages).find(|(known, _)| **known == outcome);
        found.map_or(0, |(_, counter)| read(counter))
    }

    /// Returns the number of signatures with this verdict.
    #[must_use]
    pub fn signatures(&self, verdict: DkimVerdict) -> u64 {
        read(&self.verified[index_of(verdict)])
    }

    /// Returns the number of ARC chains with this verdict.
    #[must_use]
    pub(crate) fn arc_chains(&self, verdict: DkimVerdict) -> u64 {
        read(&self.chains[index_of(verdict)])
    }

    /// Returns the number of lookups by result.
    pub fn lookups(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        LOOKUPS.into_iter().zip(self.lookups.iter().map(read))
    }

    /// Returns the number of looked up names with records, by their protection.
    pub fn protections(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        KeyProtection::ALL.into_iter().map(KeyProtection::name).zip(self.protected.iter().map(read))
    }
}

fn index_of(verdict: DkimVerdict) -> usize {
    // unreachable because the list holds every verdict
    VERDICTS.iter().position(|known| *known == verdict).unwrap_or_default()
}
