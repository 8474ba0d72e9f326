//! Histograms that many threads write without locks.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of buckets of every histogram. The last bucket also holds all larger values: 2^39 ns are nine minutes.
pub(crate) const BUCKETS: usize = 40;

/// A histogram that records values. Bucket i holds values up to 2^i, so every figure is known within a factor of two.
#[derive(Debug)]
pub struct Recorder {
    counts: [AtomicU64; BUCKETS],
    sum: AtomicU64,
}

/// A histogram at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: [u64; BUCKETS],
    sum: u64,
}

impl Default for Recorder {
    fn default() -> Self {
        Self { counts: array::from_fn(|_| AtomicU64::new(0)), sum: AtomicU64::new(0) }
    }
}

impl Recorder {
    /// Counts a value.
    pub fn record(&self, value: u64) {
        self.record_many(value, 1);
    }

    /// Counts a value so many times.
    pub fn record_many(&self, value: u64, times: u64) {
        // Relaxed, and two steps: a reader may see the bucket without the sum, as `read` says. A lock would make all
        // workers wait for each other.
        self.counts[bucket(value)].fetch_add(times, Ordering::Relaxed);
        self.sum.fetch_add(value.wrapping_mul(times), Ordering::Relaxed);
    }

    /// Adds a tally, with one atomic step per bucket that it touches.
    pub(crate) fn add(&self, tally: &BatchTally) {
        // Most batches touch two or three of the forty buckets. The bits find them without a walk over all.
        let mut touched = tally.touched;
        while touched != 0 {
            let bucket = touched.trailing_zeros() as usize;
            self.counts[bucket].fetch_add(tally.counts[bucket], Ordering::Relaxed);
            touched &= touched - 1;
        }
        self.sum.fetch_add(tally.sum, Ordering::Relaxed);
    }

    /// Returns a snapshot. Values that are recorded meanwhile may be in a bucket already and not yet in the sum.
    #[must_use]
    pub fn read(&self) -> Histogram {
        let counts = array::from_fn(|bucket| self.counts[bucket].load(Ordering::Relaxed));
        Histogram { counts, sum: self.sum.load(Ordering::Relaxed) }
    }
}

impl Histogram {
    /// Returns the number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the sum of the values. It wraps at 2^64, as counters may.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Returns the bounds, powers of two from 1 on, each with the number of values up to it. Values beyond the last
    /// bound are only in [`count`](Self::count).
    pub fn cumulative(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let bounded = self.counts[..BUCKETS - 1].iter().enumerate();
        bounded.scan(0, |below, (bucket, count)| {
            *below += count;
            Some((1 << bucket, *below))
        })
    }
}

/// The values of one batch, collected on a worker's stack.
#[derive(Debug)]
pub(crate) struct BatchTally {
    counts: [u64; BUCKETS],
    /// One bit for each bucket that has values.
    touched: u64,
    sum: u64,
}

impl BatchTally {
    pub(crate) fn new() -> Self {
        Self { counts: [0; BUCKETS], touched: 0, sum: 0 }
    }

    /// Counts a value so many times.
    pub(crate) fn record(&mut self, value: u64, times: u32) {
        let (bucket, times) = (bucket(value), u64::from(times));
        self.counts[bucket] += times;
        self.touched |= 1 << bucket;
        self.sum = self.sum.wrapping_add(value.wrapping_mul(times));
    }
}

/// Returns the smallest i with `value <= 2^i`, or the last bucket.
fn bucket(value: u64) -> usize {
    // Values up to 1 go to bucket 0. Subtracting one first makes a power of two the last value of its bucket.
    let log = u64::BITS - value.saturating_sub(1).leading_zeros();
    (log as usize).min(BUCKETS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_values_up_to_its_bound() {
        let expected = [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (1024, 10), (1025, 11)];
        assert!(expected.iter().all(|(value, index)| bucket(*value) == *index));
        assert_eq!((bucket(1 << 39), bucket(u64::MAX)), (BUCKETS - 1, BUCKETS - 1));
    }

    #[test]
    fn recorded_values_are_read_back() {
        let recorder = Recorder::default();
        [1, 2, 3, u64::MAX].into_iter().for_each(|value| recorder.record(value));
        let histogram = recorder.read();
        assert_eq!((histogram.count(), histogram.sum()), (4, 5));
        let cumulative: Vec<_> = histogram.cumulative().collect();
        assert_eq!(cumulative[..4], [(1, 1), (2, 2), (4, 3), (8, 3)]);
        assert_eq!(cumulative.last(), Some(&(1 << 38, 3)), "values beyond all bounds are in none");
    }

    #[test]
    fn a_tally_counts_as_its_values_would_one_by_one() {
        let (together, singly) = (Recorder::default(), Recorder::default());
        let mut tally = BatchTally::new();
        for (value, times) in [(0, 1), (700, 3), (700, 2), (1 << 50, 1)] {
            tally.record(value, times);
            (0..times).for_each(|_| singly.record(value));
        }
        together.add(&tally);
        assert_eq!(together.read(), singly.read());
    }
}
