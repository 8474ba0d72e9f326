//! Forks while a session is in the middle of something: the child continues from there, and so does the parent.

use std::ptr::null_mut;
use std::sync::Barrier;

use cryptoki_sys::*;

use crate::call;
use crate::common::forked::in_child;
use crate::common::objects::aes_key;
use crate::common::raw::{RawModule, plain};
use crate::common::{KEYS, SO_PIN, STORE, USER_PIN, isolated};

/// Runs `action` in a child, and then in this process: both have the state of the moment of the fork.
#[track_caller]
fn in_both(action: impl Fn() -> bool) {
    assert!(in_child(&action), "in the child");
    assert!(action(), "in the parent");
}

/// SHA-256 of "abc". FIPS 180-4.
const ABC: [u8; 32] = [
    0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0,
    0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
];

#[test]
fn pieces_and_searches_go_on_in_a_child_and_in_its_parent() {
    isolated(
        "fork_states::pieces_and_searches_go_on_in_a_child_and_in_its_parent",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let session = module.open_read_only(0);
            // Private objects need a login, with any PIN.
            assert_eq!(call!(module, C_Login, session, CKU_USER, b"none".as_ptr().cast_mut(), 4), CKR_OK);
            let key = aes_key(&module, session, &[CKA_ENCRYPT, CKA_DECRYPT, CKA_SIGN]);

            let mut mechanism = plain(CKM_SHA256);
            assert_eq!(call!(module, C_DigestInit, session, &mut mechanism), CKR_OK);
            assert_eq!(call!(module, C_DigestUpdate, session, b"ab".as_ptr().cast_mut(), 2), CKR_OK);
            in_both(|| {
                let (mut out, mut len) = ([0; 32], 32);
                call!(module, C_DigestUpdate, session, b"c".as_ptr().cast_mut(), 1) == CKR_OK
                    && call!(module, C_DigestFinal, session, out.as_mut_ptr(), &mut len) == CKR_OK
                    && out == ABC
            });

            // A cipher that keeps half a block, a code, and a search that has found one object, all at once.
            let mut mechanism = plain(CKM_AES_ECB);
            assert_eq!(call!(module, C_EncryptInit, session, &mut mechanism, key), CKR_OK);
            let (data, mut out, mut len) = ([7_u8; 32], [0_u8; 32], 32);
            let data = data.as_ptr().cast_mut();
            assert_eq!(call!(module, C_EncryptUpdate, session, data, 24, out.as_mut_ptr(), &mut len), CKR_OK);
            assert_eq!(len, 16);
            let mut mechanism = plain(CKM_AES_CMAC);
            assert_eq!(call!(module, C_SignInit, session, &mut mechanism, key), CKR_OK);
            assert_eq!(call!(module, C_SignUpdate, session, data, 24), CKR_OK);
            assert_eq!(call!(module, C_FindObjectsInit, session, null_mut(), 0), CKR_OK);
            let (mut found, mut count) = (0, 0);
            assert_eq!(call!(module, C_FindObjects, session, &mut found, 1, &mut count), CKR_OK);
            assert_eq!(count, 1);
            let expected_code = module.sign(module.open_read_only(0), CKM_AES_CMAC, key, &[7; 32]).unwrap();
            let first_block = out;
            in_both(|| {
                let (mut out, mut len, mut next, mut count) = ([0_u8; 16], 16, 0, 0);
                let block = call!(module, C_EncryptUpdate, session, data, 8, out.as_mut_ptr(), &mut len);
                let is_encrypted = (block, len) == (CKR_OK, 16) && out[..] == first_block[..16];
                assert_eq!(call!(module, C_SignUpdate, session, data, 8), CKR_OK);
                let signed = call!(module, C_SignFinal, session, out.as_mut_ptr(), &mut len);
                let is_signed = signed == CKR_OK && out[..] == expected_code;
                let searched = call!(module, C_FindObjects, session, &mut next, 1, &mut count);
                let goes_on = searched == CKR_OK && count == 1 && next != found;
                is_encrypted && is_signed && goes_on
            });
        },
    );
}

