//! The arguments of `oarlock dkim bench` and of `--compare`.

use std::path::PathBuf;

use clap::Args;

use super::task::Task;

/// Options of `oarlock dkim sign` and `verify` that measure the messages instead.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Write nothing, but measure: sign and verify the messages with keys made for it, by the scalar engine and by the
    /// fastest one, and print tables 2 to 6 of the paper on accelerated DKIM for them
    #[arg(long)]
    pub compare: bool,
    /// Draw the gains as SVG
    #[arg(long, value_name = "FILE.svg", requires = "compare")]
    pub(super) plot: Option<PathBuf>,
    /// Turns of each row, of which the median counts
    #[arg(long, value_name = "N", default_value_t = 3, requires = "compare", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) turns: u32,
}

/// Arguments of `oarlock dkim bench`.
#[derive(Debug, Args)]
pub struct MailBenchArgs {
    /// Seconds of each turn
    #[arg(long, value_name = "S", default_value_t = 0.5, value_parser = seconds)]
    pub(super) seconds: f64,
    /// Turns of each row, of which the median counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) turns: u32,
    /// What is measured, as sign-rsa2048 [default: everything]
    #[arg(long, value_name = "TASK", value_delimiter = ',', value_parser = Task::from_name)]
    pub(super) tasks: Vec<Task>,
    /// Different messages
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = count)]
    pub(super) messages: usize,
    /// Messages that are signed or verified together
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = count)]
    pub(super) batch: usize,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0 && *seconds <= 3600.0);
    seconds.ok_or_else(|| "expected seconds, more than 0 and at most 3600".into())
}

fn count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count: &usize| (1..=1 << 20).contains(count));
    count.ok_or_else(|| "expected a number from 1 to 1048576".into())
}
