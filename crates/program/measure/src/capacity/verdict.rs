//! The algorithms that a machine affords.

use oarlock_capacity::CpuBudget;
use oarlock_terminal::table::{ratio, thousands};
use serde::Serialize;

use super::machine::{AlgorithmRate, MachineRates, MeasuredAlgorithm};
use super::question::LoadQuestion;

/// The answer for all algorithms.
#[derive(Clone, Debug)]
pub(super) struct CapacityVerdict {
    pub(super) budget: CpuBudget,
    pub(super) required_per_s: f64,
    pub(super) rows: Vec<VerdictRow>,
}

/// One algorithm in one implementation.
#[derive(Clone, Debug, Serialize)]
pub(super) struct VerdictRow {
    pub(super) algorithm: MeasuredAlgorithm,
    pub(super) implementation: String,
    /// Bare verifications per second of one core.
    pub(super) mean_per_s: f64,
    pub(super) sigma_per_s: Option<f64>,
    /// Validations per second of one core: verifications with the overhead.
    pub(super) validations_per_s: f64,
    /// The validations per second that the budget allows.
    pub(super) capacity_per_s: f64,
    /// The share of the cores' time that the requirement takes, bare and with overhead.
    pub(super) cpu_share_bare: f64,
    pub(super) cpu_share: f64,
    /// Capacity divided by requirement; null if nothing is required.
    pub(super) headroom: Option<f64>,
    pub(super) is_affordable: bool,
}

impl CapacityVerdict {
    pub(super) fn new(question: &LoadQuestion, machine: &MachineRates, budget: CpuBudget) -> Self {
        let required_per_s = question.required_per_s();
        let rows = machine.rates.iter().map(|rate| VerdictRow::new(rate, required_per_s, &budget)).collect();
        Self { budget, required_per_s, rows }
    }

    /// Returns the row of an algorithm with the largest capacity.
    fn best(&self, algorithm: MeasuredAlgorithm) -> Option<&VerdictRow> {
        let of_algorithm = self.rows.iter().filter(|row| row.algorithm == algorithm);
        of_algorithm.max_by(|one, two| one.capacity_per_s.total_cmp(&two.capacity_per_s))
    }

    /// Returns the answer in a sentence. An algorithm is affordable if one of its implementations is.
    pub(super) fn sentence(&self) -> String {
        let all: Vec<&VerdictRow> =
            MeasuredAlgorithm::ALL.iter().filter_map(|algorithm| self.best(*algorithm)).collect();
        let (yes, no): (Vec<&VerdictRow>, Vec<&VerdictRow>) =
            all.into_iter().partition(|row| row.is_affordable);
        let load = format!(
            "{} validations per second with {} % of {}",
            thousands(self.required_per_s as u64),
            percent(self.budget.cpu_share),
            cores(self.budget.cores)
        );
        let mut text = match (&yes[..], &no[..]) {
            ([], _) => format!("This machine affords {load} with no algorithm"),
            (_, []) => format!("This machine affords {load} with every algorithm measured"),
            _ => format!("This machine affords {load} with {}, but not with {}", list(&yes), list(&no)),
        };
        let tightest =
            yes.iter().filter_map(|row| Some((row, row.headroom?))).min_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((row, headroom)) = tightest {
            let VerdictRow { algorithm, implementation, .. } = row;
            let share = percent(row.cpu_share);
            text += &format!(
                "; the tightest of them, {algorithm} ({implementation}), takes {share} % and has {} headroom",
                ratio(headroom)
            );
        }
        text + "."
    }

    /// True if an algorithm is affordable.
    pub(super) fn is_affordable(&self) -> bool {
        self.rows.iter().any(|row| row.is_affordable)
    }
}

impl VerdictRow {
    fn new(rate: &AlgorithmRate, required_per_s: f64, budget: &CpuBudget) -> Self {
        let AlgorithmRate { algorithm, implementation, mean_per_s, sigma_per_s } = rate.clone();
        let capacity_per_s = budget.capacity_per_s(mean_per_s);
        let validations_per_s = budget.validations_per_s(mean_per_s);
        Self {
            algorithm,
            implementation,
            mean_per_s,
            sigma_per_s,
            validations_per_s,
            capacity_per_s,
            cpu_share_bare: required_per_s / (mean_per_s * budget.cores),
            cpu_share: required_per_s / (validations_per_s * budget.cores),
            headroom: (required_per_s > 0.0).then(|| capacity_per_s / required_per_s),
            is_affordable: capacity_per_s >= required_per_s,
        }
    }
}

fn list(rows: &[&VerdictRow]) -> String {
    let names: Vec<String> = rows.iter().map(|row| row.algorithm.to_string()).collect();
    match &names[..] {
        [start @ .., last] if !start.is_empty() => format!("{} and {last}", start.join(", ")),
        _ => names.concat(),
    }
}

fn cores(cores: f64) -> String {
    if cores == 1.0 { "one core".into() } else { format!("{cores} cores") }
}

/// Formats a share in percent, with at least two significant digits below one.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        large if large >= 10.0 => format!("{large:.0}"),
        middle if middle >= 1.0 => format!("{middle:.1}"),
        small => format!("{small:.2}"),
    }
}
