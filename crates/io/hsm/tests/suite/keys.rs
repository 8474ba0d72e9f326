//! Keys of a token: found by name, with their public halves.

use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, CertificateType, ObjectClass};
use oarlock::keys::{export, generate as make};
use oarlock::{Curve, KeyHome, KeyKind};
use oarlock_hsm::{HsmError, Pkcs11Uri};

use crate::own_process::{P256, generate, key, sign, uri, with_token};

#[test]
fn keys_are_found_by_label_by_identifier_and_by_both() {
    with_token(|token| {
        let session = token.user_session();
        let curve = [Attribute::EcParams(P256.to_vec())];
        generate(&session, ("twin", &[1]), &Mechanism::EccKeyPairGen, &curve, &[]);
        generate(&session, ("twin", &[2]), &Mechanism::EccKeyPairGen, &curve, &[]);
        let hsm = token.hsm();
        let one = hsm.key(&uri("pkcs11:object=twin;id=%01;type=private")).unwrap();
        let two = hsm.key(&uri("pkcs11:token=mail;id=%02")).unwrap();
        assert_ne!(one.fingerprint(), two.fingerprint());
        assert_eq!(one.kind(), KeyKind::EcPrivate(Curve::P256));
        let KeyHome::Held { holder, reference } = one.home() else { panic!("{one:?}") };
        assert_eq!((&**holder, &**reference), ("hsm", "pkcs11:object=twin;id=%01;type=private"));
        sign(&hsm, &one).unwrap();
        sign(&hsm, &two).unwrap();
        let error = |text: &str| hsm.key(&uri(text)).unwrap_err();
        assert!(matches!(error("pkcs11:object=twin"), HsmError::SeveralObjects { found: 2, .. }));
        assert!(matches!(error("pkcs11:object=twin;id=%03"), HsmError::NoObject { .. }));
        assert!(matches!(error("pkcs11:token=mail"), HsmError::KeyName { .. }));
        assert!(matches!(error("pkcs11:object=twin;type=public"), HsmError::KeyName { .. }));
        let text = error("pkcs11:object=absent").to_string();
        assert_eq!(text, "no object of token \"mail\" is pkcs11:object=absent;type=private");
    });
}

#[test]
fn a_key_that_disappears_is_an_error_of_its_jobs_alone() {
    with_token(|token| {
        token.generate_p256("one");
        token.generate_p256("two");
        let hsm = token.hsm();
        let (one, two) = (key(&hsm, "one"), key(&hsm, "two"));
        sign(&hsm, &one).unwrap();
        let session = token.user_session();
        for object in session.find_objects(&[Attribute::Label(b"one".to_vec())]).unwrap() {
            session.destroy_object(object).unwrap();
        }
        let error = sign(&hsm, &one).unwrap_err().to_string();
        assert_eq!(
            error,
            "holder hsm refused: no object of token \"mail\" is pkcs11:object=one;type=private"
        );
        sign(&hsm, &two).unwrap();
    });
}

#[test]
fn the_public_half_comes_from_the_private_key_or_a_certificate_too() {
    with_token(|token| {
        let session = token.user_session();
        let rsa = [Attribute::ModulusBits(2048.into()), Attribute::PublicExponent(vec![1, 0, 1])];
        let (public, _) = generate(&session, ("rsa", &[1]), &Mechanism::RsaPkcsKeyPairGen, &rsa, &[]);
        let curve = [Attribute::EcParams(P256.to_vec())];
        let (ec_public, _) = generate(&session, ("ec", &[2]), &Mechanism::EccKeyPairGen, &curve, &[]);
        let hsm = token.hsm();
        let (rsa, ec) = (key(&hsm, "rsa"), key(&hsm, "ec"));
        session.destroy_object(public).unwrap();
        session.destroy_object(ec_public).unwrap();
        assert_eq!(key(&hsm, "rsa").fingerprint(), rsa.fingerprint());
        let without = hsm.key(&uri("pkcs11:object=ec")).unwrap_err();
        assert!(matches!(without, HsmError::NoPublicHalf { .. }), "{without}");
        let certificate = certificate(&export::spki_der(&ec).unwrap());
        let attributes = [
            Attribute::Token(true),
            Attribute::Class(ObjectClass::CERTIFICATE),
            Attribute::CertificateType(CertificateType::X_509),
            Attribute::Id(vec![2]),
            Attribute::Subject(vec![0x30, 0]),
            Attribute::Value(certificate),
        ];
        let stored = session.create_object(&attributes).unwrap();
        let again = key(&hsm, "ec");
        assert_eq!(again.fingerprint(), ec.fingerprint());
        sign(&hsm, &again).unwrap();
        // A certificate of another key is a fault of the token, and not of the module.
        session.destroy_object(stored).unwrap();
        let other = export::spki_der(&make::ec(Curve::P256).unwrap()).unwrap();
        let value = [&attributes[..5], &[Attribute::Value(self::certificate(&other))]].concat();
        session.create_object(&value).unwrap();
        let error = hsm.key(&uri("pkcs11:object=ec")).unwrap_err();
        assert!(matches!(error, HsmError::Pair { .. }), "{error}");
        assert_eq!(hsm.report().wrong, 0);
    });
}

#[test]
fn a_key_that_may_not_sign_is_refused_and_the_error_names_it() {
    with_token(|token| {
        let session = token.user_session();
        let curve = [Attribute::EcParams(P256.to_vec())];
        generate(
            &session,
            ("agree", &[1]),
            &Mechanism::EccKeyPairGen,
            &curve,
            &[Attribute::Sign(false), Attribute::Derive(true)],
        );
        let hsm = token.hsm();
        let error = sign(&hsm, &key(&hsm, "agree")).unwrap_err().to_string();
        assert_eq!(
            error,
            "holder hsm refused: pkcs11:object=agree;type=private: the token does not allow this key to sign"
        );
        // A key with the label of another one's public half is no key of this name.
        let local = make::ec(Curve::P256).unwrap();
        assert_ne!(key(&hsm, "agree").fingerprint(), local.fingerprint());
        assert!(hsm.key(&Pkcs11Uri::of_object(None, Some(&[9]), None)).is_err());
    });
}

/// The structure around a public key, without a signature that anyone checks here. RFC 5280 4.1.
fn certificate(spki: &[u8]) -> Vec<u8> {
    let element = |tag: u8, content: &[u8]| {
        [&[tag, 0x82, (content.len() >> 8) as u8, content.len() as u8], content].concat()
    };
    let empty = element(0x30, &[]);
    let fields = [
        element(0xA0, &[2, 1, 2]),
        element(2, &[1]),
        empty.clone(),
        empty.clone(),
        empty.clone(),
        empty.clone(),
    ];
    let tbs = [fields.concat(), spki.to_vec()].concat();
    element(0x30, &[element(0x30, &tbs), empty, element(3, &[0])].concat())
}
