//! Short symmetric operations as a structure of arrays: columns of keys, IVs and spans over shared buffers.
//!
//! A [`Records`] borrows or owns its columns (`Records<'static>`), so the same type is what a caller lends to a bulk
//! call and what waits in a queue. A column that is the same for all records, or for runs of them, is stored so: moving
//! parameters is what costs short operations most (Lindemann and Smith, USENIX Security 2001, section 4).

use std::borrow::Cow;
use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::{AeadAlg, BlockCipher, Column, ColumnCursor, Direction, Key, MacAlg, Shape, Status, WrapAlg};

/// A range of bytes in a buffer of at most 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Number of bytes.
    pub len: u32,
}

impl Span {
    /// A span, or None where it does not end within 4 GiB.
    #[must_use]
    pub fn new(start: usize, len: usize) -> Option<Self> {
        let end = start.checked_add(len)?;
        u32::try_from(end).ok()?;
        Some(Self { start: u32::try_from(start).ok()?, len: u32::try_from(len).ok()? })
    }

    /// The bytes of the span, or None where the buffer is too short.
    #[must_use]
    pub fn of(self, buffer: &[u8]) -> Option<&[u8]> {
        buffer.get(self.range())
    }

    /// The bytes of the span, or None where the buffer is too short.
    #[must_use]
    pub fn of_mut(self, buffer: &mut [u8]) -> Option<&mut [u8]> {
        buffer.get_mut(self.range())
    }

    /// The span as a range of indices.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

/// Where a record's key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeySource {
    /// An index into [`Records::keys`].
    Table(u32),
    /// A secret slot that an earlier run filled.
    Slot(u32),
}

/// Where a record's input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// In [`Records::data`].
    Data(Span),
    /// A secret slot that an earlier run filled.
    Slot(u32),
}

/// Where a record's output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sink {
    /// Into the output buffer of the outcome.
    Output(Span),
    /// Into a secret slot, for a later run.
    Slot(u32),
}

/// Secret results that never leave the process's engine memory: fixed places, zeroized on drop.
#[derive(Clone, Default)]
pub struct Slots {
    arena: Zeroizing<Vec<u8>>,
    places: Vec<Span>,
    /// Bytes in use, or None where nothing has filled the slot.
    filled: Vec<Option<u32>>,
}

impl Slots {
    /// Empty slots of these capacities; None over 4 GiB in all.
    #[must_use]
    pub fn with_capacities(capacities: &[u32]) -> Option<Self> {
        let mut places = Vec::with_capacity(capacities.len());
        let mut end = 0;
        for capacity in capacities {
            places.push(Span::new(end, *capacity as usize)?);
            end += *capacity as usize;
        }
        Some(Self { arena: Zeroizing::new(vec![0; end]), filled: vec![None; places.len()], places })
    }

    /// Number of slots.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// True where there is no slot.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Bytes that fit into a slot, or None where it does not exist.
    #[must_use]
    pub fn capacity(&self, slot: u32) -> Option<usize> {
        self.places.get(slot as usize).map(|place| place.len as usize)
    }

    /// The secret in a slot, or None where nothing has filled it.
    #[must_use]
    pub fn get(&self, slot: u32) -> Option<&[u8]> {
        let len = (*self.filled.get(slot as usize)?)?;
        Span { len, ..*self.places.get(slot as usize)? }.of(&self.arena)
    }

    /// Marks `len` bytes of a slot as filled and lends them for writing; None where they do not fit.
    pub fn fill(&mut self, slot: u32, len: usize) -> Option<&mut [u8]> {
        let place = *self.places.get(slot as usize)?;
        let len = u32::try_from(len).ok().filter(|len| *len <= place.len)?;
        self.filled[slot as usize] = Some(len);
        Span { len, ..place }.of_mut(&mut self.arena)
    }

    /// Zeroizes a slot and marks it as unfilled.
    pub fn clear(&mut self, slot: u32) {
        if let Some(bytes) = self.places.get(slot as usize).and_then(|place| place.of_mut(&mut self.arena)) {
            zeroize::Zeroize::zeroize(bytes);
            self.filled[slot as usize] = None;
        }
    }

