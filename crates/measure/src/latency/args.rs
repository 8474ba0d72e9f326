//! Arguments of `oarlock latency`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::operation::{Operation, OperationError};

/// What to measure.
#[derive(Args, Clone, Debug)]
pub struct LatencyArgs {
    /// Public-key operation that arrives, by its name in `oarlock speed`: rsa2048-sign, p256-verify, x25519-derive, ...
    #[arg(long, visible_alias = "ops", value_name = "NAME", default_value = "rsa2048-sign", value_parser = public_key_operation)]
    pub(crate) op: Operation,
    /// Loads in percent of what the scalar engine can do, separated by commas
    #[arg(long, value_name = "PERCENTS", default_value = "5,15,30,50,70,90,120,180")]
    pub(crate) loads: Loads,
    /// Seconds of load for each rule at each load
    #[arg(long, value_name = "S", default_value = "2", value_parser = seconds)]
    pub(crate) seconds: f64,
    /// How long the rule with a timer lets a batch fill, in milliseconds
    #[arg(long, value_name = "MS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) timer_ms: u64,
    /// Measure what is left of full lanes under a standing backlog instead, job by job and call by call, on one worker and on
    /// all (--threads)
    #[arg(long, conflicts_with_all = ["loads", "timer_ms", "plot"])]
    pub(crate) saturation: bool,
    /// Draw p50 and p99 against load into this SVG file
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
}

/// Loads in percent of scalar capacity, at least one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Loads(Vec<f64>);

/// Why a number on the command line is none that can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NumberError {
    #[error("expected a number, found {found:?}")]
    NotANumber { found: String },
    #[error("expected {expected}, found {found}")]
    Range { expected: &'static str, found: String },
}

impl Loads {
    pub(crate) fn percents(&self) -> &[f64] {
        &self.0
    }
}

impl FromStr for Loads {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, NumberError> {
        let one =
            |text| number(text, "percents above 0, up to 1000", |percent| percent > 0.0 && percent <= 1000.0);
        text.split(',').map(one).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Loads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percents: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&percents.join(", "))
    }
}

fn seconds(text: &str) -> Result<f64, NumberError> {
    number(text, "0.01 to 60 seconds", |seconds| (0.01..=60.0).contains(&seconds))
}

fn number(text: &str, expected: &'static str, is_good: impl Fn(f64) -> bool) -> Result<f64, NumberError> {
    let text = text.trim();
    let value = text.parse().map_err(|_| NumberError::NotANumber { found: text.to_owned() })?;
    // False for NaN too.
    if is_good(value) { Ok(value) } else { Err(NumberError::Range { expected, found: text.to_owned() }) }
}

fn public_key_operation(name: &str) -> Result<Operation, OperationError> {
    match name.parse() {
        Ok(operation) if Operation::is_public_key(operation) => Ok(operation),
        Ok(_) | Err(OperationError::RecordLen { .. }) => Err(OperationError::not_public_key(name)),
        Err(_) => Err(OperationError::unknown_public_key(name)),
    }
}
