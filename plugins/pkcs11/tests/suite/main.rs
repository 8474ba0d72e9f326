//! The module as programs see it. Nearly every test runs in a process of its own.
//!
//! | module | what it holds |
//! |---|---|
//! | `entry` | the tables, called as a C program may call them |
//! | `client` | a client library in Rust, which checks every structure of the C interface |
//! | `bad_input` | wrong arguments: parameters, lengths, numbers, templates |
//! | `lattice` | ML-KEM, ML-DSA and SLH-DSA, with keys of a token file and of a directory |
//! | `conformance` | conformance to the standard, also by suites of others |
//! | `lifecycle` | the end of the library while threads are inside, and slot events |
//! | `fork` | forks in every state of the library |
//! | `fork_states` | forks while a session is in the middle of something |
//! | `many` | the interface "Vendor Oarlock", and asynchronous sessions |
//! | `sanitized` | the example in C under sanitizers |
//! | `store` | token files: PINs, damage, full disks, and other processes |
//! | `server` | slots with the keys of a cryptoserver |
//! | `server_tls` | slots with the keys of a cryptoserver that is reached by mutual TLS |
//! | `programs` | programs that use PKCS#11 modules |
//! | `java` | Java programs, and a Netty server |
//! | `common` | helpers: a directory with settings and keys, the tables, and processes |
#![allow(
    clippy::macro_metavars_in_unsafe,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that panics has failed"
)]
#![allow(unsafe_code, reason = "the interface is C")]
#![allow(unreachable_pub, reason = "a program of tests exports nothing")]

mod bad_input;
mod client;
mod common;
mod conformance;
mod entry;
mod fork;
mod fork_states;
mod java;
mod lattice;
mod lifecycle;
mod many;
mod programs;
mod sanitized;
mod server;
mod server_tls;
mod store;
