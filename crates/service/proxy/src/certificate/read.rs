//! Reading one certificate: its chain, its key and its OCSP response.

use std::path::Path;
use std::sync::Arc;

use oarlock::keys::import;
use oarlock_network::HostName;
use oarlock_service_kit::certificate::CertificateValidity;
use rustls::pki_types::CertificateDer;
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys, SignatureAlgorithm};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};
use zeroize::Zeroizing;

use super::directory::CertificateFiles;
use super::error::CertificateFault;
use super::keys::CertificateKeySources;
use super::warning::{CertificateWarning, ChainProperties};
use crate::ocsp::{OcspQuestion, OcspQuestionFault, StapleSlot};

/// The maximum length of a file. A chain has a few kilobytes.
const MAX_FILE_BYTES: usize = 1 << 20;

/// A certificate that was read.
#[derive(Debug)]
pub struct CertificateEntry {
    /// The files that the certificate and its key came from.
    pub files: CertificateFiles,
    /// The path of the chain, for logs and metrics.
    pub(crate) label: Arc<str>,
    /// The chain and its key.
    pub key: Arc<CertifiedKey>,
    /// The DNS names as they are compared. A wildcard begins with `*.`.
    pub names: Vec<Box<str>>,
    /// The time in which the certificate is valid.
    pub validity: CertificateValidity,
    pub(super) properties: ChainProperties,
    /// True if the key lives at the cryptoserver or in a device.
    pub is_held: bool,
    /// The OCSP response that is fetched, if the certificate names a responder and no file has a response.
    pub(crate) fetched: Option<Arc<StapleSlot>>,
    /// The reason why no response can be fetched although the certificate names a responder.
    pub(crate) ocsp_fault: Option<OcspQuestionFault>,
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
        let (key, is_held) = sources.key_of_files(&files, &bytes, &chain[0])?;
        let mut certified = CertifiedKey::new(chain, key);
        match certified.keys_match() {
            // A reference may come without the public key, which the server then compares at the first signature.
            Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => {}
            Err(Error::InconsistentKeys(_)) => {
                let path = files.key_path().to_owned();
                return Err(CertificateFault::Mismatch { path, chain: files.chain });
            }
            Err(error) => {
                return Err(CertificateFault::Certificate { path: files.chain, reason: error.to_string() });
            }
        }
        let question = if files.has_staple() {
            certified.ocsp = Some(read_staple(&files.staple)?);
            Ok(None)
        } else {
            OcspQuestion::read(&certified.cert)
        };
        let key = Arc::new(certified);
        let (question, ocsp_fault) = question.map_or_else(|fault| (None, Some(fault)), |found| (found, None));
        let slot = |question| Arc::new(StapleSlot::new(question, files.chain.clone(), Arc::clone(&key)));
        let fetched = question.map(slot);
        let label = files.chain.to_string_lossy().into();
        Ok(Self { files, label, key, names, validity, properties, is_held, fetched, ocsp_fault })
    }

    /// Returns the chain and its key with the OCSP response that is good at a time in seconds since 1970, if there is
    /// one.
    pub(crate) fn key_at(&self, now_s: i64) -> Arc<CertifiedKey> {
        let fetched = self.fetched.as_ref().and_then(|slot| slot.key_at(now_s));
        fetched.unwrap_or_else(|| Arc::clone(&self.key))
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

/// Reads a file that may contain a key.
pub(super) fn read_file(path: &Path) -> Result<Zeroizing<Vec<u8>>, CertificateFault> {
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

fn read_staple(path: &Path) -> Result<Vec<u8>, CertificateFault> {
    let bytes = read_file(path)?;
    // OCSPResponse is a SEQUENCE (RFC 6960 4.2.1). An empty file would be sent as an empty response.
    if bytes.first() == Some(&0x30) {
        Ok(bytes.to_vec())
    } else {
        Err(CertificateFault::Staple { path: path.to_owned() })
    }
}
