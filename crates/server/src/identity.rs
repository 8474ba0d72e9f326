//! Who a client is: what its channel proves, and nothing that it says.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio_rustls::rustls::pki_types::CertificateDer;
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

/// The names by which grants know a client: `dns:`, `uri:` and `email:` with the names of its certificate, `uid:` and `gid:` of the
/// process at the other end of a UNIX socket, `loopback` if nothing is known.
///
/// Two of them are equal if their names are: a client keeps its identity when it renews its certificate.
#[derive(Clone, Debug)]
pub struct ClientIdentity {
    names: Arc<[String]>,
    /// Of its certificate, in hex with colons.
    serial: Option<Arc<str>>,
    process: Option<i32>,
    address: Option<SocketAddr>,
}

/// Why a certificate names nobody.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// It cannot be read.
    #[error("the client's certificate cannot be read")]
    Unreadable,
    /// It has no subject alternative name of a kind that grants know.
    #[error("the client's certificate has no DNS name, e-mail address or URI as subject alternative name")]
    Nameless,
}

impl ClientIdentity {
    /// A client known by the subject alternative names of its certificate: DNS names, e-mail addresses and URIs. The
    /// common name does not count. RFC 6125 6.4.4.
    ///
    /// # Errors
    /// The certificate has none.
    pub fn of_certificate(certificate: &CertificateDer<'_>) -> Result<Self, IdentityError> {
        let (_, parsed) = X509Certificate::from_der(certificate).map_err(|_| IdentityError::Unreadable)?;
        let extension = parsed.subject_alternative_name().map_err(|_| IdentityError::Unreadable)?;
        let names = extension.map(|extension| extension.value.general_names.as_slice()).unwrap_or_default();
        let names: Vec<String> = names.iter().filter_map(text).collect();
        if names.is_empty() {
            return Err(IdentityError::Nameless);
        }
        Ok(Self { serial: Some(parsed.raw_serial_as_string().into()), ..Self::of_names(names) })
    }

    /// A client known by the credentials of its process.
    #[must_use]
    pub fn of_process(uid: u32, gid: u32) -> Self {
        Self::of_names(vec![format!("uid:{uid}"), format!("gid:{gid}")])
    }

    /// A client of whom nothing is known but that it is on this machine.
    #[must_use]
    pub fn loopback() -> Self {
        Self::of_names(vec!["loopback".to_owned()])
    }

    pub(crate) fn of_names(names: Vec<String>) -> Self {
        Self { names: names.into(), serial: None, process: None, address: None }
    }

    /// The names.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The serial number of the client's certificate, in hex with colons.
    #[must_use]
    pub fn serial(&self) -> Option<&str> {
        self.serial.as_deref()
    }

    /// The same client, who comes from an address.
    #[must_use]
    pub fn from_address(self, address: Option<SocketAddr>) -> Self {
        Self { address, ..self }
    }

    /// The same client in a process with this number.
    #[must_use]
    pub fn from_process(self, process: Option<i32>) -> Self {
        Self { process, ..self }
    }

    /// The address that the client comes from.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// The number of the client's process when it connected.
    #[must_use]
    pub fn process(&self) -> Option<i32> {
        self.process
    }
}

impl PartialEq for ClientIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Eq for ClientIdentity {}

fn text(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some(format!("dns:{name}")),
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
