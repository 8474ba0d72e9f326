//! Inputs of which each continues the one before: what they share is kept and hashed once.

use std::future::{Future, poll_fn};
use std::ops::Range;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use oarlock::{Accelerator, DigestAlg, DigestChain, JobError};

use super::Hash;

/// Bytes that are hashed at a time: a chain copies what it takes.
const PIECE_BYTES: usize = 64 << 10;
/// Bytes that are hashed before others of the thread have a turn: a millisecond's work for the slowest engine.
const TURN_BYTES: usize = 4 * PIECE_BYTES;

/// Inputs that grow, in the order in which they do.
#[derive(Clone, Debug, Default)]
pub(super) struct GrowingInputs {
    steps: Vec<GrowthStep>,
}

#[derive(Clone, Debug)]
struct GrowthStep {
    alg: DigestAlg,
    /// The part that this input and all later ones have behind the shared parts of earlier steps.
    shared: Range<usize>,
    /// The end of this input alone.
    own: Range<usize>,
}

impl GrowingInputs {
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn push(&mut self, alg: DigestAlg, shared: Range<usize>, own: Range<usize>) {
        self.steps.push(GrowthStep { alg, shared, own });
    }

    /// Returns the digests in the order of the steps.
    pub(super) fn run(&self, accelerator: &Accelerator, data: &[u8]) -> Result<Vec<Hash>, JobError> {
        let mut digests = pin!(self.run_in_turns(accelerator, data));
        let mut context = Context::from_waker(Waker::noop());
        loop {
            // Nobody else has a turn on this thread.
            if let Poll::Ready(digests) = digests.as_mut().poll(&mut context) {
                return digests;
            }
        }
    }

    /// The same, with a turn for others of the thread after every [`TURN_BYTES`].
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
            turn.absorb(accelerator, &mut chain, &data[step.shared.clone()]).await?;
            if step.alg == alg {
                let mut whole = chain.clone();
                turn.absorb(accelerator, &mut whole, &data[step.own.clone()]).await?;
                *digest = Hash::from_vec(whole.finish(accelerator)?);
            }
        }
        Ok(())
    }
}

/// The amount that has been hashed since others had a turn.
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

/// Is ready when it is polled for the second time, and asks for that at once.
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
    fn long_inputs_leave_turns_to_others() {
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
