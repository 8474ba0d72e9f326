//! The process that uses SQLite.
//!
//! SQLite's connections and locks do not survive `fork`: locks of files are not inherited, and a lock in memory that
//! another thread held at that moment stays locked. So each use is counted. A child whose parent had no use at the
//! moment of the fork opens connections of its own; any other child gets an error.

use std::sync::atomic::{AtomicU64, Ordering};

use super::error::StoreFault;

/// The identifier of a process.
pub(super) type ProcessId = u32;

/// The process in the upper half and the number of its uses in the lower half: one value, so that a child cannot see
/// its own process with the count of its parent.
static USES: AtomicU64 = AtomicU64::new(0);

/// A use of SQLite by this process. Every lock of the store is held within a use.
#[derive(Debug)]
pub(super) struct ProcessUse {
    pub(super) process: ProcessId,
}

impl ProcessUse {
    pub(super) fn begin() -> Result<Self, StoreFault> {
        begin_in(&USES, current())
    }
}

impl Drop for ProcessUse {
    fn drop(&mut self) {
        USES.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Returns the identifier of this process. It is asked each time, because a fork changes it.
pub(super) fn current() -> ProcessId {
    std::process::id()
}

fn begin_in(uses: &AtomicU64, process: ProcessId) -> Result<ProcessUse, StoreFault> {
    // Acquire and release: a use that ended before is complete for the next.
    let begun = uses.fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
        let (owner, count) = ((word >> 32) as ProcessId, word & u64::from(u32::MAX));
        (owner == process || count == 0).then(|| (u64::from(process) << 32) | (count + 1))
    });
    begun.map(|_| ProcessUse { process }).map_err(|_| StoreFault::Forked)
}

#[cfg(test)]
mod tests {
    use std::mem::ManuallyDrop;

    use super::*;

    #[test]
    fn a_child_begins_unless_a_thread_of_its_parent_was_inside() {
        let uses = AtomicU64::new(0);
        // Not dropped: the drop would count down the process's own word.
        let first = ManuallyDrop::new(begin_in(&uses, 7).unwrap());
        assert_eq!(first.process, 7);
        let _second = ManuallyDrop::new(begin_in(&uses, 7).unwrap());
        assert_eq!(uses.load(Ordering::Relaxed), (7 << 32) | 2);
        assert!(matches!(begin_in(&uses, 8), Err(StoreFault::Forked)));
        assert!(matches!(begin_in(&uses, 8), Err(StoreFault::Forked)), "for ever");
        uses.fetch_sub(2, Ordering::Relaxed);
        let _child = ManuallyDrop::new(begin_in(&uses, 8).unwrap());
        assert_eq!(uses.load(Ordering::Relaxed), (8 << 32) | 1);
    }
}
