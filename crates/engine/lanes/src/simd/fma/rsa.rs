//! The kernels of numbers in limbs of doubles. `cargo xtask fma` makes the assembly; its twin in plain Rust is
//! `simd::doubles::twin`.
#![allow(unsafe_code, reason = "calls of assembly")]

use std::arch::naked_asm;
use std::num::NonZeroUsize;

use super::{FloatState, FmaSimd};
use crate::simd::doubles::{DoubleModulus, DoubleShape, DoubleSimd, DoubleVector, PICK_BITS, SHAPES};

/// Runs the kernel of this number: square, product and look-up of the first of [`SHAPES`], then of the next one.
///
/// | kernel | `result` | `a` | `b` |
/// |---|---|---|---|
/// | square | `a^2 / R mod n`, may be `a` | factor | the number of squares, at least 1, not a pointer |
/// | product | `a b / R mod n`, may be `a` or `b` | factor | factor |
/// | look-up | the entry | the table | one vector of indices |
///
/// # Safety
///
/// The CPU has AVX2 and FMA, and MXCSR rounds to the nearest with exceptions masked. All pointers are to numbers of the
/// shape's limbs, the table to two to the power of [`PICK_BITS`] of them, `scratch` to [`DoubleShape::scratch_len`]
/// vectors. Only `result` and `scratch` are written. A look-up reads neither moduli nor scratch.
// As in `lanes.rs`: the labels exist once.
#[allow(named_asm_labels)]
#[unsafe(naked)]
unsafe extern "sysv64" fn kernel(
    result: *mut DoubleVector,
    a: *const DoubleVector,
    b: *const DoubleVector,
    modulus: *const DoubleVector,
    inverse: *const DoubleVector,
    scratch: *mut DoubleVector,
    kernel: usize,
) {
    naked_asm!(include_str!("rsa_kernels.s"), options(att_syntax, raw));
}

/// The kernels of a shape.
#[derive(Clone, Copy)]
enum KernelKind {
    Square,
    Product,
    Pick,
}

fn number_of(shape: &DoubleShape, kind: KernelKind) -> usize {
    3 * shape.number + kind as usize
}

/// Checks the shape and the lengths that the assembly relies on.
#[inline]
fn assert_lengths(
    shape: &DoubleShape,
    numbers: [&[DoubleVector]; 2],
    modulus: DoubleModulus<'_>,
    scratch: &[DoubleVector],
) {
    let all = [numbers[0], numbers[1], modulus.n, modulus.inverse];
    let has_lengths = all.iter().all(|number| number.len() == shape.limbs);
    assert!(SHAPES.get(shape.number) == Some(shape) && has_lengths, "a number of other limbs");
    assert!(scratch.len() >= shape.scratch_len(), "too little scratch");
    all.iter().for_each(|number| shape.check(number));
}

impl DoubleSimd for FmaSimd {
    type FloatState = FloatState;

    fn float_state(self) -> FloatState {
        self.float_state()
    }

    fn multiply(
        self,
        shape: &DoubleShape,
        value: &mut [DoubleVector],
        factor: &[DoubleVector],
        modulus: DoubleModulus<'_>,
        scratch: &mut [DoubleVector],
    ) {
        assert_lengths(shape, [value, factor], modulus, scratch);
        let at = value.as_mut_ptr();
        // SAFETY: `self` proves the instructions; the lengths are checked above; a run holds the state of MXCSR.
        unsafe {
            kernel(
                at,
                at,
                factor.as_ptr(),
                modulus.n.as_ptr(),
                modulus.inverse.as_ptr(),
                scratch.as_mut_ptr(),
                number_of(shape, KernelKind::Product),
            );
        }
        shape.check(value);
    }

    fn square(
        self,
        shape: &DoubleShape,
        times: NonZeroUsize,
        value: &mut [DoubleVector],
        modulus: DoubleModulus<'_>,
        scratch: &mut [DoubleVector],
    ) {
        assert_lengths(shape, [value, value], modulus, scratch);
        let at = value.as_mut_ptr();
        // SAFETY: as for a product; a square takes a number that is not zero in place of the second factor.
        unsafe {
            kernel(
                at,
                at,
                std::ptr::without_provenance(times.get()),
                modulus.n.as_ptr(),
                modulus.inverse.as_ptr(),
                scratch.as_mut_ptr(),
                number_of(shape, KernelKind::Square),
            );
        }
        shape.check(value);
    }

    fn pick(
        self,
        shape: &DoubleShape,
        table: &[DoubleVector],
        index: DoubleVector,
        entry: &mut [DoubleVector],
    ) {
        assert!(
            SHAPES.contains(shape) && entry.len() == shape.limbs && table.len() == shape.limbs << PICK_BITS,
            "a table of another size"
        );
        let at = entry.as_mut_ptr();
        // SAFETY: `self` proves the instructions; the lengths are checked above; the other pointers are not read.
        unsafe {
            kernel(at, table.as_ptr(), &raw const index, at, at, at, number_of(shape, KernelKind::Pick));
        };
    }
}
