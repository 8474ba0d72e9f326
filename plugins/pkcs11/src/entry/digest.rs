//! Digests, and functions that digest, sign or verify beside a cipher.

use cryptoki_sys::{CK_BYTE, CK_MECHANISM, CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CK_ULONG};
use oarlock_cryptoki::mechanism_flags;

use super::asynchronous::CallInSession;
use super::functions;
use super::object::object_handle;
use super::session::session_handle;
use super::signature::begin;
use crate::library;

functions! { memory:
    fn C_DigestInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM) {
        begin(memory, session, mechanism, mechanism_flags::DIGEST, |library, mechanism| {
            library.cryptoki.digest_init(session_handle(session), mechanism)
        })
    }

    fn C_DigestKey(session: CK_SESSION_HANDLE, key: CK_OBJECT_HANDLE) {
        library::with(|library| library.cryptoki.digest_key(session_handle(session), object_handle(key)))
    }
}

functions! { data; C_DigestUpdate: digest_update }

functions! { output of data;
    C_Digest: digest,
    C_DigestEncryptUpdate: digest_encrypt_update,
    C_DecryptDigestUpdate: decrypt_digest_update,
    C_SignEncryptUpdate: sign_encrypt_update,
    C_DecryptVerifyUpdate: decrypt_verify_update,
}

functions! { output; C_DigestFinal: digest_final }