    /// The same places, all unfilled.
    #[must_use]
    pub fn emptied(&self) -> Self {
        Self {
            arena: Zeroizing::new(vec![0; self.arena.len()]),
            filled: vec![None; self.places.len()],
            places: self.places.clone(),
        }
    }

    /// Takes over every slot that `other` has filled.
    pub fn merge(&mut self, other: &Self) {
        for slot in (0..).take(other.len()) {
            if let Some(secret) = other.get(slot)
                && let Some(own) = self.fill(slot, secret.len())
            {
                own.copy_from_slice(secret);
            }
        }
    }
}

/// Secrets are compared in constant time, how many bytes are in use is public.
impl PartialEq for Slots {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |slot| match (self.get(slot), other.get(slot)) {
            (Some(own), Some(theirs)) => own.ct_eq(theirs).into(),
            (own, theirs) => own.is_none() && theirs.is_none(),
        };
        self.places == other.places && (0..).take(self.len()).all(is_same)
    }
}

impl Eq for Slots {}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slots({} of {} filled)", self.filled.iter().flatten().count(), self.len())
    }
}

/// Records of one shape. Columns that a shape does not read are not looked at, and may keep their default of one empty value.
#[derive(Clone)]
pub struct Records<'a> {
    /// Number of records.
    pub len: usize,
    /// The keys that the key columns index.
    pub keys: Cow<'a, [Key]>,
    /// The buffer of input, IV, associated-data and expected-tag spans.
    pub data: Cow<'a, [u8]>,
    /// Bytes of the output buffer that an engine makes.
    pub output_len: usize,
    /// Secrets from earlier runs, and the places for this run's.
    pub slots: Cow<'a, Slots>,
    /// Key.
    pub key: Column<'a, KeySource>,
    /// Key of the encrypting half of [`Shape::Translate`].
    pub second_key: Column<'a, KeySource>,
    /// IV, or the chaining state of [`Shape::DigestPart`].
    pub iv: Column<'a, Span>,
    /// IV of the encrypting half of [`Shape::Translate`].
    pub second_iv: Column<'a, Span>,
    /// Associated data.
    pub aad: Column<'a, Span>,
    /// Input.
    pub input: Column<'a, Source>,
    /// Output: as long as the result is ([`Records::resolve`] has the rule of each shape).
    pub output: Column<'a, Sink>,
    /// AEAD tag: a span of the output buffer when encrypting, of the data when decrypting.
    pub tag: Column<'a, Span>,
}

impl Default for Records<'_> {
    fn default() -> Self {
        let (span, key) = (Column::One(Span::default()), Column::One(KeySource::Table(0)));
        Self {
            len: 0,
            keys: Cow::Borrowed(&[]),
            data: Cow::Borrowed(&[]),
            output_len: 0,
            slots: Cow::Owned(Slots::default()),
            key: key.clone(),
            second_key: key,
            iv: span.clone(),
            second_iv: span.clone(),
            aad: span.clone(),
            input: Column::One(Source::Data(Span::default())),
            output: Column::One(Sink::Output(Span::default())),
            tag: span,
        }
    }
}

/// One record with everything it refers to, checked against its shape.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    /// The key's handle, unless it comes from a slot or the shape has none.
    pub key: Option<&'a Key>,
    /// The key's bytes.
    pub key_bytes: &'a [u8],
    /// The handle of the second key of a translation.
    pub second_key: Option<&'a Key>,
    /// The bytes of the second key of a translation.
    pub second_key_bytes: &'a [u8],
    /// IV or chaining state.
    pub iv: &'a [u8],
    /// IV of the encrypting half of a translation.
    pub second_iv: &'a [u8],
    /// Associated data.
    pub aad: &'a [u8],
    /// Input.
    pub input: &'a [u8],
    /// Where the output goes.
    pub output: Sink,
    /// Where an AEAD tag goes when encrypting.
    pub tag: Span,
    /// The AEAD tag to compare when decrypting.
    pub expected_tag: &'a [u8],
}

