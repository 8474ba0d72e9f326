//! Records of one shape as columns, for one call of the accelerator.

use std::borrow::Cow;

use oarlock::engine_api::erase;
use oarlock::{
    Accelerator, Column, InputSource, JobError, Key, KeySource, Outcomes, OutputSink, Records, Shape, Span,
    Status,
};

use crate::keys::{DerivationError, Keys};

/// The keys of one direction, as engines take them.
#[derive(Clone)]
pub(crate) struct RecordKeys {
    pub(crate) key: Key,
    /// The MAC's key. For an AEAD, which has none, it is the key again.
    pub(crate) mac_key: Key,
}

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
        Ok(Self { key, mac_key })
    }
}

/// One record for a batch.
pub(crate) struct BatchRecord<'a> {
    pub(crate) keys: &'a RecordKeys,
    pub(crate) iv: &'a [u8],
    pub(crate) aad: &'a [u8],
    /// The pieces of the input.
    pub(crate) input: &'a [&'a [u8]],
    pub(crate) output_len: usize,
    pub(crate) tag: BatchTag<'a>,
}

/// The tag of a record.
#[derive(Clone, Copy)]
pub(crate) enum BatchTag<'a> {
    /// A tag of so many bytes is made, behind the output.
    Made(usize),
    /// This tag is compared.
    Compared(&'a [u8]),
}

/// The batch has more bytes than columns can name.
#[derive(Debug)]
pub(crate) struct BatchIsFull;

/// Records of one shape, and their results.
#[derive(Default)]
pub(crate) struct ColumnBatch {
    keys: Vec<Key>,
    data: Vec<u8>,
    key: Vec<KeySource>,
    second_key: Vec<KeySource>,
    iv: Vec<Span>,
    aad: Vec<Span>,
    input: Vec<InputSource>,
    output: Vec<OutputSink>,
    tag: Vec<Span>,
    /// The output and the tag behind it.
    results: Vec<Span>,
    output_len: usize,
    outcomes: Outcomes,
}

impl ColumnBatch {
    /// Adds a record and returns its index.
    pub(crate) fn push(&mut self, record: &BatchRecord<'_>) -> Result<usize, BatchIsFull> {
        let (key, second_key) = self.push_keys(record.keys)?;
        let iv = self.push_data(&[record.iv])?;
        let aad = self.push_data(&[record.aad])?;
        let input = self.push_data(record.input)?;
        let output = self.push_output(record.output_len)?;
        let (tag, made) = match record.tag {
            BatchTag::Made(len) => (self.push_output(len)?, len),
            BatchTag::Compared(bytes) => (self.push_data(&[bytes])?, 0),
        };
        self.key.push(key);
        self.second_key.push(second_key);
        self.iv.push(iv);
        self.aad.push(aad);
        self.input.push(InputSource::Data(input));
        self.output.push(OutputSink::Output(output));
        self.tag.push(tag);
        let result = Span::new(output.start as usize, output.len as usize + made).ok_or(BatchIsFull)?;
        self.results.push(result);
        Ok(self.results.len() - 1)
    }

    /// Adds keys, unless the record before has the same ones.
    fn push_keys(&mut self, keys: &RecordKeys) -> Result<(KeySource, KeySource), BatchIsFull> {
        let is_same =
            matches!(&self.keys[..], [.., key, mac] if key.is_same(&keys.key) && mac.is_same(&keys.mac_key));
        if !is_same {
            self.keys.extend([keys.key.clone(), keys.mac_key.clone()]);
        }
        let last = u32::try_from(self.keys.len() - 1).map_err(|_| BatchIsFull)?;
        Ok((KeySource::Table(last - 1), KeySource::Table(last)))
    }

    fn push_data(&mut self, pieces: &[&[u8]]) -> Result<Span, BatchIsFull> {
        let len = pieces.iter().map(|piece| piece.len()).sum();
        let span = Span::new(self.data.len(), len).ok_or(BatchIsFull)?;
        for piece in pieces {
            self.data.extend_from_slice(piece);
        }
        Ok(span)
    }

