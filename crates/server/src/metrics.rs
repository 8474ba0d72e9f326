//! What operators watch.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of the server itself; those of the engines are the dispatcher's.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) connections: AtomicU64,
    pub(crate) open_connections: AtomicU64,
    pub(crate) refused_connections: AtomicU64,
    pub(crate) failed_handshakes: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) operations: AtomicU64,
    pub(crate) rejections: AtomicU64,
    pub(crate) received_bytes: AtomicU64,
    pub(crate) sent_bytes: AtomicU64,
}

/// Adds to a counter.
pub(crate) fn count(counter: &AtomicU64, by: usize) {
    counter.fetch_add(by as u64, Ordering::Relaxed);
}
