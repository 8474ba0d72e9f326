//! Eight lanes of words and of doubles in pairs of 256-bit registers, and the field kernels in assembly.
#![allow(unsafe_code, reason = "intrinsics and assembly are called here")]

use std::arch::naked_asm;
use std::arch::x86_64::*;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::{Add, Sub};
use std::sync::atomic::{Ordering, compiler_fence};

use zeroize::Zeroize;

use super::{FloatState, FmaSimd};
use crate::simd::avx2::YmmVector;
use crate::simd::float::{DoubleLimbs, Factors, FloatSimd, FloatVector};
use crate::simd::pair::{Pair, halves};
use crate::simd::{BlindSimd, LANES, Mask, MulSimd, Simd, Words};

impl BlindSimd for FmaSimd {
    type V = Pair<YmmVector>;

    #[inline(always)]
    fn splat(self, word: u64) -> Self::V {
        Pair([self.avx2().splat(word); 2])
    }
}

impl Simd for FmaSimd {
    #[inline(always)]
    fn load(self, words: &Words) -> Self::V {
        let [low, high] = halves(words);
        Pair([self.avx2().load(low), self.avx2().load(high)])
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 8 * LANES]) -> Self::V {
        let [low, high] = halves(bytes);
        Pair([self.avx2().load_bytes(low), self.avx2().load_bytes(high)])
    }

    #[inline(always)]
    fn splat32(self, word: u32) -> Self::V {
        Pair([self.avx2().splat32(word); 2])
    }

    #[inline(always)]
    fn load_prefix(self, bytes: &[u8]) -> Self::V {
        let (low, high) = bytes.split_at(bytes.len().min(4 * LANES));
        Pair([self.avx2().load_prefix(low), self.avx2().load_prefix(high)])
    }
}

impl MulSimd for FmaSimd {
    type RunState = FloatState;

    #[inline(always)]
    fn run_state(self) -> FloatState {
        self.float_state()
    }
}

/// Eight doubles in two registers.
///
/// The field is private to this module, and every function that makes a `DoublePair` takes an [`FmaSimd`] or another
/// `DoublePair`. So a `DoublePair` proves AVX2 and FMA.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct DoublePair([__m256d; 2]);

impl FloatSimd for FmaSimd {
    type D = DoublePair;

    #[inline(always)]
    fn double(self, number: f64) -> DoublePair {
        // SAFETY: `self` proves AVX.
        DoublePair([unsafe { _mm256_set1_pd(number) }; 2])
    }

    #[inline(always)]
    fn double_of_bits(self, bits: Self::V) -> DoublePair {
        // SAFETY: `self` proves AVX.
        unsafe {
            DoublePair([_mm256_castsi256_pd(bits.0[0].register()), _mm256_castsi256_pd(bits.0[1].register())])
        }
    }

    #[inline(always)]
    fn bits(self, numbers: DoublePair) -> Self::V {
        // SAFETY: `self` proves AVX.
        let [low, high] = unsafe { [_mm256_castpd_si256(numbers.0[0]), _mm256_castpd_si256(numbers.0[1])] };
        Pair([YmmVector::from_register(self.avx2(), low), YmmVector::from_register(self.avx2(), high)])
    }

    #[inline(always)]
    fn multiply_25519(self, a: &PairLimbs, b: &PairLimbs) -> PairLimbs {
        run(returning::multiply_25519, [a, b], [a, b])
    }

    #[inline(always)]
    fn square_25519(self, a: &PairLimbs) -> PairLimbs {
        run(returning::square_25519, [a, a], [a, a])
    }

    #[inline(always)]
    fn multiply_25519_into(self, a: &PairLimbs, b: &PairLimbs, product: &mut PairLimbs) {
        // SAFETY: references are valid, and a `DoublePair` proves the instructions.
        unsafe { run_into(multiply_25519, product, a, b) };
    }

    #[inline(always)]
    fn square_25519_into(self, a: &PairLimbs, square: &mut PairLimbs) {
        // SAFETY: references are valid, and a `DoublePair` proves the instructions.
        unsafe { run_into(square_25519, square, a, a) };
    }

