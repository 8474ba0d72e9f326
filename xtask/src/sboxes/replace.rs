//! The replacement of a part of a circuit by other gates that leave the outputs as they are.

use super::circuit::{Circuit, CircuitGate, INPUTS, Truth};

/// A gate that is replaced together with gates that only it needs.
#[derive(Debug)]
pub(super) struct Replacement<'a> {
    circuit: &'a Circuit,
    /// The signal that is replaced.
    replaced: usize,
    /// The number of gates that are replaced.
    pub(super) size: usize,
    /// The signals that new gates may use: those that neither depend on `replaced` nor are replaced themselves.
    pub(super) free: Vec<usize>,
    /// The values of the signals `free`.
    pub(super) values: Vec<Truth>,
    /// The value of `replaced`.
    pub(super) truth: Truth,
    /// The inputs at which `replaced` matters to the outputs.
    pub(super) care: Truth,
}

impl<'a> Replacement<'a> {
    /// Replaces the signal `replaced` and the nearest gates that only it needs, at most `max` gates.
    pub(super) fn new(circuit: &'a Circuit, replaced: usize, max: usize) -> Self {
        let owned_gates = owned(circuit, replaced, max);
        let signals = circuit.signals();
        let (care, mut free) = freedom(circuit, replaced, &signals);
        free.retain(|signal| !owned_gates[*signal]);
        Self {
            circuit,
            replaced,
            size: owned_gates.iter().filter(|owned| **owned).count(),
            values: free.iter().map(|signal| signals[*signal]).collect(),
            free,
            truth: signals[replaced],
            care,
        }
    }

    /// Returns the operands of the gate that is replaced, as indices in `free`. None if it has two others.
    pub(super) fn operands(&self) -> Option<[usize; 2]> {
        let [a, b, _] = self.circuit.gates[self.replaced - INPUTS].operands;
        let at = |signal: usize| self.free.iter().position(|free| *free == signal);
        Some([at(a)?, at(b)?])
    }

    /// Returns the circuit with `new` gates over the signals `free`, whose `result` replaces the signal.
    pub(super) fn grafted(&self, new: &[CircuitGate], result: usize) -> Circuit {
        let len = INPUTS + self.circuit.gates.len();
        let moved =
            |signal: usize| self.free.get(signal).copied().unwrap_or_else(|| len + signal - self.free.len());
        let result = moved(result);
        let other = |signal: usize| if signal == self.replaced { result } else { signal };
        let kept = self.circuit.gates.iter();
        let kept = kept.map(|gate| CircuitGate { operands: gate.operands.map(other), ..*gate });
        let new = new.iter().map(|gate| CircuitGate { operands: gate.operands.map(moved), ..*gate });
        let outputs = self.circuit.outputs.map(other);
        Circuit { gates: kept.chain(new).collect(), outputs }.tidied()
    }
}

/// Returns the gate at `replaced` and gates that only it needs, at most `max` together.
fn owned(circuit: &Circuit, replaced: usize, max: usize) -> Vec<bool> {
    let mut owned = vec![false; INPUTS + circuit.gates.len()];
    let mut other_uses = vec![0_usize; owned.len()];
    let operands = circuit.gates.iter().flat_map(|gate| gate.operands);
    operands.chain(circuit.outputs).for_each(|signal| other_uses[signal] += 1);
    other_uses[replaced] = 0;
    let mut left = max;
    // Each gate comes after its operands, so all uses of a signal are known when it is reached.
    for at in (INPUTS..=replaced).rev() {
        if left > 0 && other_uses[at] == 0 {
            owned[at] = true;
            left -= 1;
            circuit.gates[at - INPUTS].operands.iter().for_each(|operand| other_uses[*operand] -= 1);
        }
    }
    owned
}

/// Returns the inputs at which a signal matters to the outputs, and the signals that do not depend on it.
fn freedom(circuit: &Circuit, replaced: usize, signals: &[Truth]) -> (Truth, Vec<usize>) {
    let mut changed = signals.to_vec();
    changed[replaced] = !changed[replaced];
    let mut free: Vec<usize> = (0..replaced).collect();
    let mut depends = vec![false; signals.len()];
    depends[replaced] = true;
    for at in replaced + 1..signals.len() {
        let gate = circuit.gates[at - INPUTS];
        depends[at] = gate.operands.iter().any(|operand| depends[*operand]);
        if depends[at] {
            changed[at] = gate.apply(&changed);
        } else {
            free.push(at);
        }
    }
    (circuit.outputs.iter().fold(0, |care, output| care | (signals[*output] ^ changed[*output])), free)
}
