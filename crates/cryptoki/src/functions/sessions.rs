//! Sessions and logins.

use std::task::Waker;

use super::{AsyncAnswer, Cryptoki};
use crate::constants::ReturnCode;
use crate::session::{SessionDescription, SessionHandle};
use crate::token::{SlotId, UserType};

impl Cryptoki {
    /// `C_OpenSession`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn open_session(&self, _slot: SlotId, _flags: u64) -> Result<SessionHandle, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_CloseSession`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn close_session(&self, _session: SessionHandle) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_CloseAllSessions`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn close_all_sessions(&self, _slot: SlotId) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_GetSessionInfo`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn session_description(&self, _session: SessionHandle) -> Result<SessionDescription, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_SessionCancel` of PKCS#11 3.0. `flags` are the operations to cancel,
    /// [`mechanism_flags`](crate::mechanism_flags), or `CKF_FIND_OBJECTS` (0x40).
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn session_cancel(&self, _session: SessionHandle, _flags: u64) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_Login`, and `C_LoginUser` with an empty user name.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn login(
        &self,
        _session: SessionHandle,
        _user: UserType,
        _pin: Option<&[u8]>,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_Logout`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn logout(&self, _session: SessionHandle) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// Closes every session and forgets every key: `C_Finalize`.
    pub fn close_everything(&self) {}

    /// `C_AsyncComplete` of PKCS#11 3.2. `function` is the name of the function, such as `C_Sign`. The answer has the
    /// bytes that the plugin copies to the buffer of the first call.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn async_complete(
        &self,
        _session: SessionHandle,
        _function: &str,
    ) -> Result<AsyncAnswer, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// Sets a waker that is woken when an operation of an asynchronous session may be finished.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn set_waker(&self, _session: SessionHandle, _waker: Option<Waker>) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }
}
