//! Jobs of many schemes, sorted into groups that may share a batch.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use oarlock_core::{CompositeAlg, JobError, KeyHome, OperationSet, OwnedJob, Scheme, Shape};
use oarlock_dispatch::{Dispatcher, Results, SubmitOptions, Ticket};

use super::answers::Answers;
use super::needs_holder;
use crate::Job;
use crate::schemes::{Finisher, NonceSource, ShapedJob, composite, prepare, to_digested};

/// The jobs of one call, prepared and sorted. A job that cannot be prepared has its answer already.
pub(super) struct JobGroups {
    pub(super) answers: Answers,
    local: Vec<LocalGroup>,
    held: Vec<HeldGroup>,
}

struct LocalGroup {
    set: OperationSet,
    left: Vec<(u32, Finisher)>,
}

struct HeldGroup {
    holder: Arc<str>,
    jobs: Vec<OwnedJob>,
    indices: Vec<u32>,
}

/// A group that was submitted.
#[derive(Debug)]
pub(super) enum PendingGroup {
    Local(Ticket, Vec<(u32, Finisher)>),
    Held(Ticket, Vec<u32>),
}

impl JobGroups {
    pub(super) fn sort(jobs: &[Job<'_>]) -> Self {
        let mut groups =
            Self { answers: Answers::unanswered(jobs.len()), local: Vec::new(), held: Vec::new() };
        let mut nonces = NonceSource::for_jobs(jobs.len());
        for (index, job) in jobs.iter().enumerate() {
            if let Err(error) = groups.add(index, job, jobs.len(), &mut nonces) {
                groups.answers.refuse(index, error);
            }
        }
        groups
    }

    fn add(
        &mut self,
        index: usize,
        job: &Job<'_>,
        jobs: usize,
        nonces: &mut NonceSource,
    ) -> Result<(), JobError> {
        // unreachable because a call of 2^32 jobs would not fit in memory
        let position = u32::try_from(index).unwrap_or(u32::MAX);
        if let KeyHome::Held { holder, .. } = job.key.home()
            && needs_holder(job)
        {
            let held = to_digested(job)?;
            let group = self.held_group(holder);
            group.jobs.push(held);
            group.indices.push(position);
            return Ok(());
        }
        if let Scheme::CompositeSign { alg } | Scheme::CompositeVerify { alg } = job.scheme {
            return self.add_composite(index, job, alg, nonces);
        }
        let shaped = ShapedJob::new(job)?;
        let group = self.local_group(shaped.shape(), jobs - index, job.input.len());
        let finisher = prepare(&shaped, &mut group.set, nonces)?;
        group.left.push((position, finisher));
        Ok(())
    }

    fn add_composite(
        &mut self,
        index: usize,
        job: &Job<'_>,
        alg: CompositeAlg,
        nonces: &mut NonceSource,
    ) -> Result<(), JobError> {
        let message = composite::message(job, alg)?;
        let components = composite::components(job, alg, &message)?;
        let first = self.answers.split(index);
        for (at, component) in (first..).zip(&components) {
            if let Err(error) = self.add(at, component, at + 1, nonces) {
                self.answers.refuse(at, error);
            }
        }
        Ok(())
    }

    /// Returns the group of a shape. Jobs of one shape often come in a row, so the search begins with the last group.
    fn local_group(&mut self, shape: Shape, jobs_left: usize, input_len: usize) -> &mut LocalGroup {
        let at = self.local.iter().rposition(|group| group.set.shape() == shape);
        let at = at.unwrap_or_else(|| {
            // A guess from the first job. A wrong guess costs a reallocation, not correctness.
            let per_job = shape.input_len().unwrap_or(input_len) + shape.signature_len().unwrap_or(32);
            let set = OperationSet::with_capacity(shape, jobs_left, (jobs_left * per_job).min(MAX_RESERVED));
            self.local.push(LocalGroup { set, left: Vec::with_capacity(jobs_left) });
            self.local.len() - 1
        });
        &mut self.local[at]
    }

    fn held_group(&mut self, holder: &Arc<str>) -> &mut HeldGroup {
        let at = self.held.iter().position(|group| group.holder == *holder);
        let at = at.unwrap_or_else(|| {
            self.held.push(HeldGroup { holder: Arc::clone(holder), jobs: Vec::new(), indices: Vec::new() });
            self.held.len() - 1
        });
        &mut self.held[at]
    }

    /// Queues every group.
    pub(super) fn start(&mut self, dispatcher: &Dispatcher, options: SubmitOptions) -> Vec<PendingGroup> {
        let mut pending = Vec::new();
        for group in std::mem::take(&mut self.local) {
            match dispatcher.submit_many(group.set, options) {
                Ok(ticket) => pending.push(PendingGroup::Local(ticket, group.left)),
                Err(error) => {
                    group
                        .left
                        .iter()
                        .for_each(|(index, _)| self.answers.refuse(*index as usize, error.clone()));
                }
            }
        }
        pending.extend(self.start_held(dispatcher, options));
        pending
    }

    /// Runs local groups on this thread while holders work on theirs.
    pub(super) fn run(&mut self, dispatcher: &Dispatcher) {
        // Held jobs first: their holders work in other threads or processes while this thread computes.
        let held = self.start_held(dispatcher, SubmitOptions::default());
        for group in std::mem::take(&mut self.local) {
            finish_all(group.left, &dispatcher.run_all(&group.set), &mut self.answers);
        }
        held.into_iter().for_each(|pending| pending.wait(&mut self.answers));
    }

    fn start_held(&mut self, dispatcher: &Dispatcher, options: SubmitOptions) -> Vec<PendingGroup> {
        let mut pending = Vec::new();
        for group in std::mem::take(&mut self.held) {
            match dispatcher.submit_held(group.jobs, options) {
                Ok(ticket) => pending.push(PendingGroup::Held(ticket, group.indices)),
                Err(error) => {
                    group
                        .indices
                        .iter()
                        .for_each(|index| self.answers.refuse(*index as usize, error.clone()));
                }
            }
        }
        pending
    }
}

/// The largest buffer that is allocated at once for the inputs of a call. Beyond it the buffer grows as it fills.
const MAX_RESERVED: usize = 1 << 20;

impl PendingGroup {
    /// Blocks until the group is answered.
    pub(super) fn wait(self, answers: &mut Answers) {
        match self {
            Self::Local(ticket, left) => finish_all(left, &ticket.wait(), answers),
            Self::Held(ticket, indices) => take_all(&indices, &ticket.wait(), answers),
        }
    }

    /// Returns true once the group is answered.
    pub(super) fn poll(&mut self, context: &mut Context<'_>, answers: &mut Answers) -> bool {
        let (Self::Local(ticket, _) | Self::Held(ticket, _)) = self;
        let Poll::Ready(results) = Pin::new(ticket).poll(context) else { return false };
        match self {
            Self::Local(_, left) => finish_all(std::mem::take(left), &results, answers),
            Self::Held(_, indices) => take_all(indices, &results, answers),
        }
        true
    }
}

fn finish_all(left: Vec<(u32, Finisher)>, results: &Results, answers: &mut Answers) {
    // One reservation for the group. Each growth of the buffer would copy secrets and wipe the old memory.
    if left.first().is_some_and(|(_, finisher)| finisher.has_output()) {
        answers.reserve(results.outcomes().bytes().len());
    }
    answers.add_engine_time(results.engine_time());
    for (at, (index, finisher)) in left.into_iter().enumerate() {
        answers.finish(index as usize, finisher, results.get(at));
    }
}

fn take_all(indices: &[u32], results: &Results, answers: &mut Answers) {
    for (at, index) in indices.iter().enumerate() {
        answers.take(*index as usize, results.get(at));
    }
}
