//! Names of hosts, and the addresses that they have now.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oarlock_network::LogLimit;
use tracing::{info, warn};

use super::schedule::Schedule;

/// The maximum number of addresses of a name that are used. The choice does not depend on their order.
const MAX_ADDRESSES: usize = 64;

/// A lookup in progress.
pub(super) type Lookup = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>>>>;

/// A source of the addresses of names.
pub(super) trait HostLookup {
    fn look_up(&self, host: &str, port: u16) -> Lookup;
}

/// The resolver of the system, with its files and servers.
#[derive(Debug)]
pub(super) struct SystemLookup;

impl HostLookup for SystemLookup {
    fn look_up(&self, host: &str, port: u16) -> Lookup {
        let host = (host.to_owned(), port);
        Box::pin(async move { tokio::net::lookup_host(host).await.map(Iterator::collect) })
    }
}

/// A name with its addresses, which a reload keeps.
pub(super) struct BackendHost {
    pub(super) name: String,
    pub(super) port: u16,
    pub(super) lookups: Arc<Schedule>,
    found: Mutex<FoundAddresses>,
    /// The number of lookups that ended. It tells whether the addresses may have changed.
    done: AtomicU64,
    failed: AtomicU64,
    changes: LogLimit,
}

#[derive(Debug, Default)]
struct FoundAddresses {
    addresses: Vec<SocketAddr>,
    /// The number of failed lookups in a row.
    failures: u32,
}

impl BackendHost {
    pub(super) fn new(name: &str, port: u16) -> Self {
        Self {
            name: name.to_owned(),
            port,
            lookups: Arc::default(),
            found: Mutex::default(),
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            changes: LogLimit::new(Duration::from_secs(5)),
        }
    }

    /// Returns the numbers of lookups that succeeded and that failed.
    pub(super) fn lookups(&self) -> [(&'static str, u64); 2] {
        [("done", self.done.load(Relaxed)), ("failed", self.failed.load(Relaxed))]
    }

    /// Returns a number that grows with each lookup; 0 before the first one has ended.
    pub(super) fn version(&self) -> u64 {
        self.done.load(Relaxed) + self.failed.load(Relaxed)
    }

    /// Returns the addresses of the last lookup that succeeded.
    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        self.found().addresses.clone()
    }

    /// Notes the result of a lookup. Returns the time until the next one, which is short after a failure.
    pub(super) fn note(
        &self,
        backend: &str,
        result: io::Result<Vec<SocketAddr>>,
        interval: Duration,
    ) -> Duration {
        let result = result.and_then(|mut found| {
            found.sort_unstable();
            found.dedup();
            if found.is_empty() { Err(io::Error::other("the name has no address")) } else { Ok(found) }
        });
        match result {
            Ok(found) => {
                self.replace(backend, found);
                self.done.fetch_add(1, Relaxed);
                interval
            }
            Err(error) => {
                let failures = self.fail(backend, &error);
                self.failed.fetch_add(1, Relaxed);
                Duration::from_secs(1 << failures.min(16)).min(interval)
            }
        }
    }

    fn replace(&self, backend: &str, mut found: Vec<SocketAddr>) {
        let left_out = found.len().saturating_sub(MAX_ADDRESSES);
        found.truncate(MAX_ADDRESSES);
        let mut state = self.found();
        state.failures = 0;
        if state.addresses == found {
            return;
        }
        let is_first = state.addresses.is_empty();
        state.addresses = found;
        let addresses = state.addresses.len();
        drop(state);
        let host = &*self.name;
        if left_out > 0
            && let Some(suppressed) = self.changes.admit()
        {
            let used = MAX_ADDRESSES;
            warn!(backend, host, used, left_out, suppressed, "a name has more addresses than are used");
        } else if !is_first && let Some(suppressed) = self.changes.admit() {
            info!(backend, host, addresses, suppressed, "a name has other addresses now");
        }
    }

    /// Returns the number of failures in a row.
    fn fail(&self, backend: &str, error: &io::Error) -> u32 {
        let mut state = self.found();
        state.failures = state.failures.saturating_add(1);
        let (failures, kept) = (state.failures, state.addresses.len());
        drop(state);
        if failures == 1
            && let Some(suppressed) = self.changes.admit()
        {
            let host = &*self.name;
            warn!(backend, host, %error, kept, suppressed, "a name cannot be looked up: its last addresses stay");
        }
        failures
    }

    fn found(&self) -> MutexGuard<'_, FoundAddresses> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for BackendHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BackendHost({}:{})", self.name, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_secs(30);

    fn addresses(range: std::ops::Range<u8>) -> Vec<SocketAddr> {
        range.map(|last| SocketAddr::from(([127, 0, 2, last], 80))).collect()
    }

    #[test]
    fn lookups_that_fail_keep_the_addresses_and_come_again_soon() {
        let host = BackendHost::new("a.test", 80);
        assert_eq!(host.note("a", Ok(addresses(1..3)), INTERVAL), INTERVAL);
        for seconds in [2, 4, 8, 16, 30, 30] {
            let failure = Err(io::Error::other("no server"));
            assert_eq!(host.note("a", failure, INTERVAL), Duration::from_secs(seconds));
        }
        assert_eq!(host.note("a", Ok(Vec::new()), INTERVAL), INTERVAL, "no address is a failure, too");
        assert_eq!(host.addresses(), addresses(1..3));
        assert_eq!(host.lookups(), [("done", 1), ("failed", 7)]);
        assert_eq!(host.note("a", Ok(addresses(2..4)), INTERVAL), INTERVAL);
        assert_eq!(host.addresses(), addresses(2..4));
    }

    #[test]
    fn the_number_of_addresses_is_bounded_and_their_order_does_not_count() {
        let host = BackendHost::new("a.test", 80);
        let mut many = addresses(0..200);
        host.note("a", Ok(many.clone()), INTERVAL);
        assert_eq!(host.addresses(), addresses(0..64));
        many.reverse();
        many.extend(addresses(0..200));
        host.note("a", Ok(many), INTERVAL);
        assert_eq!(host.addresses(), addresses(0..64));
    }
}
