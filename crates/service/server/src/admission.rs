//! The limits of connections: by address until the client is known, and by client afterwards.
//!
//! A new handshake is never refused, but may evict an older one. Connections with a known client have limits of their
//! own. Connections of the UNIX socket and of the network are counted separately.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use oarlock_network::HandshakeAdmission;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::clients::ClientAccount;
use crate::config::ServerLimits;
use crate::metrics::count;
use crate::service::SharedService;

/// The limits of connections, and the connections that count against them.
#[derive(Debug)]
pub(crate) struct Admission {
    pub(crate) handshakes: Arc<HandshakeAdmission>,
    network: Arc<Semaphore>,
    unix: Arc<Semaphore>,
    max_connections_per_client: usize,
}

/// The listener from which a connection came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListenerKind {
    Network,
    Unix,
}

/// A limit that keeps a connection out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AdmissionError {
    #[error(
        "the server has the maximum of connections ([limits] max_connections or max_unix_connections): try again"
    )]
    Server,
    #[error("this client has the maximum of connections ([limits] max_connections_per_client is {max})")]
    Client { max: usize },
}

impl Admission {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        Self {
            handshakes: Arc::new(HandshakeAdmission::new(
                limits.max_handshakes,
                limits.max_handshakes_per_address,
            )),
            network: Arc::new(Semaphore::new(limits.max_connections)),
            unix: Arc::new(Semaphore::new(limits.max_unix_connections)),
            max_connections_per_client: limits.max_connections_per_client,
        }
    }

    /// Counts a connection of a client that is known.
    ///
    /// # Errors
    /// The client, or all clients together, have the maximum of connections.
    pub(crate) fn admit(
        &self,
        listener: ListenerKind,
        client: &Arc<ClientAccount>,
        service: &Arc<SharedService>,
    ) -> Result<ConnectionSlot, AdmissionError> {
        let max = self.max_connections_per_client;
        let more = |open: usize| (open < max).then_some(open + 1);
        // One update checks and adds, so two connections cannot both take the last number. Relaxed: it guards no other
        // memory.
        if client.connections.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            return Err(AdmissionError::Client { max });
        }
        // From here on an early return drops `connection`, which takes the count back.
        let connection = OwnConnection(Arc::clone(client));
        let free = match listener {
            ListenerKind::Network => &self.network,
            ListenerKind::Unix => &self.unix,
        };
        let permit = Arc::clone(free).try_acquire_owned().map_err(|_| AdmissionError::Server)?;
        Ok(ConnectionSlot::new(Arc::clone(service), connection, permit))
    }
}

/// One of the connections that a client may have, given back when it is dropped.
#[derive(Debug)]
struct OwnConnection(Arc<ClientAccount>);

impl Drop for OwnConnection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One of the connections that the server may have, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    service: Arc<SharedService>,
    _connection: OwnConnection,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionSlot {
    fn new(service: Arc<SharedService>, connection: OwnConnection, permit: OwnedSemaphorePermit) -> Self {
        count(&service.metrics.connections, 1);
        count(&service.metrics.open_connections, 1);
        Self { service, _connection: connection, _permit: permit }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.service.metrics.open_connections.fetch_sub(1, Ordering::Relaxed);
    }
}
