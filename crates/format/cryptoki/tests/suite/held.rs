//! Keys that a server holds: what they sign, and what they do not do.

use std::sync::Arc;

use oarlock::engine_api::{Completion, Holder, OwnedJobs};
use oarlock::{Accelerator, Input, Job, JobError, Key, MlDsaSet, MlKemSet, SubmitOptions};
use oarlock_cryptoki::{
    AttributeQuery, AttributeSet, AttributeType as A, AttributeValue, CallOutput, Cryptoki, Mechanism,
    MechanismParameters as P, MechanismType as M, ObjectClass, ObjectContent, ObjectHandle, ReturnCode,
    SessionHandle, SlotSettings, TokenDescription, TokenObject, TokenObjectId, TokenObjects, UserType,
    parameter_values as value, public_values, token_flags,
};

use crate::common::*;

/// A holder with one key, which it uses in this process, or refuses to use.
#[derive(Debug)]
struct TestHolder {
    key: Key,
    accelerator: Accelerator,
    refusal: Option<JobError>,
}

impl Holder for TestHolder {
    fn name(&self) -> &str {
        "server"
    }

    fn start(&self, jobs: OwnedJobs, done: Completion) {
        for (index, job) in jobs.iter().enumerate() {
            let mut job = job.as_job();
            job.key = &self.key;
            let answer = match &self.refusal {
                Some(refusal) => Err(refusal.clone()),
                None => self.accelerator.submit(&job, SubmitOptions::default()).wait(),
            };
            let _ = done.complete(index, answer.map(|bytes| bytes.to_vec()));
        }
    }
}

/// A write-protected token that shows one private key, which the holder has.
#[derive(Debug)]
struct ServerToken(Key);

impl TokenObjects for ServerToken {
    fn describe(&self) -> Result<TokenDescription, ReturnCode> {
        Ok(TokenDescription {
            label: "server".into(),
            manufacturer: String::new(),
            model: String::new(),
            serial_number: String::new(),
            flags: token_flags::TOKEN_INITIALIZED | token_flags::WRITE_PROTECTED,
            min_pin_len: 0,
            max_pin_len: 0,
        })
    }

    fn data_version(&self) -> Result<u64, ReturnCode> {
        Ok(1)
    }

    fn list(&self) -> Result<Vec<TokenObject>, ReturnCode> {
        let key_type = public_values(&self.0, ObjectClass::PRIVATE_KEY).number(A::KEY_TYPE).unwrap();
        let attributes: AttributeSet = [
            (A::CLASS, AttributeValue::from(ObjectClass::PRIVATE_KEY.0)),
            (A::KEY_TYPE, key_type.into()),
            (A::TOKEN, true.into()),
            (A::PRIVATE, false.into()),
            (A::LABEL, "held".into()),
            (A::SIGN, true.into()),
            (A::DECRYPT, true.into()),
            (A::DECAPSULATE, true.into()),
            (A::SENSITIVE, true.into()),
            (A::EXTRACTABLE, false.into()),
        ]
        .into_iter()
        .collect();
        Ok(vec![TokenObject { id: TokenObjectId(1), attributes, key: Some(self.0.clone()) }])
    }

    fn open_secrets(&self, _: TokenObjectId) -> Result<AttributeSet, ReturnCode> {
        Err(ReturnCode::DeviceError)
    }

    fn create(&self, _: &[ObjectContent]) -> Result<Vec<TokenObjectId>, ReturnCode> {
        Err(ReturnCode::TokenWriteProtected)
    }

    fn update(&self, _: TokenObjectId, _: &AttributeSet, _: &AttributeSet) -> Result<bool, ReturnCode> {
        Err(ReturnCode::TokenWriteProtected)
    }

    fn destroy(&self, _: TokenObjectId) -> Result<(), ReturnCode> {
        Err(ReturnCode::TokenWriteProtected)
    }

    fn login(&self, _: UserType, _: Option<&[u8]>) -> Result<(), ReturnCode> {
        Ok(())
    }

    fn logout(&self) -> Result<(), ReturnCode> {
        Ok(())
    }

