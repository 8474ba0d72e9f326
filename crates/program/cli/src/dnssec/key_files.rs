//! Keys that sign zones: in files of BIND or PEM, at a cryptoserver, or in devices.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use oarlock::keys::{KeyError, Passphrase, bind, import};
use oarlock::{AcceleratorBuilder, Key};
use oarlock::{Curve, KeyKind, MlDsaSet, SlhDsaSet};
use oarlock_dnssec::sign::ZoneSignError;
use oarlock_dnssec::{
    Dnskey, DnskeyError, DnssecAlgorithm, DomainName, DomainNameBuf, KeyTimes, KeyTimesError, RecordType,
    SECURE_ENTRY_POINT, TimedFile, ZONE_KEY, ZoneRecord, dnskey_rdata,
};
use oarlock_key_files::check_private;
use oarlock_service_kit::HeldKeyFault;
use oarlock_terminal::{CommandError, FailureKind, GlobalOptions};

use super::key_text;
use crate::call::{CallError, ServerArgs, connect_observer, server_holder};
use crate::keys::{KeyInput, KeyInputs, KeyPassphrase};

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
    /// The private half, or the name of the key at its holder.
    pub(crate) key: Key,
    pub(crate) algorithm: DnssecAlgorithm,
    pub(crate) flags: u16,
    /// The DNSKEY's data.
    pub(crate) dnskey: Vec<u8>,
    pub(crate) key_tag: u16,
    /// The times of BIND's private key, or in the comments of the DNSKEY beside another one.
    pub(crate) times: KeyTimes,
    /// The file that was read, or the URI.
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
    #[error("cannot read {}: {error}", path.display())]
    Beside { path: PathBuf, error: io::Error },
    #[error("the private key has a second file, {}: remove one of the two", path.display())]
    Twice { path: PathBuf },
    #[error("expected a DNSKEY record, found none")]
    NoRecord,
    #[error(
        "the file has a format before v1.3, which has no times: expected `Private-key-format: v1.3` in its first line"
    )]
    OldFormat,
    #[error("{0}")]
    CannotSign(ZoneSignError),
    #[error(
        "its DNSKEY, which states its flags, is missing: expected a file of the same name that ends in .key"
    )]
    NoPublicHalf,
    #[error(
        "the name of the file does not fit its DNSKEY, which has algorithm {found} and tag {found_tag:05}"
    )]
    Named { found: u8, found_tag: u16 },
    #[error("{}: {error}", path.display())]
    Times { path: PathBuf, error: KeyTimesError },
    #[error("expected a DNSKEY with the zone flag (256), found flags {0}")]
    NoZoneKey(u16),
    #[error(transparent)]
    Server(#[from] CallError),
    #[error(transparent)]
    Held(#[from] HeldKeyFault),
}

impl CommandError for SigningKeyError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Key(error) => error.kind(),
            Self::Server(error) => error.kind(),
            Self::Held(fault) if fault.may_recover() => FailureKind::Machine,
            _ => FailureKind::Usage,
        }
    }
}

/// The keys of a command, before they are parsed.
pub(crate) struct KeyFiles {
    passphrase: Option<Passphrase>,
    inputs: KeyInputs,
}

impl KeyFileArgs {
    /// Reads the files that the paths mean, and opens the holders of keys that they only name.
    ///
    /// # Errors
    /// The passphrase or a file cannot be read, or a holder cannot be opened.
    pub(crate) fn open<'p>(
        &self,
        global: &GlobalOptions,
        paths: impl Iterator<Item = &'p PathBuf>,
    ) -> Result<KeyFiles, super::DnssecError> {
        let passphrase = self.passphrase.read()?;
        let private: Vec<PathBuf> = paths.map(|path| private_path(path)).collect();
        let mut inputs = KeyInputs::read(private.iter().map(PathBuf::as_path))?;
        if let Some(path) = inputs.server_key() {
            let opened = server_holder(&self.server, connect_observer(global));
            let opened = opened.map_err(|error| key_fault(path, error.into()))?;
            inputs.holders.cryptoserver = Some(opened);
        }
        Ok(KeyFiles { passphrase, inputs })
    }
}

