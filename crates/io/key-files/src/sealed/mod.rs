//! Key files sealed with [age](https://age-encryption.org), which any transport may carry and only the holder of an
//! identity can open.
//!
//! | item | purpose |
//! |---|---|
//! | [`AgeIdentities`] | the identities of a file, as `age-keygen` writes it |
//! | [`AgeRecipient`] | the public half of an identity, `age1...` |
//! | [`open_sealed`], [`seal`] | the format, without I/O |
//! | [`read_key_file`] | reads a key file, sealed or not |
//!
//! The format is version 1 (<https://c2sp.org/age>), binary or armored, with X25519 recipients only. Passphrases, SSH
//! keys and plugins are not supported.

mod armor;
mod bech32;
mod fault;
mod file_key;
mod header;
mod identity;
mod read;
mod recipient;
mod stream;

use aws_lc_rs::rand;
use zeroize::Zeroizing;

pub use self::fault::{IdentityFault, IdentityLineFault, IdentityReadFault, RecipientFault, SealFault};
use self::file_key::FileKey;
use self::header::{SealHeader, write_header};
pub use self::identity::AgeIdentities;
pub use self::read::{KeyFileContent, KeyFileReadFault, SealForm, read_key_file};
pub use self::recipient::{AgeRecipient, parse_recipients};

/// The ending of sealed key files, behind that of the key file.
pub const SEALED_ENDING: &str = "age";

/// The form of a sealed file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SealArmor {
    /// Binary.
    #[default]
    Binary,
    /// Text in PEM.
    Armored,
}

/// Returns true if the bytes begin as a sealed file does, binary or armored.
#[must_use]
pub fn is_sealed(bytes: &[u8]) -> bool {
    bytes.starts_with(header::INTRO) || armor::is_armored(bytes)
}

/// Opens a sealed file, and returns the content. Nothing of it is returned unless all of it is authentic.
///
/// # Errors
/// The file is damaged, or it is sealed for others, or its content is longer than `max_bytes`.
pub fn open_sealed(
    sealed: &[u8],
    identities: &AgeIdentities,
    max_bytes: usize,
) -> Result<Zeroizing<Vec<u8>>, SealFault> {
    if armor::is_armored(sealed) {
        return open_binary(&armor::decode(sealed)?, identities, max_bytes);
    }
    open_binary(sealed, identities, max_bytes)
}

fn open_binary(
    sealed: &[u8],
    identities: &AgeIdentities,
    max_bytes: usize,
) -> Result<Zeroizing<Vec<u8>>, SealFault> {
    let (header, payload) = SealHeader::parse(sealed)?;
    let file_key = identities.unwrap_file_key(&header)?;
    file_key.verify_header(header.authenticated, &header.mac)?;
    stream::open(&file_key, payload, max_bytes)
}

/// Seals a content, so that each of the recipients can open it.
///
/// # Errors
/// There is no recipient or a weak one, or the machine fails.
pub fn seal(content: &[u8], recipients: &[AgeRecipient], armor: SealArmor) -> Result<Vec<u8>, SealFault> {
    if recipients.is_empty() {
        return Err(SealFault::NoRecipient);
    }
    let file_key = FileKey::generate()?;
    let mut sealed = write_header(&file_key, recipients)?;
    let mut nonce = [0; stream::NONCE_LEN];
    rand::fill(&mut nonce).map_err(|_| SealFault::Machine)?;
    stream::seal(&file_key, &nonce, content, &mut sealed)?;
    match armor {
        SealArmor::Binary => Ok(sealed),
        SealArmor::Armored => Ok(armor::encode(&sealed)),
    }
}

/// Returns the maximum length of a sealed file whose content has at most this length.
#[must_use]
pub(crate) fn max_sealed_len(content_len: usize) -> usize {
    let binary = header::MAX_LEN.saturating_add(stream::max_sealed_len(content_len));
    armor::max_encoded_len(binary)
}

#[cfg(test)]
mod tests;
