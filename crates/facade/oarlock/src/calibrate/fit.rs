//! The constants of the cost model from timed batches, by least squares on the relative error, with no constant below
//! zero.
//!
//! The times of one engine and shape span five orders of magnitude, so every deviation counts relative to the time
//! itself. In absolute terms the largest batches alone would decide. The fit tries all eight sets of constants that
//! may differ from zero and takes the best. That is exact for three constants and needs no iteration.

use oarlock_core::BatchSize;
use oarlock_dispatch::EngineCost;

/// One batch that was timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchTiming {
    /// Its operations.
    pub ops: usize,
    /// Their bytes of input, all together; 0 for shapes whose input has one length.
    pub bytes: usize,
    /// The time of the batch in nanoseconds.
    pub took_ns: f64,
}

/// The model that comes closest to some timings, with its deviation. Deviations are relative: 0.1 is a tenth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CostFit {
    /// The constants.
    pub cost: EngineCost,
    /// Root mean square of the deviations.
    pub rms: f64,
    /// The largest deviation.
    pub worst: f64,
    /// The number of timings.
    pub timings: usize,
}

/// C1, C2 and C3, or what they are multiplied with.
type Constants = [f64; 3];

/// The sets of constants that may differ from zero.
///
/// If several sets explain the timings equally well, the first is taken. Timings of a single size do not show the
/// cost of a batch beside that of its operations.
const SETS: [&[usize]; 7] = [&[1], &[0], &[2], &[0, 1], &[1, 2], &[0, 2], &[0, 1, 2]];

impl CostFit {
    /// Fits `C1 + C2 * operations + C3 * bytes`, both counted in whole groups of `group` operations.
    ///
    /// A group of 1 is the model of Lindemann and Smith (USENIX Security 2001, section 4.1). The lanes of an engine
    /// give the model of [`EngineCost::predict_ns`]. Returns `None` without a timing above zero.
    #[must_use]
    pub fn from_timings(timings: &[BatchTiming], group: usize) -> Option<Self> {
        let lanes = BatchSize { preferred: group.max(1), max: usize::MAX };
        let usable = |timing: &&BatchTiming| timing.took_ns.is_finite() && timing.took_ns > 0.0;
        let timings: Vec<BatchTiming> = timings.iter().filter(usable).copied().collect();
        let rows: Vec<Constants> = timings.iter().map(|timing| row(timing, lanes)).collect();
        let mut best: Option<Self> = None;
        for set in SETS {
            let Some([per_batch_ns, per_op_ns, per_byte_ns]) = solve(&rows, set) else { continue };
            let fit = Self::judge(EngineCost { per_batch_ns, per_op_ns, per_byte_ns }, &timings, lanes);
            // Strictly better: among equal fits the earlier set, with fewer constants, stays.
            if best.is_none_or(|best| fit.rms < best.rms - TIE) {
                best = Some(fit);
            }
        }
        best
    }

    fn judge(cost: EngineCost, timings: &[BatchTiming], lanes: BatchSize) -> Self {
        let deviation = |timing: &BatchTiming| {
            (cost.predict_ns(lanes, timing.ops, timing.bytes) / timing.took_ns - 1.0).abs()
        };
        let deviations: Vec<f64> = timings.iter().map(deviation).collect();
        let squares: f64 = deviations.iter().map(|deviation| deviation * deviation).sum();
        Self {
            cost,
            rms: (squares / deviations.len() as f64).sqrt(),
            worst: deviations.iter().copied().fold(0.0, f64::max),
            timings: deviations.len(),
        }
    }
}

/// Differences of deviations that mean nothing.
const TIE: f64 = 1e-9;

/// Returns the factors of the constants, divided by the time, so that each row should add up to 1.
fn row(timing: &BatchTiming, lanes: BatchSize) -> Constants {
    let [ops, bytes] = EngineCost::stepped(lanes, timing.ops, timing.bytes);
    [1.0, ops, bytes].map(|factor| factor / timing.took_ns)
}

