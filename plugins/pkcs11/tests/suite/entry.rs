//! The tables, called as a C program may call them: with wrong pointers, lengths, handles and parameters.

use std::ptr::null_mut;

use cryptoki_sys::*;

use crate::call;
use crate::common::objects::{aes_key, gcm_parameters, with_parameter};
use crate::common::raw::{RawModule, attribute, logged_in, plain};
use crate::common::{KEYS, STORE, isolated};

fn padded_text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn nothing_works_before_initialisation() {
    isolated(
        "entry::nothing_works_before_initialisation",
        KEYS,
        |_| (),
        |_| {
            let module = RawModule::load();
            let mut count = 0;
            let not = CKR_CRYPTOKI_NOT_INITIALIZED;
            assert_eq!(call!(module, C_GetSlotList, 0, null_mut(), &mut count), not);
            assert_eq!(call!(module, C_GetInfo, null_mut()), not);
            assert_eq!(call!(module, C_CloseSession, 1), not);
            assert_eq!(call!(module, C_SignInit, 1, null_mut(), 1), not);
            assert_eq!(
                call!(
                    module,
                    C_EncapsulateKey,
                    1,
                    null_mut(),
                    1,
                    null_mut(),
                    0,
                    null_mut(),
                    null_mut(),
                    null_mut()
                ),
                not
            );
            assert_eq!(module.finalize(), not);
            assert_eq!(call!(module, C_Finalize, (&raw mut count).cast()), CKR_ARGUMENTS_BAD);
            assert_eq!(module.initialize(), CKR_OK);
            assert_eq!(module.initialize(), CKR_CRYPTOKI_ALREADY_INITIALIZED);
            assert_eq!(module.finalize(), CKR_OK);
            assert_eq!(module.initialize(), CKR_OK);
        },
    );
}

#[test]
fn every_interface_is_found() {
    isolated(
        "entry::every_interface_is_found",
        KEYS,
        |_| (),
        |_| {
            let module = RawModule::load();
            assert!(module.interface(Some("PKCS 11\0")).is_some());
            assert!(module.interface(Some("Vendor Oarlock\0")).is_some());
            assert!(module.interface(Some("Vendor Other\0")).is_none());
            let interface = module.interface(None).unwrap();
            assert_eq!(interface.flags, CKF_INTERFACE_FORK_SAFE);
            let mut count = 0;
            assert_eq!(call!(module, C_GetInterfaceList, null_mut(), &mut count), CKR_OK);
            assert_eq!(count, 4);
            let mut list = [interface; 4];
            count = 3;
            assert_eq!(
                call!(module, C_GetInterfaceList, list.as_mut_ptr(), &mut count),
                CKR_BUFFER_TOO_SMALL
            );
            assert_eq!(count, 4);
            assert_eq!(call!(module, C_GetInterfaceList, list.as_mut_ptr(), &mut count), CKR_OK);
            assert_eq!(call!(module, C_GetInterfaceList, null_mut(), null_mut()), CKR_ARGUMENTS_BAD);
            assert_eq!(call!(module, C_GetFunctionList, null_mut()), CKR_ARGUMENTS_BAD);
            let mut old: *mut CK_FUNCTION_LIST = null_mut();
            assert_eq!(call!(module, C_GetFunctionList, &mut old), CKR_OK);
            // SAFETY: the module has written the address of its table.
            let version = unsafe { (*old).version };
            assert_eq!((version.major, version.minor), (2, 40));
        },
    );
}

#[test]
fn texts_are_padded_with_blanks() {
    isolated(
        "entry::texts_are_padded_with_blanks",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            // SAFETY: structures of numbers and texts, for which zero is a value.
            let (mut info, mut slot, mut token): (CK_INFO, CK_SLOT_INFO, CK_TOKEN_INFO) =
                unsafe { (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed()) };
            assert_eq!(call!(module, C_GetInfo, &mut info), CKR_OK);
            assert_eq!(padded_text(&info.manufacturerID), format!("{:32}", "Oarlock"));
            assert_eq!((info.cryptokiVersion.major, info.cryptokiVersion.minor), (3, 2));
            assert_eq!(call!(module, C_GetSlotInfo, 0, &mut slot), CKR_OK);
            assert!(padded_text(&slot.slotDescription).starts_with("Key files in "));
            assert_eq!(call!(module, C_GetTokenInfo, 0, &mut token), CKR_OK);
            assert_eq!(padded_text(&token.label), format!("{:32}", "test keys"));
            assert_ne!(token.flags & CKF_WRITE_PROTECTED, 0);
            assert_eq!(call!(module, C_GetSlotInfo, 1, &mut slot), CKR_SLOT_ID_INVALID);
            assert_eq!(call!(module, C_GetSlotInfo, 0, null_mut()), CKR_ARGUMENTS_BAD);
        },
    );
}

