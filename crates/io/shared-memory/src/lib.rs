//! Frames between two processes through shared memory. Internal to Oarlock: the interface changes without notice.
//!
//! | module | content |
//! |---|---|
//! | [`RingPair`] | the memory of two rings, created by one process and mapped by another |
//! | [`RingWriter`], [`RingReader`] | the two ends of one ring |
//! | `protocol` | positions, frames and sleep, over any memory |
//! | [`send_with_file`], [`receive_with_file`] | the memory file on its way through a UNIX socket |
//! | `memory` | the memory: a mapped file, and the copies into it and out of it |
//!
//! # Memory
//! A file in memory that its creator has sealed against a change of size. One page of positions comes first, then the
//! bytes of the ring of requests, and then those of the ring of answers. A ring's size is a power of two.
//!
//! # Frames
//! Eight bytes of length, the bytes, and zeros up to a multiple of eight. A frame becomes visible as a whole: the
//! writer copies it first and then moves the position `written`. The reader copies it out, overwrites it with zeros,
//! and then moves `read`. Both positions count bytes since the beginning, so their difference is what the ring holds.
//!
//! # Trust
//! The other process can write any byte of the memory at any time. So each end keeps its own position to itself, checks
//! the other's on every read, and reads each length once. An inconsistent position is a [`RingError`]. The ring cannot
//! be used afterwards. No reference to the memory exists: bytes are copied in and out.
//!
//! # Sleep
//! A reader that finds nothing calls `RingReader::sleep` before it waits, and the writer learns from
//! `RingWriter::take_sleeper` that it must wake it. The wake-up itself is up to the caller, who also needs another
//! way for frames that are too long or for which there is no space: a writer cannot wait for space.
#![deny(unsafe_code)]

mod error;
mod memory;
mod pair;
mod protocol;
#[cfg(test)]
mod tests;
mod transfer;

pub use error::RingError;
pub use memory::encoder::FrameEncoder;
use memory::mapping::MappedRing;
pub use pair::{RingPair, RingSizes};
pub use transfer::{receive_with_file, send_with_file};

/// The end of a ring that frames are written to.
pub type RingWriter = protocol::Writer<MappedRing>;

/// The end of a ring that frames are read from.
pub type RingReader = protocol::Reader<MappedRing>;
