//! Modular exponentiation with a secret exponent and without CRT.

use std::ptr::NonNull;

use aws_lc_sys as sys;

use super::LibraryError;
use super::number::{BigNumber, NumberScratch};

/// An odd modulus and a secret exponent.
pub(crate) struct ModExpContext {
    modulus: BigNumber,
    exponent: BigNumber,
    montgomery: NonNull<sys::BN_MONT_CTX>,
}

// SAFETY: all three parts have no thread affinity and are only read after `new`.
unsafe impl Send for ModExpContext {}
// SAFETY: as above.
unsafe impl Sync for ModExpContext {}

impl ModExpContext {
    /// Prepares a modulus and an exponent. The length of `exponent` in bytes decides the steps of every computation,
    /// so it must be the public bound.
    pub(crate) fn new(modulus: &[u8], exponent: &[u8]) -> Result<Self, LibraryError> {
        let (modulus, exponent) = (BigNumber::from_bytes(modulus)?, BigNumber::from_bytes(exponent)?);
        let mut scratch = NumberScratch::new()?;
        // SAFETY: live modulus and scratch; the function copies the modulus and fails on an even one.
        let montgomery = unsafe { sys::BN_MONT_CTX_new_for_modulus(modulus.as_ptr(), scratch.as_mut_ptr()) };
        let montgomery =
            NonNull::new(montgomery).ok_or_else(|| LibraryError::take("BN_MONT_CTX_new_for_modulus"))?;
        Ok(Self { modulus, exponent, montgomery })
    }

    /// `input^exponent mod modulus`, constant time in the exponent; `input` below the modulus.
    pub(crate) fn compute(&self, input: &[u8], out: &mut [u8]) -> Result<(), LibraryError> {
        let (base, mut result, mut scratch) =
            (BigNumber::from_bytes(input)?, BigNumber::zero()?, NumberScratch::new()?);
        // SAFETY: every pointer is to a live object; only `result` and `scratch`, which are local, are written.
        let ok = unsafe {
            sys::BN_mod_exp_mont_consttime(
                result.as_mut_ptr(),
                base.as_ptr(),
                self.exponent.as_ptr(),
                self.modulus.as_ptr(),
                scratch.as_mut_ptr(),
                self.montgomery.as_ptr(),
            )
        };
        if ok != 1 {
            return Err(LibraryError::take("BN_mod_exp_mont_consttime"));
        }
        result.write(out)
    }
}

impl Drop for ModExpContext {
    fn drop(&mut self) {
        // SAFETY: owned, freed once.
        unsafe { sys::BN_MONT_CTX_free(self.montgomery.as_ptr()) }
    }
}
