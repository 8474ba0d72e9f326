//! Certificates that are served although clients will reject them.

use std::fmt;
use std::path::{Path, PathBuf};

use oarlock_service_kit::certificate::{
    CertificateValidity, UnlinkedCertificate, time_text as time, unlinked,
};
use rustls::pki_types::CertificateDer;
use x509_parser::prelude::{FromDer, X509Certificate};

/// A property for which clients reject a certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ServedFault {
    /// The certificate, or another one of its chain, has expired.
    #[error("{} has expired at {}: renew it", ordinal(*.number), time(*.not_after))]
    Expired {
        /// The number of the certificate in the chain, from 1.
        number: usize,
        /// The end in seconds since 1970.
        not_after: i64,
    },
    /// The certificate, or another one of its chain, is not valid yet.
    #[error("{} is not valid before {}", ordinal(*.number), time(*.not_before))]
    NotYetValid {
        /// The number of the certificate in the chain, from 1.
        number: usize,
        /// The beginning in seconds since 1970.
        not_before: i64,
    },
    /// The certificate has neither a DNS name nor an IP address as a subject alternative name.
    #[error(
        "the certificate has no DNS name as subject alternative name: no name leads to it, and clients do not read \
         the common name {common_name:?}"
    )]
    Nameless { common_name: String },
    /// A certificate of the chain cannot be read.
    #[error("certificate {number} of the chain is not valid X.509")]
    Unreadable {
        /// The number of the certificate in the chain, from 1.
        number: usize,
    },
    /// A certificate of the chain is not that of the issuer of the one before.
    #[error(transparent)]
    Unlinked(#[from] UnlinkedCertificate),
}

/// A file whose certificate clients will reject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateWarning {
    /// The path of the chain.
    pub path: PathBuf,
    /// The faults, at least one.
    pub faults: Vec<ServedFault>,
}

/// The properties of a chain that decide whether clients take it.
#[derive(Debug)]
pub(crate) struct ChainProperties {
    /// The validities of the chain's certificates, that of the server first.
    validities: Box<[CertificateValidity]>,
    /// The faults that do not depend on the time.
    lasting: Vec<ServedFault>,
}

impl ChainProperties {
    /// Reads a chain. `has_name` is false if its first certificate needs a name and has none.
    pub(crate) fn from_chain(chain: &[CertificateDer<'_>], has_name: bool) -> Self {
        let parse = |certificate| X509Certificate::from_der(certificate).ok().map(|(_, parsed)| parsed);
        let readable: Vec<_> = chain.iter().map_while(|certificate| parse(certificate)).collect();
        let mut lasting = Vec::new();
        if let Some(leaf) = readable.first().filter(|_| !has_name) {
            let name = leaf.subject().iter_common_name().next().and_then(|name| name.as_str().ok());
            lasting.push(ServedFault::Nameless { common_name: name.unwrap_or_default().to_owned() });
        }
        lasting.extend(unlinked(&chain[..readable.len()]).map(ServedFault::from));
        if readable.len() < chain.len() {
            lasting.push(ServedFault::Unreadable { number: readable.len() + 1 });
        }
        Self { validities: readable.iter().map(CertificateValidity::from_parsed).collect(), lasting }
    }

    /// Returns the faults of the chain in a file at a time in seconds since 1970.
    pub(crate) fn warning(&self, path: &Path, now_s: i64) -> Option<CertificateWarning> {
        let validities = (1..).zip(&self.validities);
        let passing = validities.filter_map(|(number, validity)| passing_fault(*validity, number, now_s));
        let faults: Vec<_> = passing.chain(self.lasting.iter().cloned()).collect();
        (!faults.is_empty()).then(|| CertificateWarning { path: path.to_owned(), faults })
    }
}

fn ordinal(number: usize) -> String {
    if number == 1 { "the certificate".to_owned() } else { format!("certificate {number} of the chain") }
}

fn passing_fault(validity: CertificateValidity, number: usize, now_s: i64) -> Option<ServedFault> {
    let CertificateValidity { not_before, not_after } = validity;
    match now_s {
        now_s if now_s > not_after => Some(ServedFault::Expired { number, not_after }),
        now_s if now_s < not_before => Some(ServedFault::NotYetValid { number, not_before }),
        _ => None,
    }
}

impl fmt::Display for CertificateWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        for (index, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if index > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}
