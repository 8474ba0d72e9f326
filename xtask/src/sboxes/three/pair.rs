//! Pairs of gates that agree with a function where it matters. The inner gate is an operand of the outer one.

use super::fit::fit;
use crate::sboxes::circuit::{CircuitGate, Truth};

/// The signals that are one at an input, or that differ at two inputs: bit `i` for signal `i`.
type Point = u64;

/// An inner gate, and an outer gate whose last operand is the position of the inner one.
pub(super) type GatePair = (CircuitGate, CircuitGate);

/// The number of samples: two inputs at which the function differs from each of the eight cells that three signals
/// make, and two more.
const CONFLICTS: usize = 16;

/// The function in the form that the search over supports needs.
#[derive(Debug)]
pub(super) struct PairSearch<'a> {
    signals: &'a [Truth],
    points: [Point; 64],
    truth: Truth,
    care: Truth,
}

impl<'a> PairSearch<'a> {
    pub(super) fn new(signals: &'a [Truth], truth: Truth, care: Truth) -> Self {
        let mut points = [0; 64];
        for (at, signal) in signals.iter().enumerate() {
            for (x, point) in points.iter_mut().enumerate() {
                *point |= (signal >> x & 1) << at;
            }
        }
        Self { signals, points, truth, care }
    }

    /// Tries signals in this order, and returns the first two gates found.
    pub(super) fn first(&self, order: &[usize]) -> Option<GatePair> {
        for (at, a) in order.iter().enumerate() {
            for (skip, b) in order.iter().enumerate().skip(at + 1) {
                let (one, two) = (self.signals[*a], self.signals[*b]);
                let quarters = [one & two, one & !two, !one & two, !one & !two].map(|part| part & self.care);
                for c in &order[skip + 1..] {
                    if let Some(pair) = self.with_inner([*a, *b, *c], quarters) {
                        return Some(pair);
                    }
                }
            }
        }
        None
    }

    /// Finds an outer pair for these inner operands. It must distinguish every two inputs that they confuse.
    fn with_inner(&self, inner: [usize; 3], quarters: [Truth; 4]) -> Option<GatePair> {
        let mut conflicts = [Point::MAX; CONFLICTS];
        let mut len = 0;
        let three = self.signals[inner[2]];
        for quarter in quarters {
            for part in [quarter & three, quarter & !three] {
                let (ones, zeros) = (part & self.truth, part & !self.truth);
                if ones != 0 && zeros != 0 {
                    conflicts[len] = self.apart(ones.trailing_zeros(), zeros.trailing_zeros());
                    conflicts[len + 1] = self.apart(63 - ones.leading_zeros(), 63 - zeros.leading_zeros());
                    len += 2;
                }
            }
        }
        let all = (1 << self.signals.len()) - 1;
        let mut candidates = conflicts[0] & all;
        while candidates != 0 {
            let d = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            let mut others = all;
            for conflict in &conflicts[..len] {
                let is_left = (conflict >> d & 1).wrapping_sub(1);
                others &= conflict | !is_left;
            }
            while others != 0 {
                let e = others.trailing_zeros() as usize;
                others &= others - 1;
                if let Some(pair) = self.decompose(inner, d, e) {
                    return Some(pair);
                }
            }
        }
        None
    }

    /// Returns the signals that differ at these inputs.
    fn apart(&self, x: u32, y: u32) -> Point {
        self.points[x as usize] ^ self.points[y as usize]
    }

    /// Decomposes the function. For each value of the outer pair, the inner gate is free or known up to its sign.
    fn decompose(&self, inner: [usize; 3], d: usize, e: usize) -> Option<GatePair> {
        let (one, two) = (self.signals[d], self.signals[e]);
        let mut mixed = [0; 4];
        let mut count = 0;
        for part in [!one & !two, !one & two, one & !two, one & two] {
            let part = part & self.care;
            if part & self.truth != 0 && part & !self.truth != 0 {
                mixed[count] = part;
                count += 1;
            }
        }
        let care = mixed[0] | mixed[1] | mixed[2] | mixed[3];
        let truth = (0..1_u32 << (count.max(1) - 1))
            .map(|signs| {
                (0..4).fold(self.truth, |truth, at| truth ^ if signs >> at & 1 == 1 { mixed[at] } else { 0 })
            })
            .find(|truth| fits_together(self.signals, inner, *truth, care))?;
        let gate = fit(self.signals, inner, truth, care, 0);
        let outer = fit(&[one, two, gate.apply(self.signals)], [0, 1, 2], self.truth, self.care, 0);
        Some((gate, CircuitGate { operands: [d, e, self.signals.len()], ..outer }))
    }
}

/// True if some function of the three signals agrees with `truth` where `care` is set.
fn fits_together(signals: &[Truth], operands: [usize; 3], truth: Truth, care: Truth) -> bool {
    let [a, b, c] = operands.map(|at| signals[at]);
    [a & b, a & !b, !a & b, !a & !b].into_iter().all(|quarter| {
        [quarter & c, quarter & !c].into_iter().all(|cell| {
            let cell = cell & care;
            cell & truth == 0 || cell & !truth == 0
        })
    })
}
