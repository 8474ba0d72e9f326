//! Generation, wrapping, unwrapping and derivation of keys.

use oarlock_cryptoki::{
    AttributeQuery, AttributeType as A, KeyTypeNumber, Mechanism, MechanismParameters as P,
    MechanismType as M, ObjectClass, ObjectHandle, ReturnCode, TemplateEntry, UserType, mechanism_flags,
    parameter_values as value,
};

use crate::common::*;

fn wrap(
    user: &User,
    mechanism: &Mechanism<'_>,
    wrapping: ObjectHandle,
    key: ObjectHandle,
) -> Result<Vec<u8>, ReturnCode> {
    take(|output| user.cryptoki.wrap_key(user.session, mechanism, wrapping, key, output))
}

fn unwrap(
    user: &User,
    mechanism: &Mechanism<'_>,
    unwrapping: ObjectHandle,
    wrapped: &[u8],
    template: &Template,
) -> Result<ObjectHandle, ReturnCode> {
    user.cryptoki.unwrap_key(user.session, mechanism, unwrapping, wrapped, &template.entries())
}

fn wrapping_key(user: &User) -> ObjectHandle {
    let template = Template::new().number(A::VALUE_LEN, 32).flag(A::WRAP, true).flag(A::UNWRAP, true);
    user.generate(M::AES_KEY_GEN, &template).unwrap()
}

#[test]
fn every_mechanism_unwraps_what_it_wrapped() {
    // Padded CBC wraps only there.
    let user = User::with(|slot| slot.is_compatible = true);
    let wrapping = wrapping_key(&user);
    let iv = [3; 16];
    let secret = user.generate(M::AES_KEY_GEN, &Template::new().number(A::VALUE_LEN, 32).readable()).unwrap();
    let rsa = Template::new().number(A::MODULUS_BITS, 1024);
    let readable = Template::new().readable();
    let (_, rsa) = user.pair(M::RSA_PKCS_KEY_PAIR_GEN, &rsa, &readable).unwrap();
    let ec = Template::new().bytes(A::EC_PARAMS, P384);
    let (_, ec) = user.pair(M::EC_KEY_PAIR_GEN, &ec, &readable).unwrap();
    let (_, ed) = user.pair(M::EC_EDWARDS_KEY_PAIR_GEN, &Template::new(), &readable).unwrap();
    let (_, x) = user.pair(M::EC_MONTGOMERY_KEY_PAIR_GEN, &Template::new(), &readable).unwrap();
    let private = |key_type: KeyTypeNumber| {
        Template::class(ObjectClass::PRIVATE_KEY).number(A::KEY_TYPE, key_type.0).readable()
    };
    let cases = [
        (
            secret,
            Template::class(ObjectClass::SECRET_KEY).number(A::KEY_TYPE, KeyTypeNumber::AES.0).readable(),
            A::VALUE,
        ),
        (rsa, private(KeyTypeNumber::RSA), A::PRIVATE_EXPONENT),
        (ec, private(KeyTypeNumber::EC), A::VALUE),
        (ed, private(KeyTypeNumber::EC_EDWARDS), A::VALUE),
        (x, private(KeyTypeNumber::EC_MONTGOMERY), A::VALUE),
    ];
    for mechanism in [Mechanism::plain(M::AES_KEY_WRAP_KWP), Mechanism::new(M::AES_CBC_PAD, P::Iv(&iv))] {
        for (key, template, kind) in &cases {
            let wrapped = wrap(&user, &mechanism, wrapping, *key).unwrap();
            let back = unwrap(&user, &mechanism, wrapping, &wrapped, template).unwrap();
            assert_eq!(user.get(back, *kind), user.get(*key, *kind), "{mechanism:?} {kind}");
            assert!(!user.is_true(back, A::LOCAL) && !user.is_true(back, A::NEVER_EXTRACTABLE));
            // Every fault looks alike.
            for bad in [&wrapped[1..], &wrapped[..wrapped.len() - 1], &[]] {
                let answer = unwrap(&user, &mechanism, wrapping, bad, template);
                assert_eq!(answer.unwrap_err(), ReturnCode::WrappedKeyInvalid);
            }
        }
    }
    let kw = Mechanism::plain(M::AES_KEY_WRAP);
    let wrapped = wrap(&user, &kw, wrapping, secret).unwrap();
    let back = unwrap(&user, &kw, wrapping, &wrapped, &cases[0].1).unwrap();
    assert_eq!(user.get(back, A::VALUE), user.get(secret, A::VALUE));
    let odd = user.create(&Template::secret(KeyTypeNumber::GENERIC_SECRET, &[1; 17]).readable()).unwrap();
    assert_eq!(wrap(&user, &kw, wrapping, odd).unwrap_err(), ReturnCode::KeySizeRange);
    // The value of an EC key is no RSA key.
    let wrapped = wrap(&user, &Mechanism::plain(M::AES_KEY_WRAP_KWP), wrapping, ec).unwrap();
    let other = private(KeyTypeNumber::RSA);
    let answer = unwrap(&user, &Mechanism::plain(M::AES_KEY_WRAP_KWP), wrapping, &wrapped, &other);
    assert_eq!(answer.unwrap_err(), ReturnCode::WrappedKeyInvalid);
}

