//! RSA keys and their raw operations.

use std::ptr::NonNull;

use aws_lc_sys as sys;
use oarlock_core::{RsaPrivateParts, RsaPublicParts};

use super::LibraryError;
use super::number::BigNumber;

/// A private key with everything that AWS-LC derives from it, blinding included.
pub(crate) struct RsaPrivate(RsaHandle);

/// A public key.
pub(crate) struct RsaPublic(RsaHandle);

struct RsaHandle(NonNull<sys::RSA>);

// AWS-LC documents that an RSA may be used from several threads at once by functions that do not change it
// (openssl/rsa.h, "thread safety"); its cached Montgomery and blinding values are guarded by the key's own lock.
// SAFETY: nothing ties the key to a thread.
unsafe impl Send for RsaHandle {}
// SAFETY: shared references reach the raw operations alone, which lock what they change.
unsafe impl Sync for RsaHandle {}

impl RsaPrivate {
    /// Imports a key and checks it with `RSA_check_key`: n = pq, d inverts e, and the CRT parts belong to it.
    pub(crate) fn new(parts: &RsaPrivateParts) -> Result<Self, LibraryError> {
        let n = BigNumber::from_bytes(&parts.public.n)?;
        let e = BigNumber::from_bytes(&parts.public.e)?;
        let [d, p, q, dp, dq, qinv] = [&parts.d, &parts.p, &parts.q, &parts.dp, &parts.dq, &parts.qinv]
            .map(|secret| BigNumber::from_bytes(secret.expose()));
        let (d, p, q, dp, dq, qinv) = (d?, p?, q?, dp?, dq?, qinv?);
        // SAFETY: eight live numbers, which the function copies.
        let rsa = unsafe {
            sys::RSA_new_private_key(
                n.as_ptr(),
                e.as_ptr(),
                d.as_ptr(),
                p.as_ptr(),
                q.as_ptr(),
                dp.as_ptr(),
                dq.as_ptr(),
                qinv.as_ptr(),
            )
        };
        RsaHandle::checked(rsa, "RSA_new_private_key").map(Self)
    }

    /// Computes `input^d mod n` with blinding. AWS-LC confirms the result with the public operation. It refuses 0, 1
    /// and n - 1.
    pub(crate) fn transform(&self, input: &[u8], out: &mut [u8]) -> Result<(), LibraryError> {
        let mut written = 0;
        // The function fails if the modulus is longer than `out`.
        // SAFETY: the key is live, `input` readable and `out` writable for the lengths given.
        let ok = unsafe {
            sys::RSA_sign_raw(
                self.0.0.as_ptr(),
                &raw mut written,
                out.as_mut_ptr(),
                out.len(),
                input.as_ptr(),
                input.len(),
                sys::RSA_NO_PADDING,
            )
        };
        succeeded(ok == 1 && written == out.len(), "RSA_sign_raw")
    }
}

impl RsaPublic {
    /// Imports a key: n must be odd; e must be odd and have 2 to 33 bits.
    pub(crate) fn new(parts: &RsaPublicParts) -> Result<Self, LibraryError> {
        let (n, e) = (BigNumber::from_bytes(&parts.n)?, BigNumber::from_bytes(&parts.e)?);
        // SAFETY: two live numbers, which the function copies.
        let rsa = unsafe { sys::RSA_new_public_key(n.as_ptr(), e.as_ptr()) };
        RsaHandle::checked(rsa, "RSA_new_public_key").map(Self)
    }

    /// Computes `input^e mod n`.
    pub(crate) fn transform(&self, input: &[u8], out: &mut [u8]) -> Result<(), LibraryError> {
        let mut written = 0;
        // SAFETY: as for the private transform.
        let ok = unsafe {
            sys::RSA_verify_raw(
                self.0.0.as_ptr(),
                &raw mut written,
                out.as_mut_ptr(),
                out.len(),
                input.as_ptr(),
                input.len(),
                sys::RSA_NO_PADDING,
            )
        };
        succeeded(ok == 1 && written == out.len(), "RSA_verify_raw")
    }
}

impl RsaHandle {
    fn checked(rsa: *mut sys::RSA, function: &'static str) -> Result<Self, LibraryError> {
        NonNull::new(rsa).map(Self).ok_or_else(|| LibraryError::take(function))
    }
}

impl Drop for RsaHandle {
    fn drop(&mut self) {
        // SAFETY: owned, freed once; the function cleanses what it frees.
        unsafe { sys::RSA_free(self.0.as_ptr()) }
    }
}

fn succeeded(ok: bool, function: &'static str) -> Result<(), LibraryError> {
    if ok { Ok(()) } else { Err(LibraryError::take(function)) }
}
