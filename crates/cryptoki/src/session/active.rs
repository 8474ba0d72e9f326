//! A session and the operations that are active in it.

use std::fmt;
use std::task::Waker;

use oarlock::{AnswerBytes, JobError, PendingAnswer};

use crate::constants::{ReturnCode, session_flags};
use crate::handle::ObjectHandle;
use crate::operation::{CipherOperation, DigestOperation, SignatureOperation};

/// An open session.
#[derive(Debug)]
pub(crate) struct Session {
    /// The index of the slot.
    pub(crate) slot: usize,
    pub(crate) flags: u64,
    /// The handles that a search has found and not returned, the last first.
    pub(crate) search: Option<Vec<ObjectHandle>>,
    pub(crate) encrypt: ActiveOperation<CipherOperation>,
    pub(crate) decrypt: ActiveOperation<CipherOperation>,
    pub(crate) digest: ActiveOperation<DigestOperation>,
    pub(crate) sign: ActiveOperation<SignatureOperation>,
    pub(crate) verify: ActiveOperation<SignatureOperation>,
    /// The asynchronous calls that nobody has completed, at most one per function.
    pub(crate) pending: Vec<PendingCall>,
    pub(crate) waker: Option<Waker>,
    /// True if the session has made objects that end with it.
    pub(crate) has_objects: bool,
}

/// An operation of a session.
#[derive(Debug, Default)]
pub(crate) enum ActiveOperation<T> {
    #[default]
    Idle,
    Active(T),
    /// A thread computes a step. The operation is with it, so that no lock is held.
    Busy,
}

/// A call that returned `CKR_PENDING`.
pub(crate) struct PendingCall {
    /// The name of the function.
    pub(crate) function: &'static str,
    /// `None` once it is finished.
    pub(crate) answer: Option<PendingAnswer>,
    /// The result, if the first look found it.
    pub(crate) finished: Option<Result<AnswerBytes, JobError>>,
    /// The bytes of the caller's buffer.
    pub(crate) max_len: usize,
    /// The return code of a job that the peer's input makes fail.
    pub(crate) rejection: ReturnCode,
}

impl Session {
    pub(crate) fn new(slot: usize, flags: u64) -> Self {
        Self {
            slot,
            flags,
            search: None,
            encrypt: ActiveOperation::Idle,
            decrypt: ActiveOperation::Idle,
            digest: ActiveOperation::Idle,
            sign: ActiveOperation::Idle,
            verify: ActiveOperation::Idle,
            pending: Vec::new(),
            waker: None,
            has_objects: false,
        }
    }

    pub(crate) fn is_read_write(&self) -> bool {
        self.flags & session_flags::RW_SESSION != 0
    }

    /// Ends every operation, as a logout does.
    pub(crate) fn cancel_operations(&mut self) {
        let (waker, has_objects) = (self.waker.take(), self.has_objects);
        *self = Self { waker, has_objects, ..Self::new(self.slot, self.flags) };
    }
}

impl<T> ActiveOperation<T> {
    /// Begins an operation.
    ///
    /// # Errors
    /// [`ReturnCode::OperationActive`].
    pub(crate) fn begin(&mut self, operation: T) -> Result<(), ReturnCode> {
        self.check_idle()?;
        *self = Self::Active(operation);
        Ok(())
    }

    /// # Errors
    /// [`ReturnCode::OperationActive`] if an operation is active.
    pub(crate) fn check_idle(&self) -> Result<(), ReturnCode> {
        if matches!(self, Self::Idle) { Ok(()) } else { Err(ReturnCode::OperationActive) }
    }

    /// Takes the operation out, to compute a step without a lock.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`]; [`ReturnCode::OperationActive`] if another thread computes a step.
    pub(crate) fn take(&mut self) -> Result<T, ReturnCode> {
        match std::mem::replace(self, Self::Busy) {
            Self::Active(operation) => Ok(operation),
            Self::Idle => {
                *self = Self::Idle;
                Err(ReturnCode::OperationNotInitialized)
            }
            Self::Busy => Err(ReturnCode::OperationActive),
        }
    }

    /// Puts the operation back, or ends it. An operation that was cancelled meanwhile stays so.
    pub(crate) fn put_back(&mut self, operation: Option<T>) {
        if matches!(self, Self::Busy) {
            *self = operation.map_or(Self::Idle, Self::Active);
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        matches!(self, Self::Active(_))
    }

    pub(crate) fn active_mut(&mut self) -> Option<&mut T> {
        if let Self::Active(operation) = self { Some(operation) } else { None }
    }
}

impl fmt::Debug for PendingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PendingCall({}, {:?})", self.function, self.answer)
    }
}
