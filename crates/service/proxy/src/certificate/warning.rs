//! Certificates that are served although clients will reject them.

use std::fmt;
use std::path::{Path, PathBuf};

use rustls::pki_types::CertificateDer;
use x509_parser::prelude::{ASN1Time, FromDer, X509Certificate};

/// The time in which a certificate is valid. Both ends count (RFC 5280 4.1.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateValidity {
    /// The beginning in seconds since 1970.
    pub not_before: i64,
    /// The end in seconds since 1970.
    pub not_after: i64,
}

/// A property for which clients reject a certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
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
    Nameless {
        /// The common name.
        common_name: String,
    },
    /// A certificate of the chain cannot be read.
    #[error("certificate {number} of the chain is not valid X.509")]
    Unreadable {
        /// The number of the certificate in the chain, from 1.
        number: usize,
    },
    /// A certificate of the chain is not that of the issuer of the one before.
    #[error(
        "certificate {number} ({subject}) is not that of the issuer of the one before: expected {issuer}"
    )]
    Unlinked {
        /// The number of the certificate in the chain, from 1.
        number: usize,
        /// Its subject.
        subject: String,
        /// The issuer of the certificate before.
        issuer: String,
    },
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

impl CertificateValidity {
    pub(crate) fn of(certificate: &X509Certificate<'_>) -> Self {
        let validity = certificate.validity();
        Self { not_before: validity.not_before.timestamp(), not_after: validity.not_after.timestamp() }
    }

    /// Returns true if a certificate with this validity is valid at a time in seconds since 1970.
    #[must_use]
    pub fn contains(&self, now_s: i64) -> bool {
        (self.not_before..=self.not_after).contains(&now_s)
    }

    fn fault(self, number: usize, now_s: i64) -> Option<ServedFault> {
        let Self { not_before, not_after } = self;
        match now_s {
            now_s if now_s > not_after => Some(ServedFault::Expired { number, not_after }),
            now_s if now_s < not_before => Some(ServedFault::NotYetValid { number, not_before }),
            _ => None,
        }
    }
}

impl ChainProperties {
    /// Reads a chain. `has_name` is false if its first certificate needs a name and has none.
    pub(crate) fn of(chain: &[CertificateDer<'_>], has_name: bool) -> Self {
        let (mut validities, mut lasting, mut last) = (Vec::new(), Vec::new(), None);
        for (number, certificate) in (1..).zip(chain) {
            let Ok((_, certificate)) = X509Certificate::from_der(certificate) else {
                lasting.push(ServedFault::Unreadable { number });
                break;
            };
            validities.push(CertificateValidity::of(&certificate));
            if number == 1 && !has_name {
                let name =
                    certificate.subject().iter_common_name().next().and_then(|name| name.as_str().ok());
                lasting.push(ServedFault::Nameless { common_name: name.unwrap_or_default().to_owned() });
            }
            let subject = certificate.subject().to_string();
            if let Some(issuer) = last.filter(|issuer| *issuer != subject) {
                lasting.push(ServedFault::Unlinked { number, subject, issuer });
            }
            last = Some(certificate.issuer().to_string());
        }
        Self { validities: validities.into(), lasting }
    }

    /// Returns the faults of the chain in a file at a time in seconds since 1970.
    pub(crate) fn warning(&self, path: &Path, now_s: i64) -> Option<CertificateWarning> {
        let validities = (1..).zip(&self.validities);
        let passing = validities.filter_map(|(number, validity)| validity.fault(number, now_s));
        let faults: Vec<_> = passing.chain(self.lasting.iter().cloned()).collect();
        (!faults.is_empty()).then(|| CertificateWarning { path: path.to_owned(), faults })
    }
}

fn ordinal(number: usize) -> String {
    if number == 1 { "the certificate".to_owned() } else { format!("certificate {number} of the chain") }
}

fn time(seconds: i64) -> String {
    ASN1Time::from_timestamp(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}

impl fmt::Display for CertificateWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        for (place, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if place > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}
