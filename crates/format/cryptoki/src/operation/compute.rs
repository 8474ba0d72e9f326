//! The computation of a step: planned as a value, and then computed on this thread or through the queue.

use std::borrow::Cow;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use oarlock::engine_api::{ColumnValue, OperationSet, erase};
use oarlock::engine_api::{Results, Ticket};
use oarlock::{
    Accelerator, Column, Input, InputSource, Job, JobError, Key, KeyHome, Outcomes, PendingAnswer, Records,
    Scheme, SecretSlots, Shape, SubmitOptions,
};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use super::derive::KeyStretch;
use super::failure::{FailureRule, to_return_code};
use super::padding::unpadded_len;
use super::pieces::WholeMessage;
use super::record::check_status;
use crate::constants::ReturnCode;

/// The bytes that a computation yields, or the reason why it yields none.
pub(crate) type ComputedBytes = Result<Zeroizing<Vec<u8>>, ReturnCode>;

/// The computation of one step. Nothing is computed until [`run`](Self::run) or [`submit`](Self::submit).
pub(crate) struct Computation<'a> {
    kind: ComputationKind<'a>,
    rule: FailureRule,
    finish: Finish,
}

/// The part of an engine or a holder in a computation.
enum ComputationKind<'a> {
    /// None: the output is known.
    Done(ComputedBytes),
    Job(PlannedJob<'a>),
    /// One raw operation.
    Operation(OperationSet),
    Records(Shape, Box<SecretRecords<'a>>),
}

/// A scheme with its inputs.
pub(crate) struct PlannedJob<'a> {
    pub(crate) scheme: Scheme,
    pub(crate) key: &'a Key,
    pub(crate) input: WholeMessage<'a>,
    /// True if the input is the digest of a message.
    pub(crate) is_digest: bool,
    /// The signature to verify or the OAEP label, else empty.
    pub(crate) second: &'a [u8],
    /// The context of ML-DSA, else empty.
    pub(crate) context: &'a [u8],
}

/// Records whose data are overwritten on drop if they are not the caller's.
pub(crate) struct SecretRecords<'a>(pub(crate) Records<'a>);

/// The step from the bytes of an engine or a holder to those of the function.
pub(crate) enum Finish {
    /// They are the same.
    Whole,
    /// `len` bytes from `start` on.
    Cut { start: usize, len: usize },
    /// The bytes before the padding of PKCS#7.
    Unpad,
    /// A MAC that must begin with this one. No bytes are left.
    CompareMac(Vec<u8>),
    /// The message of a signature of bare RSA, which must be this one. No bytes are left.
    CompareMessage(Zeroizing<Vec<u8>>),
    /// A key of the secret that was agreed on.
    Stretch(KeyStretch),
}

/// A computation in the queue.
enum Queued {
    Done(ComputedBytes),
    Job(PendingAnswer),
    Operation(Ticket),
    Records { shape: Shape, len: usize, ticket: Ticket },
}

impl<'a> Computation<'a> {
    /// Returns a computation that has its output already.
    pub(crate) fn done(output: ComputedBytes) -> Self {
        // The rule is for errors of engines, and here no engine takes part.
        Self { kind: ComputationKind::Done(output), rule: FailureRule::SIGN, finish: Finish::Whole }
    }

    /// Returns a computation without any output.
    pub(crate) fn nothing() -> Self {
        Self::done(Ok(Zeroizing::default()))
    }

    pub(crate) fn job(job: PlannedJob<'a>, rule: FailureRule) -> Self {
        Self { kind: ComputationKind::Job(job), rule, finish: Finish::Whole }
    }

    pub(crate) fn operation(set: OperationSet, rule: FailureRule) -> Self {
        Self { kind: ComputationKind::Operation(set), rule, finish: Finish::Whole }
    }

    pub(crate) fn records(shape: Shape, records: Records<'a>, rule: FailureRule) -> Self {
        Self {
            kind: ComputationKind::Records(shape, Box::new(SecretRecords(records))),
            rule,
            finish: Finish::Whole,
        }
    }

    pub(crate) fn with_finish(self, finish: Finish) -> Self {
        Self { finish, ..self }
    }

    /// Computes on this thread, for a caller that waits. The holder of a held key is waited for.
    pub(crate) fn run(self, accelerator: &Accelerator) -> ComputedBytes {
        let Self { kind, rule, finish } = self;
        finish.apply(kind.run(accelerator, rule))
    }

