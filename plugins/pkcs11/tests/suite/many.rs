//! The interface "Vendor Oarlock", as the example in C uses it, and asynchronous sessions.

use std::path::Path;
use std::process::Command;
use std::ptr::null_mut;

use cryptoki_sys::*;

use crate::call;
use crate::common::objects::{P256, Template, generate};
use crate::common::raw::{RawModule, plain};
use crate::common::{KEYS, TestDirectory, isolated, module, program, said};

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
        "many::an_asynchronous_signature_is_pending_and_complete_once",
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
            let (result, mut answer) = complete(&module, session, c"C_Sign");
            assert_eq!(result, CKR_OK);
            assert_eq!((answer.pValue, answer.ulValue), (out.as_mut_ptr(), 256));
            let synchronous = module.open_read_only(0);
            assert_eq!(module.verify(synchronous, CKM_SHA256_RSA_PKCS, public, b"data", &out), CKR_OK);
            let again = call!(module, C_AsyncComplete, session, name, &mut answer);
            assert_eq!(again, CKR_OPERATION_NOT_INITIALIZED);
            let unknown =
                call!(module, C_AsyncComplete, session, c"C_Nothing".as_ptr().cast_mut().cast(), &mut answer);
            assert_ne!(unknown, CKR_OK);
        },
    );
}

/// Completes a call, and returns its result and its answer.
fn complete(
    module: &RawModule,
    session: CK_SESSION_HANDLE,
    function: &std::ffi::CStr,
) -> (CK_RV, CK_ASYNC_DATA) {
    let mut answer =
        CK_ASYNC_DATA { ulVersion: 0, pValue: null_mut(), ulValue: 0, hObject: 0, hAdditionalObject: 0 };
    let name = function.as_ptr().cast_mut().cast();
    loop {
        match call!(module, C_AsyncComplete, session, name, &mut answer) {
            CKR_PENDING => std::thread::yield_now(),
            result => return (result, answer),
        }
    }
}

#[test]
fn new_keys_verifications_and_ciphers_are_asynchronous() {
    isolated(
        "many::new_keys_verifications_and_ciphers_are_asynchronous",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let mut session = 0;
            let flags = CKF_SERIAL_SESSION | CKF_ASYNC_SESSION;
            assert_eq!(call!(module, C_OpenSession, 0, flags, null_mut(), None, &mut session), CKR_OK);
            // Private objects need a login, with any PIN.
            assert_eq!(call!(module, C_Login, session, CKU_USER, b"none".as_ptr().cast_mut(), 4), CKR_OK);
            let mut public = Template::default().bytes(CKA_EC_PARAMS, &P256);
            let mut template = public.list();
            let (mut mechanism, mut public, mut private) = (plain(CKM_EC_KEY_PAIR_GEN), 0, 0);
            let begun = call!(
                module,
                C_GenerateKeyPair,
                session,
                &mut mechanism,
                template.as_mut_ptr(),
                1,
                null_mut(),
                0,
                &mut public,
                &mut private
            );
            assert_eq!((begun, public, private), (CKR_PENDING, 0, 0));
            let (result, pair) = complete(&module, session, c"C_GenerateKeyPair");
            assert_eq!((result, pair.ulValue), (CKR_OK, 0));
            let synchronous = module.open_read_only(0);
            let signature =
                module.sign(synchronous, CKM_ECDSA_SHA256, pair.hAdditionalObject, b"data").unwrap();
            assert_eq!(
                module.verify(session, CKM_ECDSA_SHA256, pair.hObject, b"data", &signature),
                CKR_PENDING
            );
            assert_eq!(complete(&module, session, c"C_Verify").0, CKR_OK);
            assert_eq!(
                module.verify(session, CKM_ECDSA_SHA256, pair.hObject, b"Data", &signature),
                CKR_PENDING
            );
            assert_eq!(complete(&module, session, c"C_Verify").0, CKR_SIGNATURE_INVALID);
            let template = Template::default().number(CKA_VALUE_LEN, 16);
            assert_eq!(generate(&module, session, CKM_AES_KEY_GEN, template), Err(CKR_PENDING));
            let key = complete(&module, session, c"C_GenerateKey").1.hObject;
            let mut mechanism = plain(CKM_AES_ECB);
            assert_eq!(call!(module, C_EncryptInit, session, &mut mechanism, key), CKR_OK);
            let (mut data, mut len) = ([7_u8; 32], 32);
            let begun = call!(module, C_Encrypt, session, data.as_mut_ptr(), 32, data.as_mut_ptr(), &mut len);
            assert_eq!((begun, data), (CKR_PENDING, [7; 32]));
            let (result, answer) = complete(&module, session, c"C_Encrypt");
            assert_eq!((result, answer.pValue, answer.ulValue), (CKR_OK, data.as_mut_ptr(), 32));
            assert_ne!(data[..16], [7; 16]);
            assert_eq!(data[..16], data[16..]);
        },
    );
}
