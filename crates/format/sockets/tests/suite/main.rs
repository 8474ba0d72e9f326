//! Records of TLS and SSH, alone and with other implementations.
//!
//! | module | what it holds |
//! |---|---|
//! | `round_trips` | every suite: what is sealed can be opened |
//! | `known_answers` | published records and packets |
//! | `bad_input` | records that are refused, and their errors |
//! | `rustls` | records against rustls |
//! | `openssl` | sessions of OpenSSL's client and server through a recording relay |
//! | `gnutls` | sessions of GnuTLS through a recording relay |
//! | `openssh` | OpenSSH's server and client, with key exchanges on the way |
//! | `common` | helpers: an accelerator, keys, the relay, recorded sessions |
//! | `ssh_peer` | helpers: a transport of SSH |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics has failed")]
#![allow(unreachable_pub, reason = "a program of tests exports nothing")]

mod bad_input;
mod common;
mod gnutls;
mod known_answers;
mod openssh;
mod openssl;
mod round_trips;
mod rustls;
mod ssh_peer;
