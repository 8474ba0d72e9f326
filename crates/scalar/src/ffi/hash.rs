//! SHA-1 and SHA-2, whole and from a chaining state.

use aws_lc_sys as sys;

/// A hash computation in progress, cleansed on drop.
pub(crate) trait Hash: Clone + Send + Sync + 'static {
    /// Bytes of a message block.
    const BLOCK: usize;
    /// Bytes of a digest.
    const OUTPUT: usize;
    /// Bytes of the chaining state.
    const STATE: usize;

    fn new() -> Self;

    fn update(&mut self, data: &[u8]);

    /// Ends the computation: the digest's leading bytes, as many as `out` takes.
    fn finish(self, out: &mut [u8]);

    /// Runs the compression function over whole blocks: big-endian words of state in and out.
    fn compress(state: &[u8], blocks: &[u8], out: &mut [u8]);
}

/// SHA-1.
#[derive(Clone)]
pub(crate) struct Sha1(sys::SHA_CTX);

/// SHA-256.
#[derive(Clone)]
pub(crate) struct Sha256(sys::SHA256_CTX);

/// SHA-384.
#[derive(Clone)]
pub(crate) struct Sha384(Sha512);

/// SHA-512.
#[derive(Clone)]
pub(crate) struct Sha512(sys::SHA512_CTX);

impl Hash for Sha1 {
    const BLOCK: usize = 64;
    const OUTPUT: usize = 20;
    const STATE: usize = 20;

    fn new() -> Self {
        let mut context = sys::SHA_CTX { h: [0; 5], Nl: 0, Nh: 0, data: [0; 64], num: 0 };
        // SAFETY: writes an owned context.
        unsafe { sys::SHA1_Init(&raw mut context) };
        Self(context)
    }

    fn update(&mut self, data: &[u8]) {
        // SAFETY: an owned, initialised context; `data` is readable for its length.
        unsafe { sys::SHA1_Update(&raw mut self.0, data.as_ptr().cast(), data.len()) };
    }

    fn finish(mut self, out: &mut [u8]) {
        let mut digest = [0; Self::OUTPUT];
        // SAFETY: an owned, initialised context; the array has the digest's length.
        unsafe { sys::SHA1_Final(digest.as_mut_ptr(), &raw mut self.0) };
        copy(&digest, out);
    }

    fn compress(state: &[u8], blocks: &[u8], out: &mut [u8]) {
        let mut hash = Self::new();
        load32(state, &mut hash.0.h);
        hash.update(blocks);
        store32(&hash.0.h, out);
    }
}

impl Hash for Sha256 {
    const BLOCK: usize = 64;
    const OUTPUT: usize = 32;
    const STATE: usize = 32;

    fn new() -> Self {
        let mut context = sys::SHA256_CTX { h: [0; 8], Nl: 0, Nh: 0, data: [0; 64], num: 0, md_len: 0 };
        // SAFETY: writes an owned context.
        unsafe { sys::SHA256_Init(&raw mut context) };
        Self(context)
    }

    fn update(&mut self, data: &[u8]) {
        // SAFETY: an owned, initialised context; `data` is readable for its length.
        unsafe { sys::SHA256_Update(&raw mut self.0, data.as_ptr().cast(), data.len()) };
    }

    fn finish(mut self, out: &mut [u8]) {
        let mut digest = [0; Self::OUTPUT];
        // SAFETY: an owned, initialised context; the array has the digest's length.
        unsafe { sys::SHA256_Final(digest.as_mut_ptr(), &raw mut self.0) };
        copy(&digest, out);
    }

    fn compress(state: &[u8], blocks: &[u8], out: &mut [u8]) {
        let mut hash = Self::new();
        load32(state, &mut hash.0.h);
        hash.update(blocks);
        store32(&hash.0.h, out);
    }
}

impl Hash for Sha512 {
    const BLOCK: usize = 128;
    const OUTPUT: usize = 64;
    const STATE: usize = 64;

    fn new() -> Self {
        let mut context = blank512();
        // SAFETY: writes an owned context.
        unsafe { sys::SHA512_Init(&raw mut context) };
        Self(context)
    }

    fn update(&mut self, data: &[u8]) {
        // SAFETY: an owned, initialised context; `data` is readable for its length.
        unsafe { sys::SHA512_Update(&raw mut self.0, data.as_ptr().cast(), data.len()) };
    }

    fn finish(mut self, out: &mut [u8]) {
        let mut digest = [0; Self::OUTPUT];
        // SAFETY: an owned, initialised context; the function writes `md_len` bytes, 64 at most.
        unsafe { sys::SHA512_Final(digest.as_mut_ptr(), &raw mut self.0) };
        copy(&digest, out);
    }

    fn compress(state: &[u8], blocks: &[u8], out: &mut [u8]) {
        let mut hash = Self::new();
        let words = state.chunks_exact(8).filter_map(|word| word.try_into().ok());
        hash.0.h.iter_mut().zip(words.map(u64::from_be_bytes)).for_each(|(own, word)| *own = word);
        hash.update(blocks);
        for (to, word) in out.chunks_exact_mut(8).zip(hash.0.h) {
            to.copy_from_slice(&word.to_be_bytes());
        }
    }
}

impl Hash for Sha384 {
    const BLOCK: usize = 128;
    const OUTPUT: usize = 48;
    const STATE: usize = 64;

    fn new() -> Self {
        let mut context = blank512();
        // SAFETY: writes an owned context.
        unsafe { sys::SHA384_Init(&raw mut context) };
        Self(Sha512(context))
    }

    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finish(mut self, out: &mut [u8]) {
        let mut digest = [0; Self::OUTPUT];
        // SAFETY: an owned context that SHA384_Init initialised; the array has the digest's length.
        unsafe { sys::SHA384_Final(digest.as_mut_ptr(), &raw mut self.0.0) };
        copy(&digest, out);
    }

    fn compress(state: &[u8], blocks: &[u8], out: &mut [u8]) {
        Sha512::compress(state, blocks, out);
    }
}

impl Drop for Sha1 {
    fn drop(&mut self) {
        // SAFETY: plain integers, for which all zeros is a value.
        unsafe { sys::OPENSSL_cleanse((&raw mut self.0).cast(), size_of::<sys::SHA_CTX>()) }
    }
}

impl Drop for Sha256 {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { sys::OPENSSL_cleanse((&raw mut self.0).cast(), size_of::<sys::SHA256_CTX>()) }
    }
}

impl Drop for Sha512 {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { sys::OPENSSL_cleanse((&raw mut self.0).cast(), size_of::<sys::SHA512_CTX>()) }
    }
}

fn blank512() -> sys::SHA512_CTX {
    sys::SHA512_CTX { h: [0; 8], Nl: 0, Nh: 0, p: [0; 128], num: 0, md_len: 0 }
}

fn copy(digest: &[u8], out: &mut [u8]) {
    out.iter_mut().zip(digest).for_each(|(to, from)| *to = *from);
}

fn load32(state: &[u8], words: &mut [u32]) {
    let values = state.chunks_exact(4).filter_map(|word| word.try_into().ok());
    words.iter_mut().zip(values.map(u32::from_be_bytes)).for_each(|(own, word)| *own = word);
}

fn store32(words: &[u32], out: &mut [u8]) {
    for (to, word) in out.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_be_bytes());
    }
}
