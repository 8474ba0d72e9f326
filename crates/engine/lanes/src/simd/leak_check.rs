//! Marks for secrets under Valgrind. Memcheck treats marked bytes as uninitialised and reports every branch and
//! address that depends on them (Langley's ctgrind). Without Valgrind, a request is five instructions without
//! effect.
#![allow(unsafe_code, reason = "a request to Valgrind is a sequence of instructions")]

use std::arch::asm;

/// The requests of valgrind.h and memcheck.h. Those of memcheck.h start at 'M', 'C', 0, 0.
const RUNNING_ON_VALGRIND: u64 = 0x1001;
const COUNT_ERRORS: u64 = 0x1201;
const MAKE_MEM_UNDEFINED: u64 = 0x4D43_0001;
const MAKE_MEM_DEFINED: u64 = 0x4D43_0002;

/// Returns true under Valgrind.
#[must_use]
pub fn is_watched() -> bool {
    request(RUNNING_ON_VALGRIND, 0, 0) > 0
}

/// Returns the number of errors that Valgrind has reported.
#[must_use]
pub fn errors() -> u64 {
    request(COUNT_ERRORS, 0, 0)
}

/// Marks bytes as secret. Values that are computed from them must not decide a branch or an address.
pub fn conceal(bytes: &[u8]) {
    request(MAKE_MEM_UNDEFINED, bytes.as_ptr().addr() as u64, bytes.len() as u64);
}

/// Marks bytes as public.
pub fn reveal(bytes: &[u8]) {
    request(MAKE_MEM_DEFINED, bytes.as_ptr().addr() as u64, bytes.len() as u64);
}

/// Returns the same value, marked as public.
#[inline(always)]
#[must_use]
pub fn revealed<T: Copy>(value: T) -> T {
    let mut kept = value;
    // The exposed address makes the compiler assume that the request writes the value, so it is read back from
    // memory.
    let at = (&raw mut kept).expose_provenance();
    request(MAKE_MEM_DEFINED, at as u64, size_of::<T>() as u64);
    kept
}

/// Sends a client request as `VALGRIND_DO_CLIENT_REQUEST` for amd64 in valgrind.h does: a preamble of rotations by
/// 128 bits in total, then an exchange of a register with itself.
fn request(code: u64, first: u64, second: u64) -> u64 {
    // Six words always: Valgrind reads all of them for every request.
    let arguments = [code, first, second, 0, 0, 0];
    let mut result = 0_u64;
    // SAFETY: the rotations restore rdi and change flags only; Valgrind reads the six words at rax, which live, and
    // writes rdx. It marks memory and never changes it.
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
