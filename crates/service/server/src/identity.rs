//! The identity of a client: the names that its channel proves. Nothing that the client claims counts.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use oarlock_network::HostName;
use tokio_rustls::rustls::pki_types::CertificateDer;
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

/// The names by which grants know a client: `dns:`, `uri:` and `email:` with the names of its certificate, `uid:` and
/// `gid:` of the process at the other end of a UNIX socket, `loopback` if no other name is known.
///
/// Two identities are equal if their names are equal. So a client keeps its identity when it renews its certificate.
#[derive(Clone, Debug)]
pub(crate) struct ClientIdentity {
    names: Arc<[String]>,
    /// The serial number of the certificate, in hex with colons.
    serial: Option<Arc<str>>,
    process: Option<i32>,
    address: Option<SocketAddr>,
}

/// An error of a certificate that gives no identity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum IdentityError {
    /// The certificate cannot be parsed.
    #[error("the client's certificate cannot be read")]
    Unreadable,
    /// The certificate has no subject alternative name of a kind that grants know.
    #[error("the client's certificate has no DNS name, e-mail address or URI as subject alternative name")]
    Nameless,
}

impl ClientIdentity {
    /// Returns the identity that the subject alternative names of a certificate prove: DNS names, e-mail addresses and
    /// URIs. The common name does not count. RFC 6125 6.4.4.
    ///
    /// # Errors
    /// The certificate cannot be parsed, or has no such name.
    pub(crate) fn from_certificate(certificate: &CertificateDer<'_>) -> Result<Self, IdentityError> {
        let (_, parsed) = X509Certificate::from_der(certificate).map_err(|_| IdentityError::Unreadable)?;
        let extension = parsed.subject_alternative_name().map_err(|_| IdentityError::Unreadable)?;
        let names = extension.map(|extension| extension.value.general_names.as_slice()).unwrap_or_default();
        // The prefixes keep the kinds apart: a URI must never pass for a DNS name in a grant.
        let names: Vec<String> = names.iter().filter_map(prefixed_name).collect();
        if names.is_empty() {
            return Err(IdentityError::Nameless);
        }
        Ok(Self { serial: Some(parsed.raw_serial_as_string().into()), ..Self::from_names(names) })
    }

    /// Returns the identity of a process with these credentials.
    pub(crate) fn from_credentials(uid: u32, gid: u32) -> Self {
        Self::from_names(vec![format!("uid:{uid}"), format!("gid:{gid}")])
    }

    /// Returns the identity of a client that is only known to be on this machine.
    pub(crate) fn loopback() -> Self {
        Self::from_names(vec!["loopback".to_owned()])
    }

    pub(crate) fn from_names(names: Vec<String>) -> Self {
        Self { names: names.into(), serial: None, process: None, address: None }
    }

    /// Returns the names of the client.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the serial number of the client's certificate, in hex with colons.
    pub(crate) fn serial(&self) -> Option<&str> {
        self.serial.as_deref()
    }

    /// Returns the same identity with the address that the client comes from.
    pub(crate) fn with_address(self, address: Option<SocketAddr>) -> Self {
        Self { address, ..self }
    }

    /// Returns the same identity with the number of the client's process.
    pub(crate) fn with_process(self, process: Option<i32>) -> Self {
        Self { process, ..self }
    }

    /// Returns the address that the client comes from.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Returns the number that the client's process had when it connected.
    pub(crate) fn process(&self) -> Option<i32> {
        self.process
    }
}

impl PartialEq for ClientIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Eq for ClientIdentity {}

fn prefixed_name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some(format!("dns:{}", HostName::new(name))),
        GeneralName::URI(name) => Some(format!("uri:{name}")),
        GeneralName::RFC822Name(name) => Some(format!("email:{name}")),
        _ => None,
    }
}

impl fmt::Display for ClientIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names.join(","))
    }
}
