//! Keys, parameters and ciphertexts of ML-KEM and ML-DSA that do not fit.

use std::ptr::null_mut;

use cryptoki_sys::*;

use crate::call;
use crate::common::lattice::{
    DSA_SIGNATURE_LEN, KEM_CIPHERTEXT_LEN, decapsulate, dsa_pair, encapsulate, kem_pair, read, sign, verify,
};
use crate::common::objects::{Template, create, generate_pair, with_parameter};
use crate::common::raw::{RawModule, attribute, logged_in, plain};
use crate::common::{STORE, isolated};

const MAX: CK_ULONG = CK_ULONG::MAX;

fn key(class: CK_OBJECT_CLASS, key_type: CK_KEY_TYPE, set: CK_ULONG) -> Template {
    Template::default()
        .number(CKA_CLASS, class)
        .number(CKA_KEY_TYPE, key_type)
        .number(CKA_PARAMETER_SET, set)
        .bytes(CKA_LABEL, b"made")
}

#[test]
fn seeds_and_values_that_do_not_fit_make_no_key() {
    isolated(
        "bad_input::lattice::seeds_and_values_that_do_not_fit_make_no_key",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let invalid = Err(CKR_ATTRIBUTE_VALUE_INVALID);
            for (key_type, (public, private), seed_len) in
                [(CKK_ML_KEM, kem_pair(&module, session), 64), (CKK_ML_DSA, dsa_pair(&module, session), 32)]
            {
                let seed = read(&module, session, private, CKA_SEED).unwrap();
                let value = read(&module, session, private, CKA_VALUE).unwrap();
                let public_value = read(&module, session, public, CKA_VALUE).unwrap();
                assert_eq!(seed.len(), seed_len);
                let private = |set| key(CKO_PRIVATE_KEY, key_type, set);
                for len in [0, 1, seed_len - 1] {
                    let short = private(2).bytes(CKA_SEED, &seed[..len]);
                    assert_eq!(create(&module, session, short.clone()), invalid, "{len}");
                    assert_eq!(create(&module, session, short.bytes(CKA_VALUE, &value)), invalid, "{len}");
                }
                let long = private(2).bytes(CKA_SEED, &[&seed[..], &[0]].concat());
                assert_eq!(create(&module, session, long), invalid);
                for (pointer, len) in [(null_mut(), seed_len), (null_mut(), MAX as usize)] {
                    let mut template = private(2);
                    let mut list = template.list();
                    list.push(attribute(CKA_SEED, pointer, len));
                    let (count, mut made) = (list.len() as CK_ULONG, 0);
                    let code = call!(module, C_CreateObject, session, list.as_mut_ptr(), count, &mut made);
                    assert_eq!((code, made), (CKR_ATTRIBUTE_VALUE_INVALID, 0), "{len}");
                }
                // The seed and the value of one key, but for one bit.
                for index in [0, value.len() - 1] {
                    let mut changed = value.clone();
                    changed[index] ^= 0x10;
                    let both = private(2).bytes(CKA_SEED, &seed).bytes(CKA_VALUE, &changed);
                    assert_eq!(create(&module, session, both), invalid, "{index}");
                }
                for set in [0, 1, 3, 4, 1 << 32, MAX] {
                    assert_eq!(create(&module, session, private(set).bytes(CKA_VALUE, &value)), invalid);
                    let public = key(CKO_PUBLIC_KEY, key_type, set).bytes(CKA_VALUE, &public_value);
                    assert_eq!(create(&module, session, public), invalid, "{set}");
                }
                // Keys of other types have neither of the two attributes.
                for template in [
                    key(CKO_PUBLIC_KEY, CKK_RSA, 1).bytes(CKA_VALUE, &public_value),
                    key(CKO_SECRET_KEY, CKK_AES, 1).bytes(CKA_VALUE, &[1; 32]),
                    key(CKO_PRIVATE_KEY, CKK_EC, 1).bytes(CKA_VALUE, &[1; 32]),
                ] {
                    assert_eq!(create(&module, session, template), Err(CKR_ATTRIBUTE_TYPE_INVALID));
                }
                // A secret key of the type, and a key pair by the mechanism of the other type.
                let secret = key(CKO_SECRET_KEY, key_type, 2).bytes(CKA_VALUE, &value);
                assert!(create(&module, session, secret).is_err());
                let other =
                    if key_type == CKK_ML_KEM { CKM_ML_DSA_KEY_PAIR_GEN } else { CKM_ML_KEM_KEY_PAIR_GEN };
                let public = Template::default().number(CKA_KEY_TYPE, key_type).number(CKA_PARAMETER_SET, 2);
                let made = generate_pair(&module, session, other, public, Template::default());
                assert_eq!(made, Err(CKR_TEMPLATE_INCONSISTENT));
            }
            for mechanism in [CKM_ML_KEM_KEY_PAIR_GEN, CKM_ML_DSA_KEY_PAIR_GEN] {
                for (set, expected) in [
                    (None, CKR_TEMPLATE_INCOMPLETE),
                    (Some(0), CKR_ATTRIBUTE_VALUE_INVALID),
                    (Some(4), CKR_ATTRIBUTE_VALUE_INVALID),
                    (Some(MAX), CKR_ATTRIBUTE_VALUE_INVALID),
                ] {
                    let public = Template::default().bytes(CKA_LABEL, b"made");
                    let public = set.map_or(public.clone(), |set| public.number(CKA_PARAMETER_SET, set));
                    let made = generate_pair(&module, session, mechanism, public, Template::default());
                    assert_eq!(made, Err(expected), "{set:?}");
                }
                let flat = Template::default().bytes(CKA_PARAMETER_SET, &[2]);
                let made = generate_pair(&module, session, mechanism, flat, Template::default());
                assert_eq!(made, Err(CKR_ATTRIBUTE_VALUE_INVALID));
            }
            for class in [CKO_SECRET_KEY, CKO_PUBLIC_KEY, CKO_PRIVATE_KEY] {
                assert!(module.find(session, class, "made").is_none(), "class {class}");
            }
        },
    );
}

