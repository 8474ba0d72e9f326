//! The time for which a connection may last: until a certificate of its peers ends.

use std::future::pending;
use std::pin::Pin;
use std::time::Duration;

use oarlock_service_kit::ServiceClock;
use oarlock_service_kit::certificate::first_end;
use tokio::time::sleep;

use crate::stream::RelayStream;

/// The maximum time between two looks at the clock, which an administrator may set.
const LOOK: Duration = Duration::from_secs(60);

/// The end of a connection's certificates. It takes memory only if there is one.
#[derive(Default)]
pub(crate) struct ConnectionTerm(pub(crate) Option<Pin<Box<dyn Future<Output = ()>>>>);

impl ConnectionTerm {
    /// Reads the certificates of both peers.
    pub(crate) fn new(client: &RelayStream, backend: &RelayStream, clock: &ServiceClock) -> Self {
        let now_s = clock.signed_now_s();
        let ends = [client, backend].into_iter().filter_map(|peer| first_end(peer.peer_chain()?, now_s));
        Self(ends.min().map(|end_s| Box::pin(passed(end_s, clock.clone())) as _))
    }

    /// Returns once a certificate has ended.
    pub(crate) async fn over(&mut self) {
        match &mut self.0 {
            Some(over) => over.await,
            None => pending().await,
        }
    }
}

/// Returns after a second, in seconds since 1970.
async fn passed(end_s: i64, clock: ServiceClock) {
    loop {
        let left = end_s.saturating_sub(clock.signed_now_s());
        let Ok(left) = u64::try_from(left) else { return };
        sleep(Duration::from_secs(left.saturating_add(1)).min(LOOK)).await;
    }
}
