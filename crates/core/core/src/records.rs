//! Short symmetric operations as a structure of arrays: columns of keys, IVs and spans over shared buffers.
//!
//! A [`Records`] borrows or owns its columns (`Records<'static>`), so a bulk call and a queue use the same type. A
//! column that is the same for all records, or for runs of them, is stored in that form. Moving parameters is the
//! largest cost of short operations (Lindemann and Smith, USENIX Security 2001, section 4).

mod rows;

use std::borrow::Cow;
use std::fmt;

pub use self::rows::{RowInput, RowRecords};
use crate::{
    AeadAlg, BlockCipher, ChainOrder, CipherSpec, Column, ColumnCursor, Direction, Ff1Radix, InputSource,
    Key, KeySource, MAX_MTE_FRAGMENT, MAX_MTE_SEALED, MTE_AAD_LEN, MacAlg, OutputSink, SecretSlots, Shape,
    Span, Status, WrapAlg, mte_sealed_len,
};

/// Records of one shape.
///
/// A shape ignores the columns that it does not need. They may keep their default of one empty value.
#[derive(Clone)]
pub struct Records<'a> {
    /// The number of records.
    pub len: usize,
    /// The keys that the key columns index.
    pub keys: Cow<'a, [Key]>,
    /// The buffer of input, IV, associated-data and expected-tag spans.
    pub data: Cow<'a, [u8]>,
    /// The number of bytes of the output buffer, which the engine allocates.
    pub output_len: usize,
    /// The secrets of earlier runs, and the places for those of this run.
    pub slots: Cow<'a, SecretSlots>,
    /// The source of the key of each record.
    pub key: Column<'a, KeySource>,
    /// The key of the encrypting half of [`Shape::Translate`], or the MAC key of [`Shape::Chain`].
    pub second_key: Column<'a, KeySource>,
    /// The IV, or the chaining state of [`Shape::DigestPart`].
    pub iv: Column<'a, Span>,
    /// The IV of the encrypting half of [`Shape::Translate`].
    pub second_iv: Column<'a, Span>,
    /// The associated data. [`Span::ABSENT`] is none, which AES-SIV tells from an empty string.
    pub aad: Column<'a, Span>,
    /// The source of the input of each record.
    pub input: Column<'a, InputSource>,
    /// The place of the output, as long as the result. [`Records::resolve`] knows the rule of each shape.
    pub output: Column<'a, OutputSink>,
    /// The detached tag of an AEAD or a chain: a span of the output buffer for encryption, of the data for
    /// decryption.
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
            slots: Cow::Owned(SecretSlots::default()),
            key: key.clone(),
            second_key: key,
            iv: span.clone(),
            second_iv: span.clone(),
            aad: span.clone(),
            input: Column::One(InputSource::Data(Span::default())),
            output: Column::One(OutputSink::Output(Span::default())),
            tag: span,
        }
    }
}

/// One record with everything it refers to, checked against its shape.
#[derive(Clone, Copy)]
pub struct ResolvedRecord<'a> {
    /// The handle of the key, or `None` if it comes from a slot or the shape has no key.
    pub key: Option<&'a Key>,
    /// The bytes of the key.
    pub key_bytes: &'a [u8],
    /// The handle of the second key of a translation or a chain.
    pub second_key: Option<&'a Key>,
    /// The bytes of the second key of a translation or a chain.
    pub second_key_bytes: &'a [u8],
    /// The IV or the chaining state.
    pub iv: &'a [u8],
    /// The IV of the encrypting half of a translation.
    pub second_iv: &'a [u8],
    /// The associated data, or no bytes if there is none.
    pub aad: &'a [u8],
    /// True if there is associated data, perhaps an empty string.
    pub has_aad: bool,
    /// The bytes that the operation reads.
    pub input: &'a [u8],
    /// The place of the output.
    pub output: OutputSink,
    /// The place of an AEAD tag in an encryption.
    pub tag: Span,
    /// The AEAD tag to compare in a decryption.
    pub expected_tag: &'a [u8],
}