    #[inline(always)]
    fn multiply_25519_by(self, a: &mut PairLimbs, b: &PairLimbs) {
        let a = &raw mut *a;
        // SAFETY: the references are valid, and a `DoublePair` proves the instructions.
        unsafe { run_into(multiply_25519, a, a, b) };
    }

    #[inline(always)]
    fn replace_by_square_25519(self, a: &mut PairLimbs) {
        let a = &raw mut *a;
        // SAFETY: the references are valid, and a `DoublePair` proves the instructions.
        unsafe { run_into(square_25519, a, a, a) };
    }

    #[inline(always)]
    fn multiply_p256(self, a: &PairLimbs, b: &PairLimbs) -> PairLimbs {
        run(returning::multiply_p256, [a, b], [a, b])
    }

    #[inline(always)]
    fn multiply_p256_by(self, a: &mut PairLimbs, b: &PairLimbs) {
        let a = &raw mut *a;
        // SAFETY: the references are valid, and a `DoublePair` proves the instructions.
        unsafe { run_into(multiply_p256, a, a, b) };
    }

    #[inline(always)]
    fn square_p256(self, a: &PairLimbs) -> PairLimbs {
        run(returning::square_p256, [a, a], [a, a])
    }

    #[inline(always)]
    fn sum_p256(self, a: Factors<'_, DoublePair>, b: Factors<'_, DoublePair>) -> PairLimbs {
        run(returning::sum_p256, a, b)
    }
}

type PairLimbs = DoubleLimbs<DoublePair>;

/// A kernel that stores its result, which may be a factor too. The arguments are the result, both factors, memory for
/// intermediate values, and the factors of a second product.
type Kernel = unsafe extern "sysv64" fn(
    *mut PairLimbs,
    *const PairLimbs,
    *const PairLimbs,
    *mut KernelScratch,
    *const PairLimbs,
    *const PairLimbs,
) -> *mut PairLimbs;

/// The same kernel, which returns its result.
#[expect(improper_ctypes_definitions, reason = "both sides are of this crate, and vectors lie in memory")]
type ReturningKernel = unsafe extern "sysv64" fn(
    *const PairLimbs,
    *const PairLimbs,
    *mut KernelScratch,
    *const PairLimbs,
    *const PairLimbs,
) -> PairLimbs;

/// The memory of a kernel.
type KernelScratch = [__m256d; 16];

/// Runs a kernel whose factors may be the result too.
///
/// # Safety
///
/// The pointers are valid for reads and the result for writes. A `DoublePair` has proved the instructions.
#[inline(always)]
unsafe fn run_into(kernel: Kernel, result: *mut PairLimbs, a: *const PairLimbs, b: *const PairLimbs) {
    let mut scratch = MaybeUninit::uninit();
    // SAFETY: by contract. A kernel reads each limb of the factors before it writes that of the result.
    unsafe { kernel(result, a, b, scratch.as_mut_ptr(), a, b) };
}

#[inline(always)]
fn run(
    kernel: ReturningKernel,
    [a, b]: Factors<'_, DoublePair>,
    [c, d]: Factors<'_, DoublePair>,
) -> PairLimbs {
    let mut scratch = MaybeUninit::uninit();
    // SAFETY: the factors prove the instructions. The kernel reads the factors, writes the whole result, and writes at
    // most the scratch memory; all are aligned by their types.
    unsafe { kernel(a, b, scratch.as_mut_ptr(), c, d) }
}

/// Defines a kernel as a function without a frame of its own.
macro_rules! kernel {
    ($name:ident, $file:literal) => {
        /// Computes what the method of [`FloatSimd`] with this name does.
        ///
        /// # Safety
        ///
        /// The CPU must have FMA, and the pointers must be valid as [`run_into`] says.
        // A naked function is never copied, and so its labels are neither. Rust 1.89 warns all the same.
        #[allow(named_asm_labels)]
        #[unsafe(naked)]
        unsafe extern "sysv64" fn $name(
            _result: *mut PairLimbs,
            _a: *const PairLimbs,
            _b: *const PairLimbs,
            _scratch: *mut KernelScratch,
            _c: *const PairLimbs,
            _d: *const PairLimbs,
        ) -> *mut PairLimbs {
            naked_asm!(include_str!($file), options(att_syntax))
        }
    };
}

