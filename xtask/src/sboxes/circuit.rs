//! Circuits of gates with up to three inputs, and their values for all 64 inputs at once.

use std::fmt;

/// The number of inputs of an S-box.
pub(super) const INPUTS: usize = 6;

/// The number of outputs of an S-box.
pub(super) const OUTPUTS: usize = 4;

/// The value of a signal for every input: bit `x` for the input whose most significant bit is b1, that is
/// x = 32 b1 + 16 b2 + 8 b3 + 4 b4 + 2 b5 + b6.
pub(super) type Truth = u64;

/// The inputs b1 to b6.
pub(super) const VARIABLES: [Truth; INPUTS] = [
    0xFFFF_FFFF_0000_0000,
    0xFFFF_0000_FFFF_0000,
    0xFF00_FF00_FF00_FF00,
    0xF0F0_F0F0_F0F0_F0F0,
    0xCCCC_CCCC_CCCC_CCCC,
    0xAAAA_AAAA_AAAA_AAAA,
];

/// A function of three signals: bit `4a + 2b + c` of the table for operands a, b, c. Signals 0 to 5 are the inputs, the
/// gates follow in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CircuitGate {
    pub(super) table: u8,
    pub(super) operands: [usize; 3],
}

/// Gates in an order in which each comes after its operands, and the signals that are the outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Circuit {
    pub(super) gates: Vec<CircuitGate>,
    pub(super) outputs: [usize; OUTPUTS],
}

/// The gates that every CPU has, as names of functions of the first two operands. The third operand is the second once
/// more. `andn a b` is a and not b.
pub(super) const NAMED: [(&str, u8); 5] =
    [("and", 0xC0), ("or", 0xFC), ("xor", 0x3C), ("andn", 0x30), ("not", 0x0F)];

impl CircuitGate {
    /// Returns the gate's name and its one or two operands, or None if it has three inputs.
    pub(super) fn named(&self) -> Option<(&'static str, &[usize])> {
        let [a, b, c] = self.operands;
        let (name, _) = NAMED.iter().find(|(_, table)| *table == self.table && b == c)?;
        match *name {
            "not" if a == b => Some((name, &self.operands[..1])),
            "not" => None,
            _ => Some((name, &self.operands[..2])),
        }
    }

    /// Returns the gate's value for every input.
    pub(super) fn apply(self, signals: &[Truth]) -> Truth {
        let [a, b, c] = self.operands.map(|operand| signals[operand]);
        let pick = |select: Truth, yes: Truth, no: Truth| (select & yes) | (!select & no);
        let row = |row: u32| u64::from(self.table >> row & 1).wrapping_neg();
        let pair = |low: u32| pick(c, row(low + 1), row(low));
        pick(a, pick(b, pair(6), pair(4)), pick(b, pair(2), pair(0)))
    }
}

impl Circuit {
    /// Returns the values of all signals.
    pub(super) fn signals(&self) -> Vec<Truth> {
        let mut signals = VARIABLES.to_vec();
        for gate in &self.gates {
            signals.push(gate.apply(&signals));
        }
        signals
    }

    /// Returns the values of the outputs.
    pub(super) fn truths(&self) -> [Truth; OUTPUTS] {
        let signals = self.signals();
        self.outputs.map(|output| signals[output])
    }

    /// Returns the circuit without unneeded gates, and with each gate after its operands.
    pub(super) fn tidied(&self) -> Self {
        let mut tidied = Self { gates: Vec::new(), outputs: self.outputs };
        let mut moved = (0..INPUTS).map(Some).collect::<Vec<_>>();
        moved.resize(INPUTS + self.gates.len(), None);
        tidied.outputs = self.outputs.map(|output| self.add_tidied(output, &mut moved, &mut tidied.gates));
        tidied
    }

    fn add_tidied(&self, signal: usize, moved: &mut [Option<usize>], gates: &mut Vec<CircuitGate>) -> usize {
        if let Some(signal_after) = moved[signal] {
            return signal_after;
        }
        let gate = self.gates[signal - INPUTS];
        let operands = gate.operands.map(|operand| self.add_tidied(operand, moved, gates));
        gates.push(CircuitGate { operands, ..gate });
        moved[signal] = Some(INPUTS + gates.len() - 1);
        INPUTS + gates.len() - 1
    }
}

/// Returns the four functions of an S-box, the most significant first, from its table as the standard prints it.
pub(super) fn truths_of(table: &[u8; 64]) -> [Truth; OUTPUTS] {
    let value = |x: usize| {
        let (row, column) = ((x >> 4 & 2) | (x & 1), x >> 1 & 15);
        table[16 * row + column]
    };
    std::array::from_fn(|output| {
        (0..64).fold(0, |truth, x| truth | u64::from(value(x) >> (OUTPUTS - 1 - output) & 1) << x)
    })
}

/// Writes one line per gate, `table a b c` or `name a b`, and a last line of outputs.
impl fmt::Display for Circuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for gate in &self.gates {
            match gate.named() {
                Some((name, operands)) => {
                    let operands: Vec<String> = operands.iter().map(usize::to_string).collect();
                    writeln!(f, "{name} {}", operands.join(" "))?;
                }
                None => {
                    let CircuitGate { table, operands: [a, b, c] } = gate;
                    writeln!(f, "{table:02x} {a} {b} {c}")?;
                }
            }
        }
        let [a, b, c, d] = self.outputs;
        writeln!(f, "out {a} {b} {c} {d}")
    }
}
