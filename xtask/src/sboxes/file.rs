//! The table of circuits as text, which the search writes and the kernel's code is made from.

use super::circuit::{Circuit, CircuitGate, INPUTS, NAMED, OUTPUTS};

const THREE: &str = "\
# A line `table a b c` is a gate: bit 4a + 2b + c of the table, in hexadecimal, for operands a, b, c. Signals 0 to 5 are the
# inputs b1 to b6 of FIPS 46-3, 6 and up the gates of the box in order. A line `out` names the four outputs, the most
# significant first.
";

const TWO: &str = "\
# A line `name a b` is a gate: `and`, `or`, `xor`, `andn` (a and not b) or `not` (of a alone) of operands a and b. Signals 0
# to 5 are the inputs b1 to b6 of FIPS 46-3, 6 and up the gates of the box in order. A line `out` names the four outputs, the
# most significant first.
";

/// Returns the file of these circuits, whose gates have this number of inputs.
pub(super) fn text(circuits: &[Circuit], inputs: u64) -> String {
    let (name, format) = if inputs == 3 { ("three", THREE) } else { ("two", TWO) };
    let head = format!(
        "# Circuits of {name}-input gates for the S-boxes of DES, found by `cargo xtask sboxes`.\n#\n{format}"
    );
    let boxes = (1..).zip(circuits).map(|(number, circuit): (usize, _)| format!("\ns{number}\n{circuit}"));
    head + &boxes.collect::<String>()
}

/// Parses the circuits of a file. Returns the number of the invalid line as an error.
pub(super) fn parse(text: &str) -> Result<Vec<Circuit>, usize> {
    let mut circuits = Vec::new();
    let mut gates = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] | ["#", ..] => {}
            [name] if name == format!("s{}", circuits.len() + 1) && gates.is_empty() => {}
            ["out", a, b, c, d] => {
                let outputs = signals([a, b, c, d], gates.len()).ok_or(number)?;
                circuits.push(Circuit { gates: std::mem::take(&mut gates), outputs });
            }
            [name, a, ref rest @ ..] if NAMED.iter().any(|(known, _)| *known == name) => {
                let b = match (name, rest) {
                    ("not", []) => a,
                    ("not", _) => return Err(number),
                    (_, [b]) => b,
                    _ => return Err(number),
                };
                let table = NAMED.iter().find(|(known, _)| *known == name).map(|(_, table)| *table);
                let (table, operands) = table.zip(signals([a, b, b], gates.len())).ok_or(number)?;
                gates.push(CircuitGate { table, operands });
            }
            [table, a, b, c] => {
                let table = u8::from_str_radix(table, 16).map_err(|_| number)?;
                gates.push(CircuitGate { table, operands: signals([a, b, c], gates.len()).ok_or(number)? });
            }
            _ => return Err(number),
        }
    }
    Ok(circuits)
}

/// Parses signals that exist after `gates` gates.
fn signals<const N: usize>(words: [&str; N], gates: usize) -> Option<[usize; N]> {
    let signals = words.map(|word| word.parse().ok().filter(|signal| *signal < INPUTS + gates));
    signals.iter().all(Option::is_some).then(|| signals.map(Option::unwrap_or_default))
}

const _: () = assert!(OUTPUTS == 4, "a line of outputs has four");
