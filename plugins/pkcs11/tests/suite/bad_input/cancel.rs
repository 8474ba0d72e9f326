//! A null pointer in place of a mechanism. PKCS#11 3.2 5.11: it ends the active operation of the function.

use std::ptr::null_mut;

use cryptoki_sys::*;

use crate::call;
use crate::common::objects::{Template, aes_key, generate, p256_pair, with_parameter};
use crate::common::raw::{RawModule, logged_in, plain};
use crate::common::{STORE, isolated};

/// A function that begins an operation, and another that continues with it.
struct Operation<'a> {
    name: &'static str,
    /// Called with a mechanism, or with a null pointer.
    begin: &'a dyn Fn(*mut CK_MECHANISM) -> CK_RV,
    mechanism: CK_MECHANISM,
    go_on: &'a dyn Fn() -> CK_RV,
}

#[test]
fn a_null_mechanism_ends_the_operation_of_its_function_and_no_other() {
    isolated(
        "bad_input::cancel::a_null_mechanism_ends_the_operation_of_its_function_and_no_other",
        STORE,
        |_| (),
        |_| {
            let module = &RawModule::load();
            let session = logged_in(module);
            let cipher = aes_key(module, session, &[CKA_ENCRYPT, CKA_DECRYPT]);
            let secret = Template::default().number(CKA_VALUE_LEN, 32).flags(&[CKA_SIGN, CKA_VERIFY]);
            let secret = generate(module, session, CKM_GENERIC_SECRET_KEY_GEN, secret).unwrap();
            let (public, private) = p256_pair(module, session, &[CKA_VERIFY], &[CKA_SIGN]);
            let iv = [3_u8; 16];
            let (cbc, hmac) = (with_parameter(CKM_AES_CBC, &iv), plain(CKM_SHA256_HMAC));
            let (ecdsa, gcm) = (plain(CKM_ECDSA_SHA256), plain(CKM_AES_GCM));
            let data = b"sixteen bytes...".as_ptr().cast_mut();
            let operations = [
                Operation {
                    name: "C_EncryptInit",
                    begin: &|mechanism| call!(module, C_EncryptInit, session, mechanism, cipher),
                    mechanism: cbc,
                    go_on: &|| {
                        let (mut out, mut len) = ([0_u8; 32], 32);
                        call!(module, C_EncryptUpdate, session, data, 16, out.as_mut_ptr(), &mut len)
                    },
                },
                Operation {
                    name: "C_DecryptInit",
                    begin: &|mechanism| call!(module, C_DecryptInit, session, mechanism, cipher),
                    mechanism: cbc,
                    go_on: &|| {
                        let (mut out, mut len) = ([0_u8; 32], 32);
                        call!(module, C_DecryptUpdate, session, data, 16, out.as_mut_ptr(), &mut len)
                    },
                },
                Operation {
                    name: "C_DigestInit",
                    begin: &|mechanism| call!(module, C_DigestInit, session, mechanism),
                    mechanism: plain(CKM_SHA256),
                    go_on: &|| call!(module, C_DigestUpdate, session, data, 16),
                },
                Operation {
                    name: "C_SignInit",
                    begin: &|mechanism| call!(module, C_SignInit, session, mechanism, secret),
                    mechanism: hmac,
                    go_on: &|| call!(module, C_SignUpdate, session, data, 16),
                },
                Operation {
                    name: "C_VerifyInit",
                    begin: &|mechanism| call!(module, C_VerifyInit, session, mechanism, public),
                    mechanism: ecdsa,
                    go_on: &|| call!(module, C_VerifyUpdate, session, data, 16),
                },
                Operation {
                    name: "C_MessageEncryptInit",
                    begin: &|mechanism| call!(module, C_MessageEncryptInit, session, mechanism, cipher),
                    mechanism: gcm,
                    go_on: &|| seal(module, session),
                },
                Operation {
                    name: "C_MessageDecryptInit",
                    begin: &|mechanism| call!(module, C_MessageDecryptInit, session, mechanism, cipher),
                    mechanism: gcm,
                    go_on: &|| match open(module, session) {
                        // The tag is wrong, which ends the message and not the operation.
                        CKR_AEAD_DECRYPT_FAILED => CKR_OK,
                        code => code,
                    },
                },
                Operation {
                    name: "C_MessageSignInit",
                    begin: &|mechanism| call!(module, C_MessageSignInit, session, mechanism, private),
                    mechanism: ecdsa,
                    go_on: &|| {
                        let (mut out, mut len) = ([0_u8; 64], 64);
                        let out = out.as_mut_ptr();
                        call!(module, C_SignMessage, session, null_mut(), 0, data, 16, out, &mut len)
                    },
                },
                Operation {
                    name: "C_MessageVerifyInit",
                    begin: &|mechanism| call!(module, C_MessageVerifyInit, session, mechanism, secret),
                    mechanism: hmac,
                    go_on: &|| {
                        let verify =
                            || call!(module, C_VerifyMessage, session, null_mut(), 0, data, 16, data, 16);
                        match verify() {
                            CKR_SIGNATURE_LEN_RANGE | CKR_SIGNATURE_INVALID => CKR_OK,
                            code => code,
                        }
                    },
                },
            ];
            // All at once in one session, so that each must leave the others alone.
            for Operation { name, begin, mechanism, .. } in &operations {
                assert_eq!(begin(&mut { *mechanism }), CKR_OK, "{name}");
            }
            for (index, ended) in operations.iter().enumerate() {
                assert_eq!((ended.begin)(&mut { ended.mechanism }), CKR_OPERATION_ACTIVE, "{}", ended.name);
                assert_eq!((ended.begin)(null_mut()), CKR_OK, "{}", ended.name);
                assert_eq!((ended.go_on)(), CKR_OPERATION_NOT_INITIALIZED, "{}", ended.name);
                for other in &operations[index + 1..] {
                    assert_eq!((other.go_on)(), CKR_OK, "{} after {}", other.name, ended.name);
                }
            }
            // Nothing is active any more, and ending nothing is no error.
            for Operation { name, begin, .. } in &operations {
                assert_eq!(begin(null_mut()), CKR_OK, "{name}");
            }
        },
    );
}

