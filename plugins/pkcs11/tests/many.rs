//! The interface "Vendor Oarlock", as the example in C uses it, and asynchronous sessions.
#![allow(
    clippy::macro_metavars_in_unsafe,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unsafe_code
)]

mod common;

use std::path::Path;
use std::process::Command;
use std::ptr::null_mut;

use common::raw::{RawModule, plain};
use common::{KEYS, TestDirectory, isolated, module, program, said};
use cryptoki_sys::*;

#[test]
fn the_example_in_c_signs_and_verifies_many() {
    let Some(compiler) = program("cc") else { return };
    let dir = TestDirectory::new();
    dir.write("pkcs11.toml", KEYS);
    dir.make_keys();
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = dir.path("sign_many");
    let mut build = Command::new(compiler);
    build.args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&built);
    build.arg("-I").arg(source.join("include")).arg(source.join("examples/sign_many.c")).arg("-ldl");
    let output = build.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    for label in ["p256", "rsa"] {
        let printed = dir.run(&built, &[module().to_str().unwrap(), label, "64"]);
        assert!(printed.contains("64 of 64 signatures verify"), "{printed}");
        assert!(printed.contains("1 of 64 is rejected after a change"), "{printed}");
        assert!(printed.contains("asynchronous signature verifies"), "{printed}");
    }
}

#[test]
fn the_header_stands_alone_in_c_and_cpp() {
    let Some(compiler) = program("cc") else { return };
    let dir = TestDirectory::new();
    dir.write(
        "alone.c",
        "#include \"oarlock_pkcs11.h\"\nint main(void) { return sizeof(O_FUNCTION_LIST) == 0; }\n",
    );
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let mut build = Command::new(compiler);
    build.args(["-std=c99", "-pedantic", "-Wall", "-Werror", "-fsyntax-only", "-I"]).arg(include);
    let output = build.arg(dir.path("alone.c")).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn an_asynchronous_signature_is_pending_and_complete_once() {
    isolated(
        "an_asynchronous_signature_is_pending_and_complete_once",
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
            let mut mechanism = plain(CKM_SHA256_RSA_PKCS);
            assert_eq!(call!(module, C_SignInit, session, &mut mechanism, key), CKR_OK);
            let (data, mut out, mut len) = (b"data".as_ptr().cast_mut(), [0_u8; 256], 256);
            let begun = call!(module, C_Sign, session, data, 4, out.as_mut_ptr(), &mut len);
            assert_eq!(begun, CKR_PENDING);
            let name = c"C_Sign".as_ptr().cast_mut().cast();
            let mut answer = CK_ASYNC_DATA {
                ulVersion: 0,
                pValue: null_mut(),
                ulValue: 0,
                hObject: 0,
                hAdditionalObject: 0,
            };
            loop {
                match call!(module, C_AsyncComplete, session, name, &mut answer) {
                    CKR_PENDING => std::thread::yield_now(),
                    result => break assert_eq!(result, CKR_OK),
                }
            }
            assert_eq!((answer.pValue, answer.ulValue), (out.as_mut_ptr(), 256));
            assert_eq!(module.verify(session, CKM_SHA256_RSA_PKCS, public, b"data", &out), CKR_OK);
            let again = call!(module, C_AsyncComplete, session, name, &mut answer);
            assert_eq!(again, CKR_OPERATION_NOT_INITIALIZED);
            let unknown =
                call!(module, C_AsyncComplete, session, c"C_Nothing".as_ptr().cast_mut().cast(), &mut answer);
            assert_ne!(unknown, CKR_OK);
        },
    );
}
