//! Encryption, decryption and translation of columns.
//!
//! | file | content |
//! |---|---|
//! | `encrypt`, `decrypt` | the records of an encryption and a decryption |
//! | `translate` | a decryption and an encryption whose plaintext is never output |
//! | `derived_iv` | IVs that follow from the row |
//! | `associated_data` | the data that is authenticated with a value |

mod associated_data;
mod decrypt;
mod derived_iv;
mod encrypt;
mod translate;

use arrow_array::Array;

pub use self::associated_data::AssociatedData;
pub(crate) use self::associated_data::AssociatedValues;
use self::decrypt::DecryptRows;
use self::encrypt::EncryptRows;
use self::translate::TranslateRows;
use crate::run::run;
use crate::values::ValueColumn;
use crate::{ColumnCipher, ColumnError, ColumnKeys, ColumnResult, OnError};

/// The options of an encryption.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Encryption<'a> {
    /// The name of the key.
    pub key: &'a str,
    /// The cipher under which the values are sealed.
    pub cipher: ColumnCipher,
    /// The source of the IVs.
    pub iv: ColumnIv<'a>,
    /// The associated data.
    pub aad: AssociatedData<'a>,
}

/// The source of the IVs of an encryption.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum ColumnIv<'a> {
    /// The usual IVs of the cipher: none for AES-SIV, and otherwise as [`Random`](Self::Random).
    #[default]
    Usual,
    /// A new IV for each row, random or counted as the key's policy says.
    Random,
    /// Equal values have equal results: AES-SIV without an IV, or AES-GCM-SIV with an IV of zeros.
    Zero,
    /// The first bytes of an HMAC-SHA256 over the row id, the associated data and the value. The same row then has the
    /// same result again. The policy of the key must allow IVs of its callers.
    Derived {
        /// The name of the HMAC key.
        key: &'a str,
        /// The ids of the rows, which must differ from each other.
        row_ids: &'a dyn Array,
    },
}

/// The options of a decryption.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Decryption<'a> {
    /// The name of the key.
    pub key: &'a str,
    /// The cipher under which the values were sealed.
    pub cipher: ColumnCipher,
    /// The associated data.
    pub aad: AssociatedData<'a>,
}

/// The options of a translation from one key to another.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Translation<'a> {
    /// The present encryption.
    pub from: Decryption<'a>,
    /// The name of the new key.
    pub to_key: &'a str,
    /// The new cipher: one that authenticates if the present one does, otherwise CBC with the same length of a block.
    pub to_cipher: ColumnCipher,
}

impl<'a> Encryption<'a> {
    /// Creates options with the usual IVs of the cipher and without associated data.
    #[must_use]
    pub fn new(key: &'a str, cipher: ColumnCipher) -> Self {
        Self { key, cipher, iv: ColumnIv::Usual, aad: AssociatedData::None }
    }

    /// Sets the source of the IVs.
    #[must_use]
    pub fn iv(self, iv: ColumnIv<'a>) -> Self {
        Self { iv, ..self }
    }

    /// Sets the associated data.
    #[must_use]
    pub fn aad(self, aad: AssociatedData<'a>) -> Self {
        Self { aad, ..self }
    }
}

impl<'a> Decryption<'a> {
    /// Creates options without associated data.
    #[must_use]
    pub fn new(key: &'a str, cipher: ColumnCipher) -> Self {
        Self { key, cipher, aad: AssociatedData::None }
    }

    /// Sets the associated data.
    #[must_use]
    pub fn aad(self, aad: AssociatedData<'a>) -> Self {
        Self { aad, ..self }
    }
}

impl<'a> Translation<'a> {
    /// Creates options of a translation.
    #[must_use]
    pub fn new(from: Decryption<'a>, to_key: &'a str, to_cipher: ColumnCipher) -> Self {
        Self { from, to_key, to_cipher }
    }
}

/// Encrypts a column. A result of GCM or GCM-SIV is the IV, the ciphertext and the tag. A result of CBC is the IV and
/// the ciphertext. These are the layouts of Spark's `aes_encrypt`. A result of SIV is the tag and the ciphertext, as
/// RFC 5297 has them.
///
/// # Errors
/// The columns or the options do not fit, a key is unknown or refused, or the machine or the server failed.
pub fn encrypt(
    keys: &ColumnKeys,
    column: &dyn Array,
    options: &Encryption<'_>,
    on_error: OnError,
) -> Result<ColumnResult, ColumnError> {
    let values = ValueColumn::read("column", column)?;
    let mut rows = EncryptRows::new(keys, options, values.len())?;
    run(keys, values, &mut rows)?.finish(on_error)
}

/// Decrypts a column of the layout that [`encrypt`] writes.
///
/// # Errors
/// As [`encrypt`]. A row whose tag does not verify is a bad row.
pub fn decrypt(
    keys: &ColumnKeys,
    column: &dyn Array,
    options: &Decryption<'_>,
    on_error: OnError,
) -> Result<ColumnResult, ColumnError> {
    let values = ValueColumn::read("column", column)?;
    let mut rows = DecryptRows::new(keys, options, values.len())?;
    run(keys, values, &mut rows)?.finish(on_error)
}

/// Decrypts a column under one key and encrypts it under another, with new IVs. No plaintext leaves the keys.
///
/// # Errors
/// As [`encrypt`]. Both ciphers authenticate, or both are CBC with the same length of a block.
pub fn translate(
    keys: &ColumnKeys,
    column: &dyn Array,
    options: &Translation<'_>,
    on_error: OnError,
) -> Result<ColumnResult, ColumnError> {
    let values = ValueColumn::read("column", column)?;
    let mut rows = TranslateRows::new(keys, options, values.len())?;
    run(keys, values, &mut rows)?.finish(on_error)
}

/// Checks that only a cipher that authenticates has associated data.
fn check_associated_data(cipher: ColumnCipher, aad: &AssociatedValues<'_>) -> Result<(), ColumnError> {
    if cipher.aead().is_some() || aad.is_none() {
        return Ok(());
    }
    Err(ColumnError::Options(format!(
        "{cipher} has no associated data: leave it out, or choose a cipher that authenticates, such as aes128-gcm"
    )))
}
