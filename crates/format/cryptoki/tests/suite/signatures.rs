//! Signatures and MACs: every mechanism signs what it verifies, in one step and in pieces.

use oarlock_cryptoki::{
    AttributeType as A, CallOutput, KeyTypeNumber, ManyInputs, ManySpans, Mechanism,
    MechanismParameters as P, MechanismType as M, ObjectClass, ObjectHandle, ReturnCode,
    parameter_values as value,
};

use crate::common::*;

fn pss(hash: M, mgf: u64, salt_len: u64) -> P<'static> {
    P::Pss { hash, mgf, salt_len }
}

/// Signs in one step and in pieces, verifies both ways, and damages message and signature.
fn check_pair(
    user: &User,
    mechanism: &Mechanism<'_>,
    (verifying, signing): (ObjectHandle, ObjectHandle),
    message: &[u8],
) {
    let (library, session) = (&user.cryptoki, user.session);
    let whole = user.sign(mechanism, signing, message).unwrap();
    library.sign_init(session, mechanism, signing).unwrap();
    for piece in message.chunks(3) {
        library.sign_update(session, piece).unwrap();
    }
    let in_pieces = take(|output| library.sign_final(session, output)).unwrap();
    for signature in [&whole, &in_pieces] {
        assert_eq!(user.verify(mechanism, verifying, message, signature), Ok(()), "{mechanism:?}");
        library.verify_init(session, mechanism, verifying).unwrap();
        for piece in message.chunks(7) {
            library.verify_update(session, piece).unwrap();
        }
        assert_eq!(library.verify_final(session, signature), Ok(()), "{mechanism:?}");
        let mut bad = signature.clone();
        *bad.last_mut().unwrap() ^= 1;
        assert_eq!(
            user.verify(mechanism, verifying, message, &bad),
            Err(ReturnCode::SignatureInvalid),
            "{mechanism:?}"
        );
        let short = &signature[..signature.len() - 1];
        assert_eq!(user.verify(mechanism, verifying, message, short), Err(ReturnCode::SignatureLenRange));
    }
    let mut other = message.to_vec();
    other[0] ^= 1;
    assert_eq!(user.verify(mechanism, verifying, &other, &whole), Err(ReturnCode::SignatureInvalid));
}

#[test]
fn rsa_signs() {
    let user = User::new();
    let public = Template::new().number(A::MODULUS_BITS, 2048).bytes(A::PUBLIC_EXPONENT, &[1, 0, 1]);
    let pair = user.pair(M::RSA_PKCS_KEY_PAIR_GEN, &public, &Template::new()).unwrap();
    for kind in [
        M::RSA_PKCS,
        M::RSA_X_509,
        M::SHA1_RSA_PKCS,
        M::SHA224_RSA_PKCS,
        M::SHA256_RSA_PKCS,
        M::SHA384_RSA_PKCS,
        M::SHA512_RSA_PKCS,
    ] {
        check_pair(&user, &Mechanism::plain(kind), pair, b"a message of thirty-two bytes...");
    }
    for (kind, hash, mgf) in [
        (M::SHA1_RSA_PKCS_PSS, M::SHA_1, value::CKG_MGF1_SHA1),
        (M::SHA224_RSA_PKCS_PSS, M::SHA224, value::CKG_MGF1_SHA224),
        (M::SHA256_RSA_PKCS_PSS, M::SHA256, value::CKG_MGF1_SHA256),
        (M::SHA384_RSA_PKCS_PSS, M::SHA384, value::CKG_MGF1_SHA1),
        (M::SHA512_RSA_PKCS_PSS, M::SHA512, value::CKG_MGF1_SHA512),
        (M::RSA_PKCS_PSS, M::SHA256, value::CKG_MGF1_SHA256),
    ] {
        let mechanism = Mechanism::new(kind, pss(hash, mgf, 20));
        check_pair(&user, &mechanism, pair, b"a message of thirty-two bytes...");
    }
    let (library, session) = (&user.cryptoki, user.session);
    for parameters in [
        P::None,
        pss(M::SHA384, value::CKG_MGF1_SHA256, 32),
        pss(M::SHA256, 77, 32),
        pss(M::SHA256, value::CKG_MGF1_SHA256, 223),
        pss(M::SHA256, value::CKG_MGF1_SHA256, u64::MAX),
    ] {
        let init = library.sign_init(session, &Mechanism::new(M::SHA256_RSA_PKCS_PSS, parameters), pair.1);
        assert_eq!(init.unwrap_err(), ReturnCode::MechanismParamInvalid, "{parameters:?}");
    }
    let digest = user.sign(&Mechanism::new(M::RSA_PKCS_PSS, pss(M::SHA256, 2, 32)), pair.1, &[1; 31]);
    assert_eq!(digest.unwrap_err(), ReturnCode::DataLenRange);
    let long = user.sign(&Mechanism::plain(M::RSA_PKCS), pair.1, &[1; 246]);
    assert_eq!(long.unwrap_err(), ReturnCode::DataLenRange);
    let large = user.sign(&Mechanism::plain(M::RSA_X_509), pair.1, &[0xFF; 256]);
    assert_eq!(large.unwrap_err(), ReturnCode::DataInvalid);
    let public = library.sign_init(session, &Mechanism::plain(M::RSA_PKCS), pair.0);
    assert_eq!(public.unwrap_err(), ReturnCode::KeyFunctionNotPermitted);
}

