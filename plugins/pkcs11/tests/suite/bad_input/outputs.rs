//! Outputs one byte short: the function says how many bytes it needs, writes nothing, and the operation continues.

use std::ptr::null_mut;

use cryptoki_sys::*;

use crate::call;
use crate::common::objects::{Template, aes_key, generate, no_peer, p256_pair, with_parameter};
use crate::common::raw::{RawModule, attribute, logged_in, plain};
use crate::common::{STORE, isolated};

/// The content of a buffer that nobody has written.
const UNTOUCHED: u8 = 0xA5;

/// Asks for the length of an output, tries a buffer one byte shorter than the output, and then takes it.
#[track_caller]
fn take(len: usize, mut call: impl FnMut(*mut u8, *mut CK_ULONG) -> CK_RV) -> Vec<u8> {
    let mut asked = 0;
    assert_eq!(call(null_mut(), &mut asked), CKR_OK);
    let max = asked as usize;
    assert!(max >= len, "{max} bytes are announced for an output of {len}");
    let mut buffer = vec![UNTOUCHED; max];
    let mut short = len as CK_ULONG - 1;
    assert_eq!(call(buffer.as_mut_ptr(), &mut short), CKR_BUFFER_TOO_SMALL);
    assert!(short as usize >= len, "{short} of {len}");
    assert!(buffer.iter().all(|byte| *byte == UNTOUCHED), "something was written");
    let mut space = len as CK_ULONG;
    assert_eq!(call(buffer.as_mut_ptr(), &mut space), CKR_OK);
    assert_eq!(space as usize, len);
    buffer.truncate(len);
    assert!(buffer.iter().any(|byte| *byte != UNTOUCHED), "nothing was written");
    buffer
}

#[test]
fn a_cipher_and_its_last_piece_keep_the_operation() {
    isolated(
        "bad_input::outputs::a_cipher_and_its_last_piece_keep_the_operation",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let key = aes_key(&module, session, &[CKA_ENCRYPT, CKA_DECRYPT]);
            let (plaintext, iv) = ([7_u8; 20], [3_u8; 16]);
            let data = plaintext.as_ptr().cast_mut();
            let mut mechanism = with_parameter(CKM_AES_CBC_PAD, &iv);
            assert_eq!(call!(module, C_EncryptInit, session, &mut mechanism, key), CKR_OK);
            let whole = take(32, |out, len| call!(module, C_Encrypt, session, data, 20, out, len));
            assert_eq!(call!(module, C_EncryptInit, session, &mut mechanism, key), CKR_OK);
            let mut pieces = take(16, |out, len| call!(module, C_EncryptUpdate, session, data, 20, out, len));
            pieces.extend(take(16, |out, len| call!(module, C_EncryptFinal, session, out, len)));
            assert_eq!(pieces, whole);

            let sealed = whole.as_ptr().cast_mut();
            assert_eq!(call!(module, C_DecryptInit, session, &mut mechanism, key), CKR_OK);
            let opened = take(20, |out, len| call!(module, C_Decrypt, session, sealed, 32, out, len));
            assert_eq!(opened, plaintext);
            assert_eq!(call!(module, C_DecryptInit, session, &mut mechanism, key), CKR_OK);
            let mut opened =
                take(16, |out, len| call!(module, C_DecryptUpdate, session, sealed, 32, out, len));
            opened.extend(take(4, |out, len| call!(module, C_DecryptFinal, session, out, len)));
            assert_eq!(opened, plaintext);
        },
    );
}

#[test]
fn digests_and_signatures_keep_the_operation() {
    isolated(
        "bad_input::outputs::digests_and_signatures_keep_the_operation",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let data = b"data".as_ptr().cast_mut();
            for (kind, len) in [(CKM_SHA256, 32), (CKM_SHA3_512, 64)] {
                let mut mechanism = plain(kind);
                assert_eq!(call!(module, C_DigestInit, session, &mut mechanism), CKR_OK);
                let whole = take(len, |out, len| call!(module, C_Digest, session, data, 4, out, len));
                assert_eq!(call!(module, C_DigestInit, session, &mut mechanism), CKR_OK);
                assert_eq!(call!(module, C_DigestUpdate, session, data, 4), CKR_OK);
                assert_eq!(take(len, |out, len| call!(module, C_DigestFinal, session, out, len)), whole);
            }
            let secret = Template::default().number(CKA_VALUE_LEN, 32).flags(&[CKA_SIGN, CKA_VERIFY]);
            let secret = generate(&module, session, CKM_GENERIC_SECRET_KEY_GEN, secret).unwrap();
            let (public, private) = p256_pair(&module, session, &[CKA_VERIFY], &[CKA_SIGN]);
            for (kind, key, len) in [(CKM_SHA256_HMAC, secret, 32), (CKM_ECDSA_SHA256, private, 64)] {
                let mut mechanism = plain(kind);
                assert_eq!(call!(module, C_SignInit, session, &mut mechanism, key), CKR_OK);
                let signature = take(len, |out, len| call!(module, C_Sign, session, data, 4, out, len));
                let verifier = if key == private { public } else { key };
                assert_eq!(module.verify(session, kind, verifier, b"data", &signature), CKR_OK);
                assert_eq!(call!(module, C_SignInit, session, &mut mechanism, key), CKR_OK);
                assert_eq!(call!(module, C_SignUpdate, session, data, 4), CKR_OK);
                let signature = take(len, |out, len| call!(module, C_SignFinal, session, out, len));
                assert_eq!(module.verify(session, kind, verifier, b"data", &signature), CKR_OK);
                assert_eq!(call!(module, C_MessageSignInit, session, &mut mechanism, key), CKR_OK);
                let signature = take(len, |out, len| {
                    call!(module, C_SignMessage, session, null_mut(), 0, data, 4, out, len)
                });
                assert_eq!(module.verify(session, kind, verifier, b"data", &signature), CKR_OK);
                assert_eq!(call!(module, C_MessageSignFinal, session), CKR_OK);
            }
        },
    );
}

