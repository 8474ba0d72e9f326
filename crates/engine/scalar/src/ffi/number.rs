//! Big integers.

use std::ptr::{self, NonNull};

use aws_lc_sys as sys;

use super::LibraryError;

/// An owned `BIGNUM`, cleansed on drop.
pub(super) struct BigNumber(NonNull<sys::BIGNUM>);

// SAFETY: a BIGNUM has no thread affinity, and shared references are used for reading only.
unsafe impl Send for BigNumber {}
// SAFETY: as above.
unsafe impl Sync for BigNumber {}

impl BigNumber {
    pub(super) fn zero() -> Result<Self, LibraryError> {
        // SAFETY: allocates; null is handled.
        let number = unsafe { sys::BN_new() };
        NonNull::new(number).map(Self).ok_or_else(|| LibraryError::take("BN_new"))
    }

    /// Imports big-endian bytes. The width in words is that of `bytes` with its leading zeros. AWS-LC's
    /// constant-time functions take their number of steps from it.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, LibraryError> {
        // SAFETY: `bytes` is readable for its length; a null third argument asks for a new BIGNUM.
        let number = unsafe { sys::BN_bin2bn(bytes.as_ptr(), bytes.len(), ptr::null_mut()) };
        NonNull::new(number).map(Self).ok_or_else(|| LibraryError::take("BN_bin2bn"))
    }

    /// Writes the value big-endian, padded on the left.
    pub(super) fn write(&self, out: &mut [u8]) -> Result<(), LibraryError> {
        // SAFETY: the BIGNUM is live while `self` is borrowed.
        unsafe { write_padded(self.as_ptr(), out) }
    }

    pub(super) fn as_ptr(&self) -> *const sys::BIGNUM {
        self.0.as_ptr()
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut sys::BIGNUM {
        self.0.as_ptr()
    }
}

/// Writes `number` big-endian, padded on the left.
///
/// SAFETY: `number` must be live.
pub(super) unsafe fn write_padded(number: *const sys::BIGNUM, out: &mut [u8]) -> Result<(), LibraryError> {
    // SAFETY: the caller vouches for `number`; `out` is writable for its length.
    let ok = unsafe { sys::BN_bn2bin_padded(out.as_mut_ptr(), out.len(), number) };
    if ok == 1 { Ok(()) } else { Err(LibraryError::take("BN_bn2bin_padded")) }
}

impl Drop for BigNumber {
    fn drop(&mut self) {
        // SAFETY: owned, freed once.
        unsafe { sys::BN_clear_free(self.0.as_ptr()) }
    }
}

/// An owned `BN_CTX`: the temporary numbers of one computation at a time.
pub(super) struct NumberScratch(NonNull<sys::BN_CTX>);

impl NumberScratch {
    pub(super) fn new() -> Result<Self, LibraryError> {
        // SAFETY: allocates; null is handled.
        let scratch = unsafe { sys::BN_CTX_new() };
        NonNull::new(scratch).map(Self).ok_or_else(|| LibraryError::take("BN_CTX_new"))
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut sys::BN_CTX {
        self.0.as_ptr()
    }
}

impl Drop for NumberScratch {
    fn drop(&mut self) {
        // SAFETY: owned, freed once.
        unsafe { sys::BN_CTX_free(self.0.as_ptr()) }
    }
}
