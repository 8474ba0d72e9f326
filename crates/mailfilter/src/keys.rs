//! Private keys, read when they are first needed and shared by all lines of a table that name them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use oarlock::Key;
use oarlock::keys::reference::{REFERENCE_LABEL, Reference};
use oarlock::keys::{KeyError, held, import};
use oarlock_dkim::{Signer, SignerError};
use oarlock_io::{ExposedSecret, FileStamp, check_secret_mode, read_secret};
use oarlock_wire::{RemoteError, RemoteHolder};
use tokio::sync::OnceCell;
use tracing::warn;

use oarlock_milter::counters::count;

/// The holder of keys that live at a cryptoserver.
pub(crate) const HOLDER: &str = "cryptoserver";

/// What no verifier has to take, and what keys should have. RFC 8301 3.2.
const ADVISED_RSA_BITS: u16 = 2048;

/// Why a key cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFault {
    /// The file cannot be read.
    #[error("{}: {reason}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Others may read the file.
    #[error("{0}, or signing.allows_open_keys")]
    Open(ExposedSecret),
    /// It holds no key that signs.
    #[error("{}: {error}", path.display())]
    Key {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        error: KeyError,
    },
    /// It holds a key that cannot sign mail.
    #[error("{} (selector {selector}): {error}", path.display())]
    Unsuitable {
        /// The file.
        path: PathBuf,
        /// Under which selector it was to sign.
        selector: String,
        /// The key that it is, and the keys that would do.
        error: SignerError,
    },
    /// It names a key at a server, and there is none.
    #[error("{}: the key {name:?} lives at a cryptoserver: expected a section [cryptoserver]", path.display())]
    NoServer {
        /// Which file.
        path: PathBuf,
        /// What the key is called there.
        name: String,
    },
    /// The server does not answer, or does not know the key.
    #[error("{}: {reason}", path.display())]
    Server {
        /// Which file.
        path: PathBuf,
        /// What it said.
        reason: String,
    },
}

impl KeyFault {
    /// True where the fault lies with a cryptoserver, which may be there again later.
    pub(crate) fn is_server(&self) -> bool {
        matches!(self, Self::Server { .. })
    }
}

/// How keys are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyReader {
    pub(crate) remote: Option<RemoteHolder>,
    pub(crate) allows_open_keys: bool,
    /// How many were read.
    pub(crate) reads: Arc<AtomicU64>,
}

/// One key file, which may not have been read yet.
pub(crate) struct KeyFile {
    path: PathBuf,
    key: OnceCell<(Option<FileStamp>, Key)>,
}

impl KeyFile {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, key: OnceCell::new() }
    }

    /// The key, read at first; whoever comes meanwhile waits. A failure is not kept: the file may come.
    pub(crate) async fn key(self: &Arc<Self>, reader: &KeyReader) -> Result<Key, KeyFault> {
        let read = || async {
            let (file, reader) = (Arc::clone(self), reader.clone());
            let read = tokio::task::spawn_blocking(move || file.read(&reader));
            read.await.unwrap_or_else(|error| Err(self.unread(&error)))
        };
        self.key.get_or_try_init(read).await.map(|(_, key)| key.clone())
    }

    /// Reads the key on this thread, unless it was read before, and makes sure that it can sign.
    pub(crate) fn check(&self, selector: &str, reader: &KeyReader) -> Result<(), KeyFault> {
        let unsuitable =
            |error| KeyFault::Unsuitable { path: self.path.clone(), selector: selector.to_owned(), error };
        if let Some((_, key)) = self.key.get() {
            return Signer::check_key(key).map_err(unsuitable);
        }
        let read = self.read(reader)?;
        Signer::check_key(&read.1).map_err(unsuitable)?;
        // Whoever has read it meanwhile has read the same.
        let _ = self.key.set(read);
        Ok(())
    }

    /// Reads the key now, on this thread.
    pub(crate) fn read(&self, reader: &KeyReader) -> Result<(Option<FileStamp>, Key), KeyFault> {
        // Taken before: a file that is replaced meanwhile is read once more later.
        let stamp = FileStamp::of(&self.path).ok();
        count(&reader.reads, 1);
        let bytes =
            read_secret(&self.path, import::MAX_INPUT_LEN + 1).map_err(|error| self.unread(&error))?;
        let key = match is_reference(&bytes) {
            true => self.held(&bytes, reader)?,
            false => self.local(&bytes, reader)?,
        };
        if key.rsa_public_shape().is_some() && rsa_bits(&key) < ADVISED_RSA_BITS {
            warn!(key = %self.path.display(), bits = rsa_bits(&key), "an RSA key of fewer than 2048 bits signs");
        }
        Ok((stamp, key))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// True where it has been read, and the file is still what it was.
    pub(crate) fn is_current(&self) -> bool {
        self.key.get().is_some_and(|(stamp, _)| stamp.is_some() && *stamp == FileStamp::of(&self.path).ok())
    }

    fn local(&self, bytes: &[u8], reader: &KeyReader) -> Result<Key, KeyFault> {
        let about = self.path.metadata().map_err(|error| self.unread(&error))?;
        if !reader.allows_open_keys {
            check_secret_mode(&self.path, &about).map_err(KeyFault::Open)?;
        }
        import::any(bytes, None).map_err(|error| self.malformed(error))
    }

    fn held(&self, bytes: &[u8], reader: &KeyReader) -> Result<Key, KeyFault> {
        let Reference { name, spki } = Reference::parse_pem(bytes).map_err(|error| self.malformed(error))?;
        let Some(remote) = &reader.remote else {
            return Err(KeyFault::NoServer { path: self.path.clone(), name });
        };
        match spki {
            Some(spki) => held::from_spki(&spki, HOLDER, &name).map_err(|error| self.malformed(error)),
            None => remote.key(&name).map_err(|error: RemoteError| self.refused(&error)),
        }
    }

    fn unread(&self, error: &dyn fmt::Display) -> KeyFault {
        KeyFault::Read { path: self.path.clone(), reason: error.to_string() }
    }

    fn malformed(&self, error: KeyError) -> KeyFault {
        KeyFault::Key { path: self.path.clone(), error }
    }

    fn refused(&self, error: &dyn fmt::Display) -> KeyFault {
        KeyFault::Server { path: self.path.clone(), reason: error.to_string() }
    }
}

impl fmt::Debug for KeyFile {
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
