//! Mutual TLS 1.3.
//!
//! A request is trusted if it comes from a known client and is fresh. The handshake proves the client, which signs it
//! with the key of its certificate. Freshness follows from the records: each is encrypted under keys of this handshake,
//! with its number in the nonce (RFC 8446 5.3). So no record can be replayed, reordered or left out. Early data (RFC
//! 8446 8) is off, because it can be replayed. Resumption is off, because it would outlive a certificate.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use oarlock::keys::import;
use oarlock_files::FileStamp;
use oarlock_key_files::{ExposedSecret, SecretReader, check_secret_mode_for};
use oarlock_service_kit::certificate::{UnlinkedCertificate, unlinked};
use oarlock_service_kit::{ClientRule, RuledClientVerifier, ServiceClock};
use oarlock_sockets::{BoundedVerifier, ChainLimit};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::server::{NoServerSessionStorage, VerifierBuilderError, WebPkiClientVerifier};
use tokio_rustls::rustls::time_provider::TimeProvider;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{self, CertificateError, OtherError, RootCertStore, ServerConfig};

use crate::certificate::{
    CertificateRole, CertificateTerm, ServerCertificateError, ValidityError, check_server,
};
use crate::config::TlsConfig;
use crate::identity::{ClientIdentity, IdentityError};

/// An error of the certificates and keys of TLS.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read as PEM of the expected kind.
    #[error("{}: expected {expected} in PEM: {reason}", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// The expected content.
        expected: &'static str,
        /// The fault, without any bytes of the file.
        reason: String,
    },
    /// The certificate and the key do not belong together, or cannot be used.
    #[error("{}: {error}", path.display())]
    Certificate {
        /// The certificate's file.
        path: PathBuf,
        /// The error of the TLS library.
        error: rustls::Error,
    },
    /// The authorities of clients cannot be used.
    #[error("{}: {error}", path.display())]
    ClientCa {
        /// The file of the authorities.
        path: PathBuf,
        /// The error of the TLS library.
        error: VerifierBuilderError,
    },
    /// The server's certificate has expired or is not valid yet.
    #[error("{}: {fault}", path.display())]
    Term {
        /// The certificate's file.
        path: PathBuf,
        /// The fault of its term.
        fault: ValidityError,
    },
    /// No client would accept the server's certificate.
    #[error("{}: {reason}", path.display())]
    Unfit {
        /// The certificate's file.
        path: PathBuf,
        /// The reason why no client accepts it.
        reason: String,
    },
    /// Other users may read the private key.
    #[error(transparent)]
    Exposed(#[from] ExposedSecret),
}

/// Certificates and keys that were read together.
pub(crate) struct TlsState {
    acceptor: TlsAcceptor,
    verifier: Arc<RuledClientVerifier<NamedClientRule>>,
    authorities: Vec<CertificateDer<'static>>,
    /// The server's certificate and the authorities of clients.
    pub(crate) terms: Vec<CertificateTerm>,
    /// The first certificate of the server's chain that does not belong to it, if there is one.
    pub(crate) unlinked: Option<UnlinkedCertificate>,
    clock: ServiceClock,
}

impl std::fmt::Debug for TlsState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TlsState({:?})", self.terms)
    }
}

