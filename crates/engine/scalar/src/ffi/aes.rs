//! AES key schedules: blocks, CBC, CTR and key wrap.

use std::ptr;

use aws_lc_sys as sys;

use super::LibraryError;

const BLOCK: usize = 16;

/// A schedule for encryption, cleansed on drop.
pub(crate) struct AesEncrypt(sys::AES_KEY);

/// A schedule for decryption, cleansed on drop.
pub(crate) struct AesDecrypt(sys::AES_KEY);

impl AesEncrypt {
    /// Expands a key of 16, 24 or 32 bytes.
    pub(crate) fn new(key: &[u8]) -> Result<Self, LibraryError> {
        let mut schedule = Self(blank());
        // SAFETY: `key` is readable for the bits stated (other lengths are refused); the schedule is owned.
        let failed = unsafe { sys::AES_set_encrypt_key(key.as_ptr(), bits(key), &raw mut schedule.0) };
        if failed == 0 { Ok(schedule) } else { Err(LibraryError::take("AES_set_encrypt_key")) }
    }

    pub(crate) fn block(&self, block: &mut [u8; BLOCK]) {
        // SAFETY: one block, in place, which the function allows.
        unsafe { sys::AES_encrypt(block.as_ptr(), block.as_mut_ptr(), &raw const self.0) }
    }

    /// Encrypts the whole blocks of the shorter slice in CBC mode. `chain` becomes the last ciphertext block.
    pub(crate) fn cbc(&self, chain: &mut [u8; BLOCK], input: &[u8], out: &mut [u8]) {
        cbc(&self.0, sys::AES_ENCRYPT, chain, input, out);
    }

    /// Encrypts or decrypts the shorter slice in CTR mode. `counter` counts as one big-endian number of 128 bits.
    pub(crate) fn ctr(&self, counter: &mut [u8; BLOCK], input: &[u8], out: &mut [u8]) {
        let len = input.len().min(out.len());
        let (mut stream, mut used) = ([0; BLOCK], 0);
        // SAFETY: both slices have at least `len` bytes and do not overlap; counter and key stream are one block each, and
        // no byte of the key stream is in use.
        unsafe {
            let (from, to) = (input.as_ptr(), out.as_mut_ptr());
            let key = &raw const self.0;
            sys::AES_ctr128_encrypt(
                from,
                to,
                len,
                key,
                counter.as_mut_ptr(),
                stream.as_mut_ptr(),
                &raw mut used,
            );
            sys::OPENSSL_cleanse(stream.as_mut_ptr().cast(), BLOCK);
        }
    }

    /// Wraps `input` with AES-KW. `out` must be 8 bytes longer than `input`. RFC 3394 2.2.1.
    pub(crate) fn wrap(&self, input: &[u8], out: &mut [u8]) -> Result<(), LibraryError> {
        if input.len().checked_add(8) != Some(out.len()) {
            return Err(LibraryError::take("AES_wrap_key (length of the output)"));
        }
        // SAFETY: `input` is readable for its length and `out` writable for 8 bytes more; a null IV asks for the
        // default.
        let written = unsafe {
            sys::AES_wrap_key(&raw const self.0, ptr::null(), out.as_mut_ptr(), input.as_ptr(), input.len())
        };
        if written < 0 { Err(LibraryError::take("AES_wrap_key")) } else { Ok(()) }
    }

    /// Wraps `input` with AES-KWP. `out` must have the padded length of `input` plus 8. RFC 5649 4.1.
    pub(crate) fn wrap_padded(&self, input: &[u8], out: &mut [u8]) -> Result<(), LibraryError> {
        let mut written = 0;
        // SAFETY: `input` is readable and `out` writable for the lengths given; the function checks that they fit.
        let ok = unsafe {
            sys::AES_wrap_key_padded(
                &raw const self.0,
                out.as_mut_ptr(),
                &raw mut written,
                out.len(),
                input.as_ptr(),
                input.len(),
            )
        };
        if ok == 1 && written == out.len() { Ok(()) } else { Err(LibraryError::take("AES_wrap_key_padded")) }
    }
}