#[test]
fn nothing_wraps_by_gcm() {
    let user = User::with(|slot| slot.is_compatible = true);
    let gcm = Mechanism::new(M::AES_GCM, P::Gcm { iv: &[1; 12], aad: b"aad", tag_bits: 128 });
    let template = Template::new().number(A::VALUE_LEN, 16).flag(A::WRAP, true).flag(A::UNWRAP, true);
    let both = user.generate(M::AES_KEY_GEN, &template.flag(A::ENCRYPT, true)).unwrap();
    let key = user.generate(M::AES_KEY_GEN, &Template::new().number(A::VALUE_LEN, 16).readable()).unwrap();
    assert_eq!(wrap(&user, &gcm, both, key).unwrap_err(), ReturnCode::MechanismInvalid);
    // Others may have done so.
    let wrapped = user.encrypt(&gcm, both, &user.get(key, A::VALUE).unwrap()).unwrap();
    let template =
        Template::class(ObjectClass::SECRET_KEY).number(A::KEY_TYPE, KeyTypeNumber::AES.0).readable();
    let back = unwrap(&user, &gcm, both, &wrapped, &template).unwrap();
    assert_eq!(user.get(back, A::VALUE), user.get(key, A::VALUE));
}

#[test]
fn padded_cbc_wraps_for_old_applications_only() {
    let mechanism = Mechanism::new(M::AES_CBC_PAD, P::Iv(&[0; 16]));
    let template = Template::class(ObjectClass::SECRET_KEY).number(A::KEY_TYPE, KeyTypeNumber::AES.0);
    for is_compatible in [false, true] {
        let user = User::with(|slot| slot.is_compatible = is_compatible);
        let wrapping = wrapping_key(&user);
        let key = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16]).readable()).unwrap();
        assert_eq!(wrap(&user, &mechanism, wrapping, key).is_ok(), is_compatible);
        let tried = unwrap(&user, &mechanism, wrapping, &[1; 32], &template).unwrap_err();
        let code = if is_compatible { ReturnCode::WrappedKeyInvalid } else { ReturnCode::MechanismInvalid };
        assert_eq!(tried, code);
        let facts = user.cryptoki.mechanism_facts(SLOT, M::AES_CBC_PAD).unwrap();
        assert_eq!(facts.flags & mechanism_flags::WRAP != 0, is_compatible);
        assert_eq!(facts.flags & mechanism_flags::UNWRAP != 0, is_compatible);
    }
}

