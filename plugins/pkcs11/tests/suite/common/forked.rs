//! Forked children of a test.

/// Runs `action` in a forked child, and returns whether it returned true there. A child that hangs is killed.
pub fn in_child(action: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs the action, which must not depend on threads of the parent, and ends without destructors.
    let child = unsafe { libc::fork() };
    assert_ne!(child, -1);
    if child == 0 {
        // SAFETY: alarm takes a number; its signal ends a child that hangs.
        unsafe { libc::alarm(60) };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(action));
        let status = i32::from(!result.unwrap_or(false));
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(status) };
    }
    let mut status = 0;
    // SAFETY: the child of this process, and a place for its status.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
}
