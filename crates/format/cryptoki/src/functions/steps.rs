//! One step of an operation, computed without a lock.

use super::Cryptoki;
use crate::constants::ReturnCode;
use crate::handle::SessionHandle;
use crate::session::{ActiveOperation, Session};

/// The state of an operation after a step that succeeded.
pub(super) enum StepEnd<R> {
    /// The operation continues.
    More(R),
    /// The operation has ended.
    Done(R),
    /// The operation continues when `C_AsyncComplete` has the result of this step.
    Waits(ReturnCode),
}

impl Cryptoki {
    /// Computes a step of the operation that `operation_of` selects. `action` gets the operation and the flags of the
    /// session.
    ///
    /// An error ends the operation, as the standard says, except if the buffer is too small, or if the PIN for this use
    /// is missing.
    pub(super) fn step<T, R>(
        &self,
        session: SessionHandle,
        operation_of: impl Fn(&mut Session) -> &mut ActiveOperation<T>,
        action: impl FnOnce(&mut T, u64) -> Result<StepEnd<R>, ReturnCode>,
    ) -> Result<R, ReturnCode> {
        let (mut operation, flags) =
            self.sessions.with(session, |found| Ok((operation_of(found).take()?, found.flags)))?;
        let result = action(&mut operation, flags);
        let goes_on = match &result {
            Ok(StepEnd::More(_)) => true,
            Ok(StepEnd::Done(_)) => false,
            // The operation stays busy. `finish_pending` puts it back.
            Ok(StepEnd::Waits(code)) => return Err(*code),
            Err(code) => matches!(code, ReturnCode::BufferTooSmall | ReturnCode::UserNotLoggedIn),
        };
        // If the session was closed during the step, the call fails and the operation is dropped.
        self.sessions.with(session, |found| {
            operation_of(found).put_back(goes_on.then_some(operation));
            Ok(())
        })?;
        match result? {
            StepEnd::More(value) | StepEnd::Done(value) => Ok(value),
            StepEnd::Waits(code) => Err(code),
        }
    }
}
