//! Parameters of mechanisms with wrong lengths.

use std::ffi::c_void;
use std::ptr::null_mut;

use cryptoki_sys::*;

use super::ULONG;
use crate::call;
use crate::common::raw::{RawModule, logged_in};
use crate::common::{STORE, isolated};

/// Lengths longer than every structure are tried up to this one.
const MAX_LEN: usize = 130;

/// Returns the lengths that the parameter of a mechanism may have, as the header of the standard says.
fn lengths(kind: CK_MECHANISM_TYPE) -> &'static [usize] {
    const PSS: &[usize] = &[size_of::<CK_RSA_PKCS_PSS_PARAMS>()];
    const NUMBER: &[usize] = &[ULONG];
    const DATA: &[usize] = &[size_of::<CK_KEY_DERIVATION_STRING_DATA>()];
    const ECDH: &[usize] = &[size_of::<CK_ECDH1_DERIVE_PARAMS>()];
    match kind {
        CKM_RSA_PKCS_PSS | CKM_SHA1_RSA_PKCS_PSS | CKM_SHA224_RSA_PKCS_PSS | CKM_SHA256_RSA_PKCS_PSS => PSS,
        CKM_SHA384_RSA_PKCS_PSS | CKM_SHA512_RSA_PKCS_PSS => PSS,
        CKM_RSA_PKCS_OAEP => &[size_of::<CK_RSA_PKCS_OAEP_PARAMS>()],
        CKM_ECDH1_DERIVE | CKM_ECDH1_COFACTOR_DERIVE => ECDH,
        CKM_EDDSA => &[0, size_of::<CK_EDDSA_PARAMS>()],
        CKM_ML_DSA
        | CKM_HASH_ML_DSA_SHA224
        | CKM_HASH_ML_DSA_SHA256
        | CKM_HASH_ML_DSA_SHA384
        | CKM_HASH_ML_DSA_SHA512
        | CKM_HASH_ML_DSA_SHA3_224
        | CKM_HASH_ML_DSA_SHA3_256
        | CKM_HASH_ML_DSA_SHA3_384
        | CKM_HASH_ML_DSA_SHA3_512
        | CKM_HASH_ML_DSA_SHAKE128
        | CKM_HASH_ML_DSA_SHAKE256 => &[0, size_of::<CK_SIGN_ADDITIONAL_CONTEXT>()],
        CKM_SLH_DSA
        | CKM_HASH_SLH_DSA_SHA224
        | CKM_HASH_SLH_DSA_SHA256
        | CKM_HASH_SLH_DSA_SHA384
        | CKM_HASH_SLH_DSA_SHA512
        | CKM_HASH_SLH_DSA_SHA3_224
        | CKM_HASH_SLH_DSA_SHA3_256
        | CKM_HASH_SLH_DSA_SHA3_384
        | CKM_HASH_SLH_DSA_SHA3_512
        | CKM_HASH_SLH_DSA_SHAKE128
        | CKM_HASH_SLH_DSA_SHAKE256 => &[0, size_of::<CK_SIGN_ADDITIONAL_CONTEXT>()],
        CKM_HASH_ML_DSA | CKM_HASH_SLH_DSA => &[size_of::<CK_HASH_SIGN_ADDITIONAL_CONTEXT>()],
        CKM_SHA_1_HMAC_GENERAL | CKM_SHA224_HMAC_GENERAL | CKM_SHA256_HMAC_GENERAL => NUMBER,
        CKM_SHA384_HMAC_GENERAL | CKM_SHA512_HMAC_GENERAL | CKM_AES_CMAC_GENERAL => NUMBER,
        CKM_AES_CBC | CKM_AES_CBC_PAD => &[16],
        CKM_AES_CTR => &[size_of::<CK_AES_CTR_PARAMS>()],
        CKM_AES_GCM => &[size_of::<CK_GCM_PARAMS>()],
        CKM_AES_KEY_WRAP => &[0, 8],
        CKM_AES_KEY_WRAP_KWP => &[0, 4],
        CKM_CHACHA20_POLY1305 => &[size_of::<CK_SALSA20_CHACHA20_POLY1305_PARAMS>()],
        CKM_CONCATENATE_BASE_AND_KEY => NUMBER,
        CKM_CONCATENATE_BASE_AND_DATA | CKM_CONCATENATE_DATA_AND_BASE | CKM_XOR_BASE_AND_DATA => DATA,
        _ => &[0],
    }
}

