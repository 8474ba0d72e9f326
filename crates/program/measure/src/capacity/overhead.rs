//! The CPU time of a validation beyond the verification: a constant, an option, or a row of `oarlock bench resolver`.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::CapacityError;
use super::args::BudgetArgs;

/// The overhead of a validation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValidationOverhead {
    /// Microseconds beyond the verification.
    pub(super) overhead_us: f64,
    /// The row that was measured; None for the constant and for an option.
    pub(super) row: Option<String>,
}

/// The document of `oarlock bench resolver`, as far as it is needed here.
#[derive(Deserialize)]
struct ResolverDocument {
    bench: String,
    rows: Vec<OverheadRow>,
}

#[derive(Deserialize)]
struct OverheadRow {
    name: String,
    peer_overhead_us: Option<f64>,
}

/// The name of the bench in its document.
const BENCH: &str = "resolver";

impl ValidationOverhead {
    /// Returns the overhead that the options name.
    pub(super) fn choose(args: &BudgetArgs) -> Result<Self, CapacityError> {
        match &args.overhead_from {
            Some(path) => Self::read(path, args.overhead_row.as_deref()),
            None => Ok(Self { overhead_us: args.overhead_us, row: None }),
        }
    }

    fn read(path: &Path, wanted: Option<&str>) -> Result<Self, CapacityError> {
        let text = fs::read(path);
        let text = text.map_err(|error| CapacityError::Open { path: path.to_owned(), error })?;
        let document: ResolverDocument = serde_json::from_slice(&text)
            .map_err(|error| CapacityError::Overhead { path: path.to_owned(), error })?;
        if document.bench != BENCH {
            return Err(CapacityError::OverheadBench { path: path.to_owned(), found: document.bench });
        }
        let Some(first) = document.rows.first() else {
            return Err(CapacityError::NoOverheadRows { path: path.to_owned() });
        };
        let row = match wanted {
            None => first,
            // The rows of all engines have the same default provider beside them.
            Some(name) => document
                .rows
                .iter()
                .find(|row| row.name == name)
                .ok_or_else(|| document.without_row(path, name))?,
        };
        match row.peer_overhead_us.filter(|overhead_us| overhead_us.is_finite() && *overhead_us > 0.0) {
            Some(overhead_us) => Ok(Self { overhead_us, row: Some(row.name.clone()) }),
            None => Err(CapacityError::OverheadValue {
                path: path.to_owned(),
                row: row.name.clone(),
                found: row.peer_overhead_us.map_or_else(|| "none".to_owned(), |value| value.to_string()),
            }),
        }
    }

    /// Returns the origin of a measured overhead in words, to follow its value; nothing for others.
    pub(super) fn origin(&self) -> String {
        self.row.as_ref().map_or_else(String::new, |row| format!(" (measured: {row})"))
    }
}

impl ResolverDocument {
    fn without_row(&self, path: &Path, wanted: &str) -> CapacityError {
        let mut known: Vec<&str> = self.rows.iter().map(|row| row.name.as_str()).collect();
        known.dedup();
        CapacityError::OverheadRow {
            path: path.to_owned(),
            wanted: wanted.to_owned(),
            known: known.join(", "),
        }
    }
}
