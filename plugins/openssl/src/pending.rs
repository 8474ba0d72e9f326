//! An operation that has been submitted and not answered yet.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use oarlock::{PendingAnswer, PendingAnswers};
use oarlock_ffi::EventDescriptor;
use oarlock_wire::PendingJob;
use zeroize::Zeroizing;

use crate::error::ProviderError;

/// An operation that an engine of this process or a cryptoserver computes.
pub(crate) enum PendingOperation {
    Local(PendingAnswer),
    /// Jobs of one operation. Its answer is theirs, one behind the other.
    Together(PendingAnswers),
    Service(Box<PendingJob>),
}

impl PendingOperation {
    /// Blocks until the answer is there.
    pub(crate) fn wait(self) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        match self {
            Self::Local(answer) => Ok(answer.wait()?),
            Self::Together(answers) => Ok(answers.wait().joined()?),
            Self::Service(pending) => Ok(Zeroizing::new(pending.wait()?.expose().to_vec())),
        }
    }

    /// Returns the answer if it is there. Otherwise `event` is signalled when a local answer arrives; a cryptoserver's
    /// answer makes the descriptor of its connection readable.
    pub(crate) fn poll(
        &mut self,
        event: &Arc<EventDescriptor>,
    ) -> Option<Result<Zeroizing<Vec<u8>>, ProviderError>> {
        match self {
            Self::Local(answer) => {
                // The waker keeps the descriptor open for as long as a worker may still signal it.
                let waker = Waker::from(Arc::clone(event));
                match Pin::new(answer).poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(answer) => Some(answer.map_err(ProviderError::from)),
                    Poll::Pending => None,
                }
            }
            Self::Together(answers) => {
                let waker = Waker::from(Arc::clone(event));
                match Pin::new(answers).poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(answers) => Some(answers.joined().map_err(ProviderError::from)),
                    Poll::Pending => None,
                }
            }
            Self::Service(pending) => match pending.try_take() {
                Ok(answer) => answer.map(|answer| Ok(Zeroizing::new(answer.expose().to_vec()))),
                Err(error) => Some(Err(error.into())),
            },
        }
    }
}
