//! The token of CPUs with AVX2 and FMA, and the state of their floating-point unit during a run.
#![allow(unsafe_code, reason = "the one place where MXCSR is read and written")]

use std::arch::asm;
use std::fmt;

use super::{Cpu, RunState};
use super::avx2::Avx2Simd;
use super::ifma::prefetch;
use crate::leaf::Leaf;

/// A CPU and an operating system with AVX2 and FMA. [`FmaSimd::detect`] is the only constructor.
#[derive(Clone, Copy)]
pub(crate) struct FmaSimd(Avx2Simd);

impl FmaSimd {
    /// Returns the token if the CPU has every instruction of the leaf and the system saves its registers.
    pub(crate) fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2");
        Avx2Simd::detect().filter(|_| has_all).map(Self)
    }

    /// Returns the token of a CPU with AVX2, which this one contains.
    #[inline(always)]
    pub(super) fn avx2(self) -> Avx2Simd {
        self.0
    }
}

impl Cpu for FmaSimd {
    const LEAF: Leaf = Leaf::Fma;

    #[inline(always)]
    fn call<R>(self, body: impl FnOnce() -> R) -> R {
        // SAFETY: `self` proves every feature that the function enables.
        unsafe { enter(body) }
    }

    #[inline(always)]
    fn prefetch<T>(self, line: &T) {
        prefetch(line);
    }

    /// Prepares the floating-point unit.
    fn run_state(self) -> RunState {
        let before = mxcsr();
        set_mxcsr(DEFAULT);
        RunState { _float: Some(FloatState { before }) }
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

/// MXCSR with rounding to nearest, all exceptions masked, no flags, and denormals as IEEE 754 defines them. It is the
/// state that Rust code assumes.
const DEFAULT: u32 = 0x1F80;

/// The state of the floating-point unit before a run, which returns when this value is dropped. A caller may have another
/// rounding mode or unmasked exceptions, and kernels raise the flag of inexact results.
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

#[cfg(test)]
mod tests {
    use oarlock_core::{
        Engine, Fingerprint, Jobs, Key, KeyParts, Operation, Outcomes, SecondInput, Shape, X25519PrivateParts,
    };

    use super::*;
    use crate::LaneEngine;

    /// States of callers: rounding up with denormals as zeros, and rounding to zero with all exceptions unmasked.
    const STATES: [u32; 2] = [0xDFC0, 0x6000];

    fn derive(engine: &LaneEngine) -> Vec<u8> {
        let parts = X25519PrivateParts { scalar: vec![0x77; 32].into(), public: [0; 32] };
        let key = Key::local(KeyParts::X25519Private(parts), Fingerprint::new([0; 32]));
        let operations = [Operation::new(Shape::X25519, &key, &[0x35; 32], SecondInput::None).unwrap()];
        let jobs = Jobs::Operations(Shape::X25519, &operations);
        let mut out = Outcomes::for_jobs(&jobs);
        engine.run(&jobs, &mut out).unwrap();
        out.result(0).to_vec()
    }

    #[test]
    #[cfg_attr(miri, ignore = "assembly")]
    fn a_run_does_not_depend_on_the_callers_state_and_restores_it() {
        let Some(engine) = LaneEngine::of_leaf(Leaf::Fma) else {
            eprintln!("SKIPPED: this processor has no FMA");
            return;
        };
        let (before, expected) = (mxcsr(), derive(&engine));
        for state in STATES {
            set_mxcsr(state);
            let (found, after) = (derive(&engine), mxcsr());
            set_mxcsr(before);
            assert_eq!((found, after), (expected.clone(), state));
        }
    }
}
