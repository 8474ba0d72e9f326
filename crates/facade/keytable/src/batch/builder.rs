//! A batch made record by record, in memory that later batches use again.

use std::fmt;

use oarlock_core::Direction::{Decrypt, Encrypt};
use oarlock_core::{
    Batch, BatchTask, ChainOrder, Column, ColumnValue, InputSource, IvSource, JobError, Key, KeySource,
    OutputSink, Records, Shape, Span, WrapAlg, erase, mte_sealed_len, reserve_erasing,
};

/// Makes a [`Batch`] record by record.
///
/// Inputs are copied side by side, and results lie in the order of the records. A record needs no allocation of its
/// own, and [`clear`](BatchBuilder::clear) keeps the memory for the next batch.
///
/// ```
/// use oarlock_keytable::{BatchBuilder, BatchEntry, EntryIv, BatchTask};
/// use oarlock::BlockCipher;
/// use oarlock_keytable::{KeyAlgorithm, IvRule, KeyTable, KeyType, KeyOperation, KeyPolicy};
/// use oarlock::Accelerator;
///
/// let table = KeyTable::new();
/// let policy = KeyPolicy::new().allow([KeyOperation::Encrypt]).with([KeyAlgorithm::Cbc]).ivs([IvRule::Random]);
/// let key = table.insert("pins", KeyType::Tdes2, &b"sixteen byte key"[..], policy)?.index;
///
/// let mut batch = BatchBuilder::new();
/// let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Tdes2)).key(key).iv(EntryIv::Generated);
/// let first = batch.add(encrypt.input(b"8 bytes."))?;
/// let other = batch.add(encrypt.input(b"7 bytes"))?;
///
/// let accelerator = Accelerator::builder().engines(["scalar"]).build()?;
/// let outcome = table.run(&accelerator, &batch.batch())?;
/// assert_eq!(outcome.result(&batch.batch(), first).unwrap().len(), 8);
/// assert_eq!(outcome.iv(&batch.batch(), first).unwrap().len(), 8);
/// let error = outcome.error(&table, &batch.batch(), other).unwrap();
/// assert!(error.to_string().contains("expected a multiple of 8 bytes"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct BatchBuilder {
    len: usize,
    data: Vec<u8>,
    output_len: usize,
    keys: Vec<Key>,
    slots: Vec<u32>,
    task: GrowingColumn<BatchTask>,
    key: GrowingColumn<KeySource>,
    second_key: GrowingColumn<KeySource>,
    iv: GrowingColumn<Span>,
    second_iv: GrowingColumn<Span>,
    iv_from: GrowingColumn<IvSource>,
    second_iv_from: GrowingColumn<IvSource>,
    aad: GrowingColumn<Span>,
    input: GrowingColumn<InputSource>,
    output: GrowingColumn<OutputSink>,
    tag: GrowingColumn<Span>,
}

/// One record for a [`BatchBuilder`].
#[derive(Clone, Copy)]
pub struct BatchEntry<'e> {
    task: BatchTask,
    key: KeySource,
    second_key: KeySource,
    iv: EntryIv<'e>,
    second_iv: EntryIv<'e>,
    aad: Option<&'e [u8]>,
    input: EntryInput<'e>,
    output: EntryOutput,
    tag: &'e [u8],
}

/// The source of a record's input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum EntryInput<'e> {
    /// These bytes.
    Here(&'e [u8]),
    /// In a slot that an earlier record fills.
    Slot(u32),
}

/// The source of a record's IV.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum EntryIv<'e> {
    /// These bytes.
    Bytes(&'e [u8]),
    /// A slot that an earlier record fills.
    Slot(u32),
    /// Zeros.
    Zero,
    /// The leading bytes of the key.
    KeyItself,
    /// A new IV, made as the key's policy says. [`BatchOutcome::iv`](super::BatchOutcome::iv) returns it.
    Generated,
    /// A new IV, made as the key's policy says and written to a slot.
    GeneratedInto(u32),
}

/// The target of a record's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryOutput {
    /// The output. [`BatchOutcome::result`](super::BatchOutcome::result) returns the result.
    Output,
    /// The output, for the first bytes of the result only, such as a truncated MAC.
    Leading(u32),
    /// A slot, for a later record.
    Slot(u32),
}

