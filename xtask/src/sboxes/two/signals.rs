//! Existing signals, and gates of two inputs that make a function of them.

use crate::sboxes::circuit::{CircuitGate, Truth};
use crate::sboxes::random::SearchRandom;

/// The maximum number of signals.
pub(super) const MOST: usize = Signals::BITS as usize;

/// A set of signals: bit `i` for signal `i`.
type Signals = u64;

/// A function that is free where neither bit is set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    /// The inputs at which the function is one.
    pub(super) ones: Truth,
    /// The inputs at which it is zero.
    pub(super) zeros: Truth,
}

impl Goal {
    pub(super) fn new(truth: Truth, care: Truth) -> Self {
        Self { ones: truth & care, zeros: !truth & care }
    }

    pub(super) fn within(self, part: Truth) -> Self {
        Self { ones: self.ones & part, zeros: self.zeros & part }
    }

    pub(super) fn is_met(self, signal: Truth) -> bool {
        self.ones & !signal == 0 && self.zeros & signal == 0
    }

    fn is_mixed(self) -> bool {
        self.ones != 0 && self.zeros != 0
    }

    /// Returns the goals of a signal that some gate, with `operand` as its other input, turns into this goal. That of
    /// XOR always exists.
    fn inner(self, operand: Truth) -> [Option<Self>; 5] {
        let by_and = |goal: Self, side: Truth| {
            (goal.ones & !side == 0).then_some(Self { ones: goal.ones, zeros: goal.zeros & side })
        };
        [
            Some(self.xor(operand)),
            by_and(self, operand),
            by_and(self, !operand),
            by_and(self.inverse(), operand),
            by_and(self.inverse(), !operand),
        ]
    }

    /// Returns the goal of a signal whose XOR with `operand` meets this goal.
    pub(super) fn xor(self, operand: Truth) -> Self {
        let Self { ones, zeros } = self;
        Self { ones: ones & !operand | zeros & operand, zeros: zeros & !operand | ones & operand }
    }

    fn inverse(self) -> Self {
        Self { ones: self.zeros, zeros: self.ones }
    }
}

/// Existing signals, and the gates that were added to them.
#[derive(Clone, Debug)]
pub(super) struct SignalSet {
    pub(super) signals: Vec<Truth>,
    /// The last signals.
    pub(super) gates: Vec<CircuitGate>,
    /// The signals that are one at each input.
    points: [Signals; 64],
}

impl SignalSet {
    pub(super) fn new(signals: &[Truth]) -> Self {
        let mut set = Self { signals: Vec::with_capacity(MOST), gates: Vec::new(), points: [0; 64] };
        signals.iter().for_each(|signal| set.push_signal(*signal));
        set
    }

    fn push_signal(&mut self, signal: Truth) {
        for (x, point) in self.points.iter_mut().enumerate() {
            *point |= (signal >> x & 1) << self.signals.len();
        }
        self.signals.push(signal);
    }

    fn push(&mut self, gate: CircuitGate) -> usize {
        self.push_signal(gate.apply(&self.signals));
        self.gates.push(gate);
        self.signals.len() - 1
    }

    /// Adds the gate of these operands that meets the goal. It exists.
    pub(super) fn push_fit(&mut self, operands: [usize; 2], goal: Goal, random: &mut SearchRandom) -> usize {
        self.push(self.fit(operands, goal, random))
    }

    /// Finds a signal that meets the goal with at most `max` more gates, three at most.
    pub(super) fn add_up_to(&mut self, max: usize, goal: Goal, random: &mut SearchRandom) -> Option<usize> {
        (0..=max).find_map(|gates| self.add(gates, goal, random))
    }

