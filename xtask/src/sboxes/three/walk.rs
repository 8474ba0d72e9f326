//! A random walk among circuits of the same function. A step replaces a gate and its private operands by gates that do
//! not change the outputs.

use super::build::GateSignals;
use crate::sboxes::circuit::{Circuit, INPUTS};
use crate::sboxes::random::SearchRandom;
use crate::sboxes::replace::Replacement;

/// The maximum number of gates that a step replaces.
const MOST: usize = 5;

/// Takes one step. The circuit does not grow.
pub(in crate::sboxes) fn step(circuit: &mut Circuit, random: &mut SearchRandom) {
    let signal = INPUTS + random.below(circuit.gates.len());
    let replacement = Replacement::new(circuit, signal, usize::MAX);
    if replacement.size > MOST {
        return;
    }
    let start = GateSignals { signals: replacement.values.clone(), gates: Vec::new() };
    let made = start.make(replacement.truth, replacement.care, replacement.size, random);
    if let Some((built, result)) = made {
        *circuit = replacement.grafted(&built.gates, result);
    }
}
