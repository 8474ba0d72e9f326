//! `CK_ULONG_MAX` and other numbers without a meaning: slots, users, flags, attributes, and fields of parameters.

use std::ptr::{null, null_mut};

use cryptoki_sys::*;

use crate::call;
use crate::common::objects::{Template, aes_key, generate, generate_pair, with_parameter};
use crate::common::raw::{RawModule, attribute, logged_in, plain};
use crate::common::{STORE, USER_PIN, isolated};

const MAX: CK_ULONG = CK_ULONG::MAX;

#[test]
fn slots_and_users_that_do_not_exist_are_rejected() {
    isolated(
        "bad_input::numbers::slots_and_users_that_do_not_exist_are_rejected",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            // SAFETY: structures of numbers and texts, for which zero is a value.
            let (mut slot, mut token, mut mechanism): (CK_SLOT_INFO, CK_TOKEN_INFO, CK_MECHANISM_INFO) =
                unsafe { (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed()) };
            let (pin, mut number) = (USER_PIN.as_ptr().cast_mut(), 0);
            let label = [b' '; 32].as_ptr().cast_mut();
            for wrong in [1, CK_ULONG::from(u32::MAX), MAX / 2, MAX] {
                let answers = [
                    call!(module, C_GetSlotInfo, wrong, &mut slot),
                    call!(module, C_GetTokenInfo, wrong, &mut token),
                    call!(module, C_GetMechanismList, wrong, null_mut(), &mut number),
                    call!(module, C_GetMechanismInfo, wrong, CKM_SHA256, &mut mechanism),
                    call!(module, C_InitToken, wrong, pin, 8, label),
                    call!(module, C_OpenSession, wrong, CKF_SERIAL_SESSION, null_mut(), None, &mut number),
                    call!(module, C_CloseAllSessions, wrong),
                ];
                assert_eq!(answers, [CKR_SLOT_ID_INVALID; 7], "slot {wrong:#x}");
                let known = call!(module, C_GetMechanismInfo, 0, 0x8000_0000 | wrong, &mut mechanism);
                assert_eq!(known, CKR_MECHANISM_INVALID);
                assert_eq!(call!(module, C_Login, session, 3 + wrong / 2, pin, 8), CKR_USER_TYPE_INVALID);
                let named = call!(module, C_LoginUser, session, 3 + wrong / 2, pin, 8, null_mut(), 0);
                assert_eq!(named, CKR_USER_TYPE_INVALID);
            }
        },
    );
}

#[test]
fn unknown_flags_open_no_session_and_find_no_interface() {
    isolated(
        "bad_input::numbers::unknown_flags_open_no_session_and_find_no_interface",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let known = CKF_SERIAL_SESSION | CKF_RW_SESSION | CKF_ASYNC_SESSION;
            for bit in 0..CK_ULONG::BITS {
                let (flag, mut opened) = ((1 as CK_FLAGS) << bit, MAX);
                let flags = CKF_SERIAL_SESSION | flag;
                let answer = call!(module, C_OpenSession, 0, flags, null_mut(), None, &mut opened);
                if flag & known == 0 {
                    assert_eq!((answer, opened), (CKR_ARGUMENTS_BAD, MAX), "flag {flag:#x}");
                } else {
                    assert_eq!(answer, CKR_OK, "flag {flag:#x}");
                    assert_eq!(call!(module, C_CloseSession, opened), CKR_OK);
                }
                let message = call!(
                    module,
                    C_DecryptMessageNext,
                    session,
                    null_mut(),
                    0,
                    null_mut(),
                    0,
                    null_mut(),
                    &mut opened,
                    flag & !CKF_END_OF_MESSAGE | 2
                );
                assert_eq!(message, CKR_ARGUMENTS_BAD, "flag {flag:#x}");
                if flag != CKF_INTERFACE_FORK_SAFE {
                    assert!(module.interface_with(flag).is_none(), "flag {flag:#x}");
                }
            }
            assert!(module.interface_with(CKF_INTERFACE_FORK_SAFE).is_some());
            // Every operation at once, with flags that name none.
            let mut mechanism = plain(CKM_SHA256);
            assert_eq!(call!(module, C_DigestInit, session, &mut mechanism), CKR_OK);
            assert_eq!(call!(module, C_SessionCancel, session, 0), CKR_OK);
            assert_eq!(call!(module, C_DigestInit, session, &mut mechanism), CKR_OPERATION_ACTIVE);
            assert_eq!(call!(module, C_SessionCancel, session, MAX), CKR_OK);
            assert_eq!(call!(module, C_DigestInit, session, &mut mechanism), CKR_OK);
            let mut flags = MAX;
            assert_eq!(call!(module, C_GetSessionValidationFlags, session, MAX, &mut flags), CKR_OK);
            assert_eq!(flags, 0);
        },
    );
}