#[test]
fn rsa_wraps_secret_keys() {
    let user = User::new();
    let public = Template::new().number(A::MODULUS_BITS, 2048).flag(A::WRAP, true);
    let private = Template::new().flag(A::UNWRAP, true);
    let (public, private) = user.pair(M::RSA_PKCS_KEY_PAIR_GEN, &public, &private).unwrap();
    let key = user.generate(M::AES_KEY_GEN, &Template::new().number(A::VALUE_LEN, 16).readable()).unwrap();
    let template =
        Template::class(ObjectClass::SECRET_KEY).number(A::KEY_TYPE, KeyTypeNumber::AES.0).readable();
    let parameters = P::Oaep { hash: M::SHA256, mgf: value::CKG_MGF1_SHA256, source: 1, label: &[] };
    for mechanism in [Mechanism::plain(M::RSA_PKCS), Mechanism::new(M::RSA_PKCS_OAEP, parameters)] {
        let wrapped = wrap(&user, &mechanism, public, key).unwrap();
        let back = unwrap(&user, &mechanism, private, &wrapped, &template).unwrap();
        assert_eq!(user.get(back, A::VALUE), user.get(key, A::VALUE));
        let mut bad = wrapped.clone();
        bad[255] ^= 1;
        match unwrap(&user, &mechanism, private, &bad, &template) {
            // With implicit rejection, a bad ciphertext gives another value, which rarely has the length of a key.
            Ok(other) => assert_ne!(user.get(other, A::VALUE), user.get(key, A::VALUE)),
            Err(code) => assert_eq!(code, ReturnCode::WrappedKeyInvalid, "{mechanism:?}"),
        }
        let ed =
            user.pair(M::EC_EDWARDS_KEY_PAIR_GEN, &Template::new(), &Template::new().readable()).unwrap();
        assert_eq!(wrap(&user, &mechanism, public, ed.1).unwrap_err(), ReturnCode::KeyNotWrappable);
    }
}

#[test]
fn the_faults_of_wrapping_keys_have_names_of_their_own() {
    let user = User::new();
    let key = user.generate(M::AES_KEY_GEN, &Template::new().number(A::VALUE_LEN, 16).readable()).unwrap();
    let wrapping = wrapping_key(&user);
    let kw = Mechanism::plain(M::AES_KEY_WRAP);
    assert_eq!(wrap(&user, &kw, ObjectHandle(1), key).unwrap_err(), ReturnCode::WrappingKeyHandleInvalid);
    assert_eq!(wrap(&user, &kw, wrapping, ObjectHandle(1)).unwrap_err(), ReturnCode::KeyHandleInvalid);
    assert_eq!(wrap(&user, &kw, key, wrapping).unwrap_err(), ReturnCode::KeyFunctionNotPermitted);
    let generic =
        user.create(&Template::secret(KeyTypeNumber::GENERIC_SECRET, &[1; 16]).flag(A::WRAP, true)).unwrap();
    assert_eq!(wrap(&user, &kw, generic, key).unwrap_err(), ReturnCode::WrappingKeyTypeInconsistent);
    let template = Template::class(ObjectClass::SECRET_KEY).number(A::KEY_TYPE, KeyTypeNumber::AES.0);
    let answer = unwrap(&user, &kw, ObjectHandle(1), &[0; 24], &template);
    assert_eq!(answer.unwrap_err(), ReturnCode::UnwrappingKeyHandleInvalid);
    assert_eq!(
        wrap(&user, &Mechanism::plain(M::AES_CMAC), wrapping, key).unwrap_err(),
        ReturnCode::MechanismInvalid
    );
    let no_class = Template::new().number(A::KEY_TYPE, KeyTypeNumber::AES.0);
    let answer = unwrap(&user, &kw, wrapping, &[0; 24], &no_class);
    assert_eq!(answer.unwrap_err(), ReturnCode::TemplateIncomplete);
}

