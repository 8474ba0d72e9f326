//! Sessions and logins.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::{Cryptoki, SlotRuntime};
use crate::constants::{ReturnCode, mechanism_flags, session_flags};
use crate::handle::{SessionDescription, SessionHandle, TokenSessionState};
use crate::session::Session;
use crate::token::{SlotId, UserType};

const KNOWN_FLAGS: u64 =
    session_flags::SERIAL_SESSION | session_flags::RW_SESSION | session_flags::ASYNC_SESSION;

impl Cryptoki {
    /// `C_OpenSession`.
    ///
    /// # Errors
    /// [`ReturnCode::SessionParallelNotSupported`] without `CKF_SERIAL_SESSION`, [`ReturnCode::ArgumentsBad`] for a
    /// flag that is not known, [`ReturnCode::SessionReadWriteSoExists`], [`ReturnCode::SessionCount`],
    /// [`ReturnCode::TokenNotPresent`].
    pub fn open_session(&self, slot: SlotId, flags: u64) -> Result<SessionHandle, ReturnCode> {
        let (index, slot) = self.slot(slot)?;
        // The flag has no meaning any more, but it must be set. PKCS#11 3.2 5.6.1.
        if flags & session_flags::SERIAL_SESSION == 0 {
            return Err(ReturnCode::SessionParallelNotSupported);
        }
        if flags & !KNOWN_FLAGS != 0 {
            return Err(ReturnCode::ArgumentsBad);
        }
        // Only a removable token can be missing, so the others are not asked for each session.
        if slot.settings.is_removable {
            slot.settings.objects.describe()?;
        }
        let is_read_write = flags & session_flags::RW_SESSION != 0;
        let is_officer = slot.login.user() == Some(UserType::SecurityOfficer);
        if !is_read_write && is_officer {
            return Err(ReturnCode::SessionReadWriteSoExists);
        }
        // Counted before it is opened: two threads cannot both take the last place.
        if slot.open_sessions.fetch_add(1, Ordering::Relaxed) >= slot.settings.max_sessions {
            slot.open_sessions.fetch_sub(1, Ordering::Relaxed);
            return Err(ReturnCode::SessionCount);
        }
        if is_read_write {
            slot.open_read_write.fetch_add(1, Ordering::Relaxed);
        }
        self.sessions.open(index, flags)
    }

    /// `C_CloseSession`. The last session of a slot takes the login with it.
    ///
    /// # Errors
    /// [`ReturnCode::SessionHandleInvalid`].
    pub fn close_session(&self, session: SessionHandle) -> Result<(), ReturnCode> {
        // Closed before its objects are removed, so that no call in it makes another object meanwhile.
        let closed = self.sessions.close(session)?;
        let slot = self.slot_at(closed.slot)?;
        // Without the mark, each session that closes would walk over the objects of all sessions.
        if closed.has_objects {
            slot.objects.forget_session(session);
        }
        if closed.flags & session_flags::RW_SESSION != 0 {
            slot.open_read_write.fetch_sub(1, Ordering::Relaxed);
        }
        // The login ends with the last session. PKCS#11 3.2 5.6.2.
        let is_last = slot.open_sessions.fetch_sub(1, Ordering::Relaxed) == 1;
        if is_last && slot.login.user().is_some() { self.log_out(slot, closed.slot) } else { Ok(()) }
    }

    /// `C_CloseAllSessions`.
    ///
    /// # Errors
    /// [`ReturnCode::SlotIdInvalid`].
    pub fn close_all_sessions(&self, slot: SlotId) -> Result<(), ReturnCode> {
        let (index, _) = self.slot(slot)?;
        for session in self.sessions.handles(index) {
            match self.close_session(session) {
                // Another thread closed it.
                Ok(()) | Err(ReturnCode::SessionHandleInvalid) => {}
                Err(code) => return Err(code),
            }
        }
        Ok(())
    }

    /// Closes every session and forgets every key: `C_Finalize`.
    pub fn close_everything(&self) {
        for slot in &self.slots {
            // An error of a token does not keep the others open.
            let _ = self.close_all_sessions(slot.settings.id);
            slot.objects.forget_all();
        }
    }

    /// `C_GetSessionInfo`.
    ///
    /// # Errors
    /// [`ReturnCode::SessionHandleInvalid`].
    pub fn session_description(&self, session: SessionHandle) -> Result<SessionDescription, ReturnCode> {
        let caller = self.caller(session)?;
        let state = match (caller.is_read_write(), caller.slot.login.user()) {
            (false, Some(UserType::User)) => TokenSessionState::ReadOnlyUser,
            (false, _) => TokenSessionState::ReadOnlyPublic,
            (true, None) => TokenSessionState::ReadWritePublic,
            (true, Some(UserType::SecurityOfficer)) => TokenSessionState::ReadWriteSecurityOfficer,
            (true, Some(_)) => TokenSessionState::ReadWriteUser,
        };
        Ok(SessionDescription { slot: caller.slot.settings.id, state, flags: caller.flags })
    }

    /// `C_SessionCancel` of PKCS#11 3.0. `flags` are the operations to cancel,
    /// [`mechanism_flags`](crate::mechanism_flags), or `CKF_FIND_OBJECTS` (0x40).
    ///
    /// # Errors
    /// [`ReturnCode::SessionHandleInvalid`].
    pub fn session_cancel(&self, session: SessionHandle, flags: u64) -> Result<(), ReturnCode> {
        self.sessions.with(session, |found| {
            found.cancel(flags);
            found.pending.retain(|call| flags & flag_of(call.function) == 0);
            Ok(())
        })
    }