impl fmt::Debug for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record({} bytes to {:?})", self.input.len(), self.output)
    }
}

impl<'a> Records<'a> {
    /// True where every column covers every record. What concerns one record alone is left to [`Records::resolve`].
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let len = self.len;
        self.key.covers(len)
            && self.second_key.covers(len)
            && [&self.iv, &self.second_iv, &self.aad, &self.tag].iter().all(|column| column.covers(len))
            && self.input.covers(len)
            && self.output.covers(len)
    }

    /// The same records, borrowed: to change a column without copying the others.
    #[must_use]
    pub fn borrowed(&self) -> Records<'_> {
        Records {
            len: self.len,
            keys: Cow::Borrowed(&self.keys),
            data: Cow::Borrowed(&self.data),
            output_len: self.output_len,
            slots: Cow::Borrowed(&self.slots),
            key: self.key.borrowed(),
            second_key: self.second_key.borrowed(),
            iv: self.iv.borrowed(),
            second_iv: self.second_iv.borrowed(),
            aad: self.aad.borrowed(),
            input: self.input.borrowed(),
            output: self.output.borrowed(),
            tag: self.tag.borrowed(),
        }
    }

    /// Bytes of all inputs, by which cost is predicted.
    #[must_use]
    pub fn input_bytes(&self) -> usize {
        let len = |source: &Source| match source {
            Source::Data(span) => span.len as usize,
            Source::Slot(slot) => self.slots.get(*slot).map_or(0, <[u8]>::len),
        };
        match &self.input {
            Column::One(source) | Column::Stride { first: source, .. } => self.len * len(source),
            Column::Runs(runs) => runs.iter().map(|(count, source)| *count as usize * len(source)).sum(),
            Column::Each(sources) => sources.iter().map(len).sum(),
        }
    }

    /// The records in order, each resolved against `shape`.
    pub fn resolve(&'a self, shape: Shape) -> impl Iterator<Item = Result<Record<'a>, Status>> {
        Rows::of(self).map(move |row| self.resolve_row(shape, row))
    }

    /// The record at `index`, resolved against `shape`; [`Records::resolve`] reads in order.
    ///
    /// # Errors
    /// What is wrong with this record, as its status.
    pub fn record(&self, shape: Shape, index: usize) -> Result<Record<'_>, Status> {
        let row = Row {
            key: self.key.get(index).ok_or(Status::Malformed)?,
            second_key: self.second_key.get(index).ok_or(Status::Malformed)?,
            iv: self.iv.get(index).ok_or(Status::Malformed)?,
            second_iv: self.second_iv.get(index).ok_or(Status::Malformed)?,
            aad: self.aad.get(index).ok_or(Status::Malformed)?,
            input: self.input.get(index).ok_or(Status::Malformed)?,
            output: self.output.get(index).ok_or(Status::Malformed)?,
            tag: self.tag.get(index).ok_or(Status::Malformed)?,
        };
        self.resolve_row(shape, row)
    }

    fn resolve_row(&self, shape: Shape, row: Row) -> Result<Record<'_>, Status> {
        let (key, key_bytes) = match Rule::key_len(shape) {
            KeyRule::None => (None, &[][..]),
            rule => self.find_key(row.key, rule)?,
        };
        let (second_key, second_key_bytes) = match shape {
            Shape::Translate { to, .. } => {
                self.find_key(row.second_key, KeyRule::Exactly(to.alg.key_len()))?
            }
            _ => (None, &[][..]),
        };
        let input = match row.input {
            Source::Data(span) => self.bytes(span)?,
            Source::Slot(slot) => self.slots.get(slot).ok_or(Status::DependencyFailed)?,
        };
        let is_opening = matches!(shape, Shape::Aead { direction: Direction::Decrypt, .. });
        let is_sealing = matches!(shape, Shape::Aead { direction: Direction::Encrypt, .. });
        let is_translation = matches!(shape, Shape::Translate { .. });
        let has_iv = is_translation || matches!(shape, Shape::Cipher { .. } | Shape::DigestPart { .. });
        let bytes_if = |is_read: bool, span| if is_read { self.bytes(span) } else { Ok(&[][..]) };
        let record = Record {
            key,
            key_bytes,
            second_key,
            second_key_bytes,
            iv: bytes_if(has_iv || is_opening || is_sealing, row.iv)?,
            second_iv: bytes_if(is_translation, row.second_iv)?,
            aad: bytes_if(is_opening || is_sealing, row.aad)?,
            input,
            output: row.output,
            tag: row.tag,
            expected_tag: bytes_if(is_opening, row.tag)?,
        };
        let output_len = self.output_len_of(row.output)?;
        if !Rule::fits(shape, &record, output_len) || (is_sealing && !self.tag_fits(row.tag)) {
            return Err(Status::BadLength);
        }
        Ok(record)
    }

    fn find_key(&self, source: KeySource, rule: KeyRule) -> Result<(Option<&Key>, &[u8]), Status> {
        let (key, bytes) = match source {
            KeySource::Slot(slot) => (None, self.slots.get(slot).ok_or(Status::DependencyFailed)?),
            KeySource::Table(index) => {
                let key = self.keys.get(index as usize).ok_or(Status::Malformed)?;
                (Some(key), key.secret().ok_or(Status::BadKey)?.expose())
            }
        };
        match rule {
            KeyRule::Exactly(len) if bytes.len() != len => Err(Status::BadKey),
            _ => Ok((key, bytes)),
        }
    }

    fn bytes(&self, span: Span) -> Result<&[u8], Status> {
        span.of(&self.data).ok_or(Status::Malformed)
    }

    fn output_len_of(&self, sink: Sink) -> Result<OutputLen, Status> {
        match sink {
            Sink::Output(span) if span.range().end <= self.output_len => {
                Ok(OutputLen::Exactly(span.len as usize))
            }
            Sink::Output(_) => Err(Status::Malformed),
            Sink::Slot(slot) => self.slots.capacity(slot).map(OutputLen::UpTo).ok_or(Status::Malformed),
        }
    }

    fn tag_fits(&self, tag: Span) -> bool {
        tag.range().end <= self.output_len
    }
}

