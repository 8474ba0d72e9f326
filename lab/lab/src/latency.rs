//! `oarlock latency`: latencies of jobs under the dispatcher's rule, beside the rules that it replaces.
//!
//! Jobs arrive at random at a given share of the scalar engine's rate, even if earlier ones are not done (open loop),
//! and go through the real dispatcher. The latency of a job begins when it was due to arrive and ends with its
//! completion, so that a late generator hides nothing.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | the command's arguments |
//! | `rules` | the rules that are compared |
//! | `setup` | one accelerator per rule, the jobs, the scalar capacity |
//! | `arrivals` | Poisson arrivals |
//! | `open_loop` | one rule under load for a while: submit, stamp, cancel |
//! | `saturation` | the rate under a standing backlog, as a share of full lanes |
//! | `rounds` | the rules in turns, and their results |
//! | `report` | table, JSON and picture |

mod args;
mod arrivals;
mod open_loop;
mod report;
mod rounds;
mod rules;
mod saturation;
mod setup;

use std::path::PathBuf;

use oarlock::{AcceleratorBuilder, BuildError, JobError};
use oarlock_measure::operation::OperationError;
use oarlock_terminal::report::print_report;
use oarlock_terminal::{CommandError, FailureKind, GlobalOptions, check_writable, progress};

pub(crate) use args::LatencyArgs;
use report::LatencyReport;
use setup::LatencySetup;

/// An error of a latency measurement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LatencyError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Operation(#[from] OperationError),
    #[error("{operation}: {error}")]
    Job { operation: String, error: JobError },
    #[error("loads are given in percent of the scalar engine's capacity: expected `scalar` among --engines")]
    NoScalar,
    #[error("cannot write {}: {error}", path.display())]
    Plot { path: PathBuf, error: std::io::Error },
    #[error("stdout: {0}")]
    Stdout(#[from] std::io::Error),
}

impl CommandError for LatencyError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Build(error) => error.kind(),
            Self::Operation(error) => error.kind(),
            Self::NoScalar | Self::Plot { .. } => FailureKind::Usage,
            Self::Job { .. } => FailureKind::Machine,
            Self::Stdout(error) => FailureKind::of_stdout(error),
        }
    }
}

