//! `oarlock latency --saturation`: rates of single jobs and of calls, as a share of full lanes, with one worker and
//! with several.
//!
//! The ways take turns, round by round; the share is that of the median round. Rates are by wall-clock time, because
//! the thread that submits is not the one that computes. Other work on the machine lowers them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use oarlock::{
    Accelerator, AcceleratorBuilder, Answers, Job, JobError, PendingAnswer, PendingAnswers, SchedulerConfig,
    SubmitOptions,
};
use oarlock_measure::operation::PublicKeyWork;
use oarlock_measure::statistics::median;
use oarlock_terminal::table::{TextTable, si};
use serde::Serialize;

use super::{LatencyArgs, LatencyError};

/// The number of jobs in flight for each worker: queues never run dry, and stay within their bound.
const BACKLOG: usize = 512;
/// The number of jobs of a call of `submit_many` and `run_all`.
const CALL: usize = 64;
const ROUNDS: usize = 7;

/// The result of one way to submit with a number of workers.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SaturationRow {
    op: String,
    way: &'static str,
    threads: usize,
    per_s: f64,
    /// The rate divided by that of full batches on as many threads without a queue.
    share: f64,
    /// The rate divided by that of the same way with one worker.
    scaling: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum SubmitMethod {
    /// Full batches on threads of the caller: the most that the lanes can do.
    RunAll,
    Submit,
    SubmitMany,
}

const WAYS: [SubmitMethod; 3] = [SubmitMethod::RunAll, SubmitMethod::Submit, SubmitMethod::SubmitMany];

impl SubmitMethod {
    fn name(self) -> &'static str {
        match self {
            Self::RunAll => "run_all",
            Self::Submit => "submit",
            Self::SubmitMany => "submit_many",
        }
    }
}

/// Measures every way with one worker, and with `threads` if that is more.
pub(super) fn measure(
    builder: &AcceleratorBuilder,
    threads: usize,
    args: &LatencyArgs,
) -> Result<Vec<SaturationRow>, LatencyError> {
    let mut counts = vec![1, threads];
    counts.dedup();
    let mut setups = Vec::new();
    for threads in counts {
        let config = SchedulerConfig::default().with_threads(threads).with_caller_budget(Duration::ZERO);
        let accelerator = builder.clone().config(config).build()?;
        let work = args.op.work(&accelerator, args.op.usual_keys(), super::setup::JOBS)?;
        let job_error = |error| LatencyError::Job { operation: args.op.to_string(), error };
        work.warm(&accelerator).map_err(job_error)?;
        setups.push((threads, accelerator, work));
    }
    let length = Duration::from_secs_f64(args.seconds / ROUNDS as f64);
    let mut rounds: Vec<Vec<[f64; 3]>> = vec![Vec::new(); setups.len()];
    for _ in 0..ROUNDS {
        for ((threads, accelerator, work), rates) in setups.iter().zip(&mut rounds) {
            let mut round = [0.0; 3];
            for (rate, way) in round.iter_mut().zip(WAYS) {
                let ran = play(way, accelerator, work, *threads, length);
                *rate = ran.map_err(|error| LatencyError::Job { operation: args.op.to_string(), error })?;
            }
            rates.push(round);
        }
    }
    Ok(rows(args, &setups.iter().map(|(threads, ..)| *threads).collect::<Vec<_>>(), &rounds))
}

/// Makes the rows. Shares and scalings are taken within each round, because the machine's other work differs between
/// rounds.
fn rows(args: &LatencyArgs, threads: &[usize], rounds: &[Vec<[f64; 3]>]) -> Vec<SaturationRow> {
    let middle = |value: &dyn Fn(usize) -> f64| median((0..ROUNDS).map(value)).unwrap_or(f64::NAN);
    let row = |count: usize, at: usize| SaturationRow {
        op: args.op.to_string(),
        way: WAYS[at].name(),
        threads: threads[count],
        per_s: middle(&|round| rounds[count][round][at]),
        share: middle(&|round| rounds[count][round][at] / rounds[count][round][0]),
        scaling: middle(&|round| rounds[count][round][at] / rounds[0][round][at]),
    };
    (0..threads.len())
        .flat_map(|count| (0..WAYS.len()).map(move |at| row(count, at)).collect::<Vec<_>>())
        .collect()
}

