//! How Rust speaks C, for every library that is loaded into other people's processes.
//!
//! | module | what it holds |
//! |---|---|
//! | `boundary` | [`guard`], which no panic passes; bytes and text that C lends; outputs that C has room for; the [`environment`]; users; memory given back |
//! | `wait` | [`Event`], [`Gate`] and [`Alarm`], descriptors that become readable when there is something to go on with |
//!
//! Ownership is written in the types of entry functions, which have the same representation as C's pointers:
//! `Option<&T>` and `Option<&mut T>` are lent for the call, `Option<Box<T>>` is given away, in either direction.
#![deny(unsafe_code)]

mod boundary;
mod wait;

pub use boundary::{
    bytes, copy_out, environment, guard, is_privileged, keep_little_memory, peer_groups, text, trim_memory,
    uid_of,
};
pub use wait::{Alarm, Event, Gate};
