//! A machine's rates: kept in a file, and compared.

use std::fmt;
use std::path::Path;

use clap::ValueEnum;
use oarlock::Curve;
use serde::{Deserialize, Serialize};

use super::CapacityError;
use crate::operation::{NamedOperation, OperationVerb};

/// Algorithms of the paper's tables, by the names of `oarlock speed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say what the variants mean")]
pub enum MeasuredAlgorithm {
    Rsa1024,
    Rsa2048,
    Rsa4096,
    P256,
    P384,
    Ed25519,
}

/// The rates of a machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MachineRates {
    /// The program that measured, with its version.
    pub(super) by: String,
    pub(super) processor: String,
    pub(super) cores: usize,
    pub(super) runs: u32,
    /// Seconds of CPU time of each.
    pub(super) run_seconds: f64,
    pub(super) rates: Vec<AlgorithmRate>,
}

/// Signatures verified per second of CPU time by one thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AlgorithmRate {
    pub(super) algorithm: MeasuredAlgorithm,
    /// `scalar`, `scalar hot`, `lanes`, `lanes hot`, `OpenSSL 3.0.19`.
    pub(super) implementation: String,
    /// The mean over the runs.
    pub(super) mean_per_s: f64,
    /// The standard deviation over the runs; null for a single run.
    pub(super) sigma_per_s: Option<f64>,
}

/// A rate here beside the same elsewhere: the paper's table 5.3.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RateMultiplier {
    pub(super) algorithm: MeasuredAlgorithm,
    pub(super) implementation: String,
    pub(super) here_per_s: f64,
    pub(super) there_per_s: f64,
    pub(super) times: f64,
}

/// Another machine, and the rates that both have.
#[derive(Clone, Debug, Serialize)]
pub(super) struct MachineComparison {
    pub(super) processor: String,
    pub(super) multipliers: Vec<RateMultiplier>,
}

impl MeasuredAlgorithm {
    pub(super) const ALL: [Self; 6] =
        [Self::Rsa1024, Self::Rsa2048, Self::Rsa4096, Self::P256, Self::P384, Self::Ed25519];

    /// Returns the operation that verifies, with or without verification tables. RSA has no tables.
    pub(super) fn operation(self, is_hot: bool) -> Option<NamedOperation> {
        let verb = if is_hot { OperationVerb::VerifyHot } else { OperationVerb::Verify };
        let rsa = |bits| (!is_hot).then_some(NamedOperation::Rsa { bits, verb });
        match self {
            Self::Rsa1024 => rsa(1024),
            Self::Rsa2048 => rsa(2048),
            Self::Rsa4096 => rsa(4096),
            Self::P256 => Some(NamedOperation::Ecdsa { curve: Curve::P256, verb }),
            Self::P384 => Some(NamedOperation::Ecdsa { curve: Curve::P384, verb }),
            Self::Ed25519 => Some(NamedOperation::Ed25519 { verb }),
        }
    }
}

impl fmt::Display for MeasuredAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rsa1024 => "RSA-1024",
            Self::Rsa2048 => "RSA-2048",
            Self::Rsa4096 => "RSA-4096",
            Self::P256 => "P-256",
            Self::P384 => "P-384",
            Self::Ed25519 => "Ed25519",
        })
    }
}

impl AlgorithmRate {
    /// The mean and the standard deviation of runs, of which there is at least one.
    pub(super) fn of_runs(algorithm: MeasuredAlgorithm, implementation: String, per_s: &[f64]) -> Self {
        let n = per_s.len() as f64;
        let mean_per_s = per_s.iter().sum::<f64>() / n;
        let squares: f64 = per_s.iter().map(|rate| (rate - mean_per_s).powi(2)).sum();
        // The runs are a sample of all possible runs, so the divisor is one less than their number.
        let sigma_per_s = (per_s.len() > 1).then(|| (squares / (n - 1.0)).sqrt());
        Self { algorithm, implementation, mean_per_s, sigma_per_s }
    }
}

impl MachineRates {
    pub(super) fn load(path: &Path) -> Result<Self, CapacityError> {
        let text = std::fs::read(path);
        let text = text.map_err(|error| CapacityError::Open { path: path.to_owned(), error })?;
        let machine: Self = serde_json::from_slice(&text)
            .map_err(|error| CapacityError::Machine { path: path.to_owned(), error })?;
        machine.check().map_err(|what| CapacityError::MachineRates { path: path.to_owned(), what })?;
        Ok(machine)
    }

