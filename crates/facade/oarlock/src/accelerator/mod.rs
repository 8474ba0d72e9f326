//! The accelerator: self-tested engines, joined to the dispatcher, behind schemes.

mod answers;
mod build;
mod calls;
mod diagnostics;
mod groups;
mod held_batches;
#[cfg(test)]
mod lazy_tests;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use oarlock_core::{Engine, ForkSafeCell, Holder, JobError, Scheme, Shape};
use oarlock_dispatch::{
    DispatchCounters, Dispatcher, Histograms, Quarantined, SchedulerConfig, SubmitOptions, Ticket,
};

pub use self::answers::{AnswerBytes, Answers};
pub use self::build::{AcceleratorBuilder, BuildError, EngineReport, ShapeReport};
pub use self::calls::{RawCalls, RecordCalls};
pub use self::diagnostics::Diagnostics;
use self::groups::{JobGroups, PendingGroup};
use crate::Job;
use crate::calibrate::{Calibration, FirstUseCosts};
use crate::detect::{AbsentEngine, SelfTestedEngine};
use crate::selftest::{SelfTestFailure, proved_shapes};

/// The entry point: takes jobs from any thread and computes them on the engine that is fastest for them.
///
/// It is cheap to clone and safe to share.
///
/// ```
/// use oarlock::{Accelerator, Input, Job, SigningScheme, VerifyingScheme};
///
/// let accelerator = Accelerator::builder().engines(["scalar"]).build()?;
/// let key = oarlock::keys::generate::ed25519()?;
/// let jobs: Vec<Job> = [b"first", b"other"]
///     .map(|message| Job::sign(SigningScheme::ED25519, &key, Input::Message(message)))
///     .into();
/// let signatures = accelerator.run_all(&jobs);
/// let check = Job::verify(VerifyingScheme::ED25519, &key, Input::Message(b"first"), signatures.get(0)?);
/// assert!(accelerator.run_all(&[check]).get(0).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Accelerator {
    dispatcher: Dispatcher,
    parts: Arc<AcceleratorParts>,
}

#[derive(Debug)]
struct AcceleratorParts {
    referee: Arc<dyn Engine>,
    proved: Vec<Arc<SelfTestedEngine>>,
    /// Empty in a lazy accelerator until [`Accelerator::engines`] is called.
    engines: ForkSafeCell<Vec<EngineReport>>,
    /// The source of costs at first use, in a lazy accelerator.
    costs: Option<Arc<FirstUseCosts>>,
    absent: Vec<AbsentEngine>,
    calibration: Calibration,
    holders: Vec<Arc<dyn Holder>>,
}

impl Accelerator {
    /// Returns a builder. Make settings first, then call [`AcceleratorBuilder::build`].
    #[must_use]
    pub fn builder() -> AcceleratorBuilder {
        AcceleratorBuilder::default()
    }

    /// Returns an accelerator over every engine of this machine, with default settings.
    ///
    /// This call reads no file and no environment variable, and runs no self test: an engine proves a shape by known
    /// answers, and its cost is measured, when jobs first need it. The first batch of a shape therefore takes some
    /// milliseconds longer. [`AcceleratorBuilder::build`] without [`lazy`](AcceleratorBuilder::lazy) does all of this
    /// at once, and [`AcceleratorBuilder::cost_cache`] keeps measured costs between processes.
    ///
    /// # Errors
    /// Those of [`AcceleratorBuilder::build`].
    pub fn new() -> Result<Self, BuildError> {
        Self::builder().lazy().build()
    }

