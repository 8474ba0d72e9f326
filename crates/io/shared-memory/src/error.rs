//! Errors of rings.

use std::io;

/// An error of a ring.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RingError {
    /// The other process has written a position that cannot be. The ring is of no use any more.
    #[error(
        "the other process wrote an impossible position into the shared memory: {found} bytes of {capacity}"
    )]
    Position {
        /// The bytes that the ring would hold.
        found: u64,
        /// The size of the ring in bytes.
        capacity: usize,
    },
    /// The other process has written a length that cannot be. The ring is of no use any more.
    #[error(
        "the other process wrote a frame of {found} bytes into the shared memory, which holds {available}"
    )]
    Length {
        /// The length.
        found: u64,
        /// The bytes that the ring holds.
        available: u64,
    },
    /// The frame is longer than the ring: it must go another way.
    #[error("a frame of {len} bytes does not fit a ring of {capacity} bytes")]
    TooLong {
        /// The length of the frame.
        len: usize,
        /// The size of the ring in bytes.
        capacity: usize,
    },
    /// A size is no power of two or out of range.
    #[error("a ring of {found} bytes: expected a power of two from {min} to {max}")]
    Size {
        /// The size.
        found: u64,
        /// The minimum.
        min: usize,
        /// The maximum.
        max: usize,
    },
    /// The memory file is not one that cannot change its size. Nothing of it was read.
    #[error("the shared memory is not sealed against a change of its size")]
    Unsealed,
    /// No memory file came with the answer: a security policy or the limit of open files has kept it back.
    #[error("no file came with the answer: a security policy or the limit of open files has kept it back")]
    NoFile,
    /// The memory file has another length than its sizes need.
    #[error("the shared memory has {found} bytes: expected {expected}")]
    FileLen {
        /// The length.
        found: u64,
        /// The length that fits the sizes.
        expected: u64,
    },
    /// The system refused the memory.
    #[error("{what}: {error}")]
    System {
        /// The call.
        what: &'static str,
        /// The system's answer.
        error: io::Error,
    },
}
