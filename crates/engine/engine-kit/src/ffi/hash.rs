//! SHA-1 and SHA-2 over AWS-LC's contexts.

use std::fmt;

use aws_lc_sys as sys;
#[cfg(doc)]
use oarlock_core::DigestAlg;

/// A hash computation in progress, cleansed on drop.
pub trait HashState: Clone + Send + Sync + 'static {
    /// Bytes of a message block.
    const BLOCK: usize;
    /// Bytes of a digest.
    const OUTPUT: usize;
    /// Bytes of the chaining state.
    const STATE: usize;

    /// Starts the computation of an empty message.
    fn new() -> Self;

    /// Absorbs bytes.
    fn update(&mut self, data: &[u8]);

    /// Absorbs the digest of another computation.
    fn update_with_digest_of(&mut self, other: Self);

    /// Ends the computation and writes the leading bytes of the digest, as many as `out` holds.
    fn finish(self, out: &mut [u8]);

    /// Writes the chaining state after whole blocks, in the form of [`DigestAlg::state_len`].
    fn chain(&self, out: &mut [u8]);

    /// Moves a chaining state over whole blocks. Both states have the form of [`DigestAlg::state_len`].
    fn compress(state: &[u8], blocks: &[u8], out: &mut [u8]);
}

/// Defines a type over one of AWS-LC's contexts. A macro, because the C functions of the contexts differ only in
/// names and sizes.
macro_rules! hash {
    (
        $(#[$doc:meta])* $name:ident over $context:ident of $word:ident:
        $init:ident, $update:ident, $finish:ident, block $block:literal, output $output:literal, state $state:literal
    ) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(sys::$context);

        impl HashState for $name {
            const BLOCK: usize = $block;
            const OUTPUT: usize = $output;
            const STATE: usize = $state;

            #[inline]
            fn new() -> Self {
                let mut hash = Self(sys::$context::default());
                // SAFETY: writes an owned context.
                unsafe { sys::$init(&raw mut hash.0) };
                hash
            }

            #[inline]
            fn update(&mut self, data: &[u8]) {
                // SAFETY: an owned, initialised context; `data` is readable for its length.
                unsafe { sys::$update(&raw mut self.0, data.as_ptr().cast(), data.len()) };
            }

            #[inline]
            fn update_with_digest_of(&mut self, mut other: Self) {
                let mut digest = [0; Self::OUTPUT];
                other.end(&mut digest);
                self.update(&digest);
                cleanse(&mut digest);
            }

            #[inline]
            fn finish(mut self, out: &mut [u8]) {
                if let Ok(whole) = out.try_into() {
                    return self.end(whole);
                }
                let mut digest = [0; Self::OUTPUT];
                self.end(&mut digest);
                out.iter_mut().zip(&digest).for_each(|(to, from)| *to = *from);
                cleanse(&mut digest);
            }

            #[inline]
            fn compress(state: &[u8], blocks: &[u8], out: &mut [u8]) {
                let mut hash = Self::new();
                let words = state.chunks_exact(size_of::<$word>()).filter_map(|word| word.try_into().ok());
                hash.0.h.iter_mut().zip(words.map($word::from_be_bytes)).for_each(|(state, word)| *state = word);
                hash.update(blocks);
                hash.chain(out);
            }

            #[inline]
            fn chain(&self, out: &mut [u8]) {
                for (to, word) in out.chunks_exact_mut(size_of::<$word>()).zip(self.0.h) {
                    to.copy_from_slice(&word.to_be_bytes());
                }
            }
        }

        impl $name {
            #[inline]
            fn end(&mut self, digest: &mut [u8; $output]) {
                // SAFETY: an owned context that the algorithm's own function initialised; the digest has its length.
                unsafe { sys::$finish(digest.as_mut_ptr(), &raw mut self.0) };
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: plain integers, for which all zeros is a value.
                unsafe { sys::OPENSSL_cleanse((&raw mut self.0).cast(), size_of::<sys::$context>()) }
            }
        }
    };
}

hash! {
    /// SHA-1 in AWS-LC.
    Sha1 over SHA_CTX of u32: SHA1_Init, SHA1_Update, SHA1_Final, block 64, output 20, state 20
}

hash! {
    /// SHA-224 in AWS-LC.
    Sha224 over SHA256_CTX of u32: SHA224_Init, SHA224_Update, SHA224_Final, block 64, output 28, state 32
}

hash! {
    /// SHA-256 in AWS-LC.
    Sha256 over SHA256_CTX of u32: SHA256_Init, SHA256_Update, SHA256_Final, block 64, output 32, state 32
}

hash! {
    /// SHA-384 in AWS-LC.
    Sha384 over SHA512_CTX of u64: SHA384_Init, SHA384_Update, SHA384_Final, block 128, output 48, state 64
}

hash! {
    /// SHA-512/224 in AWS-LC.
    Sha512_224 over SHA512_CTX of u64:
    SHA512_224_Init, SHA512_224_Update, SHA512_224_Final, block 128, output 28, state 64
}

hash! {
    /// SHA-512/256 in AWS-LC.
    Sha512_256 over SHA512_CTX of u64:
    SHA512_256_Init, SHA512_256_Update, SHA512_256_Final, block 128, output 32, state 64
}

hash! {
    /// SHA-512 in AWS-LC.
    Sha512 over SHA512_CTX of u64: SHA512_Init, SHA512_Update, SHA512_Final, block 128, output 64, state 64
}

/// Erases a digest, which can be a key or a nonce (RFC 2104, RFC 6979).
fn cleanse(digest: &mut [u8]) {
    // SAFETY: the slice is writable for its length.
    unsafe { sys::OPENSSL_cleanse(digest.as_mut_ptr().cast(), digest.len()) }
}
