//! The contents of certificates: their terms, their purposes and their names.

use std::fmt;

use oarlock_service_kit::certificate::{CertificateValidity, time_text as time};
use tokio_rustls::rustls::pki_types::CertificateDer;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The number of days before the end of a certificate from which the server warns about it.
const WARNING_DAYS: i64 = 14;

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// A certificate in use and its term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CertificateTerm {
    /// The use of the certificate.
    pub(crate) role: CertificateRole,
    /// The subject of the certificate.
    pub(crate) subject: String,
    validity: CertificateValidity,
}

/// The use of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CertificateRole {
    /// The server's own certificate.
    Server,
    /// The certificate of an authority that certifies clients.
    ClientCa,
}

impl CertificateRole {
    /// Returns the setting of `[tls]` that names the certificate.
    pub(crate) fn setting(self) -> &'static str {
        match self {
            Self::Server => "certificate",
            Self::ClientCa => "client_ca",
        }
    }
}

/// A fault of a certificate's term.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ValidityError {
    /// The certificate has expired.
    #[error("the certificate {subject:?} has expired at {}: renew it", time(*.not_after))]
    Expired {
        subject: String,
        /// The end in seconds since 1970.
        not_after: i64,
    },
    /// The certificate is not valid yet.
    #[error("the certificate {subject:?} is not valid before {}: check this machine's clock", time(*.not_before))]
    NotYetValid {
        subject: String,
        /// The beginning in seconds since 1970.
        not_before: i64,
    },
    /// The certificate expires soon.
    #[error("the certificate {subject:?} expires in {days} days, at {}: renew it", time(*.not_after))]
    EndsSoon {
        subject: String,
        /// The end in seconds since 1970.
        not_after: i64,
        /// The number of whole days until then.
        days: i64,
    },
}

impl CertificateTerm {
    pub(crate) fn read(role: CertificateRole, certificate: &CertificateDer<'_>) -> Option<Self> {
        let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
        let validity = CertificateValidity::from_parsed(&parsed);
        Some(Self { role, subject: parsed.subject().to_string(), validity })
    }

    /// Returns the seconds until the end, negative after it.
    pub(crate) fn seconds_left(&self, now: i64) -> i64 {
        self.validity.not_after - now
    }

    /// Returns the fault of the term at this time, if there is one.
    pub(crate) fn fault(&self, now: i64) -> Option<ValidityError> {
        let subject = self.subject.clone();
        let CertificateValidity { not_before, not_after } = self.validity;
        let days = self.seconds_left(now) / DAY_SECONDS;
        match now {
            // RFC 5280 4.1.2.5 counts both ends of the validity as valid.
            now if now > not_after => Some(ValidityError::Expired { subject, not_after }),
            now if now < not_before => Some(ValidityError::NotYetValid { subject, not_before }),
            _ if days < WARNING_DAYS => Some(ValidityError::EndsSoon { subject, not_after, days }),
            _ => None,
        }
    }
}

/// An error of a certificate that no client would accept as a server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerCertificateError {
    Unreadable,
    Nameless,
    NotForServers,
}

impl fmt::Display for ServerCertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "the server's certificate cannot be read",
            Self::Nameless => {
                "the server's certificate has no DNS name or IP address as subject alternative name, so no client accepts it"
            }
            Self::NotForServers => {
                "the server's certificate does not allow the extended key usage serverAuth, so no client accepts it"
            }
        })
    }
}

/// Checks that clients can accept a certificate as a server's.
///
/// # Errors
/// The certificate names no server, or is for another purpose.
pub(crate) fn check_server(certificate: &CertificateDer<'_>) -> Result<(), ServerCertificateError> {
    use x509_parser::prelude::GeneralName;
    let (_, parsed) =
        X509Certificate::from_der(certificate).map_err(|_| ServerCertificateError::Unreadable)?;
    let names = parsed.subject_alternative_name().map_err(|_| ServerCertificateError::Unreadable)?;
    let is_name =
        |name: &GeneralName<'_>| matches!(name, GeneralName::DNSName(_) | GeneralName::IPAddress(_));
    if !names.is_some_and(|names| names.value.general_names.iter().any(is_name)) {
        return Err(ServerCertificateError::Nameless);
    }
    let usage = parsed.extended_key_usage().map_err(|_| ServerCertificateError::Unreadable)?;
    // A certificate without the extension is not limited to any usage. RFC 5280 4.2.1.12.
    let serves = usage.is_none_or(|usage| usage.value.server_auth || usage.value.any);
    if serves { Ok(()) } else { Err(ServerCertificateError::NotForServers) }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, KeyPair, date_time_ymd};

    use super::*;

    fn self_signed(names: &[&str], usage: Option<ExtendedKeyUsagePurpose>) -> CertificateDer<'static> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 1), date_time_ymd(2026, 3, 1));
        params.extended_key_usages = usage.into_iter().collect();
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    #[test]
    fn warns_about_a_certificate_two_weeks_before_its_end() {
        let term = CertificateTerm::read(CertificateRole::Server, &self_signed(&["a.test"], None)).unwrap();
        let CertificateValidity { not_before: begin, not_after: end } = term.validity;
        assert_eq!(term.fault(begin), None);
        assert_eq!(term.fault(end - 14 * DAY_SECONDS), None);
        let soon = term.fault(end - 14 * DAY_SECONDS + 1).unwrap();
        assert!(matches!(soon, ValidityError::EndsSoon { days: 13, .. }), "{soon}");
        assert!(term.fault(end + 1).unwrap().to_string().contains("has expired at Mar  1"));
        assert!(matches!(term.fault(begin - 1), Some(ValidityError::NotYetValid { .. })));
        assert_eq!(term.seconds_left(end - 5), 5);
    }

    #[test]
    fn rejects_certificates_that_no_client_accepts() {
        let server = Some(ExtendedKeyUsagePurpose::ServerAuth);
        assert_eq!(check_server(&self_signed(&["a.test"], server.clone())), Ok(()));
        assert_eq!(check_server(&self_signed(&["192.0.2.1"], None)), Ok(()));
        assert_eq!(check_server(&self_signed(&[], server)), Err(ServerCertificateError::Nameless));
        let client = Some(ExtendedKeyUsagePurpose::ClientAuth);
        assert_eq!(
            check_server(&self_signed(&["a.test"], client)),
            Err(ServerCertificateError::NotForServers)
        );
        assert_eq!(check_server(&CertificateDer::from(vec![1])), Err(ServerCertificateError::Unreadable));
    }
}
