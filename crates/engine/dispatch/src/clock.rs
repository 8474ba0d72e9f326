//! The clock of a dispatcher.

use std::time::{Duration, Instant};

use oarlock_core::Shape;

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

/// Measures the run of an engine on this thread.
///
/// RSA private operations take so long that other threads run meanwhile on a busy core. The model must not blame the
/// engine for their time, so the thread's own time counts. To ask for it is a system call, which shorter runs cannot
/// afford.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EngineClock {
    /// The thread's time at the start.
    Thread(Duration),
    /// The moment of the start.
    Wall(Instant),
}

impl EngineClock {
    pub(crate) fn start(shape: Shape) -> Self {
        let thread = if matches!(shape, Shape::RsaPrivate { .. }) { thread_time() } else { None };
        thread.map_or_else(|| Self::Wall(Instant::now()), Self::Thread)
    }

    pub(crate) fn elapsed_ns(self) -> f64 {
        let elapsed = match self {
            Self::Thread(start) => thread_time().unwrap_or(start).saturating_sub(start),
            Self::Wall(start) => start.elapsed(),
        };
        elapsed.as_nanos() as f64
    }
}

/// Returns the CPU time of this thread, if the system tells it.
fn thread_time() -> Option<Duration> {
    #[cfg(target_os = "linux")]
    return Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime)).ok();
    #[cfg(not(target_os = "linux"))]
    return None;
}