#[test]
fn sizes_that_are_not_made_are_refused() {
    let user = User::new();
    for (kind, len) in [(M::AES_KEY_GEN, 24), (M::AES_KEY_GEN, 0), (M::GENERIC_SECRET_KEY_GEN, 0)] {
        let made = user.generate(kind, &Template::new().number(A::VALUE_LEN, len));
        assert_eq!(made.unwrap_err(), ReturnCode::KeySizeRange);
    }
    let rsa = |bits| {
        let public = Template::new().number(A::MODULUS_BITS, bits);
        user.pair(M::RSA_PKCS_KEY_PAIR_GEN, &public, &Template::new()).unwrap_err()
    };
    assert_eq!([rsa(0), rsa(2047), rsa(u64::MAX)], [ReturnCode::KeySizeRange; 3]);
    for exponent in [&[3][..], &[1, 0, 3], &[0], &[]] {
        let exponent = Template::new().number(A::MODULUS_BITS, 2048).bytes(A::PUBLIC_EXPONENT, exponent);
        let made = user.pair(M::RSA_PKCS_KEY_PAIR_GEN, &exponent, &Template::new());
        assert_eq!(made.unwrap_err(), ReturnCode::AttributeValueInvalid);
    }
    let zeros = Template::new().number(A::MODULUS_BITS, 1024).bytes(A::PUBLIC_EXPONENT, &[0, 0, 1, 0, 1]);
    let (public, _) = user.pair(M::RSA_PKCS_KEY_PAIR_GEN, &zeros, &Template::new()).unwrap();
    assert_eq!(user.get(public, A::PUBLIC_EXPONENT).unwrap(), [1, 0, 1]);
    let p521 = Template::new().bytes(A::EC_PARAMS, &[6, 5, 0x2b, 0x81, 4, 0, 0x23]);
    let made = user.pair(M::EC_KEY_PAIR_GEN, &p521, &Template::new());
    assert_eq!(made.unwrap_err(), ReturnCode::CurveNotSupported);
    let made = user.pair(M::EC_KEY_PAIR_GEN, &Template::new(), &Template::new());
    assert_eq!(made.unwrap_err(), ReturnCode::TemplateIncomplete);
    let made = user.pair(M::AES_KEY_GEN, &Template::new(), &Template::new());
    assert_eq!(made.unwrap_err(), ReturnCode::MechanismInvalid);
    let with_iv = Mechanism::new(M::AES_KEY_GEN, P::Iv(&[0; 16]));
    let made = user.cryptoki.generate_key(user.session, &with_iv, &[]);
    assert_eq!(made.unwrap_err(), ReturnCode::MechanismParamInvalid);
}

#[test]
fn a_curve_may_come_by_its_name() {
    let user = User::new();
    let name = b"\x13\x09secp256r1";
    let template = Template::new().bytes(A::EC_PARAMS, name);
    let (public, private) = user.pair(M::EC_KEY_PAIR_GEN, &template, &Template::new()).unwrap();
    assert_eq!(
        (user.get(public, A::EC_PARAMS), user.get(private, A::EC_PARAMS)),
        (Ok(name.to_vec()), Ok(P256.to_vec()))
    );
    let mechanism = Mechanism::plain(M::ECDSA_SHA256);
    let signature = user.sign(&mechanism, private, b"m").unwrap();
    let copy = Template::class(ObjectClass::PUBLIC_KEY)
        .number(A::KEY_TYPE, KeyTypeNumber::EC.0)
        .bytes(A::EC_PARAMS, b"\x13\x05P-256")
        .bytes(A::EC_POINT, &user.get(public, A::EC_POINT).unwrap());
    let copy = user.create(&copy).unwrap();
    assert_eq!(user.verify(&mechanism, copy, b"m", &signature), Ok(()));
    let wrong = user.pair(M::EC_EDWARDS_KEY_PAIR_GEN, &template, &Template::new());
    assert_eq!(wrong.unwrap_err(), ReturnCode::CurveNotSupported);
}

