//! The boundary between Rust and C, for libraries that other programs load. Internal to Oarlock: the interface changes
//! without notice.
//!
//! | module | content |
//! |---|---|
//! | `boundary` | [`guard`], which stops panics; bytes and text that C lends; outputs to buffers of C; the [`environment`]; users; the allocator |
//! | `message` | lines on stderr |
//! | `wait` | [`EventDescriptor`], [`WatchDescriptor`] and [`TimerDescriptor`], which an event loop waits for |
//!
//! Ownership is written in the types of entry functions, which have the same representation as C's pointers:
//! `Option<&T>` and `Option<&mut T>` are lent for the call, `Option<Box<T>>` is given away, in either direction.
#![deny(unsafe_code)]

mod boundary;
mod message;
mod wait;

pub use boundary::{
    bytes, copy_out, environment, guard, is_privileged, keep_little_memory, peer_groups, text, trim_memory,
    uid_of,
};
pub use message::print_line;
pub use wait::{EventDescriptor, TimerDescriptor, WatchDescriptor};
