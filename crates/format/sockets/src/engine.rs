//! A record that the accelerator seals or opens.

use std::borrow::Cow;

use oarlock::engine_api::erase;
use oarlock::{
    Accelerator, Column, InputSource, JobError, Key, KeySource, Outcomes, OutputSink, Records, Shape, Span,
    Status,
};

use crate::keys::{DerivationError, Keys};

/// The keys of one direction, as engines take them: the cipher's and the MAC's. An AEAD has one key, twice.
pub(crate) struct RecordKeys([Key; 2]);

impl RecordKeys {
    pub(crate) fn new(keys: &Keys) -> Result<Self, DerivationError> {
        let suite = keys.suite;
        let import = |bytes: &oarlock::SecretBytes, what, expected| {
            let length = |_| DerivationError::Length { suite, what, expected, found: bytes.len() };
            oarlock::keys::raw::secret(bytes.clone()).map_err(length)
        };
        let key = import(&keys.key, "key", suite.key_len())?;
        let mac_key = match suite.mac_key_len() {
            0 => key.clone(),
            len => import(&keys.mac_key, "MAC key", len)?,
        };
        Ok(Self([key, mac_key]))
    }
}

/// A record as an engine takes it.
pub(crate) struct EngineRecord<'a> {
    pub(crate) keys: &'a RecordKeys,
    pub(crate) iv: &'a [u8],
    pub(crate) aad: &'a [u8],
    /// The pieces of the input.
    pub(crate) input: &'a [&'a [u8]],
    pub(crate) output_len: usize,
    pub(crate) tag: RecordTag<'a>,
}

/// The tag of a record.
#[derive(Clone, Copy)]
pub(crate) enum RecordTag<'a> {
    /// A tag of so many bytes is made, behind the output.
    Made(usize),
    /// This tag is compared.
    Compared(&'a [u8]),
}

/// Memory for the inputs and the outputs of a record, which the next record uses again.
#[derive(Default)]
pub(crate) struct EngineScratch {
    data: Vec<u8>,
    outcomes: Outcomes,
}

impl EngineScratch {
    /// Computes a record and passes its output, with the tag that is made behind it, to `use_result`.
    pub(crate) fn run<T>(
        &mut self,
        accelerator: &Accelerator,
        shape: Shape,
        record: &EngineRecord<'_>,
        use_result: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, Status> {
        let computed = self.compute(accelerator, shape, record);
        // Inputs are plaintexts in one direction.
        erase(&mut self.data);
        computed?;
        match self.outcomes.statuses() {
            [Status::Done] => Ok(use_result(self.outcomes.bytes())),
            [status] => Err(*status),
            _ => Err(Status::EngineFailed),
        }
    }

    fn compute(
        &mut self,
        accelerator: &Accelerator,
        shape: Shape,
        record: &EngineRecord<'_>,
    ) -> Result<(), Status> {
        let iv = self.push(&[record.iv])?;
        let aad = self.push(&[record.aad])?;
        let input = self.push(record.input)?;
        let output = Span::new(0, record.output_len).ok_or(Status::Malformed)?;
        let (tag, made_len) = match record.tag {
            RecordTag::Made(len) => (Span::new(record.output_len, len).ok_or(Status::Malformed)?, len),
            RecordTag::Compared(bytes) => (self.push(&[bytes])?, 0),
        };
        let records = Records {
            len: 1,
            keys: Cow::Borrowed(&record.keys.0),
            data: Cow::Borrowed(&self.data),
            output_len: record.output_len + made_len,
            key: Column::One(KeySource::Table(0)),
            second_key: Column::One(KeySource::Table(1)),
            iv: Column::One(iv),
            aad: Column::One(aad),
            input: Column::One(InputSource::Data(input)),
            output: Column::One(OutputSink::Output(output)),
            tag: Column::One(tag),
            ..Records::default()
        };
        accelerator.records().run_into(shape, &records, &mut self.outcomes).map_err(|error| status_of(&error))
    }

    fn push(&mut self, pieces: &[&[u8]]) -> Result<Span, Status> {
        let len = pieces.iter().map(|piece| piece.len()).sum();
        let span = Span::new(self.data.len(), len).ok_or(Status::Malformed)?;
        // Memory that grows between two pieces would leave a copy of the first.
        self.data.reserve(len);
        for piece in pieces {
            self.data.extend_from_slice(piece);
        }
        Ok(span)
    }
}

impl Drop for EngineScratch {
    fn drop(&mut self) {
        erase(&mut self.data);
    }
}

/// Returns the status that stands for a record that did not run at all.
fn status_of(error: &JobError) -> Status {
    match error {
        JobError::Unsupported { .. } => Status::Unsupported,
        JobError::Malformed { .. } => Status::Malformed,
        _ => Status::EngineFailed,
    }
}
