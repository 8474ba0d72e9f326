//! Hashes of eight messages side by side.

pub(crate) mod sha512;
mod sha512_constants;