/// The constants of `set` for which the rows come closest to 1, the others zero; None if the rows do not determine them
/// or one is below zero.
fn solve(rows: &[Constants], set: &[usize]) -> Option<Constants> {
    // Columns of length 1 keep the normal equations from losing digits to units.
    let norm = |column: usize| rows.iter().map(|row| row[column] * row[column]).sum::<f64>().sqrt();
    let norms: Vec<f64> = set.iter().map(|column| norm(*column)).collect();
    // A column of zeros determines no constant: the bytes of operations whose input has one length.
    if norms.iter().any(|norm| *norm <= 0.0) {
        return None;
    }
    let size = set.len();
    let product = |left: usize, right: usize| {
        let (norms, columns) = (norms[left] * norms[right], [set[left], set[right]]);
        rows.iter().map(|row| row[columns[0]] * row[columns[1]]).sum::<f64>() / norms
    };
    let sum = |at: usize| rows.iter().map(|row| row[set[at]]).sum::<f64>() / norms[at];
    let mut equations = [[0.0; 4]; 3];
    for (line, equation) in equations.iter_mut().enumerate().take(size) {
        (0..size).for_each(|column| equation[column] = product(line, column));
        equation[size] = sum(line);
    }
    let solution = eliminate(equations, size)?;
    let mut constants = [0.0; 3];
    for (at, column) in set.iter().enumerate() {
        constants[*column] = solution[at] / norms[at];
    }
    constants.iter().all(|constant| *constant >= 0.0).then_some(constants)
}

/// Below this, a pivot of equations whose diagonal was 1 is rounding.
const MIN_PIVOT: f64 = 1e-11;

