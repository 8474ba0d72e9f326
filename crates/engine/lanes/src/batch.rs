//! From jobs to groups of lanes.

use oarlock_core::{Operation, Outcomes, Shape, Status};

use crate::simd::LANES;

/// A job that can be computed: its index in the run, and the values that were read from it.
#[derive(Debug)]
pub(crate) struct LaneJob<T> {
    pub(crate) index: usize,
    pub(crate) job: T,
}

/// Reads every job. A job that cannot be computed gets its status here and takes no lane.
pub(crate) fn accept<'a, T>(
    shape: Shape,
    operations: &'a [Operation<'a>],
    out: &mut Outcomes,
    read: impl Fn(&'a Operation<'a>) -> Result<T, Status>,
) -> Vec<LaneJob<T>> {
    let mut accepted = Vec::with_capacity(operations.len());
    for (index, operation) in operations.iter().enumerate() {
        // The type proves that key and lengths fit the operation's own shape. If that is not the shape of the run,
        // the job fails alone.
        let job = if operation.fits(shape) { read(operation) } else { Err(Status::BadKey) };
        match job {
            Ok(job) => accepted.push(LaneJob { index, job }),
            // A refused job takes no lane, so its neighbours run as if it were absent.
            Err(status) => out.set(index, status),
        }
    }
    accepted
}

/// Returns `field` of each job of a group of one to eight. Lanes without a job repeat the last one, whose result is
/// written once.
pub(crate) fn per_lane<T, U>(group: &[LaneJob<T>], field: impl Fn(&T) -> U) -> [U; LANES] {
    std::array::from_fn(|lane| field(&group[lane.min(group.len() - 1)].job))
}