#[test]
fn both_sides_of_an_agreement_derive_the_same_key() {
    let user = User::new();
    let public = Template::new().bytes(A::EC_PARAMS, P256);
    let private = Template::new().flag(A::DERIVE, true);
    let pairs = [(); 2].map(|()| user.pair(M::EC_KEY_PAIR_GEN, &public, &private).unwrap());
    let points = pairs.map(|(public, _)| user.get(public, A::EC_POINT).unwrap());
    let derive = |side: usize, kdf: u64, shared: &[u8], len: Option<u64>, is_bare: bool| {
        let point = &points[1 - side];
        let public = if is_bare { &point[2..] } else { &point[..] };
        let mechanism = Mechanism::new(M::ECDH1_DERIVE, P::Ecdh { kdf, shared, public });
        let mut template = Template::new().readable();
        if let Some(len) = len {
            template = template.number(A::VALUE_LEN, len);
        }
        let key = user.cryptoki.derive_key(user.session, &mechanism, pairs[side].1, &template.entries())?;
        user.get(key, A::VALUE)
    };
    let whole = derive(0, value::CKD_NULL, &[], None, false).unwrap();
    assert_eq!(derive(1, value::CKD_NULL, &[], None, true).unwrap(), whole);
    assert_eq!(whole.len(), 32);
    // The start is cut off. PKCS#11 3.2 6.3.17.
    assert_eq!(derive(0, value::CKD_NULL, &[], Some(16), true).unwrap(), whole[16..]);
    assert_eq!(derive(0, value::CKD_NULL, &[], Some(33), true).unwrap_err(), ReturnCode::KeySizeRange);
    for kdf in [
        value::CKD_SHA1_KDF,
        value::CKD_SHA224_KDF,
        value::CKD_SHA256_KDF,
        value::CKD_SHA384_KDF,
        value::CKD_SHA512_KDF,
    ] {
        let long = derive(0, kdf, b"info", Some(100), true).unwrap();
        assert_eq!(derive(1, kdf, b"info", Some(100), false).unwrap(), long);
        assert_ne!(derive(0, kdf, b"other", Some(100), true).unwrap(), long);
    }
    // ANSI X9.63: the hash of the secret, a counter and the shared information.
    user.cryptoki.digest_init(user.session, &Mechanism::plain(M::SHA256)).unwrap();
    let input = [&whole[..], &[0, 0, 0, 1], b"info"].concat();
    let expected = take(|output| user.cryptoki.digest(user.session, &input, output)).unwrap();
    assert_eq!(derive(0, value::CKD_SHA256_KDF, b"info", Some(32), true).unwrap(), expected);
    for (kdf, shared) in [(value::CKD_NULL, &b"info"[..]), (0, &[][..]), (9, &[][..]), (u64::MAX, &[][..])] {
        let derived = derive(0, kdf, shared, None, true);
        assert_eq!(derived.unwrap_err(), ReturnCode::MechanismParamInvalid);
    }
    let mut off_curve = points[1][2..].to_vec();
    off_curve[64] ^= 1;
    for public in [&off_curve[..], &off_curve[..64], &[]] {
        let mechanism =
            Mechanism::new(M::ECDH1_DERIVE, P::Ecdh { kdf: value::CKD_NULL, shared: &[], public });
        let derived = user.cryptoki.derive_key(user.session, &mechanism, pairs[0].1, &[]);
        assert_eq!(derived.unwrap_err(), ReturnCode::MechanismParamInvalid);
    }
}

#[test]
fn a_key_is_a_base_only_if_its_template_says_so() {
    let user = User::new();
    let aes = Template::new().number(A::VALUE_LEN, 16);
    let key = user.generate(M::AES_KEY_GEN, &aes).unwrap();
    assert!(!user.is_true(key, A::DERIVE));
    let mechanism = Mechanism::new(M::XOR_BASE_AND_DATA, P::DerivationData(&[0; 16]));
    let derived = user.cryptoki.derive_key(user.session, &mechanism, key, &[]);
    assert_eq!(derived.unwrap_err(), ReturnCode::KeyFunctionNotPermitted);
    let on = Template::new().flag(A::DERIVE, true);
    assert_eq!(user.set(key, &on).unwrap_err(), ReturnCode::AttributeReadOnly);
    let copy = user.cryptoki.copy_object(user.session, key, &on.entries());
    assert_eq!(copy.unwrap_err(), ReturnCode::AttributeReadOnly);
    let base = user.generate(M::AES_KEY_GEN, &aes.flag(A::DERIVE, true)).unwrap();
    user.set(base, &Template::new().flag(A::DERIVE, false)).unwrap();
    assert_eq!(user.set(base, &on).unwrap_err(), ReturnCode::AttributeReadOnly);
    for (kind, params) in [(M::EC_KEY_PAIR_GEN, P256), (M::EC_MONTGOMERY_KEY_PAIR_GEN, X25519)] {
        let public = Template::new().bytes(A::EC_PARAMS, params);
        let (_, private) = user.pair(kind, &public, &Template::new()).unwrap();
        assert!(!user.is_true(private, A::DERIVE), "{kind:?}");
    }
}