    /// Submits to the queue, where computations of many sessions share a batch. The inputs are copied.
    pub(crate) fn submit(
        self,
        accelerator: &Accelerator,
    ) -> impl Future<Output = ComputedBytes> + Send + use<> {
        let Self { kind, rule, finish } = self;
        // Submitted now and not at the first poll, so that computations of other sessions join the batch meanwhile.
        let queued = kind.submit(accelerator, rule).unwrap_or_else(|code| Queued::Done(Err(code)));
        async move { finish.apply(queued.output(rule).await) }
    }
}

impl ComputationKind<'_> {
    fn run(self, accelerator: &Accelerator, rule: FailureRule) -> ComputedBytes {
        let failed = |error: JobError| to_return_code(&error, rule);
        match self {
            Self::Done(output) => output,
            Self::Job(job) => accelerator.submit(&job.as_job(), job.waiting_options()).wait().map_err(failed),
            Self::Operation(set) => first_result(&accelerator.raw().run(&set), rule),
            Self::Records(shape, records) => {
                all_outputs(&accelerator.records().run(shape, &records.0).map_err(failed)?, shape, rule)
            }
        }
    }

    fn submit(self, accelerator: &Accelerator, rule: FailureRule) -> Result<Queued, ReturnCode> {
        let failed = |error: JobError| to_return_code(&error, rule);
        // Computing on the caller's thread would make it wait for one computation after the other.
        let options = SubmitOptions::default().with_never_on_caller_thread(true).with_coalesce(true);
        match self {
            Self::Job(job) => Ok(Queued::Job(accelerator.submit(&job.as_job(), options))),
            Self::Operation(set) => {
                accelerator.raw().submit(set, options).map(Queued::Operation).map_err(failed)
            }
            Self::Records(shape, records) if records.are_local() => {
                let len = records.0.len;
                let records = records.detach().ok_or(ReturnCode::FunctionFailed)?;
                let ticket = accelerator.records().submit(shape, records, options).map_err(failed)?;
                Ok(Queued::Records { shape, len, ticket })
            }
            // Records at a server have no queue here, so an asynchronous session waits for them too.
            kind => Ok(Queued::Done(kind.run(accelerator, rule))),
        }
    }
}

impl Queued {
    async fn output(self, rule: FailureRule) -> ComputedBytes {
        match self {
            Self::Done(output) => output,
            Self::Job(answer) => answer.await.map_err(|error| to_return_code(&error, rule)),
            Self::Operation(ticket) => first_result(&ticket.await, rule),
            Self::Records { shape, len, ticket } => {
                let results = ticket.await;
                if results.outcomes().len() != len {
                    // No record was computed, and each has the same error.
                    return Err(to_return_code(&refusal(&results), rule));
                }
                all_outputs(results.outcomes(), shape, rule)
            }
        }
    }
}

impl Finish {
    fn apply(self, output: ComputedBytes) -> ComputedBytes {
        match self {
            Self::Whole => output,
            Self::Cut { start, len } => output.map(|mut bytes| {
                bytes.truncate(start + len);
                bytes.drain(..start);
                bytes
            }),
            Self::Unpad => {
                let mut bytes = output?;
                let len = unpadded_len(&bytes)?;
                bytes.truncate(len);
                Ok(bytes)
            }
            Self::CompareMac(expected) => compare_mac(&output?, &expected).map(|()| Zeroizing::default()),
            Self::CompareMessage(message) => compare_message(output, &message).map(|()| Zeroizing::default()),
            Self::Stretch(stretch) => stretch.apply(output),
        }
    }
}

/// Compares a MAC, which may be longer than the mechanism's, with that of the caller.
///
/// # Errors
/// [`ReturnCode::SignatureInvalid`].
pub(crate) fn compare_mac(found: &[u8], expected: &[u8]) -> Result<(), ReturnCode> {
    // In constant time: otherwise a forger learns byte by byte how much of a guess is right.
    let is_equal = found.get(..expected.len()).is_some_and(|found| found.ct_eq(expected).into());
    if is_equal { Ok(()) } else { Err(ReturnCode::SignatureInvalid) }
}

/// Compares a message with the one that a signature of bare RSA contains.
///
/// # Errors
/// [`ReturnCode::SignatureInvalid`].
pub(crate) fn compare_message(found: ComputedBytes, message: &[u8]) -> Result<(), ReturnCode> {
    let found = found.map_err(|code| match code {
        // A signature that is not below the modulus is a bad one.
        ReturnCode::DataInvalid => ReturnCode::SignatureInvalid,
        code => code,
    })?;
    // RSA works on integers, so a message that is shorter than the modulus comes back with zeros before it.
    let zeros = found.len().checked_sub(message.len()).ok_or(ReturnCode::DataLenRange)?;
    compare_mac(&found, &[&vec![0; zeros][..], message].concat())
}

