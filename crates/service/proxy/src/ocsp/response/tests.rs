use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CustomExtension, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, PKCS_ECDSA_P256_SHA256, SigningKey, date_time_ymd,
};
use rustls::pki_types::CertificateDer;
use rustls::sign::CertifiedKey;
use x509_cert::der::asn1::{BitString, GeneralizedTime, Null, OctetString};
use x509_cert::der::oid::db::rfc5912::ECDSA_WITH_SHA_256;
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::AlgorithmIdentifierOwned;
use x509_ocsp::{ResponseData, RevokedInfo, Version};

use super::*;
use crate::ocsp::{OcspQuestionFault, StapleSlot};

type TestIssuer = CertifiedIssuer<'static, KeyPair>;

/// The time of the tests: the first day of January 2026.
const NOW_S: i64 = 1_767_225_600;
const HOUR_S: i64 = 3_600;

fn authority(name: &str) -> TestIssuer {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn der(certificate: &TestIssuer) -> CertificateDer<'static> {
    certificate.der().to_vec().into()
}

/// Issues a certificate that names a responder.
fn leaf(issuer: &TestIssuer, url: &str) -> CertificateDer<'static> {
    let tagged = |tag: u8, bytes: &[u8]| [&[tag, u8::try_from(bytes.len()).unwrap()][..], bytes].concat();
    let method = tagged(6, &[0x2b, 6, 1, 5, 5, 7, 0x30, 1]);
    let access = tagged(0x30, &tagged(0x30, &[method, tagged(0x86, url.as_bytes())].concat()));
    let mut params = CertificateParams::new(vec!["www.example.com".to_owned()]).unwrap();
    params.custom_extensions = vec![CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 1], access)];
    params.signed_by(&KeyPair::generate().unwrap(), issuer).unwrap().der().clone()
}

/// Issues a certificate for the signing of responses, and its key.
fn delegate(issuer: &TestIssuer, purpose: ExtendedKeyUsagePurpose, last_day: u8) -> (Certificate, KeyPair) {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "delegate");
    params.extended_key_usages = vec![purpose];
    params.not_after = date_time_ymd(2026, 1, last_day);
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
    let certificate = params.signed_by(&key, issuer).unwrap();
    (Certificate::from_der(certificate.der()).unwrap(), key)
}

fn time(seconds: i64) -> OcspGeneralizedTime {
    let since = Duration::from_secs(seconds.unsigned_abs());
    OcspGeneralizedTime(GeneralizedTime::from_unix_duration(since).unwrap())
}

fn name(certificate: &[u8]) -> ResponderId {
    let (_, parsed) = X509Certificate::from_der(certificate).unwrap();
    ResponderId::ByName(Name::from_der(parsed.subject().as_raw()).unwrap())
}

struct OcspTest {
    issuer: TestIssuer,
    question: OcspQuestion,
}

impl OcspTest {
    fn new() -> Self {
        let issuer = authority("authority");
        let chain = [leaf(&issuer, "http://ocsp.example.com/status"), der(&issuer)];
        let question = OcspQuestion::read(&chain).unwrap().unwrap();
        Self { issuer, question }
    }

    /// Returns what a responder says about the certificate: it is good, since an hour and for another one.
    fn good(&self) -> SingleResponse {
        SingleResponse {
            cert_id: self.question.id.clone(),
            cert_status: CertStatus::Good(Null),
            this_update: time(NOW_S - HOUR_S),
            next_update: Some(time(NOW_S + HOUR_S)),
            single_extensions: None,
        }
    }

    /// Returns a response of the issuer.
    fn by_issuer(&self, single: SingleResponse) -> Vec<u8> {
        sign(single, name(self.issuer.der()), self.issuer.key(), None)
    }

    fn verify(&self, bytes: Vec<u8>) -> Result<GoodResponse, ResponseFault> {
        verify_response(bytes, &self.question, NOW_S)
    }
}

