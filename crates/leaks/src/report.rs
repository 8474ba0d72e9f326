//! What was found, as table and JSON.

use std::borrow::Cow;
use std::io::Write;

use serde::{Deserialize, Serialize};

use crate::LeakError;

/// Times of one subject on one engine.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TimeRow {
    /// What was timed.
    pub subject: String,
    /// On which engine.
    pub engine: Cow<'static, str>,
    /// Batches that were counted.
    pub samples: u64,
    /// Mean time of a batch under the fixed secret.
    pub fixed_ns: f64,
    /// Mean time of a batch under random secrets.
    pub random_ns: f64,
    /// The largest |t| of all crops.
    pub t: f64,
    /// True where |t| is too large for chance.
    pub leaks: bool,
}

/// What Valgrind said of one subject.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PoisonRow {
    /// What was run.
    pub subject: String,
    /// On which engine.
    pub engine: Cow<'static, str>,
    /// Operations.
    pub jobs: usize,
    /// Branches and addresses that depended on a secret.
    pub errors: u64,
    /// True where there was one.
    pub leaks: bool,
}

/// A finding with a verdict.
pub trait Finding {
    /// The engine that was looked at.
    fn engine(&self) -> &str;
    /// Whether it leaks.
    fn leaks(&self) -> bool;
    /// Cells of a line of the table.
    fn cells(&self) -> Vec<String>;
    /// Heads of the columns.
    fn heads() -> &'static [&'static str];
}

impl Finding for TimeRow {
    fn engine(&self) -> &str {
        &self.engine
    }

    fn leaks(&self) -> bool {
        self.leaks
    }

    fn cells(&self) -> Vec<String> {
        let (fixed, random) = (format!("{:.0} ns", self.fixed_ns), format!("{:.0} ns", self.random_ns));
        vec![self.subject.clone(), self.samples.to_string(), fixed, random, format!("{:.2}", self.t)]
    }

    fn heads() -> &'static [&'static str] {
        &["subject", "samples", "fixed", "random", "|t|"]
    }
}

impl Finding for PoisonRow {
    fn engine(&self) -> &str {
        &self.engine
    }

    fn leaks(&self) -> bool {
        self.leaks
    }

    fn cells(&self) -> Vec<String> {
        vec![self.subject.clone(), self.jobs.to_string(), self.errors.to_string()]
    }

    fn heads() -> &'static [&'static str] {
        &["subject", "jobs", "errors"]
    }
}

/// True where the planted leak was found and no other was.
#[must_use]
pub fn is_clean<F: Finding>(rows: &[F]) -> bool {
    rows.iter().all(is_as_it_must)
}

fn is_as_it_must<F: Finding>(row: &F) -> bool {
    row.leaks() == (row.engine() == "planted")
}

/// Writes the rows, as JSON alone or as a table.
///
/// # Errors
/// Where it cannot be written.
pub fn write<F: Finding + Serialize>(
    rows: &[F],
    as_json: bool,
    out: &mut dyn Write,
) -> Result<(), LeakError> {
    if as_json {
        let text = serde_json::to_string_pretty(rows).map_err(std::io::Error::other)?;
        return Ok(writeln!(out, "{text}")?);
    }
    let verdict = |row: &F| match (row.leaks(), is_as_it_must(row)) {
        (true, true) => "leaks, as planted",
        (false, true) => "no leak",
        (true, false) => "LEAKS",
        (false, false) => "PLANTED LEAK NOT FOUND",
    };
    let heads = F::heads().iter().map(ToString::to_string).chain(["verdict".into()]).collect();
    let lines = rows.iter().map(|row| [row.cells(), vec![verdict(row).to_owned()]].concat());
    let lines: Vec<Vec<String>> = std::iter::once(heads).chain(lines).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    for line in &lines {
        let cells = line.iter().enumerate().map(|(column, cell)| match column {
            0 => format!("{cell:<0$}", width(0)),
            _ if column + 1 == line.len() => cell.clone(),
            _ => format!("{cell:>0$}", width(column)),
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  "))?;
    }
    Ok(())
}
