//! Deadlines of submissions, kept for the watchdog.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::clock::Nanos;
use crate::submission::{Submission, SubmissionEnd};

/// Deadlines in order. Submissions without a deadline are not kept here.
#[derive(Debug, Default)]
pub(crate) struct DeadlineTimers {
    due: Mutex<DueSubmissions>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct DueSubmissions {
    submissions: BTreeMap<(Nanos, Reverse<u64>), Weak<Submission>>,
    next_id: u64,
    is_woken: bool,
    /// The number of submissions after the last sweep.
    swept: usize,
}

/// A sweep runs at twice the number of submissions that the last sweep left, plus this. So each submission pays a
/// constant share of the sweeps, and memory stays proportional to the number of waiting submissions.
const SWEEP_AFTER: usize = if cfg!(miri) { 32 } else { 1024 };

impl DeadlineTimers {
    /// Adds a deadline. The watchdog is woken only if it is the next one.
    pub(crate) fn add(&self, deadline: Nanos, submission: &Arc<Submission>) {
        let mut due = self.lock();
        due.sweep();
        let is_next = due.submissions.keys().next().is_none_or(|(next, _)| deadline < *next);
        due.next_id += 1;
        // Equal deadlines need different keys. `expired` cuts below the smallest key of a deadline, which is
        // `Reverse(u64::MAX)`.
        let id = Reverse(due.next_id);
        due.submissions.insert((deadline, id), Arc::downgrade(submission));
        // The flag outlives the notification: the watchdog may be on its way to `wait` and not yet waiting.
        due.is_woken |= is_next;
        drop(due);
        if is_next {
            self.changed.notify_one();
        }
    }

    /// Takes the submissions whose deadline is at or before `now`.
    pub(crate) fn expired(&self, now: Nanos) -> Vec<Arc<Submission>> {
        let mut due = self.lock();
        let later = match now.checked_add(1) {
            // `split_off` leaves the expired ones in place and returns the later ones, so the two are exchanged below.
            Some(next) => due.submissions.split_off(&(next, Reverse(u64::MAX))),
            None => BTreeMap::new(),
        };
        let expired = std::mem::replace(&mut due.submissions, later);
        drop(due);
        expired.into_values().filter_map(|submission| submission.upgrade()).collect()
    }

    /// Waits for the next deadline or a change, for at most `at_most`.
    pub(crate) fn wait(&self, now: Nanos, at_most: Duration) {
        // A wakeup without reason only makes the watchdog look earlier, so there is no loop here.
        let mut due = self.lock();
        if !std::mem::take(&mut due.is_woken) {
            let next =
                due.submissions.keys().next().map(|(next, _)| Duration::from_nanos(next.saturating_sub(now)));
            let wait = next.map_or(at_most, |next| next.min(at_most));
            due = self.changed.wait_timeout(due, wait).unwrap_or_else(PoisonError::into_inner).0;
            due.is_woken = false;
        }
    }

    /// Wakes the watchdog.
    pub(crate) fn wake(&self) {
        self.lock().is_woken = true;
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, DueSubmissions> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DueSubmissions {
    /// Drops submissions that ended before their deadline.
    fn sweep(&mut self) {
        if self.submissions.len() < 2 * self.swept + SWEEP_AFTER {
            return;
        }
        self.submissions.retain(|_, submission| {
            submission.upgrade().is_some_and(|submission| submission.end() == SubmissionEnd::Live)
        });
        self.swept = self.submissions.len();
    }
}

#[cfg(test)]
mod tests {
    use oarlock_core::{OperationSet, Shape};

    use super::*;
    use crate::queue::QueueKey;
    use crate::submission::Payload;

    fn submission() -> Arc<Submission> {
        let submission =
            Submission::new(Payload::Operations(OperationSet::new(Shape::X25519)), QueueKey::Holder(0), 0);
        assert_eq!(submission.end(), SubmissionEnd::Answered, "nothing to do");
        submission
    }

    #[test]
    fn answered_submissions_do_not_pile_up_until_their_deadline() {
        let timers = DeadlineTimers::default();
        let ended = submission();
        (0..4 * SWEEP_AFTER as u64).for_each(|n| timers.add(1_000_000 + n, &ended));
        assert!(timers.lock().submissions.len() <= SWEEP_AFTER);
    }

    #[test]
    fn only_due_submissions_are_taken() {
        let timers = DeadlineTimers::default();
        let submission = submission();
        [5, 6, 7].into_iter().for_each(|deadline| timers.add(deadline, &submission));
        assert_eq!((timers.expired(4).len(), timers.expired(6).len()), (0, 2));
        assert_eq!((timers.expired(Nanos::MAX).len(), timers.lock().submissions.len()), (1, 0));
    }
}