impl fmt::Debug for ResolvedRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record({} bytes to {:?})", self.input.len(), self.output)
    }
}

impl<'a> Records<'a> {
    /// True if every column covers every record. [`Records::resolve`] checks each record by itself.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let len = self.len;
        self.key.covers(len)
            && self.second_key.covers(len)
            && [&self.iv, &self.second_iv, &self.aad, &self.tag].iter().all(|column| column.covers(len))
            && self.input.covers(len)
            && self.output.covers(len)
    }

    /// Returns the number of leading records that every column covers. A record past them is
    /// [`Status::Malformed`].
    #[must_use]
    pub fn covered(&self) -> usize {
        let len = self.len.min(self.key.covered(self.len)).min(self.second_key.covered(self.len));
        let spans = [&self.iv, &self.second_iv, &self.aad, &self.tag].map(|column| column.covered(len));
        spans.into_iter().fold(self.input.covered(len).min(self.output.covered(len)), usize::min)
    }

    /// Returns the same records, borrowed. A caller can then change a column without copying the others.
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

    /// Returns the number of bytes of all inputs, from which the cost is predicted.
    #[must_use]
    pub fn input_bytes(&self) -> usize {
        let len = |source: &InputSource| match source {
            InputSource::Data(span) => span.len as usize,
            InputSource::Slot(slot) => self.slots.get(*slot).map_or(0, <[u8]>::len),
        };
        match &self.input {
            Column::One(source) | Column::Stride { first: source, .. } => self.len * len(source),
            Column::Runs(runs) => runs.iter().map(|(count, source)| *count as usize * len(source)).sum(),
            Column::Each(sources) => sources.iter().map(len).sum(),
        }
    }

    /// Returns the records in order, each resolved against `shape`.
    pub fn resolve(&'a self, shape: Shape) -> impl Iterator<Item = Result<ResolvedRecord<'a>, Status>> {
        RecordCursor::new(self).map(move |row| self.resolve_row(shape, row))
    }

    /// Resolves the values of one record against `shape`. [`Records::resolve`] reads them from the columns in order.
    ///
    /// # Errors
    /// The status of a record that is not valid.
    pub fn resolve_row(&self, shape: Shape, row: RecordRow) -> Result<ResolvedRecord<'_>, Status> {
        // Places come before lengths: a slot that an earlier record failed to fill must give `DependencyFailed`, and
        // not the error of an empty input.
        let (key, key_bytes) = match LengthRule::key_len(shape) {
            KeyLengthRule::None => (None, &[][..]),
            rule => self.find_key(row.key, rule)?,
        };
        let (second_key, second_key_bytes) = match shape {
            Shape::Translate { to, .. } => {
                self.find_key(row.second_key, KeyLengthRule::Exactly(to.alg.key_len()))?
            }
            Shape::Chain { .. } => self.find_key(row.second_key, KeyLengthRule::Any)?,
            _ => (None, &[][..]),
        };
        let input = match row.input {
            InputSource::Data(span) => self.bytes(span)?,
            InputSource::Slot(slot) => self.slots.get(slot).ok_or(Status::DependencyFailed)?,
        };
        let (is_opening, is_sealing) = (shape.is_opening(), shape.is_sealing());
        let is_translation = matches!(shape, Shape::Translate { .. });
        let has_aad = matches!(shape, Shape::Aead { .. } | Shape::Chain { .. } | Shape::Fpe { .. });
        let has_iv =
            has_aad || is_translation || matches!(shape, Shape::Cipher { .. } | Shape::DigestPart { .. });
        // A column that the shape does not read may name places that do not exist.
        let bytes_if = |is_read: bool, span| if is_read { self.bytes(span) } else { Ok(&[][..]) };
        let record = ResolvedRecord {
            key,
            key_bytes,
            second_key,
            second_key_bytes,
            iv: bytes_if(has_iv, row.iv)?,
            second_iv: bytes_if(is_translation, row.second_iv)?,
            aad: bytes_if(has_aad && !row.aad.is_absent(), row.aad)?,
            has_aad: has_aad && !row.aad.is_absent(),
            input,
            output: row.output,
            tag: row.tag,
            expected_tag: bytes_if(is_opening, row.tag)?,
        };
        let output_len = self.output_len_of(row.output)?;
        if !LengthRule::fits(shape, &record, output_len) || (is_sealing && !self.tag_fits(row.tag)) {
            return Err(Status::BadLength);
        }
        Ok(record)
    }

    fn find_key(&self, source: KeySource, rule: KeyLengthRule) -> Result<(Option<&Key>, &[u8]), Status> {
        let (key, bytes) = match source {
            // Without a handle there is no cache of the expanded key: a slot's key changes from batch to batch.
            KeySource::Slot(slot) => (None, self.slots.get(slot).ok_or(Status::DependencyFailed)?),
            KeySource::Table(index) => {
                let key = self.keys.get(index as usize).ok_or(Status::Malformed)?;
                (Some(key), key.secret().ok_or(Status::BadKey)?.expose())
            }
        };
        match rule {
            KeyLengthRule::Exactly(len) if bytes.len() != len => Err(Status::BadKey),
            _ => Ok((key, bytes)),
        }
    }

    fn bytes(&self, span: Span) -> Result<&[u8], Status> {
        span.slice(&self.data).ok_or(Status::Malformed)
    }

    fn output_len_of(&self, sink: OutputSink) -> Result<OutputSpace, Status> {
        match sink {
            OutputSink::Output(span) if span.range().end <= self.output_len => {
                Ok(OutputSpace::Exactly(span.len as usize))
            }
            OutputSink::Output(_) => Err(Status::Malformed),
            // A slot is as large as its largest result, and remembers the length of the actual one.
            OutputSink::Slot(slot) => {
                self.slots.capacity(slot).map(OutputSpace::UpTo).ok_or(Status::Malformed)
            }
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

/// The values of all columns for one record, named as the columns of [`Records`].
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "`Records` documents its columns")]
pub struct RecordRow {
    pub key: KeySource,
    pub second_key: KeySource,
    pub iv: Span,
    pub second_iv: Span,
    pub aad: Span,
    pub input: InputSource,
    pub output: OutputSink,
    pub tag: Span,
}

