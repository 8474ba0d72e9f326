//! The milter server against MTAs.
//!
//! | module | what it holds |
//! |---|---|
//! | `server` | TCP and UNIX sockets, with correct and with faulty MTAs |
//! | `miltertest` | `miltertest` of the OpenDKIM project as the MTA |
//! | `subject_filter` | helpers: a filter whose behaviour depends on the subject of a message, and its server |
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]
#![allow(unreachable_pub, reason = "a program of tests exports nothing")]

mod miltertest;
mod server;
mod subject_filter;
