//! The arguments of `oarlock dkim bench` and of `--compare`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, Args, Subcommand};
use oarlock_mail_files::mail::{self, MboxQuoting};

use super::task::MailTask;

/// Arguments of `oarlock-lab dkim`.
#[derive(Debug, Args)]
pub(crate) struct DkimLabArgs {
    #[command(subcommand)]
    pub(super) command: DkimLabCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum DkimLabCommand {
    /// Measure how messages of yours are signed and verified
    Sign(CompareArgs),
    /// Measure the same: both commands sign and verify
    Verify(CompareArgs),
    /// Measure messages signed and verified per second of CPU time, engine by engine
    Bench(MailBenchArgs),
}

/// Arguments of `oarlock dkim sign --compare` and `verify --compare`.
#[derive(Debug, Args)]
#[command(arg = compare_flag())]
pub(crate) struct CompareArgs {
    /// Messages, mboxes, Maildirs, or directories of them; `-` is standard input
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Max size of a message in bytes; a larger one is an error
    #[arg(long, value_name = "BYTES", default_value_t = mail::MAX_BYTES)]
    max_bytes: u64,
    /// Keep `>From ` in an mbox as it is (mboxo), instead of unquoting it (mboxrd)
    #[arg(long)]
    mboxo: bool,
    /// Draw the gains into this SVG file
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,
    /// Number of turns of each row, 1 to 1000; the median counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) turns: u32,
}

impl CompareArgs {
    pub(super) fn options(&self) -> mail::MailOptions {
        let quoting = if self.mboxo { MboxQuoting::Mboxo } else { MboxQuoting::default() };
        mail::MailOptions { quoting, max_bytes: self.max_bytes }
    }
}

/// The flag that `oarlock dkim sign` and `verify` have for this. Nothing else can be done here, so its value is not
/// stored.
fn compare_flag() -> Arg {
    let help = "Sign and verify the messages with new keys, with the scalar engine and with the fastest one, and print \
                tables 2 to 6 of the paper \"Accelerating DKIM\" for them. Nothing is written";
    Arg::new("compare").long("compare").action(ArgAction::SetTrue).required(true).help(help)
}

/// Arguments of `oarlock dkim bench`.
#[derive(Debug, Args)]
pub(crate) struct MailBenchArgs {
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
