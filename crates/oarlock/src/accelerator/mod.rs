//! The accelerator: engines found and proved, joined to the dispatcher, behind schemes.

mod answers;
mod build;
mod groups;
#[cfg(test)]
mod lazy_tests;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use oarlock_core::{Engine, JobError, KeyHome, OperationSet, Outcomes, Records, Shape};
use oarlock_dispatch::{
    DispatchCounters, Dispatcher, Histograms, Quarantined, SchedulerConfig, SubmitOptions, Ticket,
};

pub use self::answers::{Answers, Output};
pub use self::build::{AcceleratorBuilder, BuildError, EngineReport, ShapeReport};
use self::groups::{Groups, Pending};
use crate::Job;
use crate::batch::{self, Batch, BatchOutcome};
use crate::calibrate::{Calibration, FirstUse, Grid, Timing};
use crate::find::{AbsentEngine, SelfTestedEngine};
use crate::schemes::{Finisher, NonceSource, lower, raise, shape_of};
use crate::selftest::Failure;
use crate::table::KeyTable;

/// The one way in: takes jobs, answers them from the best unit in reach. Cheap to clone, safe to share.
///
/// ```
/// use oarlock::{Accelerator, Input, Job, Scheme};
///
/// let accelerator = Accelerator::builder().engines(["scalar"]).build()?;
/// let key = oarlock::keys::generate::ed25519()?;
/// let jobs: Vec<Job> = [b"first", b"other"]
///     .map(|message| Job::sign(Scheme::Ed25519Sign, &key, Input::Message(message)))
///     .into();
/// let signatures = accelerator.run_all(&jobs);
/// let check = Job::verify(Scheme::Ed25519Verify, &key, Input::Message(b"first"), signatures.get(0)?);
/// assert!(accelerator.run_all(&[check]).get(0).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Accelerator {
    dispatcher: Dispatcher,
    about: Arc<About>,
}

#[derive(Debug)]
struct About {
    referee: Arc<dyn Engine>,
    proved: Vec<Arc<SelfTestedEngine>>,
    /// Empty until somebody asks a lazy one.
    engines: OnceLock<Vec<EngineReport>>,
    /// Where costs come from at first use, in a lazy one.
    costs: Option<Arc<FirstUse>>,
    absent: Vec<AbsentEngine>,
    calibration: Calibration,
}

impl Accelerator {
    /// Settings first, then [`AcceleratorBuilder::build`].
    #[must_use]
    pub fn builder() -> AcceleratorBuilder {
        AcceleratorBuilder::default()
    }

    /// Every engine of this machine with default settings.
    ///
    /// # Errors
    /// As [`AcceleratorBuilder::build`].
    pub fn new() -> Result<Self, BuildError> {
        Self::builder().build()
    }

    /// Submits one job: on this thread where all is idle and the job cheap, else through the queue. Await the answer, or
    /// [`wait`](Single::wait) for it. With [`SubmitOptions::never_on_caller_thread`] no engine runs on this thread, so that a short stack does.
    pub fn submit(&self, job: &Job<'_>, options: SubmitOptions) -> PendingAnswer {
        PendingAnswer(match self.start_one(job, options) {
            Ok(started) => started,
            Err(error) => Started::Refused(error),
        })
    }