/// Gauss's elimination of `size` equations, whose right sides stand behind their coefficients. Symmetric and positive
/// definite ones need no exchange of rows.
fn eliminate(mut equations: [[f64; 4]; 3], size: usize) -> Option<Constants> {
    for pivot in 0..size {
        let of_pivot = equations[pivot];
        if of_pivot[pivot] < MIN_PIVOT {
            return None;
        }
        for (line, equation) in equations.iter_mut().enumerate().take(size) {
            let factor = equation[pivot] / of_pivot[pivot];
            if line != pivot {
                equation.iter_mut().zip(of_pivot).for_each(|(to, other)| *to -= factor * other);
            }
        }
    }
    let mut solution = [0.0; 3];
    for (line, value) in solution.iter_mut().enumerate().take(size) {
        *value = equations[line][size] / equations[line][line];
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(cost: EngineCost, group: usize, (ops, len): (usize, usize)) -> BatchTiming {
        let lanes = BatchSize { preferred: group, max: usize::MAX };
        BatchTiming { ops, bytes: ops * len, took_ns: cost.predict_ns(lanes, ops, ops * len) }
    }

    fn grid() -> Vec<(usize, usize)> {
        let sizes = (0..=8).map(|power| 4_usize.pow(power));
        sizes.flat_map(|ops| [8, 40, 80, 320].map(|len| (ops, len))).collect()
    }

    fn cost(per_batch_ns: f64, per_op_ns: f64, per_byte_ns: f64) -> EngineCost {
        EngineCost { per_batch_ns, per_op_ns, per_byte_ns }
    }

    fn is_near(found: f64, expected: f64, share: f64) -> bool {
        (found - expected).abs() <= share * expected.max(1e-3)
    }

    #[test]
    fn constants_of_any_size_are_recovered() {
        for known in
            [cost(900.0, 12.0, 0.25), cost(0.0, 600.0, 15.0), cost(50.0, 0.0, 3.0), cost(7e6, 1.0, 0.0)]
        {
            let timings: Vec<BatchTiming> = grid().into_iter().map(|cell| timing(known, 1, cell)).collect();
            let fit = CostFit::from_timings(&timings, 1).unwrap();
            assert!(is_near(fit.cost.per_batch_ns, known.per_batch_ns, 1e-6), "{fit:?}");
            assert!(is_near(fit.cost.per_op_ns, known.per_op_ns, 1e-6), "{fit:?}");
            assert!(is_near(fit.cost.per_byte_ns, known.per_byte_ns, 1e-6), "{fit:?}");
            assert!(fit.rms < 1e-6 && fit.worst < 1e-6 && fit.timings == timings.len(), "{fit:?}");
        }
    }

    #[test]
    fn noise_moves_constants_little_and_shows_in_the_error() {
        let known = cost(900.0, 12.0, 0.25);
        let noisy = grid().into_iter().enumerate().map(|(index, cell)| {
            let noise = [0.05, -0.02, -0.05, 0.02, 0.03, -0.03, 0.0][index % 7];
            let exact = timing(known, 1, cell);
            BatchTiming { took_ns: exact.took_ns * (1.0 + noise), ..exact }
        });
        let fit = CostFit::from_timings(&noisy.collect::<Vec<_>>(), 1).unwrap();
        assert!(is_near(fit.cost.per_batch_ns, known.per_batch_ns, 0.05), "{fit:?}");
        assert!(is_near(fit.cost.per_op_ns, known.per_op_ns, 0.1), "{fit:?}");
        assert!(is_near(fit.cost.per_byte_ns, known.per_byte_ns, 0.1), "{fit:?}");
        assert!((0.02..0.05).contains(&fit.rms) && (0.04..0.08).contains(&fit.worst), "{fit:?}");
    }

    #[test]
    fn lane_groups_are_error_until_they_are_counted() {
        let known = cost(300.0, 5.0, 0.0);
        let timings: Vec<BatchTiming> = grid().into_iter().map(|cell| timing(known, 512, cell)).collect();
        let (plain, stepped) =
            (CostFit::from_timings(&timings, 1).unwrap(), CostFit::from_timings(&timings, 512).unwrap());
        assert!(plain.rms > 0.1 && plain.worst > plain.rms, "{plain:?}");
        assert!(stepped.worst < 1e-6 && is_near(stepped.cost.per_op_ns, 5.0, 1e-6), "{stepped:?}");
    }

    #[test]
    fn no_constant_falls_below_zero() {
        let timings =
            [(1, 100.0), (4, 100.0), (16, 90.0)].map(|(ops, took_ns)| BatchTiming { ops, bytes: 0, took_ns });
        let fit = CostFit::from_timings(&timings, 1).unwrap();
        assert!(fit.cost.per_op_ns == 0.0 && (90.0..=100.0).contains(&fit.cost.per_batch_ns), "{fit:?}");
        let timings = [(1, 10.0), (4, 400.0)].map(|(ops, took_ns)| BatchTiming { ops, bytes: 0, took_ns });
        let fit = CostFit::from_timings(&timings, 1).unwrap();
        assert!(fit.cost.per_batch_ns == 0.0 && fit.cost.per_op_ns > 0.0, "{fit:?}");
    }

    #[test]
    fn what_a_grid_does_not_tell_is_zero() {
        let one_size = [8, 40, 80].map(|len| timing(cost(0.0, 30.0, 2.0), 1, (64, len)));
        let fit = CostFit::from_timings(&one_size, 1).unwrap();
        assert!(is_near(fit.cost.per_op_ns, 30.0, 1e-6) && fit.cost.per_batch_ns == 0.0, "{fit:?}");
        let one_len = [1, 8, 64].map(|ops| timing(cost(100.0, 30.0, 0.0), 1, (ops, 8)));
        let fit = CostFit::from_timings(&one_len, 1).unwrap();
        assert!(is_near(fit.cost.per_op_ns, 30.0, 1e-6) && fit.cost.per_byte_ns == 0.0, "{fit:?}");
        let one = CostFit::from_timings(&[BatchTiming { ops: 8, bytes: 64, took_ns: 80.0 }], 8).unwrap();
        assert_eq!((one.cost, one.timings), (cost(0.0, 10.0, 0.0), 1));
    }

    #[test]
    fn timings_that_are_none_are_left_out() {
        assert!(CostFit::from_timings(&[], 1).is_none());
        let none =
            [0.0, -1.0, f64::NAN, f64::INFINITY].map(|took_ns| BatchTiming { ops: 1, bytes: 8, took_ns });
        assert!(CostFit::from_timings(&none, 1).is_none());
        let with_one = [&none[..], &[BatchTiming { ops: 1, bytes: 0, took_ns: 5.0 }]].concat();
        assert_eq!(CostFit::from_timings(&with_one, 1).unwrap().timings, 1);
    }
}
