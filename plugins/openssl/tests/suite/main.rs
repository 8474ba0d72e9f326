//! OpenSSL with the provider, in programs that are not built for it.
//!
//! | module | what it holds |
//! |---|---|
//! | `openssl` | `openssl` of Debian with the provider against `openssl` without it |
//! | `auto` | the choice between the process and a cryptoserver |
//! | `openssl4` | the newest OpenSSL, built from its sources |
//! | `post_quantum` | TLS groups with ML-KEM, in servers and clients beside Go and rustls |
//! | `programs` | unchanged programs of Debian |
//! | `service` | a cryptoserver behind the provider, and its failures |
//! | `security` | outputs that do not fit, and an environment of another user |
//! | `conformance` | helpers: the tests that every version of OpenSSL must pass |
//! | `comparison` | helpers: the table of operations that are compared with and without the provider |
//! | `common` | helpers: directories, programs, and a cryptoserver |
//! | `lives` | helpers: a program that uses libcrypto as libraries and servers do |
//! | `filter` | helpers: filters of system calls |
//! | `peers` | helpers: servers and clients |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics has failed")]
#![allow(unreachable_pub, reason = "a program of tests exports nothing")]

mod auto;
mod common;
mod comparison;
mod conformance;
#[path = "../../../../crates/program/cli/tests/suite/program/filter.rs"]
mod filter;
mod lives;
mod openssl;
mod openssl4;
mod peers;
mod post_quantum;
mod programs;
mod security;
mod service;
