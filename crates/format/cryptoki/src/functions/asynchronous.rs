//! Asynchronous sessions: calls that are submitted and completed later. PKCS#11 3.2 5.21.

use std::future::Future;
use std::task::{Context, Poll, Waker};

use super::access::Caller;
use super::{AsyncAnswer, Cryptoki};
use crate::constants::ReturnCode;
use crate::handle::SessionHandle;
use crate::operation::{CipherDirection, ComputeRoute, compute_here};
use crate::output::CallOutput;
use crate::session::{CallResult, PendingCall, PendingState, Session};

/// The computation of a call that needs nothing of its caller's memory.
pub(super) trait CallComputation: Send + Sized + 'static {
    /// Computes the result.
    fn compute(self, route: ComputeRoute<'_>) -> impl Future<Output = Result<CallResult, ReturnCode>> + Send;
}

/// The place of a call that waits for `C_AsyncComplete`.
#[derive(Clone, Copy)]
pub(super) struct PendingPlace {
    pub(super) session: SessionHandle,
    /// The name of the function.
    pub(super) function: &'static str,
    /// The bytes of the caller's buffer.
    pub(super) max_len: usize,
    /// The cipher that goes on after the call.
    pub(super) next_piece_of: Option<CipherDirection>,
}

impl PendingPlace {
    pub(super) fn new(session: SessionHandle, function: &'static str, output: &CallOutput<'_>) -> Self {
        Self { session, function, max_len: output.space(), next_piece_of: None }
    }
}

impl Cryptoki {
    /// Computes the result of a call at once, or submits it in an asynchronous session.
    ///
    /// # Errors
    /// [`ReturnCode::Pending`] if it was submitted, [`ReturnCode::OperationActive`] if a call of the function waits
    /// already.
    pub(super) fn compute(
        &self,
        caller: &Caller<'_>,
        function: &'static str,
        max_len: usize,
        computation: impl CallComputation,
    ) -> Result<CallResult, ReturnCode> {
        if !caller.is_asynchronous() {
            return compute_here(computation.compute(ComputeRoute::Here(&self.accelerator)));
        }
        self.check_none_pending(caller.session, function)?;
        let accelerator = self.accelerator.clone();
        let place = PendingPlace { session: caller.session, function, max_len, next_piece_of: None };
        let computation = async move { computation.compute(ComputeRoute::Queue(&accelerator)).await };
        Err(self.submit_pending(place, computation))
    }

    /// Checks that no call of a function waits for `C_AsyncComplete`.
    ///
    /// # Errors
    /// [`ReturnCode::OperationActive`].
    pub(super) fn check_none_pending(
        &self,
        session: SessionHandle,
        function: &str,
    ) -> Result<(), ReturnCode> {
        let waits = |found: &mut Session| Ok(found.pending.iter().any(|call| call.function == function));
        if self.sessions.with(session, waits)? { Err(ReturnCode::OperationActive) } else { Ok(()) }
    }

    /// Submits a computation whose result `C_AsyncComplete` takes. Returns [`ReturnCode::Pending`], or the reason why
    /// nobody can take the result.
    pub(super) fn submit_pending(
        &self,
        place: PendingPlace,
        computation: impl Future<Output = Result<CallResult, ReturnCode>> + Send + 'static,
    ) -> ReturnCode {
        let PendingPlace { session, function, max_len, next_piece_of } = place;
        let mut computation = Box::pin(computation);
        // The first look submits it, and tells the dispatcher that somebody waits.
        let waker = self.sessions.with(session, |found| Ok(found.waker.clone()));
        let waker = waker.ok().flatten();
        let mut context = Context::from_waker(waker.as_ref().unwrap_or(Waker::noop()));
        let state = match computation.as_mut().poll(&mut context) {
            Poll::Pending => PendingState::Running(computation),
            Poll::Ready(result) => {
                // Nobody else would tell an event loop that the answer is there.
                if let Some(waker) = &waker {
                    waker.wake_by_ref();
                }
                PendingState::Finished(result)
            }
        };
        match self.keep_pending(session, PendingCall { function, state, max_len, next_piece_of }) {
            Ok(()) => ReturnCode::Pending,
            Err(code) => code,
        }
    }

    fn keep_pending(&self, session: SessionHandle, call: PendingCall) -> Result<(), ReturnCode> {
        self.sessions.with(session, |found| {
            found.pending.push(call);
            Ok(())
        })
    }

    /// `C_AsyncComplete` of PKCS#11 3.2. `function` is the name of the function, such as `C_Sign`. The answer has the
    /// bytes that the plugin copies to the buffer of the first call, and the handles of new objects.
    ///
    /// # Errors
    /// [`ReturnCode::Pending`] if the answer is not there yet, [`ReturnCode::OperationNotInitialized`] if no such call
    /// waits, and the errors of the function.
    pub fn async_complete(&self, session: SessionHandle, function: &str) -> Result<AsyncAnswer, ReturnCode> {
        // Taken out, so that the session's lock is not held while the answer is finished.
        let (mut call, waker) = self.sessions.with(session, |found| {
            let index = found.pending.iter().position(|call| call.function == function);
            let index = index.ok_or(ReturnCode::OperationNotInitialized)?;
            Ok((found.pending.swap_remove(index), found.waker.clone()))
        })?;
        let result = match &mut call.state {
            PendingState::Finished(result) => std::mem::replace(result, Err(ReturnCode::GeneralError)),
            PendingState::Running(computation) => {
                let mut context = Context::from_waker(waker.as_ref().unwrap_or(Waker::noop()));
                match computation.as_mut().poll(&mut context) {
                    Poll::Ready(result) => result,
                    Poll::Pending => {
                        self.keep_pending(session, call)?;
                        return Err(ReturnCode::Pending);
                    }
                }
            }
        };
        self.finish_pending(session, &call, result)
    }

    fn finish_pending(
        &self,
        session: SessionHandle,
        call: &PendingCall,
        result: Result<CallResult, ReturnCode>,
    ) -> Result<AsyncAnswer, ReturnCode> {
        let (result, cipher) = match result {
            Ok(mut result) => {
                let cipher = result.cipher.take();
                (Ok(result), cipher)
            }
            Err(code) => (Err(code), None),
        };
        if let Some(direction) = call.next_piece_of {
            self.sessions.with(session, |found| {
                found.cipher(direction).put_back(cipher);
                Ok(())
            })?;
        }
        let result = result?;
        // The plaintext of a decryption shows its length only now.
        if result.bytes.len() > call.max_len {
            return Err(ReturnCode::BufferTooSmall);
        }
        let handles = if result.objects.is_empty() {
            Vec::new()
        } else {
            self.add(&self.caller(session)?, result.objects)?
        };
        let mut handles = handles.into_iter();
        Ok(AsyncAnswer { bytes: result.bytes, object: handles.next(), additional_object: handles.next() })
    }

    /// Sets a waker that is woken when an operation of an asynchronous session may be finished.
    ///
    /// # Errors
    /// [`ReturnCode::SessionHandleInvalid`].
    pub fn set_waker(&self, session: SessionHandle, waker: Option<Waker>) -> Result<(), ReturnCode> {
        self.sessions.with(session, |found| {
            found.waker = waker;
            Ok(())
        })
    }
}
