//! ECDSA over P-256 and P-384, signatures as r || s, and ECDH.

use std::ptr::{self, NonNull};

use aws_lc_sys as sys;
use oarlock_core::Curve;

use super::LibraryError;
use super::number::{BigNumber, write_padded};

/// A private key.
pub(crate) struct EcPrivate(EcKeyHandle);

/// A public key: a point that was checked to be on its curve.
pub(crate) struct EcPublic(EcKeyHandle);

struct EcKeyHandle(NonNull<sys::EC_KEY>);

// AWS-LC documents that an EC_KEY may be used from several threads at once by functions that take it as const
// (openssl/ec_key.h).
// SAFETY: nothing changes the key after construction, and nothing ties it to a thread.
unsafe impl Send for EcKeyHandle {}
// SAFETY: shared references reach functions that take the key as const alone.
unsafe impl Sync for EcKeyHandle {}

impl EcPrivate {
    /// Imports a scalar in [1, n-1] at the curve's width.
    pub(crate) fn new(curve: Curve, scalar: &[u8]) -> Result<Self, LibraryError> {
        let (key, scalar) = (EcKeyHandle::new(curve)?, BigNumber::from_bytes(scalar)?);
        // SAFETY: a live key that is not shared yet, and a live number, which the function copies.
        let ok = unsafe { sys::EC_KEY_set_private_key(key.0.as_ptr(), scalar.as_ptr()) };
        if ok == 1 { Ok(Self(key)) } else { Err(LibraryError::take("EC_KEY_set_private_key")) }
    }

    /// Signs with a nonce that AWS-LC draws.
    pub(crate) fn sign(&self, digest: &[u8], out: &mut [u8]) -> Result<(), LibraryError> {
        // SAFETY: a live key; `digest` is readable for its length.
        let signature = unsafe { sys::ECDSA_do_sign(digest.as_ptr(), digest.len(), self.0.0.as_ptr()) };
        SignatureHandle::checked(signature, "ECDSA_do_sign")?.write(out)
    }

    /// Writes the x-coordinate of the product with `peer`, at the width of the curve. The product is secret, and the
    /// function cleanses its own copies.
    pub(crate) fn derive(&self, peer: &EcPoint, out: &mut [u8]) -> Result<(), LibraryError> {
        let (to, len) = (out.as_mut_ptr().cast(), out.len());
        // SAFETY: `out` is writable for its length; live point and key; null asks for no derivation function.
        let written = unsafe { sys::ECDH_compute_key(to, len, peer.0.as_ptr(), self.0.0.as_ptr(), None) };
        // A shorter secret would leave the end of `out` as it was.
        if usize::try_from(written) == Ok(len) { Ok(()) } else { Err(LibraryError::take("ECDH_compute_key")) }
    }

    /// Signs with the nonce `k` in [1, n-1] at the curve's width. Fails if r or s is zero.
    ///
    /// The name of the C function warns that a repeated or known nonce reveals the private key. The function runs
    /// the same `ecdsa_sign_impl` as `ECDSA_do_sign` (crypto/fipsmodule/ecdsa/ecdsa.c) and is constant time too. The
    /// nonces here come from RFC 6979.
    pub(crate) fn sign_with_nonce(
        &self,
        digest: &[u8],
        k: &[u8],
        out: &mut [u8],
    ) -> Result<(), LibraryError> {
        // SAFETY: a live key; `digest` and `k` are readable for their lengths.
        let signature = unsafe {
            sys::ECDSA_sign_with_nonce_and_leak_private_key_for_testing(
                digest.as_ptr(),
                digest.len(),
                self.0.0.as_ptr(),
                k.as_ptr(),
                k.len(),
            )
        };
        SignatureHandle::checked(signature, "ECDSA signing with a nonce")?.write(out)
    }
}

impl EcPublic {
    /// Imports an uncompressed point.
    pub(crate) fn new(curve: Curve, point: &[u8]) -> Result<Self, LibraryError> {
        let (key, point) = (EcKeyHandle::new(curve)?, EcPoint::new(curve, point)?);
        // SAFETY: a live key that is not shared yet, and a live point of the same group, which the function copies.
        let ok = unsafe { sys::EC_KEY_set_public_key(key.0.as_ptr(), point.0.as_ptr()) };
        if ok == 1 { Ok(Self(key)) } else { Err(LibraryError::take("EC_KEY_set_public_key")) }
    }

