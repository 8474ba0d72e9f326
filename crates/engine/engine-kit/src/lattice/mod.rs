//! ML-KEM (FIPS 203), ML-DSA (FIPS 204) and the digests that go with them, by AWS-LC.
//!
//! The import of keys, the scalar engine and the schemes share these functions. Everything follows from the arguments:
//! the caller draws the random bytes. AWS-LC keeps intermediate values on the stack, up to 20 KiB for ML-KEM and up to
//! 160 KiB for ML-DSA-87, so that small stacks must not call them.

#[allow(unsafe_code)]
mod ffi;
pub mod ml_dsa;
pub mod ml_kem;

use std::fmt;

use oarlock_core::PreHash;
use zeroize::Zeroizing;

/// A function of AWS-LC failed for valid arguments: memory ran out, or the machine is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("AWS-LC failed: {0}")]
pub struct LatticeFault(&'static str);

/// A key pair, expanded from its seed.
pub struct ExpandedKey {
    /// The public key.
    pub public: Vec<u8>,
    /// The private key in expanded form.
    pub private: Zeroizing<Vec<u8>>,
}

/// Fills `out` with SHAKE128 of the parts, one after the other. FIPS 202 section 6.2.
///
/// # Errors
/// [`LatticeFault`] if memory ran out.
pub fn shake128(parts: &[&[u8]], out: &mut [u8]) -> Result<(), LatticeFault> {
    ffi::digest(PreHash::Shake128, parts, out)
}

/// Fills `out` with SHAKE256 of the parts, one after the other. FIPS 202 section 6.2.
///
/// # Errors
/// [`LatticeFault`] if memory ran out.
pub fn shake256(parts: &[&[u8]], out: &mut [u8]) -> Result<(), LatticeFault> {
    ffi::digest(PreHash::Shake256, parts, out)
}

/// Returns the digest of a message for HashML-DSA.
///
/// # Errors
/// [`LatticeFault`] if memory ran out.
pub fn pre_hash(digest: PreHash, message: &[u8]) -> Result<Vec<u8>, LatticeFault> {
    let mut out = vec![0; digest.output_len()];
    ffi::digest(digest, &[message], &mut out)?;
    Ok(out)
}

impl fmt::Debug for ExpandedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExpandedKey({} bytes)", self.private.len())
    }
}

#[cfg(test)]
mod tests;
