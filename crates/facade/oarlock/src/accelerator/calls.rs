//! Calls for records and for raw operations, apart from those for jobs.

use oarlock_core::{Batch, HeldOutcomes, JobError, OperationSet, Outcomes, Records, Shape};
use oarlock_dispatch::{Results, SubmitOptions, Ticket};

use super::{Accelerator, held_batches};

/// The calls of an [`Accelerator`] for records: many short symmetric operations of one shape.
#[derive(Clone, Copy, Debug)]
pub struct RecordCalls<'a>(pub(super) &'a Accelerator);

impl RecordCalls<'_> {
    /// Computes records of one shape on this thread. Records of held keys wait for their holder.
    ///
    /// # Errors
    /// A column does not cover the records, no engine offers the shape, or the holder failed. A bad record has a status
    /// and is no error.
    pub fn run(self, shape: Shape, records: &Records<'_>) -> Result<Outcomes, JobError> {
        match held_batches::find_holder(&self.0.parts.holders, &records.keys)? {
            Some(holder) => held_batches::run_records(holder, shape, records),
            None => self.0.dispatcher.run_records(shape, records),
        }
    }

    /// Computes records as [`run`](Self::run) does, into the memory of an earlier outcome.
    ///
    /// For many short records, new memory costs as much as the computation. The outcome is empty on an error.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    pub fn run_into(
        self,
        shape: Shape,
        records: &Records<'_>,
        outcomes: &mut Outcomes,
    ) -> Result<(), JobError> {
        if let Some(holder) = held_batches::find_holder(&self.0.parts.holders, &records.keys)? {
            // Emptied first, so that an error leaves nothing of an earlier call.
            *outcomes = Outcomes::default();
            *outcomes = held_batches::run_records(holder, shape, records)?;
            return Ok(());
        }
        self.0.dispatcher.run_records_into(shape, records, outcomes)
    }

    /// Submits records of one shape to the queue. Their keys are local: [`run`](Self::run) takes held ones.
    ///
    /// # Errors
    /// Those of [`run`](Self::run), and [`JobError::Overloaded`] if the tenant's queue is full.
    pub fn submit(
        self,
        shape: Shape,
        records: Records<'static>,
        options: SubmitOptions,
    ) -> Result<Ticket, JobError> {
        self.0.dispatcher.submit_records(shape, records, options)
    }

    /// Computes a batch of mixed tasks whose keys all live with one holder, and waits for it. The key columns name keys
    /// by their index in the keys of the records.
    ///
    /// # Errors
    /// The keys have several homes, this accelerator does not have the holder, or those of
    /// [`Holder::run_batch`](crate::engine_api::Holder::run_batch).
    pub fn run_held(self, batch: &Batch<'_>) -> Result<HeldOutcomes, JobError> {
        let holder = held_batches::find_holder(&self.0.parts.holders, &batch.records.keys)?;
        let missing = JobError::Malformed { what: "the keys of the batch do not live with a known holder" };
        held_batches::run_batch(holder.ok_or(missing)?, batch)
    }
}

/// The calls of an [`Accelerator`] for raw operations, without padding and encoding.
///
/// They are for libraries that have a padding or an encoding of their own, such as bare RSA in PKCS#11. Results pass
/// the same release checks as those of jobs. If a [`Scheme`](crate::Scheme) fits, a [`Job`](crate::Job) is safer: it
/// pads and encodes by itself.
///
/// ```
/// use oarlock::engine_api::{OperationSet, SecondInput};
///
/// let accelerator = oarlock::Accelerator::new()?;
/// let key = oarlock::keys::generate::rsa(2048)?;
/// let shape = key.rsa_public_shape().ok_or("not an RSA key")?;
/// let mut set = OperationSet::new(shape);
/// let mut one = vec![0; 256];
/// one[255] = 1;
/// set.push(&key, &one, SecondInput::None)?;
/// assert_eq!(accelerator.raw().run(&set).get(0)?, one);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RawCalls<'a>(pub(super) &'a Accelerator);

impl RawCalls<'_> {
    /// Computes operations of one shape on this thread, in full batches and without a queue.
    #[must_use]
    pub fn run(self, set: &OperationSet) -> Results {
        self.0.dispatcher.run_all(set)
    }

    /// Submits operations of one shape to the queue. They may share batches with jobs and other submissions.
    ///
    /// # Errors
    /// No engine offers the shape, it is a shape of records, or the tenant's queue is full.
    pub fn submit(self, set: OperationSet, options: SubmitOptions) -> Result<Ticket, JobError> {
        self.0.dispatcher.submit_many(set, options)
    }
}
