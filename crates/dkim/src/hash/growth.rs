//! Inputs of which each continues the one before: what they share is kept and hashed once.

use std::ops::Range;

use oarlock::{Accelerator, DigestAlg, DigestChain, JobError};

use super::Hash;

/// Bytes that are hashed at a time: a chain copies what it takes.
const PIECE_BYTES: usize = 64 << 10;

/// Inputs that grow, in the order in which they do.
#[derive(Clone, Debug, Default)]
pub(super) struct Growth {
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Step {
    alg: DigestAlg,
    /// The part that this input and all later ones have behind the shared parts of earlier steps.
    shared: Range<usize>,
    /// The end of this input alone.
    own: Range<usize>,
}

impl Growth {
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn push(&mut self, alg: DigestAlg, shared: Range<usize>, own: Range<usize>) {
        self.steps.push(Step { alg, shared, own });
    }

    /// Returns the digests in the order of the steps.
    pub(super) fn run(&self, accelerator: &Accelerator, data: &[u8]) -> Result<Vec<Hash>, JobError> {
        let mut digests = vec![Hash::new(); self.steps.len()];
        for alg in [DigestAlg::Sha1, DigestAlg::Sha256] {
            self.run_alg(accelerator, data, alg, &mut digests)?;
        }
        Ok(digests)
    }

    fn run_alg(
        &self,
        accelerator: &Accelerator,
        data: &[u8],
        alg: DigestAlg,
        digests: &mut [Hash],
    ) -> Result<(), JobError> {
        let Some(last) = self.steps.iter().rposition(|step| step.alg == alg) else { return Ok(()) };
        let mut chain = DigestChain::new(alg);
        for (step, digest) in self.steps[..=last].iter().zip(digests) {
            absorb(accelerator, &mut chain, &data[step.shared.clone()])?;
            if step.alg == alg {
                let mut whole = chain.clone();
                absorb(accelerator, &mut whole, &data[step.own.clone()])?;
                *digest = Hash::from_vec(whole.finish(accelerator)?);
            }
        }
        Ok(())
    }
}

fn absorb(accelerator: &Accelerator, chain: &mut DigestChain, bytes: &[u8]) -> Result<(), JobError> {
    bytes.chunks(PIECE_BYTES).try_for_each(|piece| chain.update(accelerator, piece))
}