    /// Submits jobs of any schemes together; they are answered together, in their order.
    pub fn submit_many(&self, jobs: &[Job<'_>], options: SubmitOptions) -> PendingAnswers {
        let mut groups = Groups::sort(jobs);
        let pending = groups.start(&self.dispatcher, options);
        PendingAnswers { answers: Some(groups.answers), pending }
    }

    /// Answers jobs of any schemes on this thread, in full batches and without a queue. Jobs of held keys wait for their
    /// holder.
    #[must_use]
    pub fn run_all(&self, jobs: &[Job<'_>]) -> Answers {
        let mut groups = Groups::sort(jobs);
        groups.run(&self.dispatcher);
        groups.answers
    }

    /// Answers records of one shape on this thread.
    ///
    /// # Errors
    /// A column does not cover the records, or nothing here offers the shape. What concerns one record is its status.
    pub fn run_records(&self, shape: Shape, records: &Records<'_>) -> Result<Outcomes, JobError> {
        self.dispatcher.run_records(shape, records)
    }

    /// The same into outcomes of an earlier call, whose memory is used again: that of many short records costs as much to get as
    /// they do to compute. Empty where this fails.
    ///
    /// # Errors
    /// As [`run_records`](Self::run_records).
    pub fn run_records_into(
        &self,
        shape: Shape,
        records: &Records<'_>,
        outcomes: &mut Outcomes,
    ) -> Result<(), JobError> {
        self.dispatcher.run_records_into(shape, records, outcomes)
    }

    /// Answers records of mixed tasks on this thread, under keys of a table and as their policies allow.
    ///
    /// # Errors
    /// A column does not cover the records, or data or slots exceed 4 GiB. What concerns one record is its status.
    pub fn run_batch(&self, table: &KeyTable, batch: &Batch<'_>) -> Result<BatchOutcome, JobError> {
        let mut outcome = BatchOutcome::default();
        self.run_batch_into(table, batch, &mut outcome)?;
        Ok(outcome)
    }

    /// The same into the outcome of an earlier call, whose memory is used again. Empty where this fails.
    ///
    /// # Errors
    /// As [`run_batch`](Self::run_batch).
    pub fn run_batch_into(
        &self,
        table: &KeyTable,
        batch: &Batch<'_>,
        outcome: &mut BatchOutcome,
    ) -> Result<(), JobError> {
        batch::run(self, table, batch, outcome).map(drop)
    }

    /// Submits records of one shape to the queue.
    ///
    /// # Errors
    /// As [`run_records`](Self::run_records), and where the tenant's queue is full.
    pub fn submit_records(
        &self,
        shape: Shape,
        records: Records<'static>,
        options: SubmitOptions,
    ) -> Result<Ticket, JobError> {
        self.dispatcher.submit_records(shape, records, options)
    }

    /// What was found and proved, the referee first. A [`lazy`](Builder::lazy) accelerator proves and measures now what it has
    /// not yet, which takes as long as building one that is not.
    #[must_use]
    pub fn engines(&self) -> &[EngineReport] {
        let about = &self.about;
        let cost = |engine: &SelfTestedEngine, shape| engine.cost(shape, about.costs.as_deref()?);
        let report = |engine: &Arc<SelfTestedEngine>| build::report(engine, |shape| cost(engine, shape));
        about.engines.get_or_init(|| about.proved.iter().map(report).collect())
    }

    /// Self tests that have failed so far, by the engine's name: it is not used for these shapes.
    #[must_use]
    pub fn failures(&self) -> Vec<(&'static str, Shape, Failure)> {
        let of = |engine: &Arc<SelfTestedEngine>| -> Vec<_> {
            let failures = engine.failures();
            failures.map(|(shape, failure)| (engine.name(), shape, failure.clone())).collect()
        };
        self.about.proved.iter().flat_map(of).collect()
    }

    /// Known engines that were allowed and take no part, with the reason. Where that leaves none of those that
    /// [`AcceleratorBuilder::engines`] names, the scalar engine serves in their place.
    #[must_use]
    pub fn absent(&self) -> &[AbsentEngine] {
        &self.about.absent
    }

    /// Bytes of what the engines have built for keys that recur, such as verification tables.
    #[must_use]
    pub fn prepared_bytes(&self) -> usize {
        self.about.proved.iter().map(|engine| engine.table_usage().bytes).sum()
    }

    /// Drops all that.
    pub fn drop_tables(&self) {
        self.about.proved.iter().for_each(|engine| engine.drop_tables());
    }

    /// Waits until no engine builds anything in the background: for those who measure what comes after.
    pub fn wait_for_tables(&self) {
        self.about.proved.iter().for_each(|engine| engine.wait_for_tables());
    }

    /// Where the cost model's first figures came from, or come from.
    #[must_use]
    pub fn calibration(&self) -> &Calibration {
        &self.about.calibration
    }

    /// Times batches of one engine by itself, called bare: without queue and checks, and without what it builds for keys that
    /// recur. Nothing where there is no such engine or it does not offer the shape. [`Fit::of`](crate::Fit::of) finds the
    /// constants.
    #[must_use]
    pub fn time_batches(&self, engine: &str, shape: Shape, grid: &Grid) -> Vec<Timing> {
        let engine = self.about.proved.iter().find(|own| own.name() == engine);
        engine.map_or_else(Vec::new, |engine| grid.time(&engine.plain(), shape))
    }

    /// What the dispatcher has counted.
    #[must_use]
    pub fn counters(&self) -> DispatchCounters {
        self.dispatcher.counters()
    }

    /// How large its batches were, how long engines took for them, and how long jobs waited. Records that
    /// [`run_batch`](Self::run_batch) and [`run_records`](Self::run_records) compute are among the batches.
    #[must_use]
    pub fn histograms(&self) -> Histograms {
        self.dispatcher.histograms()
    }

    /// Operations that wait now, by the name of a shape or of a holder: every queue that there has been.
    #[must_use]
    pub fn queued(&self) -> Vec<(String, usize)> {
        self.dispatcher.queued()
    }

    /// Engines put aside at present.
    #[must_use]
    pub fn quarantined(&self) -> Vec<Quarantined> {
        self.dispatcher.quarantined()
    }

    /// The dispatcher's settings.
    #[must_use]
    pub fn config(&self) -> &SchedulerConfig {
        self.dispatcher.config()
    }

    /// The scalar engine itself, for comparisons: no dispatcher and no release checks.
    #[must_use]
    pub fn referee(&self) -> &dyn Engine {
        &*self.about.referee
    }

    /// The dispatcher, for raw shapes.
    #[must_use]
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    fn start_one(&self, job: &Job<'_>, options: SubmitOptions) -> Result<Started, JobError> {
        if let KeyHome::Held { .. } = job.key.home()
            && needs_holder(job)
        {
            let ticket = self.dispatcher.submit_held(vec![job.to_held()?], options)?;
            return Ok(Started::Held(ticket));
        }
        let mut set = OperationSet::with_capacity(shape_of(job)?, 1, job.input.len() + ROOM);
        let residue = lower(job, &mut set, &mut NonceSource::for_jobs(1))?;
        let ticket = self.dispatcher.submit_many(set, options)?;
        Ok(Started::Local(ticket, Some(residue)))
    }
}

/// Room for what lowering adds to an input: a signature, a nonce.
const ROOM: usize = 96;

/// True where the job needs the private half, which is with the holder. Verification under the public half of a held
/// key is done here.
fn needs_holder(job: &Job<'_>) -> bool {
    !(job.scheme.is_verification() && job.key.parts().is_some())
}

/// A claim to the answer of one job: await it, or [`wait`](Single::wait). Dropping it cancels the job.
#[derive(Debug)]
#[must_use = "dropping it cancels the job"]
pub struct PendingAnswer(Started);

#[derive(Debug)]
enum Started {
    Local(Ticket, Option<Finisher>),
    Held(Ticket),
    Refused(JobError),
}

impl PendingAnswer {
    /// Blocks until the job is answered.
    ///
    /// # Errors
    /// Why the job has no answer; [`JobError::Rejected`] where a signature does not verify.
    pub fn wait(self) -> Result<Output, JobError> {
        match self.0 {
            Started::Local(ticket, residue) => finish(residue, &ticket.wait()),
            Started::Held(ticket) => ticket.wait().get(0).map(|bytes| Output::new(bytes.to_vec())),
            Started::Refused(error) => Err(error),
        }
    }
}

impl Future for PendingAnswer {
    type Output = Result<Output, JobError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Started::Local(ticket, residue) => {
                Pin::new(ticket).poll(context).map(|results| finish(residue.take(), &results))
            }
            Started::Held(ticket) => Pin::new(ticket)
                .poll(context)
                .map(|results| results.get(0).map(|bytes| Output::new(bytes.to_vec()))),
            Started::Refused(error) => Poll::Ready(Err(error.clone())),
        }
    }
}

