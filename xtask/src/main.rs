//! `cargo xtask CHECK`: the house rules that the compiler does not know.
//!
//! | check | fails on |
//! |---|---|
//! | `structure` | a dependency arrow that the plan of the house forbids, or a crate the plan does not know |
//! | `unsafe` | `unsafe` outside the one address a crate has for it, or without its `SAFETY:` comment |
//! | `files` | a source file over 800 lines that is not a table |
//! | `circuits` | an S-box circuit that is not the standard's S-box, or code that is not made from it |
//! | `check` | any of these |
//!
//! `cargo xtask sboxes [--rounds N] [--seed N]` searches for smaller circuits and makes the code.
#![forbid(unsafe_code)]

mod files;
mod plan;
mod sboxes;
mod structure;
mod unsafe_code;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use workspace::{Workspace, WorkspaceError};

const USAGE: &str = "usage: cargo xtask structure|unsafe|files|circuits|check [--manifest-path PATH]
       cargo xtask sboxes [--rounds N] [--seed N]";

fn main() -> ExitCode {
    let task = match parse(std::env::args().skip(1)) {
        Ok(parsed) => parsed,
        Err(reason) => {
            eprintln!("xtask: {reason}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let done = match task {
        Task::Check(checks, manifest) => run(&checks, manifest),
        Task::Sboxes { rounds, seed } => Workspace::load(None)
            .and_then(|workspace| sboxes::search(&workspace, rounds, seed))
            .map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(3)
        }
    }
}

#[derive(Debug)]
enum Task {
    Check(Vec<Check>, Option<PathBuf>),
    Sboxes { rounds: usize, seed: u64 },
}

#[derive(Debug, Clone, Copy)]
enum Check {
    Structure,
    Unsafe,
    Files,
    Circuits,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Task, String> {
    let checks = match words.next().as_deref() {
        Some("structure") => vec![Check::Structure],
        Some("unsafe") => vec![Check::Unsafe],
        Some("files") => vec![Check::Files],
        Some("circuits") => vec![Check::Circuits],
        Some("check") => vec![Check::Structure, Check::Unsafe, Check::Files, Check::Circuits],
        Some("sboxes") => return parse_search(words),
        Some(other) => return Err(format!("there is no check named `{other}`")),
        None => return Err("no check named".into()),
    };
    let manifest = match (words.next().as_deref(), words.next()) {
        (None, _) => None,
        (Some("--manifest-path"), Some(path)) => Some(PathBuf::from(path)),
        (Some(other), _) => return Err(format!("unexpected `{other}`")),
    };
    words.next().map_or(Ok(Task::Check(checks, manifest)), |extra| Err(format!("unexpected `{extra}`")))
}

fn parse_search(mut words: impl Iterator<Item = String>) -> Result<Task, String> {
    let (mut rounds, mut seed) = (0, 1);
    while let Some(word) = words.next() {
        let number = words.next().and_then(|number| number.parse().ok());
        let number: u64 = number.ok_or_else(|| format!("no number after `{word}`"))?;
        match word.as_str() {
            "--rounds" => rounds = usize::try_from(number).map_err(|_| "too many rounds")?,
            "--seed" => seed = number,
            _ => return Err(format!("unexpected `{word}`")),
        }
    }
    Ok(Task::Sboxes { rounds, seed })
}

fn run(checks: &[Check], manifest: Option<PathBuf>) -> Result<bool, WorkspaceError> {
    let workspace = Workspace::load(manifest)?;
    let mut passed = true;
    for check in checks {
        let (name, faults, summary) = match check {
            Check::Structure => {
                let faults: Vec<String> =
                    structure::faults(&workspace).iter().map(ToString::to_string).collect();
                ("structure", faults, structure::summary(&workspace))
            }
            Check::Unsafe => {
                let (faults, summary) = unsafe_code::faults(&workspace)?;
                ("unsafe", faults, summary)
            }
            Check::Files => {
                let (faults, summary) = files::faults(&workspace)?;
                ("files", faults, summary)
            }
            Check::Circuits => {
                let (faults, summary) = sboxes::faults(&workspace)?;
                ("circuits", faults, summary)
            }
        };
        report(name, &faults, &summary);
        passed &= faults.is_empty();
    }
    Ok(passed)
}

fn report(name: &str, faults: &[String], summary: &str) {
    if faults.is_empty() {
        println!("{name}: ok, {summary}");
        return;
    }
    println!("{name}: {} broken", faults.len());
    for fault in faults {
        println!("  {fault}");
    }
}