    /// True if both are clones of one accelerator.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.parts, &other.parts)
    }

    /// Submits one job. It runs on this thread if everything is idle and the job is cheap, and through the queue
    /// otherwise.
    ///
    /// Await the answer, or block with [`wait`](PendingAnswer::wait). With [`SubmitOptions::never_on_caller_thread`]
    /// no engine runs on this thread, so a short stack is enough.
    pub fn submit(&self, job: &Job<'_>, options: SubmitOptions) -> PendingAnswer {
        PendingAnswer(self.submit_many(std::slice::from_ref(job), options))
    }

    /// Submits jobs of any schemes together. They are answered together, in their order.
    pub fn submit_many(&self, jobs: &[Job<'_>], options: SubmitOptions) -> PendingAnswers {
        let mut groups = JobGroups::sort(jobs);
        let pending = groups.start(&self.dispatcher, options);
        PendingAnswers { answers: Some(groups.answers), pending }
    }

    /// Computes jobs of any schemes on this thread, in full batches and without a queue. Jobs of held keys wait for
    /// their holder.
    #[must_use]
    pub fn run_all(&self, jobs: &[Job<'_>]) -> Answers {
        let mut groups = JobGroups::sort(jobs);
        groups.run(&self.dispatcher);
        groups.answers.join_composites();
        groups.answers
    }

    /// Returns the calls for records: many short symmetric operations of one shape.
    #[must_use]
    pub fn records(&self) -> RecordCalls<'_> {
        RecordCalls(self)
    }

    /// Returns the calls for raw operations, without padding and encoding.
    #[must_use]
    pub fn raw(&self) -> RawCalls<'_> {
        RawCalls(self)
    }

    /// Submits a task of the caller, such as the generation of a key, to the threads for tasks.
    ///
    /// It is charged to its tenant as jobs are, by the predicted and then by the real time. Dropping the ticket drops
    /// a task that has not begun. The ticket carries no results: the task must pass them on itself.
    ///
    /// # Errors
    /// The tenant's backlog is full, and then [`JobError::Overloaded`] counts milliseconds; or no thread can be
    /// started.
    pub fn submit_task(
        &self,
        tenant: u64,
        predicted: Duration,
        task: impl FnOnce() + Send + 'static,
    ) -> Result<Ticket, JobError> {
        self.dispatcher.submit_task(tenant, predicted, task)
    }

    /// Returns the findings about each engine, the referee first.
    ///
    /// A [`lazy`](AcceleratorBuilder::lazy) accelerator now tests and measures everything that is still missing. That
    /// takes as long as building an accelerator that is not lazy.
    #[must_use]
    pub fn engines(&self) -> &[EngineReport] {
        self.parts.engines.get_or_make(|| self.reports(&proved_shapes()))
    }

    /// Returns the findings about one shape, of each engine that claims it, the referee first.
    ///
    /// A [`lazy`](AcceleratorBuilder::lazy) accelerator now tests and measures this shape, if nothing has before.
    #[must_use]
    pub fn engines_of(&self, shape: Shape) -> Vec<EngineReport> {
        let mut reports = match self.parts.engines.get() {
            Some(reports) => reports.clone(),
            None => self.reports(&[shape]),
        };
        reports.iter_mut().for_each(|engine| engine.shapes.retain(|report| report.shape == shape));
        reports.retain(|engine| !engine.shapes.is_empty());
        reports
    }

    fn reports(&self, shapes: &[Shape]) -> Vec<EngineReport> {
        let parts = &self.parts;
        let cost = |engine: &SelfTestedEngine, shape| engine.cost(shape, parts.costs.as_deref()?);
        let report =
            |engine: &Arc<SelfTestedEngine>| build::report(engine, shapes, |shape| cost(engine, shape));
        parts.proved.iter().map(report).collect()
    }

    /// Returns the names of the engines, the referee first. Nothing is tested.
    pub fn engine_names(&self) -> impl Iterator<Item = &'static str> {
        self.parts.proved.iter().map(|engine| engine.name())
    }

    /// Returns the number of bytes that engines may use for keys that recur.
    #[must_use]
    pub fn max_prepared_bytes(&self) -> usize {
        self.parts.proved.iter().map(|engine| engine.table_usage().max_bytes).sum()
    }

    /// Returns the self tests that have failed so far, by the name of the engine. The engine is not used for these
    /// shapes.
    #[must_use]
    pub fn failures(&self) -> Vec<(&'static str, Shape, SelfTestFailure)> {
        let of = |engine: &Arc<SelfTestedEngine>| -> Vec<_> {
            let failures = engine.failures();
            failures.map(|(shape, failure)| (engine.name(), shape, failure.clone())).collect()
        };
        self.parts.proved.iter().flat_map(of).collect()
    }

    /// Returns the engines that were allowed but are unavailable, with the reason.
    ///
    /// If none of the engines that [`AcceleratorBuilder::engines`] names is available, the scalar engine serves in
    /// their place.
    #[must_use]
    pub fn absent(&self) -> &[AbsentEngine] {
        &self.parts.absent
    }

    /// Returns the number of bytes that engines use for keys that recur, such as verification tables.
    #[must_use]
    pub fn prepared_bytes(&self) -> usize {
        self.parts.proved.iter().map(|engine| engine.table_usage().bytes).sum()
    }

    /// Returns the source of the cost model's first figures.
    #[must_use]
    pub fn calibration(&self) -> &Calibration {
        &self.parts.calibration
    }

    /// Returns the counters of the dispatcher.
    #[must_use]
    pub fn counters(&self) -> DispatchCounters {
        self.dispatcher.counters()
    }

    /// Returns histograms of batch sizes, of computing times and of waiting times.
    ///
    /// The records of [`RecordCalls`] are among the batches.
    #[must_use]
    pub fn histograms(&self) -> Histograms {
        self.dispatcher.histograms()
    }

    /// Returns the number of operations that wait now, by the name of a shape or of a holder. Every queue that ever
    /// existed is listed.
    #[must_use]
    pub fn queued(&self) -> Vec<(String, usize)> {
        self.dispatcher.queued()
    }

    /// Returns the engines that are quarantined now.
    #[must_use]
    pub fn quarantined(&self) -> Vec<Quarantined> {
        self.dispatcher.quarantined()
    }

    /// Returns the settings of the dispatcher.
    #[must_use]
    pub fn config(&self) -> &SchedulerConfig {
        self.dispatcher.config()
    }

    /// Returns the parts of an accelerator that only tests, benches and measurements need.
    #[must_use]
    pub fn diagnostics(&self) -> Diagnostics<'_> {
        Diagnostics(self)
    }
}

