//! Forks in every state of the library.
#![allow(
    clippy::macro_metavars_in_unsafe,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unsafe_code
)]

mod common;

use std::sync::atomic::{AtomicBool, Ordering};

use common::raw::{RawModule, plain};
use common::{KEYS, isolated};
use cryptoki_sys::*;

/// Runs `action` in a forked child, and returns whether it returned true there. A child that hangs is killed.
fn in_child(action: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs the action, which must not depend on threads of the parent, and ends without destructors.
    let child = unsafe { libc::fork() };
    assert_ne!(child, -1);
    if child == 0 {
        // SAFETY: alarm takes a number; its signal ends a child that hangs.
        unsafe { libc::alarm(60) };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(action));
        let status = i32::from(!result.unwrap_or(false));
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(status) };
    }
    let mut status = 0;
    // SAFETY: the child of this process, and a place for its status.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
}

fn signs(module: &RawModule, session: CK_SESSION_HANDLE) -> bool {
    let Some(private) = module.find(session, CKO_PRIVATE_KEY, "p256") else { return false };
    let Some(public) = module.find(session, CKO_PUBLIC_KEY, "p256") else { return false };
    let Ok(signature) = module.sign(session, CKM_ECDSA_SHA256, private, b"data") else { return false };
    module.verify(session, CKM_ECDSA_SHA256, public, b"data", &signature) == CKR_OK
}

#[test]
fn sessions_go_on_in_a_child() {
    isolated(
        "sessions_go_on_in_a_child",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let session = module.open_read_only(0);
            assert!(signs(&module, session));
            let key = module.find(session, CKO_PRIVATE_KEY, "rsa").unwrap();
            let mut mechanism = plain(CKM_SHA256_RSA_PKCS);
            assert_eq!(call!(module, C_SignInit, session, &mut mechanism, key), CKR_OK);
            assert!(in_child(|| {
                // The active operation goes on too, and other operations work with threads of the child's own.
                let (mut out, mut len) = ([0_u8; 256], 256);
                let data = b"data".as_ptr().cast_mut();
                call!(module, C_Sign, session, data, 4, out.as_mut_ptr(), &mut len) == CKR_OK
                    && signs(&module, session)
            }));
            // The parent still has its own operation.
            let (mut out, mut len) = ([0_u8; 256], 256);
            let data = b"data".as_ptr().cast_mut();
            assert_eq!(call!(module, C_Sign, session, data, 4, out.as_mut_ptr(), &mut len), CKR_OK);
        },
    );
}

#[test]
fn a_child_of_a_child_goes_on_too() {
    isolated(
        "a_child_of_a_child_goes_on_too",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let session = module.open_read_only(0);
            assert!(in_child(|| signs(&module, session) && in_child(|| signs(&module, session))));
            assert!(in_child(|| in_child(|| signs(&module, session))));
        },
    );
}

#[test]
fn finalizing_a_child_leaves_the_parent_alone() {
    isolated(
        "finalizing_a_child_leaves_the_parent_alone",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let session = module.open_read_only(0);
            assert!(signs(&module, session));
            assert!(in_child(|| {
                module.finalize() == CKR_OK
                    && module.finalize() == CKR_CRYPTOKI_NOT_INITIALIZED
                    && module.initialize() == CKR_OK
                    && signs(&module, module.open_read_only(0))
            }));
            assert!(signs(&module, session));
        },
    );
}

#[test]
fn initialization_in_a_child_begins_anew() {
    isolated(
        "initialization_in_a_child_begins_anew",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let session = module.open_read_only(0);
            let mut mechanism = plain(CKM_SHA256);
            assert!(in_child(|| {
                module.initialize() == CKR_OK
                    && module.initialize() == CKR_CRYPTOKI_ALREADY_INITIALIZED
                    && call!(module, C_DigestInit, session, &mut mechanism) == CKR_SESSION_HANDLE_INVALID
                    && signs(&module, module.open_read_only(0))
            }));
            assert!(signs(&module, session));
        },
    );
}

#[test]
fn with_reset_a_child_must_initialize() {
    let settings = format!("after_fork = \"reset\"\n{KEYS}");
    isolated(
        "with_reset_a_child_must_initialize",
        &settings,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(
                module.interface(None).unwrap().flags,
                0,
                "not fork-safe in the sense of the standard"
            );
            assert_eq!(module.initialize(), CKR_OK);
            let session = module.open_read_only(0);
            let mut mechanism = plain(CKM_SHA256);
            assert!(in_child(|| {
                call!(module, C_DigestInit, session, &mut mechanism) == CKR_CRYPTOKI_NOT_INITIALIZED
                    && module.initialize() == CKR_OK
                    && signs(&module, module.open_read_only(0))
            }));
            assert!(signs(&module, session));
        },
    );
}

/// A fork may copy a lock that another thread holds. The child must see an error or a result, and never hang.
#[test]
fn a_fork_under_load_never_hangs() {
    isolated(
        "a_fork_under_load_never_hangs",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let is_done = AtomicBool::new(false);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let session = module.open_read_only(0);
                        while !is_done.load(Ordering::Acquire) {
                            assert!(signs(&module, session));
                        }
                    });
                }
                let session = module.open_read_only(0);
                for _ in 0..20 {
                    assert!(in_child(|| {
                        let mut count = 0;
                        match call!(module, C_GetSlotList, 0, std::ptr::null_mut(), &mut count) {
                            CKR_OK => signs(&module, session),
                            // A thread was inside of a call. The child begins anew.
                            CKR_CRYPTOKI_NOT_INITIALIZED => {
                                module.initialize() == CKR_OK && signs(&module, module.open_read_only(0))
                            }
                            _ => false,
                        }
                    }));
                }
                is_done.store(true, Ordering::Release);
            });
        },
    );
}

#[test]
fn a_fork_before_initialization_is_none() {
    isolated(
        "a_fork_before_initialization_is_none",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert!(in_child(|| module.initialize() == CKR_OK && signs(&module, module.open_read_only(0))));
            assert_eq!(module.initialize(), CKR_OK);
            assert!(signs(&module, module.open_read_only(0)));
        },
    );
}
