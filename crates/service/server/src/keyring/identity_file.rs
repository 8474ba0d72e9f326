//! The identity file, which opens sealed key files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use oarlock_files::FileStamp;
use oarlock_key_files::SecretReader;
use oarlock_key_files::sealed::{AgeIdentities, IdentityReadFault};

use super::ResidentKeysError;

/// The identity file of the settings, and its last content.
#[derive(Debug, Default)]
pub(super) struct IdentityFile {
    path: Option<PathBuf>,
    seen: Option<FileStamp>,
    identities: Option<Arc<AgeIdentities>>,
}

impl IdentityFile {
    /// Reads the file that the settings name, if they name one.
    pub(super) fn open(path: Option<&Path>, reader: SecretReader) -> Result<Self, ResidentKeysError> {
        let mut file = Self { path: path.map(Path::to_owned), ..Self::default() };
        file.refresh(reader)?;
        Ok(file)
    }

    /// Reads the file if it has changed. Returns true if there are new identities. After an error the last ones stay.
    pub(super) fn refresh(&mut self, reader: SecretReader) -> Result<bool, ResidentKeysError> {
        let Some(path) = &self.path else { return Ok(false) };
        let failed = |fault| match fault {
            IdentityReadFault::Exposed(error) => ResidentKeysError::Exposed { setting: "identity", error },
            error => ResidentKeysError::Identity { path: path.clone(), error },
        };
        let stamp = FileStamp::read(path).map_err(|error| failed(error.into()))?;
        // The stamp is kept even if the file cannot be used, so that its fault is reported once.
        if self.seen.replace(stamp) == Some(stamp) {
            return Ok(false);
        }
        let identities = AgeIdentities::read(path, reader).map_err(failed)?;
        self.identities = Some(Arc::new(identities));
        Ok(true)
    }

    /// Returns the identities, if there are any.
    pub(super) fn identities(&self) -> Option<&Arc<AgeIdentities>> {
        self.identities.as_ref()
    }
}
