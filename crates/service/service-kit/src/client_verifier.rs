//! A verifier of client certificates with a rule of the service. A client that the rule refuses gets an alert in the
//! handshake, and not a closed connection.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};

/// A rule for the certificates of clients whose chain is good.
pub trait ClientRule: fmt::Debug + Send + Sync {
    /// Checks the chain of a client, its own certificate first.
    ///
    /// # Errors
    /// The client is refused. The error decides the alert.
    fn check(&self, certificate: &CertificateDer<'_>, others: &[CertificateDer<'_>]) -> Result<(), Error>;
}

/// A verifier that checks chains as another one does, and then the rule.
#[derive(Debug)]
pub struct RuledClientVerifier<R> {
    chains: Arc<dyn ClientCertVerifier>,
    /// The rule that clients with a valid chain must keep.
    pub rule: R,
}

impl<R> RuledClientVerifier<R> {
    /// Adds a rule to a verifier of chains.
    pub fn new(chains: impl ClientCertVerifier + 'static, rule: R) -> Self {
        Self { chains: Arc::new(chains), rule }
    }
}

impl<R: ClientRule> ClientCertVerifier for RuledClientVerifier<R> {
    fn offer_client_auth(&self) -> bool {
        self.chains.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.chains.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.chains.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.chains.verify_client_cert(certificate, others, now)?;
        self.rule.check(certificate, others)?;
        Ok(verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}