/// An iterator over all columns in step. Nested `zip`s would copy their tuples for every record.
struct RecordCursor<'a> {
    left: usize,
    key: ColumnCursor<'a, KeySource>,
    second_key: ColumnCursor<'a, KeySource>,
    iv: ColumnCursor<'a, Span>,
    second_iv: ColumnCursor<'a, Span>,
    aad: ColumnCursor<'a, Span>,
    input: ColumnCursor<'a, InputSource>,
    output: ColumnCursor<'a, OutputSink>,
    tag: ColumnCursor<'a, Span>,
}

impl<'a> RecordCursor<'a> {
    fn new(records: &'a Records<'a>) -> Self {
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

impl Iterator for RecordCursor<'_> {
    type Item = RecordRow;

    #[inline]
    fn next(&mut self) -> Option<RecordRow> {
        self.left = self.left.checked_sub(1)?;
        Some(RecordRow {
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
enum OutputSpace {
    Exactly(usize),
    UpTo(usize),
}

impl OutputSpace {
    fn takes(self, len: usize) -> bool {
        match self {
            Self::Exactly(expected) => expected == len,
            Self::UpTo(capacity) => len <= capacity,
        }
    }
}

#[derive(Clone, Copy)]
enum KeyLengthRule {
    None,
    Any,
    Exactly(usize),
}

/// The shortest tag of a chain in bytes. RFC 2104 section 5.
const MIN_HMAC_TAG: usize = 10;

/// The length rules of the record shapes.
struct LengthRule;

impl LengthRule {
    fn key_len(shape: Shape) -> KeyLengthRule {
        match shape {
            Shape::Cipher { alg, .. } => KeyLengthRule::Exactly(alg.key_len()),
            Shape::Aead { alg, .. } => KeyLengthRule::Exactly(AeadAlg::key_len(alg)),
            Shape::Fpe { alg, .. } => KeyLengthRule::Exactly(alg.key_len()),
            Shape::Mac { alg } => MacAlg::key_len(alg).map_or(KeyLengthRule::Any, KeyLengthRule::Exactly),
            Shape::Wrap { alg, .. } => KeyLengthRule::Exactly(WrapAlg::key_len(alg)),
            Shape::Translate { from, .. } => KeyLengthRule::Exactly(from.alg.key_len()),
            Shape::Chain { cipher, .. } => KeyLengthRule::Exactly(cipher.alg.key_len()),
            _ => KeyLengthRule::None,
        }
    }

    fn fits(shape: Shape, record: &ResolvedRecord<'_>, output: OutputSpace) -> bool {
        let len = record.input.len();
        match shape {
            _ if !shape.is_possible() => false,
            Shape::Cipher { alg, mode, .. } => {
                Self::cipher_fits(CipherSpec { alg, mode }, record.iv, len) && output.takes(len)
            }
            Shape::Translate { from, to } => {
                Self::cipher_fits(from, record.iv, len)
                    && Self::cipher_fits(to, record.second_iv, len)
                    && output.takes(len)
            }
            Shape::Aead { alg, .. } => {
                alg.iv_lens().contains(&record.iv.len())
                    && alg.tag_lens().contains(&Self::tag_len(shape, record))
                    && len >= alg.min_input_len()
                    && (alg != AeadAlg::ChaCha20Poly1305Ssh || record.aad.is_empty())
                    && output.takes(len)
            }
            Shape::Fpe { .. } => {
                Ff1Radix::from_iv(record.iv).is_some_and(|radix| radix.takes(len, record.aad.len()))
                    && output.takes(len)
            }
            Shape::Chain { cipher, mac, order: ChainOrder::MacThenEncrypt, direction } => {
                record.aad.len() == MTE_AAD_LEN
                    && record.iv.len() == cipher.alg.block_len()
                    && Self::mte_fits(cipher.alg, mac, direction, len, output)
            }
            // RFC 2104 section 5 advises against tags under 80 bits.
            Shape::Chain { cipher, mac, .. } => {
                Self::cipher_fits(cipher, record.iv, len)
                    && (MIN_HMAC_TAG..=mac.tag_len()).contains(&Self::tag_len(shape, record))
                    && output.takes(len)
            }
            // SP 800-38B A.2 advises against tags under 64 bits, but formats with DES MACs have 32 bits.
            Shape::Mac { alg } => match output {
                OutputSpace::Exactly(tag_len) => (4..=alg.tag_len()).contains(&tag_len),
                OutputSpace::UpTo(capacity) => capacity >= alg.tag_len(),
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

    fn cipher_fits(spec: CipherSpec, iv: &[u8], len: usize) -> bool {
        iv.len() == spec.alg.block_len() && len.is_multiple_of(spec.granularity())
    }

    /// Returns the length of the detached tag that a record makes or compares.
    fn tag_len(shape: Shape, record: &ResolvedRecord<'_>) -> usize {
        if shape.is_sealing() { record.tag.len as usize } else { record.expected_tag.len() }
    }

    /// Checks the lengths of a TLS record in CBC mode. RFC 5246 6.2.3.2.
    fn mte_fits(
        cipher: BlockCipher,
        mac: MacAlg,
        direction: Direction,
        len: usize,
        output: OutputSpace,
    ) -> bool {
        match direction {
            Direction::Encrypt => len <= MAX_MTE_FRAGMENT && output.takes(mte_sealed_len(cipher, mac, len)),
            Direction::Decrypt => {
                let min = mte_sealed_len(cipher, mac, 0);
                (min..=MAX_MTE_SEALED).contains(&len)
                    && len.is_multiple_of(cipher.block_len())
                    && output.takes(len)
            }
        }
    }

    /// Checks the lengths of a key wrap.
    ///
    /// RFC 3394 2.2 and RFC 5649 4 ask for at least two half-blocks of plaintext in KW, and one byte in KWP. The
    /// place of a KWP plaintext has the padded length, and the outcome reports the real one.
    fn wrap_fits(alg: WrapAlg, direction: Direction, len: usize, output: OutputSpace) -> bool {
        let is_padded = matches!(alg, WrapAlg::Aes128Kwp | WrapAlg::Aes256Kwp);
        match direction {
            Direction::Encrypt if is_padded => len >= 1 && output.takes(len.next_multiple_of(8) + 8),
            Direction::Encrypt => len >= 16 && len.is_multiple_of(8) && output.takes(len + 8),
            Direction::Decrypt => {
                // One half-block more than the smallest plaintext: the integrity check value.
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
            input: Column::Each(vec![InputSource::Data(span(8, 8)), InputSource::Data(span(16, 16))].into()),
            output: Column::Each(
                vec![OutputSink::Output(span(0, 8)), OutputSink::Output(span(8, 16))].into(),
            ),
            ..Records::default()
        }
    }

    #[test]
    fn bytes_of_inputs_are_counted_in_every_form_of_column() {
        let mut records = two_records();
        assert_eq!(records.input_bytes(), 24);
        records.input = Column::Stride { first: InputSource::Data(span(8, 8)), stride: 8 };
        assert_eq!(records.input_bytes(), 16);
        records.input =
            Column::Runs(vec![(1, InputSource::Data(span(0, 5))), (1, InputSource::Slot(0))].into());
        assert_eq!(records.input_bytes(), 5, "an empty slot has none");
        assert_eq!(Records::default().input_bytes(), 0);
    }

    #[test]
    fn a_shape_accepts_any_values_in_columns_that_it_does_not_read() {
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
    fn absent_associated_data_is_accepted_and_told_from_an_empty_string() {
        let siv = Shape::Aead { alg: AeadAlg::Aes128Siv, direction: Direction::Encrypt };
        let records = Records {
            len: 3,
            keys: vec![key_of(32)].into(),
            output_len: 16,
            aad: Column::Each(vec![Span::ABSENT, Span::default(), span(33, 0)].into()),
            tag: Column::One(span(0, 16)),
            data: vec![0; 32].into(),
            ..Records::default()
        };
        let found: Vec<_> = records.resolve(siv).map(|record| record.map(|record| record.has_aad)).collect();
        assert_eq!(found, [Ok(false), Ok(true), Err(Status::Malformed)]);
    }

    #[test]
    fn one_bad_record_fails_alone() {
        let mut records = two_records();
        assert!(records.is_complete() && records.resolve(CBC).all(|record| record.is_ok()));
        assert!(records.borrowed().resolve(CBC).all(|record| record.is_ok()));
        records.input =
            Column::Each(vec![InputSource::Data(span(8, 7)), InputSource::Data(span(16, 16))].into());
        let statuses: Vec<_> = records.resolve(CBC).map(|record| record.err()).collect();
        assert_eq!(statuses, [Some(Status::BadLength), None]);
    }

    #[test]
    fn a_record_with_a_missing_span_key_or_slot_gets_a_status() {
        let status = |change: fn(&mut Records<'static>)| {
            let mut records = two_records();
            change(&mut records);
            records.resolve(CBC).next().unwrap().err()
        };
        assert_eq!(status(|r| r.iv = Column::One(span(30, 8))), Some(Status::Malformed));
        assert_eq!(status(|r| r.key = Column::One(KeySource::Table(1))), Some(Status::Malformed));
        assert_eq!(status(|r| r.key = Column::One(KeySource::Slot(0))), Some(Status::DependencyFailed));
        assert_eq!(status(|r| r.output_len = 4), Some(Status::Malformed));
        assert_eq!(status(|r| r.output = Column::One(OutputSink::Slot(0))), Some(Status::Malformed));
    }
}