#[test]
fn null_pointers_with_lengths_never_crash() {
    isolated(
        "entry::null_pointers_with_lengths_never_crash",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let key = aes_key(&module, session, &[CKA_ENCRYPT, CKA_DECRYPT]);
            for len in [1, 12, CK_ULONG::MAX / 2, CK_ULONG::MAX] {
                gcm_with_null_pointers(&module, session, key, len);
                let bad = [CKR_ARGUMENTS_BAD, CKR_ATTRIBUTE_VALUE_INVALID, CKR_TEMPLATE_INCOMPLETE];
                let mut found = 0;
                let mut template = [attribute(CKA_LABEL, null_mut(), len as usize)];
                for (list, count) in [(template.as_mut_ptr(), 1), (null_mut(), len)] {
                    let made = call!(module, C_CreateObject, session, list, count, &mut found);
                    assert!(bad.contains(&made), "{made:#x}");
                    let sought = call!(module, C_FindObjectsInit, session, list, count);
                    assert!(bad.contains(&sought), "{sought:#x}");
                    let set = call!(module, C_SetAttributeValue, session, key, list, count);
                    assert!(bad.contains(&set), "{set:#x}");
                }
                assert_eq!(
                    call!(module, C_GetAttributeValue, session, key, null_mut(), len),
                    CKR_ARGUMENTS_BAD
                );
                assert_eq!(call!(module, C_DigestUpdate, session, null_mut(), len), CKR_ARGUMENTS_BAD);
                assert_eq!(call!(module, C_GenerateRandom, session, null_mut(), len), CKR_ARGUMENTS_BAD);
                assert_eq!(call!(module, C_SeedRandom, session, null_mut(), len), CKR_ARGUMENTS_BAD);
                assert_eq!(call!(module, C_Login, session, CKU_USER, null_mut(), len), CKR_ARGUMENTS_BAD);
                assert_eq!(
                    call!(module, C_Verify, session, null_mut(), len, null_mut(), len),
                    CKR_ARGUMENTS_BAD
                );
            }
            assert_eq!(call!(module, C_FindObjects, session, null_mut(), 5, null_mut()), CKR_ARGUMENTS_BAD);
            assert_eq!(call!(module, C_OpenSession, 0, 4, null_mut(), None, null_mut()), CKR_ARGUMENTS_BAD);
            assert_eq!(call!(module, C_GetSessionInfo, session, null_mut()), CKR_ARGUMENTS_BAD);
            assert_eq!(call!(module, C_WaitForSlotEvent, 1, null_mut(), null_mut()), CKR_ARGUMENTS_BAD);
            assert_eq!(call!(module, C_AsyncComplete, session, null_mut(), null_mut()), CKR_ARGUMENTS_BAD);
            assert_eq!(call!(module, C_InitToken, 0, null_mut(), 0, null_mut()), CKR_ARGUMENTS_BAD);
        },
    );
}

/// The parameters on which other modules die.
fn gcm_with_null_pointers(
    module: &RawModule,
    session: CK_SESSION_HANDLE,
    key: CK_OBJECT_HANDLE,
    len: CK_ULONG,
) {
    let iv = [1; 12];
    let good = gcm_parameters(&iv);
    for wrong in [
        CK_GCM_PARAMS { pIv: null_mut(), ulIvLen: len, ..good },
        CK_GCM_PARAMS { pAAD: null_mut(), ulAADLen: len, ..good },
        CK_GCM_PARAMS { pIv: null_mut(), ulIvLen: len, ulAADLen: len, ..good },
    ] {
        let mut mechanism = with_parameter(CKM_AES_GCM, &wrong);
        for result in [
            call!(module, C_EncryptInit, session, &mut mechanism, key),
            call!(module, C_DecryptInit, session, &mut mechanism, key),
        ] {
            assert_eq!(result, CKR_MECHANISM_PARAM_INVALID);
        }
    }
    let mut mechanism = CK_MECHANISM { mechanism: CKM_AES_GCM, pParameter: null_mut(), ulParameterLen: len };
    assert_eq!(call!(module, C_EncryptInit, session, &mut mechanism, key), CKR_MECHANISM_PARAM_INVALID);
}

