//! Detects that this process is a forked child. The crate's only unsafe code.
//!
//! A handler in the child counts forks, so that the check costs one load instead of a system call per job. A child
//! made by a bare `clone` system call runs no handlers and is not detected; no runtime or server forks in this way.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering};

static FORKS: AtomicU32 = AtomicU32::new(0);

/// Returns the number of forks between the process that first called [`count_forks`] and this one.
pub(crate) fn generation() -> u32 {
    // The child has one thread when the handler runs, and threads that it starts later see the count. So any ordering
    // would do; acquire and release say what is meant.
    FORKS.load(Ordering::Acquire)
}

/// A process. Equal marks are of the same process: that of a forked child differs from its parent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessMark {
    /// A bare `clone` runs no handler, so that the count stays.
    process: u32,
    /// A child in another namespace may have its parent's identifier.
    forks: u32,
}

impl ProcessMark {
    /// Returns the mark of this process.
    #[must_use]
    pub fn current() -> Self {
        count_forks();
        Self { process: std::process::id(), forks: generation() }
    }
}

/// Begins to count forks. Cheap to repeat.
pub(crate) fn count_forks() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(register);
}

#[cfg(all(unix, not(miri)))]
fn register() {
    extern "C" fn in_child() {
        FORKS.fetch_add(1, Ordering::AcqRel);
    }
    // The C library forgets the handlers of a shared object that is unloaded (glibc ties them to its `__dso_handle`).
    // SAFETY: the handler is a plain function that only touches an atomic, as POSIX demands of a child after a fork.
    let code = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    debug_assert_eq!(code, 0, "only lack of memory makes it fail");
}

/// Does nothing: there are no forks here.
#[cfg(not(all(unix, not(miri))))]
fn register() {}
