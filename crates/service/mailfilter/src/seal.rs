//! The seal of ARC sets.

use std::sync::{Arc, OnceLock};

use oarlock::{DigestAlg, Key};
use oarlock_dkim::{ArcSealer, BodyNeed, DkimSigner, SealError, SignerError};
use tracing::warn;

use crate::config::SealSettings;
use crate::error::FilterServiceError;
use crate::keys::{KeyReader, SigningKeyFault, SigningKeyFile};
use crate::style::SigningStyle;

/// The seal of the settings. Its key is read at the start, or later if its holder is not available then.
pub(crate) struct SealSource {
    settings: SealSettings,
    style: Arc<SigningStyle>,
    file: Arc<SigningKeyFile>,
    sealer: OnceLock<ArcSealer>,
}

/// The reason why a message was not sealed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SealFailure {
    #[error(transparent)]
    Key(#[from] SigningKeyFault),
    #[error(transparent)]
    Signer(#[from] SignerError),
    #[error(transparent)]
    Seal(#[from] SealError),
}

impl SealSource {
    /// Reads the key on this thread.
    pub(crate) fn open(
        settings: &SealSettings,
        style: &Arc<SigningStyle>,
        keys: &KeyReader,
    ) -> Result<Self, FilterServiceError> {
        let file = Arc::new(SigningKeyFile::new(settings.key.clone()));
        let source = Self {
            settings: settings.clone(),
            style: Arc::clone(style),
            file: Arc::clone(&file),
            sealer: OnceLock::new(),
        };
        match file.read(keys) {
            Ok((_, key)) => {
                source.sealer_of(key).map_err(|error| FilterServiceError::Signer {
                    setting: "[arc] seal",
                    path: settings.key.clone(),
                    selector: settings.selector.clone(),
                    error,
                })?;
            }
            Err(fault) if fault.may_recover() => {
                warn!(%fault, "the key of [arc] seal is not available: messages are not sealed until it is");
            }
            Err(fault) => return Err(fault.into()),
        }
        Ok(source)
    }

    /// Returns the hash of the body that a seal needs. Keys of both types sign SHA-256 (RFC 8617 4.1.2, RFC 8463 3).
    pub(crate) fn body_need(&self) -> BodyNeed {
        BodyNeed { form: self.style.canonicalization.body, digest: DigestAlg::Sha256, limit: None }
    }

    /// Returns the sealer. Reads the key if it was not available before.
    pub(crate) async fn sealer(&self, keys: &KeyReader) -> Result<&ArcSealer, SealFailure> {
        match self.sealer.get() {
            Some(sealer) => Ok(sealer),
            None => Ok(self.sealer_of(self.file.key(keys).await?)?),
        }
    }

    fn sealer_of(&self, key: Key) -> Result<&ArcSealer, SignerError> {
        let signer = DkimSigner::new(&self.settings.domain, &self.settings.selector, key)?
            .with_canonicalization(self.style.canonicalization)
            .with_fields(self.style.fields.clone());
        Ok(self.sealer.get_or_init(|| ArcSealer::new(signer)))
    }
}
