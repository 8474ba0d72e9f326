//! The route of a computation: at once on this thread, or through the queue of the accelerator.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use oarlock::engine_api::{ColumnValue, OperationSet};
use oarlock::{
    Accelerator, AnswerBytes, Column, InputSource, Job, JobError, KeyHome, Outcomes, Records, Results,
    SecretSlots, Shape, SubmitOptions,
};
use zeroize::Zeroize;

use crate::constants::ReturnCode;

/// The route of a computation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ComputeRoute<'a> {
    /// On this thread, for a caller that waits. Only the holder of a held key is waited for, and that by blocking.
    Here(&'a Accelerator),
    /// Through the queue, for an asynchronous session: computations of many sessions share a batch.
    Queue(&'a Accelerator),
}

impl<'a> ComputeRoute<'a> {
    /// Returns the accelerator.
    pub(crate) fn accelerator(self) -> &'a Accelerator {
        match self {
            Self::Here(accelerator) | Self::Queue(accelerator) => accelerator,
        }
    }

    /// Computes a job.
    pub(crate) async fn job(self, job: &Job<'_>) -> Result<AnswerBytes, JobError> {
        match self {
            Self::Here(accelerator) => accelerator.submit(job, SubmitOptions::default()).wait(),
            Self::Queue(accelerator) => accelerator.submit(job, queue_options()).await,
        }
    }

    /// Computes raw operations of one shape.
    pub(crate) async fn operations(self, set: OperationSet) -> Result<Results, JobError> {
        match self {
            Self::Here(accelerator) => Ok(accelerator.run_operations(&set)),
            Self::Queue(accelerator) => Ok(accelerator.submit_operations(set, queue_options())?.await),
        }
    }

    /// Computes records of one shape.
    pub(crate) async fn records(self, shape: Shape, records: &Records<'_>) -> Result<Outcomes, JobError> {
        match self {
            Self::Here(accelerator) => accelerator.run_records(shape, records),
            // Records at a server have no queue here, so an asynchronous session waits for them too.
            Self::Queue(accelerator) if records.keys.iter().any(|key| key.home() != &KeyHome::Local) => {
                accelerator.run_records(shape, records)
            }
            Self::Queue(accelerator) => {
                let len = records.len;
                let owned =
                    detach(records).ok_or(JobError::Malformed { what: "a record is not in its buffer" })?;
                let results = accelerator.submit_records(shape, owned, queue_options())?.await;
                if results.outcomes().len() == len {
                    Ok(results.into_outcomes())
                } else {
                    // No record was computed, and each has the same error.
                    Err(results.get(0).err().unwrap_or(JobError::Cancelled))
                }
            }
        }
    }

    /// Runs a task that uses no engine, such as the generation of a key. `predicted` is its usual time.
    pub(crate) async fn task<T: Send + 'static>(
        self,
        predicted: Duration,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JobError> {
        let Self::Queue(accelerator) = self else { return Ok(task()) };
        let answer = Arc::new(Mutex::new(None));
        let own = Arc::clone(&answer);
        let run = move || *own.lock().unwrap_or_else(PoisonError::into_inner) = Some(task());
        let results = accelerator.submit_task(0, predicted, run)?.await;
        let answer = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        answer.ok_or_else(|| results.get(0).err().unwrap_or(JobError::Cancelled))
    }
}

/// Returns the result of a computation on the route [`ComputeRoute::Here`].
pub(crate) fn compute_here<T>(
    computation: impl Future<Output = Result<T, ReturnCode>>,
) -> Result<T, ReturnCode> {
    match pin!(computation).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        // Nothing on that route awaits.
        Poll::Pending => Err(ReturnCode::GeneralError),
    }
}

fn queue_options() -> SubmitOptions {
    // Computing on the caller's thread would make it wait for one computation after the other.
    SubmitOptions::default().with_never_on_caller_thread(true).with_coalesce(true)
}

/// Returns records that own everything. Their inputs move to secret slots, because the queue does not zeroize data.
fn detach(records: &Records<'_>) -> Option<Records<'static>> {
    let len = records.len;
    let spans: Vec<_> = records.input.cursor().take(len).map(span_of).collect::<Option<_>>()?;
    let lens: Vec<u32> = spans.iter().map(|span| span.len).collect();
    let mut slots = SecretSlots::with_capacities(&lens)?;
    let mut data = records.data.to_vec();
    for (slot, span) in (0..).zip(&spans) {
        let input = span.of_mut(&mut data)?;
        slots.fill(slot, input.len())?.copy_from_slice(input);
        input.zeroize();
    }
    let inputs: Vec<_> = (0..).take(len).map(InputSource::Slot).collect();
    Some(Records {
        len,
        keys: records.keys.to_vec().into(),
        data: data.into(),
        output_len: records.output_len,
        slots: std::borrow::Cow::Owned(slots),
        iv: own(&records.iv, len),
        aad: own(&records.aad, len),
        input: Column::from(inputs),
        output: own(&records.output, len),
        tag: own(&records.tag, len),
        ..Records::default()
    })
}

fn span_of(input: InputSource) -> Option<oarlock::Span> {
    match input {
        InputSource::Data(span) => Some(span),
        InputSource::Slot(_) => None,
    }
}

fn own<T: ColumnValue + PartialEq>(column: &Column<'_, T>, len: usize) -> Column<'static, T> {
    match column {
        Column::One(value) => Column::One(*value),
        other => other.cursor().take(len).collect::<Vec<_>>().into(),
    }
}
