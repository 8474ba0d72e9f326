//! Keys that sign zones, from files: BIND's, PEM, and references to keys at a cryptoserver.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use oarlock::keys::reference::{REFERENCE_LABEL, Reference};
use oarlock::keys::{KeyError, Passphrase, bind, held, import};
use oarlock::{AcceleratorBuilder, Key};
use oarlock::{Curve, KeyKind, MlDsaSet, SlhDsaSet};
use oarlock_dnssec::{
    Dnskey, DnskeyError, DnssecAlgorithm, DomainName, DomainNameBuf, RecordType, SECURE_ENTRY_POINT,
    ZONE_KEY, ZoneRecord, dnskey_rdata,
};
use oarlock_key_files::{check_private, read_secret};
use oarlock_terminal::{CommandError, FailureKind, GlobalOptions};
use oarlock_wire::{ConnectObserver, RemoteError, RemoteHolder};

use super::key_text;
use crate::call::{CallError, HOLDER, ServerArgs, connect_observer, server_holder};
use crate::keys::{KeyPassphrase, KeysError};

/// Flags of a key-signing key, and of one that signs everything.
pub(crate) const KEY_SIGNING: u16 = ZONE_KEY | SECURE_ENTRY_POINT;
/// Flags of a zone-signing key.
pub(crate) const ZONE_SIGNING: u16 = ZONE_KEY;

/// The endings of a key's files.
const ENDINGS: [&str; 3] = [".private", ".key", ".pem"];

/// Options for opening keys.
#[derive(Args, Clone, Debug)]
pub(crate) struct KeyFileArgs {
    #[command(flatten)]
    pub(crate) passphrase: KeyPassphrase,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// The properties that a key must have if its file does not state them. Stated ones must be the same.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WantedKey {
    /// The algorithm. An RSA key without it gets [RSASHA256](DnssecAlgorithm::RSASHA256); other keys determine it.
    pub(crate) algorithm: Option<DnssecAlgorithm>,
    /// The flags; [`KEY_SIGNING`] if nothing else is known.
    pub(crate) flags: Option<u16>,
}

/// A key that signs a zone.
#[derive(Clone, Debug)]
pub(crate) struct ZoneSigningKey {
    /// The private half, or a handle of the server that holds it.
    pub(crate) key: Key,
    pub(crate) algorithm: DnssecAlgorithm,
    pub(crate) flags: u16,
    /// The DNSKEY's data.
    pub(crate) dnskey: Vec<u8>,
    pub(crate) key_tag: u16,
    /// The file that was read.
    pub(crate) path: PathBuf,
}

/// The reason why a file is not a signing key of a zone.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SigningKeyError {
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Dnskey(#[from] DnskeyError),
    #[error("expected a private key, found a public one")]
    Public,
    #[error("expected a key of RSA, P-256, P-384, Ed25519, ML-DSA-44 or SLH-DSA-SHA2-128s, found {0:?}")]
    Kind(KeyKind),
    #[error("expected algorithm {expected}, found {found}")]
    Algorithm { expected: DnssecAlgorithm, found: DnssecAlgorithm },
    #[error("expected flags {expected}, found {found}")]
    Flags { expected: u16, found: u16 },
    #[error("{} has no DNSKEY of {zone}", path.display())]
    NoDnskey { path: PathBuf, zone: DomainNameBuf },
    #[error("{} is the public half of another key", path.display())]
    OtherKey { path: PathBuf },
    #[error("expected a DNSKEY with the zone flag (256), found flags {0}")]
    NoZoneKey(u16),
    #[error(transparent)]
    Server(#[from] CallError),
    #[error("the cryptoserver: {0}")]
    Remote(#[from] RemoteError),
}

impl CommandError for SigningKeyError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Key(error) => error.kind(),
            Self::Server(error) => error.kind(),
            Self::Remote(_) => FailureKind::Machine,
            _ => FailureKind::Usage,
        }
    }
}

/// The files and the server that keys are loaded from.
pub(crate) struct KeyFiles {
    passphrase: Option<Passphrase>,
    server: ServerArgs,
    observer: Option<ConnectObserver>,
    /// The server, once a file has named a key there.
    remote: OnceCell<RemoteHolder>,
}

impl KeyFileArgs {
    /// # Errors
    /// The passphrase cannot be read.
    pub(crate) fn open(&self, global: &GlobalOptions) -> Result<KeyFiles, KeysError> {
        let passphrase = self.passphrase.read()?;
        let (server, observer) = (self.server.clone(), connect_observer(global));
        Ok(KeyFiles { passphrase, server, observer, remote: OnceCell::new() })
    }
}

