//! The answer of a responder, and its verification. RFC 6960 3.2, 4.2.

use oarlock_service_kit::certificate::{CertificateValidity, time_text};
use x509_cert::Certificate;
use x509_cert::der::oid::AssociatedOid;
use x509_cert::der::{Decode, Encode};
use x509_ocsp::{
    BasicOcspResponse, CertId, CertStatus, OcspGeneralizedTime, OcspResponse, OcspResponseStatus,
    ResponderId, SingleResponse,
};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::question::{OcspQuestion, sha1};
use crate::signature::{SignedParts, split_key};

/// The difference that the clocks of the responder and the proxy may have.
const MAX_SKEW_S: i64 = 300;

/// The time for which a response without an end is good, counted from its beginning. Newer information is available
/// all the time then (RFC 6960 4.2.2.1).
const ENDLESS_S: i64 = 3_600;

/// The maximum certificates of a response that are tried as its signer.
const MAX_SIGNERS: usize = 4;

/// A response that says that the certificate is good.
#[derive(Debug)]
pub(crate) struct GoodResponse {
    /// The response in DER, as clients get it.
    pub(crate) bytes: Vec<u8>,
    /// The beginning and the end in seconds since 1970. At the end it is not good any more.
    pub(crate) this_update: i64,
    pub(crate) end: i64,
}

/// The reason why a response is not stapled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ResponseFault {
    #[error("the answer is not an OCSP response: {0}")]
    Format(String),
    #[error("the responder refuses the question: {0}")]
    Refused(&'static str),
    #[error("the response is about another certificate")]
    OtherCertificate,
    #[error("the response is not signed by the issuer of the certificate or by its delegate")]
    Signer,
    #[error("the response begins at {}, which is in the future", time_text(*.0))]
    Early(i64),
    #[error("the response has expired at {}", time_text(*.0))]
    Expired(i64),
    #[error("the certificate is revoked since {}", time_text(*.0))]
    Revoked(i64),
    #[error("the responder does not know the certificate")]
    Unknown,
}

impl From<x509_cert::der::Error> for ResponseFault {
    fn from(error: x509_cert::der::Error) -> Self {
        Self::Format(error.to_string())
    }
}

/// Verifies the answer to a question, at a time in seconds since 1970.
///
/// # Errors
/// The response is not valid, or does not say that the certificate is good.
pub(crate) fn verify_response(
    bytes: Vec<u8>,
    question: &OcspQuestion,
    now_s: i64,
) -> Result<GoodResponse, ResponseFault> {
    let response = OcspResponse::from_der(&bytes)?;
    refuse_status(response.response_status)?;
    let basic =
        response.response_bytes.ok_or_else(|| ResponseFault::Format("it has no content".to_owned()))?;
    if basic.response_type != BasicOcspResponse::OID {
        return Err(ResponseFault::Format(format!("its type is {}", basic.response_type)));
    }
    let parsed = BasicOcspResponse::from_der(basic.response.as_bytes())?;
    if !is_signed(basic.response.as_bytes(), &parsed, question, now_s) {
        return Err(ResponseFault::Signer);
    }
    let single =
        parsed.tbs_response_data.responses.iter().find(|single| is_same(&single.cert_id, &question.id));
    let single = single.ok_or(ResponseFault::OtherCertificate)?;
    let (this_update, end) = check_term(single, now_s)?;
    match single.cert_status {
        CertStatus::Good(_) => Ok(GoodResponse { bytes, this_update, end }),
        CertStatus::Revoked(revoked) => Err(ResponseFault::Revoked(seconds(revoked.revocation_time))),
        CertStatus::Unknown(_) => Err(ResponseFault::Unknown),
    }
}

fn refuse_status(status: OcspResponseStatus) -> Result<(), ResponseFault> {
    Err(ResponseFault::Refused(match status {
        OcspResponseStatus::Successful => return Ok(()),
        OcspResponseStatus::MalformedRequest => "malformedRequest",
        OcspResponseStatus::InternalError => "internalError",
        OcspResponseStatus::TryLater => "tryLater",
        OcspResponseStatus::SigRequired => "sigRequired",
        OcspResponseStatus::Unauthorized => "unauthorized",
    }))
}

/// Compares names of certificates. Parameters of the hash may be absent or NULL.
fn is_same(one: &CertId, other: &CertId) -> bool {
    one.hash_algorithm.oid == other.hash_algorithm.oid
        && one.issuer_name_hash == other.issuer_name_hash
        && one.issuer_key_hash == other.issuer_key_hash
        && one.serial_number == other.serial_number
}

fn check_term(single: &SingleResponse, now_s: i64) -> Result<(i64, i64), ResponseFault> {
    let this_update = seconds(single.this_update);
    let end = single.next_update.map_or(this_update.saturating_add(ENDLESS_S), seconds);
    match now_s {
        _ if this_update > now_s.saturating_add(MAX_SKEW_S) => Err(ResponseFault::Early(this_update)),
        _ if end <= now_s => Err(ResponseFault::Expired(end)),
        _ => Ok((this_update, end)),
    }
}

fn seconds(time: OcspGeneralizedTime) -> i64 {
    i64::try_from(time.0.to_unix_duration().as_secs()).unwrap_or(i64::MAX)
}

/// Returns true if the issuer has signed the response, or a certificate that it has issued for this purpose. RFC 6960
/// 4.2.2.2.
fn is_signed(bytes: &[u8], response: &BasicOcspResponse, question: &OcspQuestion, now_s: i64) -> bool {
    let (Some(signed), Ok((_, issuer))) =
        (SignedParts::split(bytes), X509Certificate::from_der(&question.issuer))
    else {
        return false;
    };
    let responder = &response.tbs_response_data.responder_id;
    if is_named(responder, &issuer) {
        return signed.is_signed_by(issuer.public_key().raw);
    }
    let is_signer = |delegate: &Certificate| {
        let Ok(der) = delegate.to_der() else { return false };
        let Ok((_, parsed)) = X509Certificate::from_der(&der) else { return false };
        is_named(responder, &parsed)
            && is_delegate(&der, &parsed, &issuer, now_s)
            && signed.is_signed_by(parsed.public_key().raw)
    };
    response.certs.iter().flatten().take(MAX_SIGNERS).any(is_signer)
}

/// Returns true if a certificate has the name or the key of a responder.
fn is_named(responder: &ResponderId, certificate: &X509Certificate<'_>) -> bool {
    match responder {
        ResponderId::ByName(name) => name.to_der().is_ok_and(|name| name == certificate.subject().as_raw()),
        ResponderId::ByKey(hash) => {
            let key = split_key(certificate.public_key().raw);
            key.is_some_and(|(_, key)| sha1(key) == hash.as_bytes())
        }
    }
}

/// Returns true if the issuer has issued a certificate for the signing of responses, which is valid now.
fn is_delegate(der: &[u8], parsed: &X509Certificate<'_>, issuer: &X509Certificate<'_>, now_s: i64) -> bool {
    let purposes = parsed.extended_key_usage().ok().flatten();
    parsed.issuer().as_raw() == issuer.subject().as_raw()
        && purposes.is_some_and(|purposes| purposes.value.ocsp_signing)
        && CertificateValidity::from_parsed(parsed).contains(now_s)
        && SignedParts::split(der).is_some_and(|parts| parts.is_signed_by(issuer.public_key().raw))
}

#[cfg(test)]
mod tests;