/// Measures, and prints a table or JSON; draws if `--plot` is given.
///
/// # Errors
/// An unwritable `--plot` file before anything is measured, engines without the scalar one, jobs that fail.
pub(crate) fn run(global: &GlobalOptions, args: &LatencyArgs) -> Result<(), LatencyError> {
    let plot_error = |path: &PathBuf, error| LatencyError::Plot { path: path.clone(), error };
    if let Some(path) = &args.plot {
        check_writable(path).map_err(|error| plot_error(path, error))?;
    }
    let builder = setup::builder(global, args.op);
    if args.saturation {
        return saturate(global, &builder, args);
    }
    let setup = LatencySetup::new(&builder, global.threads.map(usize::from), args)?;
    if let Some(first) = setup.contenders.first() {
        global.warn_absent_engines(&first.accelerator);
    }
    if !setup.has_lanes() {
        eprintln!(
            "oarlock: no lane engine here offers {}: batches bring nothing, and rules that wait for them only wait",
            args.op
        );
    }
    let slices = rounds::count_slices(&setup, args);
    let bar = progress::bar(slices as u64, "{wide_bar} {pos}/{len} rounds{left}");
    let rows = rounds::measure(&setup, args, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let report = LatencyReport { setup: &setup, args, rows: &rows };
    if let Some(path) = &args.plot {
        std::fs::write(path, report.to_svg()).map_err(|error| plot_error(path, error))?;
    }
    Ok(print_report(global.json, report.rows, |in_colour| report.to_text(in_colour))?)
}

fn saturate(
    global: &GlobalOptions,
    builder: &AcceleratorBuilder,
    args: &LatencyArgs,
) -> Result<(), LatencyError> {
    global.warn_absent_engines(&builder.clone().build()?);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let rows = saturation::measure(builder, global.threads.map_or(cores, usize::from), args)?;
    Ok(print_report(global.json, &rows, |in_colour| saturation::to_text(&rows, in_colour))?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use clap::{Args, FromArgMatches};
    use oarlock::Outcomes;
    use oarlock::Shape;
    use oarlock::engine_api::{BatchSize, Engine, EngineFault, Jobs};

    use super::*;

    pub(super) fn args(words: &[&str]) -> Result<LatencyArgs, clap::Error> {
        let command = LatencyArgs::augment_args(clap::Command::new("latency").no_binary_name(true));
        LatencyArgs::from_arg_matches(&command.try_get_matches_from(words)?)
    }

    fn builder() -> oarlock::AcceleratorBuilder {
        oarlock::Accelerator::builder()
    }

    #[test]
    fn the_defaults_are_those_of_the_manual() {
        let args = args(&[]).unwrap();
        assert_eq!(args.op.to_string(), "rsa2048-sign");
        assert_eq!(args.loads.percents(), [5.0, 15.0, 30.0, 50.0, 70.0, 90.0, 120.0, 180.0]);
        assert_eq!((args.seconds, args.timer_ms, args.plot), (2.0, 10, None));
    }

    #[test]
    fn bad_words_say_what_was_expected() {
        let cases = [
            (["--op", "rsa2047-sign"], "rsa2048-sign"),
            (["--op", "sha256-64"], "is not a public-key operation"),
            (["--loads", "5,,90"], "a number"),
            (["--loads", "5,fast"], "fast"),
            (["--loads", "0"], "above 0"),
            (["--loads", "1001"], "1000"),
            (["--loads", "NaN"], "above 0"),
            (["--seconds", "0"], "0.01 to 60"),
            (["--seconds", "inf"], "0.01 to 60"),
            (["--timer-ms", "0"], "1..="),
        ];
        for (words, said) in cases {
            let error = args(&words).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(said), "{words:?}: {error}");
        }
    }

    #[test]
    fn a_short_run_has_a_row_for_each_load_and_rule() {
        let args = args(&["--op", "ed25519-sign", "--loads", "20,60", "--seconds", "0.05"]).unwrap();
        let setup = LatencySetup::new(&builder(), Some(1), &args).unwrap();
        let slices = std::cell::Cell::new(0);
        let rows = rounds::measure(&setup, &args, &|| slices.set(slices.get() + 1)).unwrap();
        assert_eq!(slices.get(), rounds::count_slices(&setup, &args));
        let rules: Vec<&str> = rows.iter().map(|row| row.rule.as_str()).collect();
        let each = ["adaptive", "scalar-only", "two-or-more", "timer-10ms"];
        assert_eq!(rules, [each, each].concat());
        assert!(rows[..4].iter().all(|row| row.load_percent == 20.0 && row.threads == 1));
        for row in &rows {
            assert!(row.p50_us <= row.p99_us && row.engines.contains(&"scalar"), "{row:?}");
            assert_eq!(row.offered_per_s, rows[if row.load_percent == 20.0 { 0 } else { 4 }].offered_per_s);
        }
    }

    #[test]
    fn reports_are_within_a_page_and_well_formed() {
        let args = args(&["--op", "ed25519-verify", "--loads", "30", "--seconds", "0.02"]).unwrap();
        let setup = LatencySetup::new(&builder(), Some(1), &args).unwrap();
        let rows = rounds::measure(&setup, &args, &|| ()).unwrap();
        let report = LatencyReport { setup: &setup, args: &args, rows: &rows };
        let table = report.to_text(false);
        assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
        assert!(table.contains("scalar capacity") && table.contains("two-or-more"), "{table}");
        let json: serde_json::Value = serde_json::to_value(&rows).unwrap();
        let keys: Vec<&str> = json[0].as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected =
            ["op", "rule", "load_percent", "offered_per_s", "per_s", "p50_us", "p99_us"].to_vec();
        expected.extend(["stable", "threads", "engines"]);
        expected.sort_unstable();
        assert_eq!((json.as_array().unwrap().len(), keys), (4, expected));
        assert!(report.to_svg().ends_with("</svg>\n"));
    }

    /// An engine that is known and offers nothing.
    #[derive(Debug)]
    struct Idle;

    impl Engine for Idle {
        fn name(&self) -> &'static str {
            "idle"
        }

        fn offers(&self, _: Shape) -> Option<BatchSize> {
            None
        }

        fn confirms(&self, _: Shape) -> bool {
            false
        }

        fn run(&self, _: &Jobs<'_>, _: &mut Outcomes) -> Result<(), EngineFault> {
            Ok(())
        }
    }

    #[test]
    fn without_the_scalar_engine_there_is_no_capacity() {
        let builder = builder().engine(Arc::new(Idle)).engines(["idle"]);
        let error = LatencySetup::new(&builder, Some(1), &args(&[]).unwrap()).unwrap_err();
        assert!(matches!(error, LatencyError::NoScalar) && error.kind() == FailureKind::Usage, "{error}");
    }

    #[test]
    fn faults_are_told_from_mistakes() {
        let write = || std::io::Error::other("full");
        assert_eq!(LatencyError::Plot { path: "a.svg".into(), error: write() }.kind(), FailureKind::Usage);
        assert_eq!(LatencyError::Stdout(write()).kind(), FailureKind::Machine);
        assert_eq!(LatencyError::from(BuildError::NoReferee).kind(), FailureKind::Machine);
        assert_eq!(LatencyError::from(BuildError::NoEngine { known: Vec::new() }).kind(), FailureKind::Usage);
    }
}