#[test]
fn curves_sign() {
    let user = User::new();
    for params in [P256, P384] {
        let public = Template::new().bytes(A::EC_PARAMS, params);
        let pair = user.pair(M::EC_KEY_PAIR_GEN, &public, &Template::new()).unwrap();
        for kind in
            [M::ECDSA, M::ECDSA_SHA1, M::ECDSA_SHA224, M::ECDSA_SHA256, M::ECDSA_SHA384, M::ECDSA_SHA512]
        {
            check_pair(&user, &Mechanism::plain(kind), pair, b"a message of thirty-two bytes...");
        }
        let empty = user.sign(&Mechanism::plain(M::ECDSA), pair.1, &[]);
        assert_eq!(empty.unwrap_err(), ReturnCode::DataLenRange);
        // Digests of other lengths than the curve.
        for len in [1, 20, 28, 64, 100] {
            let digest = vec![0x5A; len];
            let signature = user.sign(&Mechanism::plain(M::ECDSA), pair.1, &digest).unwrap();
            assert_eq!(user.verify(&Mechanism::plain(M::ECDSA), pair.0, &digest, &signature), Ok(()));
        }
    }
    let edwards = Template::new().bytes(A::EC_PARAMS, ED25519);
    let pair = user.pair(M::EC_EDWARDS_KEY_PAIR_GEN, &edwards, &Template::new()).unwrap();
    check_pair(&user, &Mechanism::plain(M::EDDSA), pair, b"a message");
    let others: [(bool, &[u8]); 3] = [(true, b""), (false, b""), (false, b"c")];
    for (is_prehashed, context) in others {
        let other = P::Eddsa { is_prehashed, context };
        let init = user.cryptoki.sign_init(user.session, &Mechanism::new(M::EDDSA, other), pair.1);
        assert_eq!(init.unwrap_err(), ReturnCode::MechanismParamInvalid);
    }
    let ecdsa = user.cryptoki.sign_init(user.session, &Mechanism::plain(M::ECDSA), pair.1);
    assert_eq!(ecdsa.unwrap_err(), ReturnCode::KeyTypeInconsistent);
}