#[test]
fn structures_and_numbers_need_no_alignment() {
    isolated(
        "entry::structures_and_numbers_need_no_alignment",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let key = aes_key(&module, session, &[CKA_ENCRYPT, CKA_DECRYPT]);
            let iv = [3_u8; 16];
            let mechanism = with_parameter(CKM_AES_CBC, &iv);
            let mut memory = [0_u8; 1 + size_of::<CK_MECHANISM>()];
            let unaligned = memory[1..].as_mut_ptr().cast::<CK_MECHANISM>();
            // SAFETY: there is space for the structure behind the first byte.
            unsafe { unaligned.write_unaligned(mechanism) };
            assert_eq!(call!(module, C_EncryptInit, session, unaligned, key), CKR_OK);
            let (data, mut out, mut len) = ([7_u8; 32], [0_u8; 41], [0_u8; 9]);
            len[1..].copy_from_slice(&32_u64.to_ne_bytes());
            let unaligned_len = len[1..].as_mut_ptr().cast::<CK_ULONG>();
            let out = out[1..].as_mut_ptr();
            let data = data.as_ptr().cast_mut();
            assert_eq!(call!(module, C_Encrypt, session, data, 32, out, unaligned_len), CKR_OK);
            assert_eq!(len[1..], 32_u64.to_ne_bytes());
        },
    );
}

#[test]
fn encryption_in_place_gives_the_same_result() {
    isolated(
        "entry::encryption_in_place_gives_the_same_result",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let key = aes_key(&module, session, &[CKA_ENCRYPT, CKA_DECRYPT]);
            let iv = [3_u8; 16];
            let mut mechanism = with_parameter(CKM_AES_CBC, &iv);
            let (mut buffer, mut apart): (Vec<u8>, [u8; 64]) = ((0..64).collect(), [0; 64]);
            let (data, mut len) = (buffer.as_mut_ptr(), 64);
            assert_eq!(call!(module, C_EncryptInit, session, &mut mechanism, key), CKR_OK);
            assert_eq!(call!(module, C_Encrypt, session, data, 64, apart.as_mut_ptr(), &mut len), CKR_OK);
            assert_eq!(call!(module, C_EncryptInit, session, &mut mechanism, key), CKR_OK);
            assert_eq!(call!(module, C_Encrypt, session, data, 64, data, &mut len), CKR_OK);
            assert_eq!(buffer, apart);
        },
    );
}

#[test]
fn an_output_one_byte_short_keeps_the_operation() {
    isolated(
        "entry::an_output_one_byte_short_keeps_the_operation",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let session = module.open_read_only(0);
            let key = module.find(session, CKO_PRIVATE_KEY, "rsa").unwrap();
            let mut mechanism = plain(CKM_SHA256_RSA_PKCS);
            assert_eq!(call!(module, C_SignInit, session, &mut mechanism, key), CKR_OK);
            let (data, mut out, mut len) = (b"data".as_ptr().cast_mut(), [0_u8; 256], 0);
            assert_eq!(call!(module, C_Sign, session, data, 4, null_mut(), &mut len), CKR_OK);
            assert_eq!(len, 256);
            len = 255;
            assert_eq!(
                call!(module, C_Sign, session, data, 4, out.as_mut_ptr(), &mut len),
                CKR_BUFFER_TOO_SMALL
            );
            assert_eq!((len, out), (256, [0; 256]));
            assert_eq!(call!(module, C_Sign, session, data, 4, out.as_mut_ptr(), &mut len), CKR_OK);
            let not = CKR_OPERATION_NOT_INITIALIZED;
            assert_eq!(call!(module, C_Sign, session, data, 4, out.as_mut_ptr(), &mut len), not);
        },
    );
}