impl KeyFiles {
    /// Loads a key of `zone` that was named at the start: BIND's private key, PEM or DER, a reference, or a URI. `path`
    /// may lack the ending, or be that of the public key. If a file of the same name that ends in `.key` stands beside
    /// it, flags and algorithm are those of the DNSKEY in it.
    ///
    /// # Errors
    /// The file is not a signing key, or its holder does not describe the key.
    pub(crate) fn load(
        &self,
        path: &Path,
        zone: DomainName<'_>,
        wanted: WantedKey,
    ) -> Result<ZoneSigningKey, super::DnssecError> {
        let private = private_path(path);
        let input = self.inputs.get(&private)?;
        let key =
            self.signing_key(&private, input, zone, wanted).map_err(|error| key_fault(&private, error))?;
        check_mode(&private, input)?;
        Ok(key)
    }

    /// Returns an accelerator's builder with the holders of the keys.
    pub(crate) fn builder(&self, global: &GlobalOptions) -> AcceleratorBuilder {
        self.inputs.holders.register(global.builder())
    }

    fn signing_key(
        &self,
        path: &Path,
        input: &KeyInput,
        zone: DomainName<'_>,
        wanted: WantedKey,
    ) -> Result<ZoneSigningKey, SigningKeyError> {
        let public = public_path(path);
        let beside = read_beside(&public, input)?;
        check_algorithm(beside.as_deref().unwrap_or_default(), zone)?;
        let (key, stated) = self.key(input)?;
        if key.kind().is_public() {
            return Err(SigningKeyError::Public);
        }
        let dnskey = beside.as_deref().map(|text| dnskey_of(&public, text, &key, zone)).transpose()?;
        let times = times_of(path, input, &public, beside.as_deref())?;
        let known = dnskey.as_deref().map(Dnskey::parse).transpose()?;
        let algorithm = agreed(wanted.algorithm, stated, known.map(|known| known.algorithm))?;
        let algorithm = algorithm.map_or_else(|| usual_algorithm(&key), Ok)?;
        let flags = match (wanted.flags, known.map(|known| known.flags)) {
            (Some(expected), Some(found)) if expected != found => {
                return Err(SigningKeyError::Flags { expected, found });
            }
            (wanted, known) => wanted.or(known).unwrap_or(KEY_SIGNING),
        };
        Ok(ZoneSigningKey { times, ..ZoneSigningKey::new(key, algorithm, flags, path)? })
    }

    /// Parses the key, and the algorithm if the file states it.
    fn key(&self, input: &KeyInput) -> Result<(Key, Option<DnssecAlgorithm>), SigningKeyError> {
        let bytes = &input.bytes;
        if let Some(name) = &input.name {
            return Ok((self.inputs.holders.key(name, None)?, None));
        }
        if bind::is_bind(bytes) {
            let file = bind::import(bytes)?;
            return Ok((file.key, Some(file.algorithm.into())));
        }
        Ok((import::any(bytes, self.passphrase.as_ref())?, None))
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
        let times = KeyTimes::default();
        Ok(Self { key, algorithm, flags, dnskey, key_tag, times, path: path.to_owned() })
    }

    /// True if it signs the zone's keys.
    pub(crate) fn is_key_signing(&self) -> bool {
        self.flags & SECURE_ENTRY_POINT != 0
    }
}

/// Reads the DNSKEY of a private key and its times, but not the private key itself.
pub(crate) fn read_timed(
    private: &Path,
    public: &Path,
    zone: DomainName<'_>,
) -> Result<(Vec<u8>, KeyTimes), super::DnssecError> {
    let input = KeyInput::read(private)?;
    check_mode(private, &input)?;
    let read = || {
        let text =
            fs::read(public).map_err(|error| SigningKeyError::Beside { path: public.to_owned(), error })?;
        let times = times_of(private, &input, public, Some(&text))?;
        Ok((zone_dnskey(public, &text, zone)?, times))
    };
    read().map_err(|error| key_fault(private, error))
}

