//! Asynchronous sessions: calls that are submitted and completed later. PKCS#11 3.2 5.21.

use std::future::{Future, ready};
use std::task::{Context, Poll, Waker};

use oarlock::Key;

use super::access::Caller;
use super::steps::StepEnd;
use super::{AsyncAnswer, Cryptoki};
use crate::constants::{ReturnCode, session_flags};
use crate::handle::SessionHandle;
use crate::operation::{CipherDirection, Computation, ComputedBytes, NewKey, submit_task};
use crate::output::CallOutput;
use crate::session::{CallResult, PendingCall, Session};

/// A call of a function that is pending in an asynchronous session.
#[derive(Clone, Copy)]
pub(super) struct FunctionCall {
    session: SessionHandle,
    is_asynchronous: bool,
    /// The name of the function.
    function: &'static str,
    /// The bytes of the caller's buffer.
    max_len: usize,
}

impl FunctionCall {
    /// Makes the call in a session with these flags.
    pub(super) fn new(
        (session, flags): (SessionHandle, u64),
        function: &'static str,
        output: Option<&CallOutput<'_>>,
    ) -> Self {
        let is_asynchronous = flags & session_flags::ASYNC_SESSION != 0;
        Self { session, is_asynchronous, function, max_len: output.map_or(0, CallOutput::space) }
    }
}

impl Caller<'_> {
    /// Returns the call of a function.
    pub(super) fn call(&self, function: &'static str, output: Option<&CallOutput<'_>>) -> FunctionCall {
        FunctionCall::new((self.session, self.flags), function, output)
    }
}

impl Cryptoki {
    /// Computes the result of a call at once, or submits it in an asynchronous session. `finish` makes the result of
    /// the bytes that were computed.
    ///
    /// # Errors
    /// [`ReturnCode::Pending`] if it was submitted, [`ReturnCode::OperationActive`] if a call of the function waits
    /// already.
    pub(super) fn compute(
        &self,
        call: FunctionCall,
        computation: Result<Computation<'_>, ReturnCode>,
        finish: impl FnOnce(ComputedBytes) -> Result<CallResult, ReturnCode> + Send + 'static,
    ) -> Result<CallResult, ReturnCode> {
        // An error of the plan is a result as well: an asynchronous session gets it from C_AsyncComplete.
        let computation = computation.unwrap_or_else(|code| Computation::done(Err(code)));
        if !call.is_asynchronous {
            return finish(computation.run(&self.accelerator));
        }
        // Checked before the submission, so that nothing is computed whose result nobody can take.
        self.check_none_pending(call)?;
        let submitted = computation.submit(&self.accelerator);
        Err(self.submit_pending(call, None, async move { finish(submitted.await) }))
    }

    /// Computes the last output of an operation as [`compute`](Self::compute) does, and writes it.
    pub(super) fn compute_output(
        &self,
        call: FunctionCall,
        computation: Result<Computation<'_>, ReturnCode>,
        output: &mut CallOutput<'_>,
    ) -> Result<StepEnd<()>, ReturnCode> {
        let result = self.compute(call, computation, |bytes| bytes.map(CallResult::of_bytes))?;
        output.write(&result.bytes)?;
        Ok(StepEnd::Done(()))
    }

    /// Generates a key as [`compute`](Self::compute) computes bytes.
    pub(super) fn generate(
        &self,
        call: FunctionCall,
        new: NewKey,
        finish: impl FnOnce(Key) -> Result<CallResult, ReturnCode> + Send + 'static,
    ) -> Result<CallResult, ReturnCode> {
        let task = move || finish(new.generate()?);
        if !call.is_asynchronous {
            return task();
        }
        // Checked first, as in `compute`: a generated key without a taker would only cost time.
        self.check_none_pending(call)?;
        let submitted = submit_task(&self.accelerator, new.usual_time(), task);
        Err(self.submit_pending(call, None, submitted))
    }

    /// Checks that no call of the function waits for `C_AsyncComplete`, if the session is asynchronous.
    ///
    /// # Errors
    /// [`ReturnCode::OperationActive`].
    pub(super) fn check_none_pending(&self, call: FunctionCall) -> Result<(), ReturnCode> {
        let waits =
            |found: &mut Session| Ok(found.pending.iter().any(|pending| pending.function == call.function));
        let waits = call.is_asynchronous && self.sessions.with(call.session, waits)?;
        if waits { Err(ReturnCode::OperationActive) } else { Ok(()) }
    }

    /// Keeps a submitted computation whose result `C_AsyncComplete` takes. Returns [`ReturnCode::Pending`], or the
    /// reason why nobody can take the result.
    pub(super) fn submit_pending(
        &self,
        call: FunctionCall,
        next_piece_of: Option<CipherDirection>,
        computation: impl Future<Output = Result<CallResult, ReturnCode>> + Send + 'static,
    ) -> ReturnCode {
        let FunctionCall { session, function, max_len, .. } = call;
        let mut pending =
            PendingCall { function, computation: Box::pin(computation), max_len, next_piece_of };
        // The first look tells the dispatcher that somebody waits.
        let waker = self.sessions.with(session, |found| Ok(found.waker.clone()));
        let waker = waker.ok().flatten();
        let mut context = Context::from_waker(waker.as_ref().unwrap_or(Waker::noop()));
        if let Poll::Ready(result) = pending.computation.as_mut().poll(&mut context) {
            pending.computation = Box::pin(ready(result));
            // Nobody else would tell an event loop that the answer is there.
            if let Some(waker) = &waker {
                waker.wake_by_ref();
            }
        }
        match self.keep_pending(session, pending) {
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
            // The order of pending calls has no meaning: there is at most one of each function.
            Ok((found.pending.swap_remove(index), found.waker.clone()))
        })?;
        let mut context = Context::from_waker(waker.as_ref().unwrap_or(Waker::noop()));
        let Poll::Ready(result) = call.computation.as_mut().poll(&mut context) else {
            self.keep_pending(session, call)?;
            return Err(ReturnCode::Pending);
        };
        self.finish_pending(session, &call, result)
    }

    fn finish_pending(
        &self,
        session: SessionHandle,
        call: &PendingCall,
        mut result: Result<CallResult, ReturnCode>,
    ) -> Result<AsyncAnswer, ReturnCode> {
        // Also after an error, which ends the cipher: without this step it would stay busy for ever.
        if let Some(direction) = call.next_piece_of {
            let cipher = result.as_mut().ok().and_then(|result| result.cipher.take());
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