#[test]
fn macs_sign() {
    let user = User::new();
    let aes = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16])).unwrap();
    check_pair(&user, &Mechanism::plain(M::AES_CMAC), (aes, aes), b"a message");
    let generic = user.create(&Template::secret(KeyTypeNumber::GENERIC_SECRET, b"Jefe")).unwrap();
    for (kind, general, len) in [
        (M::SHA_1_HMAC, M::SHA_1_HMAC_GENERAL, 20),
        (M::SHA224_HMAC, M::SHA224_HMAC_GENERAL, 28),
        (M::SHA256_HMAC, M::SHA256_HMAC_GENERAL, 32),
        (M::SHA384_HMAC, M::SHA384_HMAC_GENERAL, 48),
        (M::SHA512_HMAC, M::SHA512_HMAC_GENERAL, 64),
    ] {
        check_pair(&user, &Mechanism::plain(kind), (generic, generic), b"a message");
        let whole = user.sign(&Mechanism::plain(kind), generic, b"a message").unwrap();
        assert_eq!(whole.len(), len);
        for cut in [1, 4, len] {
            let mechanism = Mechanism::new(general, P::Number(cut as u64));
            check_pair_len(&user, &mechanism, generic, &whole[..cut]);
        }
        for bad in [0, len as u64 + 1, u64::MAX] {
            let init =
                user.cryptoki.sign_init(user.session, &Mechanism::new(general, P::Number(bad)), generic);
            assert_eq!(init.unwrap_err(), ReturnCode::MechanismParamInvalid);
        }
    }
    // RFC 4231 4.3.
    let rfc = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    let data = b"what do ya want for nothing?";
    assert_eq!(user.sign(&Mechanism::plain(M::SHA256_HMAC), generic, data).unwrap(), hex(rfc));
    // RFC 4493 4, example 2.
    let key =
        user.create(&Template::secret(KeyTypeNumber::AES, &hex("2b7e151628aed2a6abf7158809cf4f3c"))).unwrap();
    let mac = user.sign(&Mechanism::plain(M::AES_CMAC), key, &hex("6bc1bee22e409f96e93d7e117393172a"));
    assert_eq!(mac.unwrap(), hex("070a16b46b4d4144f79bdd9dd04a287c"));
    let key = user.create(&Template::secret(KeyTypeNumber::SHA256_HMAC, &[1; 32])).unwrap();
    let other = user.cryptoki.sign_init(user.session, &Mechanism::plain(M::SHA512_HMAC), key);
    assert_eq!(other.unwrap_err(), ReturnCode::KeyTypeInconsistent);
}

fn check_pair_len(user: &User, mechanism: &Mechanism<'_>, key: ObjectHandle, expected: &[u8]) {
    assert_eq!(user.sign(mechanism, key, b"a message").unwrap(), expected);
    assert_eq!(user.verify(mechanism, key, b"a message", expected), Ok(()));
}

#[test]
fn an_empty_message_in_pieces_is_signed() {
    let user = User::new();
    let generic = user.create(&Template::secret(KeyTypeNumber::GENERIC_SECRET, b"key")).unwrap();
    let (library, session) = (&user.cryptoki, user.session);
    let mechanism = Mechanism::plain(M::SHA256_HMAC);
    library.sign_init(session, &mechanism, generic).unwrap();
    let mac = take(|output| library.sign_final(session, output)).unwrap();
    assert_eq!(user.verify(&mechanism, generic, b"", &mac), Ok(()));
}

#[test]
fn a_call_in_one_step_among_pieces_ends_them() {
    let user = User::new();
    let generic = user.create(&Template::secret(KeyTypeNumber::GENERIC_SECRET, b"key")).unwrap();
    let (library, session) = (&user.cryptoki, user.session);
    library.sign_init(session, &Mechanism::plain(M::SHA256_HMAC), generic).unwrap();
    library.sign_update(session, b"a").unwrap();
    let mut mac = [0; 32];
    let mixed = library.sign(session, b"b", &mut CallOutput::new(&mut mac));
    assert_eq!(mixed.unwrap_err(), ReturnCode::OperationActive);
    let after = library.sign_final(session, &mut CallOutput::new(&mut mac));
    assert_eq!(after.unwrap_err(), ReturnCode::OperationNotInitialized);
    library.verify_init(session, &Mechanism::plain(M::SHA256_HMAC), generic).unwrap();
    library.verify_update(session, b"a").unwrap();
    assert_eq!(library.verify(session, b"b", &mac), Err(ReturnCode::OperationActive));
    assert_eq!(library.verify_final(session, &mac), Err(ReturnCode::OperationNotInitialized));
    library.digest_init(session, &Mechanism::plain(M::SHA256)).unwrap();
    library.digest_update(session, b"a").unwrap();
    let mixed = library.digest(session, b"b", &mut CallOutput::new(&mut mac));
    assert_eq!(mixed.unwrap_err(), ReturnCode::OperationActive);
    let after = library.digest_final(session, &mut CallOutput::new(&mut mac));
    assert_eq!(after.unwrap_err(), ReturnCode::OperationNotInitialized);
}