impl TlsState {
    /// Reads the files of a configuration.
    ///
    /// # Errors
    /// A file cannot be used.
    pub(crate) fn read(
        tls: &TlsConfig,
        clock: &ServiceClock,
        reader: SecretReader,
    ) -> Result<Self, TlsError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let authorities = certificates(&tls.client_ca, "certificates of the clients' authorities")?;
        let mut roots = RootCertStore::empty();
        for certificate in &authorities {
            roots.add(certificate.clone()).map_err(|error| unusable(&tls.client_ca, error))?;
        }
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider))
            .build()
            .map_err(|error| TlsError::ClientCa { path: tls.client_ca.clone(), error })?;
        let limit = ChainLimit::new(tls.max_chain_certificates);
        let verifier =
            Arc::new(RuledClientVerifier::new(BoundedVerifier::new(verifier, limit), NamedClientRule));
        let chain = certificates(&tls.certificate, "the server's certificates")?;
        let term = chain.first().and_then(|leaf| CertificateTerm::read(CertificateRole::Server, leaf));
        // Checked here, because rustls would accept an expired certificate, and then every client would refuse it.
        check_term(&tls.certificate, term.as_ref(), clock)?;
        check_fit(&tls.certificate, &chain)?;
        let unlinked = unlinked(&chain).next();
        let key = private_key(&tls.private_key, reader)?;
        let mut config = ServerConfig::builder_with_details(provider, Arc::new(clock.clone()))
            .with_protocol_versions(&[&TLS13])
            .map_err(|error| unusable(&tls.certificate, error))?
            .with_client_cert_verifier(Arc::clone(&verifier) as Arc<dyn ClientCertVerifier>)
            .with_single_cert(chain, key)
            .map_err(|error| unusable(&tls.certificate, error))?;
        // A client that offers only other protocols is refused in the handshake. RFC 7301 3.2.
        config.alpn_protocols = vec![b"h2".to_vec()];
        // A resumed session would outlive its certificate and the trust in its authority.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        let authority_terms = authorities
            .iter()
            .filter_map(|authority| CertificateTerm::read(CertificateRole::ClientCa, authority));
        let terms = term.into_iter().chain(authority_terms).collect();
        let (acceptor, clock) = (TlsAcceptor::from(Arc::new(config)), clock.clone());
        Ok(Self { acceptor, verifier, authorities, terms, unlinked, clock })
    }

    /// Returns the acceptor of TLS connections.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.clone()
    }

    /// Returns true if both trust the same authorities.
    pub(crate) fn trusts_as(&self, other: &Self) -> bool {
        // The order of the authorities in the file counts as a change, which costs only a check of the connections.
        self.authorities == other.authorities
    }

    /// Returns true if a client with this chain would be accepted now.
    pub(crate) fn accepts(&self, chain: &[CertificateDer<'static>]) -> bool {
        let Some((leaf, others)) = chain.split_first() else { return false };
        let now: Option<UnixTime> = self.clock.current_time();
        now.is_some_and(|now| self.verifier.verify_client_cert(leaf, others, now).is_ok())
    }

    /// Returns the faults of the certificates' terms at this time.
    pub(crate) fn term_faults(&self) -> Vec<(CertificateRole, ValidityError)> {
        let now = self.clock.signed_now_s();
        self.terms.iter().filter_map(|term| Some((term.role, term.fault(now)?))).collect()
    }
}

/// The rule that a certificate names a client that grants can know.
#[derive(Debug)]
struct NamedClientRule;

impl ClientRule for NamedClientRule {
    fn check(&self, certificate: &CertificateDer<'_>, _: &[CertificateDer<'_>]) -> Result<(), rustls::Error> {
        match ClientIdentity::from_certificate(certificate) {
            Ok(_) => Ok(()),
            Err(IdentityError::Unreadable) => Err(CertificateError::BadEncoding.into()),
            // This becomes the alert certificate_unknown: RFC 8446 6.2 has no alert for a certificate without a name.
            Err(nameless) => Err(CertificateError::Other(OtherError(Arc::new(nameless))).into()),
        }
    }
}

/// The TLS files of a configuration, and their stamps when they were last read.
#[derive(Debug)]
pub(crate) struct TlsFiles {
    tls: TlsConfig,
    /// The stamps; `None` if a file was missing.
    seen: Option<[FileStamp; 3]>,
}

impl TlsFiles {
    /// Takes the stamps of the files. Call it before the files are read, so that a change during the reading is found.
    pub(crate) fn new(tls: TlsConfig) -> Self {
        let seen = stamps(&tls);
        Self { tls, seen }
    }

