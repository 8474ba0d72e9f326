//! Values and marks of one process among forks.
//!
//! A fork copies the memory of a process, but only the thread that forks. A lock that another thread held at this
//! moment stays locked in the child for ever, and what it protects may be half changed. So a child must neither take
//! the locks of its parent nor drop what they protect.

mod cell;

use std::convert::Infallible;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};

pub use self::cell::ForkSafeCell;

/// A process. Equal marks are of the same process: that of a forked child differs from its parent's.
///
/// It consists of the process identifier, which a child in another namespace may have in common with its parent, and
/// of the number of forks since the process that [began to count](Self::begin_to_count).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessMark(u64);

static FORKS: ForkCounter = ForkCounter(AtomicU64::new(0));

impl ProcessMark {
    /// Returns the mark of this process. It asks the system, and so notices a child of a bare `clone` system call too.
    #[must_use]
    pub fn current() -> Self {
        FORKS.ask()
    }

    /// Returns the mark that the last counted fork left, with one load. If forks are not counted, it asks the system.
    ///
    /// A child of a bare `clone` has its parent's mark. No runtime or server forks in this way.
    #[must_use]
    pub fn counted() -> Self {
        FORKS.read()
    }

    /// Returns the mark of an imaginary process. For tests.
    #[must_use]
    pub const fn imaginary(number: u32) -> Self {
        Self(u64::MAX << 32 | number as u64)
    }

    /// True if forks are counted.
    #[must_use]
    pub fn is_counting() -> bool {
        FORKS.is_counting()
    }

    /// Begins to count. To be called after a handler was registered that calls [`count_fork`](Self::count_fork).
    pub fn begin_to_count() {
        FORKS.begin();
    }

    /// Counts a fork. To be called in the child before any other code. It takes no lock and allocates nothing.
    pub fn count_fork() {
        FORKS.count();
    }
}

/// The bits of the mark of this process, or zero if forks are not counted.
struct ForkCounter(AtomicU64);

// The child has one thread when it counts, and threads that it starts later see the mark. So any ordering would do;
// acquire and release say what is meant.
impl ForkCounter {
    fn ask(&self) -> ProcessMark {
        Self::mark(self.0.load(Ordering::Acquire) >> 32)
    }

    fn read(&self) -> ProcessMark {
        match self.0.load(Ordering::Acquire) {
            0 => Self::mark(0),
            mark => ProcessMark(mark),
        }
    }

    fn is_counting(&self) -> bool {
        self.0.load(Ordering::Acquire) != 0
    }

    fn begin(&self) {
        // Fails if another thread was faster, or if a fork has been counted.
        let _ = self.0.compare_exchange(0, Self::mark(0).0, Ordering::AcqRel, Ordering::Acquire);
    }

    fn count(&self) {
        let forks = (self.0.load(Ordering::Acquire) >> 32) + 1;
        self.0.store(Self::mark(forks).0, Ordering::Release);
    }

    fn mark(forks: u64) -> ProcessMark {
        ProcessMark(forks << 32 | u64::from(std::process::id()))
    }
}

/// A value that each process makes for itself.
///
/// A forked child never waits for its parent's threads: it makes its own value, and reads its parent's only to inherit
/// from it. A process drops its own value with this, and leaks the values of its ancestors.
pub struct ProcessLocal<T>(ProcessLink<T>);

/// The values of a line of processes: a child appends its own to that of its parent.
type ProcessLink<T> = ForkSafeCell<Box<ProcessNode<T>>>;

struct ProcessNode<T> {
    owner: ProcessMark,
    value: T,
    next: ProcessLink<T>,
}