fn message_parameters(iv: &mut [u8; 12], tag: &mut [u8; 16]) -> CK_GCM_MESSAGE_PARAMS {
    CK_GCM_MESSAGE_PARAMS {
        pIv: iv.as_mut_ptr(),
        ulIvLen: 12,
        ulIvFixedBits: 0,
        ivGenerator: CKG_NO_GENERATE,
        pTag: tag.as_mut_ptr(),
        ulTagBits: 128,
    }
}

fn seal(module: &RawModule, session: CK_SESSION_HANDLE) -> CK_RV {
    let (mut iv, mut tag, mut out, mut len) = ([1; 12], [2; 16], [0_u8; 4], 4);
    let mut parameters = message_parameters(&mut iv, &mut tag);
    let (size, parameters) = (size_of_val(&parameters) as CK_ULONG, (&raw mut parameters).cast());
    let (data, out) = (b"data".as_ptr().cast_mut(), out.as_mut_ptr());
    call!(module, C_EncryptMessage, session, parameters, size, null_mut(), 0, data, 4, out, &mut len)
}

fn open(module: &RawModule, session: CK_SESSION_HANDLE) -> CK_RV {
    let (mut iv, mut tag, mut out, mut len) = ([1; 12], [2; 16], [0_u8; 4], 4);
    let mut parameters = message_parameters(&mut iv, &mut tag);
    let (size, parameters) = (size_of_val(&parameters) as CK_ULONG, (&raw mut parameters).cast());
    let (data, out) = (b"data".as_ptr().cast_mut(), out.as_mut_ptr());
    call!(module, C_DecryptMessage, session, parameters, size, null_mut(), 0, data, 4, out, &mut len)
}

/// Functions without an operation have nothing to end.
#[test]
fn a_function_that_makes_a_key_needs_a_mechanism() {
    isolated(
        "bad_input::cancel::a_function_that_makes_a_key_needs_a_mechanism",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let (mut key, mut other, mut len, mut out) = (0, 0, 8, [0_u8; 8]);
            let (none, nothing, out) = (null_mut(), null_mut(), out.as_mut_ptr());
            let answers = [
                call!(module, C_GenerateKey, session, none, nothing, 0, &mut key),
                call!(module, C_GenerateKeyPair, session, none, nothing, 0, nothing, 0, &mut key, &mut other),
                call!(module, C_WrapKey, session, none, 1, 1, out, &mut len),
                call!(module, C_UnwrapKey, session, none, 1, out, 8, nothing, 0, &mut key),
                call!(module, C_DeriveKey, session, none, 1, nothing, 0, &mut key),
                call!(module, C_EncapsulateKey, session, none, 1, nothing, 0, out, &mut len, &mut key),
                call!(module, C_DecapsulateKey, session, none, 1, nothing, 0, out, 8, &mut key),
            ];
            assert_eq!(answers, [CKR_ARGUMENTS_BAD; 7]);
        },
    );
}
