//! The question about a certificate to its responder. RFC 6960 4.1.

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use hyper::Uri;
use rustls::pki_types::CertificateDer;
use x509_cert::der::asn1::{Null, OctetString};
use x509_cert::der::oid::db::rfc5912::ID_SHA_1;
use x509_cert::der::{self, Encode};
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::AlgorithmIdentifierOwned;
use x509_ocsp::{CertId, OcspRequest, Request, TbsRequest};
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::oid_registry::OID_PKIX_ACCESS_DESCRIPTOR_OCSP;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::signature::{SignedParts, split_key};

/// The question about a certificate.
#[derive(Debug)]
pub(crate) struct OcspQuestion {
    pub(super) responder: ResponderAddress,
    pub(super) id: CertId,
    pub(super) issuer: CertificateDer<'static>,
}

/// The address of a responder, of an `http://` URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResponderAddress {
    /// The name or the address, without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) uri: Uri,
}

/// The reason why nobody can be asked about a certificate that names a responder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OcspQuestionFault {
    /// The chain has no certificate of the issuer.
    #[error(
        "its OCSP response cannot be fetched: expected the certificate of its issuer as the second one of the chain"
    )]
    Issuer,
    /// No URL of the responder can be used.
    #[error("its OCSP response cannot be fetched: expected a responder with an http:// URL, found {found:?}")]
    Url {
        /// The first URL.
        found: String,
    },
}

impl OcspQuestion {
    /// Reads a chain. Returns None if its first certificate names no responder.
    pub(crate) fn read(chain: &[CertificateDer<'static>]) -> Result<Option<Self>, OcspQuestionFault> {
        let Some(leaf) = chain.first() else { return Ok(None) };
        let Ok((_, parsed)) = X509Certificate::from_der(leaf) else { return Ok(None) };
        let urls = responder_urls(&parsed);
        let Some(first) = urls.first() else { return Ok(None) };
        let responder = urls.iter().find_map(|url| ResponderAddress::parse(url));
        let responder = responder.ok_or_else(|| OcspQuestionFault::Url { found: (*first).to_owned() })?;
        let issuer = chain.get(1).filter(|issuer| is_issuer(issuer, leaf, &parsed));
        let issuer = issuer.ok_or(OcspQuestionFault::Issuer)?;
        // Both were parsed already, so only a number of more than 20 bytes is left as a fault.
        let id = cert_id(issuer, parsed.raw_serial()).map_err(|_| OcspQuestionFault::Issuer)?;
        Ok(Some(Self { responder, id, issuer: issuer.clone() }))
    }

    /// Returns the request in DER.
    pub(super) fn request(&self) -> Result<Vec<u8>, der::Error> {
        let request = Request { req_cert: self.id.clone(), single_request_extensions: None };
        let tbs_request = TbsRequest { request_list: vec![request], ..TbsRequest::default() };
        OcspRequest { tbs_request, optional_signature: None }.to_der()
    }
}

impl ResponderAddress {
    pub(super) fn parse(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        if uri.scheme_str() != Some("http") {
            return None;
        }
        let host = uri.host().filter(|host| !host.is_empty())?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Some(Self { host, port: uri.port_u16().unwrap_or(80), uri })
    }

    /// Returns the host and the port.
    pub(super) fn name(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Returns the URL for messages.
    pub(super) fn url(&self) -> String {
        self.uri.to_string()
    }
}

/// Returns the URLs of the responders that a certificate names. RFC 5280 4.2.2.1.
fn responder_urls<'c>(certificate: &'c X509Certificate<'_>) -> Vec<&'c str> {
    let access = certificate.extensions().iter().filter_map(|extension| match extension.parsed_extension() {
        ParsedExtension::AuthorityInfoAccess(access) => Some(&access.accessdescs),
        _ => None,
    });
    let responders =
        access.flatten().filter(|access| access.access_method == OID_PKIX_ACCESS_DESCRIPTOR_OCSP);
    let url = |location| match location {
        &GeneralName::URI(url) => Some(url),
        _ => None,
    };
    responders.filter_map(|access| url(&access.access_location)).collect()
}

fn is_issuer(issuer: &[u8], leaf: &[u8], parsed: &X509Certificate<'_>) -> bool {
    let Ok((_, issuer)) = X509Certificate::from_der(issuer) else { return false };
    issuer.subject().as_raw() == parsed.issuer().as_raw()
        && SignedParts::split(leaf).is_some_and(|leaf| leaf.is_signed_by(issuer.public_key().raw))
}

/// Returns the name of a certificate in questions. The hash is SHA-1, which all responders know (RFC 5019 2.1.1); no
/// security depends on it.
fn cert_id(issuer: &[u8], serial: &[u8]) -> Result<CertId, der::Error> {
    let invalid = || der::Error::from(der::ErrorKind::Failed);
    let (_, issuer) = X509Certificate::from_der(issuer).map_err(|_| invalid())?;
    let (_, key) = split_key(issuer.public_key().raw).ok_or_else(invalid)?;
    Ok(CertId {
        hash_algorithm: AlgorithmIdentifierOwned { oid: ID_SHA_1, parameters: Some(Null.into()) },
        issuer_name_hash: OctetString::new(sha1(issuer.subject().as_raw()))?,
        issuer_key_hash: OctetString::new(sha1(key))?,
        serial_number: SerialNumber::new(serial)?,
    })
}

pub(super) fn sha1(bytes: &[u8]) -> Vec<u8> {
    digest(&SHA1_FOR_LEGACY_USE_ONLY, bytes).as_ref().to_vec()
}
