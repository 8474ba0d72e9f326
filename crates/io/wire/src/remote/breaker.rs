//! The circuit breaker of a server.

use std::time::Duration;

/// The number of consecutive failures that open the breaker.
const MAX_FAILURES: u32 = 3;

/// The minimum and the maximum time that the breaker stays open. The time doubles after each failed trial.
const MIN_OPEN: Duration = Duration::from_millis(100);
const MAX_OPEN: Duration = Duration::from_secs(10);

/// The time for which a server is not asked after a wrong answer.
const DISTRUST_TIME: Duration = Duration::from_secs(60);

/// A circuit breaker. It is closed while a server answers, opens for a while after failures, and then allows one trial.
/// Times are relative to a start that the caller chooses.
#[derive(Debug, Default)]
pub(super) struct CircuitBreaker {
    failures: u32,
    open_until: Option<Duration>,
    is_on_trial: bool,
}

impl CircuitBreaker {
    /// Returns true if the server may be asked now.
    pub(super) fn allows(&self, now: Duration) -> bool {
        match self.open_until {
            None => true,
            Some(until) => now >= until && !self.is_on_trial,
        }
    }

    /// Notes that the server is asked. If the breaker was open, this is the trial.
    pub(super) fn ask(&mut self) {
        self.is_on_trial = self.open_until.is_some();
    }

    pub(super) fn succeed(&mut self) {
        *self = Self::default();
    }

    pub(super) fn fail(&mut self, now: Duration) {
        self.failures += 1;
        if self.failures >= MAX_FAILURES || self.is_on_trial {
            // The shift is limited to 10, far beyond MAX_OPEN, so that it cannot overflow.
            let doubled = MIN_OPEN.saturating_mul(1 << self.failures.saturating_sub(MAX_FAILURES).min(10));
            self.open_until = Some(now + doubled.min(MAX_OPEN));
        }
        self.is_on_trial = false;
    }

    /// Opens the breaker, because the server gave a wrong answer.
    pub(super) fn distrust(&mut self, now: Duration) {
        // As many failures as open the breaker, so that a failed trial after it opens the breaker again.
        *self = Self { failures: MAX_FAILURES, open_until: Some(now + DISTRUST_TIME), is_on_trial: false };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn opens_after_three_failures_and_closes_after_a_good_trial() {
        let mut breaker = CircuitBreaker::default();
        for _ in 0..2 {
            breaker.ask();
            breaker.fail(ms(0));
        }
        assert!(breaker.allows(ms(0)));
        breaker.fail(ms(0));
        assert!(!breaker.allows(ms(99)) && breaker.allows(ms(100)));
        breaker.ask();
        assert!(!breaker.allows(ms(100)), "one trial at a time");
        breaker.fail(ms(100));
        assert!(!breaker.allows(ms(299)) && breaker.allows(ms(300)));
        breaker.ask();
        breaker.succeed();
        assert!(breaker.allows(ms(300)));
        breaker.fail(ms(300));
        assert!(breaker.allows(ms(300)));
    }

    #[test]
    fn doubles_the_time_between_trials_up_to_the_maximum() {
        let mut breaker = CircuitBreaker::default();
        (0..50).for_each(|_| breaker.fail(ms(0)));
        assert!(!breaker.allows(MAX_OPEN - ms(1)) && breaker.allows(MAX_OPEN));
    }

    #[test]
    fn opens_at_once_after_a_wrong_answer() {
        let mut breaker = CircuitBreaker::default();
        breaker.distrust(ms(5));
        assert!(!breaker.allows(DISTRUST_TIME) && breaker.allows(DISTRUST_TIME + ms(5)));
    }
}