impl KeyFiles {
    /// Loads the key of `zone` in a file: BIND's private key, PEM or DER, or a reference. `path` may lack the ending,
    /// or be that of the public key. If a file of the same name that ends in `.key` stands beside it, flags and
    /// algorithm are those of the DNSKEY in it.
    ///
    /// # Errors
    /// The file cannot be read or is not a signing key, or a server does not describe the key.
    pub(crate) fn load(
        &self,
        path: &Path,
        zone: DomainName<'_>,
        wanted: WantedKey,
    ) -> Result<ZoneSigningKey, super::DnssecError> {
        let private = private_path(path);
        let unread = |error| super::DnssecError::Read { path: private.clone(), error };
        // One byte more than the parser takes, so that a longer file is refused and not cut.
        let bytes = read_secret(&private, import::MAX_INPUT_LEN + 1).map_err(unread)?;
        let key = self
            .signing_key(&private, &bytes, zone, wanted)
            .map_err(|error| super::DnssecError::KeyFile { path: private.clone(), error: Box::new(error) })?;
        // The name of a key at a server is not secret.
        if !is_reference(&bytes) {
            File::open(&private).and_then(|file| check_private(&private, &file)).map_err(unread)?;
        }
        Ok(key)
    }

    /// Returns an accelerator's builder with the server as a holder, if a key is there.
    pub(crate) fn builder(&self, global: &GlobalOptions) -> AcceleratorBuilder {
        self.remote
            .get()
            .iter()
            .fold(global.builder(), |builder, remote| builder.holder(Arc::new((*remote).clone())))
    }

    fn signing_key(
        &self,
        path: &Path,
        bytes: &[u8],
        zone: DomainName<'_>,
        wanted: WantedKey,
    ) -> Result<ZoneSigningKey, SigningKeyError> {
        let (key, stated) = self.key(bytes)?;
        if key.kind().is_public() {
            return Err(SigningKeyError::Public);
        }
        let public = public_path(path);
        let beside = match fs::read(&public) {
            Ok(text) => Some(dnskey_of(&public, &text, &key, zone)?),
            // Without a readable file beside it, only the options and the key itself count.
            Err(_) => None,
        };
        let known = beside.as_deref().map(Dnskey::parse).transpose()?;
        let algorithm = agreed(wanted.algorithm, stated, known.map(|known| known.algorithm))?;
        let algorithm = algorithm.map_or_else(|| usual_algorithm(&key), Ok)?;
        let flags = match (wanted.flags, known.map(|known| known.flags)) {
            (Some(expected), Some(found)) if expected != found => {
                return Err(SigningKeyError::Flags { expected, found });
            }
            (wanted, known) => wanted.or(known).unwrap_or(KEY_SIGNING),
        };
        ZoneSigningKey::new(key, algorithm, flags, path)
    }

    /// Parses the key, and the algorithm if the file states it.
    fn key(&self, bytes: &[u8]) -> Result<(Key, Option<DnssecAlgorithm>), SigningKeyError> {
        if is_reference(bytes) {
            return Ok((self.held(bytes)?, None));
        }
        if bind::is_bind(bytes) {
            let file = bind::import(bytes)?;
            return Ok((file.key, Some(file.algorithm.into())));
        }
        Ok((import::any(bytes, self.passphrase.as_ref())?, None))
    }

    fn held(&self, bytes: &[u8]) -> Result<Key, SigningKeyError> {
        let Reference { name, spki } = Reference::parse_pem(bytes)?;
        // Made in any case: the builder takes it as the holder that signs.
        let remote = self.remote()?;
        match spki {
            // Nothing to ask the server: the reference has the public half.
            Some(spki) => Ok(held::from_spki(&spki, HOLDER, &name)?),
            None => Ok(remote.key(&name)?),
        }
    }

    fn remote(&self) -> Result<&RemoteHolder, SigningKeyError> {
        if let Some(remote) = self.remote.get() {
            return Ok(remote);
        }
        let remote = server_holder(&self.server, self.observer.clone())?;
        // In two steps, because `OnceCell::get_or_try_init` is not stable yet.
        Ok(self.remote.get_or_init(|| remote))
    }
}

impl ZoneSigningKey {
    /// # Errors
    /// The key is not of the algorithm.
    pub(crate) fn new(
        key: Key,
        algorithm: DnssecAlgorithm,
        flags: u16,
        path: &Path,
    ) -> Result<Self, SigningKeyError> {
        if flags & ZONE_KEY == 0 {
            return Err(SigningKeyError::NoZoneKey(flags));
        }
        let dnskey = dnskey_rdata(flags, algorithm, &key)?;
        let key_tag = Dnskey::parse(&dnskey)?.key_tag();
        Ok(Self { key, algorithm, flags, dnskey, key_tag, path: path.to_owned() })
    }

