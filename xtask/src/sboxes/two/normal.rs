//! Normal circuits. Every signal is zero at input zero, and no two signals are equal.

use crate::sboxes::circuit::{Circuit, CircuitGate, Truth, VARIABLES};

/// Returns the normal circuit: the outputs are the given ones or their inverses. It is smaller if gates change a sign
/// only or make what exists.
pub(super) fn normal(circuit: &Circuit) -> Circuit {
    let truths: Vec<Truth> = circuit.signals();
    let mut signals = VARIABLES.to_vec();
    let mut gates = Vec::new();
    // The normal signal of each signal. None for a constant.
    let mut signal_of: Vec<Option<usize>> = (0..VARIABLES.len()).map(Some).collect();
    for (gate, truth) in circuit.gates.iter().zip(&truths[VARIABLES.len()..]) {
        let truth = without_sign(*truth);
        let known = signals.iter().position(|signal| *signal == truth);
        let is_new = known.is_none() && truth != 0;
        if let (true, [Some(a), Some(b), _]) = (is_new, gate.operands.map(|operand| signal_of[operand])) {
            gates.push(CircuitGate { table: table(gate, &truths), operands: [a, b, b] });
            signals.push(truth);
            signal_of.push(Some(signals.len() - 1));
        } else {
            signal_of.push(known);
        }
    }
    // unreachable because outputs are not constant
    let outputs = circuit.outputs.map(|output| signal_of[output].unwrap_or_else(|| unreachable!()));
    Circuit { gates, outputs }.tidied()
}

/// Returns the truth or its inverse, whichever is zero at input zero.
pub(super) fn without_sign(truth: Truth) -> Truth {
    truth ^ (truth & 1).wrapping_neg()
}

/// Returns the table of a gate for normal operands and a normal result.
fn table(gate: &CircuitGate, truths: &[Truth]) -> u8 {
    let [a, b] = [gate.operands[0], gate.operands[1]].map(|operand| truths[operand] & 1 == 1);
    with_signs(gate.table, [a, b])
}

/// Returns the table of a gate of two inputs whose operands are inverted as given. The result is zero where both
/// operands are.
pub(super) fn with_signs(table: u8, [a, b]: [bool; 2]) -> u8 {
    let table = if a { table.rotate_left(4) } else { table };
    let table = if b { (table & 0xCC) >> 2 | (table & 0x33) << 2 } else { table };
    if table & 1 == 1 { !table } else { table }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_follow_the_signs_of_their_operands() {
        const NAMES: [(&str, u8); 4] = [("and", 0xC0), ("or", 0xFC), ("xor", 0x3C), ("andn", 0x30)];
        let [a, b, ..] = VARIABLES;
        for (name, table) in NAMES {
            for signs in [[false, false], [false, true], [true, false], [true, true]] {
                let sign = |signal: Truth, is_inverse: bool| if is_inverse { !signal } else { signal };
                let gate = |table| CircuitGate { table, operands: [0, 1, 1] };
                let expected = without_sign(gate(table).apply(&[sign(a, signs[0]), sign(b, signs[1])]));
                assert_eq!(gate(with_signs(table, signs)).apply(&[a, b]), expected, "{name} {signs:?}");
            }
        }
    }

    #[test]
    fn inverters_copies_and_constants_vanish() {
        let gate = |table, operands| CircuitGate { table, operands };
        // g6 = !b1, g7 = g6 & b2, g8 = g6 & b1 (zero), g9 = g7 | g8, g10 = g9 once more.
        let gates = vec![
            gate(0x0F, [0, 0, 0]),
            gate(0xC0, [6, 1, 1]),
            gate(0xC0, [6, 0, 0]),
            gate(0xFC, [7, 8, 8]),
            gate(0xFC, [9, 9, 9]),
        ];
        let circuit = Circuit { gates, outputs: [6, 7, 9, 10] };
        let normal = normal(&circuit);
        assert_eq!(normal.gates.len(), 1);
        assert_eq!(normal.truths(), circuit.truths().map(without_sign));
    }
}
