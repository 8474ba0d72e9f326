//! Asynchronous sessions: calls that are submitted and completed later. PKCS#11 3.2 5.21.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use oarlock::{Job, SubmitOptions};

use super::{AsyncAnswer, Cryptoki};
use crate::constants::ReturnCode;
use crate::handle::SessionHandle;
use crate::operation::{FailureRule, to_return_code};
use crate::output::CallOutput;
use crate::session::{PendingCall, Session};

impl Cryptoki {
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

    /// Submits a job whose answer `C_AsyncComplete` takes. Returns [`ReturnCode::Pending`], or the reason why nobody
    /// can take the answer.
    pub(super) fn submit_pending(
        &self,
        session: SessionHandle,
        function: &'static str,
        job: &Job<'_>,
        output: &CallOutput<'_>,
        rejection: ReturnCode,
    ) -> ReturnCode {
        // Computing here would make one thread wait for one job after the other.
        let options = SubmitOptions::default().with_never_on_caller_thread(true).with_coalesce(true);
        let max_len = output.space();
        let mut answer = self.accelerator.submit(job, options);
        // The first look tells the dispatcher that somebody waits.
        let waker = self.sessions.with(session, |found| Ok(found.waker.clone()));
        let waker = waker.ok().flatten();
        let mut context = Context::from_waker(waker.as_ref().unwrap_or(Waker::noop()));
        let ready = Pin::new(&mut answer).poll(&mut context);
        let call = match ready {
            Poll::Pending => {
                PendingCall { function, answer: Some(answer), finished: None, max_len, rejection }
            }
            Poll::Ready(finished) => {
                PendingCall { function, answer: None, finished: Some(finished), max_len, rejection }
            }
        };
        match self.keep_pending(session, call) {
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
    /// bytes that the plugin copies to the buffer of the first call.
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
        let finished = match (call.finished.take(), &mut call.answer) {
            (Some(finished), _) => finished,
            (None, None) => return Err(ReturnCode::GeneralError),
            (None, Some(answer)) => {
                let mut context = Context::from_waker(waker.as_ref().unwrap_or(Waker::noop()));
                match Pin::new(answer).poll(&mut context) {
                    Poll::Ready(finished) => finished,
                    Poll::Pending => {
                        self.keep_pending(session, call)?;
                        return Err(ReturnCode::Pending);
                    }
                }
            }
        };
        let rule = FailureRule { rejection: call.rejection, length: ReturnCode::DataLenRange };
        let bytes = finished.map_err(|error| to_return_code(&error, rule))?;
        // The plaintext of a decryption shows its length only now.
        if bytes.len() > call.max_len {
            return Err(ReturnCode::BufferTooSmall);
        }
        Ok(AsyncAnswer { bytes, object: None })
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
