//! A random walk among circuits of the same function: a gate and what only it needs are exchanged for other gates that
//! make no difference to the outputs.

use super::build::Built;
use super::circuit::{Circuit, Gate, INPUTS, Truth};
use super::random::Random;

/// The largest part that is exchanged at once.
const MOST: usize = 5;

/// Takes one step, after which the circuit is no larger.
pub(super) fn step(circuit: &mut Circuit, random: &mut Random) {
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
    let start = Built { signals: values, gates: Vec::new() };
    if let Some((built, result)) = start.make(signals[place], care, size, random) {
        *circuit = grafted(circuit, place, &free, &built.gates, result);
    }
}

/// The gate at `place`, and those that nothing else needs.
fn owned(circuit: &Circuit, place: usize) -> Vec<bool> {
    let mut own = vec![false; INPUTS + circuit.gates.len()];
    own[place] = true;
    for at in (INPUTS..place).rev() {
        let users = || (at + 1..own.len()).filter(|user| circuit.gates[user - INPUTS].operands.contains(&at));
        own[at] = !circuit.outputs.contains(&at) && users().all(|user| own[user]);
    }
    own
}

/// Where a signal's value matters to the outputs, and the signals that do not depend on it.
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

/// The circuit with new gates over the signals `free`, whose `result` is used for `place`.
fn grafted(circuit: &Circuit, place: usize, free: &[usize], new: &[Gate], result: usize) -> Circuit {
    let len = INPUTS + circuit.gates.len();
    let moved = |signal: usize| free.get(signal).copied().unwrap_or_else(|| len + signal - free.len());
    let result = moved(result);
    let other = |signal: usize| if signal == place { result } else { signal };
    let kept = circuit.gates.iter().map(|gate| Gate { operands: gate.operands.map(other), ..*gate });
    let new = new.iter().map(|gate| Gate { operands: gate.operands.map(moved), ..*gate });
    Circuit { gates: kept.chain(new).collect(), outputs: circuit.outputs.map(other) }.tidied()
}
