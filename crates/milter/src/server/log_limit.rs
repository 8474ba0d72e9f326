//! Lines of the log that would come too often.

use std::time::{Duration, Instant};

/// The time in which a line of one kind is not repeated.
const INTERVAL: Duration = Duration::from_secs(10);

/// Lets one line of a kind through in each interval, and counts the others.
#[derive(Debug, Default)]
pub(super) struct LogLimit {
    last: Option<Instant>,
    unlogged: u64,
}

impl LogLimit {
    /// Returns the number of lines left out since the last one if this line is to be written, else None.
    pub(super) fn admits(&mut self) -> Option<u64> {
        self.admits_at(Instant::now())
    }

    fn admits_at(&mut self, now: Instant) -> Option<u64> {
        if self.last.is_some_and(|last| now.saturating_duration_since(last) < INTERVAL) {
            self.unlogged += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.unlogged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_of_many_is_written_with_the_number_of_the_others() {
        let mut limit = LogLimit::default();
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        assert_eq!(limit.admits_at(start), Some(0));
        for ms in 1..=500 {
            assert_eq!(limit.admits_at(after(ms * 19)), None);
        }
        assert_eq!(limit.admits_at(after(10_000)), Some(500));
        assert_eq!(limit.admits_at(after(10_001)), None);
        assert_eq!(limit.admits_at(after(30_000)), Some(1));
    }
}