    fn check(&self) -> Result<(), String> {
        if self.rates.is_empty() {
            return Err("it has no rates".into());
        }
        // The verdict divides by these numbers.
        match self.rates.iter().find(|rate| !(rate.mean_per_s.is_finite() && rate.mean_per_s > 0.0)) {
            Some(rate) => Err(format!("{} {} of {}/s", rate.algorithm, rate.implementation, rate.mean_per_s)),
            None => Ok(()),
        }
    }

    pub(super) fn save(&self, path: &Path) -> Result<(), CapacityError> {
        let failed = |error| CapacityError::Write { path: path.to_owned(), error };
        let text = serde_json::to_string_pretty(self).map_err(|error| failed(error.into()))?;
        std::fs::write(path, text + "\n").map_err(failed)
    }

    /// Keeps only these algorithms; all if none is named.
    pub(super) fn only(mut self, algorithms: &[MeasuredAlgorithm]) -> Self {
        self.rates.retain(|rate| algorithms.is_empty() || algorithms.contains(&rate.algorithm));
        self
    }

    /// Compares this machine's rates with those of another machine, for each implementation that both have.
    pub(super) fn against(&self, other: &Self) -> MachineComparison {
        let same = |here: &&AlgorithmRate, rate: &&AlgorithmRate| {
            here.algorithm == rate.algorithm && here.implementation == rate.implementation
        };
        let multipliers = self.rates.iter().filter_map(|here| {
            let there = other.rates.iter().find(|rate| same(&here, rate))?;
            Some(RateMultiplier {
                algorithm: here.algorithm,
                implementation: here.implementation.clone(),
                here_per_s: here.mean_per_s,
                there_per_s: there.mean_per_s,
                times: here.mean_per_s / there.mean_per_s,
            })
        });
        MachineComparison { processor: other.processor.clone(), multipliers: multipliers.collect() }
    }

    /// Returns the implementations in the order of their measurement.
    pub(super) fn implementations(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for rate in &self.rates {
            if !names.contains(&rate.implementation.as_str()) {
                names.push(&rate.implementation);
            }
        }
        names
    }

    /// Returns the algorithms that have a rate, in the paper's order.
    pub(super) fn algorithms(&self) -> impl Iterator<Item = MeasuredAlgorithm> {
        MeasuredAlgorithm::ALL
            .into_iter()
            .filter(|algorithm| self.rates.iter().any(|rate| rate.algorithm == *algorithm))
    }
}

/// Returns the processor's name in /proc/cpuinfo.
pub(super) fn processor() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    // x86 has the first line, small Arm boards have the second, and other Arm machines only the third.
    let names = ["model name", "Model", "CPU part"];
    let named = names.iter().find_map(|name| about.lines().find(|line| line.starts_with(name)));
    let value = named.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned());
    value.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_are_those_of_a_sample() {
        let rate = AlgorithmRate::of_runs(
            MeasuredAlgorithm::P256,
            "scalar".into(),
            &[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0],
        );
        assert!((rate.mean_per_s - 5.0).abs() < 1e-12);
        assert!((rate.sigma_per_s.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(
            AlgorithmRate::of_runs(MeasuredAlgorithm::P256, "scalar".into(), &[2.0]).sigma_per_s,
            None
        );
    }

    fn machine(rates: &[(MeasuredAlgorithm, &str, f64)]) -> MachineRates {
        let rate = |&(algorithm, implementation, mean_per_s): &(MeasuredAlgorithm, &str, f64)| {
            AlgorithmRate { algorithm, implementation: implementation.into(), mean_per_s, sigma_per_s: None }
        };
        let rates = rates.iter().map(rate).collect();
        MachineRates {
            by: "a test".into(),
            processor: "x".into(),
            cores: 1,
            runs: 1,
            run_seconds: 1.0,
            rates,
        }
    }

    #[test]
    fn machines_are_compared_where_they_have_the_same() {
        // The paper's tables 5.1 and 5.2, OpenSSL 1.1.0e.
        let small = machine(&[
            (MeasuredAlgorithm::P256, "OpenSSL 1.1.0", 786.4),
            (MeasuredAlgorithm::P384, "OpenSSL 1.1.0", 93.7),
        ]);
        let large = machine(&[
            (MeasuredAlgorithm::P256, "OpenSSL 1.1.0", 8606.3),
            (MeasuredAlgorithm::P384, "lanes", 4.0),
        ]);
        let against = large.against(&small).multipliers;
        assert_eq!(against.len(), 1);
        assert!((against[0].times - 10.9).abs() < 0.05);
    }

    #[test]
    fn rates_that_cannot_be_are_refused() {
        assert!(machine(&[]).check().is_err());
        assert!(machine(&[(MeasuredAlgorithm::P256, "scalar", 0.0)]).check().is_err());
        assert!(machine(&[(MeasuredAlgorithm::P256, "scalar", 1.0)]).check().is_ok());
    }
}
