//! Conformance to the standard, also by suites of others.
#![allow(
    clippy::macro_metavars_in_unsafe,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unsafe_code
)]

#[path = "../common/mod.rs"]
mod common;
mod pkcs11_check;
mod profiles;
mod termination;
