//! Reports of connections to servers.

use std::fmt;
use std::sync::Arc;

use crate::LinkTransport;

/// A function that is called after each connection to a server, with its address and the way of the messages. It runs
/// on a thread of the connections, so it must not wait.
#[derive(Clone)]
pub struct ConnectObserver(Arc<ConnectReport>);

type ConnectReport = dyn Fn(&str, &LinkTransport) + Send + Sync;

impl ConnectObserver {
    /// Wraps a function.
    #[must_use]
    pub fn new(report: impl Fn(&str, &LinkTransport) + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }

    pub(super) fn report(&self, address: &str, transport: &LinkTransport) {
        (self.0)(address, transport);
    }
}

impl fmt::Debug for ConnectObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConnectObserver")
    }
}