impl AesDecrypt {
    /// Expands a key of 16 or 32 bytes.
    pub(crate) fn new(key: &[u8]) -> Result<Self, LibraryError> {
        let mut schedule = Self(blank());
        // SAFETY: as for encryption.
        let failed = unsafe { sys::AES_set_decrypt_key(key.as_ptr(), bits(key), &raw mut schedule.0) };
        if failed == 0 { Ok(schedule) } else { Err(LibraryError::take("AES_set_decrypt_key")) }
    }

    /// Decrypts the whole blocks of the shorter slice in CBC mode. `chain` becomes the last ciphertext block.
    pub(crate) fn cbc(&self, chain: &mut [u8; BLOCK], input: &[u8], out: &mut [u8]) {
        cbc(&self.0, sys::AES_DECRYPT, chain, input, out);
    }

    /// Unwraps `input` with AES-KW. `out` must be 8 bytes shorter than `input`. If the result is false, `out` must
    /// not be used. RFC 3394 2.2.2.
    pub(crate) fn unwrap(&self, input: &[u8], out: &mut [u8]) -> bool {
        if out.len().checked_add(8) != Some(input.len()) {
            return false;
        }
        // SAFETY: `input` is readable for its length and `out` writable for 8 bytes less; a null IV asks for the
        // default.
        let written = unsafe {
            sys::AES_unwrap_key(&raw const self.0, ptr::null(), out.as_mut_ptr(), input.as_ptr(), input.len())
        };
        written >= 0
    }

    /// Unwraps `input` with AES-KWP and returns the length of the secret in `out`, which must be 8 bytes shorter
    /// than `input`. If the result is None, the wrap does not verify and `out` must not be used. RFC 5649 4.2.
    pub(crate) fn unwrap_padded(&self, input: &[u8], out: &mut [u8]) -> Option<usize> {
        // The C function reads whole half-blocks. It asserts that the input consists of them and does not check it.
        if !input.len().is_multiple_of(8) {
            return None;
        }
        let mut written = 0;
        // SAFETY: `input` is readable and `out` writable for the lengths given; the function checks that they fit.
        let ok = unsafe {
            sys::AES_unwrap_key_padded(
                &raw const self.0,
                out.as_mut_ptr(),
                &raw mut written,
                out.len(),
                input.as_ptr(),
                input.len(),
            )
        };
        (ok == 1 && written <= out.len()).then_some(written)
    }
}

impl Drop for AesEncrypt {
    fn drop(&mut self) {
        cleanse(&mut self.0);
    }
}

impl Drop for AesDecrypt {
    fn drop(&mut self) {
        cleanse(&mut self.0);
    }
}

fn blank() -> sys::AES_KEY {
    sys::AES_KEY { rd_key: [0; 60], rounds: 0 }
}

fn bits(key: &[u8]) -> u32 {
    u32::try_from(key.len()).map_or(0, |len| len.saturating_mul(8))
}

fn cbc(schedule: &sys::AES_KEY, direction: i32, chain: &mut [u8; BLOCK], input: &[u8], out: &mut [u8]) {
    let len = input.len().min(out.len()) / BLOCK * BLOCK;
    if len == 0 {
        return;
    }
    // SAFETY: both slices have at least `len` bytes and do not overlap; `chain` is one block.
    unsafe {
        sys::AES_cbc_encrypt(input.as_ptr(), out.as_mut_ptr(), len, schedule, chain.as_mut_ptr(), direction);
    }
}

fn cleanse(schedule: &mut sys::AES_KEY) {
    // SAFETY: plain integers, for which all zeros is a value.
    unsafe { sys::OPENSSL_cleanse((&raw mut *schedule).cast(), size_of::<sys::AES_KEY>()) }
}
