//! Arguments of `oarlock latency`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use oarlock_measure::operation::NamedOperation;

/// Arguments of `oarlock latency`.
#[derive(Args, Clone, Debug)]
pub(crate) struct LatencyArgs {
    /// Public-key operation of the jobs, by its name in `oarlock speed`: rsa2048-sign, p256-verify, x25519-derive, ...
    #[arg(long, visible_alias = "ops", value_name = "NAME", default_value = "rsa2048-sign", value_parser = NamedOperation::parse_public_key)]
    pub(crate) op: NamedOperation,
    /// Loads in percent of the scalar engine's rate, above 0 and up to 1000, separated by commas
    #[arg(long, value_name = "PERCENTS", default_value = "5,15,30,50,70,90,120,180")]
    pub(crate) loads: LoadPercents,
    /// Seconds of load for each rule at each load, 0.01 to 60
    #[arg(long, value_name = "S", default_value = "2", value_parser = seconds)]
    pub(crate) seconds: f64,
    /// Milliseconds that the rule with a timer lets a batch fill, 1 to 10000
    #[arg(long, value_name = "MS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) timer_ms: u64,
    /// Measure rates under a standing backlog instead, as a share of full lanes, job by job and call by call, with
    /// one worker and with all (--threads)
    #[arg(long, conflicts_with_all = ["loads", "timer_ms", "plot"])]
    pub(crate) saturation: bool,
    /// Draw p50 and p99 against load into this SVG file
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
}

/// Loads in percent of scalar capacity, at least one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoadPercents(Vec<f64>);

/// An error of a number on the command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NumberError {
    #[error("expected a number, found {found:?}")]
    NotANumber { found: String },
    #[error("expected {expected}, found {found}")]
    Range { expected: &'static str, found: String },
}

impl LoadPercents {
    pub(crate) fn percents(&self) -> &[f64] {
        &self.0
    }
}

impl FromStr for LoadPercents {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, NumberError> {
        let one =
            |text| number(text, "percents above 0, up to 1000", |percent| percent > 0.0 && percent <= 1000.0);
        text.split(',').map(one).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for LoadPercents {
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