/// Returns jobs per second of one way.
fn play(
    way: SubmitMethod,
    accelerator: &Accelerator,
    work: &PublicKeyWork,
    threads: usize,
    length: Duration,
) -> Result<f64, JobError> {
    let jobs = work.jobs();
    match way {
        SubmitMethod::RunAll => bulk(accelerator, &jobs, threads, length),
        SubmitMethod::Submit => {
            let submit =
                |at: usize| (accelerator.submit(&jobs[at % jobs.len()], SubmitOptions::default()), 1);
            stream(threads * BACKLOG, length, submit, |single: PendingAnswer| single.wait().map(drop))
        }
        SubmitMethod::SubmitMany => {
            let calls: Vec<&[Job<'_>]> = jobs.chunks(CALL).collect();
            let submit = |at: usize| {
                let call = calls[at % calls.len()];
                (accelerator.submit_many(call, SubmitOptions::default()), call.len())
            };
            stream(threads * BACKLOG, length, submit, |many: PendingAnswers| check(&many.wait()))
        }
    }
}

fn check(answers: &Answers) -> Result<(), JobError> {
    answers.iter().find_map(Result::err).map_or(Ok(()), Err)
}

/// Keeps between half of `backlog` jobs and all of them in flight, and counts the jobs done. It waits for the
/// youngest of the older half and then finds the others done. A caller who waits for each claim is woken for each,
/// and waking costs the worker time.
fn stream<T>(
    backlog: usize,
    length: Duration,
    submit: impl Fn(usize) -> (T, usize),
    wait: impl Fn(T) -> Result<(), JobError>,
) -> Result<f64, JobError> {
    let mut claims: VecDeque<(T, usize)> = VecDeque::new();
    let (mut at, mut submitted, mut waited, mut done) = (0, 0, 0, 0);
    let mut start = None;
    loop {
        while submitted - waited < backlog {
            let (claim, count) = submit(at);
            claims.push_back((claim, count));
            (at, submitted) = (at + 1, submitted + count);
        }
        let before = waited;
        let half = claims.len().div_ceil(2);
        for (claim, count) in claims.drain(..half).rev() {
            wait(claim)?;
            waited += count;
        }
        // The first backlog fills the pipeline.
        match start {
            None if submitted >= 2 * backlog => start = Some(Instant::now()),
            None => {}
            Some(start) => {
                done += waited - before;
                let elapsed: Duration = Instant::now() - start;
                if elapsed >= length {
                    claims.into_iter().try_for_each(|(claim, _)| wait(claim))?;
                    return Ok(done as f64 / elapsed.as_secs_f64());
                }
            }
        }
    }
}

/// Runs full batches on `threads` threads.
fn bulk(
    accelerator: &Accelerator,
    jobs: &[Job<'_>],
    threads: usize,
    length: Duration,
) -> Result<f64, JobError> {
    let run = |first: usize| {
        let start = Instant::now();
        let mut done = 0;
        for call in jobs.chunks(CALL).cycle().skip(first) {
            check(&accelerator.run_all(call))?;
            done += call.len();
            if start.elapsed() >= length {
                break;
            }
        }
        Ok(done as f64 / start.elapsed().as_secs_f64())
    };
    std::thread::scope(|scope| {
        let run = &run;
        let handles: Vec<_> = (0..threads).map(|first| scope.spawn(move || run(first))).collect();
        let rates = handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        rates.sum()
    })
}

pub(super) fn to_text(rows: &[SaturationRow], in_colour: bool) -> String {
    let mut table = TextTable::with_columns(["way"], ["workers", "ops/s", "of full lanes", "of one worker"]);
    for row in rows {
        table.row([
            row.way.into(),
            row.threads.to_string().into(),
            si(row.per_s).into(),
            format!("{:.3}", row.share).into(),
            format!("{:.2}", row.scaling).into(),
        ]);
    }
    let op = rows.first().map_or("", |row| row.op.as_str());
    let heading = format!("{op} with {BACKLOG} jobs in flight for each worker, by wall-clock time\n\n");
    heading + &table.render(in_colour)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_full_lanes_and_scalings_of_one_worker() {
        let args = super::super::tests::args(&["--op", "ed25519-sign", "--seconds", "0.1"]).unwrap();
        let rows = measure(&Accelerator::builder(), 2, &args).unwrap();
        let ways: Vec<(&str, usize)> = rows.iter().map(|row| (row.way, row.threads)).collect();
        let each = |threads| [("run_all", threads), ("submit", threads), ("submit_many", threads)];
        assert_eq!(ways, [each(1), each(2)].concat());
        assert!(rows.iter().all(|row| row.per_s > 0.0 && row.share > 0.0 && row.scaling > 0.0), "{rows:?}");
        assert_eq!((rows[0].share, rows[0].scaling, rows[1].scaling, rows[3].share), (1.0, 1.0, 1.0, 1.0));
        assert!(to_text(&rows, false).lines().all(|line| line.chars().count() <= 100));
    }
}
