//! Forks in every state of the library.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

use cryptoki_sys::*;

use crate::call;
use crate::common::forked::in_child;
use crate::common::objects::{Template, aes_key, create, gcm_parameters, with_parameter};
use crate::common::raw::{RawModule, logged_in, plain};
use crate::common::{KEYS, STORE, isolated};

fn signs(module: &RawModule, session: CK_SESSION_HANDLE) -> bool {
    let Some(private) = module.find(session, CKO_PRIVATE_KEY, "p256") else { return false };
    let Some(public) = module.find(session, CKO_PUBLIC_KEY, "p256") else { return false };
    let Ok(signature) = module.sign(session, CKM_ECDSA_SHA256, private, b"data") else { return false };
    module.verify(session, CKM_ECDSA_SHA256, public, b"data", &signature) == CKR_OK
}

#[test]
fn sessions_go_on_in_a_child() {
    isolated(
        "fork::sessions_go_on_in_a_child",
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
                // The active operation continues too, and other operations work with threads of the child's own.
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
        "fork::a_child_of_a_child_goes_on_too",
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
        "fork::finalizing_a_child_leaves_the_parent_alone",
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
        "fork::initialization_in_a_child_begins_anew",
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
        "fork::with_reset_a_child_must_initialize",
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
        "fork::a_fork_under_load_never_hangs",
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
        "fork::a_fork_before_initialization_is_none",
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

/// Makes a data object on the token of slot 0, visible after a login only.
fn create_data(module: &RawModule, session: CK_SESSION_HANDLE, label: &str) -> CK_RV {
    let template = Template::default().number(CKA_CLASS, CKO_DATA).flags(&[CKA_TOKEN, CKA_PRIVATE]);
    let template = template.bytes(CKA_LABEL, label.as_bytes()).bytes(CKA_VALUE, label.as_bytes());
    create(module, session, template).err().unwrap_or(CKR_OK)
}

/// The connections of a database must not be shared with a child, and the login continues in it.
#[test]
fn a_token_file_goes_on_in_a_child() {
    isolated(
        "fork::a_token_file_goes_on_in_a_child",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            assert_eq!(create_data(&module, session, "of the parent"), CKR_OK);
            assert!(in_child(|| {
                module.find(session, CKO_DATA, "of the parent").is_some()
                    && create_data(&module, session, "of the child") == CKR_OK
                    && in_child(|| create_data(&module, session, "of its child") == CKR_OK)
                    && module.find(session, CKO_DATA, "of its child").is_some()
            }));
            for label in ["of the parent", "of the child", "of its child"] {
                assert!(module.find(session, CKO_DATA, label).is_some(), "{label}");
            }
            assert_eq!(create_data(&module, session, "afterwards"), CKR_OK);
            // Two processes write at the same time.
            assert!(in_child(|| {
                (0..10).all(|number| create_data(&module, session, &format!("again {number}")) == CKR_OK)
            }));
            assert!(module.find(session, CKO_DATA, "again 9").is_some());
        },
    );
}

/// The IVs of a counter are made in each process, and a message that the parent has begun is the parent's.
#[test]
fn no_child_seals_under_an_iv_of_its_parent() {
    isolated(
        "fork::no_child_seals_under_an_iv_of_its_parent",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let (mut mechanism, key) =
                (plain(CKM_AES_GCM), aes_key(&module, session, &[CKA_ENCRYPT, CKA_DECRYPT]));
            assert_eq!(call!(module, C_MessageEncryptInit, session, &mut mechanism, key), CKR_OK);
            let (mut iv, mut tag) = ([0_u8; 12], [0_u8; 16]);
            let mut parameters = CK_GCM_MESSAGE_PARAMS {
                pIv: iv.as_mut_ptr(),
                ulIvLen: 12,
                ulIvFixedBits: 32,
                ivGenerator: CKG_GENERATE_COUNTER,
                pTag: tag.as_mut_ptr(),
                ulTagBits: 128,
            };
            let (parameter, size) =
                ((&raw mut parameters).cast(), size_of::<CK_GCM_MESSAGE_PARAMS>() as CK_ULONG);
            let (mut out, data) = ([0_u8; 4], b"data".as_ptr().cast_mut());
            let out = out.as_mut_ptr();
            let seal = || {
                let mut len = 4;
                call!(
                    module,
                    C_EncryptMessage,
                    session,
                    parameter,
                    size,
                    null_mut(),
                    0,
                    data,
                    4,
                    out,
                    &mut len
                )
            };
            // SAFETY: the IV lives as long as the parameters, and no call runs.
            let number = || u64::from_be_bytes(unsafe { parameters.pIv.add(4).cast::<[u8; 8]>().read() });
            let is_next = |before: u64| seal() == CKR_OK && number() == before.wrapping_add(1);
            assert_eq!(seal(), CKR_OK);
            let first = number();
            assert!(is_next(first));
            assert!(in_child(|| !is_next(first.wrapping_add(1)) && is_next(number())));
            assert!(is_next(first.wrapping_add(1)));
            let begin = || call!(module, C_EncryptMessageBegin, session, parameter, size, null_mut(), 0);
            let end = || {
                let mut len = 4;
                call!(
                    module,
                    C_EncryptMessageNext,
                    session,
                    parameter,
                    size,
                    data,
                    4,
                    out,
                    &mut len,
                    CKF_END_OF_MESSAGE
                )
            };
            assert_eq!(begin(), CKR_OK);
            assert!(in_child(|| end() == CKR_OPERATION_NOT_INITIALIZED
                && begin() == CKR_OK
                && end() == CKR_OK));
            assert_eq!(end(), CKR_OK);

            // The same for a single message, whose IV the caller has given.
            let iv = [1_u8; 12];
            let parameters = gcm_parameters(&iv);
            let mut mechanism = with_parameter(CKM_AES_GCM, &parameters);
            let mut sealed = [0_u8; 20];
            let out = sealed.as_mut_ptr();
            let encrypt = || {
                let mut len = 20;
                call!(module, C_Encrypt, session, data, 4, out, &mut len)
            };
            assert_eq!(call!(module, C_EncryptInit, session, &mut mechanism, key), CKR_OK);
            assert!(in_child(|| encrypt() == CKR_OPERATION_NOT_INITIALIZED));
            assert_eq!(encrypt(), CKR_OK);
        },
    );
}
