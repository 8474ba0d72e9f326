//! The handshakes of a bench: the version of TLS, the key exchange, client certificates and resumption.

use std::fmt;
use std::io;
use std::sync::Arc;

use clap::ValueEnum;
use serde::Serialize;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::aws_lc_rs::{cipher_suite, default_provider, kx_group};
use tokio_rustls::rustls::crypto::{CryptoProvider, SupportedKxGroup};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};

use super::directory::{ClientCredential, ServerIdentity};
use super::sessions::SharedSessions;

/// The version of TLS that clients speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
pub(super) enum ClientTlsVersion {
    /// TLS 1.2
    #[value(name = "1.2")]
    #[serde(rename = "1.2")]
    Tls12,
    /// TLS 1.3
    #[value(name = "1.3")]
    #[serde(rename = "1.3")]
    Tls13,
}

/// The key exchange that clients offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum ClientTlsGroup {
    /// ECDH with X25519
    X25519,
    /// The hybrid of X25519 and ML-KEM-768, from OpenSSL 3.5 on
    #[value(name = "x25519mlkem768")]
    X25519MlKem768,
}

/// The handshakes of all rows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HandshakeKind {
    pub(super) version: ClientTlsVersion,
    pub(super) group: ClientTlsGroup,
    /// True if the server demands a certificate from clients.
    pub(super) has_client_certificates: bool,
    /// True if clients resume sessions with tickets.
    pub(super) resumes: bool,
}

impl HandshakeKind {
    /// Full handshakes of TLS 1.3 with X25519 and without client certificates.
    pub(super) const PLAIN: Self = Self {
        version: ClientTlsVersion::Tls13,
        group: ClientTlsGroup::X25519,
        has_client_certificates: false,
        resumes: false,
    };

    /// Makes the settings of clients that accept these servers' certificates and no other, and verify every signature.
    pub(super) fn client_config(
        self,
        servers: &[ServerIdentity],
        client: Option<&ClientCredential>,
    ) -> io::Result<ClientConfig> {
        let mut roots = RootCertStore::empty();
        for server in servers {
            let certificate = CertificateDer::from_pem_slice(server.certificate.as_bytes());
            roots.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(self.provider()))
            .with_protocol_versions(&[self.version.of_rustls()])
            .map_err(io::Error::other)?
            .with_root_certificates(roots);
        let mut config = match client {
            Some(client) => {
                let certificate = CertificateDer::from_pem_slice(client.certificate.as_bytes());
                let key = PrivateKeyDer::from_pem_slice(client.private_key.as_bytes());
                let (certificate, key) =
                    (certificate.map_err(io::Error::other)?, key.map_err(io::Error::other)?);
                builder.with_client_auth_cert(vec![certificate], key).map_err(io::Error::other)?
            }
            None => builder.with_no_client_auth(),
        };
        config.resumption = match self.resumes {
            true => Resumption::store(Arc::new(SharedSessions::default())),
            false => Resumption::disabled(),
        };
        Ok(config)
    }

    /// True if a server of rustls is measured too: OpenSSL may lack the group.
    pub(super) fn is_beside_rustls(self) -> bool {
        self.group != ClientTlsGroup::X25519
    }

    fn provider(self) -> CryptoProvider {
        let mut provider = CryptoProvider { kx_groups: self.group.offered(), ..default_provider() };
        if self.version == ClientTlsVersion::Tls12 {
            provider.cipher_suites = vec![
                cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
                cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            ];
        }
        provider
    }
}

impl ClientTlsVersion {
    /// Returns the same version of rustls.
    pub(super) fn of_rustls(self) -> &'static SupportedProtocolVersion {
        match self {
            Self::Tls12 => &TLS12,
            Self::Tls13 => &TLS13,
        }
    }

    /// Returns the number of the version.
    pub(super) fn number(self) -> &'static str {
        match self {
            Self::Tls12 => "1.2",
            Self::Tls13 => "1.3",
        }
    }
}

impl ClientTlsGroup {
    /// Returns OpenSSL's name of the group.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::X25519 => "X25519",
            Self::X25519MlKem768 => "X25519MLKEM768",
        }
    }

    /// Returns the groups that clients offer. A server with another group in mind cannot have it.
    fn offered(self) -> Vec<&'static dyn SupportedKxGroup> {
        match self {
            // RFC 8422 4: a server uses an ECDSA certificate in TLS 1.2 only if the client names its curve here.
            Self::X25519 => vec![kx_group::X25519, kx_group::SECP256R1, kx_group::SECP384R1],
            Self::X25519MlKem768 => vec![kx_group::X25519MLKEM768],
        }
    }
}

/// Completes the sentence "handshakes of".
impl fmt::Display for HandshakeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {}", self.version, self.group.name())?;
        if self.has_client_certificates {
            f.write_str(" and client certificates")?;
        }
        f.write_str(if self.resumes { ", resumed with tickets" } else { ", without resumption" })
    }
}

impl fmt::Display for ClientTlsVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TLS {}", self.number())
    }
}
