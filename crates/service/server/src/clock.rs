//! The clock by which certificates and connections are measured.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio_rustls::rustls::pki_types::UnixTime;
use tokio_rustls::rustls::time_provider::TimeProvider;

/// A source of time: the system's clock, which a test can advance.
#[derive(Clone, Debug)]
pub struct ServerClock {
    began: Instant,
    /// The number of seconds by which the clock is ahead of the system.
    ahead: Arc<AtomicU64>,
}

impl Default for ServerClock {
    fn default() -> Self {
        Self { began: Instant::now(), ahead: Arc::default() }
    }
}

impl ServerClock {
    /// Advances every copy of this clock, as if this time had passed.
    pub fn advance(&self, by: Duration) {
        self.ahead.fetch_add(by.as_secs(), Ordering::Relaxed);
    }

    /// Returns the seconds since 1970.
    pub(crate) fn unix_seconds(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        i64::try_from(since + self.ahead()).unwrap_or(i64::MAX)
    }

    /// Returns the time since the clock was made. It never goes back, even if the system's time is set.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed() + Duration::from_secs(self.ahead())
    }

    fn ahead(&self) -> u64 {
        self.ahead.load(Ordering::Relaxed)
    }
}

impl TimeProvider for ServerClock {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = u64::try_from(self.unix_seconds()).ok()?;
        Some(UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
    }
}