    /// Reads the files again if one of them has changed. A renewed certificate and its key arrive one after the other:
    /// the first change gives an error, and the second change is read again.
    pub(crate) fn refresh(&mut self, clock: &ServiceClock) -> Option<Result<TlsState, TlsError>> {
        let now = stamps(&self.tls);
        if now == self.seen {
            return None;
        }
        self.seen = now;
        Some(TlsState::read(&self.tls, clock, SecretReader::ThisProcess))
    }
}

/// Returns the stamps of the files. Links are followed, so a link with a new target counts as a change.
fn stamps(tls: &TlsConfig) -> Option<[FileStamp; 3]> {
    let of = |path: &Path| FileStamp::read(path).ok();
    Some([of(&tls.certificate)?, of(&tls.private_key)?, of(&tls.client_ca)?])
}

fn check_term(path: &Path, term: Option<&CertificateTerm>, clock: &ServiceClock) -> Result<(), TlsError> {
    match term.and_then(|term| term.fault(clock.signed_now_s())) {
        Some(fault @ (ValidityError::Expired { .. } | ValidityError::NotYetValid { .. })) => {
            Err(TlsError::Term { path: path.to_owned(), fault })
        }
        _ => Ok(()),
    }
}

fn check_fit(path: &Path, chain: &[CertificateDer<'_>]) -> Result<(), TlsError> {
    let fit = chain.first().map_or(Err(ServerCertificateError::Unreadable), check_server);
    fit.map_err(|unfit| TlsError::Unfit { path: path.to_owned(), reason: unfit.to_string() })
}

fn unusable(path: &Path, error: rustls::Error) -> TlsError {
    TlsError::Certificate { path: path.to_owned(), error }
}

fn certificates(path: &Path, expected: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let failed = |reason: String| TlsError::Pem { path: path.to_owned(), expected, reason };
    let text = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
    let found = import::certificates(&text).map_err(|error| failed(error.to_string()))?;
    match found.is_empty() {
        true => Err(failed("found no certificate".into())),
        false => Ok(found.into_iter().map(CertificateDer::from).collect()),
    }
}

fn private_key(path: &Path, reader: SecretReader) -> Result<PrivateKeyDer<'static>, TlsError> {
    let expected = "the server's private key";
    // A missing file is reported below, with its PEM error.
    if let Ok(about) = path.metadata() {
        check_secret_mode_for(reader, path, &about)?;
    }
    PrivateKeyDer::from_pem_file(path).map_err(|error| TlsError::Pem {
        path: path.to_owned(),
        expected,
        reason: pem_fault(&error),
    })
}

/// Returns the fault of a PEM file. The error's own text quotes lines of the file, which may be the key.
fn pem_fault(error: &pem::Error) -> String {
    match error {
        // The system's error quotes no bytes of the file.
        pem::Error::Io(error) => return error.to_string(),
        pem::Error::NoItemsFound => "found no such block",
        pem::Error::MissingSectionEnd { .. } => "found a block without its END line",
        pem::Error::IllegalSectionStart { .. } => {
            "found a damaged BEGIN line: a file that lost its line ends has to get them back"
        }
        pem::Error::Base64Decode(_) => "found a block that is not base64",
        pem::Error::SectionTooLarge => "found a block of more than 10 MB",
        _ => "found a damaged block",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn does_not_quote_a_damaged_private_key() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key.pem");
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let body = "MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF";
        let whole = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
        let damaged = [whole.replace('\n', ""), whole.replace('\n', " "), whole.replace("-----END", "--END")];
        for text in damaged.iter().map(String::as_str).chain([&whole[..60], "-----BEGIN X"]) {
            std::fs::write(&path, text).unwrap();
            let said = private_key(&path, SecretReader::ThisProcess).unwrap_err().to_string();
            assert!(said.contains("key.pem: expected the server's private key"), "{said}");
            // The parser's own error shows bytes as a list of numbers.
            assert!(!said.contains(&body[..8]) && !said.contains("[45, 45"), "{said}");
        }
    }
}