#[test]
fn keys_and_ciphertexts_that_do_not_fit_are_not_opened() {
    isolated(
        "bad_input::lattice::keys_and_ciphertexts_that_do_not_fit_are_not_opened",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let (public, private) = kem_pair(&module, session);
            let (_, signing) = dsa_pair(&module, session);
            let (ciphertext, _) = encapsulate(&module, session, public).unwrap();
            let refused = Err(CKR_KEY_FUNCTION_NOT_PERMITTED);
            assert_eq!(encapsulate(&module, session, private).map(|_| ()), refused);
            assert_eq!(decapsulate(&module, session, public, &ciphertext).map(|_| ()), refused);
            let other = encapsulate(&module, session, signing);
            assert_eq!(other.map(|_| ()), Err(CKR_KEY_TYPE_INCONSISTENT));
            let nothing = encapsulate(&module, session, MAX);
            assert_eq!(nothing.map(|_| ()), Err(CKR_KEY_HANDLE_INVALID));
            for len in [0, 1, KEM_CIPHERTEXT_LEN - 1] {
                let opened = decapsulate(&module, session, private, &ciphertext[..len]);
                assert_eq!(opened, Err(CKR_WRAPPED_KEY_INVALID), "{len}");
            }
            let long = [&ciphertext[..], &[0]].concat();
            assert_eq!(decapsulate(&module, session, private, &long), Err(CKR_WRAPPED_KEY_INVALID));
            // Bytes of the right length are always a key, and say nothing.
            for byte in [0, 0xFF] {
                assert!(decapsulate(&module, session, private, &[byte; KEM_CIPHERTEXT_LEN]).is_ok());
            }
            let mut mechanism = plain(CKM_ML_KEM);
            let mut made = 0;
            for (pointer, len) in [(null_mut(), 1), (null_mut(), MAX), (ciphertext.as_ptr().cast_mut(), MAX)]
            {
                let m = &raw mut mechanism;
                let code = call!(
                    module,
                    C_DecapsulateKey,
                    session,
                    m,
                    private,
                    null_mut(),
                    0,
                    pointer,
                    len,
                    &mut made
                );
                assert_eq!((code, made), (CKR_ARGUMENTS_BAD, 0), "{len}");
            }
            // A buffer that is one byte too short gets the length and no key.
            let (mut short, mut len) = ([7_u8; KEM_CIPHERTEXT_LEN], KEM_CIPHERTEXT_LEN as CK_ULONG - 1);
            let out = short.as_mut_ptr();
            let m = &raw mut mechanism;
            let code =
                call!(module, C_EncapsulateKey, session, m, public, null_mut(), 0, out, &mut len, &mut made);
            assert_eq!((code, made), (CKR_BUFFER_TOO_SMALL, 0));
            assert_eq!((len as usize, short), (KEM_CIPHERTEXT_LEN, [7; KEM_CIPHERTEXT_LEN]));
            for wanted in [0, 16, 31, 33, MAX] {
                let mut template = Template::default().number(CKA_VALUE_LEN, wanted);
                let (mut list, m) = (template.list(), &raw mut mechanism);
                let (list, out) = (list.as_mut_ptr(), short.as_mut_ptr());
                let mut len = KEM_CIPHERTEXT_LEN as CK_ULONG;
                let code =
                    call!(module, C_EncapsulateKey, session, m, public, list, 1, out, &mut len, &mut made);
                assert_eq!((code, made), (CKR_KEY_SIZE_RANGE, 0), "{wanted}");
            }
        },
    );
}

