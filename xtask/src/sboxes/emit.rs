//! Circuits as straight-line Rust over vectors.

use std::fmt::Write;

use super::circuit::{Circuit, CircuitGate, INPUTS};

const HEAD: &str = "\
//! The S-boxes of DES as three-input gates, one bit of each lane at a time. `cargo xtask sboxes` makes this file from
//! `circuits.txt`, and `cargo xtask check` rejects other changes.
//!
//! The input is b1 to b6 as the expansion E gives them. The first output is the most significant bit. FIPS 46-3.

use crate::simd::Vector;
";

/// Returns the Rust file of all S-boxes.
pub(super) fn rust(circuits: &[Circuit]) -> String {
    let mut text = HEAD.to_owned();
    for (number, circuit) in (1..).zip(circuits) {
        // unreachable because writing to a string does not fail
        let _ = write_function(&mut text, number, circuit);
    }
    text
}

fn write_function(text: &mut String, number: usize, circuit: &Circuit) -> std::fmt::Result {
    writeln!(text, "\n/// S{number}: {} gates.\n#[inline(always)]", circuit.gates.len())?;
    writeln!(text, "pub(crate) fn s{number}<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {{")?;
    for (at, CircuitGate { table, operands }) in circuit.gates.iter().enumerate() {
        let [a, b, c] = operands.map(name);
        writeln!(text, "    let {} = {a}.ternary::<0x{table:02X}>({b}, {c});", name(INPUTS + at))?;
    }
    let [a, b, c, d] = circuit.outputs.map(name);
    writeln!(text, "    [{a}, {b}, {c}, {d}]\n}}")
}

fn name(signal: usize) -> String {
    if signal < INPUTS { format!("b{}", signal + 1) } else { format!("g{}", signal - INPUTS + 1) }
}