/// Checks that other users cannot read a private key. The name of a key elsewhere is not secret.
pub(super) fn check_mode(path: &Path, input: &KeyInput) -> Result<(), super::DnssecError> {
    let unread = |error| super::DnssecError::Read { path: path.to_owned(), error };
    match input.name {
        Some(_) => Ok(()),
        None => File::open(path).and_then(|file| check_private(path, &file)).map_err(unread),
    }
}

pub(super) fn key_fault(path: &Path, error: SigningKeyError) -> super::DnssecError {
    super::DnssecError::KeyFile { path: path.to_owned(), error: Box::new(error) }
}

/// Returns the files of the private key, if there is one, and of the DNSKEY of the key that `path` means.
pub(super) fn paths(path: &Path) -> (Option<PathBuf>, PathBuf) {
    let (private, public) = (private_path(path), with_ending(&stem(path), ".key"));
    (Some(private).filter(|private| *private != public && private.is_file()), public)
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

/// Returns the data of the zone's DNSKEY in a file.
fn zone_dnskey(path: &Path, text: &[u8], zone: DomainName<'_>) -> Result<Vec<u8>, SigningKeyError> {
    let none = || SigningKeyError::NoDnskey { path: path.to_owned(), zone: zone.to_buf() };
    let zone = zone.to_lower();
    let records = key_text::records(text);
    let is_own = |record: &ZoneRecord<'_>| record.rtype == RecordType::DNSKEY && record.owner == zone.name();
    Ok(records.iter().find(is_own).ok_or_else(none)?.data.to_vec())
}

/// Returns the data of the zone's DNSKEY in a file. It must belong to the key.
fn dnskey_of(path: &Path, text: &[u8], key: &Key, zone: DomainName<'_>) -> Result<Vec<u8>, SigningKeyError> {
    let data = zone_dnskey(path, text, zone)?;
    let dnskey = Dnskey::parse(&data)?;
    // The same key with the same flags has the same bytes, so a comparison is enough.
    match dnskey_rdata(dnskey.flags, dnskey.algorithm, key) {
        Ok(rdata) if rdata == data => Ok(rdata),
        _ => Err(SigningKeyError::OtherKey { path: path.to_owned() }),
    }
}

/// Rejects a key of an algorithm that only verifies here, before its private half fails to parse.
fn check_algorithm(public: &[u8], zone: DomainName<'_>) -> Result<(), SigningKeyError> {
    let Ok(data) = zone_dnskey(Path::new(""), public, zone) else { return Ok(()) };
    match Dnskey::parse(&data)?.algorithm {
        algorithm if algorithm.signing_reason().is_some() => {
            Err(SigningKeyError::CannotSign(ZoneSignError::CannotSign(algorithm)))
        }
        _ => Ok(()),
    }
}

/// Reads the file of the DNSKEY beside a private key. Without one, only the options and the key itself count.
fn read_beside(path: &Path, input: &KeyInput) -> Result<Option<Vec<u8>>, SigningKeyError> {
    match fs::read(path) {
        Ok(text) => Ok(Some(text)),
        // A URI is not the name of a file, so there is nothing beside it.
        Err(_) if input.bytes.is_empty() => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        // Its flags, algorithm and times would count, so they are not guessed.
        Err(error) => Err(SigningKeyError::Beside { path: path.to_owned(), error }),
    }
}

/// Returns the times of BIND's private key, or those beside a key of another format, which has none.
fn times_of(
    private: &Path,
    input: &KeyInput,
    public: &Path,
    beside: Option<&[u8]>,
) -> Result<KeyTimes, SigningKeyError> {
    let (path, text, form) = match (bind::is_bind(&input.bytes), beside) {
        (true, _) => (private, &**input.bytes, TimedFile::Private),
        (false, Some(text)) => (public, text, TimedFile::Public),
        (false, None) => return Ok(KeyTimes::default()),
    };
    KeyTimes::read_file(text, form).map_err(|error| SigningKeyError::Times { path: path.to_owned(), error })
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
