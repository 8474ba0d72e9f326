//! A random walk among circuits of the same function. A step replaces a gate and its private operands by gates that do
//! not change the outputs.

use super::build::GateSignals;
use super::circuit::{Circuit, CircuitGate, INPUTS, Truth};
use super::random::SearchRandom;

/// The maximum number of gates that a step replaces.
const MOST: usize = 5;

/// Takes one step. The circuit does not grow.
pub(super) fn step(circuit: &mut Circuit, random: &mut SearchRandom) {
    let place = INPUTS + random.below(circuit.gates.len());
    let own = owned(circuit, place);
    let size = own.iter().filter(|owned| **owned).count();
    if size > MOST {
        return;
    }
    let signals = circuit.signals();
    let (care, mut free) = freedom(circuit, place, &signals);
    free.retain(|signal| !own[*signal]);
    let values: Vec<Truth> = free.iter().map(|signal| signals[*signal]).collect();
    let start = GateSignals { signals: values, gates: Vec::new() };
    if let Some((built, result)) = start.make(signals[place], care, size, random) {
        *circuit = grafted(circuit, place, &free, &built.gates, result);
    }
}

/// Returns the gate at `place`, and the gates that only it needs.
fn owned(circuit: &Circuit, place: usize) -> Vec<bool> {
    let mut own = vec![false; INPUTS + circuit.gates.len()];
    own[place] = true;
    for at in (INPUTS..place).rev() {
        let users = || (at + 1..own.len()).filter(|user| circuit.gates[user - INPUTS].operands.contains(&at));
        own[at] = !circuit.outputs.contains(&at) && users().all(|user| own[user]);
    }
    own
}

/// Returns the inputs at which a signal matters to the outputs, and the signals that do not depend on it.
fn freedom(circuit: &Circuit, place: usize, signals: &[Truth]) -> (Truth, Vec<usize>) {
    let mut changed = signals.to_vec();
    changed[place] = !changed[place];
    let mut free: Vec<usize> = (0..place).collect();
    let mut depends = vec![false; signals.len()];
    depends[place] = true;
    for at in place + 1..signals.len() {
        let gate = circuit.gates[at - INPUTS];
        depends[at] = gate.operands.iter().any(|operand| depends[*operand]);
        if depends[at] {
            changed[at] = gate.of(&changed);
        } else {
            free.push(at);
        }
    }
    (circuit.outputs.iter().fold(0, |care, output| care | (signals[*output] ^ changed[*output])), free)
}

/// Returns the circuit with new gates over the signals `free`, whose `result` replaces `place`.
fn grafted(circuit: &Circuit, place: usize, free: &[usize], new: &[CircuitGate], result: usize) -> Circuit {
    let len = INPUTS + circuit.gates.len();
    let moved = |signal: usize| free.get(signal).copied().unwrap_or_else(|| len + signal - free.len());
    let result = moved(result);
    let other = |signal: usize| if signal == place { result } else { signal };
    let kept = circuit.gates.iter().map(|gate| CircuitGate { operands: gate.operands.map(other), ..*gate });
    let new = new.iter().map(|gate| CircuitGate { operands: gate.operands.map(moved), ..*gate });
    Circuit { gates: kept.chain(new).collect(), outputs: circuit.outputs.map(other) }.tidied()
}