#[test]
fn a_key_that_wants_the_pin_each_time_is_no_base() {
    let user = User::new();
    let private = Template::new().flag(A::DERIVE, true).flag(A::ALWAYS_AUTHENTICATE, true);
    let public = Template::new().bytes(A::EC_PARAMS, P256);
    let (public, private) = user.pair(M::EC_KEY_PAIR_GEN, &public, &private).unwrap();
    let point = user.get(public, A::EC_POINT).unwrap();
    let parameters = P::Ecdh { kdf: value::CKD_NULL, shared: &[], public: &point };
    let mechanism = Mechanism::new(M::ECDH1_DERIVE, parameters);
    let derived = user.cryptoki.derive_key(user.session, &mechanism, private, &[]);
    assert_eq!(derived.unwrap_err(), ReturnCode::UserNotLoggedIn);
    let no_call = user.cryptoki.login(user.session, UserType::ContextSpecific, Some(USER_PIN));
    assert_eq!(no_call.unwrap_err(), ReturnCode::OperationNotInitialized);
}

#[test]
fn a_derived_key_that_is_not_read_cannot_be_guessed() {
    let user = User::new();
    let public = Template::new().bytes(A::EC_PARAMS, P256);
    let private = Template::new().flag(A::DERIVE, true);
    let (public, private) = user.pair(M::EC_KEY_PAIR_GEN, &public, &private).unwrap();
    let point = user.get(public, A::EC_POINT).unwrap();
    for kdf in [value::CKD_NULL, value::CKD_SHA256_KDF] {
        let mechanism = Mechanism::new(M::ECDH1_DERIVE, P::Ecdh { kdf, shared: &[], public: &point });
        let derive = |template: &Template, len| {
            let template = template.clone().number(A::VALUE_LEN, len);
            user.cryptoki.derive_key(user.session, &mechanism, private, &template.entries())
        };
        derive(&Template::new(), 16).unwrap();
        derive(&Template::new().readable(), 1).unwrap();
        for hidden in [Template::new(), Template::new().flag(A::SENSITIVE, false)] {
            assert_eq!(derive(&hidden, 15).unwrap_err(), ReturnCode::KeySizeRange);
        }
    }
}

#[test]
fn only_keys_that_may_be_read_are_joined() {
    let user = User::new();
    let generic = |value: &[u8]| Template::secret(KeyTypeNumber::GENERIC_SECRET, value).flag(A::DERIVE, true);
    let open = user.create(&generic(b"open").readable()).unwrap();
    let closed = user.create(&generic(b"closed")).unwrap();
    let kept =
        user.create(&generic(b"closed").flag(A::SENSITIVE, false).flag(A::EXTRACTABLE, false)).unwrap();
    let hidden = user.create(&generic(b"closed").flag(A::EXTRACTABLE, true)).unwrap();
    let derive = |kind, parameters, base, template: &Template| {
        let mechanism = Mechanism::new(kind, parameters);
        user.cryptoki.derive_key(user.session, &mechanism, base, &template.entries())
    };
    let readable = Template::new().readable();
    let value_of =
        |kind, parameters| user.get(derive(kind, parameters, open, &readable).unwrap(), A::VALUE).unwrap();
    assert_eq!(value_of(M::CONCATENATE_BASE_AND_DATA, P::DerivationData(b"end")), b"openend");
    assert_eq!(value_of(M::CONCATENATE_DATA_AND_BASE, P::DerivationData(b"end")), b"endopen");
    assert_eq!(value_of(M::XOR_BASE_AND_DATA, P::DerivationData(&[1; 4])), b"nqdo");
    assert_eq!(value_of(M::CONCATENATE_BASE_AND_KEY, P::KeyHandle(open.0)), b"openopen");
    for (base, parameters, kind) in [
        (closed, P::DerivationData(b"end"), M::CONCATENATE_BASE_AND_DATA),
        (closed, P::DerivationData(b"end"), M::CONCATENATE_DATA_AND_BASE),
        (closed, P::DerivationData(&[0; 6]), M::XOR_BASE_AND_DATA),
        (kept, P::DerivationData(&[0; 6]), M::XOR_BASE_AND_DATA),
        (hidden, P::DerivationData(&[0; 6]), M::XOR_BASE_AND_DATA),
        (open, P::KeyHandle(closed.0), M::CONCATENATE_BASE_AND_KEY),
        (closed, P::KeyHandle(open.0), M::CONCATENATE_BASE_AND_KEY),
    ] {
        for template in [&readable, &Template::new()] {
            let derived = derive(kind, parameters, base, template);
            assert_eq!(derived.unwrap_err(), ReturnCode::KeyFunctionNotPermitted, "{kind:?}");
        }
    }
    let long = Template::new().readable().number(A::VALUE_LEN, 8);
    let short = derive(M::CONCATENATE_BASE_AND_DATA, P::DerivationData(b"end"), open, &long);
    assert_eq!(short.unwrap_err(), ReturnCode::KeySizeRange);
    let none = derive(M::CONCATENATE_BASE_AND_KEY, P::KeyHandle(0), open, &Template::new());
    assert_eq!(none.unwrap_err(), ReturnCode::KeyHandleInvalid);
}