impl<'e> BatchEntry<'e> {
    /// Creates a record without input, key or IV.
    #[must_use]
    pub fn new(task: BatchTask) -> Self {
        Self {
            task,
            key: KeySource::Table(0),
            second_key: KeySource::Table(0),
            iv: EntryIv::Bytes(&[]),
            second_iv: EntryIv::Bytes(&[]),
            aad: None,
            input: EntryInput::Here(&[]),
            output: EntryOutput::Output,
            tag: &[],
        }
    }

    /// Changes the task.
    #[must_use]
    pub fn task(self, task: BatchTask) -> Self {
        Self { task, ..self }
    }

    /// Sets the key: the table's key at an index.
    #[must_use]
    pub fn key(self, index: u32) -> Self {
        self.key_from(KeySource::Table(index))
    }

    /// Sets the key: one of the table, of the caller ([`BatchBuilder::outside_key`]) or from a slot.
    #[must_use]
    pub fn key_from(self, key: KeySource) -> Self {
        Self { key, ..self }
    }

    /// Sets the key of the encrypting half of a translation: the table's key at an index.
    #[must_use]
    pub fn second_key(self, index: u32) -> Self {
        self.second_key_from(KeySource::Table(index))
    }

    /// Sets the key of the encrypting half of a translation, from any source.
    #[must_use]
    pub fn second_key_from(self, second_key: KeySource) -> Self {
        Self { second_key, ..self }
    }

    /// Sets the IV.
    #[must_use]
    pub fn iv(self, iv: EntryIv<'e>) -> Self {
        Self { iv, ..self }
    }

    /// Sets the IV of the encrypting half of a translation.
    #[must_use]
    pub fn second_iv(self, second_iv: EntryIv<'e>) -> Self {
        Self { second_iv, ..self }
    }

    /// Sets the associated data. AES-SIV tells an empty string from no associated data.
    #[must_use]
    pub fn aad(self, aad: &'e [u8]) -> Self {
        Self { aad: Some(aad), ..self }
    }

    /// Sets the associated data, or removes it.
    #[must_use]
    pub fn aad_if_any(self, aad: Option<&'e [u8]>) -> Self {
        Self { aad, ..self }
    }

    /// Sets the input to these bytes.
    #[must_use]
    pub fn input(self, input: &'e [u8]) -> Self {
        Self { input: EntryInput::Here(input), ..self }
    }

    /// Sets the input to bytes from any source.
    #[must_use]
    pub fn input_from(self, input: EntryInput<'e>) -> Self {
        Self { input, ..self }
    }

    /// Sets the target of the result.
    #[must_use]
    pub fn output(self, output: EntryOutput) -> Self {
        Self { output, ..self }
    }

    /// Sets the tag to compare in a decryption, or the check value of a key to unwrap.
    #[must_use]
    pub fn tag(self, tag: &'e [u8]) -> Self {
        Self { tag, ..self }
    }
}

impl BatchBuilder {
    /// Creates an empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Creates a slot of `len` bytes: the length of the result that fills it.
    pub fn slot(&mut self, len: u32) -> u32 {
        self.slots.push(len);
        // unreachable because four billion slots take more memory than there is
        u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
    }

    /// Adds a key that is not in the table, and returns its source for records. See [`Batch::outside_key`].
    pub fn outside_key(&mut self, key: &Key) -> KeySource {
        self.keys.push(key.clone());
        Batch::outside_key(u32::try_from(self.keys.len() - 1).unwrap_or(u32::MAX))
    }

    /// Adds a record and returns its index in the batch.
    ///
    /// # Errors
    /// Data or results would exceed 4 GiB. The batch is then unchanged.
    pub fn add(&mut self, entry: BatchEntry<'_>) -> Result<usize, JobError> {
        let (data_len, output_len) = (self.data.len(), self.output_len);
        let added = self.lay_out(&entry);
        // Half of a record must not stay behind, because the caller may go on without it.
        if added.is_none() {
            self.data.truncate(data_len);
            self.output_len = output_len;
        }
        let row =
            added.ok_or(JobError::Malformed { what: "the data or results of one batch exceed 4 GiB" })?;
        self.task.push(entry.task, self.len);
        self.key.push(entry.key, self.len);
        self.second_key.push(entry.second_key, self.len);
        self.iv.push(row.iv.0, self.len);
        self.iv_from.push(row.iv.1, self.len);
        self.second_iv.push(row.second_iv.0, self.len);
        self.second_iv_from.push(row.second_iv.1, self.len);
        self.aad.push(row.aad, self.len);
        self.input.push(row.input, self.len);
        self.output.push(row.output, self.len);
        self.tag.push(row.tag, self.len);
        self.len += 1;
        Ok(self.len - 1)
    }