#[test]
fn attributes_with_numbers_without_a_meaning_make_nothing() {
    isolated(
        "bad_input::numbers::attributes_with_numbers_without_a_meaning_make_nothing",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let invalid = [
                CKR_ATTRIBUTE_VALUE_INVALID,
                CKR_ATTRIBUTE_TYPE_INVALID,
                CKR_TEMPLATE_INCONSISTENT,
                CKR_KEY_SIZE_RANGE,
            ];
            let base = || Template::default().bytes(CKA_LABEL, b"made");
            let aes = || base().number(CKA_VALUE_LEN, 32);
            for template in [
                base().number(CKA_VALUE_LEN, MAX),
                base().number(CKA_VALUE_LEN, 0),
                base().number(CKA_VALUE_LEN, 1 << 32),
                base().bytes(CKA_VALUE_LEN, &[32]),
                base().bytes(CKA_VALUE_LEN, &[32, 0, 0, 0, 0, 0, 0]),
                base().bytes(CKA_VALUE_LEN, &[]),
                aes().number(CKA_CLASS, MAX),
                aes().number(CKA_KEY_TYPE, MAX),
                aes().number(MAX, MAX),
                aes().bytes(CKA_TOKEN, &[]),
                aes().bytes(CKA_TOKEN, &[1, 0]),
                aes().number(CKA_TOKEN, MAX),
                aes().bytes(CKA_START_DATE, b"2026010"),
            ] {
                let made = generate(&module, session, CKM_AES_KEY_GEN, template.clone());
                assert!(made.is_err_and(|code| invalid.contains(&code)), "{:?}: {made:x?}", template.0);
            }
            for bits in [0, 1, 511, 8193, 1 << 32, MAX - 7, MAX] {
                let public = base().number(CKA_MODULUS_BITS, bits);
                let kind = CKM_RSA_PKCS_KEY_PAIR_GEN;
                let made = generate_pair(&module, session, kind, public, base());
                assert!(made.is_err_and(|code| invalid.contains(&code)), "{bits}: {made:x?}");
            }
            for curve in [&[][..], &[6], &[6, 255], &[6, 0x84, 255, 255, 255, 255], &[5, 0], &[0; 64]] {
                let public = base().bytes(CKA_EC_PARAMS, curve);
                let made = generate_pair(&module, session, CKM_EC_KEY_PAIR_GEN, public, base());
                assert!(made.is_err(), "{curve:?}");
            }
            for class in [CKO_SECRET_KEY, CKO_PUBLIC_KEY, CKO_PRIVATE_KEY] {
                assert!(module.find(session, class, "made").is_none(), "class {class}");
            }
        },
    );
}