fn sign(
    single: SingleResponse,
    responder_id: ResponderId,
    key: &KeyPair,
    certs: Option<Vec<Certificate>>,
) -> Vec<u8> {
    let tbs_response_data = ResponseData {
        version: Version::V1,
        responder_id,
        produced_at: single.this_update,
        responses: vec![single],
        response_extensions: None,
    };
    let signature = key.sign(&tbs_response_data.to_der().unwrap()).unwrap();
    let basic = BasicOcspResponse {
        tbs_response_data,
        signature_algorithm: AlgorithmIdentifierOwned { oid: ECDSA_WITH_SHA_256, parameters: None },
        signature: BitString::from_bytes(&signature).unwrap(),
        certs,
    };
    OcspResponse::successful(basic).unwrap().to_der().unwrap()
}

#[test]
fn responses_of_the_issuer_and_its_delegate_are_good() {
    let test = OcspTest::new();
    let (_, issuer) = X509Certificate::from_der(test.issuer.der()).unwrap();
    let (_, key) = split_key(issuer.public_key().raw).unwrap();
    let by_key = ResponderId::ByKey(OctetString::new(sha1(key)).unwrap());
    let (certificate, key) = delegate(&test.issuer, ExtendedKeyUsagePurpose::OcspSigning, 2);
    let by_delegate = name(&certificate.to_der().unwrap());
    for bytes in [
        test.by_issuer(test.good()),
        sign(test.good(), by_key, test.issuer.key(), None),
        sign(test.good(), by_delegate, &key, Some(vec![certificate])),
    ] {
        let response = test.verify(bytes.clone()).unwrap();
        assert_eq!(
            (response.bytes, response.this_update, response.end),
            (bytes, NOW_S - HOUR_S, NOW_S + HOUR_S)
        );
    }
    // Without an end it is good for an hour.
    let endless = SingleResponse { next_update: None, this_update: time(NOW_S - 60), ..test.good() };
    assert_eq!(test.verify(test.by_issuer(endless)).unwrap().end, NOW_S - 60 + HOUR_S);
}

#[test]
fn responses_of_strangers_are_refused() {
    let test = OcspTest::new();
    let stranger = authority("authority");
    let with = |certificate: Certificate, key: &KeyPair| {
        let named = name(&certificate.to_der().unwrap());
        sign(test.good(), named, key, Some(vec![certificate]))
    };
    let (foreign, foreign_key) = delegate(&stranger, ExtendedKeyUsagePurpose::OcspSigning, 2);
    let (server, server_key) = delegate(&test.issuer, ExtendedKeyUsagePurpose::ServerAuth, 2);
    let (old, old_key) = delegate(&test.issuer, ExtendedKeyUsagePurpose::OcspSigning, 1);
    let (good, good_key) = delegate(&test.issuer, ExtendedKeyUsagePurpose::OcspSigning, 2);
    let good_name = name(&good.to_der().unwrap());
    let mut many = vec![server.clone(); MAX_SIGNERS];
    many.push(good.clone());
    for (case, bytes) in [
        (
            "another key under the name of the issuer",
            sign(test.good(), name(test.issuer.der()), stranger.key(), None),
        ),
        ("a delegate of somebody else", with(foreign, &foreign_key)),
        ("a certificate for another purpose", with(server, &server_key)),
        ("a delegate behind others", sign(test.good(), good_name.clone(), &good_key, Some(many))),
        ("a missing delegate", sign(test.good(), good_name.clone(), &good_key, None)),
        ("a delegate's name, another key", sign(test.good(), good_name, stranger.key(), Some(vec![good]))),
    ] {
        assert_eq!(test.verify(bytes).map(drop), Err(ResponseFault::Signer), "{case}");
    }
    let by_old = with(old, &old_key);
    assert!(test.verify(by_old.clone()).is_ok(), "the last second counts");
    assert_eq!(verify_response(by_old, &test.question, NOW_S + 1).map(drop), Err(ResponseFault::Signer));
}