    /// Finds a signal that meets the goal with this number of gates, three at most, one below another.
    pub(super) fn add(&mut self, gates: usize, goal: Goal, random: &mut SearchRandom) -> Option<usize> {
        match gates {
            0 => self.signals.iter().position(|signal| goal.is_met(*signal)),
            1 => {
                let operands = self.pair(goal, None, random)?;
                Some(self.push_fit(operands, goal, random))
            }
            _ => {
                let (len, start) = (self.signals.len(), random.below(self.signals.len()));
                (0..len).find_map(|skip| self.add_above((start + skip) % len, gates, goal, random))
            }
        }
    }

    /// Meets the goal with this number of gates. The last has `operand` as an input, and the others make the other
    /// input.
    pub(super) fn add_above(
        &mut self,
        operand: usize,
        gates: usize,
        goal: Goal,
        random: &mut SearchRandom,
    ) -> Option<usize> {
        let goals = goal.inner(self.signals[operand]);
        let start = random.below(goals.len());
        (0..goals.len()).find_map(|skip| {
            let other = self.add(gates - 1, goals[(start + skip) % goals.len()]?, random)?;
            Some(self.push_fit([other, operand], goal, random))
        })
    }

    /// Finds two signals of which some gate meets the goal, other than `except`. Chooses among all.
    pub(super) fn pair(
        &self,
        goal: Goal,
        except: Option<[usize; 2]>,
        random: &mut SearchRandom,
    ) -> Option<[usize; 2]> {
        let (mut found, mut count) = (None, 0);
        // One of the two tells apart the first one and the first zero.
        let mut firsts = self.apart(goal).0 & self.all();
        let mut seconds = self.all();
        while firsts != 0 {
            let a = firsts.trailing_zeros() as usize;
            firsts &= firsts - 1;
            seconds &= !(1 << a);
            let one = self.signals[a];
            let (with, without) = (self.apart(goal.within(one)), self.apart(goal.within(!one)));
            let mut left = seconds & with.0 & with.1 & without.0 & without.1;
            while left != 0 {
                let b = left.trailing_zeros() as usize;
                left &= left - 1;
                let is_other = except != Some([a, b]) && except != Some([b, a]);
                if is_other && is_fit(one, self.signals[b], goal) {
                    count += 1;
                    found = if random.below(count) == 0 { Some([a, b]) } else { found };
                }
            }
        }
        found
    }

    /// Returns the signals that tell apart the first one and the first zero of the goal, and the last ones.
    fn apart(&self, goal: Goal) -> (Signals, Signals) {
        if !goal.is_mixed() {
            return (Signals::MAX, Signals::MAX);
        }
        let apart = |one: u32, zero: u32| self.points[one as usize] ^ self.points[zero as usize];
        (
            apart(goal.ones.trailing_zeros(), goal.zeros.trailing_zeros()),
            apart(63 - goal.ones.leading_zeros(), 63 - goal.zeros.leading_zeros()),
        )
    }

    fn all(&self) -> Signals {
        Signals::MAX >> (MOST - self.signals.len())
    }

    /// Makes the gate of these operands that meets the goal. Rows of its table that never matter are random.
    fn fit(&self, [a, b]: [usize; 2], goal: Goal, random: &mut SearchRandom) -> CircuitGate {
        let (one, two) = (self.signals[a], self.signals[b]);
        let spare = random.word();
        let table = (0..).zip(cells(one, two)).fold(0, |table, (row, cell)| {
            let Goal { ones, zeros } = goal.within(cell);
            let is_one = if ones == 0 && zeros == 0 { spare >> row & 1 == 1 } else { ones != 0 };
            table | if is_one { 0b11 << (2 * row) } else { 0 }
        });
        CircuitGate { table, operands: [a, b, b] }
    }
}

/// Returns the inputs at which two signals are zero and zero, zero and one, one and zero, one and one.
fn cells(one: Truth, two: Truth) -> [Truth; 4] {
    [!one & !two, !one & two, one & !two, one & two]
}

fn is_fit(one: Truth, two: Truth, goal: Goal) -> bool {
    cells(one, two).into_iter().all(|cell| !goal.within(cell).is_mixed())
}