#[test]
fn an_unknown_attribute_is_asked_for_and_found_nowhere() {
    isolated(
        "bad_input::numbers::an_unknown_attribute_is_asked_for_and_found_nowhere",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let key = aes_key(&module, session, &[]);
            let mut value = [7_u8; 8];
            let mut asked =
                [attribute(MAX, value.as_mut_ptr().cast(), 8), attribute(CKA_CLASS, null_mut(), 0)];
            let answer = call!(module, C_GetAttributeValue, session, key, asked.as_mut_ptr(), 2);
            assert_eq!((answer, value), (CKR_ATTRIBUTE_TYPE_INVALID, [7; 8]));
            assert_eq!(asked.map(|entry| entry.ulValueLen), [MAX, size_of::<CK_ULONG>() as CK_ULONG]);
            let set = call!(module, C_SetAttributeValue, session, key, asked.as_mut_ptr(), 1);
            assert!([CKR_ATTRIBUTE_TYPE_INVALID, CKR_ATTRIBUTE_VALUE_INVALID].contains(&set), "{set:#x}");
            // A search for it finds nothing. The count of handles is more than memory has.
            asked[0] = attribute(MAX, value.as_mut_ptr().cast(), 8);
            assert_eq!(call!(module, C_FindObjectsInit, session, asked.as_mut_ptr(), 1), CKR_OK);
            let (mut found, mut count) = ([MAX; 4], MAX);
            assert_eq!(call!(module, C_FindObjects, session, found.as_mut_ptr(), MAX, &mut count), CKR_OK);
            assert_eq!((count, found), (0, [MAX; 4]));
            assert_eq!(call!(module, C_FindObjectsFinal, session), CKR_OK);
        },
    );
}

#[test]
fn fields_of_parameters_without_a_meaning_are_rejected() {
    isolated(
        "bad_input::numbers::fields_of_parameters_without_a_meaning_are_rejected",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let cipher = aes_key(&module, session, &[CKA_ENCRYPT, CKA_DECRYPT, CKA_SIGN]);
            let pair = Template::default().number(CKA_MODULUS_BITS, 2048).flags(&[CKA_ENCRYPT]);
            let private = Template::default().flags(&[CKA_SIGN, CKA_DECRYPT]);
            let (public, private) =
                generate_pair(&module, session, CKM_RSA_PKCS_KEY_PAIR_GEN, pair, private).unwrap();
            let secret = Template::default().number(CKA_VALUE_LEN, 32).flags(&[CKA_SIGN, CKA_DERIVE]);
            let secret = generate(&module, session, CKM_GENERIC_SECRET_KEY_GEN, secret).unwrap();
            let invalid = CKR_MECHANISM_PARAM_INVALID;
            for len in [0, 33, 1 << 32, MAX] {
                for (kind, key) in [(CKM_SHA256_HMAC_GENERAL, secret), (CKM_AES_CMAC_GENERAL, cipher)] {
                    let begun = call!(module, C_SignInit, session, &mut with_parameter(kind, &len), key);
                    assert_eq!(begun, invalid, "a MAC of {len} bytes");
                }
            }
            for bits in [0, 129, 1 << 32, MAX] {
                let counter = CK_AES_CTR_PARAMS { ulCounterBits: bits, cb: [0; 16] };
                let mechanism = &mut with_parameter(CKM_AES_CTR, &counter);
                assert_eq!(call!(module, C_EncryptInit, session, mechanism, cipher), invalid, "{bits} bits");
            }
            let good = CK_RSA_PKCS_PSS_PARAMS { hashAlg: CKM_SHA256, mgf: CKG_MGF1_SHA256, sLen: 32 };
            for wrong in [
                CK_RSA_PKCS_PSS_PARAMS { hashAlg: MAX, ..good },
                CK_RSA_PKCS_PSS_PARAMS { hashAlg: CKM_AES_CBC, ..good },
                CK_RSA_PKCS_PSS_PARAMS { mgf: 0, ..good },
                CK_RSA_PKCS_PSS_PARAMS { mgf: MAX, ..good },
                CK_RSA_PKCS_PSS_PARAMS { sLen: MAX, ..good },
                CK_RSA_PKCS_PSS_PARAMS { sLen: 1 << 32, ..good },
            ] {
                let mechanism = &mut with_parameter(CKM_SHA256_RSA_PKCS_PSS, &wrong);
                let begun = call!(module, C_SignInit, session, mechanism, private);
                assert_eq!(begun, invalid, "{wrong:?}");
            }
            let good = CK_RSA_PKCS_OAEP_PARAMS {
                hashAlg: CKM_SHA256,
                mgf: CKG_MGF1_SHA256,
                source: CKZ_DATA_SPECIFIED,
                pSourceData: null_mut(),
                ulSourceDataLen: 0,
            };
            for wrong in [
                CK_RSA_PKCS_OAEP_PARAMS { hashAlg: MAX, ..good },
                CK_RSA_PKCS_OAEP_PARAMS { mgf: MAX, ..good },
                CK_RSA_PKCS_OAEP_PARAMS { source: MAX, ..good },
                CK_RSA_PKCS_OAEP_PARAMS { ulSourceDataLen: MAX, ..good },
                CK_RSA_PKCS_OAEP_PARAMS { ulSourceDataLen: 1, ..good },
            ] {
                let mechanism = &mut with_parameter(CKM_RSA_PKCS_OAEP, &wrong);
                let begun = call!(module, C_EncryptInit, session, mechanism, public);
                assert_eq!(begun, invalid, "{wrong:?}");
            }
            for (pointer, len) in [(null(), 1), (null(), MAX), (b"x".as_ptr(), MAX)] {
                let data = CK_KEY_DERIVATION_STRING_DATA { pData: pointer.cast_mut(), ulLen: len };
                let (mechanism, mut key) = (&mut with_parameter(CKM_XOR_BASE_AND_DATA, &data), 0);
                let derived = call!(module, C_DeriveKey, session, mechanism, secret, null_mut(), 0, &mut key);
                assert_eq!((derived, key), (invalid, 0));
            }
            for wrong in [0, 1 << 40, MAX] {
                let (mechanism, mut key) = (&mut with_parameter(CKM_CONCATENATE_BASE_AND_KEY, &wrong), 0);
                let derived = call!(module, C_DeriveKey, session, mechanism, secret, null_mut(), 0, &mut key);
                assert_eq!((derived, key), (CKR_KEY_HANDLE_INVALID, 0), "a second key {wrong:#x}");
            }
        },
    );
}