    /// True if it signs the zone's keys.
    pub(crate) fn is_key_signing(&self) -> bool {
        self.flags & SECURE_ENTRY_POINT != 0
    }
}

/// Returns the file of the private key that `path` means.
fn private_path(path: &Path) -> PathBuf {
    let stem = stem(path);
    let candidates = [".private", ".pem"].map(|ending| with_ending(&stem, ending));
    let is_public = path.to_string_lossy().ends_with(".key") && !holds_private(path);
    if path.is_file() && !is_public {
        return path.to_owned();
    }
    candidates.into_iter().find(|candidate| candidate.is_file()).unwrap_or_else(|| path.to_owned())
}

/// True if a `.key` file is a private key in PEM, as some users name it.
fn holds_private(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| bytes.windows(11).any(|window| window == b"-----BEGIN "))
}

/// Returns the file of the DNSKEY beside a private key.
fn public_path(private: &Path) -> PathBuf {
    let public = with_ending(&stem(private), ".key");
    // A private key may be in a `.key` file, which must not be taken for that of its DNSKEY.
    if public == private { with_ending(&public, ".key") } else { public }
}

/// Appends an ending. `Path::with_extension` would replace a part of `Kexample.+013+12345`.
fn stem(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    let stem = ENDINGS.iter().find_map(|ending| text.strip_suffix(ending));
    stem.map_or_else(|| path.to_owned(), PathBuf::from)
}

fn with_ending(stem: &Path, ending: &str) -> PathBuf {
    let mut path = stem.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// Returns the data of the zone's DNSKEY in a file. It must belong to the key.
fn dnskey_of(path: &Path, text: &[u8], key: &Key, zone: DomainName<'_>) -> Result<Vec<u8>, SigningKeyError> {
    let none = || SigningKeyError::NoDnskey { path: path.to_owned(), zone: zone.to_buf() };
    let zone = zone.to_lower();
    let records = key_text::records(text);
    let is_own = |record: &ZoneRecord<'_>| record.rtype == RecordType::DNSKEY && record.owner == zone.name();
    let record = records.iter().find(is_own).ok_or_else(none)?;
    let dnskey = Dnskey::parse(record.data)?;
    // The same key with the same flags has the same bytes, so a comparison is enough.
    match dnskey_rdata(dnskey.flags, dnskey.algorithm, key) {
        Ok(rdata) if rdata == record.data => Ok(rdata),
        _ => Err(SigningKeyError::OtherKey { path: path.to_owned() }),
    }
}

/// Compares the wanted properties, those of the private key's file and those of the DNSKEY beside it. All that are
/// known must be equal.
fn agreed(
    wanted: Option<DnssecAlgorithm>,
    stated: Option<DnssecAlgorithm>,
    beside: Option<DnssecAlgorithm>,
) -> Result<Option<DnssecAlgorithm>, SigningKeyError> {
    let mut agreed = wanted;
    for found in [stated, beside].into_iter().flatten() {
        match agreed {
            Some(expected) if expected != found => {
                return Err(SigningKeyError::Algorithm { expected, found });
            }
            _ => agreed = Some(found),
        }
    }
    Ok(agreed)
}

fn usual_algorithm(key: &Key) -> Result<DnssecAlgorithm, SigningKeyError> {
    match key.kind() {
        KeyKind::RsaPrivate(_) => Ok(DnssecAlgorithm::RSASHA256),
        KeyKind::EcPrivate(Curve::P256) => Ok(DnssecAlgorithm::ECDSAP256SHA256),
        KeyKind::EcPrivate(Curve::P384) => Ok(DnssecAlgorithm::ECDSAP384SHA384),
        KeyKind::Ed25519Private => Ok(DnssecAlgorithm::ED25519),
        KeyKind::MlDsaPrivate(MlDsaSet::MlDsa44) => Ok(DnssecAlgorithm::ML_DSA_44),
        KeyKind::SlhDsaPrivate(SlhDsaSet::Sha2_128s) => Ok(DnssecAlgorithm::SLH_DSA_SHA2_128S),
        other => Err(SigningKeyError::Kind(other)),
    }
}

fn is_reference(bytes: &[u8]) -> bool {
    let label = format!("-----BEGIN {REFERENCE_LABEL}-----");
    bytes.windows(label.len()).any(|window| window == label.as_bytes())
}