impl fmt::Debug for Records<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Records({} records, {} keys, {} bytes in, {} out)",
            self.len,
            self.keys.len(),
            self.data.len(),
            self.output_len
        )
    }
}

struct Row {
    key: KeySource,
    second_key: KeySource,
    iv: Span,
    second_iv: Span,
    aad: Span,
    input: Source,
    output: Sink,
    tag: Span,
}

/// Reads all columns in step; nested `zip`s would copy their tuples for every record.
struct Rows<'a> {
    left: usize,
    key: ColumnCursor<'a, KeySource>,
    second_key: ColumnCursor<'a, KeySource>,
    iv: ColumnCursor<'a, Span>,
    second_iv: ColumnCursor<'a, Span>,
    aad: ColumnCursor<'a, Span>,
    input: ColumnCursor<'a, Source>,
    output: ColumnCursor<'a, Sink>,
    tag: ColumnCursor<'a, Span>,
}

impl<'a> Rows<'a> {
    fn of(records: &'a Records<'a>) -> Self {
        Self {
            left: records.len,
            key: records.key.cursor(),
            second_key: records.second_key.cursor(),
            iv: records.iv.cursor(),
            second_iv: records.second_iv.cursor(),
            aad: records.aad.cursor(),
            input: records.input.cursor(),
            output: records.output.cursor(),
            tag: records.tag.cursor(),
        }
    }
}

impl Iterator for Rows<'_> {
    type Item = Row;

    #[inline]
    fn next(&mut self) -> Option<Row> {
        self.left = self.left.checked_sub(1)?;
        Some(Row {
            key: self.key.next()?,
            second_key: self.second_key.next()?,
            iv: self.iv.next()?,
            second_iv: self.second_iv.next()?,
            aad: self.aad.next()?,
            input: self.input.next()?,
            output: self.output.next()?,
            tag: self.tag.next()?,
        })
    }
}