fn first_result(results: &Results, rule: FailureRule) -> ComputedBytes {
    let result = results.get(0).map_err(|error| to_return_code(&error, rule))?;
    Ok(Zeroizing::new(result.to_vec()))
}

/// Returns the outputs of all records, side by side.
fn all_outputs(outcomes: &Outcomes, shape: Shape, rule: FailureRule) -> ComputedBytes {
    // The records are parts of one message, so the error of one is the error of all.
    outcomes.statuses().iter().try_for_each(|status| check_status(*status, shape, rule))?;
    // Only a lone record has an output that is shorter than its span.
    let len = outcomes.short_len(0, 0).unwrap_or(outcomes.bytes().len());
    Ok(Zeroizing::new(outcomes.bytes().get(..len).unwrap_or_default().to_vec()))
}

fn refusal(results: &Results) -> JobError {
    results.get(0).err().unwrap_or(JobError::Cancelled)
}

impl PlannedJob<'_> {
    pub(crate) fn as_job(&self) -> Job<'_> {
        let input = if self.is_digest { Input::Digest(&self.input) } else { Input::Message(&self.input) };
        Job::with_scheme(self.scheme, self.key, input, self.second).context(self.context)
    }

    /// Returns how a caller that waits submits the job.
    fn waiting_options(&self) -> SubmitOptions {
        SubmitOptions::default().with_never_on_caller_thread(self.is_deep())
    }

    /// True if the computation takes more stack than a caller may have.
    pub(crate) fn is_deep(&self) -> bool {
        matches!(
            self.scheme,
            Scheme::MlKemEncaps { .. }
                | Scheme::MlKemDecaps { .. }
                | Scheme::MlDsaSign { .. }
                | Scheme::MlDsaVerify { .. }
        )
    }
}

impl SecretRecords<'_> {
    fn are_local(&self) -> bool {
        self.0.keys.iter().all(|key| key.home() == &KeyHome::Local)
    }

    /// Returns records that own everything, or `None` if an input is not in the data. Inputs move to secret slots,
    /// because the queue does not zeroize data.
    fn detach(mut self) -> Option<Records<'static>> {
        let mut data = std::mem::take(&mut self.0.data).into_owned();
        let records = &self.0;
        let len = records.len;
        let spans = records.input.cursor().take(len).map(|input| match input {
            InputSource::Data(span) => Some(span),
            InputSource::Slot(_) => None,
        });
        let spans: Vec<_> = spans.collect::<Option<_>>()?;
        let lens: Vec<u32> = spans.iter().map(|span| span.len).collect();
        let mut slots = SecretSlots::with_capacities(&lens)?;
        for (slot, span) in (0..).zip(&spans) {
            let input = span.slice_mut(&mut data)?;
            slots.fill(slot, input.len())?.copy_from_slice(input);
            // What is left of `data` is public: IVs, associated data and tags.
            input.zeroize();
        }
        let inputs: Vec<_> = (0..).take(len).map(InputSource::Slot).collect();
        Some(Records {
            len,
            keys: records.keys.to_vec().into(),
            data: data.into(),
            output_len: records.output_len,
            slots: Cow::Owned(slots),
            iv: detach_column(&records.iv, len),
            aad: detach_column(&records.aad, len),
            input: Column::from(inputs),
            output: detach_column(&records.output, len),
            tag: detach_column(&records.tag, len),
            ..Records::default()
        })
    }
}

impl Drop for SecretRecords<'_> {
    fn drop(&mut self) {
        if let Cow::Owned(data) = &mut self.0.data {
            // `Zeroizing` writes byte by byte, which costs as much as the encryption.
            erase(data);
        }
    }
}

fn detach_column<T: ColumnValue + PartialEq>(column: &Column<'_, T>, len: usize) -> Column<'static, T> {
    match column {
        Column::One(value) => Column::One(*value),
        other => other.cursor().take(len).collect::<Vec<_>>().into(),
    }
}

/// Submits a task that uses no engine, such as the generation of a key, to the threads for tasks. `predicted` is its
/// usual time.
pub(crate) fn submit_task<T, F>(
    accelerator: &Accelerator,
    predicted: Duration,
    task: F,
) -> impl Future<Output = Result<T, ReturnCode>> + Send + use<T, F>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, ReturnCode> + Send + 'static,
{
    // The ticket of a task has no value, so the result comes through this slot.
    let answer = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&answer);
    let run = move || *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(task());
    let ticket = accelerator.submit_task(0, predicted, run);
    async move {
        let failed = |error| to_return_code(&error, FailureRule::SIGN);
        let results = ticket.map_err(failed)?.await;
        let answer = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Without an answer the task has not run, and the ticket has the reason.
        answer.unwrap_or_else(|| Err(failed(refusal(&results))))
    }
}
