//! Erasure of bytes, sixty-four at a time. `zeroize` writes single bytes, which costs more than hashing them.
#![allow(unsafe_code, reason = "volatile writes wider than a byte")]

use std::sync::atomic::{Ordering, compiler_fence};

use zeroize::Zeroize;

/// Overwrites bytes that held a secret.
pub(crate) fn erase(bytes: &mut [u8]) {
    let (chunks, rest) = bytes.as_chunks_mut::<64>();
    for chunk in chunks {
        // SAFETY: the reference is to 64 writable bytes; a volatile write is not optimised away.
        unsafe { std::ptr::write_volatile(chunk, [0; 64]) };
    }
    rest.zeroize();
    // Keeps later code, such as the release of the memory, behind the writes.
    compiler_fence(Ordering::SeqCst);
}
