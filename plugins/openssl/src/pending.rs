//! An operation that has been submitted and not answered yet.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use std::time::Duration;

use oarlock::{Answers, PendingAnswers};
use oarlock_ffi::EventDescriptor;
use oarlock_wire::{PendingJob, PoolAnswer};
use zeroize::Zeroizing;

use crate::error::ProviderError;

/// The output of an operation, and the CPU time that it took on other threads and in other processes.
pub(crate) struct ComputedOutput {
    pub(crate) output: Zeroizing<Vec<u8>>,
    pub(crate) elsewhere: Duration,
}

impl ComputedOutput {
    /// An output that the thread itself has computed.
    pub(crate) fn here(output: Zeroizing<Vec<u8>>) -> Self {
        Self { output, elsewhere: Duration::ZERO }
    }
}

impl From<PoolAnswer> for ComputedOutput {
    fn from(answer: PoolAnswer) -> Self {
        Self { output: Zeroizing::new(answer.output.expose().to_vec()), elsewhere: answer.server_cpu }
    }
}

/// An operation that an engine of this process or a cryptoserver computes.
pub(crate) enum PendingOperation {
    /// The answer is that of all jobs, one behind the other.
    Local(PendingAnswers),
    Service(Box<PendingJob>),
}

impl PendingOperation {
    /// Blocks until the answer is there.
    pub(crate) fn wait(self) -> Result<ComputedOutput, ProviderError> {
        match self {
            Self::Local(answers) => joined(&answers.wait()),
            Self::Service(pending) => Ok(pending.wait()?.into()),
        }
    }

    /// Returns the answer if it is there. Otherwise `event` is signalled when a local answer arrives; a cryptoserver's
    /// answer makes the descriptor of its connection readable.
    pub(crate) fn poll(
        &mut self,
        event: &Arc<EventDescriptor>,
    ) -> Option<Result<ComputedOutput, ProviderError>> {
        match self {
            Self::Local(answers) => {
                // The waker keeps the descriptor open for as long as a worker may still signal it.
                let waker = Waker::from(Arc::clone(event));
                match Pin::new(answers).poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(answers) => Some(joined(&answers)),
                    Poll::Pending => None,
                }
            }
            Self::Service(pending) => match pending.try_take() {
                Ok(answer) => answer.map(|answer| Ok(answer.into())),
                Err(error) => Some(Err(error.into())),
            },
        }
    }
}

/// Returns the answers of engines of this process, one behind the other.
fn joined(answers: &Answers) -> Result<ComputedOutput, ProviderError> {
    Ok(ComputedOutput { output: answers.joined()?, elsewhere: answers.engine_time() })
}
