//! One server's answer, and its bytes.

use std::fmt;

use oarlock_keys::threshold::ThresholdKey;

use super::ThresholdError;

/// Bits of a challenge, the output of SHA-256. Shoup 2000, Protocol 1 calls them L1.
pub(super) const CHALLENGE_BITS: u16 = 256;
pub(super) const CHALLENGE_LEN: usize = CHALLENGE_BITS as usize / 8;

/// A partial signature of one server with the proof that it is right. Shoup 2000, Protocol 1. Nothing in it is secret.
///
/// Its bytes are `x_i || z || c`, big-endian: x_i at the modulus's width, z 64 bytes longer, c 32 bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct PartialSignature {
    index: u8,
    bytes: Vec<u8>,
    modulus_len: usize,
}

impl PartialSignature {
    /// Bytes of a partial signature under a key.
    #[must_use]
    pub fn len_under(key: &ThresholdKey) -> usize {
        key.modulus_len() + response_len(key) + CHALLENGE_LEN
    }

    /// Reads a partial signature that a server has sent.
    ///
    /// `index` is that of the server that was asked, known from the channel. The bytes do not contain it, because a
    /// wrong server could name another.
    ///
    /// # Errors
    /// [`ThresholdError::Index`], [`ThresholdError::PartialLength`], [`ThresholdError::PartialRange`].
    pub fn from_bytes(key: &ThresholdKey, index: u8, bytes: &[u8]) -> Result<Self, ThresholdError> {
        check_index(key, index)?;
        let expected = Self::len_under(key);
        if bytes.len() != expected {
            return Err(ThresholdError::PartialLength { index, expected, found: bytes.len() });
        }
        let partial = Self { index, bytes: bytes.to_vec(), modulus_len: key.modulus_len() };
        partial.check_range(key)?;
        Ok(partial)
    }

    /// Creates a partial signature from numbers at their widths.
    pub(super) fn new(index: u8, root: &[u8], response: &[u8], challenge: &[u8; CHALLENGE_LEN]) -> Self {
        Self { index, bytes: [root, response, challenge].concat(), modulus_len: root.len() }
    }

    /// Returns the index of the server.
    #[must_use]
    pub fn index(&self) -> u8 {
        self.index
    }

    /// `x_i || z || c`.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// `x_i = x^(2 l! s_i) mod n`.
    pub(super) fn root(&self) -> &[u8] {
        &self.bytes[..self.modulus_len]
    }

    /// `z = s_i c + r`.
    pub(super) fn response(&self) -> &[u8] {
        &self.bytes[self.modulus_len..self.bytes.len() - CHALLENGE_LEN]
    }

    /// c.
    pub(super) fn challenge(&self) -> &[u8] {
        &self.bytes[self.bytes.len() - CHALLENGE_LEN..]
    }

    /// x_i in [1, n-1], z below 2^(n's bits + 512), neither z nor c zero.
    pub(super) fn check_range(&self, key: &ThresholdKey) -> Result<(), ThresholdError> {
        let refused = |what| ThresholdError::PartialRange { index: self.index, what };
        // Both have the same length, so their bytes compare as the numbers do.
        if is_zero(self.root()) || self.root() >= key.modulus() {
            return Err(refused("x_i"));
        }
        // Verification raises to z with an exponent of fixed width. A right server never sends a longer z.
        let spare_bits = response_len(key) * 8 - usize::from(response_bits(key));
        let is_long = self.response().first().is_none_or(|first| u16::from(*first) >> (8 - spare_bits) != 0);
        if is_long || is_zero(self.response()) {
            return Err(refused("z"));
        }
        if is_zero(self.challenge()) { Err(refused("c")) } else { Ok(()) }
    }
}

/// Shows whose it is; the numbers say nothing to a reader.
impl fmt::Debug for PartialSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Partial(server {}, {} bytes)", self.index, self.bytes.len())
    }
}

/// Returns the number of bits of r and of z. They are so much longer than n that z hides s_i c except with a chance
/// of 2^-256. Shoup 2000, Protocol 1.
pub(super) fn response_bits(key: &ThresholdKey) -> u16 {
    key.modulus_bits() + 2 * CHALLENGE_BITS
}

/// Bytes of z.
pub(super) fn response_len(key: &ThresholdKey) -> usize {
    usize::from(response_bits(key)).div_ceil(8)
}

pub(super) fn check_index(key: &ThresholdKey, index: u8) -> Result<(), ThresholdError> {
    match key.verification_key(index) {
        Some(_) => Ok(()),
        None => Err(ThresholdError::Index { shares: key.shares(), found: index }),
    }
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}
