//! Private keys. Each is read when it is first needed and shared by all lines of the table that name it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use oarlock::Key;
use oarlock::keys::{KeyError, import};
use oarlock_dkim::{DkimSigner, SignerError};
use oarlock_files::FileStamp;
use oarlock_key_files::sealed::is_sealed;
use oarlock_key_files::{ExposedSecret, check_secret_mode, read_secret};
use oarlock_service_kit::{HeldKeyFault, HeldKeyName, KeyHolders, ServiceClock};
use tokio::sync::OnceCell;
use tracing::warn;

use oarlock_milter::counters::count;

/// The recommended minimum for RSA keys. RFC 8301 3.2.
const ADVISED_RSA_BITS: u16 = 2048;

/// The reason why a key cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SigningKeyFault {
    /// The file cannot be read.
    #[error("{}: {reason}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        reason: String,
    },
    /// Other users can read the file.
    #[error("{0}, or signing.allows_open_keys")]
    Open(ExposedSecret),
    /// The file holds no usable key.
    #[error("{}: {error}", path.display())]
    Key {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        error: KeyError,
    },
    /// The file holds a key that cannot sign mail.
    #[error("{} (selector {selector}): {error}", path.display())]
    Unsuitable {
        /// The path of the file.
        path: PathBuf,
        /// The selector of the key.
        selector: String,
        /// The key found, and the keys that are allowed.
        error: SignerError,
    },
    /// The file or the URI names a key at the cryptoserver or in a device, which cannot be used.
    #[error("{}: {fault}", path.display())]
    Held {
        /// The path of the file, or the URI.
        path: PathBuf,
        /// The reason.
        fault: HeldKeyFault,
    },
}

impl SigningKeyFault {
    /// Returns true if the fault lies with the cryptoserver or a device, which may recover.
    pub(crate) fn may_recover(&self) -> bool {
        matches!(self, Self::Held { fault, .. } if fault.may_recover())
    }
}

/// A reader of key files and its settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyReader {
    pub(crate) holders: KeyHolders,
    pub(crate) allows_open_keys: bool,
    /// The number of files that were read.
    pub(crate) reads: Arc<AtomicU64>,
    /// The clock that decides which lines still need their keys.
    pub(crate) clock: ServiceClock,
}

/// A key file that is read on first use, or the URI of a key in a device.
pub(crate) struct SigningKeyFile {
    path: PathBuf,
    key: OnceCell<(Option<FileStamp>, Key)>,
}

impl SigningKeyFile {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, key: OnceCell::new() }
    }

    /// Returns the key. The first call reads it, and other callers wait meanwhile. A failure is not kept, because the
    /// file may appear later.
    pub(crate) async fn key(self: &Arc<Self>, reader: &KeyReader) -> Result<Key, SigningKeyFault> {
        let read = || async {
            let (file, reader) = (Arc::clone(self), reader.clone());
            let read = tokio::task::spawn_blocking(move || file.read(&reader));
            read.await.unwrap_or_else(|error| Err(self.unread(&error)))
        };
        self.key.get_or_try_init(read).await.map(|(_, key)| key.clone())
    }

    /// Reads the key on this thread unless it was read before, and checks that it can sign.
    pub(crate) fn check(&self, selector: &str, reader: &KeyReader) -> Result<(), SigningKeyFault> {
        let unsuitable = |error| SigningKeyFault::Unsuitable {
            path: self.path.clone(),
            selector: selector.to_owned(),
            error,
        };
        if let Some((_, key)) = self.key.get() {
            return DkimSigner::check_key(key).map_err(unsuitable);
        }
        let read = self.read(reader)?;
        DkimSigner::check_key(&read.1).map_err(unsuitable)?;
        // If another thread has set the key meanwhile, it is the same key.
        let _ = self.key.set(read);
        Ok(())
    }

    /// Reads the key on this thread.
    pub(crate) fn read(&self, reader: &KeyReader) -> Result<(Option<FileStamp>, Key), SigningKeyFault> {
        count(&reader.reads, 1);
        let (stamp, key) =
            match HeldKeyName::from_path(&self.path).map_err(|error| self.held(error.into()))? {
                // Without a stamp a reload asks the device again, which may have another key of this name.
                Some(name) => (None, reader.holders.key(&name, None).map_err(|fault| self.held(fault))?),
                None => self.read_file(reader)?,
            };
        if key.rsa_public_shape().is_some() && rsa_bits(&key) < ADVISED_RSA_BITS {
            warn!(key = %self.path.display(), bits = rsa_bits(&key), "a signing key is shorter than the recommended 2048 bits");
        }
        Ok((stamp, key))
    }

    fn read_file(&self, reader: &KeyReader) -> Result<(Option<FileStamp>, Key), SigningKeyFault> {
        // The stamp is taken first, so that a file that is replaced meanwhile is read again later.
        let stamp = FileStamp::read(&self.path).ok();
        let bytes =
            // One byte more than the limit makes the import report a file that is too long.
            read_secret(&self.path, import::MAX_INPUT_LEN + 1).map_err(|error| self.unread(&error))?;
        match HeldKeyName::from_file(&bytes).map_err(|fault| self.held(fault))? {
            Some(name) => {
                let key = reader.holders.key(&name, None).map_err(|fault| self.held(fault))?;
                Ok((stamp.filter(|_| !matches!(name, HeldKeyName::Device(_))), key))
            }
            None => Ok((stamp, self.local(&bytes, reader)?)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if the key was read and the file has not changed since.
    pub(crate) fn is_current(&self) -> bool {
        self.key.get().is_some_and(|(stamp, _)| stamp.is_some() && *stamp == FileStamp::read(&self.path).ok())
    }

    fn local(&self, bytes: &[u8], reader: &KeyReader) -> Result<Key, SigningKeyFault> {
        let about = self.path.metadata().map_err(|error| self.unread(&error))?;
        // Everybody may read a sealed file. The parser names the way to open it.
        if !reader.allows_open_keys && !is_sealed(bytes) {
            check_secret_mode(&self.path, &about).map_err(SigningKeyFault::Open)?;
        }
        import::any(bytes, None).map_err(|error| SigningKeyFault::Key { path: self.path.clone(), error })
    }

    fn unread(&self, error: &dyn fmt::Display) -> SigningKeyFault {
        SigningKeyFault::Read { path: self.path.clone(), reason: error.to_string() }
    }

    fn held(&self, fault: HeldKeyFault) -> SigningKeyFault {
        SigningKeyFault::Held { path: self.path.clone(), fault }
    }
}

impl fmt::Debug for SigningKeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyFile({})", self.path.display())
    }
}

fn rsa_bits(key: &Key) -> u16 {
    use oarlock::KeyKind;
    match key.kind() {
        KeyKind::RsaPrivate(bits) | KeyKind::RsaPublic(bits) => bits,
        _ => u16::MAX,
    }
}
