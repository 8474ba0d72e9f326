//! The clock that dates signatures, and by which certificates and connections end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;

/// A source of time: the system's clock, or one that a test sets or advances. Copies are one clock.
#[derive(Clone, Debug)]
pub struct ServiceClock {
    began: Instant,
    /// The seconds since 1970 at which the clock stands; None if it runs with the system's clock.
    standing_s: Option<Arc<AtomicU64>>,
    /// The number of seconds by which the clock is ahead.
    ahead_s: Arc<AtomicU64>,
}

impl Default for ServiceClock {
    fn default() -> Self {
        Self { began: Instant::now(), standing_s: None, ahead_s: Arc::default() }
    }
}

impl ServiceClock {
    /// Returns a clock that stands at this number of seconds since 1970 until it is set or advanced.
    #[must_use]
    pub fn standing_at(seconds: u64) -> Self {
        Self { standing_s: Some(Arc::new(AtomicU64::new(seconds))), ..Self::default() }
    }

    /// Sets a standing clock to a number of seconds since 1970. The system's clock cannot be set.
    pub fn set(&self, seconds: u64) {
        if let Some(standing_s) = &self.standing_s {
            standing_s.store(seconds, Ordering::Relaxed);
        }
    }

    /// Advances the clock, as if this time had passed.
    pub fn advance(&self, by: Duration) {
        self.ahead_s.fetch_add(by.as_secs(), Ordering::Relaxed);
    }

    /// Returns the seconds since 1970.
    #[must_use]
    pub fn now_s(&self) -> u64 {
        let now_s = match &self.standing_s {
            Some(standing_s) => standing_s.load(Ordering::Relaxed),
            None => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        };
        now_s.saturating_add(self.ahead_s.load(Ordering::Relaxed))
    }

    /// Returns the seconds since 1970 with a sign, as the times of certificates have it.
    #[must_use]
    pub fn signed_now_s(&self) -> i64 {
        i64::try_from(self.now_s()).unwrap_or(i64::MAX)
    }

    /// Returns the time since the clock was made. It never goes back, even if the system's time is set.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed() + Duration::from_secs(self.ahead_s.load(Ordering::Relaxed))
    }
}

impl TimeProvider for ServiceClock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(self.now_s())))
    }
}
