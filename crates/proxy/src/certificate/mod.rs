//! The certificates of a proxy: a directory of chains and keys, found by the name that a client asks for.
//!
//! A [`CertificateTable`] never changes. A reload builds a new one beside it, which takes unchanged certificates from
//! the old one.

mod directory;
mod error;
mod load;
mod read;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use rustls::SignatureScheme;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use serde::Deserialize;
use smallvec::SmallVec;

pub(crate) use directory::list_certificates;
pub use directory::{CertificateFiles, CertificateSource};
pub use error::{CertificateFault, CertificateTableError};
pub use read::{CERTIFICATE_HOLDER, CertificateEntry, CertificateKeySources};

/// The answer to a client that asks for an unknown name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownNamePolicy {
    /// The default certificate, which such clients usually reject.
    #[default]
    Default,
    /// An alert.
    Refuse,
}

/// The certificates of one name, the preferred one first.
type NamedCertificates = SmallVec<[Arc<CertifiedKey>; 1]>;

/// An immutable table of certificates.
pub struct CertificateTable {
    exact: HashMap<Box<str>, NamedCertificates>,
    /// The certificates of wildcards, by the name after `*.`.
    wildcards: HashMap<Box<str>, NamedCertificates>,
    default: NamedCertificates,
    unknown: UnknownNamePolicy,
    entries: Vec<Arc<CertificateEntry>>,
}

impl CertificateTable {
    /// Builds a table of loaded certificates, sorted by the paths of their files. `default` is the file name of the
    /// default certificate, without its ending. Without it the first certificate is the default.
    fn build(
        entries: Vec<Arc<CertificateEntry>>,
        default: Option<&str>,
        unknown: UnknownNamePolicy,
    ) -> Result<Self, CertificateFault> {
        let default_entry = match default {
            Some(name) => entries.iter().find(|entry| entry.files.name() == name),
            None => entries.first(),
        };
        let default_entry = default_entry.ok_or_else(|| match default {
            Some(name) => CertificateFault::NoDefault { name: name.to_owned() },
            None => CertificateFault::Empty,
        })?;
        let mut preferred: Vec<&Arc<CertificateEntry>> = entries.iter().collect();
        preferred.sort_by_key(|entry| entry.preference());
        let (mut exact, mut wildcards) = (HashMap::<_, NamedCertificates>::new(), HashMap::new());
        for entry in &preferred {
            for name in &entry.names {
                let (map, name) = match name.strip_prefix("*.") {
                    Some(rest) => (&mut wildcards, rest),
                    None => (&mut exact, &**name),
                };
                map.entry(Box::from(name)).or_default().push(Arc::clone(&entry.key));
            }
        }
        // Certificates of other algorithms for the same names serve clients without a name, too.
        let others = preferred.iter().filter(|entry| entry.names == default_entry.names);
        let mut default: NamedCertificates = others.map(|entry| Arc::clone(&entry.key)).collect();
        if default_entry.names.is_empty() {
            default = SmallVec::from_elem(Arc::clone(&default_entry.key), 1);
        }
        Ok(Self { exact, wildcards, default, unknown, entries })
    }

    /// Returns the certificate for a name. `None` as a name stands for a client that sends none.
    ///
    /// An exact name precedes a wildcard, and a wildcard stands for one label. RFC 9525 6.3.
    #[must_use]
    pub fn find(&self, name: Option<&str>, schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let certificates = match name {
            None => Some(&self.default),
            Some(name) => self.named(name).or(match self.unknown {
                UnknownNamePolicy::Default => Some(&self.default),
                UnknownNamePolicy::Refuse => None,
            }),
        };
        let certificates = certificates?;
        let fits = |own: &&Arc<CertifiedKey>| own.key.choose_scheme(schemes).is_some();
        // If none fits, rustls ends the handshake with the right alert.
        certificates.iter().find(fits).or(certificates.first()).cloned()
    }

    fn named(&self, name: &str) -> Option<&NamedCertificates> {
        let lower;
        let name = if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            lower = name.to_ascii_lowercase();
            &*lower
        } else {
            name
        };
        self.exact.get(name).or_else(|| self.wildcards.get(name.split_once('.')?.1))
    }

    /// Returns true if a client that asks for this name gets a certificate for it, not the default.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.named(name).is_some()
    }

    /// Returns the certificates in the order of their files.
    #[must_use]
    pub fn entries(&self) -> &[Arc<CertificateEntry>] {
        &self.entries
    }

    /// Returns the earliest end of a certificate, in seconds since 1970.
    #[must_use]
    pub fn earliest_end(&self) -> Option<i64> {
        self.entries.iter().map(|entry| entry.not_after).min()
    }
}

impl ResolvesServerCert for CertificateTable {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.find(hello.server_name(), hello.signature_schemes())
    }
}

impl fmt::Debug for CertificateTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CertificateTable({} certificates)", self.entries.len())
    }
}

#[cfg(test)]
mod tests;
