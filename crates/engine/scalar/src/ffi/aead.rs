//! AES-GCM, AES-GCM-SIV and ChaCha20-Poly1305 with detached tags.

use std::ptr::{self, NonNull};

use aws_lc_sys as sys;

use super::LibraryError;

/// A key for one algorithm and one tag length, freed and cleansed on drop.
pub(crate) struct AeadContext(NonNull<sys::EVP_AEAD_CTX>);

// SAFETY: AWS-LC documents that seal and open take a const context and may run at once (openssl/aead.h).
unsafe impl Send for AeadContext {}
// SAFETY: as above.
unsafe impl Sync for AeadContext {}

impl AeadContext {
    /// The longest tag in bytes.
    pub(crate) const TAG_LEN: usize = 16;

    /// Prepares a GCM key of 16 or 32 bytes for tags of at most 16 bytes.
    pub(crate) fn gcm(key: &[u8], tag_len: usize) -> Result<Self, LibraryError> {
        // SAFETY: these functions take nothing and return static tables.
        let aead = unsafe {
            if key.len() == 16 { sys::EVP_aead_aes_128_gcm() } else { sys::EVP_aead_aes_256_gcm() }
        };
        Self::new(aead, key, tag_len)
    }

    /// Prepares an AES-GCM-SIV key of 16 or 32 bytes. RFC 8452.
    pub(crate) fn gcm_siv(key: &[u8]) -> Result<Self, LibraryError> {
        // SAFETY: these functions take nothing and return static tables.
        let aead = unsafe {
            if key.len() == 16 { sys::EVP_aead_aes_128_gcm_siv() } else { sys::EVP_aead_aes_256_gcm_siv() }
        };
        Self::new(aead, key, Self::TAG_LEN)
    }

    /// Prepares a ChaCha20-Poly1305 key of 32 bytes. RFC 8439.
    pub(crate) fn chacha20_poly1305(key: &[u8]) -> Result<Self, LibraryError> {
        // SAFETY: the function takes nothing and returns a static table.
        let aead = unsafe { sys::EVP_aead_chacha20_poly1305() };
        Self::new(aead, key, Self::TAG_LEN)
    }

    fn new(aead: *const sys::EVP_AEAD, key: &[u8], tag_len: usize) -> Result<Self, LibraryError> {
        // SAFETY: `key` is readable for its length, which the function checks against the algorithm.
        let context = unsafe { sys::EVP_AEAD_CTX_new(aead, key.as_ptr(), key.len(), tag_len) };
        NonNull::new(context).map(Self).ok_or_else(|| LibraryError::take("EVP_AEAD_CTX_new"))
    }

    /// Encrypts into `out`, which must have the length of `input`, and writes a tag of the context's tag length.
    pub(crate) fn seal(
        &self,
        iv: &[u8],
        aad: &[u8],
        input: &[u8],
        out: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), LibraryError> {
        if out.len() != input.len() {
            return Err(LibraryError::take("EVP_AEAD_CTX_seal_scatter (length of the output)"));
        }
        let mut tag_len = 0;
        // SAFETY: all slices are live for the lengths given, `out` for that of `input`; they do not overlap.
        let ok = unsafe {
            sys::EVP_AEAD_CTX_seal_scatter(
                self.0.as_ptr(),
                out.as_mut_ptr(),
                tag.as_mut_ptr(),
                &raw mut tag_len,
                tag.len(),
                iv.as_ptr(),
                iv.len(),
                input.as_ptr(),
                input.len(),
                ptr::null(),
                0,
                aad.as_ptr(),
                aad.len(),
            )
        };
        if ok == 1 && tag_len == tag.len() {
            return Ok(());
        }
        Err(LibraryError::take("EVP_AEAD_CTX_seal_scatter"))
    }

    /// Decrypts into `out`, which must have the length of `input`. If the tag does not verify, returns false and
    /// leaves zeros.
    pub(crate) fn open(
        &self,
        iv: &[u8],
        aad: &[u8],
        input: &[u8],
        tag: &[u8],
        out: &mut [u8],
    ) -> Result<bool, LibraryError> {
        if out.len() != input.len() {
            return Err(LibraryError::take("EVP_AEAD_CTX_open_gather (length of the output)"));
        }
        // SAFETY: all slices are live for the lengths given, `out` for that of `input`; they do not overlap.
        let ok = unsafe {
            sys::EVP_AEAD_CTX_open_gather(
                self.0.as_ptr(),
                out.as_mut_ptr(),
                iv.as_ptr(),
                iv.len(),
                input.as_ptr(),
                input.len(),
                tag.as_ptr(),
                tag.len(),
                aad.as_ptr(),
                aad.len(),
            )
        };
        if ok == 1 {
            return Ok(true);
        }
        let error = LibraryError::take("EVP_AEAD_CTX_open_gather");
        if error.is(sys::ERR_LIB_CIPHER, sys::CIPHER_R_BAD_DECRYPT) { Ok(false) } else { Err(error) }
    }
}

impl Drop for AeadContext {
    fn drop(&mut self) {
        // SAFETY: owned, freed once; OPENSSL_free cleanses.
        unsafe { sys::EVP_AEAD_CTX_free(self.0.as_ptr()) }
    }
}
