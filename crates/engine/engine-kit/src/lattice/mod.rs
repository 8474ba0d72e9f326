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
    digest(PreHash::Shake256, parts, out)
}

/// Fills `out` with the digest of the parts, one after the other. `out` is as long as the digest, or of any length for
/// SHAKE.
pub(crate) fn digest(digest: PreHash, parts: &[&[u8]], out: &mut [u8]) -> Result<(), LatticeFault> {
    ffi::digest(digest, parts, out)
}

/// Returns the length of a context in the one byte that FIPS 204 and FIPS 205 give it.
pub(crate) fn context_len(context: &[u8]) -> Result<u8, LatticeFault> {
    u8::try_from(context.len()).map_err(|_| LatticeFault("the context is longer than 255 bytes"))
}

/// Returns the object identifier of a digest in DER, 2.16.840.1.101.3.4.2.n, which stands before a digest that is
/// signed. FIPS 204 algorithm 4, FIPS 205 algorithm 23.
pub(crate) fn digest_oid(digest: PreHash) -> [u8; 11] {
    [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, digest.last_arc()]
}

/// Returns the digest of a message for HashML-DSA and HashSLH-DSA.
///
/// # Errors
/// [`LatticeFault`] if memory ran out.
pub fn pre_hash(alg: PreHash, message: &[u8]) -> Result<Vec<u8>, LatticeFault> {
    let mut out = vec![0; alg.output_len()];
    digest(alg, &[message], &mut out)?;
    Ok(out)
}

impl fmt::Debug for ExpandedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExpandedKey({} bytes)", self.private.len())
    }
}

#[cfg(test)]
mod tests;
