//! Batches of many sizes and lengths, timed.

use std::time::Duration;

use oarlock_core::{Engine, Jobs, Operation, Records, Shape};

use super::fastest;
use super::fit::BatchTiming;
use crate::selftest::{sample_operations, sample_records};

/// The batches to time: every size with every length.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimingGrid {
    /// Operations per batch; an engine is asked for no more than it takes.
    pub sizes: Vec<usize>,
    /// Bytes of each record, rounded up to what the shape takes; public-key operations have lengths of their own.
    pub lens: Vec<usize>,
    /// Batches with more bytes are left out.
    pub max_bytes: usize,
    /// Sizes above one that took longer are left out.
    pub longest: Duration,
    /// The time for which short batches are repeated. The fastest run counts.
    pub each: Duration,
}

impl Default for TimingGrid {
    /// Returns sizes from one operation to 65,536 in steps of four, and lengths of 8 to 320 bytes.
    fn default() -> Self {
        Self {
            sizes: (0..=8).map(|power| 4_usize.pow(power)).collect(),
            lens: vec![8, 40, 80, 320],
            max_bytes: 8 << 20,
            longest: Duration::from_millis(100),
            each: Duration::from_millis(2),
        }
    }
}

impl TimingGrid {
    /// Times an engine, called bare. Batches at which it fails are left out.
    pub(crate) fn time(&self, engine: &dyn Engine, shape: Shape) -> Vec<BatchTiming> {
        let Some(lanes) = engine.offers(shape) else { return Vec::new() };
        let sizes: Vec<usize> = self.sizes.iter().copied().filter(|size| *size <= lanes.max).collect();
        if shape.is_record() {
            self.lens.iter().flat_map(|len| self.time_records(engine, shape, &sizes, *len)).collect()
        } else {
            self.time_operations(engine, shape, &sizes)
        }
    }

    fn time_records(
        &self,
        engine: &dyn Engine,
        shape: Shape,
        sizes: &[usize],
        len: usize,
    ) -> Vec<BatchTiming> {
        let sizes = sizes.iter().filter(|size| *size * len <= self.max_bytes);
        self.climb(sizes, |ops| {
            let records = sample_records(engine, shape, ops, len).ok()?;
            let parts: [&Records<'_>; 1] = [&records];
            let took_ns = fastest(engine, &Jobs::Records(shape, &parts), self.each)?;
            Some(BatchTiming { ops, bytes: records.input_bytes(), took_ns })
        })
    }

    fn time_operations(&self, engine: &dyn Engine, shape: Shape, sizes: &[usize]) -> Vec<BatchTiming> {
        let max = sizes.iter().copied().max().unwrap_or(0);
        let Ok(set) = sample_operations(shape, max) else { return Vec::new() };
        let operations: Vec<Operation<'_>> = set.iter().collect();
        self.climb(sizes.iter(), |ops| {
            let took_ns = fastest(engine, &Jobs::Operations(shape, &operations[..ops]), self.each)?;
            Some(BatchTiming { ops, bytes: 0, took_ns })
        })
    }

    /// Times sizes until one takes too long.
    fn climb<'s>(
        &self,
        sizes: impl Iterator<Item = &'s usize>,
        time: impl Fn(usize) -> Option<BatchTiming>,
    ) -> Vec<BatchTiming> {
        let mut timings = Vec::new();
        for size in sizes {
            timings.extend(time(*size));
            if timings.last().is_some_and(|last| last.took_ns > self.longest.as_nanos() as f64) {
                break;
            }
        }
        timings
    }
}

#[cfg(test)]
mod tests {
    use oarlock_core::{BlockCipher, CipherMode, DigestAlg, Direction};
    use oarlock_scalar::ScalarEngine;

    use super::*;

    fn small() -> TimingGrid {
        TimingGrid { sizes: vec![1, 3, 70], lens: vec![8, 40], each: Duration::ZERO, ..TimingGrid::default() }
    }

    #[test]
    fn every_size_is_timed_with_every_length() {
        let cbc =
            Shape::Cipher { alg: BlockCipher::Aes128, mode: CipherMode::Cbc, direction: Direction::Encrypt };
        let timings = small().time(&ScalarEngine::detect().unwrap(), cbc);
        let cells: Vec<_> = timings.iter().map(|timing| (timing.ops, timing.bytes)).collect();
        assert_eq!(cells, [(1, 16), (3, 48), (70, 1120), (1, 48), (3, 144), (70, 3360)]);
        assert!(timings.iter().all(|timing| timing.took_ns > 0.0));
    }

    #[test]
    fn an_engine_is_asked_for_no_more_than_it_takes() {
        let timings = small().time(&ScalarEngine::detect().unwrap(), Shape::Ed25519Sign);
        let cells: Vec<_> = timings.iter().map(|timing| (timing.ops, timing.bytes)).collect();
        assert_eq!(cells, [(1, 0), (3, 0)]);
    }

    #[test]
    fn batches_that_are_too_large_or_slow_are_left_out() {
        let (scalar, digest) = (ScalarEngine::detect().unwrap(), Shape::Digest { alg: DigestAlg::Sha1 });
        let few = TimingGrid { max_bytes: 150, ..small() }.time(&scalar, digest);
        assert_eq!(few.iter().map(|timing| timing.bytes).collect::<Vec<_>>(), [8, 24, 40, 120]);
        let first = TimingGrid { longest: Duration::ZERO, ..small() }.time(&scalar, digest);
        assert_eq!(first.iter().map(|timing| timing.ops).collect::<Vec<_>>(), [1, 1]);
    }
}
