//! When a server that fails is asked again.

use std::time::Duration;

/// Failures one after the other that open it.
const FAILURES: u32 = 3;

/// How long it stays open at first, and at most: twice as long after each failed trial.
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(10);

/// How long a server that answered wrongly is not asked.
const WRONG: Duration = Duration::from_secs(60);

/// A circuit breaker: closed while a server does well, open for a while after it has failed, and then let through one trial.
/// Times are counted from whenever the caller began to count.
#[derive(Debug, Default)]
pub(super) struct CircuitBreaker {
    failures: u32,
    open_until: Option<Duration>,
    is_on_trial: bool,
}

impl CircuitBreaker {
    /// True where the server may be asked now.
    pub(super) fn allows(&self, now: Duration) -> bool {
        match self.open_until {
            None => true,
            Some(until) => now >= until && !self.is_on_trial,
        }
    }

    /// The server is asked: where the breaker was open this is the trial.
    pub(super) fn ask(&mut self) {
        self.is_on_trial = self.open_until.is_some();
    }

    pub(super) fn succeed(&mut self) {
        *self = Self::default();
    }

    pub(super) fn fail(&mut self, now: Duration) {
        self.failures += 1;
        if self.failures >= FAILURES || self.is_on_trial {
            let doubled = FIRST.saturating_mul(1 << self.failures.saturating_sub(FAILURES).min(10));
            self.open_until = Some(now + doubled.min(LONGEST));
        }
        self.is_on_trial = false;
    }

    /// The server gave a wrong answer.
    pub(super) fn distrust(&mut self, now: Duration) {
        *self = Self { failures: FAILURES, open_until: Some(now + WRONG), is_on_trial: false };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn three_failures_open_it_and_a_good_trial_closes_it() {
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
    fn trials_become_rare_and_never_end() {
        let mut breaker = CircuitBreaker::default();
        (0..50).for_each(|_| breaker.fail(ms(0)));
        assert!(!breaker.allows(LONGEST - ms(1)) && breaker.allows(LONGEST));
    }

    #[test]
    fn a_wrong_answer_opens_it_at_once() {
        let mut breaker = CircuitBreaker::default();
        breaker.distrust(ms(5));
        assert!(!breaker.allows(WRONG) && breaker.allows(WRONG + ms(5)));
    }
}
