//! The units of a lane that belong to one job each, and values of few bits that fill units.

use super::COEFFICIENTS;
use crate::simd::{ShortSimd, ShortVector, Vector};

/// A size of units.
pub(crate) trait LaneUnits {
    /// The bits of a unit.
    const BITS: usize;

    /// Returns the same unit everywhere.
    fn splat<S: ShortSimd>(simd: S, unit: u32) -> S::V;

    /// Shifts each unit to the left. The count should be a constant after inlining.
    fn shl<V: ShortVector>(units: V, count: u32) -> V;

    /// Shifts each unit to the right, logically. The count should be a constant after inlining.
    fn shr<V: ShortVector>(units: V, count: u32) -> V;
}

/// Units of 16 bits.
pub(crate) struct Quarters;

impl LaneUnits for Quarters {
    const BITS: usize = 16;

    #[inline(always)]
    fn splat<S: ShortSimd>(simd: S, unit: u32) -> S::V {
        simd.splat32(unit * 0x1_0001)
    }

    #[inline(always)]
    fn shl<V: ShortVector>(units: V, count: u32) -> V {
        units.shl16(count)
    }

    #[inline(always)]
    fn shr<V: ShortVector>(units: V, count: u32) -> V {
        units.shr16(count)
    }
}

/// Units of 32 bits.
pub(crate) struct Halves;

impl LaneUnits for Halves {
    const BITS: usize = 32;

    #[inline(always)]
    fn splat<S: ShortSimd>(simd: S, unit: u32) -> S::V {
        simd.splat32(unit)
    }

    #[inline(always)]
    fn shl<V: ShortVector>(units: V, count: u32) -> V {
        units.shl32_by(count)
    }

    #[inline(always)]
    fn shr<V: ShortVector>(units: V, count: u32) -> V {
        units.shr32_by(count)
    }
}

/// Turns the words of four groups into their units, or units into words: unit `s` has quarter `s` of every word.
#[inline(always)]
pub(crate) fn transpose_quarters<S: ShortSimd>(simd: S, [a, b, c, d]: [S::V; 4]) -> [S::V; 4] {
    let (halves, quarters) = (simd.splat(0xFFFF_FFFF), simd.splat32(0xFFFF));
    let (a, c) = Vector::swap_halves::<32>(a, c, halves);
    let (b, d) = Vector::swap_halves::<32>(b, d, halves);
    let (a, b) = Vector::swap_halves::<16>(a, b, quarters);
    let (c, d) = Vector::swap_halves::<16>(c, d, quarters);
    [a, b, c, d]
}

/// Turns the words of two groups into their units, or units into words: unit `s` has half `s` of every word.
#[inline(always)]
pub(crate) fn transpose_halves<S: ShortSimd>(simd: S, [a, b]: [S::V; 2]) -> [S::V; 2] {
    let (a, b) = Vector::swap_halves::<32>(a, b, simd.splat(0xFFFF_FFFF));
    [a, b]
}

/// Calls `each` with every value of a polynomial and its index. Values have `BITS` bits and fill units from the lowest
/// bit on, so a block of as many values as a unit has bits fills `BITS` units.
#[inline(always)]
pub(crate) fn for_values<S: ShortSimd, U: LaneUnits, const BITS: usize>(
    simd: S,
    units: &[S::V],
    mut each: impl FnMut(usize, S::V),
) {
    for (block, units) in units.as_chunks().0.iter().enumerate().take(COEFFICIENTS / U::BITS) {
        let first = block * U::BITS;
        // Written out, so that counts of shifts are constants.
        four_values::<S, U, BITS, 0>(simd, first, units, &mut each);
        four_values::<S, U, BITS, 4>(simd, first, units, &mut each);
        four_values::<S, U, BITS, 8>(simd, first, units, &mut each);
        four_values::<S, U, BITS, 12>(simd, first, units, &mut each);
        if U::BITS == 32 {
            four_values::<S, U, BITS, 16>(simd, first, units, &mut each);
            four_values::<S, U, BITS, 20>(simd, first, units, &mut each);
            four_values::<S, U, BITS, 24>(simd, first, units, &mut each);
            four_values::<S, U, BITS, 28>(simd, first, units, &mut each);
        }
    }
}

#[inline(always)]
fn four_values<S: ShortSimd, U: LaneUnits, const BITS: usize, const FIRST: usize>(
    simd: S,
    block: usize,
    units: &[S::V; BITS],
    each: &mut impl FnMut(usize, S::V),
) {
    for at in FIRST..FIRST + 4 {
        let (unit, shift) = (BITS * at / U::BITS, BITS * at % U::BITS);
        let low = U::shr(units[unit], shift as u32);
        let is_split = shift + BITS > U::BITS;
        let all = if is_split { low | U::shl(units[unit + 1], (U::BITS - shift) as u32) } else { low };
        each(block + at, all & U::splat(simd, (1 << BITS) - 1));
    }
}

/// Packs the values that `value` returns for every index, as [`for_values`] unpacks them.
#[inline(always)]
pub(crate) fn pack_values<S: ShortSimd, U: LaneUnits, const BITS: usize>(
    simd: S,
    units: &mut [S::V],
    mut value: impl FnMut(usize) -> S::V,
) {
    for (block, units) in units.as_chunks_mut().0.iter_mut().enumerate().take(COEFFICIENTS / U::BITS) {
        *units = [simd.zero(); BITS];
        let first = block * U::BITS;
        pack_four::<S, U, BITS, 0>(first, units, &mut value);
        pack_four::<S, U, BITS, 4>(first, units, &mut value);
        pack_four::<S, U, BITS, 8>(first, units, &mut value);
        pack_four::<S, U, BITS, 12>(first, units, &mut value);
        if U::BITS == 32 {
            pack_four::<S, U, BITS, 16>(first, units, &mut value);
            pack_four::<S, U, BITS, 20>(first, units, &mut value);
            pack_four::<S, U, BITS, 24>(first, units, &mut value);
            pack_four::<S, U, BITS, 28>(first, units, &mut value);
        }
    }
}

#[inline(always)]
fn pack_four<S: ShortSimd, U: LaneUnits, const BITS: usize, const FIRST: usize>(
    block: usize,
    units: &mut [S::V; BITS],
    value: &mut impl FnMut(usize) -> S::V,
) {
    for at in FIRST..FIRST + 4 {
        let (unit, shift) = (BITS * at / U::BITS, BITS * at % U::BITS);
        let value = value(block + at);
        units[unit] = units[unit] | U::shl(value, shift as u32);
        if shift + BITS > U::BITS {
            units[unit + 1] = units[unit + 1] | U::shr(value, (U::BITS - shift) as u32);
        }
    }
}
