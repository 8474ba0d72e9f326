//! Mutual TLS 1.3.
//!
//! What a request needs to be trusted is that it comes from a known client and is fresh. The handshake proves the first, for the
//! client signs it with its certificate's key; and each record of a connection is encrypted under keys that only this
//! handshake made, with its number in the nonce (RFC 8446 5.3), so none can be replayed, reordered or left out. There is no early
//! data (RFC 8446 8), which alone could be replayed, and no resumption, which would outlive a certificate.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{NoServerSessionStorage, VerifierBuilderError, WebPkiClientVerifier};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{self, RootCertStore, ServerConfig};

use crate::config::Tls;

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read as what it should be.
    #[error("{}: expected {expected} in PEM: {reason}", path.display())]
    Pem {
        /// Which file.
        path: PathBuf,
        /// What should be in it.
        expected: &'static str,
        /// What was wrong.
        reason: String,
    },
    /// Certificate and key do not belong together, or cannot be used.
    #[error("{}: {error}", path.display())]
    Certificate {
        /// The certificate's file.
        path: PathBuf,
        /// What was wrong.
        error: rustls::Error,
    },
    /// The authorities of clients cannot be used.
    #[error("{}: {error}", path.display())]
    ClientCa {
        /// Their file.
        path: PathBuf,
        /// What was wrong.
        error: VerifierBuilderError,
    },
}

/// What takes TCP connections to TLS.
pub(crate) fn acceptor(tls: &Tls) -> Result<TlsAcceptor, TlsError> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut authorities = RootCertStore::empty();
    let expected = "certificates of the clients' authorities";
    for certificate in certificates(&tls.client_ca, expected)? {
        authorities.add(certificate).map_err(|error| unusable(&tls.client_ca, error))?;
    }
    let verifier = WebPkiClientVerifier::builder_with_provider(authorities.into(), Arc::clone(&provider))
        .build()
        .map_err(|error| TlsError::ClientCa { path: tls.client_ca.clone(), error })?;
    let chain = certificates(&tls.certificate, "the server's certificates")?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| unusable(&tls.certificate, error))?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, private_key(&tls.private_key)?)
        .map_err(|error| unusable(&tls.certificate, error))?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn unusable(path: &Path, error: rustls::Error) -> TlsError {
    TlsError::Certificate { path: path.to_owned(), error }
}

fn certificates(path: &Path, expected: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let failed = |reason: String| TlsError::Pem { path: path.to_owned(), expected, reason };
    let found = CertificateDer::pem_file_iter(path).map_err(|error| failed(error.to_string()))?;
    let found = found.collect::<Result<Vec<_>, _>>().map_err(|error| failed(error.to_string()))?;
    if found.is_empty() { Err(failed("there is none".into())) } else { Ok(found) }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let expected = "the server's private key";
    PrivateKeyDer::from_pem_file(path).map_err(|error| TlsError::Pem {
        path: path.to_owned(),
        expected,
        reason: error.to_string(),
    })
}
