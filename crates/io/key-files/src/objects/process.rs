//! The process that uses SQLite.
//!
//! SQLite's connections and locks do not survive `fork`: locks of files are not inherited, and a lock in memory that
//! another thread held at that moment stays locked. So each use is counted. A child whose parent had no use at the
//! moment of the fork opens connections of its own; any other child gets an error.

use std::sync::atomic::{AtomicU32, Ordering};

use oarlock::process::ProcessLocal;

use super::error::StoreFault;

static USES: ProcessLocal<StoreUses> = ProcessLocal::new();

/// The uses of SQLite by a process.
#[derive(Debug, Default)]
struct StoreUses {
    count: AtomicU32,
    /// True if a thread of an ancestor was inside of SQLite when it forked.
    is_interrupted: bool,
}

/// A use of SQLite by this process. Every lock of the store is held within a use.
#[derive(Debug)]
pub(super) struct ProcessUse(&'static StoreUses);

impl ProcessUse {
    pub(super) fn begin() -> Result<Self, StoreFault> {
        let uses = USES.get(|parent| parent.map(StoreUses::of_child).unwrap_or_default());
        uses.begin()?;
        Ok(Self(uses))
    }
}

impl Drop for ProcessUse {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::AcqRel);
    }
}

impl StoreUses {
    fn begin(&self) -> Result<(), StoreFault> {
        if self.is_interrupted {
            return Err(StoreFault::Forked);
        }
        // Acquire and release: a use that ended before is complete for the next.
        self.count.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Returns the uses of a child of this process, which has none.
    fn of_child(&self) -> Self {
        let is_inside = self.count.load(Ordering::Acquire) != 0;
        Self { count: AtomicU32::new(0), is_interrupted: self.is_interrupted || is_inside }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_begins_unless_a_thread_of_its_parent_was_inside() {
        let parent = StoreUses::default();
        parent.of_child().begin().unwrap();
        parent.begin().unwrap();
        let child = parent.of_child();
        assert!(matches!(child.begin(), Err(StoreFault::Forked)));
        assert!(matches!(child.of_child().begin(), Err(StoreFault::Forked)), "for ever");
    }
}
