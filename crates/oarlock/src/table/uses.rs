//! How often keys are used: reserved per key and batch, in one atomic step, before anything is computed.

use std::sync::atomic::{AtomicU64, Ordering};

use super::policy::{MAX_RANDOM_GCM, Policy};

/// Uses that are left. Batches that run at the same time never take more than there are.
#[derive(Debug)]
pub(crate) struct Limit(AtomicU64);

impl Limit {
    pub(crate) fn new(uses: u64) -> Self {
        Self(AtomicU64::new(uses))
    }

    /// Takes up to `wanted` uses and says how many.
    pub(crate) fn take(&self, wanted: u64) -> u64 {
        // unreachable because the closure always gives a value
        let before = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(wanted)))
            .unwrap_or(0);
        before.min(wanted)
    }

    pub(crate) fn give_back(&self, uses: u64) {
        self.0.fetch_add(uses, Ordering::Relaxed);
    }

    pub(crate) fn left(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What is counted of a key.
#[derive(Debug)]
pub(crate) struct Uses {
    /// Records; None where they are not limited.
    pub(crate) records: Option<Limit>,
    /// Encryptions under GCM, with random IVs among them.
    pub(crate) gcm: Limit,
    /// The same under all the keys that were unwrapped under this one inside of batches: nobody knows one of them from
    /// another, so they share what a single one may do.
    pub(crate) gcm_of_unwrapped: Limit,
}

impl Uses {
    pub(crate) fn of(policy: &Policy) -> Self {
        Self {
            records: policy.max_uses.map(Limit::new),
            gcm: Limit::new(policy.max_random_gcm.unwrap_or(MAX_RANDOM_GCM)),
            gcm_of_unwrapped: Limit::new(MAX_RANDOM_GCM),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_never_take_more_than_there_is() {
        let limit = Limit::new(10_000);
        let taken: u64 = std::thread::scope(|scope| {
            let take = || (0..2_000).map(|n| limit.take(n % 5)).sum::<u64>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((taken, limit.left()), (10_000, 0));
        limit.give_back(3);
        assert_eq!((limit.take(2), limit.take(2), limit.take(2)), (2, 1, 0));
    }

    #[test]
    fn random_ivs_stop_at_two_to_the_32_and_policies_only_lower_that() {
        assert_eq!(Uses::of(&Policy::new()).gcm.left(), 1 << 32);
        assert_eq!(Uses::of(&Policy::new().max_random_gcm(u64::MAX)).gcm.left(), 1 << 32);
        assert_eq!(Uses::of(&Policy::new().max_random_gcm(9)).gcm.left(), 9);
    }
}
