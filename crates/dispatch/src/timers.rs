//! Deadlines of submissions, kept for the watchdog.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::group::Group;
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
}

impl Timers {
    /// Keeps a deadline; the watchdog is woken only where it is the next one.
    pub(crate) fn add(&self, deadline: Nanos, group: &Arc<Group>) {
        let mut due = self.lock();
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
        let later = due.groups.split_off(&(now + 1, Reverse(u64::MAX)));
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
