//! Reading one certificate: its chain, its key or the reference to it, and its OCSP response.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use oarlock::keys::reference::{REFERENCE_LABEL, Reference};
use oarlock::keys::{held, import};
use oarlock::{Accelerator, Key};
use oarlock_key_files::check_secret_mode;
use oarlock_key_files::sealed::is_sealed;
use oarlock_network::HostName;
use oarlock_rustls::{TlsKeyError, load_signing_key, signing_key};
use oarlock_service_kit::CRYPTOSERVER_HOLDER;
use oarlock_service_kit::certificate::CertificateValidity;
use oarlock_wire::RemoteHolder;
use rustls::pki_types::CertificateDer;
use rustls::sign::{CertifiedKey, SigningKey};
use rustls::{Error, InconsistentKeys, SignatureAlgorithm};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};
use zeroize::Zeroizing;

use super::directory::CertificateFiles;
use super::error::CertificateFault;
use super::warning::{CertificateWarning, ChainProperties};

/// The maximum length of a file. A chain has a few kilobytes.
const MAX_FILE_BYTES: usize = 1 << 20;

/// The units that compute with the keys of certificates.
#[derive(Clone)]
pub struct CertificateKeySources {
    /// The accelerator, which has the cryptoserver as a holder if there is one.
    pub accelerator: Accelerator,
    /// The cryptoserver, for references.
    pub remote: Option<RemoteHolder>,
}

/// A certificate that was read.
#[derive(Debug)]
pub struct CertificateEntry {
    /// The files that the certificate and its key came from.
    pub files: CertificateFiles,
    /// The chain and its key.
    pub key: Arc<CertifiedKey>,
    /// The DNS names as they are compared. A wildcard begins with `*.`.
    pub names: Vec<Box<str>>,
    /// The time in which the certificate is valid.
    pub validity: CertificateValidity,
    pub(super) properties: ChainProperties,
    /// True if the key lives at a cryptoserver.
    pub is_held: bool,
}

impl CertificateEntry {
    /// Reads the files.
    pub(super) fn read(
        files: CertificateFiles,
        sources: &CertificateKeySources,
    ) -> Result<Self, CertificateFault> {
        let bytes = read_file(&files.chain)?;
        let chain = parse_chain(&files.chain, &bytes)?;
        let (names, validity, properties) = read_properties(&files.chain, &chain)?;
        let (key, is_held) = read_key(&files, &bytes, sources)?;
        let mut certified = CertifiedKey::new(chain, key);
        match certified.keys_match() {
            // A reference may come without the public key, which the server then compares at the first signature.
            Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => {}
            Err(Error::InconsistentKeys(_)) => {
                let path = key_path(&files).to_owned();
                return Err(CertificateFault::Mismatch { path, chain: files.chain });
            }
            Err(error) => {
                return Err(CertificateFault::Certificate { path: files.chain, reason: error.to_string() });
            }
        }
        if files.has_staple() {
            certified.ocsp = Some(read_staple(&files.staple)?);
        }
        Ok(Self { files, key: Arc::new(certified), names, validity, properties, is_held })
    }

    /// Returns the faults for which clients reject the certificate at a time in seconds since 1970.
    #[must_use]
    pub fn warning(&self, now_s: i64) -> Option<CertificateWarning> {
        self.properties.warning(&self.files.chain, now_s)
    }

    /// Returns the order of certificates of one name: ML-DSA first, as every client that takes it takes ECDSA too, so
    /// that it would never be served behind ECDSA; RSA last, as it costs most. Of two of a kind the one that ends later
    /// comes first.
    pub(super) fn preference(&self) -> (u8, i64) {
        let rank = match self.key.key.algorithm() {
            SignatureAlgorithm::ECDSA | SignatureAlgorithm::ED25519 => 1,
            SignatureAlgorithm::RSA => 2,
            // ML-DSA, which has no number among the algorithms of TLS 1.2.
            _ => 0,
        };
        (rank, -self.validity.not_after)
    }
}

impl fmt::Debug for CertificateKeySources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CertificateKeySources(remote: {})", self.remote.is_some())
    }
}

/// Reads a file that may contain a key.
fn read_file(path: &Path) -> Result<Zeroizing<Vec<u8>>, CertificateFault> {
    let failed = |error| CertificateFault::Read { path: path.to_owned(), error };
    let bytes = oarlock_key_files::read_secret(path, MAX_FILE_BYTES + 1).map_err(failed)?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(CertificateFault::TooLong { path: path.to_owned(), max: MAX_FILE_BYTES });
    }
    Ok(bytes)
}

fn parse_chain(path: &Path, bytes: &[u8]) -> Result<Vec<CertificateDer<'static>>, CertificateFault> {
    let fault = |reason: &str| CertificateFault::Chain { path: path.to_owned(), reason: reason.to_owned() };
    // Only blocks with certificates are decoded, so that no copy of a key in the same file is left in memory.
    let chain = import::certificates(bytes).map_err(|error| fault(&error.to_string()))?;
    if chain.is_empty() {
        return Err(fault("found none"));
    }
    Ok(chain.into_iter().map(CertificateDer::from).collect())
}

