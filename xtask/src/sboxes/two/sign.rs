//! The signs of a circuit. Every CPU computes AND, OR, XOR and AND NOT, which are zero where both operands are. So a
//! normal circuit needs NOT gates for outputs that are one at input zero.

use super::normal::with_signs;
use crate::sboxes::circuit::{Circuit, CircuitGate, INPUTS, OUTPUTS, Truth, VARIABLES};

/// The table of NOT.
const NOT: u8 = 0x0F;

/// The tables of a AND NOT b, and of NOT a AND b.
const AND_NOT: u8 = 0x30;
const NOT_AND: u8 = 0x0C;

/// The maximum number of uses of a signal that are chosen from: a word has a bit for each choice.
const MAX_USES: usize = VARIABLES.len();

/// A use of a signal: the operand 0 or 1 of a gate, or an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignalUse {
    Operand(usize, usize),
    Output(usize),
}

/// Returns a circuit of these outputs, made of a normal one whose outputs are the same or inverse.
pub(super) fn signed(normal: &Circuit, truths: &[Truth; OUTPUTS]) -> Circuit {
    let mut inverted = Vec::new();
    while wrong_outputs(normal, truths, &inverted, &[]).iter().any(|wrong| wrong & 1 == 1) {
        for use_of_signal in best_uses(normal, truths, &inverted) {
            match inverted.iter().position(|known| *known == use_of_signal) {
                Some(at) => drop(inverted.swap_remove(at)),
                None => inverted.push(use_of_signal),
            }
        }
    }
    with_nots(normal, &inverted)
}

/// Returns the uses of one signal that leave the fewest outputs wrong if they change their signs.
fn best_uses(normal: &Circuit, truths: &[Truth; OUTPUTS], inverted: &[SignalUse]) -> Vec<SignalUse> {
    let mut best = (usize::MAX, Vec::new());
    for signal in 0..INPUTS + normal.gates.len() {
        let uses = uses(normal, signal);
        let wrong = wrong_outputs(normal, truths, inverted, &uses);
        for choice in 1_usize..1 << uses.len() {
            let count = wrong.iter().filter(|wrong| **wrong >> choice & 1 == 1).count();
            if count < best.0 {
                let chosen = uses.iter().enumerate().filter(|(at, _)| choice >> at & 1 == 1);
                best = (count, chosen.map(|(_, use_of_signal)| *use_of_signal).collect());
            }
        }
    }
    best.1
}

/// Returns uses of a signal, outputs first.
fn uses(normal: &Circuit, signal: usize) -> Vec<SignalUse> {
    let outputs = (0..OUTPUTS).filter(|at| normal.outputs[*at] == signal).map(SignalUse::Output);
    let operands = normal.gates.iter().enumerate().flat_map(|(gate, CircuitGate { operands, .. })| {
        let is_used = move |at: &usize| operands[*at] == signal;
        (0..2).filter(is_used).map(move |at| SignalUse::Operand(gate, at))
    });
    outputs.chain(operands).take(MAX_USES).collect()
}

/// Returns the outputs that are inverse to the wanted ones: bit `c` if those of `uses` whose bit of `c` is set change
/// their signs.
fn wrong_outputs(
    normal: &Circuit,
    truths: &[Truth; OUTPUTS],
    inverted: &[SignalUse],
    uses: &[SignalUse],
) -> [u64; OUTPUTS] {
    let sign = |use_of_signal: SignalUse| {
        let chosen =
            uses.iter().position(|known| *known == use_of_signal).map_or(0, |at| VARIABLES[INPUTS - 1 - at]);
        if inverted.contains(&use_of_signal) { !chosen } else { chosen }
    };
    let signs = signs(normal, sign);
    let wanted = truths.map(|truth| (truth & 1).wrapping_neg());
    std::array::from_fn(|at| signs[normal.outputs[at]] ^ sign(SignalUse::Output(at)) ^ wanted[at])
}

/// Returns which signals are inverse to those of the normal circuit, if `sign` are the uses through a NOT gate. A
/// gate's result is inverse if its table has a one for the signs of its operands.
fn signs(normal: &Circuit, sign: impl Fn(SignalUse) -> u64) -> Vec<u64> {
    let mut signs = vec![0; INPUTS];
    for (at, gate) in normal.gates.iter().enumerate() {
        let [a, b] = [0, 1].map(|side| signs[gate.operands[side]] ^ sign(SignalUse::Operand(at, side)));
        signs.push(CircuitGate { table: gate.table, operands: [0, 1, 1] }.apply(&[a, b]));
    }
    signs
}

/// Adds the NOT gates.
fn with_nots(normal: &Circuit, inverted: &[SignalUse]) -> Circuit {
    let sign = |use_of_signal| if inverted.contains(&use_of_signal) { u64::MAX } else { 0 };
    let signs = signs(normal, sign);
    let mut nots: Vec<usize> = Vec::new();
    let mut by = |signal: usize, use_of_signal: SignalUse| {
        if !inverted.contains(&use_of_signal) {
            return signal;
        }
        let at = nots.iter().position(|known| *known == signal).unwrap_or_else(|| {
            nots.push(signal);
            nots.len() - 1
        });
        INPUTS + normal.gates.len() + at
    };
    let mut gates = Vec::new();
    for (at, gate) in normal.gates.iter().enumerate() {
        let uses_of_gate = [0, 1].map(|side| SignalUse::Operand(at, side));
        let is_inverse = [0, 1].map(|side| signs[gate.operands[side]] ^ sign(uses_of_gate[side]) != 0);
        let [a, b] = [0, 1].map(|side| by(gate.operands[side], uses_of_gate[side]));
        gates.push(named(with_signs(gate.table, is_inverse), [a, b]));
    }
    let outputs = std::array::from_fn(|at| by(normal.outputs[at], SignalUse::Output(at)));
    gates.extend(nots.into_iter().map(|signal| CircuitGate { table: NOT, operands: [signal; 3] }));
    Circuit { gates, outputs }.tidied()
}

/// Returns the gate with the operand first that is not inverted.
fn named(table: u8, [a, b]: [usize; 2]) -> CircuitGate {
    match table {
        NOT_AND => CircuitGate { table: AND_NOT, operands: [b, a, a] },
        _ => CircuitGate { table, operands: [a, b, b] },
    }
}
