//! Circuits built output by output from existing signals, in the manner of Kwan ("Reducing the gate count of bitslice
//! DES", 2000) with gates of three inputs.

use super::fit::{fit, fits};
use super::pair::PairSearch;
use crate::sboxes::circuit::{Circuit, CircuitGate, OUTPUTS, Truth, VARIABLES};
use crate::sboxes::random::SearchRandom;

/// The existing signals: inputs and gates.
#[derive(Clone)]
pub(in crate::sboxes) struct GateSignals {
    pub(in crate::sboxes) signals: Vec<Truth>,
    /// The most recent signals.
    pub(in crate::sboxes) gates: Vec<CircuitGate>,
}

/// `yes` where the first operand is one and `no` elsewhere.
const CHOICE: u8 = 0b1100_1010;

/// The number of outer gates that are tried above two unknown ones. Trying all of them takes long and finds little
/// more.
const CHAINS: usize = 12;

impl GateSignals {
    /// Finds a signal that agrees with `truth` where `care` is set, for at most `budget` more gates.
    pub(in crate::sboxes) fn make(
        &self,
        truth: Truth,
        care: Truth,
        budget: usize,
        random: &mut SearchRandom,
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
        // Four gates are found on the way to five.
        (3..=budget).filter(|size| *size != 4 || budget == 4).find_map(|budget| {
            let chosen = order.iter().find_map(|select| self.choose(*select, truth, care, budget, random));
            if chosen.is_none() && budget == 3 { self.chain(truth, care, random) } else { chosen }
        })
    }

    /// Chooses by a signal between the functions for its two values.
    fn choose(
        &self,
        select: usize,
        truth: Truth,
        care: Truth,
        budget: usize,
        random: &mut SearchRandom,
    ) -> Option<(Self, usize)> {
        let on = self.signals[select];
        if on & care == 0 || !on & care == 0 {
            return None;
        }
        let is_yes_first = random.below(2) == 0;
        let first = if is_yes_first { on } else { !on };
        // Signals are few at first, and then halves cost more.
        let max = if self.signals.len() < 10 { budget - 1 } else { budget / 2 };
        let (built, one) = self.make(truth, care & first, max, random)?;
        let left = budget - 1 - (built.gates.len() - self.gates.len());
        let (built, two) = built.make(truth, care & !first, left.min(max), random)?;
        let (yes, no) = if is_yes_first { (one, two) } else { (two, one) };
        Some(built.with(&[CircuitGate { table: CHOICE, operands: [select, yes, no] }]))
    }

    /// Finds a gate of two signals and a third one that two gates make.
    fn chain(&self, truth: Truth, care: Truth, random: &mut SearchRandom) -> Option<(Self, usize)> {
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

    fn with(&self, gates: &[CircuitGate]) -> (Self, usize) {
        let mut built = self.clone();
        for gate in gates {
            built.signals.push(gate.apply(&built.signals));
            built.gates.push(*gate);
        }
        let last = built.signals.len() - 1;
        (built, last)
    }
}

/// A part of a circuit, with the outputs that it has.
#[derive(Clone)]
struct PartialCircuit {
    built: GateSignals,
    outputs: [Option<usize>; OUTPUTS],
}

/// The effort of a search.
#[derive(Clone, Copy, Debug)]
pub(in crate::sboxes) struct SearchEffort {
    /// The number of parts that are followed at once.
    pub(in crate::sboxes) width: usize,
    /// The number of tries for each missing output, if the part has none, one, two or three outputs.
    pub(in crate::sboxes) tries: [usize; OUTPUTS],
}

/// The effort of about ten seconds for an S-box.
pub(in crate::sboxes) const FULL: SearchEffort = SearchEffort { width: 6, tries: [12, 2, 3, 6] };

/// Builds a circuit for these outputs. Another state of `random` gives another circuit.
pub(in crate::sboxes) fn build(
    truths: &[Truth; OUTPUTS],
    effort: SearchEffort,
    random: &mut SearchRandom,
) -> Circuit {
    let SearchEffort { width, tries } = effort;
    let none = GateSignals { signals: VARIABLES.to_vec(), gates: Vec::new() };
    let mut parts = vec![PartialCircuit { built: none, outputs: [None; OUTPUTS] }];
    for tries in tries {
        let mut next: Vec<PartialCircuit> = Vec::new();
        for part in &parts {
            let lacking = (0..OUTPUTS).filter(|output| part.outputs[*output].is_none());
            for output in lacking.flat_map(|output| std::iter::repeat_n(output, tries)) {
                // What would be larger than all that are kept is not looked for.
                let max = next.get(width - 1).map_or(usize::MAX, |worst| worst.built.gates.len());
                next.extend(longer(part, output, truths[output], max, random));
                next.sort_by_key(|part| part.built.gates.len());
                next.truncate(width);
            }
        }
        parts = next;
    }
    let PartialCircuit { built, outputs } = parts.swap_remove(0);
    // unreachable because every round has filled one more output
    Circuit { gates: built.gates, outputs: outputs.map(Option::unwrap_or_default) }.tidied()
}

/// Adds an output to a part, with at most `max` gates.
fn longer(
    part: &PartialCircuit,
    output: usize,
    truth: Truth,
    max: usize,
    random: &mut SearchRandom,
) -> Option<PartialCircuit> {
    let budget = max.saturating_sub(part.built.gates.len()).min(MOST);
    let (built, signal) = part.built.make(truth, Truth::MAX, budget, random)?;
    let mut outputs = part.outputs;
    outputs[output] = Some(signal);
    Some(PartialCircuit { built, outputs })
}

/// The number of gates that suffice for one output of any part: splitting by all inputs needs fewer.
const MOST: usize = 32;