    fn push_output(&mut self, len: usize) -> Result<Span, BatchIsFull> {
        let span = Span::new(self.output_len, len).ok_or(BatchIsFull)?;
        self.output_len += len;
        Ok(span)
    }

    /// Computes all records in one call.
    pub(crate) fn run(&mut self, accelerator: &Accelerator, shape: Shape) -> Result<(), JobError> {
        let records = Records {
            len: self.results.len(),
            keys: Cow::Borrowed(&self.keys),
            data: Cow::Borrowed(&self.data),
            output_len: self.output_len,
            key: Column::Each(Cow::Borrowed(&self.key)),
            second_key: Column::Each(Cow::Borrowed(&self.second_key)),
            iv: Column::Each(Cow::Borrowed(&self.iv)),
            aad: Column::Each(Cow::Borrowed(&self.aad)),
            input: Column::Each(Cow::Borrowed(&self.input)),
            output: Column::Each(Cow::Borrowed(&self.output)),
            tag: Column::Each(Cow::Borrowed(&self.tag)),
            ..Records::default()
        };
        accelerator.run_records_into(shape, &records, &mut self.outcomes)
    }

    /// Returns the output of a record and the tag behind it, or the status of a record that has none.
    pub(crate) fn result(&self, index: usize) -> Result<&[u8], Status> {
        match self.outcomes.statuses().get(index) {
            Some(Status::Done) => {
                let span = self.results.get(index).copied().unwrap_or_default();
                span.of(self.outcomes.bytes()).ok_or(Status::Malformed)
            }
            Some(status) => Err(*status),
            None => Err(Status::EngineFailed),
        }
    }

    /// Returns the associated data, the input and the tag of a record to open, as they were added.
    pub(crate) fn sealed_input(&self, index: usize) -> (&[u8], &[u8], &[u8]) {
        let of = |span: Option<Span>| span.and_then(|span| span.of(&self.data)).unwrap_or_default();
        let input = self.input.get(index).and_then(|source| match source {
            InputSource::Data(span) => Some(*span),
            InputSource::Slot(_) => None,
        });
        (of(self.aad.get(index).copied()), of(input), of(self.tag.get(index).copied()))
    }

    /// Empties the batch and keeps its memory.
    pub(crate) fn clear(&mut self) {
        // Inputs are plaintexts in one direction.
        erase(&mut self.data);
        self.keys.clear();
        self.key.clear();
        self.second_key.clear();
        self.iv.clear();
        self.aad.clear();
        self.input.clear();
        self.output.clear();
        self.tag.clear();
        self.results.clear();
        self.output_len = 0;
    }

    /// Returns the number of records.
    pub(crate) fn len(&self) -> usize {
        self.results.len()
    }
}

impl Drop for ColumnBatch {
    fn drop(&mut self) {
        erase(&mut self.data);
    }
}

/// Computes one record and passes its output and tag on.
pub(crate) fn run_one<T>(
    batch: &mut ColumnBatch,
    accelerator: &Accelerator,
    shape: Shape,
    record: &BatchRecord<'_>,
    use_result: impl FnOnce(&[u8]) -> T,
) -> Result<T, Status> {
    // A single record is never larger than a batch.
    batch.push(record).map_err(|BatchIsFull| Status::Malformed)?;
    let result = match batch.run(accelerator, shape) {
        Ok(()) => batch.result(0).map(use_result),
        Err(error) => Err(status_of(&error)),
    };
    batch.clear();
    result
}

/// Returns the status that stands for a batch that did not run at all.
pub(crate) fn status_of(error: &JobError) -> Status {
    match error {
        JobError::Unsupported { .. } => Status::Unsupported,
        JobError::Malformed { .. } => Status::Malformed,
        _ => Status::EngineFailed,
    }
}
