//! Digests, and functions that digest or sign beside a cipher.

use cryptoki_sys::{CK_BYTE, CK_MECHANISM, CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CK_ULONG};
use oarlock_cryptoki::mechanism_flags;

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

    fn C_Digest(
        session: CK_SESSION_HANDLE,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        out: *mut CK_BYTE,
        out_len: *mut CK_ULONG,
    ) {
        library::with(|library| {
            let data = memory.apart((data, data_len), out, out_len)?;
            let session = session_handle(session);
            memory.output(out, out_len, |out| library.cryptoki.digest(session, &data, out))
        })
    }

    fn C_DigestUpdate(session: CK_SESSION_HANDLE, data: *mut CK_BYTE, data_len: CK_ULONG) {
        library::with(|library| {
            let data = memory.bytes(data, data_len)?;
            library.cryptoki.digest_update(session_handle(session), data)
        })
    }

    fn C_DigestKey(session: CK_SESSION_HANDLE, key: CK_OBJECT_HANDLE) {
        library::with(|library| library.cryptoki.digest_key(session_handle(session), object_handle(key)))
    }

    fn C_DigestFinal(session: CK_SESSION_HANDLE, out: *mut CK_BYTE, out_len: *mut CK_ULONG) {
        library::with(|library| {
            let session = session_handle(session);
            memory.output(out, out_len, |out| library.cryptoki.digest_final(session, out))
        })
    }

    fn C_DigestEncryptUpdate(
        session: CK_SESSION_HANDLE,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        out: *mut CK_BYTE,
        out_len: *mut CK_ULONG,
    ) {
        library::with(|library| {
            let data = memory.apart((data, data_len), out, out_len)?;
            let session = session_handle(session);
            memory.output(out, out_len, |out| library.cryptoki.digest_encrypt_update(session, &data, out))
        })
    }

    fn C_SignEncryptUpdate(
        session: CK_SESSION_HANDLE,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        out: *mut CK_BYTE,
        out_len: *mut CK_ULONG,
    ) {
        library::with(|library| {
            let data = memory.apart((data, data_len), out, out_len)?;
            let session = session_handle(session);
            memory.output(out, out_len, |out| library.cryptoki.sign_encrypt_update(session, &data, out))
        })
    }
}
