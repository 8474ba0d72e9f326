//! Encapsulation by RSA-OAEP and ECDH.

use oarlock_cryptoki::{
    AttributeType as A, CallOutput, KeyTypeNumber, Mechanism, MechanismParameters as P, MechanismType as M,
    ObjectHandle, ReturnCode,
};

use crate::common::*;

const OAEP: P<'static> = P::Oaep { hash: M::SHA256, mgf: 2, source: 1, label: b"label" };
const ECDH: P<'static> = P::Ecdh { kdf: 6, shared: b"shared", public: &[] };

fn encapsulate(
    user: &User,
    mechanism: &Mechanism<'_>,
    public: ObjectHandle,
    template: &Template,
) -> Result<(Vec<u8>, ObjectHandle), ReturnCode> {
    let mut new = None;
    let ciphertext = take(|output| {
        new = user.cryptoki.encapsulate_key(user.session, mechanism, public, &template.entries(), output)?;
        Ok(())
    })?;
    Ok((ciphertext, new.unwrap()))
}

fn decapsulate(
    user: &User,
    mechanism: &Mechanism<'_>,
    private: ObjectHandle,
    template: &Template,
    ciphertext: &[u8],
) -> Result<ObjectHandle, ReturnCode> {
    user.cryptoki.decapsulate_key(user.session, mechanism, private, &template.entries(), ciphertext)
}

/// Key pairs with their mechanisms and the lengths of their ciphertexts.
fn pairs(user: &User) -> Vec<(Mechanism<'static>, ObjectHandle, ObjectHandle, usize)> {
    let make = |kind, public: Template| {
        let private = Template::new().flag(A::DECAPSULATE, true);
        user.pair(kind, &public.flag(A::ENCAPSULATE, true), &private).unwrap()
    };
    let rsa = make(M::RSA_PKCS_KEY_PAIR_GEN, Template::new().number(A::MODULUS_BITS, 2048));
    let p256 = make(M::EC_KEY_PAIR_GEN, Template::new().bytes(A::EC_PARAMS, P256));
    let p384 = make(M::EC_KEY_PAIR_GEN, Template::new().bytes(A::EC_PARAMS, P384));
    let x25519 = make(M::EC_MONTGOMERY_KEY_PAIR_GEN, Template::new().bytes(A::EC_PARAMS, X25519));
    let ecdh = Mechanism::new(M::ECDH1_DERIVE, ECDH);
    vec![
        (Mechanism::new(M::RSA_PKCS_OAEP, OAEP), rsa.0, rsa.1, 256),
        (ecdh, p256.0, p256.1, 65),
        (ecdh, p384.0, p384.1, 97),
        (ecdh, x25519.0, x25519.1, 32),
    ]
}

#[test]
fn both_sides_have_the_same_secret_and_another_each_time() {
    let user = User::new();
    let template =
        Template::new().number(A::KEY_TYPE, KeyTypeNumber::AES.0).number(A::VALUE_LEN, 32).readable();
    for (mechanism, public, private, len) in pairs(&user) {
        let (ciphertext, sent) = encapsulate(&user, &mechanism, public, &template).unwrap();
        assert_eq!(ciphertext.len(), len, "{mechanism:?}");
        let received = decapsulate(&user, &mechanism, private, &template, &ciphertext).unwrap();
        let value = user.get(sent, A::VALUE).unwrap();
        assert_eq!((value.len(), user.get(received, A::VALUE).unwrap()), (32, value.clone()));
        for key in [sent, received] {
            assert!(!user.is_true(key, A::LOCAL) && !user.is_true(key, A::NEVER_EXTRACTABLE));
        }
        let (_, other) = encapsulate(&user, &mechanism, public, &template).unwrap();
        assert_ne!(user.get(other, A::VALUE).unwrap(), value);
        // A changed ciphertext fails, or gives another secret where nothing authenticates it.
        let mut changed = ciphertext.clone();
        *changed.last_mut().unwrap() ^= 1;
        match decapsulate(&user, &mechanism, private, &template, &changed) {
            Ok(key) => assert_ne!(user.get(key, A::VALUE).unwrap(), value),
            Err(code) => assert_eq!(code, ReturnCode::WrappedKeyInvalid),
        }
        let short = decapsulate(&user, &mechanism, private, &template, &ciphertext[1..]);
        assert_eq!(short, Err(ReturnCode::WrappedKeyInvalid), "{mechanism:?}");
    }
}

#[test]
fn keys_and_parameters_that_do_not_fit_are_rejected() {
    let user = User::new();
    let template = Template::new().number(A::VALUE_LEN, 32);
    let [(oaep, rsa, rsa_private, _), (ecdh, p256, _, _), ..] = &pairs(&user)[..] else {
        panic!("four pairs")
    };
    let peer = Mechanism::new(M::ECDH1_DERIVE, P::Ecdh { kdf: 6, shared: &[], public: &[4; 65] });
    let named = encapsulate(&user, &peer, *p256, &template);
    assert_eq!(named, Err(ReturnCode::MechanismParamInvalid), "the peer is the key itself");
    assert_eq!(encapsulate(&user, ecdh, *rsa, &template), Err(ReturnCode::KeyTypeInconsistent));
    let wrong_half = encapsulate(&user, oaep, *rsa_private, &template);
    assert_eq!(wrong_half, Err(ReturnCode::KeyFunctionNotPermitted));
    let pkcs1 = Mechanism::plain(M::RSA_PKCS);
    assert_eq!(encapsulate(&user, &pkcs1, *rsa, &template), Err(ReturnCode::MechanismInvalid));
    let open = encapsulate(&user, oaep, *rsa, &Template::new());
    assert_eq!(open, Err(ReturnCode::TemplateIncomplete), "RSA has no natural length");
    let long = encapsulate(&user, oaep, *rsa, &Template::new().number(A::VALUE_LEN, 250));
    assert_eq!(long, Err(ReturnCode::DataLenRange));
    let (public, _) =
        user.pair(M::EC_KEY_PAIR_GEN, &Template::new().bytes(A::EC_PARAMS, P256), &Template::new()).unwrap();
    let unmarked = encapsulate(&user, ecdh, public, &template);
    assert_eq!(unmarked, Err(ReturnCode::KeyFunctionNotPermitted));
}

#[test]
fn the_other_length_of_an_rsa_secret_is_a_bad_ciphertext() {
    let user = User::new();
    let (oaep, public, private, _) = pairs(&user)[0];
    let (ciphertext, _) =
        encapsulate(&user, &oaep, public, &Template::new().number(A::VALUE_LEN, 32)).unwrap();
    let other = Template::new().number(A::VALUE_LEN, 16);
    let opened = decapsulate(&user, &oaep, private, &other, &ciphertext);
    assert_eq!(opened, Err(ReturnCode::WrappedKeyInvalid));
    let too_small = user.cryptoki.encapsulate_key(
        user.session,
        &oaep,
        public,
        &other.entries(),
        &mut CallOutput::new(&mut [0; 255]),
    );
    assert_eq!(too_small, Err(ReturnCode::BufferTooSmall));
}
