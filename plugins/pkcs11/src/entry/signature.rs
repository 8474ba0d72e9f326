//! Signatures and message authentication codes.

use cryptoki_sys::{CK_BYTE, CK_MECHANISM, CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CK_ULONG};
use oarlock_cryptoki::{Mechanism, ReturnCode, mechanism_flags};

use super::asynchronous::CallInSession;
use super::functions;
use super::memory::CallerMemory;
use super::object::object_handle;
use super::session::{in_session, session_handle};
use crate::library::{self, Library};

/// A function that reads a mechanism.
type MechanismReader<'c> = fn(CallerMemory<'c>, *const CK_MECHANISM) -> Result<Mechanism<'c>, ReturnCode>;

/// Begins an operation. A null pointer in place of the mechanism ends the active one. PKCS#11 3.2 5.11.
pub(super) fn begin(
    memory: CallerMemory<'_>,
    session: CK_SESSION_HANDLE,
    mechanism: *const CK_MECHANISM,
    flag: u64,
    init: impl FnOnce(&Library, &Mechanism<'_>) -> Result<(), ReturnCode>,
) -> Result<(), ReturnCode> {
    begin_with(memory, session, (mechanism, CallerMemory::mechanism), flag, init)
}

/// Begins an operation as [`begin`] does, with a way to read the mechanism.
pub(super) fn begin_with<'c>(
    memory: CallerMemory<'c>,
    session: CK_SESSION_HANDLE,
    (mechanism, read): (*const CK_MECHANISM, MechanismReader<'c>),
    flag: u64,
    init: impl FnOnce(&Library, &Mechanism<'_>) -> Result<(), ReturnCode>,
) -> Result<(), ReturnCode> {
    library::with(|library| {
        if mechanism.is_null() {
            return library.cryptoki.session_cancel(session_handle(session), flag);
        }
        let mechanism = in_session(library, session, read(memory, mechanism))?;
        init(library, &mechanism)
    })
}

functions! { init; C_SignInit: sign_init by SIGN, C_VerifyInit: verify_init by VERIFY }

functions! { output of data; C_Sign: sign }

functions! { output; C_SignFinal: sign_final }

functions! { data;
    C_SignUpdate: sign_update,
    C_VerifyUpdate: verify_update,
    C_VerifyFinal: verify_final,
    C_VerifySignature: verify_signature,
    C_VerifySignatureUpdate: verify_update,
}

functions! { memory:
    fn C_Verify(
        session: CK_SESSION_HANDLE,
        data: *mut CK_BYTE,
        data_len: CK_ULONG,
        signature: *mut CK_BYTE,
        signature_len: CK_ULONG,
    ) {
        library::with(|library| {
            let call = CallInSession { memory, library, session, function: "C_Verify" };
            call.ending(|| {
                let data = memory.bytes(data, data_len)?;
                let signature = memory.bytes(signature, signature_len)?;
                call.plain(|handle| library.cryptoki.verify(handle, data, signature))
            })
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

    fn C_VerifySignatureFinal(session: CK_SESSION_HANDLE) {
        library::with(|library| {
            let call = CallInSession { memory, library, session, function: "C_VerifySignatureFinal" };
            call.plain(|handle| library.cryptoki.verify_signature_final(handle))
        })
    }
}
