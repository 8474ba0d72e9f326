//! The set-up of a measurement: one accelerator per rule, the jobs, the scalar engine's capacity.

use std::time::{Duration, Instant};

use oarlock::engine_api::EngineLocation;
use oarlock::engine_api::schemes::shape_of;
use oarlock::{Accelerator, AcceleratorBuilder, EngineReport, Job, JobError, SchedulerConfig, Shape};
use oarlock_measure::operation::{NamedOperation, PublicKeyWork};
use oarlock_measure::statistics::median;
use oarlock_terminal::GlobalOptions;

use super::rules::{ComparedRule, compared_rules};
use super::{LatencyArgs, LatencyError};

/// Accelerators that differ only in their rule, and work for them.
#[derive(Debug)]
pub(super) struct LatencySetup {
    pub(super) contenders: Vec<RuleContender>,
    pub(super) work: PublicKeyWork,
    pub(super) threads: usize,
    /// Engines that are proved for the operation, the scalar one first.
    pub(super) engines: Vec<&'static str>,
    /// Operations per second of one worker on the scalar engine, times the number of workers.
    pub(super) capacity_per_s: f64,
    /// The number of operations that fill the lanes.
    pub(super) full_batch: usize,
}

/// A rule and the accelerator that follows it.
#[derive(Debug)]
pub(super) struct RuleContender {
    pub(super) rule: ComparedRule,
    pub(super) accelerator: Accelerator,
}

/// The number of different jobs. They arrive again and again.
pub(super) const JOBS: usize = 256;

/// Returns a builder without verification tables, unless tables are what is measured.
pub(super) fn builder(global: &GlobalOptions, operation: NamedOperation) -> AcceleratorBuilder {
    if operation.is_hot() { global.builder() } else { global.builder().table_bytes(0) }
}

impl LatencySetup {
    /// Makes the set-up. Without `threads` there is one worker for each core except the core that generates the load.
    pub(super) fn new(
        builder: &AcceleratorBuilder,
        threads: Option<usize>,
        args: &LatencyArgs,
    ) -> Result<Self, LatencyError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.unwrap_or(cores.saturating_sub(1).max(1));
        let contenders = compared_rules(args)
            .into_iter()
            .map(|rule| Ok(RuleContender { accelerator: build(builder, &rule, threads)?, rule }))
            .collect::<Result<Vec<_>, LatencyError>>()?;
        let [adaptive, scalar, ..] = &contenders[..] else { return Err(LatencyError::NoScalar) };
        if !scalar.accelerator.config().referee_serves {
            return Err(LatencyError::NoScalar);
        }
        let work = args.op.work(&adaptive.accelerator, args.op.usual_keys(), JOBS)?;
        let job_error = |error| LatencyError::Job { operation: args.op.to_string(), error };
        let shape = work.job(0).map(|job| shape_of(&job)).transpose().map_err(job_error)?;
        // Each accelerator tests and measures the shape now, so that no load waits for that.
        let proved: Vec<Vec<EngineReport>> =
            contenders.iter().map(|contender| proved_engines(&contender.accelerator, shape)).collect();
        // The adaptive rule is the first contender, as the pattern above has it.
        let adaptive_engines = &proved[0];
        for contender in &contenders {
            work.warm(&contender.accelerator).map_err(job_error)?;
        }
        // By tables long calls are faster than what a queue hands out, for they share inversions.
        let call = if args.op.is_hot() { 1 } else { CALL };
        let per_worker = rate(&scalar.accelerator, &work.jobs(), call).map_err(job_error)?;
        let engines = adaptive_engines.iter().map(|engine| engine.name).collect();
        let full_batch = full_batch(adaptive_engines);
        let capacity_per_s = per_worker * threads as f64;
        Ok(Self { contenders, work, threads, engines, capacity_per_s, full_batch })
    }

    /// True if an engine with lanes serves the operation.
    pub(super) fn has_lanes(&self) -> bool {
        self.engines.len() > 1
    }
}

/// Builds an accelerator that never computes on the thread that generates the load: arrivals would wait for
/// completions.
fn build(
    builder: &AcceleratorBuilder,
    rule: &ComparedRule,
    threads: usize,
) -> Result<Accelerator, LatencyError> {
    let config = SchedulerConfig::default()
        .with_threads(threads)
        .with_caller_budget(Duration::ZERO)
        .with_fixed_break_even(rule.fixed_break_even);
    Ok(builder.clone().config(config).lazy().build()?)
}

/// Returns the engines that are proved for a shape.
fn proved_engines(accelerator: &Accelerator, shape: Option<Shape>) -> Vec<EngineReport> {
    let mut engines = shape.map(|shape| accelerator.engines_of(shape)).unwrap_or_default();
    engines.retain(|engine| engine.shapes.iter().all(|shape| shape.verdict.is_ok()));
    engines
}

/// The number of jobs that a timer collects if there are no lanes. AVX-512 has as many.
const USUAL_LANES: usize = 8;

/// Returns the number of operations that fill the lanes of the first near engine with lanes.
fn full_batch(engines: &[EngineReport]) -> usize {
    let near = engines.iter().filter(|engine| engine.location == EngineLocation::Near);
    let sizes = near.flat_map(|engine| &engine.shapes).map(|shape| shape.lanes.preferred);
    sizes.filter(|size| *size > 1).min().unwrap_or(USUAL_LANES)
}

/// The number of jobs of one call: enough to make a call cheap, few enough to keep it short.
const CALL: usize = 32;

/// Returns operations per second on this thread: the median of some turns after a warm-up.
fn rate(accelerator: &Accelerator, jobs: &[Job<'_>], call: usize) -> Result<f64, JobError> {
    const TURNS: usize = 5;
    const TURN: Duration = Duration::from_millis(80);
    turn(accelerator, jobs, call, Duration::ZERO)?;
    let rates =
        (0..TURNS).map(|_| turn(accelerator, jobs, call, TURN)).collect::<Result<Vec<f64>, JobError>>()?;
    Ok(median(rates).unwrap_or(f64::NAN))
}

fn turn(accelerator: &Accelerator, jobs: &[Job<'_>], call: usize, time: Duration) -> Result<f64, JobError> {
    let start = Instant::now();
    let mut done = 0;
    for call in jobs.chunks(call).cycle() {
        let answers = accelerator.run_all(call);
        answers.iter().try_for_each(|answer| answer.map(drop))?;
        done += answers.len();
        if start.elapsed() >= time {
            break;
        }
    }
    Ok(done as f64 / start.elapsed().as_secs_f64())
}
