//! The ends of connections: at the end of the client's certificate, at a maximum age, and when its authority is no
//! longer trusted.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oarlock_service_kit::ServiceClock;
use oarlock_service_kit::certificate::first_end;
use tokio::sync::watch;
use tokio_rustls::rustls::pki_types::CertificateDer;

use crate::config::ServerLimits;

/// The lifetimes of all connections with a known client.
#[derive(Debug)]
pub(crate) struct ConnectionLifetimes {
    clock: ServiceClock,
    /// The maximum seconds that a connection may last.
    max_connection_seconds: AtomicU64,
    /// The time that requests in progress have after the end.
    grace: Duration,
    entries: Mutex<HashMap<u64, LifetimeEntry>>,
    last_id: AtomicU64,
}

#[derive(Debug)]
struct LifetimeEntry {
    /// The chain that the client sent, its own certificate first; empty on sockets without TLS.
    chain: Vec<CertificateDer<'static>>,
    /// The end of the first certificate of the chain that ends, in seconds since 1970.
    not_after: Option<i64>,
    /// The elapsed time at which the connection is too old.
    max_age_at: Duration,
    /// The elapsed time at which the connection is cut, once it has begun to end.
    cut_at: Option<Duration>,
    stage: watch::Sender<LifeStage>,
}

/// A connection's stage of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LifeStage {
    /// Requests are served.
    Serving,
    /// Requests in progress are answered, new requests are refused.
    Ending(EndReason),
    /// The time for answers has passed.
    Cut,
}

/// The reason why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndReason {
    CertificateEnded,
    TooOld,
    NotTrusted,
}

impl EndReason {
    /// Returns the message for the client.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::CertificateEnded => {
                "the client's certificate has expired: this connection ends, connect with a new one"
            }
            Self::TooOld => "this connection has reached its maximum age: connect again",
            Self::NotTrusted => {
                "the server no longer trusts the authority of the client's certificate: this connection ends"
            }
        }
    }
}

/// A connection among the [`ConnectionLifetimes`], removed when this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionLifetime {
    id: u64,
    lifetimes: Arc<ConnectionLifetimes>,
    stage: StageWatch,
}

/// A receiver of a connection's stage, for its requests.
#[derive(Clone, Debug)]
pub(crate) struct StageWatch(watch::Receiver<LifeStage>);

impl ConnectionLifetimes {
    pub(crate) fn new(clock: ServiceClock, limits: &ServerLimits) -> Self {
        Self {
            clock,
            max_connection_seconds: AtomicU64::new(limits.max_connection_seconds),
            grace: limits.max_drain(),
            entries: Mutex::default(),
            last_id: AtomicU64::new(0),
        }
    }

    pub(crate) fn clock(&self) -> &ServiceClock {
        &self.clock
    }

    /// Sets the maximum age of connections that begin from now on.
    pub(crate) fn set_max_connection_seconds(&self, seconds: u64) {
        self.max_connection_seconds.store(seconds, Ordering::Relaxed);
    }

    /// Enters a connection with the chain that its client sent.
    pub(crate) fn enter(self: &Arc<Self>, chain: Vec<CertificateDer<'static>>) -> ConnectionLifetime {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed);
        let max_age = jittered(self.max_connection_seconds.load(Ordering::Relaxed));
        let (stage, watched) = watch::channel(LifeStage::Serving);
        let entry = LifetimeEntry {
            not_after: first_end(&chain, self.clock.signed_now_s()),
            chain,
            max_age_at: self.clock.elapsed() + max_age,
            cut_at: None,
            stage,
        };
        self.lock().insert(id, entry);
        ConnectionLifetime { id, lifetimes: Arc::clone(self), stage: StageWatch(watched) }
    }

    /// Ends connections whose time is over, and cuts connections whose grace is over. Called every second.
    pub(crate) fn sweep(&self) {
        // Certificates end by the calendar, connections by the monotonic clock, which no administrator sets back.
        let (now, elapsed) = (self.clock.signed_now_s(), self.clock.elapsed());
        for entry in self.lock().values_mut() {
            // The last second of a certificate still counts. RFC 5280 4.1.2.5.
            if entry.not_after.is_some_and(|not_after| not_after < now) {
                self.end(entry, EndReason::CertificateEnded);
            } else if entry.max_age_at <= elapsed {
                self.end(entry, EndReason::TooOld);
            }
            if entry.cut_at.is_some_and(|cut_at| cut_at <= elapsed) {
                entry.stage.send_replace(LifeStage::Cut);
            }
        }
    }

