//! The choice of the results that are checked a second time.

use std::sync::atomic::{AtomicU32, Ordering};

/// Chooses a share of all results, evenly spread and in an order that peers cannot predict.
#[derive(Debug)]
pub(crate) struct ResultSampler(AtomicU32);

/// The step per job: 2^32 divided by the golden ratio, so that successive values spread evenly.
const STEP: u32 = 0x9E37_79B9;

impl ResultSampler {
    /// Starts at a position that differs between processes.
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(seed()))
    }

    /// Returns true for about this share of the calls.
    pub(crate) fn is_sampled(&self, share: f64) -> bool {
        self.sample(share, 1).next().is_some()
    }

    /// Returns about this share of the numbers below `count`.
    pub(crate) fn sample(&self, share: f64, count: usize) -> impl Iterator<Item = usize> + use<> {
        // unreachable because no batch has 2^32 jobs
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        // One addition reserves the numbers of the whole batch. Relaxed: the value orders nothing, and threads only
        // need different numbers.
        let first = self.0.fetch_add(STEP.wrapping_mul(count), Ordering::Relaxed);
        let max = if share >= 1.0 { u64::MAX } else { (share.max(0.0) * f64::from(u32::MAX)) as u64 };
        let is_meant = move |at: &u32| u64::from(scattered(first.wrapping_add(STEP.wrapping_mul(*at)))) < max;
        (0..count).filter(is_meant).map(|at| at as usize)
    }
}

/// Mixes the bits of `x`.
fn scattered(x: u32) -> u32 {
    // The multiplier spreads low bits upwards only, and each shift brings high bits down again. Without this, a peer
    // that learns one sampled job could count to the next one.
    let x = (x ^ (x >> 16)).wrapping_mul(0x21F0_AAAD);
    let x = (x ^ (x >> 15)).wrapping_mul(0x735A_2D97);
    x ^ (x >> 15)
}

/// Returns a seed that is unpredictable enough for sampling. The standard library seeds its hashers from the system.
fn seed() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_one_takes_all_and_a_share_of_zero_takes_none() {
        let sampler = ResultSampler::new();
        assert_eq!(sampler.sample(1.0, 5).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!(sampler.sample(0.0, 5).count(), 0);
        assert!(sampler.is_sampled(1.0) && !sampler.is_sampled(-1.0));
    }

    #[test]
    fn samples_of_batches_add_up_to_the_share() {
        let sampler = ResultSampler::new();
        let sampled: usize = (0..100).map(|_| sampler.sample(0.25, 40).count()).sum();
        assert!((900..=1100).contains(&sampled), "{sampled} of 4000");
    }
}
