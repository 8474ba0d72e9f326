//! The same work without a server.

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use oarlock::{Accelerator, JobError};

use super::LoadError;
use super::args::{LoadArgs, Plan};
use super::report::Row;
use super::work::{Local, Work};

/// What this process does of a plan's batches on one thread.
pub(super) fn measure(
    plan: &Plan,
    works: &[Work],
    accelerator: &Accelerator,
    args: &LoadArgs,
) -> Result<Row, LoadError> {
    let [work] = works else { return Err(LoadError::Usage("--by local: expected one operation")) };
    let run: Box<dyn Fn() -> Result<(), JobError>> = match &work.local {
        Local::Nothing => {
            return Err(LoadError::Usage("--by local: there is no null operation in this process"));
        }
        Local::Jobs(own) => {
            let jobs = own.jobs();
            own.warm(accelerator)?;
            Box::new(move || accelerator.run_all(&jobs).iter().try_for_each(|answer| answer.map(drop)))
        }
        Local::Records(shape, records) => {
            Box::new(move || accelerator.run_records(*shape, records).map(drop))
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
    Ok(Row {
        operations,
        rate_per_s: 1e6 / per_op(began.elapsed()),
        server_cpu_us_per_op: Some(per_op(cpu.elapsed())),
        ..Row::of(plan, 0)
    })
}
