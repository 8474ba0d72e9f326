//! The error queue of AWS-LC.

use aws_lc_sys as sys;

/// A failed call into AWS-LC: its name and the last reason given, without any key material.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{function} failed (library {}, reason {})", .code >> 24, .code & 0xfff)]
pub(crate) struct LibraryError {
    function: &'static str,
    code: u32,
    is_out_of_memory: bool,
}

impl LibraryError {
    /// Takes what the failed `function` left in this thread's error queue, and empties the queue.
    pub(super) fn take(function: &'static str) -> Self {
        let mut error = Self { function, code: 0, is_out_of_memory: false };
        loop {
            // SAFETY: the function takes no pointer and works on this thread's own queue.
            let code = unsafe { sys::ERR_get_error() };
            if code == 0 {
                return error;
            }
            error.code = code;
            error.is_out_of_memory |= reason(code) == sys::ERR_R_MALLOC_FAILURE;
        }
    }

    /// True where memory ran out, which is no fault of the job.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.is_out_of_memory
    }

    /// True where the last entry of the queue was this reason of this library.
    pub(super) fn is(&self, library: i32, wanted: i32) -> bool {
        self.code >> 24 == library.unsigned_abs() && reason(self.code) == wanted
    }
}

fn reason(code: u32) -> i32 {
    (code & 0xfff).cast_signed()
}
