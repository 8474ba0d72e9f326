//! The boundary to OpenSSL: the crate's only unsafe code.
//!
//! | module | content |
//! |---|---|
//! | `entry` | the functions that OpenSSL calls; no other module uses it |
//! | `fork_shared` | memory that forks share |
//! | `libcrypto` | the interface of the library that loaded the provider; it uses no other module except errors and pending operations |
#![allow(unsafe_code)]

mod entry;
pub(crate) mod fork_shared;
pub(crate) mod libcrypto;
