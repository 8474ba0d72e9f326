//! Bytes that may be secret: wiped where they lay, when they move and when they end.

use std::fmt;
use std::ops::Deref;

use oarlock::engine_api::erase;

/// A growing run of bytes whose memory is overwritten before it is given back.
#[derive(Default)]
pub struct Buffer(Vec<u8>);

impl Buffer {
    /// Nothing, with room for `capacity` bytes.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }

    /// Forgets all bytes and keeps the memory; what was there is overwritten by what comes, or at the end.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets the bytes from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Room for `more` bytes.
    #[inline]
    pub fn make_room(&mut self, more: usize) {
        if self.0.capacity() - self.0.len() < more {
            self.grow(more);
        }
    }

    /// Adds bytes.
    #[inline]
    pub fn extend(&mut self, bytes: &[u8]) {
        self.make_room(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    /// Adds one byte.
    #[inline]
    pub fn push(&mut self, byte: u8) {
        self.make_room(1);
        self.0.push(byte);
    }

    /// Adds `len` zeros and lends them for writing.
    #[inline]
    pub fn add(&mut self, len: usize) -> &mut [u8] {
        self.make_room(len);
        let start = self.0.len();
        self.0.resize(start + len, 0);
        &mut self.0[start..]
    }

    /// A vector that grew would leave a copy behind.
    #[cold]
    fn grow(&mut self, more: usize) {
        let mut larger = Vec::with_capacity((self.0.len() + more).max(2 * self.0.capacity()));
        larger.extend_from_slice(&self.0);
        erase(&mut std::mem::replace(&mut self.0, larger));
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        erase(&mut self.0);
    }
}

/// Shows how many bytes there are.
impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.0.len())
    }
}
