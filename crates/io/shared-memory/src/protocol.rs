//! Positions, frames and sleep.
//!
//! # Order of memory accesses
//! - The writer copies a frame and then stores `written` with release. The reader loads `written` with acquire and then
//!   copies the frame out. So it never sees a position before the bytes.
//! - The reader copies a frame out and then stores `read` with release. The writer loads `read` with acquire before it
//!   uses the space again. So it never overwrites bytes that are still being copied.
//! - A reader stores `reader_sleeps`, passes a fence, and loads `written` again. A writer stores `written`, passes a
//!   fence, and loads `reader_sleeps`. With both fences sequentially consistent, at least one of them sees the store of
//!   the other: either the reader finds the frame, or the writer finds the sleeper.

use std::sync::atomic::Ordering;

use bytes::BytesMut;
use bytes::buf::UninitSlice;

use crate::RingError;
use crate::memory::encoder::FrameEncoder;
use crate::memory::mapping::MappedRing;
use crate::memory::{Position, RingMemory, append};

/// The bytes before those of a frame: its length.
pub(crate) const LENGTH_BYTES: usize = 8;

/// The bytes of a frame with its length, in the ring.
fn frame_bytes(len: usize) -> u64 {
    (LENGTH_BYTES + len.next_multiple_of(LENGTH_BYTES)) as u64
}

/// The end of a ring that frames are written to.
#[derive(Debug)]
pub struct Writer<M> {
    memory: M,
    written: u64,
    /// The position of the reader when it was last looked at.
    read: u64,
}

#[allow(private_bounds)]
impl<M: RingMemory> Writer<M> {
    /// Returns the writer of a ring that nobody has written to.
    pub(crate) fn new(memory: M) -> Self {
        Self { memory, written: 0, read: 0 }
    }

    /// Returns the maximum length of a frame.
    #[must_use]
    pub fn max_len(&self) -> usize {
        self.memory.capacity() - LENGTH_BYTES
    }

    /// Returns true if there is space for a frame of `len` bytes.
    ///
    /// # Errors
    /// The frame is longer than the ring, or the reader's position is impossible.
    pub fn has_space(&mut self, len: usize) -> Result<bool, RingError> {
        let capacity = self.memory.capacity();
        if len > self.max_len() {
            return Err(RingError::TooLong { len, capacity });
        }
        let needed = frame_bytes(len);
        if self.free() >= needed {
            return Ok(true);
        }
        self.read = self.memory.load(Position::Read, Ordering::Acquire);
        let held = self.written.wrapping_sub(self.read);
        if held > capacity as u64 {
            return Err(RingError::Position { found: held, capacity });
        }
        Ok(self.free() >= needed)
    }

    fn free(&self) -> u64 {
        self.memory.capacity() as u64 - self.written.wrapping_sub(self.read)
    }

    /// Writes a frame. Returns false if there is no space for it.
    ///
    /// # Errors
    /// As [`has_space`](Self::has_space).
    pub fn write(&mut self, frame: &[u8]) -> Result<bool, RingError> {
        if !self.has_space(frame.len())? {
            return Ok(false);
        }
        self.memory.copy_in(self.written, &(frame.len() as u64).to_le_bytes());
        self.memory.copy_in(self.written.wrapping_add(LENGTH_BYTES as u64), frame);
        self.publish(frame.len());
        Ok(true)
    }

    fn publish(&mut self, len: usize) {
        self.written = self.written.wrapping_add(frame_bytes(len));
        self.memory.store(Position::Written, self.written, Ordering::Release);
    }

    /// Returns true, once, if the reader sleeps and has not been woken since. Call it after frames were written, and
    /// then wake the reader.
    pub fn take_sleeper(&mut self) -> bool {
        self.memory.fence();
        let sleeps = self.memory.load(Position::ReaderSleeps, Ordering::Relaxed) != 0;
        if sleeps {
            // The wake-up comes after this. So a reader that sleeps again in between is woken too.
            self.memory.store(Position::ReaderSleeps, 0, Ordering::Relaxed);
        }
        sleeps
    }
}