#[test]
fn an_imported_rsa_key_needs_no_crt_numbers() {
    let user = User::new();
    let public = Template::new().number(A::MODULUS_BITS, 1024);
    let (public, private) =
        user.pair(M::RSA_PKCS_KEY_PAIR_GEN, &public, &Template::new().readable()).unwrap();
    let value = |kind| user.get(private, kind).unwrap();
    let template = Template::class(ObjectClass::PRIVATE_KEY)
        .number(A::KEY_TYPE, KeyTypeNumber::RSA.0)
        .bytes(A::MODULUS, &value(A::MODULUS))
        .bytes(A::PUBLIC_EXPONENT, &value(A::PUBLIC_EXPONENT))
        .bytes(A::PRIVATE_EXPONENT, &value(A::PRIVATE_EXPONENT))
        .readable();
    let copy = user.create(&template).unwrap();
    for kind in [A::PRIME_1, A::PRIME_2, A::EXPONENT_1, A::EXPONENT_2, A::COEFFICIENT] {
        assert_eq!(user.get(copy, kind), user.get(private, kind));
    }
    let mechanism = Mechanism::plain(M::SHA256_RSA_PKCS);
    let signature = user.sign(&mechanism, copy, b"m").unwrap();
    assert_eq!(user.verify(&mechanism, public, b"m", &signature), Ok(()));
    let wrong = template.bytes(A::PRIME_1, &[9]).bytes(A::PRIME_2, &[9]);
    let wrong = wrong.bytes(A::EXPONENT_1, &[9]).bytes(A::EXPONENT_2, &[9]).bytes(A::COEFFICIENT, &[9]);
    assert_eq!(user.create(&wrong).unwrap_err(), ReturnCode::AttributeValueInvalid);
}

#[test]
fn random_bytes_differ() {
    let user = User::new();
    let (mut one, mut other) = ([0; 32], [0; 32]);
    user.cryptoki.generate_random(user.session, &mut one).unwrap();
    user.cryptoki.generate_random(user.session, &mut other).unwrap();
    assert_ne!(one, other);
    user.cryptoki.generate_random(user.session, &mut []).unwrap();
    assert_eq!(user.cryptoki.seed_random(user.session, &[1]), Err(ReturnCode::RandomSeedNotSupported));
}

#[test]
fn a_key_wraps_only_keys_that_match_its_template() {
    let user = User::new();
    let wanted = [TemplateEntry::new(A::LABEL, b"mail"), TemplateEntry::new(A::SIGN, &[1])];
    let value = Template::secret(KeyTypeNumber::AES, &[3; 16]).flag(A::WRAP, true);
    let mut entries = value.entries();
    entries.push(TemplateEntry::nested(A::WRAP_TEMPLATE, &wanted));
    let wrapping = user.cryptoki.create_object(user.session, &entries).unwrap();
    let secret = |label: &[u8]| {
        let template = Template::secret(KeyTypeNumber::GENERIC_SECRET, &[5; 16]);
        user.create(&template.readable().flag(A::SIGN, true).bytes(A::LABEL, label)).unwrap()
    };
    let kw = Mechanism::plain(M::AES_KEY_WRAP);
    let wrap = |key| take(|out| user.cryptoki.wrap_key(user.session, &kw, wrapping, key, out));
    assert!(wrap(secret(b"mail")).is_ok());
    assert_eq!(wrap(secret(b"other")), Err(ReturnCode::KeyNotWrappable));
    let shown = user.cryptoki.get_template_attribute(user.session, wrapping, A::WRAP_TEMPLATE).unwrap();
    assert_eq!(shown, [(A::LABEL, b"mail".to_vec()), (A::SIGN, vec![1])]);
    let mut length = [AttributeQuery::length_only(A::WRAP_TEMPLATE)];
    user.cryptoki.get_attribute_value(user.session, wrapping, &mut length).unwrap();
    assert_eq!(length[0].len, Some(2 * 3 * size_of::<usize>()));
    let missing = user.cryptoki.get_template_attribute(user.session, wrapping, A::UNWRAP_TEMPLATE);
    assert_eq!(missing, Err(ReturnCode::AttributeTypeInvalid));
}

