//! Inputs in which each one continues the one before. The shared bytes are stored and hashed once.

use std::future::{Future, poll_fn};
use std::ops::Range;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use oarlock::{Accelerator, DigestAlg, DigestChain, JobError};

use super::Hash;

/// The number of bytes to hash at a time. The digest chain copies its input.
const PIECE_BYTES: usize = 64 << 10;
/// The number of bytes to hash before other tasks of the thread run. The slowest engine needs about a millisecond for
/// them.
const TURN_BYTES: usize = 4 * PIECE_BYTES;

/// A run of growing inputs.
#[derive(Clone, Debug, Default)]
pub(super) struct GrowingInputs {
    steps: Vec<GrowthStep>,
}

#[derive(Clone, Debug)]
struct GrowthStep {
    alg: DigestAlg,
    /// The bytes that this input and all later ones add to the shared prefix.
    shared: Range<usize>,
    /// The bytes that only this input has at its end.
    tail: Range<usize>,
}

impl GrowingInputs {
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn push(&mut self, alg: DigestAlg, shared: Range<usize>, tail: Range<usize>) {
        self.steps.push(GrowthStep { alg, shared, tail });
    }

    /// Returns the digests in the order of the steps.
    pub(super) fn run(&self, accelerator: &Accelerator, data: &[u8]) -> Result<Vec<Hash>, JobError> {
        let mut digests = pin!(self.run_in_turns(accelerator, data));
        let mut context = Context::from_waker(Waker::noop());
        loop {
            // This thread runs no other task, so that polling again at once is right.
            if let Poll::Ready(digests) = digests.as_mut().poll(&mut context) {
                return digests;
            }
        }
    }

    /// Returns the digests like [`run`](Self::run), and yields to other tasks after every [`TURN_BYTES`].
    pub(super) async fn run_in_turns(
        &self,
        accelerator: &Accelerator,
        data: &[u8],
    ) -> Result<Vec<Hash>, JobError> {
        let mut digests = vec![Hash::new(); self.steps.len()];
        let mut turn = TurnBudget::default();
        for alg in [DigestAlg::Sha1, DigestAlg::Sha256] {
            self.run_alg(accelerator, data, alg, &mut digests, &mut turn).await?;
        }
        Ok(digests)
    }

    async fn run_alg(
        &self,
        accelerator: &Accelerator,
        data: &[u8],
        alg: DigestAlg,
        digests: &mut [Hash],
        turn: &mut TurnBudget,
    ) -> Result<(), JobError> {
        let Some(last) = self.steps.iter().rposition(|step| step.alg == alg) else { return Ok(()) };
        let mut chain = DigestChain::new(alg);
        for (step, digest) in self.steps[..=last].iter().zip(digests) {
            // Every step advances the shared chain, also those of another algorithm.
            turn.absorb(accelerator, &mut chain, &data[step.shared.clone()]).await?;
            if step.alg == alg {
                // The clone takes the end of this input; the chain itself continues to the next step.
                let mut whole = chain.clone();
                turn.absorb(accelerator, &mut whole, &data[step.tail.clone()]).await?;
                *digest = Hash::from_vec(whole.finish(accelerator)?);
            }
        }
        Ok(())
    }
}

/// The number of bytes that were hashed since the task last yielded.
#[derive(Debug, Default)]
struct TurnBudget {
    bytes: usize,
}

impl TurnBudget {
    async fn absorb(
        &mut self,
        accelerator: &Accelerator,
        chain: &mut DigestChain,
        bytes: &[u8],
    ) -> Result<(), JobError> {
        for piece in bytes.chunks(PIECE_BYTES) {
            chain.update(accelerator, piece)?;
            self.bytes += piece.len();
            if self.bytes >= TURN_BYTES {
                self.bytes = 0;
                give_turn().await;
            }
        }
        Ok(())
    }
}

/// Yields to other tasks once: it is ready at the second poll and wakes itself at the first.
async fn give_turn() {
    let mut is_given = false;
    poll_fn(|context| {
        if std::mem::replace(&mut is_given, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yields_to_other_tasks_while_hashing_long_inputs() {
        let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
        let data = vec![b'x'; 8 * TURN_BYTES + 7];
        let mut growth = GrowingInputs::default();
        growth.push(DigestAlg::Sha256, 0..4 * TURN_BYTES, 0..5);
        growth.push(DigestAlg::Sha256, 4 * TURN_BYTES..8 * TURN_BYTES, 0..7);
        let mut digests = pin!(growth.run_in_turns(&accelerator, &data));
        let mut context = Context::from_waker(Waker::noop());
        let mut turns = 0;
        let digests = loop {
            match digests.as_mut().poll(&mut context) {
                Poll::Ready(digests) => break digests.unwrap(),
                Poll::Pending => turns += 1,
            }
        };
        assert_eq!(turns, 8);
        let mut whole = DigestChain::new(DigestAlg::Sha256);
        data.chunks(PIECE_BYTES).for_each(|piece| whole.update(&accelerator, piece).unwrap());
        assert_eq!(digests[1].as_slice(), whole.finish(&accelerator).unwrap());
        assert_eq!(growth.run(&accelerator, &data).unwrap(), digests);
    }
}