impl<T> ProcessLocal<T> {
    /// Creates a value that no process has made yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(ForkSafeCell::new())
    }

    /// Returns the value of this process, and makes it if this process has not.
    ///
    /// `make` gets the value of the nearest ancestor that has one. Its locks may be held for ever, so only `try_lock`
    /// is allowed. No lock is held meanwhile: two threads may both make a value, and then the first one counts.
    pub fn get(&self, make: impl FnOnce(Option<&T>) -> T) -> &T {
        self.get_for(ProcessMark::counted(), make)
    }

    /// Returns the value as [`get`](Self::get) does, or the error of `make`.
    ///
    /// # Errors
    /// The error of `make`.
    pub fn try_get<E>(&self, make: impl FnOnce(Option<&T>) -> Result<T, E>) -> Result<&T, E> {
        self.try_get_for(ProcessMark::counted(), make)
    }

    /// Returns the value of the process with a mark, which is this process: [`ProcessMark::current`] if the children of
    /// a bare `clone` must be noticed.
    pub fn get_for(&self, process: ProcessMark, make: impl FnOnce(Option<&T>) -> T) -> &T {
        let Ok(value) = self.try_get_for(process, |parent| Ok::<_, Infallible>(make(parent)));
        value
    }

    fn try_get_for<E>(
        &self,
        process: ProcessMark,
        make: impl FnOnce(Option<&T>) -> Result<T, E>,
    ) -> Result<&T, E> {
        let (mut link, mut parent) = (&self.0, None);
        // Usually one comparison. In a child the chain is as long as the line of ancestors that have a value.
        while let Some(node) = link.get() {
            if node.owner == process {
                return Ok(&node.value);
            }
            (link, parent) = (&node.next, Some(&node.value));
        }
        let node = ProcessNode { owner: process, value: make(parent)?, next: ForkSafeCell::new() };
        Ok(&link.get_or_make(|| Box::new(node)).value)
    }
}

impl<T> Drop for ProcessLocal<T> {
    fn drop(&mut self) {
        let process = ProcessMark::current();
        let mut next = self.0.take();
        while let Some(node) = next {
            let ProcessNode { owner, value, next: mut link } = *node;
            if owner == process {
                drop(value);
            } else {
                // Leaked on purpose, once for each fork.
                let _leaked = ManuallyDrop::new(value);
            }
            next = link.take();
        }
    }
}

impl<T> Default for ProcessLocal<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows nothing, because the value may be locked.
impl<T> fmt::Debug for ProcessLocal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProcessLocal(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    const PARENT: ProcessMark = ProcessMark::imaginary(1);
    const CHILD: ProcessMark = ProcessMark::imaginary(2);

    #[test]
    fn a_process_makes_its_value_once() {
        let local = ProcessLocal::new();
        assert_eq!(*local.get(|_| 1), 1);
        assert_eq!(*local.get(|_| 2), 1);
        assert_eq!(*local.get_for(ProcessMark::current(), |_| 3), 1);
    }

    #[test]
    fn a_child_makes_its_own_value_although_its_parents_is_locked() {
        let local = ProcessLocal::new();
        let _held = local.get_for(PARENT, |_| Mutex::new(1)).lock();
        let child = local.get_for(CHILD, |parent| {
            assert!(parent.is_some_and(|parent| parent.try_lock().is_err()));
            Mutex::new(2)
        });
        assert_eq!(*child.lock().unwrap(), 2);
        let grandchild = local.get_for(ProcessMark::imaginary(3), |parent| {
            let parent = parent.and_then(|parent| parent.try_lock().ok());
            Mutex::new(parent.map_or(0, |parent| *parent + 1))
        });
        assert_eq!(*grandchild.lock().unwrap(), 3, "it inherits from the nearest ancestor");
    }

    #[test]
    fn an_error_of_making_is_returned_and_the_next_call_tries_again() {
        let local = ProcessLocal::new();
        assert_eq!(local.try_get(|_| Err("not yet")), Err("not yet"));
        assert_eq!(local.try_get(|_| Ok::<_, &str>(1)), Ok(&1));
    }

    #[test]
    #[cfg_attr(miri, ignore = "leaks on purpose")]
    fn a_process_drops_its_own_value_and_leaks_the_values_of_its_parents() {
        let (parents, current) = (Arc::new(()), Arc::new(()));
        let local = ProcessLocal::new();
        local.get_for(PARENT, |_| Arc::clone(&parents));
        local.get(|_| Arc::clone(&current));
        drop(local);
        assert_eq!((Arc::strong_count(&parents), Arc::strong_count(&current)), (2, 1));
    }

    #[test]
    fn a_counted_fork_changes_the_mark() {
        let forks = ForkCounter(AtomicU64::new(0));
        let before = forks.ask();
        assert_eq!(forks.read(), before, "although nobody counts");
        forks.begin();
        assert_eq!((forks.read(), forks.ask()), (before, before));
        forks.count();
        let after = forks.read();
        assert_ne!(after, before);
        forks.begin();
        assert_eq!((forks.read(), forks.ask()), (after, after));
    }
}