#[test]
fn a_pin_without_a_pointer_is_rejected_and_no_try() {
    isolated(
        "bad_input::numbers::a_pin_without_a_pointer_is_rejected_and_no_try",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            assert_eq!(call!(module, C_Logout, session), CKR_OK);
            let (pin, label) = (USER_PIN.as_ptr().cast_mut(), [b' '; 32].as_ptr().cast_mut());
            // The token has no keypad, on which a user types the PIN if the pointer is null.
            for _ in 0..12 {
                for user in [CKU_USER, CKU_SO] {
                    let login = call!(module, C_Login, session, user, null_mut(), 0);
                    assert!([CKR_ARGUMENTS_BAD, CKR_PIN_LEN_RANGE].contains(&login), "{login:#x}");
                    assert_eq!(call!(module, C_Login, session, user, pin, MAX), CKR_ARGUMENTS_BAD);
                }
                let set = call!(module, C_SetPIN, session, null_mut(), 0, pin, 8);
                assert!([CKR_ARGUMENTS_BAD, CKR_PIN_LEN_RANGE].contains(&set), "{set:#x}");
                let set = call!(module, C_SetPIN, session, pin, 8, null_mut(), 0);
                assert!([CKR_ARGUMENTS_BAD, CKR_PIN_LEN_RANGE].contains(&set), "{set:#x}");
            }
            assert_eq!(call!(module, C_CloseAllSessions, 0), CKR_OK);
            let made = call!(module, C_InitToken, 0, null_mut(), 0, label);
            assert!([CKR_ARGUMENTS_BAD, CKR_PIN_LEN_RANGE].contains(&made), "{made:#x}");
            let session = module.open(0, 0);
            assert_eq!(call!(module, C_Login, session, CKU_USER, pin, 8), CKR_OK, "no try was counted");
        },
    );
}
