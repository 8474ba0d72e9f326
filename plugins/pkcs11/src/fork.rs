//! Forked children: what the library does in them.
//!
//! A program may fork in any state of its threads. A child finds the locks that other threads held locked for ever. So
//! every lock of the library is held within a counted call, and a child looks at the counts of its parent.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use oarlock::process::ProcessLocal;
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

/// The number of counters of calls. Threads share them, so that 32 threads seldom write to the same one.
const COUNTERS: usize = 32;

/// The calls of a process inside of the library. A child sees those of its parent at the moment of the fork.
#[derive(Default)]
struct ProcessCalls {
    counters: [CallCounter; COUNTERS],
    /// The number of forks, in the line of this process, during which a thread was inside of a call.
    interruptions: u32,
}

#[derive(Default)]
#[repr(align(64))]
struct CallCounter(AtomicU32);

static CALLS: ProcessLocal<ProcessCalls> = ProcessLocal::new();

/// A call inside of the library. Every lock of the library is held within one.
pub(crate) struct LibraryCall {
    counter: &'static CallCounter,
}

/// Begins a call.
pub(crate) fn enter_call() -> LibraryCall {
    let counter = &this_process().counters[counter_of_thread()];
    counter.0.fetch_add(1, Ordering::AcqRel);
    LibraryCall { counter }
}

/// Returns the number of forks during which a thread of a parent was inside of a call. Such a thread may have held a
/// lock, which nobody opens in the child.
pub(crate) fn interruptions() -> u32 {
    this_process().interruptions
}

impl Drop for LibraryCall {
    fn drop(&mut self) {
        self.counter.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn this_process() -> &'static ProcessCalls {
    CALLS.get(|parent| parent.map(ProcessCalls::of_child).unwrap_or_default())
}

impl ProcessCalls {
    /// Returns the calls of a child of this process, which has none.
    fn of_child(&self) -> Self {
        let is_inside = |counter: &CallCounter| counter.0.load(Ordering::Acquire) != 0;
        let interrupted = self.counters.iter().any(is_inside);
        Self { interruptions: self.interruptions + u32::from(interrupted), ..Self::default() }
    }
}

/// Returns the counter of this thread.
fn counter_of_thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: Cell<Option<usize>> = const { Cell::new(None) };
    }
    OWN.with(|of_thread| {
        let counter = of_thread.get().unwrap_or_else(|| NEXT.fetch_add(1, Ordering::Relaxed) % COUNTERS);
        of_thread.set(Some(counter));
        counter
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_knows_that_its_parent_was_inside_of_a_call() {
        let parent = ProcessCalls::default();
        parent.counters[1].0.store(1, Ordering::Release);
        let child = parent.of_child();
        assert_eq!(child.interruptions, 1);
        // The child counts its own calls, and its own child sees only those.
        assert_eq!(child.of_child().interruptions, 1, "nobody was inside at the second fork");
        child.counters[1].0.store(1, Ordering::Release);
        assert_eq!(child.of_child().interruptions, 2);
    }

    #[test]
    fn a_child_of_an_idle_parent_goes_on() {
        assert_eq!(ProcessCalls::default().of_child().interruptions, 0);
    }
}