/// Returns the DNS names of a chain's first certificate, its validity, and the properties of the whole chain.
fn read_properties(
    path: &Path,
    chain: &[CertificateDer<'_>],
) -> Result<(Vec<Box<str>>, CertificateValidity, ChainProperties), CertificateFault> {
    let fault = |reason: String| CertificateFault::Certificate { path: path.to_owned(), reason };
    let leaf = &chain[0];
    let (_, leaf) = X509Certificate::from_der(leaf).map_err(|error| fault(error.to_string()))?;
    let alternatives = leaf.subject_alternative_name().map_err(|error| fault(error.to_string()))?;
    let alternatives = alternatives.iter().flat_map(|extension| &extension.value.general_names);
    let has_address = alternatives.clone().any(|name| matches!(name, GeneralName::IPAddress(_)));
    let mut names: Vec<Box<str>> = alternatives
        .filter_map(|name| match name {
            GeneralName::DNSName(name) => Some(String::from(HostName::new(name)).into_boxed_str()),
            _ => None,
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    let properties = ChainProperties::from_chain(chain, has_address || !names.is_empty());
    Ok((names, CertificateValidity::from_parsed(&leaf), properties))
}

fn key_path(files: &CertificateFiles) -> &Path {
    if files.has_key_file() { &files.key } else { &files.chain }
}

/// Returns the key and whether it lives at a cryptoserver. A key file precedes a key in the chain's file.
fn read_key(
    files: &CertificateFiles,
    chain: &[u8],
    sources: &CertificateKeySources,
) -> Result<(Arc<dyn SigningKey>, bool), CertificateFault> {
    let path = key_path(files);
    let key_file;
    let bytes = if files.has_key_file() {
        key_file = read_file(path)?;
        &**key_file
    } else {
        chain
    };
    if let Some(block) = find_block(bytes, |label| label == REFERENCE_LABEL.as_bytes()) {
        return Ok((read_reference(path, block, sources)?, true));
    }
    let is_private = |label: &[u8]| label.ends_with(b"PRIVATE KEY");
    if PemBlocks(bytes).filter(|(label, _)| is_private(label)).count() > 1 {
        // The intended one is unknown, as the error says.
        return load_local(path, bytes, sources);
    }
    let Some(block) = find_block(bytes, is_private) else {
        return match files.has_key_file() {
            // DER, or something that the parser describes.
            true => load_local(path, bytes, sources),
            false => Err(CertificateFault::NoKey { path: files.chain.clone(), key: files.key.clone() }),
        };
    };
    load_local(path, block, sources)
}

fn load_local(
    path: &Path,
    bytes: &[u8],
    sources: &CertificateKeySources,
) -> Result<(Arc<dyn SigningKey>, bool), CertificateFault> {
    // Everybody may read a sealed file. The parser names the way to open it.
    if !is_sealed(bytes) {
        let about = File::open(path).and_then(|file| file.metadata());
        check_secret_mode(
            path,
            &about.map_err(|error| CertificateFault::Read { path: path.to_owned(), error })?,
        )?;
    }
    let key = load_signing_key(&sources.accelerator, bytes, None);
    Ok((key.map_err(|error| CertificateFault::Key { path: path.to_owned(), error })?, false))
}

fn read_reference(
    path: &Path,
    block: &[u8],
    sources: &CertificateKeySources,
) -> Result<Arc<dyn SigningKey>, CertificateFault> {
    let fault = |error: TlsKeyError| CertificateFault::Key { path: path.to_owned(), error };
    let Reference { name, spki } = Reference::parse_pem(block).map_err(|error| fault(error.into()))?;
    let Some(remote) = &sources.remote else {
        return Err(CertificateFault::NoServer { path: path.to_owned(), name });
    };
    let key: Key = match spki {
        Some(spki) => {
            held::from_spki(&spki, CRYPTOSERVER_HOLDER, &name).map_err(|error| fault(error.into()))?
        }
        None => remote
            .key(&name)
            .map_err(|error| CertificateFault::Server { path: path.to_owned(), reason: error.to_string() })?,
    };
    signing_key(&sources.accelerator, key).map_err(fault)
}

fn read_staple(path: &Path) -> Result<Vec<u8>, CertificateFault> {
    let bytes = read_file(path)?;
    // OCSPResponse is a SEQUENCE (RFC 6960 4.2.1). An empty file would be sent as an empty response.
    if bytes.first() == Some(&0x30) {
        Ok(bytes.to_vec())
    } else {
        Err(CertificateFault::Staple { path: path.to_owned() })
    }
}

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";

/// The PEM blocks of a file, with their labels, from BEGIN to the end of the END line. Nothing is decoded or copied.
struct PemBlocks<'a>(&'a [u8]);

impl<'a> Iterator for PemBlocks<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let start = position(self.0, BEGIN)?;
        let block = &self.0[start..];
        let label = &block[BEGIN.len()..];
        let label = &label[..position(label, DASHES)?];
        // A block without an end goes to the end of the file, and the decoder rejects it.
        let end = position(block, END).map(|end| end + END.len() + label.len() + DASHES.len());
        let (block, rest) = block.split_at(end.unwrap_or(block.len()).min(block.len()));
        self.0 = rest;
        Some((label, block))
    }
}

/// Returns the first PEM block with such a label.
fn find_block(bytes: &[u8], is_wanted: impl Fn(&[u8]) -> bool) -> Option<&[u8]> {
    PemBlocks(bytes).find(|(label, _)| is_wanted(label)).map(|(_, block)| block)
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
