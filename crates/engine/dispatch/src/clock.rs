//! The clock of a dispatcher.

use std::time::{Duration, Instant};

/// Nanoseconds since the dispatcher began.
pub(crate) type Nanos = u64;

/// Measures time from the moment at which its dispatcher began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DispatchClock(Instant);

impl DispatchClock {
    /// Starts the clock.
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the present time.
    pub(crate) fn now(self) -> Nanos {
        // The clock counts from the dispatcher's start, so that 64 bits last for 584 years with any epoch of the
        // system's monotonic clock is.
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns the time after a duration from now.
    pub(crate) fn after(self, duration: Duration) -> Nanos {
        self.now().saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}
