//! The end of the library while threads are inside, and slot events.
#![allow(
    clippy::macro_metavars_in_unsafe,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unsafe_code
)]

mod common;

use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use common::raw::RawModule;
use common::{KEYS, isolated};
use cryptoki_sys::*;

#[test]
fn finalizing_under_load_is_safe() {
    isolated(
        "finalizing_under_load_is_safe",
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

#[test]
fn a_wait_for_events_ends_with_the_library() {
    isolated(
        "a_wait_for_events_ends_with_the_library",
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
