//! Secrets under Valgrind: bytes that memcheck takes for uninitialised, so that it reports every branch and every address
//! that depends on them (Langley's ctgrind). Where no Valgrind runs, each request is five instructions without effect.
#![allow(unsafe_code, reason = "a request to Valgrind is a sequence of instructions")]

use std::arch::asm;

/// Requests of valgrind.h and memcheck.h; the latter begin at 'M', 'C', 0, 0.
const RUNNING_ON_VALGRIND: u64 = 0x1001;
const COUNT_ERRORS: u64 = 0x1201;
const MAKE_MEM_UNDEFINED: u64 = 0x4D43_0001;
const MAKE_MEM_DEFINED: u64 = 0x4D43_0002;

/// True under Valgrind.
#[must_use]
pub fn is_watched() -> bool {
    request(RUNNING_ON_VALGRIND, 0, 0) > 0
}

/// Errors that Valgrind has reported so far.
#[must_use]
pub fn errors() -> u64 {
    request(COUNT_ERRORS, 0, 0)
}

/// Makes these bytes secret: what is computed from them must not decide anything.
pub fn conceal(bytes: &[u8]) {
    request(MAKE_MEM_UNDEFINED, bytes.as_ptr().addr() as u64, bytes.len() as u64);
}

/// Makes these bytes public.
pub fn reveal(bytes: &[u8]) {
    request(MAKE_MEM_DEFINED, bytes.as_ptr().addr() as u64, bytes.len() as u64);
}

/// The same value, made public.
#[inline(always)]
pub(super) fn revealed<T: Copy>(value: T) -> T {
    let mut kept = value;
    // Exposed, so that the value counts as written by the request and is read back from memory.
    let at = (&raw mut kept).expose_provenance();
    request(MAKE_MEM_DEFINED, at as u64, size_of::<T>() as u64);
    kept
}

/// A client request, as `VALGRIND_DO_CLIENT_REQUEST` for amd64 in valgrind.h makes it: a preamble of rotations by 128 bits
/// in all, then an exchange of a register with itself.
fn request(code: u64, first: u64, second: u64) -> u64 {
    let arguments = [code, first, second, 0, 0, 0];
    let mut result = 0_u64;
    // SAFETY: the rotations restore rdi and change flags only; Valgrind reads the six words at rax, which live, and writes
    // rdx. It marks memory and never changes it.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") result,
            options(nostack),
        );
    }
    result
}
