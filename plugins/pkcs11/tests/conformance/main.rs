//! Suites of others that judge PKCS#11 modules.
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