fn finish(residue: Option<Finisher>, results: &oarlock_dispatch::Results) -> Result<Output, JobError> {
    let residue = residue.ok_or(JobError::Cancelled)?;
    let mut out = Output::default();
    raise(residue, results.get(0), &mut out)?;
    Ok(out)
}

/// A claim to the answers of jobs submitted together: await it, or [`wait`](Many::wait). Dropping it cancels what has not
/// been answered.
#[derive(Debug)]
#[must_use = "dropping it cancels the jobs"]
pub struct PendingAnswers {
    /// None once taken.
    answers: Option<Answers>,
    pending: Vec<Pending>,
}

impl PendingAnswers {
    /// Blocks until every job is answered.
    #[must_use]
    pub fn wait(mut self) -> Answers {
        let mut answers = self.answers.take().unwrap_or_default();
        for pending in self.pending {
            pending.wait(&mut answers);
        }
        answers
    }
}

impl Future for PendingAnswers {
    type Output = Answers;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answers> {
        let this = &mut *self;
        let Some(answers) = &mut this.answers else { return Poll::Ready(Answers::default()) };
        this.pending.retain_mut(|pending| !pending.poll(context, answers));
        if this.pending.is_empty() {
            Poll::Ready(this.answers.take().unwrap_or_default())
        } else {
            Poll::Pending
        }
    }
}