    fn init_token(&self, _: Option<&[u8]>, _: &str) -> Result<(), ReturnCode> {
        Err(ReturnCode::TokenWriteProtected)
    }

    fn init_pin(&self, _: Option<&[u8]>) -> Result<(), ReturnCode> {
        Err(ReturnCode::TokenWriteProtected)
    }

    fn set_pin(&self, _: UserType, _: Option<&[u8]>, _: Option<&[u8]>) -> Result<(), ReturnCode> {
        Err(ReturnCode::TokenWriteProtected)
    }
}

#[test]
fn a_held_key_signs_digests_and_nothing_bare() {
    let key = oarlock::keys::generate::rsa(2048).unwrap();
    let spki = oarlock::keys::export::spki_der(&key).unwrap();
    let held = oarlock::keys::held::from_spki(&spki, "server", "a key").unwrap();
    let holder = Arc::new(TestHolder { key, accelerator: accelerator(), refusal: None });
    let with_holder = Accelerator::builder().engines(["scalar"]).lazy().holder(holder).build().unwrap();
    let cryptoki =
        Cryptoki::new(with_holder, vec![SlotSettings::new(SLOT, "server", Arc::new(ServerToken(held)))]);
    let session = cryptoki.open_session(SLOT, READ_WRITE).unwrap();
    let [object] = find(&cryptoki, session, &Template::new().bytes(A::LABEL, b"held"))[..] else { panic!() };
    let public = oarlock::keys::import::spki_der(&spki).unwrap();
    let sign = |mechanism: &Mechanism<'_>, data: &[u8]| {
        cryptoki.sign_init(session, mechanism, object)?;
        let mut signature = [0; 256];
        cryptoki.sign(session, data, &mut CallOutput::new(&mut signature)).map(|()| signature)
    };
    let verify = |scheme, data: &[u8], signature: &[u8]| {
        let job = Job::verify(scheme, &public, Input::Message(data), signature);
        accelerator().run_all(&[job]).verified(0).unwrap()
    };
    use oarlock::VerifyingScheme as V;
    let signature = sign(&Mechanism::plain(M::SHA256_RSA_PKCS), b"m").unwrap();
    assert!(verify(V::RSA_PKCS1_SHA256, b"m", &signature));
    let parameters = P::Pss { hash: M::SHA384, mgf: value::CKG_MGF1_SHA384, salt_len: 48 };
    let signature = sign(&Mechanism::new(M::SHA384_RSA_PKCS_PSS, parameters), b"m").unwrap();
    assert!(verify(V::RSA_PSS_SHA384, b"m", &signature));
    // An encoded digest, as OpenSSL's engines give it.
    let info = hex("3031300d060960864801650304020105000420");
    cryptoki.digest_init(session, &Mechanism::plain(M::SHA256)).unwrap();
    let digest = take(|output| cryptoki.digest(session, b"m", output)).unwrap();
    let encoded = [&info[..], &digest].concat();
    let signature = sign(&Mechanism::plain(M::RSA_PKCS), &encoded).unwrap();
    assert!(verify(V::RSA_PKCS1_SHA256, b"m", &signature));
    // Anything else has no digest that a server could check against its grants.
    let other = sign(&Mechanism::plain(M::RSA_PKCS), &encoded[1..]);
    assert_eq!(other.unwrap_err(), ReturnCode::DataInvalid);
    let bare = sign(&Mechanism::plain(M::RSA_X_509), &[1; 256]);
    assert_eq!(bare.unwrap_err(), ReturnCode::KeyFunctionNotPermitted);
    // It does not leave, and nothing new comes onto the token.
    let copy = Template::new().flag(A::LABEL, true);
    let copied = cryptoki.copy_object(session, object, &copy.entries());
    assert_eq!(copied.unwrap_err(), ReturnCode::KeyUnextractable);
    let destroyed = cryptoki.destroy_object(session, object);
    assert_eq!(destroyed.unwrap_err(), ReturnCode::TokenWriteProtected);
}

