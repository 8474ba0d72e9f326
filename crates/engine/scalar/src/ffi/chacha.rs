//! ChaCha20 and Poly1305 by themselves, for the SSH form of their combination.

use aws_lc_sys as sys;

/// Encrypts or decrypts `input` under a key, a nonce and the number of the first block. The shorter of `input` and
/// `out` states the length. RFC 8439 2.4.
pub(crate) fn chacha20(key: &[u8; 32], nonce: &[u8; 12], counter: u32, input: &[u8], out: &mut [u8]) {
    let len = input.len().min(out.len());
    // SAFETY: both slices have at least `len` bytes and do not overlap; key and nonce have the lengths that the function
    // reads. Records have less than 2^32 bytes, so the counter does not wrap.
    unsafe {
        sys::CRYPTO_chacha_20(out.as_mut_ptr(), input.as_ptr(), len, key.as_ptr(), nonce.as_ptr(), counter);
    }
}

/// Computes the Poly1305 tag of `input` under a one-time key. RFC 8439 2.5.
pub(crate) fn poly1305(key: &[u8; 32], input: &[u8]) -> [u8; 16] {
    let mut tag = [0; 16];
    let mut state: sys::poly1305_state = [0; 512];
    // SAFETY: the state is owned and has the size that the functions expect; they align it by themselves. The slices have
    // the lengths that the functions read and write. The state is cleansed before it is dropped.
    unsafe {
        sys::CRYPTO_poly1305_init(&raw mut state, key.as_ptr());
        sys::CRYPTO_poly1305_update(&raw mut state, input.as_ptr(), input.len());
        sys::CRYPTO_poly1305_finish(&raw mut state, tag.as_mut_ptr());
        sys::OPENSSL_cleanse((&raw mut state).cast(), size_of::<sys::poly1305_state>());
    }
    tag
}

/// Compares two byte strings of equal length in a time that depends on the length only.
pub(crate) fn is_equal(left: &[u8], right: &[u8]) -> bool {
    // SAFETY: both slices have the length that is compared.
    left.len() == right.len()
        && unsafe { sys::CRYPTO_memcmp(left.as_ptr().cast(), right.as_ptr().cast(), left.len()) } == 0
}
