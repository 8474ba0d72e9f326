//! Signatures and message authentication codes.

use cryptoki_sys::{CK_BYTE, CK_MECHANISM, CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CK_ULONG};
use oarlock_cryptoki::{Mechanism, ReturnCode, mechanism_flags};

use super::asynchronous::{SIGN, SIGN_FINAL, keep_if_pending};
use super::functions;
use super::memory::CallerMemory;
use super::object::object_handle;
use super::session::session_handle;
use crate::library::{self, Library};

/// Begins an operation. A null pointer in place of the mechanism ends the active one. PKCS#11 3.2 5.11.
pub(super) fn begin(
    memory: CallerMemory<'_>,
    session: CK_SESSION_HANDLE,
    mechanism: *const CK_MECHANISM,
    flag: u64,
    init: impl FnOnce(&Library, &Mechanism<'_>) -> Result<(), ReturnCode>,
) -> Result<(), ReturnCode> {
    library::with(|library| {
        if mechanism.is_null() {
            return library.cryptoki.session_cancel(session_handle(session), flag);
        }
        // A wrong handle is reported before a wrong parameter.
        library.cryptoki.session_description(session_handle(session))?;
        init(library, &memory.mechanism(mechanism)?)
    })
}

functions! { memory:
    fn C_SignInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
        begin(memory, session, mechanism, mechanism_flags::SIGN, |library, mechanism| {
            library.cryptoki.sign_init(session_handle(session), mechanism, object_handle(key))
        })
    }

    fn C_Sign(
        session: CK_SESSION_HANDLE,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        signature: *mut CK_BYTE,
        signature_len: *mut CK_ULONG,
    ) {
        library::with(|library| {
            let data = memory.apart((data, data_len), signature, signature_len)?;
            let handle = session_handle(session);
            let result = memory.output(signature, signature_len, |out| library.cryptoki.sign(handle, &data, out));
            keep_if_pending(memory, library, session, SIGN, result, (signature, signature_len))
        })
    }

    fn C_SignUpdate(session: CK_SESSION_HANDLE, data: *mut CK_BYTE, data_len: CK_ULONG) {
        library::with(|library| {
            let data = memory.bytes(data, data_len)?;
            library.cryptoki.sign_update(session_handle(session), data)
        })
    }

    fn C_SignFinal(session: CK_SESSION_HANDLE, signature: *mut CK_BYTE, signature_len: *mut CK_ULONG) {
        library::with(|library| {
            let handle = session_handle(session);
            let result = memory.output(signature, signature_len, |out| library.cryptoki.sign_final(handle, out));
            keep_if_pending(memory, library, session, SIGN_FINAL, result, (signature, signature_len))
        })
    }

    fn C_VerifyInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE) {
        begin(memory, session, mechanism, mechanism_flags::VERIFY, |library, mechanism| {
            library.cryptoki.verify_init(session_handle(session), mechanism, object_handle(key))
        })
    }

    fn C_Verify(
        session: CK_SESSION_HANDLE,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        signature: *mut CK_BYTE,
        signature_len: CK_ULONG,
    ) {
        library::with(|library| {
            let data = memory.bytes(data, data_len)?;
            let signature = memory.bytes(signature, signature_len)?;
            library.cryptoki.verify(session_handle(session), data, signature)
        })
    }

    fn C_VerifyUpdate(session: CK_SESSION_HANDLE, data: *mut CK_BYTE, data_len: CK_ULONG) {
        library::with(|library| {
            let data = memory.bytes(data, data_len)?;
            library.cryptoki.verify_update(session_handle(session), data)
        })
    }

    fn C_VerifyFinal(session: CK_SESSION_HANDLE, signature: *mut CK_BYTE, signature_len: CK_ULONG) {
        library::with(|library| {
            let signature = memory.bytes(signature, signature_len)?;
            library.cryptoki.verify_final(session_handle(session), signature)
        })
    }

    fn C_VerifySignatureInit(
        session: CK_SESSION_HANDLE,
        mechanism: *mut CK_MECHANISM,
        key: CK_OBJECT_HANDLE,
        signature: *mut CK_BYTE,
        signature_len: CK_ULONG,
    ) {
        begin(memory, session, mechanism, mechanism_flags::VERIFY, |library, mechanism| {
            let signature = memory.bytes(signature, signature_len)?;
            let key = object_handle(key);
            library.cryptoki.verify_signature_init(session_handle(session), mechanism, key, signature)
        })
    }

    fn C_VerifySignature(session: CK_SESSION_HANDLE, data: *mut CK_BYTE, data_len: CK_ULONG) {
        library::with(|library| {
            let data = memory.bytes(data, data_len)?;
            library.cryptoki.verify_signature(session_handle(session), data)
        })
    }

    fn C_VerifySignatureUpdate(session: CK_SESSION_HANDLE, data: *mut CK_BYTE, data_len: CK_ULONG) {
        library::with(|library| {
            let data = memory.bytes(data, data_len)?;
            library.cryptoki.verify_update(session_handle(session), data)
        })
    }

    fn C_VerifySignatureFinal(session: CK_SESSION_HANDLE) {
        library::with(|library| library.cryptoki.verify_signature_final(session_handle(session)))
    }
}