    /// Returns the batch.
    #[must_use]
    pub fn batch(&self) -> Batch<'_> {
        let nothing = Span::default();
        let records = Records {
            len: self.len,
            keys: self.keys[..].into(),
            data: self.data[..].into(),
            output_len: self.output_len,
            key: self.key.column(KeySource::Table(0)),
            second_key: self.second_key.column(KeySource::Table(0)),
            iv: self.iv.column(nothing),
            second_iv: self.second_iv.column(nothing),
            aad: self.aad.column(nothing),
            input: self.input.column(InputSource::Data(nothing)),
            output: self.output.column(OutputSink::Output(nothing)),
            tag: self.tag.column(nothing),
            ..Records::default()
        };
        Batch {
            task: self.task.column(BatchTask::digest(oarlock_core::DigestAlg::Sha256)),
            records,
            iv_from: self.iv_from.column(IvSource::Given),
            second_iv_from: self.second_iv_from.column(IvSource::Given),
            slots: self.slots[..].into(),
        }
    }

    /// Removes all records, slots and keys, wipes the data and keeps the memory.
    pub fn clear(&mut self) {
        let mut data = std::mem::take(&mut self.data);
        // Inputs may be plaintext, and the next batch may be shorter than this one.
        erase(&mut data);
        let mut emptied = std::mem::take(self);
        emptied.keys.clear();
        emptied.slots.clear();
        *self = Self {
            data,
            keys: std::mem::take(&mut emptied.keys),
            slots: std::mem::take(&mut emptied.slots),
            task: std::mem::take(&mut emptied.task).emptied(),
            key: std::mem::take(&mut emptied.key).emptied(),
            second_key: std::mem::take(&mut emptied.second_key).emptied(),
            iv: std::mem::take(&mut emptied.iv).emptied(),
            second_iv: std::mem::take(&mut emptied.second_iv).emptied(),
            iv_from: std::mem::take(&mut emptied.iv_from).emptied(),
            second_iv_from: std::mem::take(&mut emptied.second_iv_from).emptied(),
            aad: std::mem::take(&mut emptied.aad).emptied(),
            input: std::mem::take(&mut emptied.input).emptied(),
            output: std::mem::take(&mut emptied.output).emptied(),
            tag: std::mem::take(&mut emptied.tag).emptied(),
            len: 0,
            output_len: 0,
        };
    }

    fn lay_out(&mut self, entry: &BatchEntry<'_>) -> Option<EntryLayout> {
        let (input, input_len) = match entry.input {
            EntryInput::Here(bytes) => (InputSource::Data(self.store(bytes)?), bytes.len()),
            EntryInput::Slot(slot) => (
                InputSource::Slot(slot),
                self.slots.get(slot as usize).map_or(0, |capacity| *capacity as usize),
            ),
        };
        let iv = self.lay_iv(entry.iv, entry.task.iv_len())?;
        let second_iv = self.lay_iv(entry.second_iv, entry.task.second_iv_len())?;
        let output = match entry.output {
            EntryOutput::Slot(slot) => OutputSink::Slot(slot),
            EntryOutput::Leading(len) => OutputSink::Output(self.reserve_output(len as usize)?),
            EntryOutput::Output => {
                OutputSink::Output(self.reserve_output(result_len(entry.task, input_len))?)
            }
        };
        let tag = if entry.task.is_seal() { self.reserve_output(TAG_LEN)? } else { self.store(entry.tag)? };
        let aad = match entry.aad {
            Some(aad) => self.store(aad)?,
            None => entry.task.absent_aad(),
        };
        Some(EntryLayout { iv, second_iv, aad, input, output, tag })
    }

    fn lay_iv(&mut self, iv: EntryIv<'_>, len: Option<usize>) -> Option<(Span, IvSource)> {
        let from = match iv {
            EntryIv::Bytes(bytes) => return Some((self.store(bytes)?, IvSource::Given)),
            EntryIv::Slot(slot) => IvSource::Slot(slot),
            EntryIv::Zero => IvSource::Zero,
            EntryIv::KeyItself => IvSource::KeyItself,
            EntryIv::Generated => {
                IvSource::Generated(OutputSink::Output(self.reserve_output(len.unwrap_or(0))?))
            }
            EntryIv::GeneratedInto(slot) => IvSource::Generated(OutputSink::Slot(slot)),
        };
        Some((Span::default(), from))
    }

    /// Copies bytes behind the data. Empty bytes have one span wherever they come from, so that their column stays one
    /// value.
    fn store(&mut self, bytes: &[u8]) -> Option<Span> {
        if bytes.is_empty() {
            return Some(Span::default());
        }
        let span = Span::new(self.data.len(), bytes.len())?;
        reserve_erasing(&mut self.data, bytes.len());
        self.data.extend_from_slice(bytes);
        Some(span)
    }

    fn reserve_output(&mut self, len: usize) -> Option<Span> {
        let span = Span::new(self.output_len, len)?;
        self.output_len += len;
        Some(span)
    }
}

