//! Bounds of connections.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::Limits;
use crate::metrics::count;
use crate::service::Service;

/// Counts the connections that the server has at once.
#[derive(Debug)]
pub(crate) struct Admission {
    connections: Arc<Semaphore>,
}

impl Admission {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { connections: Arc::new(Semaphore::new(limits.connections)) }
    }

    /// Admits a connection, unless there are as many as there may be.
    pub(crate) fn admit(&self, service: &Arc<Service>) -> Option<ConnectionSlot> {
        let permit = Arc::clone(&self.connections).try_acquire_owned().ok()?;
        Some(ConnectionSlot::new(Arc::clone(service), permit))
    }
}

/// One of the connections that the server has at once, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    service: Arc<Service>,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionSlot {
    fn new(service: Arc<Service>, permit: OwnedSemaphorePermit) -> Self {
        count(&service.metrics.connections, 1);
        count(&service.metrics.open_connections, 1);
        Self { service, _permit: permit }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.service.metrics.open_connections.fetch_sub(1, Ordering::Relaxed);
    }
}