#[test]
fn a_null_mechanism_ends_the_operation() {
    isolated(
        "entry::a_null_mechanism_ends_the_operation",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let session = module.open_read_only(0);
            let key = module.find(session, CKO_PRIVATE_KEY, "rsa").unwrap();
            let mut mechanism = plain(CKM_SHA256_RSA_PKCS);
            assert_eq!(call!(module, C_SignInit, session, &mut mechanism, key), CKR_OK);
            let active = call!(module, C_SignInit, session, &mut mechanism, key);
            assert_eq!(active, CKR_OPERATION_ACTIVE);
            assert_eq!(call!(module, C_SignInit, session, null_mut(), 0), CKR_OK);
            assert_eq!(call!(module, C_SignInit, session, &mut mechanism, key), CKR_OK);
            assert_eq!(call!(module, C_SessionCancel, session, CKF_SIGN), CKR_OK);
            let mut len = 0;
            let signed = call!(module, C_Sign, session, null_mut(), 0, null_mut(), &mut len);
            assert_eq!(signed, CKR_OPERATION_NOT_INITIALIZED);
        },
    );
}

#[test]
fn handles_of_others_are_invalid() {
    isolated(
        "entry::handles_of_others_are_invalid",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let session = module.open_read_only(0);
            let key = module.find(session, CKO_PRIVATE_KEY, "rsa").unwrap();
            let mut mechanism = plain(CKM_SHA256_RSA_PKCS);
            for wrong in [0, session + 1, session ^ (1 << 40), CK_SESSION_HANDLE::MAX] {
                let begun = call!(module, C_SignInit, wrong, &mut mechanism, key);
                assert_eq!(begun, CKR_SESSION_HANDLE_INVALID);
            }
            for wrong in [0, key + 0x1000_0000, CK_OBJECT_HANDLE::MAX] {
                let begun = call!(module, C_SignInit, session, &mut mechanism, wrong);
                assert_eq!(begun, CKR_KEY_HANDLE_INVALID);
            }
            assert_eq!(call!(module, C_CloseSession, session), CKR_OK);
            let begun = call!(module, C_SignInit, session, &mut mechanism, key);
            assert_eq!(begun, CKR_SESSION_HANDLE_INVALID);
            assert_eq!(module.finalize(), CKR_OK);
            assert_eq!(module.initialize(), CKR_OK);
            let begun = call!(module, C_SignInit, session, &mut mechanism, key);
            assert_eq!(begun, CKR_SESSION_HANDLE_INVALID, "a handle of the time before C_Finalize");
        },
    );
}

#[test]
fn functions_that_the_module_lacks_say_so() {
    isolated(
        "entry::functions_that_the_module_lacks_say_so",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let session = module.open_read_only(0);
            let not = CKR_FUNCTION_NOT_SUPPORTED;
            assert_eq!(call!(module, C_SignRecoverInit, session, null_mut(), 0), not);
            assert_eq!(call!(module, C_VerifyRecoverInit, session, null_mut(), 0), not);
            assert_eq!(call!(module, C_VerifyRecoverInit, 0, null_mut(), 0), CKR_SESSION_HANDLE_INVALID);
            assert_eq!(call!(module, C_GetFunctionStatus, session), CKR_FUNCTION_NOT_PARALLEL);
            assert_eq!(call!(module, C_CancelFunction, session), CKR_FUNCTION_NOT_PARALLEL);
            let mut len = 0;
            assert_eq!(
                call!(module, C_GetOperationState, session, null_mut(), &mut len),
                CKR_STATE_UNSAVEABLE
            );
            assert_eq!(call!(module, C_AsyncGetID, session, null_mut(), &mut len), CKR_STATE_UNSAVEABLE);
            assert_eq!(
                call!(module, C_AsyncJoin, session, null_mut(), 0, null_mut(), 0),
                CKR_STATE_UNSAVEABLE
            );
            let opened = call!(module, C_OpenSession, 0, 0, null_mut(), None, &mut len);
            assert_eq!(opened, CKR_SESSION_PARALLEL_NOT_SUPPORTED);
        },
    );
}

