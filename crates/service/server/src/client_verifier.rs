//! The verifier of client certificates. The TLS alert of a refusal has its reason.

use std::sync::Arc;

use tokio_rustls::rustls::client::danger::HandshakeSignatureValid;
use tokio_rustls::rustls::pki_types::{CertificateDer, UnixTime};
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError, SignatureScheme,
};

use crate::identity::{ClientIdentity, IdentityError};

/// A verifier that checks chains as webpki does, and checks that the certificate names a client that grants can know.
/// Both happen in the handshake, so that a refused client gets an alert and not a closed connection.
#[derive(Debug)]
pub(crate) struct ClientVerifier {
    chains: Arc<dyn ClientCertVerifier>,
}

impl ClientVerifier {
    pub(crate) fn new(chains: Arc<dyn ClientCertVerifier>) -> Self {
        Self { chains }
    }
}

impl ClientCertVerifier for ClientVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.chains.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.chains.verify_client_cert(end_entity, intermediates, now)?;
        match ClientIdentity::from_certificate(end_entity) {
            Ok(_) => Ok(verified),
            Err(IdentityError::Unreadable) => Err(CertificateError::BadEncoding.into()),
            // This becomes the alert certificate_unknown: RFC 8446 6.2 has no alert for a certificate without a name.
            Err(nameless) => Err(CertificateError::Other(OtherError(Arc::new(nameless))).into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}
