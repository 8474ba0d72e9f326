//! `cargo xtask sboxes`: circuits for the S-boxes of DES, and the kernel's code made from them. There are two sets, of
//! three-input gates and of two-input gates.
//!
//! | module | content |
//! |---|---|
//! | `circuit` | gates, and their values for all 64 inputs at once |
//! | `three`, `two` | the searches |
//! | `replace` | the replacement of a part of a circuit, which both use |
//! | `order` | the order of gates that spares copies and registers |
//! | `file` | a table of circuits, such as `crates/engine/lanes/src/des/circuits.txt` |
//! | `emit` | Rust made of it, such as `crates/engine/lanes/src/des/sboxes.rs` |
//!
//! A search starts from the circuits in its table, if there is one, and never makes them worse. The same seed and
//! number of rounds give the same circuits. Each circuit is proved: it is compared with the standard's table for all 64
//! inputs.

mod circuit;
mod emit;
mod file;
mod order;
mod random;
mod replace;
#[path = "../../../crates/engine/lanes/src/des/standard.rs"]
mod standard;
mod three;
mod two;

use std::path::{Path, PathBuf};

use crate::checks::CheckResult;
use crate::workspace::{Workspace, WorkspaceError, read, write};
use circuit::{Circuit, OUTPUTS, Truth, truths_of};
use order::OrderCost;
use random::SearchRandom;
use standard::S_BOXES;

/// A set of circuits.
#[derive(Clone, Copy, Debug)]
struct CircuitSet {
    /// The inputs of a gate.
    inputs: u64,
    /// The file of the circuits.
    table: &'static str,
    /// The file of the code made from them.
    code: &'static str,
    /// True if the instruction of a gate overwrites one of its operands.
    is_overwriting: bool,
    /// The search for a circuit.
    circuit: fn(&[Truth; OUTPUTS], &mut SearchRandom) -> Circuit,
}

const SETS: [CircuitSet; 2] = [
    CircuitSet {
        inputs: 3,
        table: "circuits.txt",
        code: "sboxes.rs",
        is_overwriting: true,
        circuit: three::circuit,
    },
    CircuitSet {
        inputs: 2,
        table: "circuits_two.txt",
        code: "sboxes_two.rs",
        is_overwriting: false,
        circuit: two::circuit,
    },
];

/// Searches for smaller circuits and writes the table and the code after every round over the eight S-boxes. `inputs`
/// chooses a set by the inputs of its gates, or both.
pub(crate) fn search(
    workspace: &Workspace,
    inputs: Option<u64>,
    rounds: usize,
    seed: u64,
) -> Result<(), WorkspaceError> {
    let Some(folder) = folder(workspace) else { return Ok(()) };
    for set in SETS.into_iter().filter(|set| inputs.is_none_or(|inputs| inputs == set.inputs)) {
        set.search(&folder, rounds, seed)?;
    }
    Ok(())
}

impl CircuitSet {
    fn search(self, folder: &Path, rounds: usize, seed: u64) -> Result<(), WorkspaceError> {
        let mut random = SearchRandom::new(seed);
        let table = folder.join(self.table);
        let mut circuits = if table.exists() { self.parsed(&read(&table)?)? } else { Vec::new() };
        for s_box in S_BOXES.iter().skip(circuits.len()) {
            circuits.push(self.ordered(&(self.circuit)(&truths_of(s_box), &mut random)));
        }
        for round in 0..=rounds {
            if round > 0 {
                circuits
                    .iter_mut()
                    .zip(&S_BOXES)
                    .for_each(|(best, s_box)| self.improve(best, s_box, &mut random));
            }
            write(&table, &file::text(&circuits, self.inputs))?;
            write(&folder.join(self.code), &emit::rust(&circuits, self.table, self.inputs))?;
            println!("{} inputs, round {round}: {}", self.inputs, self.summary(&circuits));
        }
        Ok(())
    }

    /// Replaces the circuit if the search finds a better one.
    fn improve(self, best: &mut Circuit, s_box: &[u8; 64], random: &mut SearchRandom) {
        let circuit = (self.circuit)(&truths_of(s_box), random);
        if circuit.gates.len() > best.gates.len() {
            return;
        }
        let circuit = self.ordered(&circuit);
        if (circuit.gates.len(), self.cost(&circuit)) < (best.gates.len(), self.cost(best)) {
            *best = circuit;
        }
    }

    fn ordered(self, circuit: &Circuit) -> Circuit {
        order::ordered(circuit, self.is_overwriting)
    }

    fn cost(self, circuit: &Circuit) -> OrderCost {
        order::cost(circuit, self.is_overwriting)
    }

    fn parsed(self, text: &str) -> Result<Vec<Circuit>, WorkspaceError> {
        file::parse(text).map_err(|line| WorkspaceError::Table { name: self.table, line })
    }

    fn summary(self, circuits: &[Circuit]) -> String {
        let gates: Vec<usize> = circuits.iter().map(|circuit| circuit.gates.len()).collect();
        let costs: Vec<OrderCost> = circuits.iter().map(|circuit| self.cost(circuit)).collect();
        let copies: usize = costs.iter().map(|(copies, _)| copies).sum();
        let live: Vec<usize> = costs.iter().map(|(_, live)| *live).collect();
        format!("{} gates {gates:?}, {copies} copies, live signals {live:?}", gates.iter().sum::<usize>())
    }

    /// Returns what is wrong with the table and the code, and a summary.
    fn check(self, folder: &Path) -> Result<(Vec<String>, String), WorkspaceError> {
        let Self { table, code, .. } = self;
        let circuits = self.parsed(&read(&folder.join(table))?)?;
        let mut faults = Vec::new();
        if circuits.len() != S_BOXES.len() {
            faults.push(format!("{table} has {} circuits for {} S-boxes", circuits.len(), S_BOXES.len()));
        }
        for (number, (circuit, s_box)) in (1..).zip(circuits.iter().zip(&S_BOXES)) {
            if circuit.truths() != truths_of(s_box) {
                faults.push(format!("{table}: s{number} is not the S-box of the standard"));
            }
        }
        if read(&folder.join(code))? != emit::rust(&circuits, table, self.inputs) {
            faults.push(format!("{code} is not what `cargo xtask sboxes` makes of {table}"));
        }
        Ok((faults, self.summary(&circuits)))
    }
}

/// Checks the tables of circuits against the standard, and the code against the tables.
pub(crate) fn check(workspace: &Workspace) -> Result<CheckResult, WorkspaceError> {
    let Some(folder) = folder(workspace) else {
        return Ok(CheckResult::new(Vec::new(), "no S-boxes here".into()));
    };
    let (mut faults, mut summaries) = (Vec::new(), Vec::new());
    for set in SETS {
        let (wrong, summary) = set.check(&folder)?;
        faults.extend(wrong);
        summaries.push(summary);
    }
    Ok(CheckResult::new(faults, summaries.join("; ")))
}

/// Returns the folder of the kernel, or None in another workspace.
fn folder(workspace: &Workspace) -> Option<PathBuf> {
    let member = workspace.packages.iter().find(|member| member.name == "oarlock-lanes")?;
    Some(member.folder.join("src").join("des"))
}

#[cfg(test)]
mod tests;