#[test]
fn unwrapped_and_derived_keys_get_the_template_of_their_key() {
    let user = User::new();
    let of_key = [TemplateEntry::new(A::LABEL, b"from the key"), TemplateEntry::new(A::SIGN, &[0])];
    let value = Template::secret(KeyTypeNumber::AES, &[3; 16]).flag(A::WRAP, true).flag(A::UNWRAP, true);
    let mut entries = value.entries();
    entries.push(TemplateEntry::nested(A::UNWRAP_TEMPLATE, &of_key));
    let wrapping = user.cryptoki.create_object(user.session, &entries).unwrap();
    let secret = Template::secret(KeyTypeNumber::GENERIC_SECRET, &[5; 16]).readable().flag(A::DERIVE, true);
    let kw = Mechanism::plain(M::AES_KEY_WRAP);
    let key = user.create(&secret).unwrap();
    let wrapped = take(|out| user.cryptoki.wrap_key(user.session, &kw, wrapping, key, out)).unwrap();
    let template =
        Template::class(ObjectClass::SECRET_KEY).number(A::KEY_TYPE, KeyTypeNumber::GENERIC_SECRET.0);
    let unwrapped = unwrap(&user, &kw, wrapping, &wrapped, &template).unwrap();
    assert_eq!(user.get(unwrapped, A::LABEL).unwrap(), b"from the key");
    assert!(!user.is_true(unwrapped, A::SIGN));
    let against = template.flag(A::SIGN, true);
    let unwrapped = unwrap(&user, &kw, wrapping, &wrapped, &against);
    assert_eq!(unwrapped, Err(ReturnCode::TemplateInconsistent));
    let mut entries = secret.entries();
    entries.push(TemplateEntry::nested(A::DERIVE_TEMPLATE, &of_key));
    let base = user.cryptoki.create_object(user.session, &entries).unwrap();
    let mechanism = Mechanism::new(M::XOR_BASE_AND_DATA, P::DerivationData(&[1; 16]));
    let derived = user.cryptoki.derive_key(user.session, &mechanism, base, &[]).unwrap();
    assert_eq!(user.get(derived, A::LABEL).unwrap(), b"from the key");
    let other = [TemplateEntry::new(A::LABEL, b"other")];
    let derived = user.cryptoki.derive_key(user.session, &mechanism, base, &other);
    assert_eq!(derived, Err(ReturnCode::TemplateInconsistent));
}

#[test]
fn a_template_of_other_keys_has_no_secrets_and_no_templates() {
    let user = User::new();
    let value = Template::secret(KeyTypeNumber::AES, &[3; 16]);
    for bad in [
        TemplateEntry::new(A::VALUE, &[1; 16]),
        TemplateEntry::nested(A::WRAP_TEMPLATE, &[]),
        TemplateEntry::null(A::LABEL),
        TemplateEntry::new(A::SIGN, &[]),
    ] {
        let mut entries = value.entries();
        let nested = [bad];
        entries.push(TemplateEntry::nested(A::UNWRAP_TEMPLATE, &nested));
        let created = user.cryptoki.create_object(user.session, &entries);
        assert_eq!(created, Err(ReturnCode::AttributeValueInvalid), "{bad:?}");
    }
    let mut entries = value.entries();
    entries.push(TemplateEntry::new(A::UNWRAP_TEMPLATE, &[0; 24]));
    let flat = user.cryptoki.create_object(user.session, &entries);
    assert_eq!(flat, Err(ReturnCode::AttributeValueInvalid));
    let key = user.create(&value).unwrap();
    let later = [TemplateEntry::nested(A::UNWRAP_TEMPLATE, &[])];
    let changed = user.cryptoki.set_attribute_value(user.session, key, &later);
    assert_eq!(changed, Err(ReturnCode::AttributeReadOnly));
}
