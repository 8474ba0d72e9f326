//! Sessions and logins.

use std::ffi::c_void;

use cryptoki_sys::{
    CK_BYTE, CK_FLAGS, CK_NOTIFY, CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CK_SESSION_INFO,
    CK_SESSION_VALIDATION_FLAGS_TYPE, CK_SLOT_ID, CK_STATE, CK_ULONG, CK_USER_TYPE, CK_UTF8CHAR,
};
use oarlock_cryptoki::{ReturnCode, SessionHandle, SlotId, UserType};

use super::functions;
use super::memory::number;
use crate::library::{self, Library};

/// Returns a handle of a session.
pub(super) fn session_handle(handle: CK_SESSION_HANDLE) -> SessionHandle {
    SessionHandle(number(handle))
}

/// Returns what was read of the arguments of a call. A wrong handle of its session is reported before their faults.
/// PKCS#11 3.2 5.1.7.
pub(super) fn in_session<T>(
    library: &Library,
    session: CK_SESSION_HANDLE,
    read: Result<T, ReturnCode>,
) -> Result<T, ReturnCode> {
    if read.is_err() {
        library.cryptoki.session_description(session_handle(session))?;
    }
    read
}

functions! { memory:
    fn C_OpenSession(
        slot: CK_SLOT_ID,
        flags: CK_FLAGS,
        application: *mut c_void,
        notify: CK_NOTIFY,
        session: *mut CK_SESSION_HANDLE,
    ) {
        library::with(|library| {
            if session.is_null() {
                return Err(ReturnCode::ArgumentsBad);
            }
            // No token has surrenders to notify of, so `notify` is never called.
            let opened = library.cryptoki.open_session(SlotId(number(slot)), number(flags))?;
            memory.write(session, opened.0 as CK_SESSION_HANDLE)
        })
    }

    fn C_CloseSession(session: CK_SESSION_HANDLE) {
        library::with(|library| {
            library.cryptoki.close_session(session_handle(session))?;
            library.pending.forget(number(session));
            Ok(())
        })
    }

    fn C_CloseAllSessions(slot: CK_SLOT_ID) {
        library::with(|library| {
            library.cryptoki.close_all_sessions(SlotId(number(slot)))?;
            let is_open = |session| library.cryptoki.session_description(SessionHandle(session)).is_ok();
            library.pending.retain(is_open);
            Ok(())
        })
    }

    fn C_GetSessionInfo(session: CK_SESSION_HANDLE, info: *mut CK_SESSION_INFO) {
        library::with(|library| {
            let about = library.cryptoki.session_description(session_handle(session))?;
            memory.write(info, CK_SESSION_INFO {
                slotID: about.slot.0 as CK_SLOT_ID,
                state: about.state as CK_STATE,
                flags: about.flags as CK_FLAGS,
                ulDeviceError: 0,
            })
        })
    }

    fn C_SessionCancel(session: CK_SESSION_HANDLE, flags: CK_FLAGS) {
        library::with(|library| library.cryptoki.session_cancel(session_handle(session), number(flags)))
    }

    fn C_Login(session: CK_SESSION_HANDLE, user: CK_USER_TYPE, pin: *mut CK_UTF8CHAR, pin_len: CK_ULONG) {
        library::with(|library| {
            let pin = memory.bytes_or_null(pin, pin_len)?;
            library.cryptoki.login(session_handle(session), UserType::try_from(number(user))?, pin)
        })
    }

    fn C_LoginUser(
        session: CK_SESSION_HANDLE,
        user: CK_USER_TYPE,
        pin: *mut CK_UTF8CHAR,
        pin_len: CK_ULONG,
        username: *mut CK_UTF8CHAR,
        username_len: CK_ULONG,
    ) {
        library::with(|library| {
            let pin = memory.bytes_or_null(pin, pin_len)?;
            // Tokens have one user, who has no name.
            if !memory.bytes(username, username_len)?.is_empty() {
                return Err(ReturnCode::FunctionNotSupported);
            }
            library.cryptoki.login(session_handle(session), UserType::try_from(number(user))?, pin)
        })
    }

    fn C_Logout(session: CK_SESSION_HANDLE) {
        library::with(|library| library.cryptoki.logout(session_handle(session)))
    }

    fn C_GetOperationState(session: CK_SESSION_HANDLE, state: *mut CK_BYTE, state_len: *mut CK_ULONG) {
        library::with(|library| {
            library.cryptoki.session_description(session_handle(session))?;
            Err(ReturnCode::StateUnsaveable)
        })
    }

    fn C_SetOperationState(
        session: CK_SESSION_HANDLE,
        state: *mut CK_BYTE,
        state_len: CK_ULONG,
        encryption_key: CK_OBJECT_HANDLE,
        authentication_key: CK_OBJECT_HANDLE,
    ) {
        library::with(|library| {
            library.cryptoki.session_description(session_handle(session))?;
            // No state was ever saved.
            Err(ReturnCode::SavedStateInvalid)
        })
    }

    fn C_GetSessionValidationFlags(
        session: CK_SESSION_HANDLE,
        kind: CK_SESSION_VALIDATION_FLAGS_TYPE,
        flags: *mut CK_FLAGS,
    ) {
        library::with(|library| {
            library.cryptoki.session_description(session_handle(session))?;
            // No validation is claimed, so that no flag is set.
            memory.write(flags, 0)
        })
    }
}
