//! The clock that dates signatures and starts and ends selectors.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A source of the time of day: the system's clock, or a time that a test sets.
#[derive(Clone, Debug, Default)]
pub struct FilterClock {
    /// The seconds since 1970, if they are set.
    set_s: Option<Arc<AtomicU64>>,
}

impl FilterClock {
    /// Returns a clock that stands at this number of seconds since 1970 until it is set.
    #[must_use]
    pub fn standing_at(seconds: u64) -> Self {
        Self { set_s: Some(Arc::new(AtomicU64::new(seconds))) }
    }

    /// Sets every copy of this clock. The system's clock cannot be set.
    pub fn set(&self, seconds: u64) {
        if let Some(set_s) = &self.set_s {
            set_s.store(seconds, Ordering::Relaxed);
        }
    }

    /// Returns the seconds since 1970.
    #[must_use]
    pub fn now_s(&self) -> u64 {
        match &self.set_s {
            Some(set_s) => set_s.load(Ordering::Relaxed),
            None => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        }
    }
}
