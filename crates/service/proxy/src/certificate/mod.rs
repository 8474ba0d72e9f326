//! The certificates of a proxy: a directory of chains and keys, found by the name that a client asks for.
//!
//! A [`CertificateTable`] never changes. A reload builds a new one beside it, which takes unchanged certificates from
//! the old one.

mod directory;
mod error;
mod keys;
mod load;
mod read;
mod resolver;
mod warning;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use oarlock_network::HostName;
use rustls::SignatureScheme;
use serde::Deserialize;
use smallvec::SmallVec;

pub(crate) use directory::list_certificates;
pub use directory::{CertificateFiles, CertificateSource};
pub use error::{CertificateFault, CertificateTableError};
pub use keys::CertificateKeySources;
pub use read::CertificateEntry;
pub(crate) use resolver::{CertificateResolver, RecordedHello, RecordedResolver};
pub(crate) use warning::ChainProperties;
pub use warning::{CertificateWarning, ServedFault};

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
type NamedCertificates = SmallVec<[Arc<CertificateEntry>; 1]>;

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
                map.entry(Box::from(name)).or_default().push(Arc::clone(entry));
            }
        }
        // Certificates of other algorithms for the same names serve clients without a name, too.
        let others = preferred.iter().filter(|entry| entry.names == default_entry.names);
        let mut default: NamedCertificates = others.map(|entry| Arc::clone(entry)).collect();
        if default_entry.names.is_empty() {
            default = SmallVec::from_elem(Arc::clone(default_entry), 1);
        }
        Ok(Self { exact, wildcards, default, unknown, entries })
    }

    /// Returns the certificate for a name. `None` as a name stands for a client that sends none.
    ///
    /// Of the certificates that fit the name and the client, those that are valid now come first, then those with the
    /// exact name, then the preferred ones. A wildcard stands for one label. RFC 9525 6.3.
    #[must_use]
    pub fn find(
        &self,
        name: Option<&HostName<'_>>,
        schemes: &[SignatureScheme],
        now_s: i64,
    ) -> Option<&Arc<CertificateEntry>> {
        let certificates = || self.certificates_for(name);
        let fits = |entry: &&Arc<CertificateEntry>| entry.key.key.choose_scheme(schemes).is_some();
        let valid = certificates().filter(|entry| entry.validity.contains(now_s)).find(fits);
        // If none fits, rustls ends the handshake with the right alert.
        valid.or_else(|| certificates().find(fits)).or_else(|| certificates().next())
    }

    /// Returns the certificates for a name, with any key and any validity.
    fn certificates_for(&self, name: Option<&HostName<'_>>) -> impl Iterator<Item = &Arc<CertificateEntry>> {
        let exact = name.and_then(|name| self.exact.get(name.as_str()));
        let wildcard = name.and_then(|name| self.wildcards.get(name.parent()?));
        let is_unknown = exact.is_none() && wildcard.is_none();
        let gets_default = name.is_none() || (is_unknown && self.unknown == UnknownNamePolicy::Default);
        let default = gets_default.then_some(&self.default);
        [exact, wildcard, default].into_iter().flatten().flatten()
    }

    /// Returns the certificates in the order of their files.
    #[must_use]
    pub fn entries(&self) -> &[Arc<CertificateEntry>] {
        &self.entries
    }

    /// Returns the certificates that clients reject at a time in seconds since 1970.
    pub fn warnings(&self, now_s: i64) -> impl Iterator<Item = CertificateWarning> {
        self.entries.iter().filter_map(move |entry| entry.warning(now_s))
    }
}

impl fmt::Debug for CertificateTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CertificateTable({} certificates)", self.entries.len())
    }
}

#[cfg(test)]
mod tests;
