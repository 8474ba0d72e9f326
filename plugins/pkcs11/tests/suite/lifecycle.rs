//! The end of the library while threads are inside, and slot events.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use cryptoki_sys::*;

use crate::call;
use crate::common::objects::{Template, create};
use crate::common::raw::RawModule;
use crate::common::{KEYS, STORE, isolated};

#[test]
fn finalizing_under_load_is_safe() {
    isolated(
        "lifecycle::finalizing_under_load_is_safe",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            for _ in 0..10 {
                assert_eq!(module.initialize(), CKR_OK);
                let (begun, signed) = (Barrier::new(9), AtomicUsize::new(0));
                std::thread::scope(|scope| {
                    for _ in 0..8 {
                        scope.spawn(|| {
                            let session = module.open_read_only(0);
                            let key = module.find(session, CKO_PRIVATE_KEY, "p256").unwrap();
                            begun.wait();
                            let ended = loop {
                                match module.sign(session, CKM_ECDSA_SHA256, key, b"data") {
                                    Ok(_) => signed.fetch_add(1, Ordering::AcqRel),
                                    Err(code) => break code,
                                };
                            };
                            let expected = [
                                CKR_CRYPTOKI_NOT_INITIALIZED,
                                CKR_SESSION_HANDLE_INVALID,
                                CKR_SESSION_CLOSED,
                                CKR_OPERATION_NOT_INITIALIZED,
                                CKR_FUNCTION_CANCELED,
                            ];
                            assert!(expected.contains(&ended), "{ended:#x}");
                        });
                    }
                    begun.wait();
                    while signed.load(Ordering::Acquire) < 16 {
                        std::thread::yield_now();
                    }
                    assert_eq!(module.finalize(), CKR_OK);
                });
            }
        },
    );
}

/// A write that has begun is complete or did not happen, and the file is not damaged.
#[test]
fn finalizing_while_threads_write_is_safe() {
    isolated(
        "lifecycle::finalizing_while_threads_write_is_safe",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let label = b"a token                         ".as_ptr().cast_mut();
            assert_eq!(call!(module, C_InitToken, 0, b"so-pin-1".as_ptr().cast_mut(), 8, label), CKR_OK);
            assert_eq!(module.finalize(), CKR_OK);
            let reported = AtomicUsize::new(0);
            for _ in 0..5 {
                assert_eq!(module.initialize(), CKR_OK);
                let (begun, before) = (Barrier::new(5), reported.load(Ordering::Acquire));
                std::thread::scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn(|| {
                            let session = module.open(0, 0);
                            begun.wait();
                            let ended = loop {
                                match create_public_data(&module, session) {
                                    CKR_OK => reported.fetch_add(1, Ordering::AcqRel),
                                    code => break code,
                                };
                            };
                            let expected = [CKR_CRYPTOKI_NOT_INITIALIZED, CKR_SESSION_HANDLE_INVALID];
                            assert!(expected.contains(&ended), "{ended:#x}");
                        });
                    }
                    begun.wait();
                    while reported.load(Ordering::Acquire) < before + 8 {
                        std::thread::yield_now();
                    }
                    assert_eq!(module.finalize(), CKR_OK);
                });
            }
            assert_eq!(module.initialize(), CKR_OK);
            let (found, reported) = (count_data(&module), reported.load(Ordering::Acquire));
            // In each round, each thread may have completed one write whose session was closed meanwhile.
            assert!((reported..=reported + 20).contains(&found), "{found} of {reported}");
        },
    );
}

fn create_public_data(module: &RawModule, session: CK_SESSION_HANDLE) -> CK_RV {
    let template = Template::default().number(CKA_CLASS, CKO_DATA).flags(&[CKA_TOKEN]);
    create(module, session, template.bytes(CKA_PRIVATE, &[CK_FALSE])).err().unwrap_or(CKR_OK)
}

fn count_data(module: &RawModule) -> usize {
    let session = module.open(0, 0);
    let mut template = Template::default().number(CKA_CLASS, CKO_DATA);
    assert_eq!(call!(module, C_FindObjectsInit, session, template.list().as_mut_ptr(), 1), CKR_OK);
    let (mut total, mut found) = (0, [0; 64]);
    loop {
        let mut count = 0;
        assert_eq!(call!(module, C_FindObjects, session, found.as_mut_ptr(), 64, &mut count), CKR_OK);
        if count == 0 {
            return total;
        }
        total += count as usize;
    }
}

#[test]
fn a_wait_for_events_ends_with_the_library() {
    isolated(
        "lifecycle::a_wait_for_events_ends_with_the_library",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = Arc::new(RawModule::load());
            assert_eq!(module.initialize(), CKR_OK);
            let mut slot = 0;
            assert_eq!(
                call!(module, C_WaitForSlotEvent, CKF_DONT_BLOCK, &mut slot, null_mut()),
                CKR_NO_EVENT
            );
            let begun = Arc::new(Barrier::new(2));
            let waiting = std::thread::spawn({
                let (module, begun) = (Arc::clone(&module), Arc::clone(&begun));
                move || {
                    let mut slot = 0;
                    begun.wait();
                    call!(module, C_WaitForSlotEvent, 0, &mut slot, null_mut())
                }
            });
            begun.wait();
            assert_eq!(module.finalize(), CKR_OK);
            assert_eq!(waiting.join().unwrap(), CKR_CRYPTOKI_NOT_INITIALIZED);
        },
    );
}