    /// Returns true if r || s is a signature of `digest`.
    pub(crate) fn verify(&self, digest: &[u8], signature: &[u8]) -> Result<bool, LibraryError> {
        let signature = SignatureHandle::read(signature)?;
        // SAFETY: live key and signature; `digest` is readable for its length.
        let ok = unsafe {
            sys::ECDSA_do_verify(digest.as_ptr(), digest.len(), signature.0.as_ptr(), self.0.0.as_ptr())
        };
        if ok == 1 {
            return Ok(true);
        }
        let error = LibraryError::take("ECDSA_do_verify");
        let is_no = error.is(sys::ERR_LIB_ECDSA, sys::ECDSA_R_BAD_SIGNATURE)
            || error.is(sys::ERR_LIB_ECDSA, sys::ECDSA_R_MISMATCHED_SIGNATURE);
        if is_no && !error.is_out_of_memory() { Ok(false) } else { Err(error) }
    }
}

impl EcKeyHandle {
    fn new(curve: Curve) -> Result<Self, LibraryError> {
        // SAFETY: allocates; null is handled.
        let key = unsafe { sys::EC_KEY_new() };
        let key = NonNull::new(key).map(Self).ok_or_else(|| LibraryError::take("EC_KEY_new"))?;
        // SAFETY: a live key that is not shared yet and a static group.
        let ok = unsafe { sys::EC_KEY_set_group(key.0.as_ptr(), group(curve)?) };
        if ok == 1 { Ok(key) } else { Err(LibraryError::take("EC_KEY_set_group")) }
    }
}

impl Drop for EcKeyHandle {
    fn drop(&mut self) {
        // SAFETY: owned, freed once; the function cleanses what it frees.
        unsafe { sys::EC_KEY_free(self.0.as_ptr()) }
    }
}

/// A point that was checked to be on its curve.
pub(crate) struct EcPoint(NonNull<sys::EC_POINT>);

impl EcPoint {
    /// Imports an encoded point.
    pub(crate) fn new(curve: Curve, bytes: &[u8]) -> Result<Self, LibraryError> {
        let group = group(curve)?;
        // SAFETY: allocates for a static group; null is handled.
        let point = unsafe { sys::EC_POINT_new(group) };
        let point = NonNull::new(point).map(Self).ok_or_else(|| LibraryError::take("EC_POINT_new"))?;
        // SAFETY: a live point of the same group; `bytes` is readable for its length; the scratch may be null.
        let ok = unsafe {
            sys::EC_POINT_oct2point(group, point.0.as_ptr(), bytes.as_ptr(), bytes.len(), ptr::null_mut())
        };
        if ok == 1 { Ok(point) } else { Err(LibraryError::take("EC_POINT_oct2point")) }
    }
}

impl Drop for EcPoint {
    fn drop(&mut self) {
        // SAFETY: owned, freed once.
        unsafe { sys::EC_POINT_free(self.0.as_ptr()) }
    }
}

struct SignatureHandle(NonNull<sys::ECDSA_SIG>);

impl SignatureHandle {
    fn checked(signature: *mut sys::ECDSA_SIG, function: &'static str) -> Result<Self, LibraryError> {
        NonNull::new(signature).map(Self).ok_or_else(|| LibraryError::take(function))
    }

    fn read(bytes: &[u8]) -> Result<Self, LibraryError> {
        // SAFETY: allocates; null is handled.
        let signature = Self::checked(unsafe { sys::ECDSA_SIG_new() }, "ECDSA_SIG_new")?;
        let (r, s) = bytes.split_at(bytes.len() / 2);
        // SAFETY: an ECDSA_SIG from ECDSA_SIG_new owns two live numbers; r and s are readable for their lengths.
        let numbers = unsafe {
            let numbers = signature.0.as_ref();
            [sys::BN_bin2bn(r.as_ptr(), r.len(), numbers.r), sys::BN_bin2bn(s.as_ptr(), s.len(), numbers.s)]
        };
        if numbers.contains(&ptr::null_mut()) { Err(LibraryError::take("BN_bin2bn")) } else { Ok(signature) }
    }

    fn write(&self, out: &mut [u8]) -> Result<(), LibraryError> {
        let (r, s) = out.split_at_mut(out.len() / 2);
        // SAFETY: an ECDSA_SIG that AWS-LC returned owns two live numbers.
        unsafe {
            let numbers = self.0.as_ref();
            write_padded(numbers.r, r)?;
            write_padded(numbers.s, s)
        }
    }
}

impl Drop for SignatureHandle {
    fn drop(&mut self) {
        // SAFETY: owned, freed once.
        unsafe { sys::ECDSA_SIG_free(self.0.as_ptr()) }
    }
}

fn group(curve: Curve) -> Result<*const sys::EC_GROUP, LibraryError> {
    match curve {
        // SAFETY: takes nothing and returns a static group.
        Curve::P256 => Ok(unsafe { sys::EC_group_p256() }),
        // SAFETY: as above.
        Curve::P384 => Ok(unsafe { sys::EC_group_p384() }),
        _ => Err(LibraryError::take("EC group of an unknown curve")),
    }
}
