//! Records from rows: the simple case of one key, and outputs side by side.

use std::borrow::Cow;
use std::ops::Range;

use crate::{
    AeadAlg, CipherSpec, Column, DigestAlg, Direction, InputSource, JobError, Key, MacAlg, OutputSink,
    Records, Shape, Span, erase,
};

/// The length of every tag that [`RowRecords::seal`] makes.
const TAG_LEN: usize = 16;

/// One record to compute. Fields that the operation does not need stay empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowInput<'a> {
    /// The IV or nonce.
    pub iv: &'a [u8],
    /// The associated data. Empty means none, which AES-SIV tells from an empty string.
    pub aad: &'a [u8],
    /// The plaintext, the ciphertext without its tag, or the message.
    pub input: &'a [u8],
    /// The tag to compare. Only [`RowRecords::open`] reads it.
    pub tag: &'a [u8],
}

/// Records under one key with their shape, made from rows. Results lie side by side, in the order of the rows.
///
/// [`Records`] can do more: many keys, values that are shared, spans over buffers of the caller without a copy.
#[derive(Clone, Debug)]
pub struct RowRecords {
    shape: Shape,
    records: Records<'static>,
    ends: Vec<usize>,
}

impl RowRecords {
    /// Encrypts rows of any lengths that the mode takes.
    ///
    /// # Errors
    /// [`JobError::Malformed`]: inputs or outputs exceed 4 GiB.
    pub fn encrypt(cipher: CipherSpec, key: &Key, rows: &[RowInput<'_>]) -> Result<Self, JobError> {
        Self::cipher(cipher, Direction::Encrypt, key, rows)
    }

    /// Decrypts rows. A cipher alone does not show whether a row was changed.
    ///
    /// # Errors
    /// Those of [`encrypt`](Self::encrypt).
    pub fn decrypt(cipher: CipherSpec, key: &Key, rows: &[RowInput<'_>]) -> Result<Self, JobError> {
        Self::cipher(cipher, Direction::Decrypt, key, rows)
    }

    /// Encrypts and authenticates rows. A result is the ciphertext and a tag of 16 bytes.
    ///
    /// # Errors
    /// Those of [`encrypt`](Self::encrypt).
    pub fn seal(alg: AeadAlg, key: &Key, rows: &[RowInput<'_>]) -> Result<Self, JobError> {
        let shape = Shape::Aead { alg, direction: Direction::Encrypt };
        Self::new(shape, Some(key), rows, |row| (row.input.len(), TAG_LEN))
    }

    /// Decrypts rows whose tag is right. A row with a wrong tag is [`Status::Rejected`](crate::Status::Rejected), and its
    /// result is zeros.
    ///
    /// # Errors
    /// Those of [`encrypt`](Self::encrypt).
    pub fn open(alg: AeadAlg, key: &Key, rows: &[RowInput<'_>]) -> Result<Self, JobError> {
        let shape = Shape::Aead { alg, direction: Direction::Decrypt };
        Self::new(shape, Some(key), rows, |row| (row.input.len(), 0))
    }

    /// Makes authentication codes of full length.
    ///
    /// # Errors
    /// Those of [`encrypt`](Self::encrypt).
    pub fn authenticate(alg: MacAlg, key: &Key, rows: &[RowInput<'_>]) -> Result<Self, JobError> {
        Self::new(Shape::Mac { alg }, Some(key), rows, |_| (alg.tag_len(), 0))
    }

    /// Hashes rows.
    ///
    /// # Errors
    /// Those of [`encrypt`](Self::encrypt).
    pub fn digest(alg: DigestAlg, rows: &[RowInput<'_>]) -> Result<Self, JobError> {
        Self::new(Shape::Digest { alg }, None, rows, |_| (alg.output_len(), 0))
    }

    /// Returns the shape of the records.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the records.
    #[must_use]
    pub fn records(&self) -> &Records<'static> {
        &self.records
    }

    /// Returns the bytes of a row's result in [`Outcomes::bytes`](crate::Outcomes::bytes).
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn range(&self, row: usize) -> Range<usize> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[row]
    }

    fn cipher(
        cipher: CipherSpec,
        direction: Direction,
        key: &Key,
        rows: &[RowInput<'_>],
    ) -> Result<Self, JobError> {
        let shape = Shape::Cipher { alg: cipher.alg, mode: cipher.mode, direction };
        Self::new(shape, Some(key), rows, |row| (row.input.len(), 0))
    }

    /// Copies the rows into one buffer. `lens` are the lengths of a row's output and of the tag behind it.
    fn new(
        shape: Shape,
        key: Option<&Key>,
        rows: &[RowInput<'_>],
        lens: impl Fn(&RowInput<'_>) -> (usize, usize),
    ) -> Result<Self, JobError> {
        // At full size from the start: memory that grows would leave copies of plaintexts behind.
        let len = |row: &RowInput<'_>| row.iv.len() + row.aad.len() + row.input.len() + row.tag.len();
        let mut data = Vec::with_capacity(rows.iter().map(len).sum());
        let mut append = |bytes: &[u8]| {
            data.extend_from_slice(bytes);
            span(data.len() - bytes.len(), bytes.len())
        };
        let [mut ivs, mut aads, mut tags] = [const { Vec::new() }; 3];
        let (mut inputs, mut outputs, mut ends, mut end) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for row in rows {
            let (output_len, tag_len) = lens(row);
            ivs.push(append(row.iv)?);
            aads.push(if row.aad.is_empty() { Span::ABSENT } else { append(row.aad)? });
            inputs.push(InputSource::Data(append(row.input)?));
            outputs.push(OutputSink::Output(span(end, output_len)?));
            tags.push(if tag_len == 0 { append(row.tag)? } else { span(end + output_len, tag_len)? });
            end += output_len + tag_len;
            ends.push(end);
        }
        let records = Records {
            len: rows.len(),
            keys: key.into_iter().cloned().collect(),
            data: Cow::Owned(data),
            output_len: end,
            iv: Column::Each(ivs.into()),
            aad: Column::Each(aads.into()),
            input: Column::Each(inputs.into()),
            output: Column::Each(outputs.into()),
            tag: Column::Each(tags.into()),
            ..Records::default()
        };
        Ok(Self { shape, records, ends })
    }
}

impl Drop for RowRecords {
    fn drop(&mut self) {
        if let Cow::Owned(data) = &mut self.records.data {
            erase(data);
        }
    }
}

fn span(start: usize, len: usize) -> Result<Span, JobError> {
    Span::new(start, len).ok_or(JobError::Malformed { what: "the rows of one call exceed 4 GiB" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockCipher, CipherMode, Fingerprint, KeyParts, SecretBytes, Status};

    fn key(len: usize) -> Key {
        Key::local(KeyParts::Secret(SecretBytes::new(vec![1; len])), Fingerprint::new([0; 32]))
    }

    fn faults(made: &RowRecords) -> Vec<Option<Status>> {
        made.records().resolve(made.shape()).map(|record| record.err()).collect()
    }

    #[test]
    fn rows_resolve_and_their_results_lie_side_by_side() {
        let rows = [b"0123456789abcdef".as_slice(), b"", b"0123456789abcdef0123456789abcdef"]
            .map(|input| RowInput { iv: &[7; 12], aad: b"row", input, ..RowInput::default() });
        let sealed = RowRecords::seal(AeadAlg::Aes128Gcm, &key(16), &rows).unwrap();
        assert_eq!(faults(&sealed), [None; 3]);
        assert_eq!([0, 1, 2].map(|row| sealed.range(row)), [0..32, 32..48, 48..96]);

        let opened = rows.map(|row| RowInput { tag: &[0; 16], ..row });
        let opened = RowRecords::open(AeadAlg::Aes128Gcm, &key(16), &opened).unwrap();
        assert_eq!(faults(&opened), [None; 3]);
        assert_eq!(opened.range(2), 16..48);

        let codes = RowRecords::authenticate(MacAlg::HmacSha256, &key(20), &rows).unwrap();
        assert_eq!((faults(&codes), codes.range(1)), (vec![None; 3], 32..64));
        let digests = RowRecords::digest(DigestAlg::Sha1, &rows).unwrap();
        assert_eq!((faults(&digests), digests.range(2)), (vec![None; 3], 40..60));
    }

    /// RFC 5297 section 2.4: an empty string is a component of the input, and no string is none.
    #[test]
    fn a_row_without_associated_data_has_none() {
        let rows = [&b""[..], b"row"].map(|aad| RowInput { aad, input: b"text", ..RowInput::default() });
        let sealed = RowRecords::seal(AeadAlg::Aes128Siv, &key(32), &rows).unwrap();
        let found: Vec<_> =
            sealed.records().resolve(sealed.shape()).map(|row| row.unwrap().has_aad).collect();
        assert_eq!(found, [false, true]);
    }

    #[test]
    fn a_row_of_the_wrong_length_fails_alone() {
        let cbc = CipherSpec { alg: BlockCipher::Aes128, mode: CipherMode::Cbc };
        let rows =
            [&[0; 16][..], &[0; 15]].map(|input| RowInput { iv: &[0; 16], input, ..RowInput::default() });
        for made in [RowRecords::encrypt(cbc, &key(16), &rows), RowRecords::decrypt(cbc, &key(16), &rows)] {
            assert_eq!(faults(&made.unwrap()), [None, Some(Status::BadLength)]);
        }
    }
}
