//! The laboratory as its users run it, with the program `oarlock` beside it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "these are tests")]

mod bench_fleet;
mod bench_milter;
mod bench_proxy;
mod bench_resolver;
mod bench_tls;
mod commands;
mod dkim;
mod dnssec_bench;
mod documents;
mod hand_over;
mod peers;
#[path = "../../../../crates/program/cli/tests/suite/program/printed.rs"]
mod printed;
mod program;
mod served;
mod siege;
mod sockets_bench;
mod tls_head;
mod zonegen;
