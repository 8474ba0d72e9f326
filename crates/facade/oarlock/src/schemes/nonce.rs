//! Random bytes for the jobs of one call.

use std::fmt;

use oarlock_core::{JobError, Shape};
use zeroize::{Zeroize, Zeroizing};

/// Random bytes for the jobs of one call, drawn in bulk from AWS-LC's generator when first needed.
///
/// Create one per call and drop it. Bytes kept over a fork would be used by two processes.
pub struct NonceSource {
    drawn: Zeroizing<Vec<u8>>,
    jobs_left: usize,
}

/// The largest number of nonces drawn at once: 4 KiB of random bytes.
const MAX_AT_ONCE: usize = 128;

impl NonceSource {
    /// A source for about `jobs` jobs; more may be drawn.
    #[must_use]
    pub fn for_jobs(jobs: usize) -> Self {
        Self { drawn: Zeroizing::new(Vec::new()), jobs_left: jobs }
    }

    /// 32 fresh random bytes.
    pub(super) fn nonce(&mut self, shape: Shape) -> Result<Zeroizing<[u8; 32]>, JobError> {
        if self.drawn.is_empty() {
            self.draw(shape)?;
        }
        let mut nonce = Zeroizing::new([0; 32]);
        let rest = self.drawn.len().saturating_sub(32);
        nonce.copy_from_slice(&self.drawn[rest..]);
        // `truncate` alone would leave the nonce in the capacity of the vector.
        self.drawn[rest..].zeroize();
        self.drawn.truncate(rest);
        Ok(nonce)
    }

    fn draw(&mut self, shape: Shape) -> Result<(), JobError> {
        // A guess: not every job needs a nonce, and bytes that are left over are erased on drop.
        let count = self.jobs_left.clamp(1, MAX_AT_ONCE);
        self.jobs_left = self.jobs_left.saturating_sub(count);
        self.drawn.resize(count * 32, 0);
        let filled = fill(shape, &mut self.drawn);
        // A failed draw must not leave zeros that look like nonces.
        if filled.is_err() {
            self.drawn.clear();
        }
        filled
    }
}

/// Fills `out` with random bytes.
pub(super) fn fill(shape: Shape, out: &mut [u8]) -> Result<(), JobError> {
    aws_lc_rs::rand::fill(out)
        .map_err(|_| JobError::EngineFailed { shape, reason: "the random number generator failed".into() })
}

impl fmt::Debug for NonceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NonceSource({} drawn)", self.drawn.len() / 32)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn nonces_differ_within_and_beyond_the_announced_count() {
        let mut source = NonceSource::for_jobs(130);
        let nonces: HashSet<[u8; 32]> =
            (0..300).map(|_| *source.nonce(Shape::Ed25519Sign).unwrap()).collect();
        assert_eq!(nonces.len(), 300);
        assert!(!nonces.contains(&[0; 32]));
    }
}