    /// `C_Login`, and `C_LoginUser` with an empty user name.
    ///
    /// # Errors
    /// [`ReturnCode::UserAlreadyLoggedIn`], [`ReturnCode::UserAnotherAlreadyLoggedIn`],
    /// [`ReturnCode::SessionReadOnlyExists`], and those of [`TokenObjects::login`](crate::TokenObjects::login).
    pub fn login(
        &self,
        session: SessionHandle,
        user: UserType,
        pin: Option<&[u8]>,
    ) -> Result<(), ReturnCode> {
        let slot = self.caller(session)?.slot;
        if user == UserType::ContextSpecific {
            return self.login_for_one_use(session, slot, pin);
        }
        let _one_at_a_time = slot.login_lock.lock().unwrap_or_else(PoisonError::into_inner);
        match slot.login.user() {
            Some(current) if current == user => return Err(ReturnCode::UserAlreadyLoggedIn),
            Some(_) => return Err(ReturnCode::UserAnotherAlreadyLoggedIn),
            None => {}
        }
        let open = slot.open_sessions.load(Ordering::Relaxed);
        let has_read_only = open > slot.open_read_write.load(Ordering::Relaxed);
        if user == UserType::SecurityOfficer && has_read_only {
            return Err(ReturnCode::SessionReadOnlyExists);
        }
        slot.settings.objects.login(user, pin)?;
        slot.login.set(Some(user));
        slot.objects.reload()
    }

    /// Gives the PIN for one use of a key with `CKA_ALWAYS_AUTHENTICATE`.
    fn login_for_one_use(
        &self,
        session: SessionHandle,
        slot: &SlotRuntime,
        pin: Option<&[u8]>,
    ) -> Result<(), ReturnCode> {
        if !slot.login.is_user() {
            return Err(ReturnCode::UserNotLoggedIn);
        }
        let waits = self.sessions.with(session, |found| Ok(pins_awaited(found) > 0))?;
        if !waits {
            return Err(ReturnCode::OperationNotInitialized);
        }
        // The session's lock is not held while the token checks the PIN, which may take long.
        slot.settings.objects.login(UserType::ContextSpecific, pin)?;
        self.sessions.with(session, |found| {
            if let Some(operation) = found.sign.active_mut() {
                operation.needs_login = false;
            }
            if let Some(operation) = found.decrypt.active_mut() {
                operation.needs_login = false;
            }
            Ok(())
        })
    }

    /// `C_Logout`. Private objects of sessions end, and so does every operation.
    ///
    /// # Errors
    /// [`ReturnCode::UserNotLoggedIn`].
    pub fn logout(&self, session: SessionHandle) -> Result<(), ReturnCode> {
        let index = self.sessions.with(session, |found| Ok(found.slot))?;
        let slot = self.slot_at(index)?;
        if slot.login.user().is_none() {
            return Err(ReturnCode::UserNotLoggedIn);
        }
        self.log_out(slot, index)
    }

    fn log_out(&self, slot: &SlotRuntime, index: usize) -> Result<(), ReturnCode> {
        let _one_at_a_time = slot.login_lock.lock().unwrap_or_else(PoisonError::into_inner);
        // First, so that nobody begins something while the keys are closed.
        slot.login.set(None);
        for session in self.sessions.handles(index) {
            let cancelled = self.sessions.with(session, |found| {
                found.cancel_operations();
                Ok(())
            });
            // A session that is closed meanwhile has no operations.
            cancelled.or_else(|code| match code {
                ReturnCode::SessionHandleInvalid => Ok(()),
                code => Err(code),
            })?;
        }
        slot.settings.objects.logout()?;
        // After the logout of the token: before it, another thread could open a key again that was just forgotten.
        slot.objects.forget_private();
        slot.objects.reload()
    }
}

/// Returns the flag that cancels a function which may wait for `C_AsyncComplete`.
fn flag_of(function: &str) -> u64 {
    match function {
        "C_GenerateKey" => mechanism_flags::GENERATE,
        "C_GenerateKeyPair" => mechanism_flags::GENERATE_KEY_PAIR,
        "C_WrapKey" => mechanism_flags::WRAP,
        "C_UnwrapKey" => mechanism_flags::UNWRAP,
        "C_DeriveKey" => mechanism_flags::DERIVE,
        "C_EncapsulateKey" => mechanism_flags::ENCAPSULATE,
        "C_DecapsulateKey" => mechanism_flags::DECAPSULATE,
        other if other.starts_with("C_Encrypt") => mechanism_flags::ENCRYPT,
        other if other.starts_with("C_Decrypt") => mechanism_flags::DECRYPT,
        other if other.starts_with("C_Digest") => mechanism_flags::DIGEST,
        other if other.starts_with("C_Sign") => mechanism_flags::SIGN,
        other if other.starts_with("C_Verify") => mechanism_flags::VERIFY,
        // Functions for messages are never pending.
        _ => 0,
    }
}

fn pins_awaited(session: &mut Session) -> usize {
    let sign = session.sign.active_mut().is_some_and(|operation| operation.needs_login);
    let decrypt = session.decrypt.active_mut().is_some_and(|operation| operation.needs_login);
    usize::from(sign) + usize::from(decrypt)
}
