//! Repeated log lines: the first at once, the others as a count.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A limit that admits one line of a kind per interval and counts the others, so that no client can fill the disk
/// with log lines.
///
/// ```
/// use std::time::Duration;
/// # use oarlock_network::LogLimit;
///
/// static LINES: LogLimit = LogLimit::new(Duration::from_secs(10));
/// if let Some(suppressed) = LINES.admit() {
///     println!("a connection could not be accepted; {suppressed} earlier lines were suppressed");
/// }
/// ```
#[derive(Debug)]
pub struct LogLimit {
    interval: Duration,
    state: Mutex<LimitState>,
}

#[derive(Debug)]
struct LimitState {
    last: Option<Instant>,
    suppressed: u64,
}

impl LogLimit {
    /// Makes a limit of one line per interval.
    #[must_use]
    pub const fn new(interval: Duration) -> Self {
        Self { interval, state: Mutex::new(LimitState { last: None, suppressed: 0 }) }
    }

    /// Returns the number of lines that were suppressed since the last line, if a line may be written now. Returns None
    /// if this line is suppressed too.
    pub fn admit(&self) -> Option<u64> {
        self.admit_at(Instant::now())
    }

    fn admit_at(&self, now: Instant) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Threads may arrive with times out of order, so the difference saturates.
        if state.last.is_some_and(|last| now.saturating_duration_since(last) < self.interval) {
            state.suppressed += 1;
            return None;
        }
        state.last = Some(now);
        Some(std::mem::take(&mut state.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_per_interval_states_the_number_of_suppressed_lines() {
        let limit = LogLimit::new(Duration::from_secs(10));
        let start = Instant::now();
        assert_eq!(limit.admit_at(start), Some(0));
        for second in 0..10 {
            assert_eq!(limit.admit_at(start + Duration::from_secs(second)), None);
        }
        assert_eq!(limit.admit_at(start + Duration::from_secs(10)), Some(10));
        assert_eq!(limit.admit_at(start + Duration::from_secs(11)), None);
        assert_eq!(limit.admit_at(start + Duration::from_secs(100)), Some(1));
    }
}
