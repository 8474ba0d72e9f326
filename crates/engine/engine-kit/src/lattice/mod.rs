//! ML-KEM (FIPS 203) and ML-DSA (FIPS 204) by AWS-LC.
//!
//! The import of keys, the scalar engine and the schemes share these functions. Everything follows from the arguments:
//! the caller draws the random bytes. AWS-LC keeps intermediate values on the stack, up to 20 KiB for ML-KEM and up to
//! 160 KiB for ML-DSA-87, so that small stacks must not call them.

pub mod ml_dsa;
pub mod ml_kem;

use std::fmt;

use oarlock_core::DigestAlg;
use zeroize::Zeroizing;

pub use crate::ffi::lattice::LatticeFault;

/// A key pair, expanded from its seed.
pub struct ExpandedKey {
    /// The public key.
    pub public: Vec<u8>,
    /// The private key in expanded form.
    pub private: Zeroizing<Vec<u8>>,
}

/// Returns the length of a context in the one byte that FIPS 204 and FIPS 205 give it.
pub(crate) fn context_len(context: &[u8]) -> Result<u8, LatticeFault> {
    u8::try_from(context.len()).map_err(|_| LatticeFault("the context is longer than 255 bytes"))
}

/// Returns the object identifier of a digest in DER, 2.16.840.1.101.3.4.2.n, which stands before a digest that is
/// signed. FIPS 204 algorithm 4, FIPS 205 algorithm 23.
pub(crate) fn digest_oid(digest: DigestAlg) -> Result<[u8; 11], LatticeFault> {
    let arc = digest.oid_arc().ok_or(LatticeFault("HashML-DSA and HashSLH-DSA do not take the digest"))?;
    Ok([0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, arc])
}

impl fmt::Debug for ExpandedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExpandedKey({} bytes)", self.private.len())
    }
}

#[cfg(test)]
mod tests;
