//! Rate limits: a number of units per second, and the same number at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A limit of units per second, with the same number of units at once. This is the generic cell rate algorithm: ITU-T
/// I.371 annex A.
#[derive(Debug)]
pub(crate) struct RateLimit {
    began: Instant,
    /// The nanoseconds that a unit uses up.
    unit_ns: u64,
    /// The time when all taken units will have been used up, in nanoseconds since the beginning.
    used_until: AtomicU64,
}

const SECOND: u64 = 1_000_000_000;

impl RateLimit {
    pub(crate) fn new(per_second: u32) -> Self {
        // The settings refuse zero, by which this would divide.
        let unit_ns = SECOND / u64::from(per_second.max(1));
        Self { began: Instant::now(), unit_ns, used_until: AtomicU64::new(0) }
    }

    /// Takes a number of units. More units than one second allows are taken only if no other unit was taken for a
    /// second.
    ///
    /// # Errors
    /// The limit is reached. The error is the time after which the units can be taken.
    #[inline]
    pub(crate) fn take(&self, units: u32) -> Result<(), Duration> {
        self.take_at(units, self.now())
    }

    /// Returns true if the units of a full second could be taken.
    pub(crate) fn is_unused(&self) -> bool {
        self.used_until.load(Ordering::Relaxed) <= self.now()
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    fn take_at(&self, units: u32, now: u64) -> Result<(), Duration> {
        let taken_ns = self.unit_ns.saturating_mul(u64::from(units));
        let allowed_ns = taken_ns.max(SECOND);
        // One number is the whole state, so a single update decides, without a lock.
        let next = |used: u64| {
            // Time without use does not add up: a limit that rested begins now, with the units of one second.
            let until = used.max(now).saturating_add(taken_ns);
            (until - now <= allowed_ns).then_some(until)
        };
        let taken = self.used_until.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        let wait = |used: u64| used.saturating_add(taken_ns).saturating_sub(now.saturating_add(allowed_ns));
        taken.map(drop).map_err(|used| Duration::from_nanos(wait(used)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allows_the_units_of_one_second_at_once() {
        let rate = RateLimit::new(10);
        assert!((0..10).all(|_| rate.take_at(1, 0).is_ok()));
        assert_eq!(rate.take_at(1, 0), Err(Duration::from_millis(100)));
        assert_eq!(rate.take_at(1, 60_000_000), Err(Duration::from_millis(40)));
        assert!(rate.take_at(1, 100_000_000).is_ok() && rate.take_at(1, 100_000_000).is_err());
        assert!((0..10).all(|_| rate.take_at(1, 5 * SECOND).is_ok()) && rate.take_at(1, 5 * SECOND).is_err());
    }

    #[test]
    fn allows_more_units_than_a_second_has_only_if_unused() {
        let rate = RateLimit::new(10);
        assert!(rate.take_at(25, 0).is_ok());
        assert_eq!(rate.take_at(1, 0), Err(Duration::from_millis(1600)));
        assert!(rate.take_at(25, SECOND).is_err() && rate.take_at(25, 5 * SECOND / 2).is_ok());
    }
}
