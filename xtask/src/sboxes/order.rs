//! The order of a circuit's gates. Some instructions, as `vpternlog`, overwrite one of their operands, so an operand
//! that is needed again has to be copied first. Each signal that is still needed occupies a register.

use std::collections::BTreeMap;

use super::circuit::{Circuit, CircuitGate, INPUTS};

/// The number of sets of computed gates that are followed at once.
const WIDTH: usize = 4096;

/// The cost of an order: the gates of which no operand is used for the last time, and the maximum number of live
/// signals.
pub(super) type OrderCost = (usize, usize);

/// The sets of computed gates, each with its cost and order.
type Followed = BTreeMap<u64, (OrderCost, Vec<usize>)>;

/// Returns the circuit in the cheapest order found. `is_overwriting`: the instructions overwrite an operand.
pub(super) fn ordered(circuit: &Circuit, is_overwriting: bool) -> Circuit {
    let mut followed = Followed::from([(0, ((0, INPUTS), Vec::new()))]);
    for _ in &circuit.gates {
        followed = longer(circuit, is_overwriting, followed);
    }
    let order = followed.into_values().next().map(|(_, order)| order).unwrap_or_default();
    renumbered(circuit, &order)
}

/// Returns the cost of the current order.
pub(super) fn cost(circuit: &Circuit, is_overwriting: bool) -> OrderCost {
    let after = |cost, gate| after(circuit, is_overwriting, cost, (1_u64 << gate) - 1, gate);
    (0..circuit.gates.len()).fold((0, INPUTS), after)
}

/// Extends every set by one gate, at its minimum cost.
fn longer(circuit: &Circuit, is_overwriting: bool, followed: Followed) -> Followed {
    let mut next = Followed::new();
    for (done, (cost, order)) in followed {
        for gate in (0..circuit.gates.len()).filter(|gate| is_ready(circuit, done, *gate)) {
            let cost = after(circuit, is_overwriting, cost, done, gate);
            let known = next.get(&(done | 1 << gate));
            if known.is_none_or(|(min, _)| cost < *min) {
                let order = order.iter().copied().chain([gate]).collect();
                next.insert(done | 1 << gate, (cost, order));
            }
        }
    }
    let mut costs: Vec<(OrderCost, u64)> = next.iter().map(|(done, (cost, _))| (*cost, *done)).collect();
    costs.sort_unstable();
    costs.iter().skip(WIDTH).for_each(|(_, done)| {
        next.remove(done);
    });
    next
}

fn is_ready(circuit: &Circuit, done: u64, gate: usize) -> bool {
    let is_there = |signal: usize| signal < INPUTS || done >> (signal - INPUTS) & 1 == 1;
    done >> gate & 1 == 0 && circuit.gates[gate].operands.into_iter().all(is_there)
}

/// Returns the cost with one more gate.
fn after(
    circuit: &Circuit,
    is_overwriting: bool,
    (copies, max): OrderCost,
    done: u64,
    gate: usize,
) -> OrderCost {
    let then = done | 1 << gate;
    let has_last_use =
        circuit.gates[gate].operands.into_iter().any(|operand| !is_needed(circuit, then, operand));
    let is_live = |signal: &usize| {
        (*signal < INPUTS || then >> (signal - INPUTS) & 1 == 1) && is_needed(circuit, then, *signal)
    };
    let live = (0..INPUTS + circuit.gates.len()).filter(is_live).count();
    (copies + usize::from(is_overwriting && !has_last_use), max.max(live))
}

/// True if the signal is an output or an operand of a gate that is not computed.
fn is_needed(circuit: &Circuit, done: u64, signal: usize) -> bool {
    let mut open = circuit.gates.iter().enumerate().filter(|(at, _)| done >> at & 1 == 0);
    circuit.outputs.contains(&signal) || open.any(|(_, gate)| gate.operands.contains(&signal))
}

fn renumbered(circuit: &Circuit, order: &[usize]) -> Circuit {
    let number_of = |signal: usize| {
        let position = order.iter().position(|gate| gate + INPUTS == signal);
        position.map_or(signal, |position| INPUTS + position)
    };
    let moved = |gate: &usize| {
        let gate = circuit.gates[*gate];
        CircuitGate { operands: gate.operands.map(number_of), ..gate }
    };
    Circuit { gates: order.iter().map(moved).collect(), outputs: circuit.outputs.map(number_of) }
}
