//! Circuits built output by output from what is there already, in the manner of Kwan ("Reducing the gate count of bitslice
//! DES", 2000) with gates of three inputs.

use super::circuit::{Circuit, Gate, OUTPUTS, Truth, VARIABLES};
use super::fit::{fit, fits};
use super::pair::PairSearch;
use super::random::Random;

/// What is there: inputs and gates.
#[derive(Clone)]
pub(super) struct Built {
    pub(super) signals: Vec<Truth>,
    /// The last signals.
    pub(super) gates: Vec<Gate>,
}

/// `yes` where the first operand is one and `no` elsewhere.
const CHOICE: u8 = 0b1100_1010;

/// Outer gates that are tried above two unknown ones: trying all of them takes long and finds little more.
const CHAINS: usize = 12;

impl Built {
    /// A signal that agrees with `truth` where `care` is set, for at most `budget` more gates, and few of them.
    pub(super) fn make(
        &self,
        truth: Truth,
        care: Truth,
        budget: usize,
        random: &mut Random,
    ) -> Option<(Self, usize)> {
        if let Some(same) = self.signals.iter().position(|signal| (signal ^ truth) & care == 0) {
            return Some((self.clone(), same));
        }
        if budget == 0 {
            return None;
        }
        let found = fits(&self.signals, truth, care);
        if let Some(operands) = found.get(random.below(found.len().max(1))) {
            return Some(self.with(&[fit(&self.signals, *operands, truth, care, random.word())]));
        }
        if budget == 1 {
            return None;
        }
        let mut order: Vec<usize> = (0..self.signals.len()).collect();
        random.shuffle(&mut order);
        if let Some((inner, outer)) = PairSearch::new(&self.signals, truth, care).first(&order) {
            return Some(self.with(&[inner, outer]));
        }
        (3..=budget).find_map(|budget| {
            let chosen = order.iter().find_map(|select| self.choose(*select, truth, care, budget, random));
            if chosen.is_none() && budget == 3 { self.chain(truth, care, random) } else { chosen }
        })
    }

    /// Chooses by a signal between what is needed where it is one and where it is zero.
    fn choose(
        &self,
        select: usize,
        truth: Truth,
        care: Truth,
        budget: usize,
        random: &mut Random,
    ) -> Option<(Self, usize)> {
        let on = self.signals[select];
        if on & care == 0 || !on & care == 0 {
            return None;
        }
        let is_yes_first = random.below(2) == 0;
        let first = if is_yes_first { on } else { !on };
        // Signals are few at first, and then halves cost more.
        let most = if self.signals.len() < 10 { budget - 1 } else { budget / 2 };
        let (built, one) = self.make(truth, care & first, most, random)?;
        let left = budget - 1 - (built.gates.len() - self.gates.len());
        let (built, two) = built.make(truth, care & !first, left.min(most), random)?;
        let (yes, no) = if is_yes_first { (one, two) } else { (two, one) };
        Some(built.with(&[Gate { table: CHOICE, operands: [select, yes, no] }]))
    }

    /// A gate of two signals and a third one that two gates make.
    fn chain(&self, truth: Truth, care: Truth, random: &mut Random) -> Option<(Self, usize)> {
        (0..CHAINS).find_map(|_| {
            let (d, e) = (random.below(self.signals.len()), random.below(self.signals.len()));
            let (one, two) = (self.signals[d], self.signals[e]);
            let parts = [!one & !two, !one & two, one & !two, one & two].map(|part| part & care);
            let mixed: Vec<Truth> =
                parts.into_iter().filter(|part| part & truth != 0 && part & !truth != 0).collect();
            let inner_care = mixed.iter().fold(0, |all, part| all | part);
            let signs = random.word();
            let turned = (0..).zip(&mixed).filter(|(at, _)| signs >> at & 1 == 1);
            let inner_truth = turned.fold(truth, |truth, (_, part)| truth ^ part);
            let (built, inner) = self.make(inner_truth, inner_care, 2, random)?;
            Some(built.with(&[fit(&built.signals, [d, e, inner], truth, care, random.word())]))
        })
    }

    fn with(&self, gates: &[Gate]) -> (Self, usize) {
        let mut built = self.clone();
        for gate in gates {
            built.signals.push(gate.of(&built.signals));
            built.gates.push(*gate);
        }
        let last = built.signals.len() - 1;
        (built, last)
    }
}

/// A circuit for these outputs; another one for another state of `random`.
pub(super) fn build(truths: &[Truth; OUTPUTS], random: &mut Random) -> Circuit {
    let mut order: [usize; OUTPUTS] = std::array::from_fn(|output| output);
    random.shuffle(&mut order);
    let mut outputs = [0; OUTPUTS];
    let mut built = Built { signals: VARIABLES.to_vec(), gates: Vec::new() };
    for output in order {
        let found = (2..).find_map(|budget| built.make(truths[output], Truth::MAX, budget, random));
        // unreachable because splitting by all inputs always ends
        (built, outputs[output]) = found.unwrap_or_else(|| (built.clone(), 0));
    }
    Circuit { gates: built.gates, outputs }.tidied()
}
