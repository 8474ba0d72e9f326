//! Key files, sealed or not.

use std::fmt;
use std::io;
use std::path::Path;

use zeroize::Zeroizing;

use super::{
    AgeIdentities, SEALED_ENDING, SealArmor, SealFault, armor, is_sealed, max_sealed_len, open_sealed,
};
use crate::read_secret;

/// The content of a key file.
pub struct KeyFileContent {
    /// The content, without the seal.
    pub bytes: Zeroizing<Vec<u8>>,
    /// The form that it has on disk.
    pub form: SealForm,
}

/// The form of a key file on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealForm {
    /// The file has the key itself.
    Plain,
    /// The file is sealed.
    Sealed(SealArmor),
}

/// Shows the length and the form.
impl fmt::Debug for KeyFileContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyFileContent({} bytes, {:?})", self.bytes.len(), self.form)
    }
}

impl SealForm {
    /// Returns true if the file is sealed. Everybody may read it then.
    #[must_use]
    pub fn is_sealed(self) -> bool {
        self != Self::Plain
    }
}

/// The reason why a key file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileReadFault {
    /// The system refuses it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is sealed and cannot be opened, or its name says that it is sealed.
    #[error(transparent)]
    Sealed(#[from] SealFault),
}

/// Reads a key file. A file that is sealed, by its content or by its name, is opened. Of another file at most one byte
/// more than `max_bytes` is read, so that its parser can report that it is too long.
///
/// # Errors
/// The file cannot be read or opened, or it is sealed and its content is longer than `max_bytes`.
pub fn read_key_file(
    path: &Path,
    max_bytes: usize,
    identities: Option<&AgeIdentities>,
) -> Result<KeyFileContent, KeyFileReadFault> {
    let max_len = max_sealed_len(max_bytes);
    let mut bytes = read_secret(path, max_len.saturating_add(1))?;
    let has_name = path.extension().is_some_and(|ending| ending == SEALED_ENDING);
    if !has_name && !is_sealed(&bytes) {
        bytes.truncate(max_bytes.saturating_add(1));
        return Ok(KeyFileContent { bytes, form: SealForm::Plain });
    }
    if !is_sealed(&bytes) {
        return Err(SealFault::NotSealed.into());
    }
    let identities = identities.ok_or(SealFault::NoIdentity)?;
    if bytes.len() > max_len {
        return Err(SealFault::TooLong { max: max_bytes }.into());
    }
    let armor = if armor::is_armored(&bytes) { SealArmor::Armored } else { SealArmor::Binary };
    let content = open_sealed(&bytes, identities, max_bytes)?;
    Ok(KeyFileContent { bytes: content, form: SealForm::Sealed(armor) })
}
