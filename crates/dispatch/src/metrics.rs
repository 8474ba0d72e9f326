//! Counters for everything the dispatcher decides.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter with a cache line of its own: submitters and workers write different ones at the same time.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Counter(AtomicU64);

impl Deref for Counter {
    type Target = AtomicU64;

    fn deref(&self) -> &AtomicU64 {
        &self.0
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// Live counters.
        #[derive(Debug, Default)]
        pub(crate) struct Metrics { $(pub(crate) $name: Counter),* }

        /// The counters at one moment; they only grow.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct DispatchCounters { $($(#[$doc])* pub $name: u64),* }

        impl Metrics {
            pub(crate) fn read(&self) -> DispatchCounters {
                DispatchCounters { $($name: self.$name.load(Ordering::Relaxed)),* }
            }
        }

        impl DispatchCounters {
            /// Names and values, for printing and for metrics endpoints.
            #[must_use]
            pub fn entries(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name)),*]
            }
        }
    };
}

counters! {
    /// Operations taken in, by every way.
    submitted,
    /// Operations answered with an engine's or holder's outcome.
    completed,
    /// Operations refused with `Overloaded`.
    refused,
    /// Operations cancelled before their result was there.
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
    /// Batches given to far engines.
    far_batches,
    /// Operations handed to holders.
    held,
    /// Tasks of callers that were run.
    tasks,
    /// Tasks of callers that nobody wanted any more before a thread was free, or that met the end.
    tasks_dropped,
    /// Operations that a holder dropped.
    held_dropped,
    /// Engine faults, panics among them.
    faults,
    /// Batches abandoned because their engine hung.
    hangs,
    /// Operations run again after a fault or a hang.
    rerun,
    /// RSA private results confirmed by the public operation before release.
    confirmed,
    /// RSA private results that the public operation did not confirm, and not because of their key.
    unconfirmed,
    /// RSA private results that could not be confirmed because of their key, as the referee found: its numbers contradict each other.
    bad_keys,
    /// Results recomputed on a different engine.
    cross_checked,
    /// Results due for a cross-check that no second engine could make.
    cross_unchecked,
    /// Disputes between two engines, decided by the referee.
    disputes,
    /// Times an engine was put aside.
    quarantines,
    /// Disputes in which the referee contradicted its own earlier result.
    referee_wavered,
    /// Probes of engines put aside.
    probes,
    /// Probes after which an engine returned.
    returned,
}

/// Adds to a counter.
pub(crate) fn count(counter: &AtomicU64, by: usize) {
    counter.fetch_add(by as u64, Ordering::Relaxed);
}
