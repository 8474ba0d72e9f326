//! Who a client is: what its channel proves, and nothing that it says.

use std::fmt;
use std::sync::Arc;

use tokio_rustls::rustls::pki_types::CertificateDer;
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

/// The names by which grants know a client: `san:` with a name of its certificate, `uid:` and `gid:` of the process at the other
/// end of a UNIX socket, `loopback` where nothing is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity(Arc<[String]>);

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

impl Identity {
    /// A client known by the subject alternative names of its certificate: DNS names, e-mail addresses and URIs. The
    /// common name does not count. RFC 6125 6.4.4.
    ///
    /// # Errors
    /// The certificate has none.
    pub fn of_certificate(certificate: &CertificateDer<'_>) -> Result<Self, IdentityError> {
        let (_, parsed) = X509Certificate::from_der(certificate).map_err(|_| IdentityError::Unreadable)?;
        let extension = parsed.subject_alternative_name().map_err(|_| IdentityError::Unreadable)?;
        let names = extension.map(|extension| extension.value.general_names.as_slice()).unwrap_or_default();
        let names: Vec<String> = names.iter().filter_map(text).map(|name| format!("san:{name}")).collect();
        if names.is_empty() { Err(IdentityError::Nameless) } else { Ok(Self(names.into())) }
    }

    /// A client known by the credentials of its process.
    #[must_use]
    pub fn of_process(uid: u32, gid: u32) -> Self {
        Self([format!("uid:{uid}"), format!("gid:{gid}")].into())
    }

    /// A client of whom nothing is known but that it is on this machine.
    #[must_use]
    pub fn loopback() -> Self {
        Self(["loopback".to_owned()].into())
    }

    /// The names.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

fn text<'a>(name: &GeneralName<'a>) -> Option<&'a str> {
    match name {
        GeneralName::DNSName(name) | GeneralName::RFC822Name(name) | GeneralName::URI(name) => Some(name),
        _ => None,
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}
