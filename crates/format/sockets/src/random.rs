//! Random bytes for IVs and padding.

use aws_lc_rs::rand;
use zeroize::Zeroizing;

use crate::error::SealingError;

/// Random bytes drawn in advance: a call of the generator costs more than sealing a short record.
pub(crate) struct RandomBytes {
    bytes: Zeroizing<[u8; Self::LEN]>,
    used: usize,
}

impl RandomBytes {
    const LEN: usize = 512;

    pub(crate) fn new() -> Self {
        Self { bytes: Zeroizing::new([0; Self::LEN]), used: Self::LEN }
    }

    /// Fills `out` with bytes that are given out once.
    pub(crate) fn fill(&mut self, out: &mut [u8]) -> Result<(), SealingError> {
        for piece in out.chunks_mut(Self::LEN) {
            if Self::LEN - self.used < piece.len() {
                rand::fill(&mut self.bytes[..]).map_err(|_| SealingError::NoRandomBytes)?;
                self.used = 0;
            }
            let end = self.used + piece.len();
            piece.copy_from_slice(&self.bytes[self.used..end]);
            self.bytes[self.used..end].fill(0);
            self.used = end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn bytes_are_given_out_once() {
        let mut random = RandomBytes::new();
        let mut drawn = BTreeSet::new();
        for _ in 0..100 {
            let mut bytes = [0; 16];
            random.fill(&mut bytes).unwrap();
            assert!(drawn.insert(bytes));
        }
        let mut long = [0; 1000];
        random.fill(&mut long).unwrap();
        assert!(long.chunks(8).all(|eight| eight != [0; 8]));
    }
}
