//! Ed25519 and X25519.

use aws_lc_sys as sys;

use super::LibraryError;

/// Signs `message` with seed || public key.
pub(crate) fn ed25519_sign(key: &[u8; 64], message: &[u8], out: &mut [u8; 64]) -> Result<(), LibraryError> {
    // SAFETY: the arrays have the lengths that the function states; `message` is readable for its length.
    let ok = unsafe { sys::ED25519_sign(out.as_mut_ptr(), message.as_ptr(), message.len(), key.as_ptr()) };
    if ok == 1 { Ok(()) } else { Err(LibraryError::take("ED25519_sign")) }
}

/// Returns true if `signature` is valid for `message`. The C function allocates nothing and has no other failure.
pub(crate) fn ed25519_verify(public: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    let (data, len) = (message.as_ptr(), message.len());
    // SAFETY: the arrays have the lengths that the function states; `message` is readable for its length.
    let ok = unsafe { sys::ED25519_verify(data, len, signature.as_ptr(), public.as_ptr()) };
    if ok != 1 {
        LibraryError::take("ED25519_verify");
    }
    ok == 1
}

/// Computes `scalar * peer`. A peer of small order gives all zeros. The return value of the C function says the
/// same; the scheme checks the zeros.
pub(crate) fn x25519(scalar: &[u8; 32], peer: &[u8; 32], out: &mut [u8; 32]) {
    // SAFETY: the arrays have the lengths that the function states.
    unsafe { sys::X25519(out.as_mut_ptr(), scalar.as_ptr(), peer.as_ptr()) };
}

/// Computes the public key of `scalar`: its product with the base point, by tables of multiples of that point.
pub(crate) fn x25519_public(scalar: &[u8; 32], out: &mut [u8; 32]) {
    // SAFETY: the arrays have the lengths that the function states.
    unsafe { sys::X25519_public_from_private(out.as_mut_ptr(), scalar.as_ptr()) };
}
