//! Counters for all decisions of the dispatcher.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter with a cache line of its own, because submitters and workers write different counters at the same time.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct PaddedCounter(AtomicU64);

impl Deref for PaddedCounter {
    type Target = AtomicU64;

    fn deref(&self) -> &AtomicU64 {
        &self.0
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// Live counters.
        #[derive(Debug, Default)]
        pub(crate) struct Metrics { $(pub(crate) $name: PaddedCounter),* }

        /// A snapshot of the counters, which only grow.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct DispatchCounters { $($(#[$doc])* pub $name: u64),* }

        impl Metrics {
            pub(crate) fn read(&self) -> DispatchCounters {
                // Not one moment: a job may be counted as completed and not yet as submitted. Sums are exact once
                // nothing runs.
                DispatchCounters { $($name: self.$name.load(Ordering::Relaxed)),* }
            }
        }

        impl DispatchCounters {
            /// Returns names and values, for printing and for metrics endpoints.
            #[must_use]
            pub fn entries(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name)),*]
            }
        }
    };
}

counters! {
    /// Operations accepted, including bulk work.
    submitted,
    /// Operations answered with an engine's or holder's outcome.
    completed,
    /// Operations refused with `Overloaded`.
    refused,
    /// Operations cancelled before they had a result.
    cancelled,
    /// Operations whose deadline passed.
    expired,
    /// Operations that no engine could compute.
    failed,
    /// Operations run on the thread that submitted them.
    on_caller,
    /// Operations run by `run_all`.
    bulk,
    /// Batches run on an engine.
    batches,
    /// Operations in those batches.
    batched_ops,
    /// The time of engines for those batches in nanoseconds.
    engine_ns,
    /// Batches given to far engines.
    far_batches,
    /// Operations handed to holders.
    held,
    /// Tasks of callers that were run.
    tasks,
    /// Tasks of callers that were cancelled before a thread was free, or dropped at shutdown.
    tasks_dropped,
    /// Operations that a holder dropped.
    held_dropped,
    /// Engine faults, panics among them.
    faults,
    /// Batches abandoned because their engine hung.
    hangs,
    /// Operations run again after a fault or a hang.
    rerun,
    /// RSA private results confirmed by the public operation, and ML-DSA and SLH-DSA signatures verified, before
    /// release.
    confirmed,
    /// SLH-DSA signatures computed twice before release.
    recomputed,
    /// Results that were not confirmed although their key is sound.
    unconfirmed,
    /// RSA private results that could not be confirmed because the numbers of their key contradict each other. The
    /// referee decides that.
    bad_keys,
    /// Results recomputed on a different engine.
    cross_checked,
    /// Results sampled for a cross-check that no second engine could compute.
    cross_unchecked,
    /// Disputes between two engines, decided by the referee.
    disputes,
    /// Times an engine was put into quarantine.
    quarantines,
    /// Disputes in which the referee contradicted its own earlier result.
    referee_wavered,
    /// Probes of engines in quarantine.
    probes,
    /// Probes after which an engine left quarantine.
    returned,
}

/// Adds to a counter.
pub(crate) fn count(counter: &AtomicU64, by: usize) {
    // Relaxed: a counter orders nothing. A caller that reads its own jobs in the counters was woken through a lock or a
    // release store after they were counted.
    counter.fetch_add(by as u64, Ordering::Relaxed);
}
