//! Numbers in limbs of doubles on any CPU. `f64::mul_add` rounds once on every machine, so results are those of the
//! assembly.

use std::num::NonZeroUsize;

use super::super::doubles::{DoubleModulus, DoubleShape, DoubleSimd, DoubleVector, twin};
use super::Cpu;
use crate::simd::Leaf;

/// Any CPU, as a token without requirements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortableFma;

impl Cpu for PortableFma {
    const LEAF: Leaf = Leaf::PortableFma;

    fn detect() -> Option<Self> {
        Some(Self)
    }

    #[inline(never)]
    fn call<R>(self, body: impl FnOnce() -> R) -> R {
        body()
    }

    // Nothing to clear: the compiler uses these registers for everything else too.
    fn clear_registers(self) {}
}

impl DoubleSimd for PortableFma {
    type FloatState = ();

    fn float_state(self) {}

    fn multiply(
        self,
        shape: &DoubleShape,
        value: &mut [DoubleVector],
        factor: &[DoubleVector],
        modulus: DoubleModulus<'_>,
        _scratch: &mut [DoubleVector],
    ) {
        value.copy_from_slice(&twin::product(shape, value, factor, modulus));
    }

    fn square(
        self,
        shape: &DoubleShape,
        times: NonZeroUsize,
        value: &mut [DoubleVector],
        modulus: DoubleModulus<'_>,
        _scratch: &mut [DoubleVector],
    ) {
        for _ in 0..times.get() {
            value.copy_from_slice(&twin::square(shape, value, modulus));
        }
    }

    fn pick(
        self,
        shape: &DoubleShape,
        table: &[DoubleVector],
        index: DoubleVector,
        entry: &mut [DoubleVector],
    ) {
        entry.copy_from_slice(&twin::pick(shape, table, index));
    }
}
