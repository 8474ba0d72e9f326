//! Encryption and decryption.

use cryptoki_sys::{CK_BYTE, CK_MECHANISM, CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CK_ULONG};
use oarlock_cryptoki::mechanism_flags;

use super::functions;
use super::object::object_handle;
use super::session::session_handle;
use super::signature::begin;
use crate::library;

functions! { memory:
    fn C_EncryptInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
        begin(memory, session, mechanism, mechanism_flags::ENCRYPT, |library, mechanism| {
            library.cryptoki.encrypt_init(session_handle(session), mechanism, object_handle(key))
        })
    }

    fn C_Encrypt(
        session: CK_SESSION_HANDLE,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        out: *mut CK_BYTE,
        out_len: *mut CK_ULONG,
    ) {
        library::with(|library| {
            let data = memory.apart((data, data_len), out, out_len)?;
            let session = session_handle(session);
            memory.output(out, out_len, |out| library.cryptoki.encrypt(session, &data, out))
        })
    }

    fn C_EncryptUpdate(
        session: CK_SESSION_HANDLE,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        out: *mut CK_BYTE,
        out_len: *mut CK_ULONG,
    ) {
        library::with(|library| {
            let data = memory.apart((data, data_len), out, out_len)?;
            let session = session_handle(session);
            memory.output(out, out_len, |out| library.cryptoki.encrypt_update(session, &data, out))
        })
    }

    fn C_EncryptFinal(session: CK_SESSION_HANDLE, out: *mut CK_BYTE, out_len: *mut CK_ULONG) {
        library::with(|library| {
            let session = session_handle(session);
            memory.output(out, out_len, |out| library.cryptoki.encrypt_final(session, out))
        })
    }

    fn C_DecryptInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
        begin(memory, session, mechanism, mechanism_flags::DECRYPT, |library, mechanism| {
            library.cryptoki.decrypt_init(session_handle(session), mechanism, object_handle(key))
        })
    }

    fn C_Decrypt(
        session: CK_SESSION_HANDLE,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        out: *mut CK_BYTE,
        out_len: *mut CK_ULONG,
    ) {
        library::with(|library| {
            let data = memory.apart((data, data_len), out, out_len)?;
            let session = session_handle(session);
            memory.output(out, out_len, |out| library.cryptoki.decrypt(session, &data, out))
        })
    }

    fn C_DecryptUpdate(
        session: CK_SESSION_HANDLE,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        out: *mut CK_BYTE,
        out_len: *mut CK_ULONG,
    ) {
        library::with(|library| {
            let data = memory.apart((data, data_len), out, out_len)?;
            let session = session_handle(session);
            memory.output(out, out_len, |out| library.cryptoki.decrypt_update(session, &data, out))
        })
    }

    fn C_DecryptFinal(session: CK_SESSION_HANDLE, out: *mut CK_BYTE, out_len: *mut CK_ULONG) {
        library::with(|library| {
            let session = session_handle(session);
            memory.output(out, out_len, |out| library.cryptoki.decrypt_final(session, out))
        })
    }
}
