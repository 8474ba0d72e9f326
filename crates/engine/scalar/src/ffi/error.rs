//! The error queue of AWS-LC.

use aws_lc_sys as sys;

/// A failed call into AWS-LC: the function and the last reason in the error queue. It contains no key material.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{function} failed (library {}, reason {})", .code >> 24, .code & 0xfff)]
pub(crate) struct LibraryError {
    function: &'static str,
    code: u32,
    is_out_of_memory: bool,
}

impl LibraryError {
    /// Reads the error that the failed `function` left in this thread's queue, and empties the queue.
    pub(super) fn take(function: &'static str) -> Self {
        let mut error = Self { function, code: 0, is_out_of_memory: false };
        loop {
            // SAFETY: the function takes no pointer and works on this thread's own queue.
            let code = unsafe { sys::ERR_get_error() };
            if code == 0 {
                return error;
            }
            // The loop reads on after the first error: a rest in the queue would be reported by the next failure.
            error.code = code;
            error.is_out_of_memory |= reason(code) == sys::ERR_R_MALLOC_FAILURE;
        }
    }

    /// Returns true if memory ran out. Then the job is not at fault.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.is_out_of_memory
    }

    /// Returns true if the last entry of the queue was this reason of this library.
    pub(super) fn is(&self, library: i32, wanted: i32) -> bool {
        self.code >> 24 == library.unsigned_abs() && reason(self.code) == wanted
    }
}

fn reason(code: u32) -> i32 {
    (code & 0xfff).cast_signed()
}
