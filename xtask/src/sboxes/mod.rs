//! `cargo xtask sboxes`: circuits for the S-boxes of DES, and the kernel's code made from them. There are two sets:
//! one of three-input gates, which the search finds, and a published one of two-input gates.
//!
//! | module | content |
//! |---|---|
//! | `circuit` | gates, and their values for all 64 inputs at once |
//! | `build` | a first circuit, output by output; `fit` and `pair` are its smallest steps |
//! | `walk` | a random walk to smaller circuits |
//! | `order` | the order of gates that spares copies and registers |
//! | `file` | a table of circuits, such as `crates/lanes/src/des/circuits.txt` |
//! | `emit` | Rust made of it, such as `crates/lanes/src/des/sboxes.rs` |
//!
//! The search starts from the circuits in the table and never makes them worse. The same seed and number of rounds give
//! the same circuits. Each circuit is proved: it is compared with the standard's table for all 64 inputs.

mod build;
mod circuit;
mod emit;
mod file;
mod fit;
mod order;
mod pair;
mod random;
#[path = "../../../crates/lanes/src/des/standard.rs"]
mod standard;
mod walk;

use std::path::PathBuf;

use crate::checks::CheckResult;
use crate::workspace::{Workspace, WorkspaceError, read, write};
use build::FULL;
use circuit::{Circuit, truths_of};
use random::SearchRandom;
use standard::S_BOXES;

const CIRCUITS: &str = "circuits.txt";

/// A set of circuits: the table, the code made from it, and the inputs of a gate in words.
type CircuitSet = (&'static str, &'static str, &'static str);

/// The set that the search improves.
const THREE: CircuitSet = (CIRCUITS, "sboxes.rs", "three");

/// The published set.
const TWO: CircuitSet = ("circuits_two.txt", "sboxes_two.rs", "two");

/// The number of steps of the walk from each circuit that is built.
const STEPS: usize = 1000;

/// Searches for smaller circuits and writes the table and the code after every round over the eight S-boxes.
pub(crate) fn search(workspace: &Workspace, rounds: usize, seed: u64) -> Result<(), WorkspaceError> {
    let Some(folder) = folder(workspace) else { return Ok(()) };
    let (table, code) = (folder.join(CIRCUITS), folder.join(THREE.1));
    let two = parsed(&read(&folder.join(TWO.0))?, TWO.0)?;
    write(&folder.join(TWO.1), &emit::rust(&two, TWO.0, TWO.2))?;
    let mut random = SearchRandom::new(seed);
    let mut circuits = if table.exists() { parsed(&read(&table)?, CIRCUITS)? } else { Vec::new() };
    for s_box in S_BOXES.iter().skip(circuits.len()) {
        circuits.push(order::ordered(&build::build(&truths_of(s_box), FULL, &mut random)));
    }
    for round in 0..=rounds {
        if round > 0 {
            circuits.iter_mut().zip(&S_BOXES).for_each(|(best, s_box)| improve(best, s_box, &mut random));
        }
        write(&table, &file::text(&circuits))?;
        write(&code, &emit::rust(&circuits, CIRCUITS, THREE.2))?;
        println!("round {round}: {}", summary(&circuits));
    }
    Ok(())
}

/// Replaces the circuit if the search finds a better one.
fn improve(best: &mut Circuit, s_box: &[u8; 64], random: &mut SearchRandom) {
    let mut circuit = build::build(&truths_of(s_box), FULL, random);
    (0..STEPS).for_each(|_| walk::step(&mut circuit, random));
    if circuit.gates.len() > best.gates.len() {
        return;
    }
    let circuit = order::ordered(&circuit);
    if (circuit.gates.len(), order::cost(&circuit)) < (best.gates.len(), order::cost(best)) {
        *best = circuit;
    }
}

/// Checks the table of circuits against the standard, and the code against the table.
pub(crate) fn check(workspace: &Workspace) -> Result<CheckResult, WorkspaceError> {
    let Some(folder) = folder(workspace) else {
        return Ok(CheckResult::new(Vec::new(), "no S-boxes here".into()));
    };
    let (mut faults, mut summaries) = (Vec::new(), Vec::new());
    for (table, code, inputs) in [THREE, TWO] {
        let circuits = parsed(&read(&folder.join(table))?, table)?;
        if circuits.len() != S_BOXES.len() {
            faults.push(format!("{table} has {} circuits for {} S-boxes", circuits.len(), S_BOXES.len()));
        }
        for (number, (circuit, s_box)) in (1..).zip(circuits.iter().zip(&S_BOXES)) {
            if circuit.truths() != truths_of(s_box) {
                faults.push(format!("{table}: s{number} is not the S-box of the standard"));
            }
        }
        if read(&folder.join(code))? != emit::rust(&circuits, table, inputs) {
            faults.push(format!("{code} is not what `cargo xtask sboxes` makes of {table}"));
        }
        summaries.push(summary(&circuits));
    }
    Ok(CheckResult::new(faults, summaries.join("; ")))
}

fn parsed(text: &str, name: &'static str) -> Result<Vec<Circuit>, WorkspaceError> {
    file::parse(text).map_err(|line| WorkspaceError::Table { name, line })
}

/// Returns the folder of the kernel, or None in another workspace.
fn folder(workspace: &Workspace) -> Option<PathBuf> {
    let member = workspace.packages.iter().find(|member| member.name == "oarlock-lanes")?;
    Some(member.folder.join("src").join("des"))
}

fn summary(circuits: &[Circuit]) -> String {
    let gates: Vec<usize> = circuits.iter().map(|circuit| circuit.gates.len()).collect();
    let copies: usize = circuits.iter().map(|circuit| order::cost(circuit).0).sum();
    format!("{} gates {gates:?}, {copies} copies", gates.iter().sum::<usize>())
}

#[cfg(test)]
mod tests;
