//! Deadlines of submissions, kept for the watchdog.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::group::{End, Group};
use crate::queue::Nanos;

/// Deadlines in order. Submissions without one are never here.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    due: Mutex<Due>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Due {
    groups: BTreeMap<(Nanos, Reverse<u64>), Weak<Group>>,
    next_id: u64,
    is_woken: bool,
    /// Groups after the last sweep.
    swept: usize,
}

/// A sweep comes when there are this many more than twice those that the last one left, so that it costs each
/// submission a constant share and memory stays proportional to what waits.
const SWEEP_AFTER: usize = if cfg!(miri) { 32 } else { 1024 };

impl Timers {
    /// Keeps a deadline; the watchdog is woken only where it is the next one.
    pub(crate) fn add(&self, deadline: Nanos, group: &Arc<Group>) {
        let mut due = self.lock();
        due.sweep();
        let is_next = due.groups.keys().next().is_none_or(|(next, _)| deadline < *next);
        due.next_id += 1;
        let id = Reverse(due.next_id);
        due.groups.insert((deadline, id), Arc::downgrade(group));
        due.is_woken |= is_next;
        drop(due);
        if is_next {
            self.changed.notify_one();
        }
    }

    /// Takes the submissions whose deadline is not after `now`.
    pub(crate) fn expired(&self, now: Nanos) -> Vec<Arc<Group>> {
        let mut due = self.lock();
        let later = match now.checked_add(1) {
            Some(next) => due.groups.split_off(&(next, Reverse(u64::MAX))),
            None => BTreeMap::new(),
        };
        let expired = std::mem::replace(&mut due.groups, later);
        drop(due);
        expired.into_values().filter_map(|group| group.upgrade()).collect()
    }

    /// Waits for the next deadline, a change, or `at_most`.
    pub(crate) fn wait(&self, now: Nanos, at_most: Duration) {
        let mut due = self.lock();
        if !std::mem::take(&mut due.is_woken) {
            let next =
                due.groups.keys().next().map(|(next, _)| Duration::from_nanos(next.saturating_sub(now)));
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

    fn lock(&self) -> MutexGuard<'_, Due> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Due {
    /// Lets go of submissions that ended before their deadline.
    fn sweep(&mut self) {
        if self.groups.len() < 2 * self.swept + SWEEP_AFTER {
            return;
        }
        self.groups.retain(|_, group| group.upgrade().is_some_and(|group| group.end() == End::Live));
        self.swept = self.groups.len();
    }
}

#[cfg(test)]
mod tests {
    use oarlock_core::{OperationSet, Shape};

    use super::*;
    use crate::group::Payload;
    use crate::queue::Lane;

    fn group() -> Arc<Group> {
        let group = Group::new(Payload::Operations(OperationSet::new(Shape::X25519)), Lane::Holder(0), 0);
        assert_eq!(group.end(), End::Answered, "nothing to do");
        group
    }

    #[test]
    fn answered_submissions_do_not_pile_up_until_their_deadline() {
        let timers = Timers::default();
        let ended = group();
        (0..4 * SWEEP_AFTER as u64).for_each(|n| timers.add(1_000_000 + n, &ended));
        assert!(timers.lock().groups.len() <= SWEEP_AFTER);
    }

    #[test]
    fn only_what_is_due_is_taken() {
        let timers = Timers::default();
        let group = group();
        [5, 6, 7].into_iter().for_each(|deadline| timers.add(deadline, &group));
        assert_eq!((timers.expired(4).len(), timers.expired(6).len()), (0, 2));
        assert_eq!((timers.expired(Nanos::MAX).len(), timers.lock().groups.len()), (1, 0));
    }
}
