//! The uses of keys, reserved per key and batch in one atomic step before anything is computed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::policy::{KeyPolicy, MAX_RANDOM_GCM};

/// A bound of uses. Batches that run at the same time, and tables that share a count, never take more than it.
#[derive(Debug)]
pub(crate) struct UseLimit {
    max: u64,
    used: Arc<AtomicU64>,
}

impl UseLimit {
    pub(crate) fn new(max: u64) -> Self {
        Self { max, used: Arc::default() }
    }

    /// Returns the same count under another bound.
    fn under(&self, max: u64) -> Self {
        Self { max, used: Arc::clone(&self.used) }
    }

    /// Takes up to `wanted` uses and says how many.
    pub(crate) fn take(&self, wanted: u64) -> u64 {
        let granted = |used: u64| wanted.min(self.max.saturating_sub(used));
        let taken = |used| Some(used + granted(used));
        // unreachable because the closure always gives a value
        granted(self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).unwrap_or(u64::MAX))
    }

    pub(crate) fn give_back(&self, uses: u64) {
        self.used.fetch_sub(uses, Ordering::Relaxed);
    }

    pub(crate) fn left(&self) -> u64 {
        self.max.saturating_sub(self.used.load(Ordering::Relaxed))
    }
}

/// The counts of a key.
#[derive(Debug)]
pub(crate) struct KeyUses {
    /// Records; None if they are not limited.
    pub(crate) records: Option<UseLimit>,
    /// Encryptions under GCM, with random IVs among them.
    pub(crate) gcm: UseLimit,
    /// The encryptions under all keys that were unwrapped under this one inside batches. Such keys cannot be told
    /// apart, so together they may do as much as one key.
    pub(crate) gcm_of_unwrapped: UseLimit,
}

impl KeyUses {
    pub(crate) fn from_policy(policy: &KeyPolicy) -> Self {
        Self {
            records: policy.max_uses.map(UseLimit::new),
            gcm: UseLimit::new(max_gcm(policy)),
            gcm_of_unwrapped: UseLimit::new(MAX_RANDOM_GCM),
        }
    }

    /// Returns the same counts under another policy.
    pub(super) fn under(&self, policy: &KeyPolicy) -> Self {
        let records =
            |max| self.records.as_ref().map_or_else(|| UseLimit::new(max), |limit| limit.under(max));
        Self {
            records: policy.max_uses.map(records),
            gcm: self.gcm.under(max_gcm(policy)),
            gcm_of_unwrapped: self.gcm_of_unwrapped.under(MAX_RANDOM_GCM),
        }
    }
}

fn max_gcm(policy: &KeyPolicy) -> u64 {
    policy.max_random_gcm.unwrap_or(MAX_RANDOM_GCM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_never_take_more_than_there_is() {
        let limit = UseLimit::new(10_000);
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
    fn a_count_goes_on_under_another_bound() {
        let old = KeyUses::from_policy(&KeyPolicy::new().max_uses(10).max_random_gcm(5));
        assert_eq!((old.records.as_ref().unwrap().take(4), old.gcm.take(5)), (4, 5));
        let new = old.under(&KeyPolicy::new().max_uses(12));
        assert_eq!((new.records.as_ref().unwrap().left(), new.gcm.left()), (8, (1 << 32) - 5));
        old.records.as_ref().unwrap().take(1);
        assert_eq!(new.records.as_ref().unwrap().left(), 7, "a batch that runs on counts for both");
        let lower = old.under(&KeyPolicy::new().max_uses(3).max_random_gcm(1));
        assert_eq!((lower.records.as_ref().unwrap().take(1), lower.gcm.take(1)), (0, 0));
        assert!(old.under(&KeyPolicy::new()).records.is_none());
    }

    #[test]
    fn random_ivs_stop_at_two_to_the_32_and_policies_only_lower_that() {
        assert_eq!(KeyUses::from_policy(&KeyPolicy::new()).gcm.left(), 1 << 32);
        assert_eq!(KeyUses::from_policy(&KeyPolicy::new().max_random_gcm(u64::MAX)).gcm.left(), 1 << 32);
        assert_eq!(KeyUses::from_policy(&KeyPolicy::new().max_random_gcm(9)).gcm.left(), 9);
    }
}