/// A library with one key that a holder has, and a session of it.
fn library(key: &Key, refusal: Option<JobError>) -> (Cryptoki, SessionHandle, ObjectHandle) {
    let spki = oarlock::keys::export::spki_der(key).unwrap();
    let held = oarlock::keys::held::from_spki(&spki, "server", "a key").unwrap();
    let holder = Arc::new(TestHolder { key: key.clone(), accelerator: accelerator(), refusal });
    let with_holder = Accelerator::builder().engines(["scalar"]).lazy().holder(holder).build().unwrap();
    let slot = SlotSettings::new(SLOT, "server", Arc::new(ServerToken(held)));
    let cryptoki = Cryptoki::new(with_holder, vec![slot]);
    let session = cryptoki.open_session(SLOT, READ_WRITE).unwrap();
    let [object] = find(&cryptoki, session, &Template::new().bytes(A::LABEL, b"held"))[..] else { panic!() };
    (cryptoki, session, object)
}

#[test]
fn held_keys_of_ml_kem_and_ml_dsa_are_used_by_their_holder() {
    use oarlock::{DigestAlg, MlDsaVariant, VerifyingScheme};
    let key = oarlock::keys::generate::ml_dsa(MlDsaSet::MlDsa44).unwrap();
    let (cryptoki, session, object) = library(&key, None);
    let parameters = P::SignContext { hedge: value::CKH_HEDGE_REQUIRED, context: b"c" };
    for (kind, variant) in [
        (M::ML_DSA, MlDsaVariant::Pure),
        (M::HASH_ML_DSA_SHA256, MlDsaVariant::PreHash(DigestAlg::Sha256)),
        (M::HASH_ML_DSA_SHAKE128, MlDsaVariant::PreHash(DigestAlg::Shake128)),
    ] {
        cryptoki.sign_init(session, &Mechanism::new(kind, parameters), object).unwrap();
        let signature = take(|output| cryptoki.sign(session, b"m", output)).unwrap();
        let scheme = VerifyingScheme::ml_dsa(MlDsaSet::MlDsa44, variant);
        let verify = |context| {
            let job = Job::verify(scheme, &key, Input::Message(b"m"), &signature).context(context);
            accelerator().run_all(&[job]).verified(0).unwrap()
        };
        assert!(verify(b"c") && !verify(b"d"), "{kind}");
    }
    let key = oarlock::keys::generate::ml_kem(MlKemSet::MlKem768).unwrap();
    let made = accelerator().submit(&Job::encapsulate(&key), SubmitOptions::default()).wait().unwrap();
    let (ciphertext, secret) = made.split_at(1088);
    let (template, mechanism) = (Template::new().readable(), Mechanism::plain(M::ML_KEM));
    let entries = template.entries();
    let (cryptoki, session, object) = library(&key, None);
    let opened = cryptoki.decapsulate_key(session, &mechanism, object, &entries, ciphertext).unwrap();
    let mut value = [0; 32];
    let mut queries = [AttributeQuery::new(A::VALUE, &mut value)];
    cryptoki.get_attribute_value(session, opened, &mut queries).unwrap();
    assert_eq!(value, *secret);
    let short = cryptoki.decapsulate_key(session, &mechanism, object, &entries, &ciphertext[1..]);
    assert_eq!(short, Err(ReturnCode::WrappedKeyInvalid));
    for kind in [A::VALUE, A::SEED] {
        let mut queries = [AttributeQuery::length_only(kind)];
        let asked = cryptoki.get_attribute_value(session, object, &mut queries);
        assert_eq!(asked, Err(ReturnCode::AttributeSensitive));
    }
    // The answer of a holder that does not do it is not that of a bad ciphertext.
    for (refusal, code) in [
        (
            JobError::HolderRefused { holder: "server".into(), reason: "no".into() },
            ReturnCode::KeyFunctionNotPermitted,
        ),
        (JobError::Unsupported { wanted: "ml-kem-768-decaps".into() }, ReturnCode::MechanismInvalid),
    ] {
        let (cryptoki, session, object) = library(&key, Some(refusal));
        let opened = cryptoki.decapsulate_key(session, &mechanism, object, &entries, ciphertext);
        assert_eq!(opened, Err(code));
    }
}
