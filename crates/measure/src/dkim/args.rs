//! The arguments of `oarlock dkim bench` and of `--compare`.

use std::path::PathBuf;

use clap::Args;

use super::task::MailTask;

/// Options of `oarlock dkim sign` and `verify` that measure the messages instead.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Measure instead: sign and verify the messages with new keys, with the scalar engine and with the
    /// fastest one, and print tables 2 to 6 of the paper "Accelerating DKIM" for them. Nothing is written
    #[arg(long)]
    pub compare: bool,
    /// Draw the gains into this SVG file
    #[arg(long, value_name = "FILE.svg", requires = "compare")]
    pub(super) plot: Option<PathBuf>,
    /// Number of turns of each row, 1 to 1000; the median counts
    #[arg(long, value_name = "N", default_value_t = 3, requires = "compare", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) turns: u32,
}

/// Arguments of `oarlock dkim bench`.
#[derive(Debug, Args)]
pub struct MailBenchArgs {
    /// Length of a turn in seconds, above 0 and at most 3600
    #[arg(long, value_name = "S", default_value_t = 0.5, value_parser = seconds)]
    pub(super) seconds: f64,
    /// Number of turns of each row, 1 to 1000; the median counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) turns: u32,
    /// Tasks to measure, such as sign-rsa2048, separated by commas [default: all]
    #[arg(long, value_name = "TASK", value_delimiter = ',', value_parser = MailTask::from_name)]
    pub(super) tasks: Vec<MailTask>,
    /// Number of different messages, 1 to 1048576
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = count)]
    pub(super) messages: usize,
    /// Number of messages that are signed or verified together, 1 to 1048576
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