#[test]
fn contexts_and_hedges_without_a_meaning_are_rejected() {
    isolated(
        "bad_input::lattice::contexts_and_hedges_without_a_meaning_are_rejected",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let (public, private) = dsa_pair(&module, session);
            let invalid = CKR_MECHANISM_PARAM_INVALID;
            let bytes = [7_u8; 300];
            let pointer = bytes.as_ptr().cast_mut();
            let good = CK_SIGN_ADDITIONAL_CONTEXT {
                hedgeVariant: CKH_HEDGE_PREFERRED,
                pContext: pointer,
                ulContextLen: 255,
            };
            let contexts =
                [(pointer, 256), (pointer, 300), (pointer, MAX), (null_mut(), 1), (null_mut(), MAX)];
            for kind in [CKM_ML_DSA, CKM_HASH_ML_DSA_SHA256, CKM_HASH_ML_DSA_SHAKE256] {
                for (pointer, len) in contexts {
                    let wrong = CK_SIGN_ADDITIONAL_CONTEXT { pContext: pointer, ulContextLen: len, ..good };
                    let mechanism = &mut with_parameter(kind, &wrong);
                    assert_eq!(call!(module, C_SignInit, session, mechanism, private), invalid);
                    assert_eq!(call!(module, C_VerifyInit, session, mechanism, public), invalid);
                    assert_eq!(call!(module, C_MessageSignInit, session, mechanism, private), invalid);
                }
                for hedge in [3, 1 << 32, MAX] {
                    let wrong = CK_SIGN_ADDITIONAL_CONTEXT { hedgeVariant: hedge, ..good };
                    let mechanism = &mut with_parameter(kind, &wrong);
                    assert_eq!(call!(module, C_SignInit, session, mechanism, private), invalid);
                }
            }
            let good = CK_HASH_SIGN_ADDITIONAL_CONTEXT {
                hedgeVariant: CKH_HEDGE_REQUIRED,
                pContext: pointer,
                ulContextLen: 255,
                hash: CKM_SHA256,
            };
            for wrong in [
                CK_HASH_SIGN_ADDITIONAL_CONTEXT { ulContextLen: 256, ..good },
                CK_HASH_SIGN_ADDITIONAL_CONTEXT { pContext: null_mut(), ..good },
                CK_HASH_SIGN_ADDITIONAL_CONTEXT { hedgeVariant: 3, ..good },
                CK_HASH_SIGN_ADDITIONAL_CONTEXT { hash: CKM_SHA_1, ..good },
                CK_HASH_SIGN_ADDITIONAL_CONTEXT { hash: CKM_ML_DSA, ..good },
                CK_HASH_SIGN_ADDITIONAL_CONTEXT { hash: MAX, ..good },
            ] {
                let mechanism = &mut with_parameter(CKM_HASH_ML_DSA, &wrong);
                assert_eq!(call!(module, C_SignInit, session, mechanism, private), invalid, "{wrong:?}");
            }
            // After all this, nothing is active, and the longest context signs.
            let mechanism = with_parameter(CKM_HASH_ML_DSA, &good);
            let signature = sign(&module, session, mechanism, private, &[1; 32]).unwrap();
            assert_eq!(signature.len(), DSA_SIGNATURE_LEN);
            assert_eq!(verify(&module, session, mechanism, public, &[1; 32], &signature), CKR_OK);
            let wrong = sign(&module, session, mechanism, private, &[1; 31]);
            assert_eq!(wrong, Err(CKR_DATA_LEN_RANGE), "the digest has another length");
            // A signature over a digest is none over the message, and none without the context.
            let pure = plain(CKM_ML_DSA);
            let answer = verify(&module, session, pure, public, &[1; 32], &signature);
            assert_eq!(answer, CKR_SIGNATURE_INVALID);
            let bare = CK_HASH_SIGN_ADDITIONAL_CONTEXT { pContext: null_mut(), ulContextLen: 0, ..good };
            let bare = with_parameter(CKM_HASH_ML_DSA, &bare);
            let answer = verify(&module, session, bare, public, &[1; 32], &signature);
            assert_eq!(answer, CKR_SIGNATURE_INVALID);
            for len in [0, DSA_SIGNATURE_LEN - 1] {
                let answer = verify(&module, session, mechanism, public, &[1; 32], &signature[..len]);
                assert_eq!(answer, CKR_SIGNATURE_LEN_RANGE, "{len}");
            }
        },
    );
}