#[test]
fn a_parameter_of_a_wrong_length_is_rejected_by_every_mechanism() {
    isolated(
        "bad_input::parameters::a_parameter_of_a_wrong_length_is_rejected_by_every_mechanism",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let mechanisms = mechanisms(&module);
            assert!(mechanisms.len() > 75, "{}", mechanisms.len());
            let mut memory = [0_u8; MAX_LEN];
            for (kind, flags) in mechanisms {
                let huge = [CK_ULONG::MAX, CK_ULONG::MAX / 2, CK_ULONG::MAX - 15].map(|len| len as usize);
                let wrong = (0..MAX_LEN).chain(huge).filter(|len| !lengths(kind).contains(len));
                for len in wrong {
                    let pointer = memory.as_mut_ptr().cast::<c_void>();
                    let parameters = [(pointer, len), (null_mut(), len)];
                    for (pointer, len) in
                        parameters.into_iter().filter(|(pointer, len)| !pointer.is_null() || *len > 0)
                    {
                        let mechanism = CK_MECHANISM {
                            mechanism: kind,
                            pParameter: pointer,
                            ulParameterLen: len as CK_ULONG,
                        };
                        for (function, code) in begin_everything(&module, session, mechanism, flags) {
                            let expected = CKR_MECHANISM_PARAM_INVALID;
                            assert_eq!(code, expected, "{function} of {kind:#x}, {len} bytes at {pointer:?}");
                        }
                    }
                }
            }
        },
    );
}

/// A null pointer with the right length is not a parameter either.
#[test]
fn a_null_pointer_with_the_right_length_is_rejected_by_every_mechanism() {
    isolated(
        "bad_input::parameters::a_null_pointer_with_the_right_length_is_rejected_by_every_mechanism",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            for (kind, flags) in mechanisms(&module) {
                for len in lengths(kind).iter().filter(|len| **len > 0) {
                    let mechanism = CK_MECHANISM {
                        mechanism: kind,
                        pParameter: null_mut(),
                        ulParameterLen: *len as CK_ULONG,
                    };
                    for (function, code) in begin_everything(&module, session, mechanism, flags) {
                        assert_eq!(code, CKR_MECHANISM_PARAM_INVALID, "{function} of {kind:#x}");
                    }
                }
            }
        },
    );
}

/// A wrong handle of a session is reported before a mechanism that is not known, or whose parameter is wrong.
#[test]
fn a_wrong_session_is_reported_before_a_wrong_mechanism() {
    isolated(
        "bad_input::parameters::a_wrong_session_is_reported_before_a_wrong_mechanism",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let unknown = CK_MECHANISM { mechanism: 0x7fff_0001, pParameter: null_mut(), ulParameterLen: 0 };
            for (function, code) in begin_everything(&module, session, unknown, CK_FLAGS::MAX) {
                assert_eq!(code, CKR_MECHANISM_INVALID, "{function}");
            }
            let mut mechanisms = mechanisms(&module);
            mechanisms.push((unknown.mechanism, CK_FLAGS::MAX));
            for (kind, flags) in mechanisms {
                let wrong = CK_MECHANISM { mechanism: kind, pParameter: null_mut(), ulParameterLen: 3 };
                for (function, code) in begin_everything(&module, session ^ (1 << 40), wrong, flags) {
                    assert_eq!(code, CKR_SESSION_HANDLE_INVALID, "{function} of {kind:#x}");
                }
            }
        },
    );
}

