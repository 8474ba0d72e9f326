//! Private keys. Each is read when it is first needed and shared by all lines of the table that name it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use oarlock::Key;
use oarlock::keys::reference::{REFERENCE_LABEL, Reference};
use oarlock::keys::{KeyError, held, import};
use oarlock_dkim::{DkimSigner, SignerError};
use oarlock_files::FileStamp;
use oarlock_key_files::sealed::is_sealed;
use oarlock_key_files::{ExposedSecret, check_secret_mode, read_secret};
use oarlock_service_kit::{CRYPTOSERVER_HOLDER, ServiceClock};
use oarlock_wire::{RemoteError, RemoteHolder};
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
    /// The file names a key at a server, but no server is configured.
    #[error("{}: the key {name:?} lives at a cryptoserver: expected a section [cryptoserver]", path.display())]
    NoServer {
        /// The path of the file.
        path: PathBuf,
        /// The name of the key at the server.
        name: String,
    },
    /// The server does not answer or does not know the key.
    #[error("{}: {reason}", path.display())]
    Server {
        /// The path of the file.
        path: PathBuf,
        /// The answer or the error.
        reason: String,
    },
}

impl SigningKeyFault {
    /// Returns true if the fault lies with a cryptoserver, which may recover.
    pub(crate) fn is_server(&self) -> bool {
        matches!(self, Self::Server { .. })
    }
}

/// A reader of key files and its settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyReader {
    pub(crate) remote: Option<RemoteHolder>,
    pub(crate) allows_open_keys: bool,
    /// The number of files that were read.
    pub(crate) reads: Arc<AtomicU64>,
    /// The clock that decides which lines still need their keys.
    pub(crate) clock: ServiceClock,
}

/// A key file that is read on first use.
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
        // The stamp is taken first, so that a file that is replaced meanwhile is read again later.
        let stamp = FileStamp::read(&self.path).ok();
        count(&reader.reads, 1);
        let bytes =
            // One byte more than the limit makes the import report a file that is too long.
            read_secret(&self.path, import::MAX_INPUT_LEN + 1).map_err(|error| self.unread(&error))?;
        let key = match is_reference(&bytes) {
            true => self.held(&bytes, reader)?,
            false => self.local(&bytes, reader)?,
        };
        if key.rsa_public_shape().is_some() && rsa_bits(&key) < ADVISED_RSA_BITS {
            warn!(key = %self.path.display(), bits = rsa_bits(&key), "a signing key is shorter than the recommended 2048 bits");
        }
        Ok((stamp, key))
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
        import::any(bytes, None).map_err(|error| self.malformed(error))
    }

    fn held(&self, bytes: &[u8], reader: &KeyReader) -> Result<Key, SigningKeyFault> {
        let Reference { name, spki } = Reference::parse_pem(bytes).map_err(|error| self.malformed(error))?;
        let Some(remote) = &reader.remote else {
            return Err(SigningKeyFault::NoServer { path: self.path.clone(), name });
        };
        match spki {
            Some(spki) => {
                held::from_spki(&spki, CRYPTOSERVER_HOLDER, &name).map_err(|error| self.malformed(error))
            }
            None => remote.key(&name).map_err(|error: RemoteError| self.refused(&error)),
        }
    }

    fn unread(&self, error: &dyn fmt::Display) -> SigningKeyFault {
        SigningKeyFault::Read { path: self.path.clone(), reason: error.to_string() }
    }

    fn malformed(&self, error: KeyError) -> SigningKeyFault {
        SigningKeyFault::Key { path: self.path.clone(), error }
    }

    fn refused(&self, error: &dyn fmt::Display) -> SigningKeyFault {
        SigningKeyFault::Server { path: self.path.clone(), reason: error.to_string() }
    }
}

impl fmt::Debug for SigningKeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyFile({})", self.path.display())
    }
}

fn is_reference(bytes: &[u8]) -> bool {
    let label = format!("-----BEGIN {REFERENCE_LABEL}-----");
    bytes.windows(label.len()).any(|window| window == label.as_bytes())
}

fn rsa_bits(key: &Key) -> u16 {
    use oarlock::KeyKind;
    match key.kind() {
        KeyKind::RsaPrivate(bits) | KeyKind::RsaPublic(bits) => bits,
        _ => u16::MAX,
    }
}
