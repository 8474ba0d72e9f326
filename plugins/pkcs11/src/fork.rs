//! Forked children: how they are recognised, and what the library does in them.
//!
//! A handler in the child counts forks, and does nothing else. A program may fork in any state of its threads, so the
//! handler must not take a lock or allocate. The functions that are called later in the child compare the count with
//! that of the state they find.

use std::cell::Cell;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use serde::Deserialize;

/// The state of the library in a child after a fork.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AfterFork {
    /// Sessions, logins and objects go on, each process with its own copy. `C_Initialize` begins anew.
    #[default]
    Continue,
    /// The child must call `C_Initialize`, as the standard says. Every handle of the parent is invalid.
    Reset,
}

static FORKS: AtomicU32 = AtomicU32::new(0);

/// Returns the number of forks between the process that loaded the library and this one.
pub(crate) fn generation() -> u32 {
    // The child has one thread when the handler runs, and threads that it starts later see the count.
    FORKS.load(Ordering::Acquire)
}

/// Counts a fork. Called in the child, by the handler.
pub(crate) fn count_fork() {
    FORKS.fetch_add(1, Ordering::AcqRel);
}

/// The number of counters of calls. Threads share them, so that 32 threads seldom write to the same one.
const COUNTERS: usize = 32;

/// The number of calls inside of the library: the fork generation in the upper half, the count in the lower half. A
/// child sees the counts of its parent at the moment of the fork.
#[repr(align(64))]
struct CallCounter(AtomicU64);

static CALLS: [CallCounter; COUNTERS] = [const { CallCounter(AtomicU64::new(0)) }; COUNTERS];

/// The generation that has looked at the counts of its parent in the upper half, and the last generation whose parent
/// was inside of a call in the lower half.
static LOOKED: AtomicU64 = AtomicU64::new(0);

/// A call inside of the library. Every lock of the library is held within one.
#[derive(Debug)]
pub(crate) struct LibraryCall {
    counter: usize,
}

/// Begins a call.
pub(crate) fn enter_call() -> LibraryCall {
    let now = generation();
    look_at_parent(&CALLS, &LOOKED, now);
    let counter = own_counter();
    begin_in(&CALLS, counter, now);
    LibraryCall { counter }
}

/// True if a thread of a parent was inside of a call when it forked, since a generation. Such a thread may have held a
/// lock, which nobody opens in the child.
pub(crate) fn interrupted_calls_since(generation: u32) -> bool {
    LOOKED.load(Ordering::Acquire) as u32 > generation
}

impl Drop for LibraryCall {
    fn drop(&mut self) {
        if let Some(counter) = CALLS.get(self.counter) {
            counter.0.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Looks once per generation whether the parent was inside of calls, before this process counts its own.
fn look_at_parent(calls: &[CallCounter], looked: &AtomicU64, now: u32) {
    let before = looked.load(Ordering::Acquire);
    if (before >> 32) as u32 == now {
        return;
    }
    let is_old = |word: u64| (word >> 32) as u32 != now && word as u32 != 0;
    let was_inside = calls.iter().any(|counter| is_old(counter.0.load(Ordering::Acquire)));
    let interrupted = if was_inside { u64::from(now) } else { before & u64::from(u32::MAX) };
    // Another thread of the child may have been faster. It has seen the same counts, because nobody counts before.
    let _ = looked.compare_exchange(
        before,
        u64::from(now) << 32 | interrupted,
        Ordering::AcqRel,
        Ordering::Acquire,
    );
}

fn begin_in(calls: &[CallCounter], counter: usize, now: u32) {
    let Some(counter) = calls.get(counter) else { return };
    // The counts of the parent have been looked at, and are replaced.
    let next = |word: u64| {
        let count = if (word >> 32) as u32 == now { word & u64::from(u32::MAX) } else { 0 };
        Some(u64::from(now) << 32 | (count + 1))
    };
    let _ = counter.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
}

/// Returns the counter of this thread.
fn own_counter() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: Cell<Option<usize>> = const { Cell::new(None) };
    }
    OWN.with(|own| {
        let counter = own.get().unwrap_or_else(|| NEXT.fetch_add(1, Ordering::Relaxed) % COUNTERS);
        own.set(Some(counter));
        counter
    })
}

/// Begins to count forks, with a function that registers the handler. Cheap to repeat.
pub(crate) fn count_forks(register: impl FnOnce()) {
    static ONCE: Once = Once::new();
    ONCE.call_once(register);
}

/// A value that belongs to the process that made it, and that a child must not drop: its threads, locks and
/// connections are the parent's.
#[derive(Debug)]
pub(crate) struct OwnedByProcess<T> {
    value: Option<T>,
    generation: u32,
}

impl<T> OwnedByProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Some(value), generation: generation() }
    }

    /// Returns the value, or `None` in a child.
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref().filter(|_| self.generation == generation())
    }
}

impl<T> Drop for OwnedByProcess<T> {
    fn drop(&mut self) {
        if self.generation != generation()
            && let Some(value) = self.value.take()
        {
            // Leaked on purpose: one value per fork, in a child that ends the library or begins it anew.
            Box::leak(Box::new(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    fn counters() -> [CallCounter; 2] {
        [const { CallCounter(AtomicU64::new(0)) }; 2]
    }

    #[test]
    fn a_child_knows_that_its_parent_was_inside_of_a_call() {
        let (calls, looked) = (counters(), AtomicU64::new(0));
        begin_in(&calls, 1, 0);
        look_at_parent(&calls, &looked, 1);
        assert_eq!(looked.load(Ordering::Acquire), 1 << 32 | 1);
        // The child counts its own calls, and its own child sees only those.
        begin_in(&calls, 1, 1);
        calls[1].0.fetch_sub(1, Ordering::AcqRel);
        look_at_parent(&calls, &looked, 2);
        assert_eq!(looked.load(Ordering::Acquire), 2 << 32 | 1, "nobody was inside at the second fork");
    }

    #[test]
    fn a_child_of_an_idle_parent_goes_on() {
        let (calls, looked) = (counters(), AtomicU64::new(0));
        begin_in(&calls, 0, 0);
        calls[0].0.fetch_sub(1, Ordering::AcqRel);
        look_at_parent(&calls, &looked, 1);
        assert_eq!(looked.load(Ordering::Acquire), 1 << 32);
    }

    #[test]
    fn a_grandchild_sees_the_calls_of_a_parent_that_never_looked() {
        let (calls, looked) = (counters(), AtomicU64::new(0));
        begin_in(&calls, 0, 0);
        look_at_parent(&calls, &looked, 2);
        assert_eq!(looked.load(Ordering::Acquire), 2 << 32 | 2);
    }

    #[test]
    fn a_value_of_this_process_is_dropped() {
        let value = Rc::new(());
        let own = OwnedByProcess::new(Rc::clone(&value));
        assert!(own.get().is_some());
        drop(own);
        assert_eq!(Rc::strong_count(&value), 1);
    }

    #[test]
    fn a_value_of_the_parent_is_neither_used_nor_dropped() {
        let value = Rc::new(());
        let mut own = OwnedByProcess::new(Rc::clone(&value));
        own.generation = own.generation.wrapping_sub(1);
        assert!(own.get().is_none());
        drop(own);
        assert_eq!(Rc::strong_count(&value), 2);
    }
}
