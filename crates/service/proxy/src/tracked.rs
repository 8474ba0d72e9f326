//! A connection that is counted and logged once.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::record::{ConnectionRecord, RecordedEnd};
use crate::state::ProxyShared;

/// A connection from its acceptance on. It is counted and logged once, when this is dropped.
pub(crate) struct TrackedConnection {
    /// In a box: it is moved between threads, and most of it is empty at first.
    pub(crate) record: Box<ConnectionRecord>,
    shared: Arc<ProxyShared>,
}

impl TrackedConnection {
    pub(crate) fn new(client: Option<SocketAddr>, shared: &Arc<ProxyShared>) -> Self {
        Self { record: Box::new(ConnectionRecord::new(client)), shared: Arc::clone(shared) }
    }
}

impl Drop for TrackedConnection {
    fn drop(&mut self) {
        match self.record.end {
            RecordedEnd::Refused(reason) => self.shared.counters.refuse(reason),
            RecordedEnd::Relayed(kind) => self.shared.counters.end(kind),
        }
        self.shared.log.write(&self.record);
    }
}

impl fmt::Debug for TrackedConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.record.fmt(f)
    }
}