#[test]
fn wrapped_and_encapsulated_keys_make_nothing_until_there_is_space() {
    isolated(
        "bad_input::outputs::wrapped_and_encapsulated_keys_make_nothing_until_there_is_space",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let wrapping = aes_key(&module, session, &[CKA_WRAP]);
            let wrapped = aes_key(&module, session, &[CKA_EXTRACTABLE]);
            let mut mechanism = plain(CKM_AES_KEY_WRAP);
            take(40, |out, len| {
                call!(module, C_WrapKey, session, &mut mechanism, wrapping, wrapped, out, len)
            });

            let (public, _) = p256_pair(&module, session, &[CKA_ENCAPSULATE], &[]);
            let parameters = no_peer();
            let mut mechanism = with_parameter(CKM_ECDH1_DERIVE, &parameters);
            let mut template = Template::default()
                .number(CKA_CLASS, CKO_SECRET_KEY)
                .number(CKA_KEY_TYPE, CKK_GENERIC_SECRET)
                .number(CKA_VALUE_LEN, 32)
                .bytes(CKA_LABEL, b"encapsulated");
            let (mut list, mut key) = (template.list(), 0);
            let count = list.len() as CK_ULONG;
            let found = |module: &RawModule| module.find(session, CKO_SECRET_KEY, "encapsulated").is_some();
            take(65, |out, len| {
                assert!(!found(&module), "a call for the length, or a short buffer, made a key");
                let list = list.as_mut_ptr();
                call!(
                    module,
                    C_EncapsulateKey,
                    session,
                    &mut mechanism,
                    public,
                    list,
                    count,
                    out,
                    len,
                    &mut key
                )
            });
            assert!(found(&module));
        },
    );
}

#[test]
fn lists_and_attributes_say_how_much_they_need() {
    isolated(
        "bad_input::outputs::lists_and_attributes_say_how_much_they_need",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let (mut count, mut slots, mut kinds) = (0, [99; 1], [99; 200]);
            let listed = call!(module, C_GetSlotList, 0, slots.as_mut_ptr(), &mut count);
            assert_eq!((listed, count, slots), (CKR_BUFFER_TOO_SMALL, 1, [99]));
            assert_eq!(call!(module, C_GetMechanismList, 0, null_mut(), &mut count), CKR_OK);
            let all = count;
            count -= 1;
            let listed = call!(module, C_GetMechanismList, 0, kinds.as_mut_ptr(), &mut count);
            assert_eq!((listed, count, kinds), (CKR_BUFFER_TOO_SMALL, all, [99; 200]));

            let template = Template::default().number(CKA_VALUE_LEN, 32).bytes(CKA_LABEL, b"four");
            let key = generate(&module, session, CKM_AES_KEY_GEN, template).unwrap();
            let (mut label, mut class) = ([UNTOUCHED; 3], [UNTOUCHED; size_of::<CK_ULONG>()]);
            let mut asked = [
                attribute(CKA_LABEL, label.as_mut_ptr().cast(), label.len()),
                attribute(CKA_CLASS, class.as_mut_ptr().cast(), class.len()),
            ];
            let answer = call!(module, C_GetAttributeValue, session, key, asked.as_mut_ptr(), 2);
            assert_eq!((answer, label), (CKR_BUFFER_TOO_SMALL, [UNTOUCHED; 3]));
            assert_eq!(
                asked.map(|entry| entry.ulValueLen),
                [CK_UNAVAILABLE_INFORMATION, class.len() as CK_ULONG]
            );
            assert_eq!(class, CKO_SECRET_KEY.to_ne_bytes(), "the other attribute is answered");
        },
    );
}
