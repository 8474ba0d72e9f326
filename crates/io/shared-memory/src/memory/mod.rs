//! The memory of rings. All unsafe code of the crate is here.
#![allow(unsafe_code)]

pub(crate) mod encoder;
pub(crate) mod mapping;

use std::sync::atomic::Ordering;

use bytes::buf::UninitSlice;
use bytes::{BufMut, BytesMut};

/// The numbers that both ends of a ring share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// The bytes that have been written since the beginning.
    Written,
    /// The bytes that have been read since the beginning.
    Read,
    /// One if the reader must be woken after a frame was written.
    ReaderSleeps,
}

/// The memory of one ring. `copy_out` writes every byte of its argument. Implementations live in this crate.
pub(crate) trait RingMemory {
    /// Returns the bytes of the ring, a power of two.
    fn capacity(&self) -> usize;
    fn load(&self, position: Position, ordering: Ordering) -> u64;
    fn store(&self, position: Position, value: u64, ordering: Ordering);
    /// Passes a sequentially consistent fence.
    fn fence(&self);
    /// Copies bytes into the ring, from position `at` on. At its end they continue at its start.
    fn copy_in(&self, at: u64, bytes: &[u8]);
    /// Copies bytes out of the ring.
    fn copy_out(&self, at: u64, bytes: &mut UninitSlice);
    /// Overwrites `len` bytes of the ring with zeros.
    fn wipe(&self, at: u64, len: usize);
}

/// Appends `len` bytes of a ring to a buffer, from position `at` on.
pub(crate) fn append<M: RingMemory>(memory: &M, at: u64, len: usize, buffer: &mut BytesMut) {
    buffer.reserve(len);
    // The buffer's free space is in one piece after `reserve`, and may be larger than was asked for.
    memory.copy_out(at, &mut buffer.chunk_mut()[..len]);
    // SAFETY: `copy_out` has written each of the `len` bytes at the start of the free space: see `RingMemory`.
    unsafe { buffer.advance_mut(len) };
}