impl Writer<MappedRing> {
    /// Encodes a frame of `len` bytes in the ring. Returns false, without a call of `fill`, if there is no space for
    /// it. Bytes that `fill` leaves are zero.
    ///
    /// # Errors
    /// As [`has_space`](Self::has_space).
    ///
    /// # Panics
    /// `fill` writes more than `len` bytes.
    pub fn encode(
        &mut self,
        len: usize,
        fill: impl FnOnce(&mut FrameEncoder<'_>),
    ) -> Result<bool, RingError> {
        if !self.has_space(len)? {
            return Ok(false);
        }
        self.memory.copy_in(self.written, &(len as u64).to_le_bytes());
        let mut encoder =
            FrameEncoder::new(&self.memory, self.written.wrapping_add(LENGTH_BYTES as u64), len);
        fill(&mut encoder);
        encoder.finish();
        self.publish(len);
        Ok(true)
    }
}

/// The end of a ring that frames are read from.
#[derive(Debug)]
pub struct Reader<M> {
    memory: M,
    read: u64,
    /// The position of the writer when it was last looked at.
    written: u64,
    is_asleep: bool,
}

#[allow(private_bounds)]
impl<M: RingMemory> Reader<M> {
    /// Returns the reader of a ring that nobody has read from.
    pub(crate) fn new(memory: M) -> Self {
        Self { memory, read: 0, written: 0, is_asleep: false }
    }

    /// Returns true if there is a frame.
    ///
    /// # Errors
    /// The writer's position is impossible.
    pub fn has_frame(&mut self) -> Result<bool, RingError> {
        if self.read == self.written {
            let capacity = self.memory.capacity();
            let written = self.memory.load(Position::Written, Ordering::Acquire);
            let held = written.wrapping_sub(self.read);
            if held > capacity as u64 || !held.is_multiple_of(LENGTH_BYTES as u64) {
                return Err(RingError::Position { found: held, capacity });
            }
            self.written = written;
        }
        Ok(self.read != self.written)
    }

    /// Appends the next frame to a buffer. Returns its length, or `None` if there is none.
    ///
    /// # Errors
    /// A position or a length is impossible.
    pub fn read(&mut self, buffer: &mut BytesMut) -> Result<Option<usize>, RingError> {
        if !self.has_frame()? {
            return Ok(None);
        }
        let mut length = [0; LENGTH_BYTES];
        self.memory.copy_out(self.read, UninitSlice::new(&mut length));
        let found = u64::from_le_bytes(length);
        let available = self.written.wrapping_sub(self.read);
        let len = usize::try_from(found).ok().filter(|len| *len <= self.memory.capacity());
        let Some(len) = len.filter(|len| frame_bytes(*len) <= available) else {
            return Err(RingError::Length { found, available });
        };
        self.wake();
        let start = self.read.wrapping_add(LENGTH_BYTES as u64);
        append(&self.memory, start, len, buffer);
        // A frame may contain a key or a plaintext, and the next frame that covers it may never come.
        self.memory.wipe(start, len);
        self.read = self.read.wrapping_add(frame_bytes(len));
        self.memory.store(Position::Read, self.read, Ordering::Release);
        Ok(Some(len))
    }

    /// Asks to be woken when a frame was written. Returns false if there is one meanwhile: then do not wait.
    ///
    /// # Errors
    /// The writer's position is impossible.
    pub fn sleep(&mut self) -> Result<bool, RingError> {
        self.is_asleep = true;
        self.memory.store(Position::ReaderSleeps, 1, Ordering::Relaxed);
        self.memory.fence();
        Ok(!self.has_frame()?)
    }

    /// Asks not to be woken any more.
    pub fn wake(&mut self) {
        if self.is_asleep {
            self.is_asleep = false;
            self.memory.store(Position::ReaderSleeps, 0, Ordering::Relaxed);
        }
    }
}
