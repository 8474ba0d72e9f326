//! Clearing of the vector registers that every x86-64 processor with AVX has.
#![allow(unsafe_code, reason = "the registers are named in an `asm!` block")]

use std::arch::asm;

/// Overwrites the sixteen vector registers.
#[inline(never)]
#[target_feature(enable = "avx")]
pub(super) fn clear_registers() {
    // SAFETY: only registers are written, and all of them are named as clobbered.
    unsafe {
        asm!(
            "vzeroall",
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _, out("ymm5") _,
            out("ymm6") _, out("ymm7") _, out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(nomem, nostack, preserves_flags),
        );
    }
}
