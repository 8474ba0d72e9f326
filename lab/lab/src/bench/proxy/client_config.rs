//! The TLS settings of clients.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::client::{Resumption, WebPkiServerVerifier};
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::crypto::aws_lc_rs::{cipher_suite, default_provider, kx_group};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use super::super::handshake::ClientTlsVersion;
use super::super::sessions::SharedSessions;

/// One signature in so many is verified, so that the clients' core is not the limit.
const VERIFY_EVERY: u64 = 16;

/// The groups that clients offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OfferedGroups {
    /// X25519. In TLS 1.2 also P-256, behind it.
    X25519,
    /// The hybrid, and nothing else.
    Hybrid,
    /// The hybrid, and X25519 for servers without it.
    HybridFirst,
}

/// Makes the settings of clients that accept this certificate in PEM and no other. They offer AES-128-GCM and these
/// groups only, so that all proxies compute the same.
pub(super) fn client_config(
    certificate: &str,
    version: ClientTlsVersion,
    groups: OfferedGroups,
    resumes: bool,
) -> io::Result<ClientConfig> {
    let provider = Arc::new(narrow_provider(version, groups));
    let verifier = Arc::new(SampledVerifier::new(certificate, provider.clone())?);
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version.of_rustls()])
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.resumption = match resumes {
        true => Resumption::store(Arc::new(SharedSessions::default())),
        false => Resumption::disabled(),
    };
    Ok(config)
}

fn narrow_provider(version: ClientTlsVersion, groups: OfferedGroups) -> CryptoProvider {
    let mut kx_groups = match groups {
        OfferedGroups::X25519 => vec![kx_group::X25519],
        OfferedGroups::Hybrid => vec![kx_group::X25519MLKEM768],
        OfferedGroups::HybridFirst => vec![kx_group::X25519MLKEM768, kx_group::X25519],
    };
    if version == ClientTlsVersion::Tls12 {
        // RFC 8422 4: a server uses an ECDSA certificate only if the client names its curve here.
        kx_groups.push(kx_group::SECP256R1);
    }
    CryptoProvider {
        cipher_suites: vec![
            cipher_suite::TLS13_AES_128_GCM_SHA256,
            cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
            cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        ],
        kx_groups,
        ..default_provider()
    }
}

/// A verifier that compares every certificate, and verifies some of the signatures.
#[derive(Debug)]
struct SampledVerifier {
    certificate: CertificateDer<'static>,
    full: Arc<WebPkiServerVerifier>,
    /// The number of signatures until now.
    signatures: AtomicU64,
}

impl SampledVerifier {
    fn new(certificate: &str, provider: Arc<CryptoProvider>) -> io::Result<Self> {
        let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).map_err(io::Error::other)?;
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).map_err(io::Error::other)?;
        let full = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        Ok(Self { certificate, full: full.map_err(io::Error::other)?, signatures: AtomicU64::new(0) })
    }

    fn verify(
        &self,
        verify: impl FnOnce(&WebPkiServerVerifier) -> Result<HandshakeSignatureValid, Error>,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.signatures.fetch_add(1, Ordering::Relaxed).is_multiple_of(VERIFY_EVERY) {
            true => verify(&self.full),
            false => Ok(HandshakeSignatureValid::assertion()),
        }
    }
}

impl ServerCertVerifier for SampledVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match *end_entity == self.certificate {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify(|full| full.verify_tls12_signature(message, certificate, signature))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify(|full| full.verify_tls13_signature(message, certificate, signature))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.full.supported_verify_schemes()
    }
}

#[cfg(test)]
mod verifier_tests {
    use super::*;

    fn verifier() -> SampledVerifier {
        let made = rcgen::generate_simple_self_signed(vec!["bench.oarlock.test".to_owned()]).unwrap();
        SampledVerifier::new(
            &made.cert.pem(),
            Arc::new(narrow_provider(ClientTlsVersion::Tls13, OfferedGroups::X25519)),
        )
        .unwrap()
    }

    #[test]
    fn rejects_every_certificate_but_its_own() {
        let (verifier, other) = (verifier(), verifier());
        let verify = |certificate: &CertificateDer<'_>| {
            let name = ServerName::try_from("bench.oarlock.test").unwrap();
            verifier.verify_server_cert(certificate, &[], &name, &[], UnixTime::now())
        };
        assert!(verify(&verifier.certificate).is_ok());
        assert!(verify(&other.certificate).is_err());
    }

    #[test]
    fn verifies_the_first_signature_and_then_one_in_sixteen() {
        let verifier = verifier();
        let wrong = || verifier.verify(|_| Err(Error::General("wrong signature".to_owned()))).is_err();
        let rejected: Vec<usize> = (0..40).filter(|_| wrong()).collect();
        assert_eq!(rejected, [0, 16, 32]);
    }
}