#[test]
fn the_signature_may_come_first_or_last_but_not_twice() {
    let user = User::new();
    let key = user.create(&Template::secret(KeyTypeNumber::GENERIC_SECRET, b"key")).unwrap();
    let mechanism = Mechanism::plain(M::SHA256_HMAC);
    let mac = user.sign(&mechanism, key, b"m").unwrap();
    let (library, session) = (&user.cryptoki, user.session);
    library.verify_signature_init(session, &mechanism, key, &mac).unwrap();
    assert_eq!(library.verify_signature(session, b"m"), Ok(()));
    library.verify_signature_init(session, &mechanism, key, &mac).unwrap();
    assert_eq!(library.verify(session, b"m", &mac), Err(ReturnCode::OperationNotInitialized));
    library.verify_init(session, &mechanism, key).unwrap();
    assert_eq!(library.verify_signature(session, b"m"), Err(ReturnCode::OperationNotInitialized));
}

#[test]
fn digests_match_fips_180() {
    let user = User::new();
    let (library, session) = (&user.cryptoki, user.session);
    for (kind, expected) in [
        (M::SHA_1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (M::SHA224, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        (M::SHA256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            M::SHA384,
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
        ),
        (
            M::SHA512,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
    ] {
        let mechanism = Mechanism::plain(kind);
        library.digest_init(session, &mechanism).unwrap();
        let whole = take(|output| library.digest(session, b"abc", output)).unwrap();
        assert_eq!(whole, hex(expected), "{kind}");
        library.digest_init(session, &mechanism).unwrap();
        for piece in [b"a", b"b", b"c"] {
            library.digest_update(session, piece).unwrap();
        }
        assert_eq!(take(|output| library.digest_final(session, output)).unwrap(), whole);
    }
    let other = library.digest_init(session, &Mechanism::plain(M::AES_CBC));
    assert_eq!(other.unwrap_err(), ReturnCode::MechanismInvalid);
}

#[test]
fn only_a_readable_key_is_digested() {
    let user = User::new();
    let (library, session) = (&user.cryptoki, user.session);
    let secret = user.create(&Template::secret(KeyTypeNumber::GENERIC_SECRET, b"abc")).unwrap();
    let open = user.create(&Template::secret(KeyTypeNumber::GENERIC_SECRET, b"abc").readable()).unwrap();
    library.digest_init(session, &Mechanism::plain(M::SHA256)).unwrap();
    assert_eq!(library.digest_key(session, secret), Err(ReturnCode::KeyIndigestible));
    library.digest_key(session, open).unwrap();
    let digest = take(|output| library.digest_final(session, output)).unwrap();
    assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]);
}

/// The caller states the length of a code, so a key that only verifies must not compare a few bytes of it.
#[test]
fn a_key_that_only_verifies_compares_half_of_a_code_or_more() {
    for is_compatible in [false, true] {
        let user = User::with(|settings| settings.is_compatible = is_compatible);
        let secret = |template: Template| user.create(&template.flag(A::SIGN, false)).unwrap();
        let hmac = || Template::secret(KeyTypeNumber::GENERIC_SECRET, b"Jefe");
        let aes = || Template::secret(KeyTypeNumber::AES, &[1; 16]);
        for (whole, general, maker, verifier, min) in [
            (M::SHA_1_HMAC, M::SHA_1_HMAC_GENERAL, user.create(&hmac()).unwrap(), secret(hmac()), 10),
            (M::SHA256_HMAC, M::SHA256_HMAC_GENERAL, user.create(&hmac()).unwrap(), secret(hmac()), 16),
            (M::AES_CMAC, M::AES_CMAC_GENERAL, user.create(&aes()).unwrap(), secret(aes()), 8),
        ] {
            let code = user.sign(&Mechanism::plain(whole), maker, b"a message").unwrap();
            assert_eq!(user.verify(&Mechanism::plain(whole), verifier, b"a message", &code), Ok(()));
            for len in 1..=code.len() {
                let mechanism = Mechanism::new(general, P::Number(len as u64));
                let verified = user.verify(&mechanism, verifier, b"a message", &code[..len]);
                let refused = Err(ReturnCode::MechanismParamInvalid);
                let expected = if len < min && !is_compatible { refused } else { Ok(()) };
                assert_eq!(verified, expected, "{general} of {len} bytes");
                // Who makes codes guesses none.
                assert_eq!(user.verify(&mechanism, maker, b"a message", &code[..len]), Ok(()));
            }
        }
    }
}

#[test]
fn many_signatures_are_those_of_single_calls() {
    let user = User::new();
    let data: Vec<u8> = (0..=255).collect();
    let inputs = |count| ManyInputs { data: &data, spans: ManySpans::Stride { count, len: 32, stride: 3 } };
    let generic = user.create(&Template::secret(KeyTypeNumber::GENERIC_SECRET, b"key")).unwrap();
    let mechanism = Mechanism::new(M::SHA256_HMAC_GENERAL, P::Number(7));
    let macs = user.cryptoki.sign_many(user.session, &mechanism, generic, inputs(70)).unwrap();
    assert_eq!(macs.len(), 70);
    for index in 0..70 {
        let expected = user.sign(&mechanism, generic, &data[3 * index..3 * index + 32]).unwrap();
        assert_eq!(macs.get(index).unwrap(), expected);
    }
    assert_eq!(macs.get(70), Err(ReturnCode::ArgumentsBad));
    // Pieces that are not in the buffer fail alone.
    let past = user.cryptoki.sign_many(user.session, &mechanism, generic, inputs(80)).unwrap();
    assert!(past.get(74).is_ok());
    assert_eq!(past.get(75), Err(ReturnCode::ArgumentsBad));
    let public = Template::new().bytes(A::EC_PARAMS, P256);
    let (public, private) = user.pair(M::EC_KEY_PAIR_GEN, &public, &Template::new()).unwrap();
    let offsets = [0, 32, 64, 64, 96, 300, 128];
    let uneven = ManyInputs { data: &data, spans: ManySpans::Offsets(&offsets) };
    let mechanism = Mechanism::plain(M::ECDSA);
    let signatures = user.cryptoki.sign_many(user.session, &mechanism, private, uneven).unwrap();
    let lens: Vec<_> = signatures.iter().map(|answer| answer.map(<[u8]>::len)).collect();
    let (empty, outside) = (Err(ReturnCode::DataLenRange), Err(ReturnCode::ArgumentsBad));
    assert_eq!(lens, [Ok(64), Ok(64), empty, Ok(64), outside, outside]);
    let all = [signatures.get(0).unwrap(), signatures.get(1).unwrap()].concat();
    let two = ManyInputs { data: &data, spans: ManySpans::Stride { count: 2, len: 32, stride: 32 } };
    let given = ManyInputs { data: &all, spans: ManySpans::Stride { count: 2, len: 64, stride: 64 } };
    let verified = user.cryptoki.verify_many(user.session, &mechanism, public, two, given).unwrap();
    assert!(verified.iter().all(|answer| answer.is_ok_and(<[u8]>::is_empty)));
    let swapped = [signatures.get(1).unwrap(), signatures.get(1).unwrap()].concat();
    let given = ManyInputs { data: &swapped, spans: ManySpans::Stride { count: 2, len: 64, stride: 64 } };
    let verified = user.cryptoki.verify_many(user.session, &mechanism, public, two, given).unwrap();
    let answers: Vec<_> = verified.iter().collect();
    assert_eq!(answers, [Err(ReturnCode::SignatureInvalid), Ok(&[][..])]);
}

#[test]
fn a_public_key_is_imported_with_its_point_bare_or_wrapped() {
    let user = User::new();
    let public = Template::new().bytes(A::EC_PARAMS, ED25519);
    let (public, private) = user.pair(M::EC_EDWARDS_KEY_PAIR_GEN, &public, &Template::new()).unwrap();
    let point = user.get(public, A::EC_POINT).unwrap();
    let signature = user.sign(&Mechanism::plain(M::EDDSA), private, b"m").unwrap();
    for point in [&point[..], &point[2..]] {
        let template = Template::class(ObjectClass::PUBLIC_KEY)
            .number(A::KEY_TYPE, KeyTypeNumber::EC_EDWARDS.0)
            .bytes(A::EC_PARAMS, ED25519)
            .bytes(A::EC_POINT, point);
        let key = user.create(&template).unwrap();
        assert_eq!(user.verify(&Mechanism::plain(M::EDDSA), key, b"m", &signature), Ok(()));
    }
}
