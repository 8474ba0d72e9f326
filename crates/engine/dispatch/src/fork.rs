//! The handler that counts forks. The crate's only unsafe code.
#![allow(unsafe_code)]

use oarlock_core::ProcessMark;

/// Begins to count forks, so that [`ProcessMark::counted`] costs one load instead of a system call. Cheap to repeat.
///
/// A child made by a bare `clone` system call runs no handlers and is not counted.
#[cfg(all(unix, not(miri)))]
pub fn count_forks() {
    extern "C" fn in_child() {
        ProcessMark::count_fork();
    }
    if ProcessMark::is_counting() {
        return;
    }
    // No lock makes this happen once: a fork would leave it closed. Two threads may both register a handler, and a fork
    // that is counted twice changes the mark as well.
    // The C library forgets the handlers of a shared object that is unloaded (glibc ties them to its `__dso_handle`).
    // SAFETY: the handler only touches an atomic and asks for the process identifier, which POSIX allows in a child
    // after a fork.
    let code = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    debug_assert_eq!(code, 0, "only lack of memory makes it fail");
    if code == 0 {
        ProcessMark::begin_to_count();
    }
}

/// Does nothing: there are no forks here.
#[cfg(not(all(unix, not(miri))))]
pub fn count_forks() {}
