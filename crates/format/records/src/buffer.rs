//! Bytes that may be secret. They are overwritten when they move and when they are dropped.

use std::fmt;
use std::ops::Deref;

use oarlock::engine_api::erase;

/// A growing byte buffer whose memory is overwritten before it is freed.
#[derive(Default)]
pub struct SecretBuffer(Vec<u8>);

impl SecretBuffer {
    /// Creates an empty buffer with capacity for `capacity` bytes.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }

    /// Removes all bytes and keeps the memory. The old bytes are overwritten by later ones or at the drop.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Removes the bytes from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Reserves capacity for `more` bytes.
    #[inline]
    pub fn reserve(&mut self, more: usize) {
        if self.0.capacity() - self.0.len() < more {
            self.grow(more);
        }
    }

    /// Adds bytes.
    #[inline]
    pub fn extend(&mut self, bytes: &[u8]) {
        // Separators are one byte, and a call to copy it takes longer than all the rest.
        match bytes {
            [] => {}
            [byte] => self.push(*byte),
            _ => {
                self.reserve(bytes.len());
                self.0.extend_from_slice(bytes);
            }
        }
    }

    /// Adds one byte.
    #[inline]
    pub fn push(&mut self, byte: u8) {
        self.reserve(1);
        self.0.push(byte);
    }

    /// Lets `write` add bytes, at most `max`: more would leave a copy behind.
    #[inline]
    pub fn append<T>(&mut self, max: usize, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        self.reserve(max);
        let before = self.0.capacity();
        let written = write(&mut self.0);
        debug_assert_eq!(before, self.0.capacity(), "more than {max} bytes were added");
        written
    }

    /// Adds `len` zeros and returns them for writing.
    #[inline]
    pub fn add(&mut self, len: usize) -> &mut [u8] {
        self.reserve(len);
        let start = self.0.len();
        self.0.resize(start + len, 0);
        &mut self.0[start..]
    }

    /// Moves the bytes to a larger vector and erases the old one. `Vec` itself would leave a copy of the secret
    /// behind when it grows.
    #[cold]
    fn grow(&mut self, more: usize) {
        let mut larger = Vec::with_capacity((self.0.len() + more).max(2 * self.0.capacity()));
        larger.extend_from_slice(&self.0);
        erase(&mut std::mem::replace(&mut self.0, larger));
    }
}

impl Deref for SecretBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for SecretBuffer {
    fn drop(&mut self) {
        erase(&mut self.0);
    }
}

/// Shows only the number of bytes.
impl fmt::Debug for SecretBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.0.len())
    }
}