#[test]
fn only_a_good_certificate_at_the_right_time_is_stapled() {
    let test = OcspTest::new();
    let other = CertId { serial_number: SerialNumber::new(&[7]).unwrap(), ..test.question.id.clone() };
    let revoked = RevokedInfo { revocation_time: time(NOW_S - 5), revocation_reason: None };
    let at = |this: i64, next: i64| SingleResponse {
        this_update: time(NOW_S + this),
        next_update: Some(time(NOW_S + next)),
        ..test.good()
    };
    for (single, expected) in [
        (SingleResponse { cert_id: other, ..test.good() }, ResponseFault::OtherCertificate),
        (SingleResponse { cert_status: CertStatus::Unknown(Null), ..test.good() }, ResponseFault::Unknown),
        (
            SingleResponse { cert_status: CertStatus::Revoked(revoked), ..test.good() },
            ResponseFault::Revoked(NOW_S - 5),
        ),
        (at(MAX_SKEW_S + 1, HOUR_S), ResponseFault::Early(NOW_S + MAX_SKEW_S + 1)),
        (at(-HOUR_S, 0), ResponseFault::Expired(NOW_S)),
        (SingleResponse { next_update: None, ..test.good() }, ResponseFault::Expired(NOW_S)),
    ] {
        assert_eq!(test.verify(test.by_issuer(single)).map(drop), Err(expected));
    }
    assert!(test.verify(test.by_issuer(at(MAX_SKEW_S, HOUR_S))).is_ok());
    assert!(test.verify(test.by_issuer(at(-HOUR_S, 1))).is_ok());
}

#[test]
fn changed_and_cut_responses_are_refused() {
    let test = OcspTest::new();
    let good = test.by_issuer(test.good());
    for index in 0..good.len() {
        assert!(test.verify(good[..index].to_vec()).is_err(), "{index}");
        for bit in 0..8 {
            let mut changed = good.clone();
            changed[index] ^= 1 << bit;
            assert!(test.verify(changed).is_err(), "{index} {bit}");
        }
    }
    let try_later = OcspResponse::try_later().to_der().unwrap();
    assert_eq!(test.verify(try_later).map(drop), Err(ResponseFault::Refused("tryLater")));
    for garbage in [&b""[..], b"<html>not found</html>", &[0x30; 5_000], test.issuer.der()] {
        assert!(matches!(test.verify(garbage.to_vec()), Err(ResponseFault::Format(_))));
    }
}

#[test]
fn a_chain_without_its_issuer_or_without_http_has_no_question() {
    let (issuer, other) = (authority("authority"), authority("other"));
    let namesake = authority("authority");
    let plain = leaf(&issuer, "http://ocsp.example.com");
    for chain in [vec![plain.clone()], vec![plain.clone(), der(&other)], vec![plain.clone(), der(&namesake)]]
    {
        assert_eq!(OcspQuestion::read(&chain).err(), Some(OcspQuestionFault::Issuer));
    }
    for url in ["https://ocsp.example.com", "ldap://x", "http://", "/path", ""] {
        let fault = OcspQuestion::read(&[leaf(&issuer, url), der(&issuer)]).err().unwrap();
        assert_eq!(fault, OcspQuestionFault::Url { found: url.to_owned() });
    }
    assert!(OcspQuestion::read(&[der(&issuer), der(&issuer)]).unwrap().is_none());
    assert!(OcspQuestion::read(&[plain, der(&issuer)]).unwrap().is_some());
    assert!(OcspQuestion::read(&[b"no certificate".to_vec().into()]).unwrap().is_none());
}

#[test]
fn a_response_is_stapled_until_its_end_and_fetched_again_at_its_half() {
    let test = OcspTest::new();
    let response = test.verify(test.by_issuer(test.good())).unwrap();
    let key = KeyPair::generate().unwrap().serialize_der();
    let key = rustls::crypto::aws_lc_rs::sign::any_supported_type(&rustls::pki_types::PrivateKeyDer::Pkcs8(
        key.into(),
    ));
    let key = Arc::new(CertifiedKey::new(vec![der(&test.issuer)], key.unwrap()));
    let slot = StapleSlot::new(test.question, PathBuf::new(), key);
    assert!(slot.is_due(NOW_S) && slot.key_at(NOW_S).is_none());
    slot.keep(response, NOW_S);
    // Half of the time has passed already, but a responder is not asked at once again.
    assert!(!slot.is_due(NOW_S) && slot.is_due(NOW_S + 30));
    assert!(slot.key_at(NOW_S).unwrap().ocsp.is_some());
    // A failure leaves the response that is there.
    slot.fail(NOW_S);
    assert!(slot.key_at(NOW_S + HOUR_S - 1).is_some() && slot.key_at(NOW_S + HOUR_S).is_none());
    slot.revoke(NOW_S);
    assert!(slot.key_at(NOW_S).is_none());
}