    /// Ends connections whose certificates are no longer trusted. Returns their number.
    pub(crate) fn end_untrusted(&self, is_trusted: impl Fn(&[CertificateDer<'static>]) -> bool) -> usize {
        let mut entries = self.lock();
        let untrusted = entries.values_mut().filter(|entry| {
            // Connections without TLS have no chain, and their clients need no authority.
            let is_serving = *entry.stage.borrow() == LifeStage::Serving;
            is_serving && !entry.chain.is_empty() && !is_trusted(&entry.chain)
        });
        untrusted.map(|entry| self.end(entry, EndReason::NotTrusted)).count()
    }

    fn end(&self, entry: &mut LifetimeEntry, reason: EndReason) {
        // The first reason stays: a later one must not extend the grace.
        if entry.cut_at.is_none() {
            entry.cut_at = Some(self.clock.elapsed() + self.grace);
            entry.stage.send_replace(LifeStage::Ending(reason));
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, LifetimeEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns 90 to 100 per cent of a number of seconds, so that connections that began together do not end together.
fn jittered(seconds: u64) -> Duration {
    // The keys of a new hasher are random, which is enough to spread reconnections.
    let share = RandomState::new().hash_one(0_u8) % 1000;
    Duration::from_millis(seconds.saturating_mul(900).saturating_add(seconds.saturating_mul(share) / 10))
}

impl ConnectionLifetime {
    pub(crate) fn stage(&self) -> StageWatch {
        self.stage.clone()
    }
}

impl Drop for ConnectionLifetime {
    fn drop(&mut self) {
        self.lifetimes.lock().remove(&self.id);
    }
}

impl StageWatch {
    /// Returns the reason for the end of the connection, if it ends.
    pub(crate) fn end_reason(&self) -> Option<EndReason> {
        match *self.0.borrow() {
            LifeStage::Serving => None,
            LifeStage::Ending(reason) => Some(reason),
            // The true reason was reported when the connection began to end; now any reason refuses the call.
            LifeStage::Cut => Some(EndReason::TooOld),
        }
    }

    /// Waits until the connection must end.
    pub(crate) async fn ending(mut self) -> EndReason {
        // An error means that the lifetime was dropped, which is an end too.
        let _ = self.0.wait_for(|stage| *stage != LifeStage::Serving).await;
        self.end_reason().unwrap_or(EndReason::TooOld)
    }

    /// Waits until the connection must be cut. Never returns if it ends before.
    pub(crate) async fn cut(mut self) {
        if self.0.wait_for(|stage| *stage == LifeStage::Cut).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lifetimes() -> (Arc<ConnectionLifetimes>, ServiceClock) {
        let clock = ServiceClock::default();
        let limits =
            ServerLimits { max_connection_seconds: 1000, max_drain_seconds: 30, ..ServerLimits::default() };
        (Arc::new(ConnectionLifetimes::new(clock.clone(), &limits)), clock)
    }

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn ends_connections_between_90_and_100_per_cent_of_the_maximum_age() {
        let (lifetimes, clock) = lifetimes();
        let connections: Vec<_> = (0..100).map(|_| lifetimes.enter(Vec::new())).collect();
        let ended =
            || connections.iter().filter(|connection| connection.stage().end_reason().is_some()).count();
        clock.advance(seconds(899));
        lifetimes.sweep();
        assert_eq!(ended(), 0);
        clock.advance(seconds(50));
        lifetimes.sweep();
        assert!((1..100).contains(&ended()), "{}", ended());
        clock.advance(seconds(52));
        lifetimes.sweep();
        assert_eq!(ended(), 100);
    }

    #[tokio::test]
    async fn cuts_a_connection_that_does_not_end_within_its_grace() {
        let (lifetimes, clock) = lifetimes();
        let connection = lifetimes.enter(Vec::new());
        clock.advance(seconds(1001));
        lifetimes.sweep();
        assert_eq!(connection.stage().ending().await, EndReason::TooOld);
        assert_eq!(*connection.stage().0.borrow(), LifeStage::Ending(EndReason::TooOld));
        clock.advance(seconds(29));
        lifetimes.sweep();
        assert_eq!(*connection.stage().0.borrow(), LifeStage::Ending(EndReason::TooOld));
        clock.advance(seconds(2));
        lifetimes.sweep();
        connection.stage().cut().await;
        drop(connection);
        assert!(lifetimes.lock().is_empty());
    }
}
