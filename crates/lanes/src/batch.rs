//! From jobs to groups of lanes.

use oarlock_core::{JobError, Operation, Outcomes, Shape, Status};

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
    for (place, operation) in operations.iter().enumerate() {
        // A refused job takes no lane, so its neighbours run as if it were absent.
        match check(shape, operation).and_then(|()| read(operation)) {
            Ok(job) => accepted.push(LaneJob { index: place, job }),
            Err(status) => out.set(place, status),
        }
    }
    accepted
}

/// Checks a job again. Jobs arrive checked; this keeps a caller's mistake from affecting another job.
fn check(shape: Shape, operation: &Operation<'_>) -> Result<(), Status> {
    operation.check(shape).map_err(|error| match error {
        JobError::KeyType { .. } => Status::BadKey,
        _ => Status::BadLength,
    })
}

/// Returns `field` of each job of a group of one to eight. Lanes without a job repeat the last one, whose result is
/// written once.
pub(crate) fn per_lane<T, U>(group: &[LaneJob<T>], field: impl Fn(&T) -> U) -> [U; LANES] {
    std::array::from_fn(|lane| field(&group[lane.min(group.len() - 1)].job))
}