#[test]
fn a_template_as_a_value_is_kept_and_shown() {
    isolated(
        "entry::a_template_as_a_value_is_kept_and_shown",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let (mut yes, mut len, mut label) = (1_u8, 16 as CK_ULONG, *b"mail");
            let mut inner = [
                attribute(CKA_SIGN, (&raw mut yes).cast(), 1),
                attribute(CKA_LABEL, label.as_mut_ptr().cast(), 4),
            ];
            let inner_len = size_of_val(&inner);
            let mut template = [
                attribute(CKA_TOKEN, (&raw mut yes).cast(), 1),
                attribute(CKA_VALUE_LEN, (&raw mut len).cast(), size_of::<CK_ULONG>()),
                attribute(CKA_WRAP, (&raw mut yes).cast(), 1),
                attribute(CKA_WRAP_TEMPLATE, inner.as_mut_ptr().cast(), inner_len),
            ];
            let (mut mechanism, mut key) = (plain(CKM_AES_KEY_GEN), 0);
            let made =
                call!(module, C_GenerateKey, session, &mut mechanism, template.as_mut_ptr(), 4, &mut key);
            assert_eq!(made, CKR_OK);
            template[3].ulValueLen -= 1;
            let odd =
                call!(module, C_GenerateKey, session, &mut mechanism, template.as_mut_ptr(), 4, &mut key);
            assert_eq!(odd, CKR_ATTRIBUTE_VALUE_INVALID);
            let mut asked = [attribute(CKA_WRAP_TEMPLATE, null_mut(), 0)];
            let ask = |asked: &mut [CK_ATTRIBUTE; 1]| {
                call!(module, C_GetAttributeValue, session, key, asked.as_mut_ptr(), 1)
            };
            assert_eq!((ask(&mut asked), asked[0].ulValueLen), (CKR_OK, inner_len as CK_ULONG));
            let (mut first, mut second) = ([0_u8; 4], [0_u8; 4]);
            let mut shown = [attribute(0, null_mut(), 0), attribute(0, second.as_mut_ptr().cast(), 1)];
            let list = |shown: &mut [CK_ATTRIBUTE; 2], len| {
                [attribute(CKA_WRAP_TEMPLATE, shown.as_mut_ptr().cast(), len)]
            };
            assert_eq!(ask(&mut list(&mut shown, inner_len)), CKR_OK);
            // In the order of the types.
            assert_eq!(shown.map(|entry| (entry.type_, entry.ulValueLen)), [(CKA_LABEL, 4), (CKA_SIGN, 1)]);
            assert_eq!(second[0], 1);
            shown[0] = attribute(0, first.as_mut_ptr().cast(), 3);
            assert_eq!(ask(&mut list(&mut shown, inner_len)), CKR_BUFFER_TOO_SMALL);
            assert_eq!((shown[0].ulValueLen, first), (CK_ULONG::MAX, [0; 4]));
            shown[0] = attribute(0, first.as_mut_ptr().cast(), 4);
            assert_eq!((ask(&mut list(&mut shown, inner_len)), &first), (CKR_OK, b"mail"));
            assert_eq!(ask(&mut list(&mut shown, inner_len - 1)), CKR_BUFFER_TOO_SMALL);
        },
    );
}

