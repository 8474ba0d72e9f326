//! The handler that counts forks.

use crate::fork;

/// Begins to count forks. Cheap to repeat.
pub(super) fn register() {
    fork::count_forks(|| {
        // The library stays in memory once loaded, so the handler does too.
        // SAFETY: the handler is a plain function that only touches an atomic, as POSIX demands of a child after a
        // fork.
        let code = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        debug_assert_eq!(code, 0, "only lack of memory makes it fail");
    });
}

extern "C" fn in_child() {
    fork::count_fork();
}
