//! The rules that are compared: the dispatcher's own, and what applications do without it.
//!
//! Each rule drives the same dispatcher. It fixes the number of waiting jobs from which they run as a batch, and one
//! rule also collects jobs before it submits them.

use std::ops::Range;
use std::time::Duration;

use super::LatencyArgs;

/// A rule of the comparison.
#[derive(Clone, Debug)]
pub(super) struct ComparedRule {
    pub(super) name: String,
    /// The number of waiting jobs from which they run as a batch; None for the dispatcher's own break-even.
    pub(super) fixed_break_even: Option<usize>,
    /// The time for which jobs are collected before they are submitted; None if each job is submitted on arrival.
    pub(super) wait: Option<Duration>,
}

/// Returns the dispatcher's rule and the rules that it is compared with.
pub(super) fn compared_rules(args: &LatencyArgs) -> [ComparedRule; 4] {
    let rule =
        |name: &str, fixed_break_even| ComparedRule { name: name.into(), fixed_break_even, wait: None };
    let timer = ComparedRule {
        wait: Some(Duration::from_millis(args.timer_ms)),
        // The timer has decided already: what it collected is a batch, even if it is a single job.
        ..rule(&format!("timer-{}ms", args.timer_ms), Some(1))
    };
    [rule("adaptive", None), rule("scalar-only", Some(usize::MAX)), rule("two-or-more", Some(2)), timer]
}

/// Collects arrivals until they fill a batch, or until the first one has waited long enough.
#[derive(Clone, Debug)]
pub(super) struct JobCollector {
    wait: Duration,
    full: usize,
    /// The arrivals since the last call, by index.
    collected: Range<usize>,
    first_arrival: Duration,
}

impl JobCollector {
    /// Collects up to `full` arrivals for `wait`. Without a wait each arrival is a call of its own.
    pub(super) fn new(wait: Option<Duration>, full: usize) -> Self {
        let full = if wait.is_some() { full.max(1) } else { 1 };
        Self { wait: wait.unwrap_or_default(), full, collected: 0..0, first_arrival: Duration::ZERO }
    }

    /// Adds the next arrival. Returns the arrivals of a call if they are enough for one.
    pub(super) fn add(&mut self, arrival: Duration) -> Option<Range<usize>> {
        if self.collected.is_empty() {
            self.first_arrival = arrival;
        }
        self.collected.end += 1;
        (self.collected.len() >= self.full).then(|| self.take())
    }

    /// Returns the time at which the collected arrivals must be submitted; None if there are none.
    pub(super) fn due(&self) -> Option<Duration> {
        (!self.collected.is_empty()).then(|| self.first_arrival + self.wait)
    }

    /// Takes the collected arrivals.
    pub(super) fn take(&mut self) -> Range<usize> {
        let next = self.collected.end..self.collected.end;
        std::mem::replace(&mut self.collected, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn without_a_wait_each_arrival_is_a_call() {
        let mut collector = JobCollector::new(None, 8);
        assert_eq!([collector.add(MS(1)), collector.add(MS(1))], [Some(0..1), Some(1..2)]);
        assert_eq!(collector.due(), None);
    }

    #[test]
    fn a_timer_collects_a_full_batch_or_what_comes_in_time() {
        let mut collector = JobCollector::new(Some(MS(10)), 3);
        assert_eq!([collector.add(MS(1)), collector.add(MS(2))], [None, None]);
        assert_eq!(collector.due(), Some(MS(11)), "counted from the first arrival");
        assert_eq!((collector.add(MS(3)), collector.due()), (Some(0..3), None));
        assert_eq!(collector.add(MS(20)), None);
        assert_eq!((collector.due(), collector.take()), (Some(MS(30)), 3..4));
    }
}
