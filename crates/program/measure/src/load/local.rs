//! The same work in this process, without a server.

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use oarlock::{Accelerator, JobError};

use super::LoadError;
use super::args::{LoadArgs, LoadPlan};
use super::report::LoadRow;
use super::work::{LoadWork, LocalWork};

/// Measures a plan's batches on one thread of this process.
pub(super) fn measure(
    plan: &LoadPlan,
    works: &[LoadWork],
    accelerator: &Accelerator,
    args: &LoadArgs,
) -> Result<LoadRow, LoadError> {
    let [work] = works else { return Err(LoadError::Usage("--by local: expected one operation")) };
    let run: Box<dyn Fn() -> Result<(), JobError>> = match &work.local {
        LocalWork::Nothing => {
            return Err(LoadError::Usage("--by local: there is no null operation in this process"));
        }
        LocalWork::Jobs(work) => {
            let jobs = work.jobs();
            work.warm(accelerator)?;
            Box::new(move || accelerator.run_all(&jobs).iter().try_for_each(|answer| answer.map(drop)))
        }
        LocalWork::Records(shape, records) => {
            Box::new(move || accelerator.records().run(*shape, records).map(drop))
        }
    };
    let repeat = |length: Duration| {
        let (end, mut batches) = (Instant::now() + length, 0_u64);
        loop {
            run()?;
            batches += 1;
            if Instant::now() >= end {
                return Ok::<_, JobError>(batches);
            }
        }
    };
    let length = args.length();
    repeat(args.warm_up())?;
    let (began, cpu) = (Instant::now(), ThreadTime::now());
    let operations = repeat(length)? * work.operations as u64;
    let per_op = |time: Duration| time.as_secs_f64() * 1e6 / operations as f64;
    Ok(LoadRow {
        operations,
        rate_per_s: 1e6 / per_op(began.elapsed()),
        server_cpu_us_per_op: Some(per_op(cpu.elapsed())),
        ..LoadRow::from_plan(plan, 0)
    })
}
