//! Columns of every type, against single records on the scalar engine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod arrays;
mod bad_rows;
mod ciphers;
mod common;
mod digests;
mod equal_values;
mod even;
mod huge;
mod server;
mod signatures;
mod tokens;
