//! Findings as a table and as JSON.

use std::borrow::Cow;
use std::io::Write;

use serde::{Deserialize, Serialize};

use crate::LeakError;
use crate::welch::MIN_SAMPLES;

/// The times of one subject on one engine.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TimeRow {
    /// The name of the shape and leaf under test.
    pub subject: String,
    /// The leaf that computes the subject, or the name of an engine without leaves.
    pub leaf: Cow<'static, str>,
    /// The number of counted batches.
    pub samples: u64,
    /// The mean time of a batch under the fixed secret.
    pub fixed_ns: f64,
    /// The mean time of a batch under random secrets.
    pub random_ns: f64,
    /// The largest |t| of all crops.
    pub t: f64,
    /// True if |t| is too large for chance.
    pub leaks: bool,
}

/// The errors that Valgrind reported for one subject.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PoisonRow {
    /// The name of the shape and leaf under test.
    pub subject: String,
    /// The leaf that computes the subject, or the name of an engine without leaves.
    pub leaf: Cow<'static, str>,
    /// The number of operations.
    pub jobs: usize,
    /// The number of branches and addresses that depended on a secret.
    pub errors: u64,
    /// True if there was one.
    pub leaks: bool,
}

/// A finding with a verdict.
pub trait LeakFinding {
    /// Returns the leaf of the finding.
    fn leaf(&self) -> &str;
    /// True if the subject leaks.
    fn leaks(&self) -> bool;
    /// True if there are too few samples for a verdict.
    fn is_undecided(&self) -> bool {
        false
    }
    /// Returns the cells of a line of the table.
    fn cells(&self) -> Vec<String>;
    /// Returns the heads of the columns.
    fn heads() -> &'static [&'static str];
}

impl LeakFinding for TimeRow {
    fn leaf(&self) -> &str {
        &self.leaf
    }

    fn leaks(&self) -> bool {
        self.leaks
    }

    fn is_undecided(&self) -> bool {
        self.samples < 2 * MIN_SAMPLES
    }

    fn cells(&self) -> Vec<String> {
        let (fixed, random) = (format!("{:.0} ns", self.fixed_ns), format!("{:.0} ns", self.random_ns));
        vec![
            self.subject.clone(),
            self.leaf.to_string(),
            self.samples.to_string(),
            fixed,
            random,
            format!("{:.2}", self.t),
        ]
    }

    fn heads() -> &'static [&'static str] {
        &["subject", "leaf", "samples", "fixed", "random", "|t|"]
    }
}

impl LeakFinding for PoisonRow {
    fn leaf(&self) -> &str {
        &self.leaf
    }

    fn leaks(&self) -> bool {
        self.leaks
    }

    fn cells(&self) -> Vec<String> {
        vec![self.subject.clone(), self.leaf.to_string(), self.jobs.to_string(), self.errors.to_string()]
    }

    fn heads() -> &'static [&'static str] {
        &["subject", "leaf", "jobs", "errors"]
    }
}

/// True if the planted leak was found, and no other, and nothing is undecided.
#[must_use]
pub fn is_clean<F: LeakFinding>(rows: &[F]) -> bool {
    rows.iter().all(is_expected)
}

fn is_expected<F: LeakFinding>(row: &F) -> bool {
    // The planted leak must be found: a check that finds nothing at all is broken.
    !row.is_undecided() && row.leaks() == (row.leaf() == "planted")
}

/// Writes the rows as JSON or as a table.
///
/// # Errors
/// The output cannot be written.
pub fn write<F: LeakFinding + Serialize>(
    rows: &[F],
    as_json: bool,
    out: &mut dyn Write,
) -> Result<(), LeakError> {
    if as_json {
        let text = serde_json::to_string_pretty(rows).map_err(std::io::Error::other)?;
        return Ok(writeln!(out, "{text}")?);
    }
    let verdict = |row: &F| match (row.leaks(), is_expected(row)) {
        _ if row.is_undecided() => "too few samples",
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
            0 | 1 => format!("{cell:<0$}", width(column)),
            _ if column + 1 == line.len() => cell.clone(),
            _ => format!("{cell:>0$}", width(column)),
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  "))?;
    }
    Ok(())
}
