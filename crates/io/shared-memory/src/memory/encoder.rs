//! A frame that is encoded into a ring piece by piece.

use bytes::BufMut;
use bytes::buf::UninitSlice;
use zeroize::Zeroize;

use crate::memory::RingMemory;
use crate::memory::mapping::MappedRing;

/// The bytes that are gathered before they are copied into the ring.
const GATHERED: usize = 128;

/// The frame that `RingWriter::encode` fills. Short pieces are gathered, and long ones go
/// into the ring at once.
#[derive(Debug)]
pub struct FrameEncoder<'w> {
    memory: &'w MappedRing,
    at: u64,
    left: usize,
    gathered: [u8; GATHERED],
    len: usize,
}

impl<'w> FrameEncoder<'w> {
    /// Begins a frame of `len` bytes at position `at`, for which the ring has space.
    pub(crate) fn new(memory: &'w MappedRing, at: u64, len: usize) -> Self {
        Self { memory, at, left: len, gathered: [0; GATHERED], len: 0 }
    }

    fn flush(&mut self) {
        self.memory.copy_in(self.at, &self.gathered[..self.len]);
        self.at += self.len as u64;
        self.len = 0;
    }

    /// Ends the frame. What has not been written is zero.
    pub(crate) fn finish(mut self) {
        self.flush();
        let zeros = [0; GATHERED];
        while self.left > 0 {
            let len = self.left.min(GATHERED);
            self.memory.copy_in(self.at, &zeros[..len]);
            (self.at, self.left) = (self.at + len as u64, self.left - len);
        }
        self.gathered.zeroize();
    }
}

// SAFETY: `chunk_mut` gives out the free end of `gathered`, and `advance_mut` counts bytes of it that the caller has
// written. The array is initialized, so that even a caller that has not written them reads zeros.
unsafe impl BufMut for FrameEncoder<'_> {
    fn remaining_mut(&self) -> usize {
        self.left
    }

    unsafe fn advance_mut(&mut self, count: usize) {
        assert!(count <= self.left && self.len + count <= GATHERED);
        (self.len, self.left) = (self.len + count, self.left - count);
    }

    fn chunk_mut(&mut self) -> &mut UninitSlice {
        if self.len == GATHERED {
            self.flush();
        }
        let end = (self.len + self.left).min(GATHERED);
        UninitSlice::new(&mut self.gathered[self.len..end])
    }

    fn put_slice(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.left, "a frame of a length that was told before");
        if self.len + bytes.len() > GATHERED {
            self.flush();
        }
        if bytes.len() > GATHERED {
            self.memory.copy_in(self.at, bytes);
            self.at += bytes.len() as u64;
        } else {
            self.gathered[self.len..][..bytes.len()].copy_from_slice(bytes);
            self.len += bytes.len();
        }
        self.left -= bytes.len();
    }
}
