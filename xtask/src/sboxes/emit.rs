//! Circuits as straight-line Rust over vectors.

use std::fmt::Write;

use super::circuit::{Circuit, CircuitGate, INPUTS};

const HEAD: &str = "\
//!
//! The input is b1 to b6 as the expansion E gives them. The first output is the most significant bit. FIPS 46-3.

use crate::simd::Vector;
";

/// Returns the Rust file of all S-boxes, made from the file `table` of gates with `inputs` inputs.
pub(super) fn rust(circuits: &[Circuit], table: &str, inputs: u64) -> String {
    let inputs = if inputs == 3 { "three" } else { "two" };
    let mut text = format!(
        "//! The S-boxes of DES as {inputs}-input gates, one bit of each lane at a time. `cargo xtask sboxes` makes this\n\
         //! file from `{table}`, and `cargo xtask check` rejects other changes.\n"
    );
    text.push_str(HEAD);
    for (number, circuit) in (1..).zip(circuits) {
        // unreachable because writing to a string does not fail
        let _ = write_function(&mut text, number, circuit);
    }
    text
}

fn write_function(text: &mut String, number: usize, circuit: &Circuit) -> std::fmt::Result {
    writeln!(text, "\n/// S{number}: {} gates.\n#[inline(always)]", circuit.gates.len())?;
    writeln!(text, "pub(crate) fn s{number}<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {{")?;
    for (at, gate) in circuit.gates.iter().enumerate() {
        let CircuitGate { table, operands } = gate;
        let [a, b, c] = operands.map(name);
        let value = match gate.named().map(|(name, _)| name) {
            Some("and") => format!("{a} & {b}"),
            Some("or") => format!("{a} | {b}"),
            Some("xor") => format!("{a} ^ {b}"),
            Some("andn") => format!("{b}.and_not({a})"),
            Some(_) => format!("!{a}"),
            None => format!("{a}.ternary::<0x{table:02X}>({b}, {c})"),
        };
        writeln!(text, "    let {} = {value};", name(INPUTS + at))?;
    }
    let [a, b, c, d] = circuit.outputs.map(name);
    writeln!(text, "    [{a}, {b}, {c}, {d}]\n}}")
}

fn name(signal: usize) -> String {
    if signal < INPUTS { format!("b{}", signal + 1) } else { format!("g{}", signal - INPUTS + 1) }
}