#[derive(Clone, Copy)]
enum OutputLen {
    Exactly(usize),
    UpTo(usize),
}

impl OutputLen {
    fn takes(self, len: usize) -> bool {
        match self {
            Self::Exactly(own) => own == len,
            Self::UpTo(capacity) => len <= capacity,
        }
    }
}

#[derive(Clone, Copy)]
enum KeyRule {
    None,
    Any,
    Exactly(usize),
}

/// The length rules of the record shapes.
struct Rule;

impl Rule {
    fn key_len(shape: Shape) -> KeyRule {
        match shape {
            Shape::Cipher { alg, .. } => KeyRule::Exactly(alg.key_len()),
            Shape::Aead { alg, .. } => KeyRule::Exactly(AeadAlg::key_len(alg)),
            Shape::Mac { alg } => MacAlg::key_len(alg).map_or(KeyRule::Any, KeyRule::Exactly),
            Shape::Wrap { alg, .. } => KeyRule::Exactly(WrapAlg::key_len(alg)),
            Shape::Translate { from, .. } => KeyRule::Exactly(from.alg.key_len()),
            _ => KeyRule::None,
        }
    }

    fn fits(shape: Shape, record: &Record<'_>, output: OutputLen) -> bool {
        let len = record.input.len();
        match shape {
            Shape::Cipher { alg, .. } => Self::cbc_fits(alg, record.iv, len) && output.takes(len),
            Shape::Translate { from, to } => {
                Self::cbc_fits(from.alg, record.iv, len)
                    && Self::cbc_fits(to.alg, record.second_iv, len)
                    && output.takes(len)
            }
            Shape::Aead { direction, .. } => {
                let tag_len = match direction {
                    Direction::Encrypt => record.tag.len as usize,
                    Direction::Decrypt => record.expected_tag.len(),
                };
                !record.iv.is_empty() && (12..=16).contains(&tag_len) && output.takes(len)
            }
            Shape::Mac { alg } => match output {
                OutputLen::Exactly(tag_len) => (4..=alg.tag_len()).contains(&tag_len),
                OutputLen::UpTo(capacity) => capacity >= alg.tag_len(),
            },
            Shape::Digest { alg } => output.takes(alg.output_len()),
            Shape::DigestPart { alg } => {
                record.iv.len() == alg.state_len()
                    && len.is_multiple_of(alg.block_len())
                    && output.takes(alg.state_len())
            }
            Shape::Wrap { alg, direction } => Self::wrap_fits(alg, direction, len, output),
            _ => false,
        }
    }

    fn cbc_fits(alg: BlockCipher, iv: &[u8], len: usize) -> bool {
        iv.len() == alg.block_len() && len.is_multiple_of(alg.block_len())
    }