kernel!(multiply_25519, "multiply_25519.s");
kernel!(square_25519, "square_25519.s");
kernel!(multiply_p256, "multiply_p256.s");
kernel!(square_p256, "square_p256.s");
kernel!(sum_p256, "sum_p256.s");

/// The kernels as functions that return their result. The calling convention passes the place of such a result as the
/// first argument, and the function returns it in `rax`: both are what a [`Kernel`] does. The compiler places a result
/// of this kind in the caller's variable, and a result behind a pointer it would copy.
#[expect(improper_ctypes_definitions, reason = "as for the type of the kernel")]
mod returning {
    use std::arch::naked_asm;

    use super::{KernelScratch, PairLimbs};

    macro_rules! returning {
        ($name:ident) => {
            /// # Safety
            ///
            /// As for the kernel with this name.
            #[unsafe(naked)]
            pub(super) unsafe extern "sysv64" fn $name(
                _a: *const PairLimbs,
                _b: *const PairLimbs,
                _scratch: *mut KernelScratch,
                _c: *const PairLimbs,
                _d: *const PairLimbs,
            ) -> PairLimbs {
                naked_asm!("jmp {}", sym super::$name)
            }
        };
    }

    returning!(multiply_25519);
    returning!(square_25519);
    returning!(multiply_p256);
    returning!(square_p256);
    returning!(sum_p256);
}

impl FloatVector for DoublePair {
    #[inline(always)]
    fn times(self, by: Self) -> Self {
        // SAFETY: `self` proves AVX.
        unsafe { Self([_mm256_mul_pd(self.0[0], by.0[0]), _mm256_mul_pd(self.0[1], by.0[1])]) }
    }

    #[inline(always)]
    fn times_plus(self, by: Self, term: Self) -> Self {
        // SAFETY: `self` proves FMA.
        unsafe {
            Self([
                _mm256_fmadd_pd(self.0[0], by.0[0], term.0[0]),
                _mm256_fmadd_pd(self.0[1], by.0[1], term.0[1]),
            ])
        }
    }

    #[inline(always)]
    fn minus_times(self, by: Self, term: Self) -> Self {
        // SAFETY: `self` proves FMA.
        unsafe {
            Self([
                _mm256_fnmadd_pd(self.0[0], by.0[0], term.0[0]),
                _mm256_fnmadd_pd(self.0[1], by.0[1], term.0[1]),
            ])
        }
    }

    #[inline(always)]
    fn or_if(self, mask: Mask, yes: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self([blend(self.0[0], mask, yes.0[0]), blend(self.0[1], mask >> 4, yes.0[1])])
    }
}

/// Returns `yes` in lanes whose mask bit is set, and `no` in the others.
#[inline(always)]
fn blend(no: __m256d, mask: Mask, yes: __m256d) -> __m256d {
    // SAFETY: called with registers of a `DoublePair`, which proves AVX2.
    unsafe {
        let bits = _mm256_setr_epi64x(1, 2, 4, 8);
        let set = _mm256_and_si256(_mm256_set1_epi64x(i64::from(mask)), bits);
        _mm256_blendv_pd(no, yes, _mm256_castsi256_pd(_mm256_cmpeq_epi64(set, bits)))
    }
}

impl Add for DoublePair {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX.
        unsafe { Self([_mm256_add_pd(self.0[0], other.0[0]), _mm256_add_pd(self.0[1], other.0[1])]) }
    }
}

impl Sub for DoublePair {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX.
        unsafe { Self([_mm256_sub_pd(self.0[0], other.0[0]), _mm256_sub_pd(self.0[1], other.0[1])]) }
    }
}

impl Zeroize for DoublePair {
    fn zeroize(&mut self) {
        // SAFETY: the place is a valid `DoublePair`, and zero bits are one; a volatile write is not optimised away.
        unsafe { std::ptr::write_volatile(self, Self(std::mem::zeroed())) };
        compiler_fence(Ordering::SeqCst);
    }
}

/// Prints no lanes, which can hold secrets.
impl fmt::Debug for DoublePair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DoublePair")
    }
}
