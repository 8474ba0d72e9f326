//! The search for circuits of two-input gates. It is free to use all ten functions of two inputs, and the last step
//! changes signs until the gates are those of every CPU.
//!
//! | module | content |
//! |---|---|
//! | `signals` | existing signals, and the fewest gates that make a function of them |
//! | `build` | a first circuit, output by output, in the manner of Kwan |
//! | `normal` | circuits of which every signal is zero at input zero: no gate changes a sign only |
//! | `walk` | a random walk to smaller circuits |
//! | `sign` | the NOT gates that a normal circuit needs for its outputs |

mod build;
mod normal;
mod sign;
mod signals;
mod walk;

use super::circuit::{Circuit, OUTPUTS, Truth};
use super::random::SearchRandom;

/// The numbers of circuits that walk at first, then of the smallest of them, and so on, and the steps of each.
const STAGES: [(usize, usize); 3] = [(16, 4_000), (4, 20_000), (1, 100_000)];

/// The gates by which a walk may exceed its smallest circuit.
const SLACK: usize = 1;

/// A circuit on its walk.
struct Walker {
    /// The current circuit, a normal one.
    current: Circuit,
    /// The number of gates of the smallest normal circuit.
    min: usize,
    /// The smallest circuit with signs.
    best: Circuit,
}

impl Walker {
    fn new(truths: &[Truth; OUTPUTS], random: &mut SearchRandom) -> Self {
        let current = normal::normal(&build::build(truths, random));
        Self { min: current.gates.len(), best: sign::signed(&current, truths), current }
    }

    fn step(&mut self, truths: &[Truth; OUTPUTS], random: &mut SearchRandom) {
        let Some(next) = walk::step(&self.current, self.min + SLACK, random) else { return };
        self.current = next;
        let len = self.current.gates.len();
        self.min = self.min.min(len);
        // At least one NOT is needed, because every S-box has an output that is one at input zero.
        if len + 1 < self.best.gates.len() {
            let signed = sign::signed(&self.current, truths);
            if signed.gates.len() < self.best.gates.len() {
                self.best = signed;
            }
        }
    }
}

/// Builds circuits for these outputs, and lets the smallest of them walk on.
pub(super) fn circuit(truths: &[Truth; OUTPUTS], random: &mut SearchRandom) -> Circuit {
    let mut walkers: Vec<Walker> = (0..STAGES[0].0).map(|_| Walker::new(truths, random)).collect();
    for (count, steps) in STAGES {
        walkers.truncate(count);
        for walker in &mut walkers {
            (0..steps).for_each(|_| walker.step(truths, random));
        }
        walkers.sort_by_key(|walker| walker.best.gates.len());
    }
    walkers.swap_remove(0).best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sboxes::circuit::truths_of;
    use crate::sboxes::standard::S_BOXES;

    /// Steps of the walk in tests, which prove the function and not the size.
    const FEW: usize = 300;

    #[test]
    fn every_stage_computes_the_s_box_by_named_gates() {
        let truths = truths_of(&S_BOXES[3]);
        let mut random = SearchRandom::new(5);
        let built = build::build(&truths, &mut random);
        assert_eq!(built.truths(), truths);
        let mut walker = Walker::new(&truths, &mut random);
        let first = walker.best.gates.len();
        (0..FEW).for_each(|_| walker.step(&truths, &mut random));
        assert_eq!(walker.current.truths(), truths.map(normal::without_sign));
        assert_eq!(walker.best.truths(), truths);
        assert!(walker.best.gates.len() <= first);
        assert!(walker.best.gates.iter().all(|gate| gate.named().is_some()), "{}", walker.best);
    }

    #[test]
    fn the_same_seed_gives_the_same_circuit() {
        let walked = || {
            let (truths, mut random) = (truths_of(&S_BOXES[0]), SearchRandom::new(9));
            let mut walker = Walker::new(&truths, &mut random);
            (0..FEW).for_each(|_| walker.step(&truths, &mut random));
            walker.best
        };
        assert_eq!(walked(), walked());
    }
}