/// Returns every mechanism of slot 0 with its flags.
fn mechanisms(module: &RawModule) -> Vec<(CK_MECHANISM_TYPE, CK_FLAGS)> {
    let mut count = 0;
    assert_eq!(call!(module, C_GetMechanismList, 0, null_mut(), &mut count), CKR_OK);
    let mut list = vec![0; count as usize];
    assert_eq!(call!(module, C_GetMechanismList, 0, list.as_mut_ptr(), &mut count), CKR_OK);
    let with_flags = |kind| {
        let mut facts = CK_MECHANISM_INFO { ulMinKeySize: 0, ulMaxKeySize: 0, flags: 0 };
        assert_eq!(call!(module, C_GetMechanismInfo, 0, kind, &mut facts), CKR_OK);
        (kind, facts.flags)
    };
    list.into_iter().map(with_flags).collect()
}

/// Calls every function that a mechanism has, without a key. Returns the names of the functions and their answers.
fn begin_everything(
    module: &RawModule,
    session: CK_SESSION_HANDLE,
    mut mechanism: CK_MECHANISM,
    flags: CK_FLAGS,
) -> Vec<(&'static str, CK_RV)> {
    let (m, mut answers) = (&raw mut mechanism, Vec::new());
    let (mut key, mut other, mut len, mut out) = (0, 0, 8, [0_u8; 8]);
    let (data, nothing) = (out.as_mut_ptr(), null_mut());
    let mut add = |flag: CK_FLAGS, name, call: &mut dyn FnMut() -> CK_RV| {
        if flags & flag != 0 {
            answers.push((name, call()));
        }
    };
    add(CKF_ENCRYPT, "C_EncryptInit", &mut || call!(module, C_EncryptInit, session, m, 0));
    add(CKF_DECRYPT, "C_DecryptInit", &mut || call!(module, C_DecryptInit, session, m, 0));
    add(CKF_DIGEST, "C_DigestInit", &mut || call!(module, C_DigestInit, session, m));
    add(CKF_SIGN, "C_SignInit", &mut || call!(module, C_SignInit, session, m, 0));
    add(CKF_VERIFY, "C_VerifyInit", &mut || call!(module, C_VerifyInit, session, m, 0));
    add(CKF_VERIFY, "C_VerifySignatureInit", &mut || {
        call!(module, C_VerifySignatureInit, session, m, 0, data, 8)
    });
    add(CKF_MESSAGE_SIGN, "C_MessageSignInit", &mut || call!(module, C_MessageSignInit, session, m, 0));
    add(CKF_MESSAGE_VERIFY, "C_MessageVerifyInit", &mut || call!(module, C_MessageVerifyInit, session, m, 0));
    add(CKF_GENERATE, "C_GenerateKey", &mut || {
        call!(module, C_GenerateKey, session, m, nothing, 0, &mut key)
    });
    add(CKF_GENERATE_KEY_PAIR, "C_GenerateKeyPair", &mut || {
        call!(module, C_GenerateKeyPair, session, m, nothing, 0, nothing, 0, &mut key, &mut other)
    });
    add(CKF_WRAP, "C_WrapKey", &mut || call!(module, C_WrapKey, session, m, 0, 0, data, &mut len));
    add(CKF_UNWRAP, "C_UnwrapKey", &mut || {
        call!(module, C_UnwrapKey, session, m, 0, data, 8, nothing, 0, &mut key)
    });
    add(CKF_DERIVE, "C_DeriveKey", &mut || call!(module, C_DeriveKey, session, m, 0, nothing, 0, &mut key));
    add(CKF_ENCAPSULATE, "C_EncapsulateKey", &mut || {
        call!(module, C_EncapsulateKey, session, m, 0, nothing, 0, data, &mut len, &mut key)
    });
    add(CKF_DECAPSULATE, "C_DecapsulateKey", &mut || {
        call!(module, C_DecapsulateKey, session, m, 0, nothing, 0, data, 8, &mut key)
    });
    assert!(!answers.is_empty(), "a mechanism without functions: {:#x}", mechanism.mechanism);
    answers
}