/// The length of a tag that a record makes, in bytes.
const TAG_LEN: usize = 16;

/// The spans, slots and IV sources of one record.
struct EntryLayout {
    iv: (Span, IvSource),
    second_iv: (Span, IvSource),
    aad: Span,
    input: InputSource,
    output: OutputSink,
    tag: Span,
}

/// Returns the length of a task's whole result, in bytes.
fn result_len(task: BatchTask, input_len: usize) -> usize {
    match task.shape() {
        Shape::Mac { alg } => alg.tag_len(),
        Shape::Digest { alg } => alg.output_len(),
        Shape::DigestPart { alg } => alg.state_len(),
        Shape::Wrap { alg: WrapAlg::Aes128Kwp | WrapAlg::Aes256Kwp, direction: Encrypt } => {
            input_len.next_multiple_of(8) + 8
        }
        Shape::Wrap { direction: Encrypt, .. } => input_len + 8,
        Shape::Wrap { direction: Decrypt, .. } => input_len.saturating_sub(8),
        Shape::Chain { cipher, mac, order: ChainOrder::MacThenEncrypt, direction: Encrypt } => {
            mte_sealed_len(cipher.alg, mac, input_len)
        }
        _ => input_len,
    }
}

impl Drop for BatchBuilder {
    fn drop(&mut self) {
        erase(&mut self.data);
    }
}

/// Shows how many records there are.
impl fmt::Debug for BatchBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BatchBuilder({} records, {} slots)", self.len, self.slots.len())
    }
}

/// Shows the task only, because inputs may be secret.
impl fmt::Debug for BatchEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entry({})", self.task)
    }
}

impl fmt::Debug for EntryInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here(bytes) => write!(f, "Here({} bytes)", bytes.len()),
            Self::Slot(slot) => write!(f, "Slot({slot})"),
        }
    }
}

impl fmt::Debug for EntryIv<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
            Self::Slot(slot) => write!(f, "Slot({slot})"),
            Self::Zero => f.write_str("Zero"),
            Self::KeyItself => f.write_str("KeyItself"),
            Self::Generated => f.write_str("Generated"),
            Self::GeneratedInto(slot) => write!(f, "GeneratedInto({slot})"),
        }
    }
}

/// A column that grows. It stays two numbers as long as its values are one stride apart.
#[derive(Debug)]
struct GrowingColumn<T> {
    first: Option<T>,
    stride: u32,
    /// Empty while the stride holds.
    each: Vec<T>,
}

impl<T> Default for GrowingColumn<T> {
    fn default() -> Self {
        Self { first: None, stride: 0, each: Vec::new() }
    }
}

impl<T: ColumnValue + PartialEq> GrowingColumn<T> {
    /// Adds the value of the record after `len` others.
    fn push(&mut self, value: T, len: usize) {
        let first = *self.first.get_or_insert(value);
        if len == 1 {
            self.stride = first.stride_to(value).unwrap_or(0);
        }
        if self.each.is_empty() && self.column(first).get(len) == Some(value) {
            return;
        }
        if self.each.is_empty() {
            self.each = self.column(first).cursor().take(len).collect();
        }
        self.each.push(value);
    }

    fn column(&self, empty: T) -> Column<'_, T> {
        let first = self.first.unwrap_or(empty);
        match self.stride {
            _ if !self.each.is_empty() => Column::Each(self.each[..].into()),
            0 => Column::One(first),
            stride => Column::Stride { first, stride },
        }
    }

    fn emptied(mut self) -> Self {
        self.each.clear();
        Self { each: self.each, ..Self::default() }
    }
}
