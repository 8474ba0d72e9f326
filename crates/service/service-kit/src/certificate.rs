//! The times and the order of the certificates of a chain.

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

impl CertificateValidity {
    /// Reads the validity of a certificate. Returns None if the certificate cannot be read.
    #[must_use]
    pub fn read(certificate: &CertificateDer<'_>) -> Option<Self> {
        let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
        Some(Self::from_parsed(&parsed))
    }

    /// Returns the validity of a certificate that was parsed.
    #[must_use]
    pub fn from_parsed(certificate: &X509Certificate<'_>) -> Self {
        let validity = certificate.validity();
        Self { not_before: validity.not_before.timestamp(), not_after: validity.not_after.timestamp() }
    }

    /// Returns true if a certificate with this validity is valid at a time in seconds since 1970.
    #[must_use]
    pub fn contains(&self, now_s: i64) -> bool {
        (self.not_before..=self.not_after).contains(&now_s)
    }
}

/// Returns a time in seconds since 1970 as messages show it.
#[must_use]
pub fn time_text(seconds: i64) -> String {
    ASN1Time::from_timestamp(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}

/// Returns the last second of the certificate of a chain that ends first. Those of authorities that had ended before do
/// not count: the peer was accepted without them.
#[must_use]
pub fn first_end(chain: &[CertificateDer<'_>], now_s: i64) -> Option<i64> {
    let end = |certificate| CertificateValidity::read(certificate).map(|validity| validity.not_after);
    let (peer, authorities) = chain.split_first()?;
    let ends = authorities.iter().filter_map(end).filter(|end_s| *end_s >= now_s);
    end(peer).into_iter().chain(ends).min()
}

/// A certificate of a chain that is not that of the issuer of the one before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("certificate {number} ({subject}) is not that of the issuer of the one before: expected {issuer}")]
pub struct UnlinkedCertificate {
    /// The number of the certificate, from 1.
    pub number: usize,
    /// The subject of the certificate.
    pub subject: String,
    /// The issuer of the certificate before.
    pub issuer: String,
}

/// Returns the certificates that are not those of the issuers of the ones before. Those that cannot be read are
/// skipped.
pub fn unlinked(chain: &[CertificateDer<'_>]) -> impl Iterator<Item = UnlinkedCertificate> {
    let mut last_issuer: Option<String> = None;
    (1..).zip(chain).filter_map(move |(number, certificate)| {
        let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
        let subject = parsed.subject().to_string();
        let issuer = last_issuer.replace(parsed.issuer().to_string())?;
        (issuer != subject).then_some(UnlinkedCertificate { number, subject, issuer })
    })
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn until(day: u8) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(vec!["peer.test".to_owned()]).unwrap();
        params.not_after = date_time_ymd(2026, 1, day);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    #[test]
    fn the_first_certificate_that_ends_counts_unless_it_had_ended_before() {
        let midnight = |day| date_time_ymd(2026, 1, day).unix_timestamp();
        let chain = [until(20), until(10), until(5)];
        assert_eq!(first_end(&chain, midnight(1)), Some(midnight(5)));
        assert_eq!(first_end(&chain, midnight(7)), Some(midnight(10)));
        assert_eq!(first_end(&chain, midnight(12)), Some(midnight(20)));
        // The peer's own certificate counts even if it has ended.
        assert_eq!(first_end(&chain[..1], midnight(25)), Some(midnight(20)));
        assert_eq!(first_end(&[], midnight(1)), None);
    }
}