#[test]
fn a_login_of_the_officer_goes_on_and_a_session_of_a_child_is_not_the_parents() {
    isolated(
        "fork_states::a_login_of_the_officer_goes_on_and_a_session_of_a_child_is_not_the_parents",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let label = b"a token                         ".as_ptr().cast_mut();
            let (so_pin, so_len) = (SO_PIN.as_ptr().cast_mut(), SO_PIN.len() as CK_ULONG);
            let (pin, len) = (USER_PIN.as_ptr().cast_mut(), USER_PIN.len() as CK_ULONG);
            assert_eq!(call!(module, C_InitToken, 0, so_pin, so_len, label), CKR_OK);
            let session = module.open(0, 0);
            assert_eq!(call!(module, C_Login, session, CKU_SO, so_pin, so_len), CKR_OK);
            in_both(|| call!(module, C_InitPIN, session, pin, len) == CKR_OK);
            // A logout of the child is its own, and so are its sessions.
            assert!(in_child(|| {
                call!(module, C_Logout, session) == CKR_OK
                    && call!(module, C_Login, session, CKU_USER, pin, len) == CKR_OK
                    && call!(module, C_CloseSession, session) == CKR_OK
            }));
            assert_eq!(
                call!(module, C_InitPIN, session, pin, len),
                CKR_OK,
                "the parent is still the officer"
            );
            let theirs = session + 1;
            assert!(in_child(|| module.open(0, 0) == theirs));
            let mut info = CK_SESSION_INFO { slotID: 0, state: 0, flags: 0, ulDeviceError: 0 };
            assert_eq!(call!(module, C_GetSessionInfo, theirs, &mut info), CKR_SESSION_HANDLE_INVALID);
        },
    );
}

/// The threads that compute are the parent's. A call that is pending is taken in the parent, and the child either gets
/// an error or an answer, and never waits for it.
#[test]
fn a_pending_call_does_not_hang_a_child() {
    isolated(
        "fork_states::a_pending_call_does_not_hang_a_child",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let mut session = 0;
            let flags = CKF_SERIAL_SESSION | CKF_ASYNC_SESSION;
            assert_eq!(call!(module, C_OpenSession, 0, flags, null_mut(), None, &mut session), CKR_OK);
            let key = module.find(session, CKO_PRIVATE_KEY, "rsa").unwrap();
            let public = module.find(session, CKO_PUBLIC_KEY, "rsa").unwrap();
            let (data, mut out, mut len) = (b"data".as_ptr().cast_mut(), [0_u8; 256], 256);
            let mut mechanism = plain(CKM_SHA256_RSA_PKCS);
            assert_eq!(call!(module, C_SignInit, session, &mut mechanism, key), CKR_OK);
            let begun = call!(module, C_Sign, session, data, 4, out.as_mut_ptr(), &mut len);
            assert_eq!(begun, CKR_PENDING);
            let complete = || {
                // SAFETY: a structure of numbers and pointers, for which zero is a value.
                let mut answer: CK_ASYNC_DATA = unsafe { std::mem::zeroed() };
                let name = c"C_Sign".as_ptr().cast_mut().cast();
                call!(module, C_AsyncComplete, session, name, &mut answer)
            };
            assert!(in_child(|| {
                // One look: the answer is there, or it is not. Then the session is used for something else.
                let looked = complete();
                let cancelled = call!(module, C_SessionCancel, session, CKF_SIGN);
                let session = module.open_read_only(0);
                let signature = module.sign(session, CKM_SHA256_RSA_PKCS, key, b"data").unwrap();
                let verified = module.verify(session, CKM_SHA256_RSA_PKCS, public, b"data", &signature);
                assert_ne!(looked, CKR_GENERAL_ERROR);
                (cancelled, verified) == (CKR_OK, CKR_OK)
            }));
            let completed = loop {
                match complete() {
                    CKR_PENDING => std::thread::yield_now(),
                    code => break code,
                }
            };
            assert_eq!(completed, CKR_OK);
            let session = module.open_read_only(0);
            assert_eq!(module.verify(session, CKM_SHA256_RSA_PKCS, public, b"data", &out), CKR_OK);
        },
    );
}

#[test]
fn a_fork_during_a_wait_for_events_leaves_the_child_usable() {
    isolated(
        "fork_states::a_fork_during_a_wait_for_events_leaves_the_child_usable",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let session = module.open_read_only(0);
            let begun = Barrier::new(2);
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| {
                    let mut slot = 0;
                    begun.wait();
                    call!(module, C_WaitForSlotEvent, 0, &mut slot, null_mut())
                });
                begun.wait();
                let use_in_child = || {
                    let Some(key) = module.find(session, CKO_PRIVATE_KEY, "p256") else { return false };
                    let mut slot = 0;
                    let event = call!(module, C_WaitForSlotEvent, CKF_DONT_BLOCK, &mut slot, null_mut());
                    module.sign(session, CKM_ECDSA_SHA256, key, b"data").is_ok()
                        && event == CKR_NO_EVENT
                        && module.finalize() == CKR_OK
                };
                let used = (0..10).filter(|_| in_child(use_in_child)).count();
                // The wait ends before anything is judged: a thread that waits would keep a failed test alive.
                assert_eq!(module.finalize(), CKR_OK);
                assert_eq!(waiting.join().unwrap(), CKR_CRYPTOKI_NOT_INITIALIZED);
                assert_eq!(used, 10, "children that could use the library");
            });
        },
    );
}
