//! The token of CPUs with AVX2 and FMA, and the state of their floating-point unit during a run.
//!
//! | module | contents |
//! |---|---|
//! | `lanes` | eight lanes, and the field products of the curves |
//! | `rsa` | the kernels of RSA |
#![allow(unsafe_code, reason = "the one place where MXCSR is read and written")]

mod lanes;
mod rsa;

use std::arch::asm;
use std::fmt;

use super::avx2::Avx2Simd;
use super::ifma::prefetch;
use super::registers::clear_registers;
use super::{Cpu, Leaf};

/// A CPU and an operating system with AVX2 and FMA. [`FmaSimd::detect`] is the only constructor.
#[derive(Clone, Copy)]
pub(crate) struct FmaSimd(Avx2Simd);

impl FmaSimd {
    /// Returns the token of a CPU with AVX2, which this one contains.
    #[inline(always)]
    fn avx2(self) -> Avx2Simd {
        self.0
    }

    /// Prepares the floating-point unit for a run. The previous state returns when the value is dropped.
    pub(crate) fn float_state(self) -> FloatState {
        let before = mxcsr();
        set_mxcsr(DEFAULT);
        FloatState { before }
    }
}

impl Cpu for FmaSimd {
    const LEAF: Leaf = Leaf::Fma;

    fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2");
        Avx2Simd::detect().filter(|_| has_all).map(Self)
    }

    #[inline(always)]
    fn call<R>(self, body: impl FnOnce() -> R) -> R {
        // SAFETY: `self` proves every feature that the function enables.
        unsafe { enter(body) }
    }

    #[inline(always)]
    fn prefetch<T>(self, line: &T) {
        prefetch(line);
    }

    fn clear_registers(self) {
        // SAFETY: `self` proves AVX; every register that is written is named as clobbered.
        unsafe { clear_registers() }
    }
}

/// Runs a body for [`Cpu::call`]. Code that is inlined here is compiled with these features.
#[inline(never)]
#[target_feature(enable = "avx2,fma,bmi1,bmi2")]
fn enter<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// MXCSR with rounding to nearest, all exceptions masked, no flags, and denormals as IEEE 754 defines them. It is the
/// state that Rust code assumes.
const DEFAULT: u32 = 0x1F80;

/// The state of the floating-point unit before a run, which returns when this value is dropped. A caller may have
/// another rounding mode or unmasked exceptions, and kernels raise the flag of inexact results.
#[derive(Debug)]
pub(crate) struct FloatState {
    before: u32,
}

impl Drop for FloatState {
    fn drop(&mut self) {
        set_mxcsr(self.before);
    }
}

fn mxcsr() -> u32 {
    let mut value = 0_u32;
    // SAFETY: writes the four bytes that the operand names.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
    value
}

fn set_mxcsr(value: u32) {
    // SAFETY: reads the four bytes that the operand names. The value is either the state that Rust code assumes, or the
    // one that the caller had.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags)) };
}

impl fmt::Debug for FmaSimd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AVX2 and FMA")
    }
}

/// Runs a body with another MXCSR, and returns its result and the MXCSR after it. For tests.
// The body must prepare its own state before it computes: Rust assumes the default state.
#[cfg(test)]
pub(crate) fn with_mxcsr<R>(state: u32, body: impl FnOnce() -> R) -> (R, u32) {
    let before = mxcsr();
    set_mxcsr(state);
    let result = body();
    let after = mxcsr();
    set_mxcsr(before);
    (result, after)
}
