//! The TLS proxy with clients, backends and engines of the tests.
//!
//! | module | what it holds |
//! |---|---|
//! | `service` | the proxy as clients and backends see it |
//! | `bad_input` | bad clients, bad backends, bad engines, and ends in every state |
//! | `access_log`, `log_peers` | the log of connections, also beside those of HAProxy and hitch |
//! | `backends` | several endpoints of a backend, and endpoints that fail |
//! | `faults` | reloads, killed backends and resets at random |
//! | `post_quantum` | hybrid groups and ML-DSA certificates, with clients that have them and clients that do not |
//! | `kernel_hand_over` | connections whose records the kernel makes |
//! | `routes` | settings by name and listener |
//! | `ocsp` | responses of OCSP responders |
//! | `revocation` | revoked certificates of clients |
//! | `monitoring` | the metrics that the board and the alerts name |
//! | `proxied` | helpers: a proxy, its certificates, a backend and clients |
//! | `peers` | helpers: HAProxy, hitch, stunnel and curl |
//! | `haproxy` | HAProxy beside the proxy, before the same backends |
//! | `switched` | helpers: backends that are switched off and on |
//! | `hello` | helpers: ClientHello messages by hand |
//! | `test_engine` | helpers: an engine that gives wrong results or waits |
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]

mod access_log;
mod backends;
mod bad_input;
mod faults;
mod haproxy;
mod hello;
mod kernel_hand_over;
mod log_peers;
mod monitoring;
mod ocsp;
mod peers;
mod post_quantum;
mod proxied;
mod revocation;
mod routes;
mod service;
mod switched;
mod test_engine;