#[test]
fn bad_parameters_of_messages_never_crash() {
    isolated(
        "entry::bad_parameters_of_messages_never_crash",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let key = aes_key(&module, session, &[CKA_ENCRYPT, CKA_DECRYPT]);
            let mut mechanism = plain(CKM_AES_GCM);
            // The parameter of the mechanism is not read.
            mechanism.pParameter = std::ptr::dangling_mut::<u8>().cast();
            mechanism.ulParameterLen = size_of::<CK_GCM_MESSAGE_PARAMS>() as CK_ULONG;
            assert_eq!(call!(module, C_MessageEncryptInit, session, &mut mechanism, key), CKR_OK);
            let (mut iv, mut tag, mut out, mut len) = ([7_u8; 12], [0_u8; 16], [0_u8; 4], 4);
            let good = CK_GCM_MESSAGE_PARAMS {
                pIv: iv.as_mut_ptr(),
                ulIvLen: 12,
                ulIvFixedBits: 0,
                ivGenerator: CKG_GENERATE,
                pTag: tag.as_mut_ptr(),
                ulTagBits: 128,
            };
            let seal = |mut parameters: CK_GCM_MESSAGE_PARAMS,
                        size: usize,
                        out: *mut u8,
                        len: *mut CK_ULONG| {
                let (data, parameter) = (b"data".as_ptr().cast_mut(), (&raw mut parameters).cast());
                let size = size as CK_ULONG;
                call!(module, C_EncryptMessage, session, parameter, size, null_mut(), 0, data, 4, out, len)
            };
            let size = size_of::<CK_GCM_MESSAGE_PARAMS>();
            for bad in [
                CK_GCM_MESSAGE_PARAMS { pIv: null_mut(), ..good },
                CK_GCM_MESSAGE_PARAMS { pTag: null_mut(), ..good },
                CK_GCM_MESSAGE_PARAMS { ulIvLen: CK_ULONG::MAX, ..good },
                CK_GCM_MESSAGE_PARAMS { ulIvLen: 0, ..good },
                CK_GCM_MESSAGE_PARAMS { ulTagBits: 127, ..good },
                CK_GCM_MESSAGE_PARAMS { ulTagBits: 136, ..good },
                CK_GCM_MESSAGE_PARAMS { ulIvFixedBits: CK_ULONG::MAX, ..good },
                CK_GCM_MESSAGE_PARAMS { ivGenerator: CKG_GENERATE_COUNTER_XOR, ..good },
            ] {
                assert_eq!(seal(bad, size, out.as_mut_ptr(), &mut len), CKR_MECHANISM_PARAM_INVALID);
            }
            for wrong in [0, 1, size - 1, size + 1] {
                assert_eq!(seal(good, wrong, out.as_mut_ptr(), &mut len), CKR_MECHANISM_PARAM_INVALID);
            }
            assert_eq!(seal(good, size, null_mut(), &mut len), CKR_OK);
            assert_eq!((len, iv), (4, [7; 12]), "a call for the length makes no IV");
            len = 3;
            assert_eq!(seal(good, size, out.as_mut_ptr(), &mut len), CKR_BUFFER_TOO_SMALL);
            assert_eq!((len, iv), (4, [7; 12]));
            assert_eq!(seal(good, size, out.as_mut_ptr(), &mut len), CKR_OK);
            assert_ne!(iv, [7; 12]);
            assert_ne!(tag, [0; 16]);
            let next = call!(
                module,
                C_EncryptMessageNext,
                session,
                (&raw const good).cast_mut().cast(),
                size as CK_ULONG,
                out.as_mut_ptr(),
                4,
                out.as_mut_ptr(),
                &mut len,
                2
            );
            assert_eq!(next, CKR_ARGUMENTS_BAD, "an unknown flag");
            let mut mechanism = plain(CKM_AES_CMAC);
            assert_eq!(call!(module, C_MessageSignInit, session, &mut mechanism, key), CKR_OK);
            let signed = call!(
                module,
                C_SignMessage,
                session,
                tag.as_mut_ptr().cast(),
                1,
                out.as_mut_ptr(),
                4,
                tag.as_mut_ptr(),
                &mut len
            );
            assert_eq!(signed, CKR_MECHANISM_PARAM_INVALID);
            assert_eq!(call!(module, C_MessageEncryptInit, session, null_mut(), 0), CKR_OK);
            assert_eq!(call!(module, C_MessageEncryptFinal, session), CKR_OPERATION_NOT_INITIALIZED);
        },
    );
}

#[test]
fn without_settings_there_are_no_slots() {
    isolated(
        "entry::without_settings_there_are_no_slots",
        "",
        |_| (),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let mut count = 7;
            assert_eq!(call!(module, C_GetSlotList, 0, null_mut(), &mut count), CKR_OK);
            assert_eq!(count, 0);
            assert_eq!(
                call!(module, C_WaitForSlotEvent, CKF_DONT_BLOCK, &mut count, null_mut()),
                CKR_NO_EVENT
            );
        },
    );
}

#[test]
fn wrong_settings_are_a_general_error() {
    isolated(
        "entry::wrong_settings_are_a_general_error",
        "[[slot]]\nkind = \"disk\"\n",
        |_| (),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_GENERAL_ERROR);
            assert_eq!(module.finalize(), CKR_CRYPTOKI_NOT_INITIALIZED);
        },
    );
}
