//! The end of an operation by an error (PKCS#11 3.2, sections 5.8 to 5.13).

use std::ptr::null_mut;

use cryptoki_sys::*;

use crate::call;
use crate::common::raw::{RawModule, plain};
use crate::common::{KEYS, isolated};

#[test]
fn wrong_arguments_end_an_operation() {
    isolated(
        "conformance::termination::wrong_arguments_end_an_operation",
        KEYS,
        |dir| dir.make_keys(),
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let session = module.open_read_only(0);
            let key = module.find(session, CKO_PRIVATE_KEY, "p256").unwrap();
            let (mut out, mut len, mut data) = ([0_u8; 64], 64, *b"data");
            let (data, output) = (data.as_mut_ptr(), out.as_mut_ptr());
            let begin_digest =
                || assert_eq!(call!(module, C_DigestInit, session, &mut plain(CKM_SHA256)), CKR_OK);
            let begin_sign =
                || assert_eq!(call!(module, C_SignInit, session, &mut plain(CKM_ECDSA_SHA256), key), CKR_OK);
            // Each beginning succeeds only if the operation before it has ended.
            begin_digest();
            assert_eq!(call!(module, C_Digest, session, null_mut(), 4, output, &mut len), CKR_ARGUMENTS_BAD);
            begin_digest();
            assert_eq!(call!(module, C_Digest, session, data, 4, output, null_mut()), CKR_ARGUMENTS_BAD);
            begin_digest();
            assert_eq!(call!(module, C_DigestUpdate, session, null_mut(), 4), CKR_ARGUMENTS_BAD);
            begin_digest();
            assert_eq!(call!(module, C_DigestFinal, session, output, null_mut()), CKR_ARGUMENTS_BAD);
            begin_digest();
            // A call in one step among pieces.
            assert_eq!(call!(module, C_DigestUpdate, session, data, 4), CKR_OK);
            assert_eq!(call!(module, C_Digest, session, data, 4, output, &mut len), CKR_OPERATION_ACTIVE);
            begin_digest();
            begin_sign();
            assert_eq!(call!(module, C_Sign, session, null_mut(), 4, output, &mut len), CKR_ARGUMENTS_BAD);
            begin_sign();
            let public = module.find(session, CKO_PUBLIC_KEY, "p256").unwrap();
            let begin_verify = || {
                assert_eq!(
                    call!(module, C_VerifyInit, session, &mut plain(CKM_ECDSA_SHA256), public),
                    CKR_OK
                );
            };
            begin_verify();
            assert_eq!(call!(module, C_Verify, session, data, 4, null_mut(), 64), CKR_ARGUMENTS_BAD);
            begin_verify();
            // The digest beside it continues.
            assert_eq!(call!(module, C_Digest, session, data, 4, output, &mut len), CKR_OK);
            // A short output does not end an operation.
            len = 1;
            assert_eq!(call!(module, C_Sign, session, data, 4, output, &mut len), CKR_BUFFER_TOO_SMALL);
            assert_eq!(call!(module, C_Sign, session, data, 4, output, &mut len), CKR_OK);
        },
    );
}
