//! The cost of a batch: `C1 + C2 * operations + C3 * bytes`, stepped by lane groups.
//!
//! The model is that of Lindemann and Smith (USENIX Security 2001, section 4.1). Engines with lanes add the step: a
//! group of lanes costs the same whether one lane or all of them are used.

use oarlock_core::BatchSize;

/// The weight of one observation in the moving average.
const GAIN: f64 = 1.0 / 32.0;
/// The longest observation that counts, in multiples of the prediction. A longer batch was probably interrupted.
const OUTLIER: f64 = 4.0;

/// The cost of one engine for one shape, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineCost {
    /// C1: once per batch.
    pub per_batch_ns: f64,
    /// C2: per operation of a full lane group.
    pub per_op_ns: f64,
    /// C3: per byte of input.
    pub per_byte_ns: f64,
}

impl Default for EngineCost {
    /// Returns the cost assumed for an unmeasured engine: a tenth of a millisecond per operation.
    fn default() -> Self {
        Self { per_batch_ns: 0.0, per_op_ns: 100_000.0, per_byte_ns: 0.0 }
    }
}

impl EngineCost {
    /// Predicts the time of a batch of `ops` operations with `bytes` bytes of input, in nanoseconds.
    #[must_use]
    pub fn predict_ns(&self, batch_size: BatchSize, ops: usize, bytes: usize) -> f64 {
        let [ops, bytes] = Self::stepped(batch_size, ops, bytes);
        self.per_batch_ns + self.per_op_ns * ops + self.per_byte_ns * bytes
    }

    /// Returns the operations and bytes of a batch after its last group has been filled up with similar operations.
    #[must_use]
    pub fn stepped(batch_size: BatchSize, ops: usize, bytes: usize) -> [f64; 2] {
        // An unused lane computes as long as a used one, so a group that is not full costs as much as a full one.
        let whole = ops.next_multiple_of(batch_size.preferred.max(1)) as f64;
        [whole, bytes as f64 * (whole / ops.max(1) as f64)]
    }

    /// Adapts the model to an observed batch. One factor scales all three coefficients, since one time cannot
    /// separate them.
    pub fn observe(&mut self, batch_size: BatchSize, ops: usize, bytes: usize, took_ns: f64) {
        let predicted = self.predict_ns(batch_size, ops, bytes);
        if predicted <= 0.0 {
            return;
        }
        // An outlier is bounded and not dropped. If the machine became slower for good, the model must still follow.
        let scale = 1.0 + GAIN * ((took_ns / predicted).min(OUTLIER) - 1.0);
        self.per_batch_ns *= scale;
        self.per_op_ns *= scale;
        self.per_byte_ns *= scale;
    }

    /// Returns the number of operations per batch that keeps the fixed cost of a batch below 2 % of its time. The
    /// number is a multiple of whole groups and at most the maximal batch size.
    #[must_use]
    pub(crate) fn worthwhile(&self, batch_size: BatchSize, overhead_ns: f64) -> usize {
        let best = batch_size.preferred.max(1);
        let group_ns = (self.per_op_ns * best as f64).max(1.0);
        // The clamp bounds a cost of almost nothing, before the number becomes an integer. The batch size bounds it
        // further.
        let groups = ((self.per_batch_ns + overhead_ns) / (0.02 * group_ns)).ceil().clamp(1.0, 1e6);
        (best * groups as usize).min(batch_size.max.max(best))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EIGHT: BatchSize = BatchSize { preferred: 8, max: 64 };
    const ONE: BatchSize = BatchSize { preferred: 1, max: 64 };

    fn per_op(ns: f64) -> EngineCost {
        EngineCost { per_batch_ns: 0.0, per_op_ns: ns, per_byte_ns: 0.0 }
    }

    #[test]
    fn cost_steps_by_lane_groups() {
        let cost = EngineCost { per_batch_ns: 10.0, per_op_ns: 2.0, per_byte_ns: 0.5 };
        assert_eq!(cost.predict_ns(EIGHT, 1, 4), 42.0);
        assert_eq!(cost.predict_ns(EIGHT, 8, 4 * 8), 42.0, "as much as one of that length");
        assert_eq!(cost.predict_ns(EIGHT, 9, 4 * 9), 74.0);
        assert_eq!(cost.predict_ns(ONE, 9, 4 * 9), 46.0);
        assert_eq!(cost.predict_ns(EIGHT, 0, 0), 10.0);
    }

    #[test]
    fn the_average_follows_the_machine_and_bounds_interruptions() {
        let mut cost = per_op(100.0);
        (0..400).for_each(|_| cost.observe(ONE, 1, 0, 150.0));
        assert!((cost.per_op_ns - 150.0).abs() < 1.0);
        cost.observe(ONE, 1, 0, 1e9);
        assert!((cost.per_op_ns - 164.0).abs() < 1.0);
    }

    #[test]
    fn batches_grow_until_their_overhead_is_small() {
        assert_eq!(per_op(100_000.0).worthwhile(ONE, 500.0), 1);
        assert_eq!(per_op(1_000.0).worthwhile(ONE, 500.0), 25);
        assert_eq!(per_op(0.0).worthwhile(EIGHT, 500.0), 64);
    }
}