/// True if the job needs the private half, which is with the holder. Verification and encapsulation under the public
/// half of a held key are done here.
fn needs_holder(job: &Job<'_>) -> bool {
    let is_public = job.scheme.is_verification() || matches!(job.scheme, Scheme::MlKemEncaps { .. });
    !(is_public && job.key.parts().is_some())
}

/// A claim to the answer of one job.
///
/// Await it, or block with [`wait`](Self::wait). Dropping it cancels the job.
#[derive(Debug)]
#[must_use = "dropping it cancels the job"]
pub struct PendingAnswer(PendingAnswers);

impl PendingAnswer {
    /// Blocks until the job is answered.
    ///
    /// # Errors
    /// The error of the job. A signature that does not verify is [`JobError::Rejected`].
    pub fn wait(self) -> Result<AnswerBytes, JobError> {
        self.0.wait().into_single()
    }
}

impl Future for PendingAnswer {
    type Output = Result<AnswerBytes, JobError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(Answers::into_single)
    }
}

/// A claim to the answers of jobs that were submitted together.
///
/// Await it, or block with [`wait`](Self::wait). Dropping it cancels every job that has no answer yet.
#[derive(Debug)]
#[must_use = "dropping it cancels the jobs"]
pub struct PendingAnswers {
    /// `None` once taken.
    answers: Option<Answers>,
    pending: Vec<PendingGroup>,
}

impl PendingAnswers {
    /// Blocks until every job is answered.
    #[must_use]
    pub fn wait(mut self) -> Answers {
        let mut answers = self.answers.take().unwrap_or_default();
        for pending in self.pending {
            pending.wait(&mut answers);
        }
        answers.join_composites();
        answers
    }
}

impl Future for PendingAnswers {
    type Output = Answers;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answers> {
        let this = &mut *self;
        // Polled again after the end: a future may not panic for that, so it is empty.
        let Some(answers) = &mut this.answers else { return Poll::Ready(Answers::default()) };
        // Every group is polled, not only the first one that is not ready: each must know whom to wake.
        this.pending.retain_mut(|pending| !pending.poll(context, answers));
        if this.pending.is_empty() {
            answers.join_composites();
            Poll::Ready(this.answers.take().unwrap_or_default())
        } else {
            Poll::Pending
        }
    }
}
