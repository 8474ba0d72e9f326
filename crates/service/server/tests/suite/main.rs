//! The cryptoserver as its clients see it. The test of forks (`tests/ring_forks.rs`) is a program of its own.
//!
//! | module | what it holds |
//! |---|---|
//! | `service` | answers over gRPC, plaintext and the UNIX socket |
//! | `values` | calls with one value or a few, and versions of keys |
//! | `gcm` | resident AES-GCM keys |
//! | `plain_http` | single calls over plain HTTP |
//! | `pool` | the synchronous connection pool for other programs |
//! | `remote` | servers as a holder of keys: balanced, replaced, compared |
//! | `permissions` | a grant covers the effects of operations, not their names |
//! | `post_quantum` | ML-KEM and ML-DSA: calls, batches, grants, and key files |
//! | `pins` | keys that a client expects under a name |
//! | `ring` | shared memory between a local client and the server |
//! | `ring_kills` | clients and servers that are killed at every step of the use of shared memory |
//! | `attacks` | hostile and broken clients |
//! | `bad_keys` | keys whose numbers contradict each other |
//! | `fairness` | a greedy client beside an honest one |
//! | `limits` | limits of connections, bytes, waiting time, and keys that clients bring |
//! | `lifetimes` | ends of connections, reloads, and checks of a configuration |
//! | `audit` | the audit log |
//! | `metrics` | metrics and the health probe |
//! | `dashboard` | the dashboard over HTTP |
//! | `dashboard_browser` | the dashboard in a browser without a window |
//! | `monitoring` | the board and the alerts of `packaging` |
//! | `kubernetes` | the manifests for Kubernetes |
//! | `settings` | `docs/oarlock.toml` is correct and complete |
//! | `test_server` | helpers: a server for one test, and an authority for its clients |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics has failed")]
#![allow(unreachable_pub, reason = "a program of tests exports nothing")]

mod attacks;
mod audit;
mod bad_keys;
mod dashboard;
mod dashboard_browser;
mod fairness;
mod gcm;
mod kubernetes;
mod lifetimes;
mod limits;
mod metrics;
mod monitoring;
mod permissions;
mod pins;
mod plain_http;
mod pool;
mod post_quantum;
mod remote;
mod ring;
mod ring_kills;
mod service;
mod settings;
mod test_server;
mod values;
