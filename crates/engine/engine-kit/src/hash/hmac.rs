//! HMAC over any digest. RFC 2104, FIPS 198-1.

use std::fmt;

use zeroize::Zeroizing;

use super::HashState;

/// The bytes of the longest block of a digest.
const MAX_BLOCK: usize = 128;

/// An HMAC key: the two hash states after the padded key. RFC 2104 section 4.
pub struct HmacKey<H> {
    inner: H,
    outer: H,
}

impl<H: HashState> HmacKey<H> {
    /// Prepares a key of any length.
    pub fn new(key: &[u8]) -> Self {
        let mut pad = Zeroizing::new([0; MAX_BLOCK]);
        let pad = &mut pad[..H::BLOCK];
        if key.len() > H::BLOCK {
            let mut hash = H::new();
            hash.update(key);
            hash.finish(&mut pad[..H::OUTPUT]);
        } else {
            pad[..key.len()].copy_from_slice(key);
        }
        // The inner mask is still in the pad, so the outer mask cancels it: 0x36 ^ 0x5c.
        Self { inner: Self::absorb_pad(pad, 0x36), outer: Self::absorb_pad(pad, 0x36 ^ 0x5c) }
    }

    /// Returns the hash state after `pad` with every byte XORed with `mask`. `pad` stays changed.
    fn absorb_pad(pad: &mut [u8], mask: u8) -> H {
        pad.iter_mut().for_each(|byte| *byte ^= mask);
        let mut hash = H::new();
        hash.update(pad);
        hash
    }

    /// Writes the leading bytes of the code of a message in parts, as many as `out` holds.
    pub fn code(&self, parts: &[&[u8]], out: &mut [u8]) {
        let mut inner = self.start();
        parts.iter().for_each(|part| inner.update(part));
        self.finish(inner, out);
    }

    /// Starts a computation, which the caller feeds with the message.
    pub fn start(&self) -> H {
        self.inner.clone()
    }

    /// Ends a computation and writes the leading bytes of the code, as many as `out` holds.
    pub fn finish(&self, inner: H, out: &mut [u8]) {
        let mut outer = self.outer.clone();
        outer.update_with_digest_of(inner);
        outer.finish(out);
    }

    /// Ends a computation whose inner digest was found elsewhere.
    pub fn finish_digest(&self, inner: &[u8], out: &mut [u8]) {
        let mut outer = self.outer.clone();
        outer.update(inner);
        outer.finish(out);
    }
}

impl<H> fmt::Debug for HmacKey<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HmacKey")
    }
}
