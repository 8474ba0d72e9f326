//! Where C's pointers become Rust's slices, and where panics end. The crate's only unsafe code.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the body of a function that C calls. A panic ends here, as unwinding into C is undefined: it has been printed by
/// the panic hook, and None stands for it.
pub fn guard<T>(body: impl FnOnce() -> T) -> Option<T> {
    // What a panic leaves behind is seen by later calls with the same handle; handles keep no half-made state.
    catch_unwind(AssertUnwindSafe(body)).ok()
}

/// Bytes that C lends; none for a null pointer.
///
/// # Safety
/// Where `data` is not null, `len` bytes are there, initialised, and nobody writes them for as long as `'a`.
#[must_use]
pub unsafe fn bytes<'a>(data: *const u8, len: usize) -> &'a [u8] {
    if data.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: not null, and of so many initialised bytes for so long, as the caller promises.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// Text that C lends, ending with a zero byte; None for a null pointer or what is not UTF-8.
///
/// # Safety
/// Where `data` is not null, a zero byte ends it, and nobody writes it for as long as `'a`.
#[must_use]
pub unsafe fn text<'a>(data: *const c_char) -> Option<&'a str> {
    if data.is_null() {
        return None;
    }
    // SAFETY: not null and ended by a zero byte, as the caller promises.
    unsafe { CStr::from_ptr(data) }.to_str().ok()
}

/// Writes `content` where C has `room` bytes, which need not be initialised. False, and nothing written, where it does not
/// fit or there is no place.
///
/// # Safety
/// Where `place` is not null, `room` bytes may be written there, and `content` does not lie among them.
#[must_use = "false means that nothing was written"]
pub unsafe fn copy_out(content: &[u8], place: *mut u8, room: usize) -> bool {
    if place.is_null() || content.len() > room {
        return false;
    }
    // SAFETY: there is room for so many bytes, apart from `content`, as the caller promises.
    unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), place, content.len()) };
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_panic_passes() {
        assert_eq!(guard(|| 7), Some(7));
        assert_eq!(guard(|| -> i32 { panic!("a panic that the test wants to see caught") }), None);
    }

    #[test]
    fn null_is_nothing() {
        // SAFETY: null pointers.
        unsafe {
            assert_eq!(bytes(std::ptr::null(), 5), b"");
            assert_eq!(text(std::ptr::null()), None);
            assert!(!copy_out(b"a", std::ptr::null_mut(), 5));
        }
    }

    #[test]
    fn outputs_are_whole_or_absent() {
        let mut place = [9; 3];
        // SAFETY: three bytes, as long as the call, and text ended by zero.
        unsafe {
            assert!(!copy_out(b"abcd", place.as_mut_ptr(), 3));
            assert_eq!(place, [9; 3]);
            assert!(copy_out(b"ab", place.as_mut_ptr(), 3));
            assert_eq!(bytes(place.as_ptr(), 2), b"ab");
            assert_eq!(text(c"text".as_ptr()), Some("text"));
            assert_eq!(text(c"\xFF".as_ptr()), None);
        }
        assert_eq!(place, [b'a', b'b', 9]);
    }
}
