//! A session and the operations that are active in it.

use std::fmt;
use std::pin::Pin;
use std::task::Waker;

use zeroize::Zeroizing;

use crate::constants::{ReturnCode, mechanism_flags as flag};
use crate::handle::ObjectHandle;
use crate::object::NewObject;
use crate::operation::{
    CipherDirection, CipherOperation, DigestOperation, MessageCipher, MessageSignature, SignatureOperation,
};

/// `CKF_FIND_OBJECTS`, a flag of `C_SessionCancel`.
const FIND_OBJECTS: u64 = 0x40;

/// An open session, or the memory of a closed one for the next.
#[derive(Debug, Default)]
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
    pub(crate) message_encrypt: ActiveOperation<MessageCipher>,
    pub(crate) message_decrypt: ActiveOperation<MessageCipher>,
    pub(crate) message_sign: ActiveOperation<MessageSignature>,
    pub(crate) message_verify: ActiveOperation<MessageSignature>,
    /// The asynchronous calls that nobody has completed, at most one per function.
    pub(crate) pending: Vec<PendingCall>,
    pub(crate) waker: Option<Waker>,
    /// True if the session has made objects that end with it.
    pub(crate) has_objects: bool,
}

/// A session that was closed.
#[derive(Debug)]
pub(crate) struct ClosedSession {
    pub(crate) slot: usize,
    pub(crate) flags: u64,
    pub(crate) has_objects: bool,
}

/// An operation of a session.
#[derive(Debug, Default)]
pub(crate) enum ActiveOperation<T> {
    #[default]
    Idle,
    /// Boxed, because a step moves it out of the session and back.
    Active(Box<T>),
    /// A thread computes a step. The operation is with it, so that no lock is held.
    Busy,
}

/// A call that returned `CKR_PENDING`.
pub(crate) struct PendingCall {
    /// The name of the function.
    pub(crate) function: &'static str,
    pub(crate) computation: PendingComputation,
    /// The bytes of the caller's buffer.
    pub(crate) max_len: usize,
    /// The cipher that continues after the call. It is busy until then.
    pub(crate) next_piece_of: Option<CipherDirection>,
}

/// A computation of an asynchronous session.
pub(crate) type PendingComputation = Pin<Box<dyn Future<Output = Result<CallResult, ReturnCode>> + Send>>;

/// The result of a computation, before new objects have handles.
#[derive(Default)]
pub(crate) struct CallResult {
    pub(crate) bytes: Zeroizing<Vec<u8>>,
    pub(crate) objects: Vec<NewObject>,
    /// The cipher that continues.
    pub(crate) cipher: Option<Box<CipherOperation>>,
}

impl CallResult {
    pub(crate) fn of_bytes(bytes: Zeroizing<Vec<u8>>) -> Self {
        Self { bytes, ..Self::default() }
    }

    pub(crate) fn of_object(object: NewObject) -> Self {
        Self { objects: vec![object], ..Self::default() }
    }
}

impl Session {
    /// Returns the cipher of a direction.
    pub(crate) fn cipher(&mut self, direction: CipherDirection) -> &mut ActiveOperation<CipherOperation> {
        match direction {
            CipherDirection::Encrypt => &mut self.encrypt,
            CipherDirection::Decrypt => &mut self.decrypt,
        }
    }

    /// Ends every operation, as a logout does.
    pub(crate) fn cancel_operations(&mut self) {
        self.cancel(u64::MAX);
        self.pending.clear();
    }

    /// Ends the search and the operations of these flags.
    pub(crate) fn cancel(&mut self, flags: u64) {
        if flags & FIND_OBJECTS != 0 {
            self.search = None;
        }
        self.encrypt.cancel_if(flags & flag::ENCRYPT != 0);
        self.decrypt.cancel_if(flags & flag::DECRYPT != 0);
        self.digest.cancel_if(flags & flag::DIGEST != 0);
        self.sign.cancel_if(flags & flag::SIGN != 0);
        self.verify.cancel_if(flags & flag::VERIFY != 0);
        self.message_encrypt.cancel_if(flags & flag::MESSAGE_ENCRYPT != 0);
        self.message_decrypt.cancel_if(flags & flag::MESSAGE_DECRYPT != 0);
        self.message_sign.cancel_if(flags & flag::MESSAGE_SIGN != 0);
        self.message_verify.cancel_if(flags & flag::MESSAGE_VERIFY != 0);
    }

    /// Ends the session. Nothing of it is left for the next one.
    pub(crate) fn close(&mut self) -> ClosedSession {
        self.cancel_operations();
        self.waker = None;
        let has_objects = std::mem::take(&mut self.has_objects);
        ClosedSession { slot: self.slot, flags: self.flags, has_objects }
    }
}

impl<T> ActiveOperation<T> {
    /// Begins an operation.
    ///
    /// # Errors
    /// [`ReturnCode::OperationActive`].
    pub(crate) fn begin(&mut self, operation: T) -> Result<(), ReturnCode> {
        self.check_idle()?;
        *self = Self::Active(Box::new(operation));
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
    pub(crate) fn take(&mut self) -> Result<Box<T>, ReturnCode> {
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
    pub(crate) fn put_back(&mut self, operation: Option<Box<T>>) {
        if matches!(self, Self::Busy) {
            *self = operation.map_or(Self::Idle, Self::Active);
        }
    }

    fn cancel_if(&mut self, is_cancelled: bool) {
        if is_cancelled {
            // Also if a thread computes a step: it finds the operation idle, and does not put it back.
            *self = Self::Idle;
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
        write!(f, "PendingCall({})", self.function)
    }
}
