//! What operators watch of DKIM.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use oarlock_dkim::{KeyAnswer, Verdict};

use crate::outcome::Outcome;
use crate::table::Reload;
use oarlock_milter::counters::count;

/// Counters of the filter; those of the protocol are [`Counters`](oarlock_milter::Counters).
#[derive(Debug, Default)]
pub struct Metrics {
    messages: [AtomicU64; Outcome::ALL.len()],
    verified: [AtomicU64; VERDICTS.len()],
    chains: [AtomicU64; VERDICTS.len()],
    /// Signatures made.
    pub signed: AtomicU64,
    /// Signatures that were to be made and were not.
    pub unsigned: AtomicU64,
    /// ARC sets added.
    pub sealed: AtomicU64,
    /// ARC sets that were to be added and were not.
    pub unsealed: AtomicU64,
    /// `Authentication-Results` in our name that were removed.
    pub forged: AtomicU64,
    lookups: [AtomicU64; LOOKUPS.len()],
    /// Keys that were in the cache.
    pub cache_hits: AtomicU64,
    /// Keys that somebody was asking for already.
    pub cache_waits: AtomicU64,
    /// Key files read.
    pub key_reads: Arc<AtomicU64>,
    /// Tables replaced.
    pub reloads: AtomicU64,
    /// New tables that were no good.
    pub refused_reloads: AtomicU64,
}

/// Results, in the order of their counters.
pub(crate) const VERDICTS: [Verdict; 7] = [
    Verdict::None,
    Verdict::Pass,
    Verdict::Fail,
    Verdict::Policy,
    Verdict::Neutral,
    Verdict::Temperror,
    Verdict::Permerror,
];

/// Results of lookups, in the order of their counters.
pub(crate) const LOOKUPS: [&str; 3] = ["records", "none", "error"];

impl Metrics {
    pub(crate) fn message(&self, outcome: Outcome) {
        // unreachable because every outcome is among all
        let place = Outcome::ALL.iter().position(|known| *known == outcome).unwrap_or_default();
        count(&self.messages[place], 1);
    }

    pub(crate) fn verified(&self, verdict: Verdict) {
        count(&self.verified[place(verdict)], 1);
    }

    pub(crate) fn chain(&self, verdict: Verdict) {
        count(&self.chains[place(verdict)], 1);
    }

    pub(crate) fn lookup(&self, answer: &KeyAnswer) {
        let place = match answer {
            KeyAnswer::Records(_) => 0,
            KeyAnswer::NoRecord => 1,
            KeyAnswer::Unknown(_) => 2,
        };
        count(&self.lookups[place], 1);
    }

    pub(crate) fn cache_hit(&self) {
        count(&self.cache_hits, 1);
    }

    pub(crate) fn cache_wait(&self) {
        count(&self.cache_waits, 1);
    }

    pub(crate) fn reload(&self, reload: &Reload) {
        match reload {
            Reload::Unchanged => {}
            Reload::Replaced(_) => count(&self.reloads, 1),
            Reload::Refused(_) => count(&self.refused_reloads, 1),
        }
    }

    /// Messages with this outcome.
    #[must_use]
    pub fn messages(&self, outcome: Outcome) -> u64 {
        let found = Outcome::ALL.iter().zip(&self.messages).find(|(known, _)| **known == outcome);
        found.map_or(0, |(_, counter)| read(counter))
    }

    /// Signatures with this result.
    #[must_use]
    pub fn signatures(&self, verdict: Verdict) -> u64 {
        read(&self.verified[place(verdict)])
    }

    /// ARC chains with this result.
    #[must_use]
    pub fn arc_chains(&self, verdict: Verdict) -> u64 {
        read(&self.chains[place(verdict)])
    }

    /// Lookups by result.
    pub fn lookups(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        LOOKUPS.into_iter().zip(self.lookups.iter().map(read))
    }
}

pub(crate) fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn place(verdict: Verdict) -> usize {
    // unreachable because every verdict is among them
    VERDICTS.iter().position(|known| *known == verdict).unwrap_or_default()
}