    /// RFC 3394 2.2 and RFC 5649 4: at least two half-blocks of plaintext for KW, one byte for KWP. The place for a KWP
    /// plaintext has the padded length; the outcome tells the real one.
    fn wrap_fits(alg: WrapAlg, direction: Direction, len: usize, output: OutputLen) -> bool {
        let is_padded = matches!(alg, WrapAlg::Aes128Kwp | WrapAlg::Aes256Kwp);
        match direction {
            Direction::Encrypt if is_padded => len >= 1 && output.takes(len.next_multiple_of(8) + 8),
            Direction::Encrypt => len >= 16 && len.is_multiple_of(8) && output.takes(len + 8),
            Direction::Decrypt => {
                let min = if is_padded { 16 } else { 24 };
                len >= min && len.is_multiple_of(8) && output.takes(len - 8)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CipherMode, Fingerprint, KeyParts, SecretBytes};

    const CBC: Shape =
        Shape::Cipher { alg: BlockCipher::Des, mode: CipherMode::Cbc, direction: Direction::Encrypt };

    fn span(start: u32, len: u32) -> Span {
        Span { start, len }
    }

    fn key_of(len: usize) -> Key {
        Key::local(KeyParts::Secret(SecretBytes::new(vec![1; len])), Fingerprint::new([0; 32]))
    }

    fn two_records() -> Records<'static> {
        Records {
            len: 2,
            keys: vec![key_of(8)].into(),
            data: vec![0; 32].into(),
            output_len: 24,
            iv: Column::One(span(0, 8)),
            input: Column::Each(vec![Source::Data(span(8, 8)), Source::Data(span(16, 16))].into()),
            output: Column::Each(vec![Sink::Output(span(0, 8)), Sink::Output(span(8, 16))].into()),
            ..Records::default()
        }
    }

    #[test]
    fn bytes_of_inputs_are_counted_in_every_form_of_column() {
        let mut records = two_records();
        assert_eq!(records.input_bytes(), 24);
        records.input = Column::Stride { first: Source::Data(span(8, 8)), stride: 8 };
        assert_eq!(records.input_bytes(), 16);
        records.input = Column::Runs(vec![(1, Source::Data(span(0, 5))), (1, Source::Slot(0))].into());
        assert_eq!(records.input_bytes(), 5, "an empty slot has none");
        assert_eq!(Records::default().input_bytes(), 0);
    }

    #[test]
    fn columns_that_a_shape_does_not_read_may_hold_anything() {
        let nowhere = Column::One(span(1_000, 9));
        let records = Records {
            second_key: Column::One(KeySource::Table(77)),
            second_iv: nowhere.clone(),
            aad: nowhere.clone(),
            tag: nowhere.clone(),
            ..two_records()
        };
        assert!(records.resolve(CBC).all(|record| record.is_ok_and(|record| record.aad.is_empty())));
        let mac = Shape::Mac { alg: MacAlg::Aes128Cmac };
        let records = Records { iv: nowhere, keys: vec![key_of(16)].into(), ..records };
        assert!(records.resolve(mac).all(|record| record.is_ok()));
    }

    #[test]
    fn one_bad_record_fails_alone() {
        let mut records = two_records();
        assert!(records.is_complete() && records.resolve(CBC).all(|record| record.is_ok()));
        assert!(records.borrowed().resolve(CBC).all(|record| record.is_ok()));
        records.input = Column::Each(vec![Source::Data(span(8, 7)), Source::Data(span(16, 16))].into());
        let statuses: Vec<_> = records.resolve(CBC).map(|record| record.err()).collect();
        assert_eq!(statuses, [Some(Status::BadLength), None]);
    }

    #[test]
    fn spans_keys_and_slots_that_do_not_exist_are_found() {
        let status = |change: fn(&mut Records<'static>)| {
            let mut records = two_records();
            change(&mut records);
            records.resolve(CBC).next().unwrap().err()
        };
        assert_eq!(status(|r| r.iv = Column::One(span(30, 8))), Some(Status::Malformed));
        assert_eq!(status(|r| r.key = Column::One(KeySource::Table(1))), Some(Status::Malformed));
        assert_eq!(status(|r| r.key = Column::One(KeySource::Slot(0))), Some(Status::DependencyFailed));
        assert_eq!(status(|r| r.output_len = 4), Some(Status::Malformed));
        assert_eq!(status(|r| r.output = Column::One(Sink::Slot(0))), Some(Status::Malformed));
    }

    #[test]
    fn slots_keep_their_places_and_forget_when_cleared() {
        let mut slots = Slots::with_capacities(&[4, 8]).unwrap();
        assert!(slots.get(1).is_none() && slots.fill(1, 9).is_none() && slots.fill(2, 1).is_none());
        slots.fill(1, 3).unwrap().copy_from_slice(&[1, 2, 3]);
        let mut other = slots.emptied();
        other.merge(&slots);
        assert_eq!(other.get(1), Some(&[1, 2, 3][..]));
        other.clear(1);
        assert!(other.get(1).is_none() && other.arena.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn spans_stay_within_four_gibibytes() {
        assert!(Span::new(u32::MAX as usize, 1).is_none() && Span::new(usize::MAX, 1).is_none());
        assert_eq!(Span::new(3, 4).unwrap().range(), 3..7);
    }
}
