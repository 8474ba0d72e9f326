//! The seam of RSA for four lanes of numbers in limbs of doubles. Bounds and proofs: `docs/math/fma.md`.
//!
//! Limbs are signed, and a product is between -n and n: nothing is subtracted before a result leaves.
//!
//! | module | contents |
//! |---|---|
//! | this one | [`RsaLeaf`] for [`DoubleLeaf`] |
//! | `streams` | moduli and values |
//! | `words` | conversion between integers and limbs |
//! | `sums` | sums, reduction and plain products, with carries |

mod streams;
mod sums;
#[cfg(test)]
mod tests;
mod words;

use super::factor::SecretChoice;
use super::leaf::{LimbLeaf, RsaLeaf};
use super::number::{self as integer, LIMB_BITS, Limbs};
use crate::simd::Cpu;
use crate::simd::doubles::{DOUBLES, DoubleLeaf, DoubleShape, DoubleSimd, DoubleVector, PICK_BITS, SHAPES};
use streams::DoubleStreams;

/// The bits that a modulus leaves free in its limbs: `16 n <= R`.
const SPARE_BITS: usize = 4;

/// Returns the shape of a number of limbs.
fn shape_of(limbs: usize) -> &'static DoubleShape {
    // unreachable because limbs come from `limbs_for`, so the default never counts.
    SHAPES.iter().find(|shape| shape.limbs == limbs).unwrap_or(&SHAPES[0])
}

impl<D: DoubleSimd> LimbLeaf for DoubleLeaf<D> {
    type Limb = DoubleVector;
    type RunState = D::FloatState;

    fn run_state(self) -> D::FloatState {
        self.0.float_state()
    }

    fn zero_limb(self) -> DoubleVector {
        DoubleVector::ZERO
    }
}

impl<D: DoubleSimd> RsaLeaf<DOUBLES> for DoubleLeaf<D> {
    const WINDOW_BITS: usize = PICK_BITS;
    // Two tables do not fit in the first cache: 22 KB each at 21 limbs.
    const ALTERNATES: bool = false;
    const GROUPS_PER_RUN: usize = 4;

    type Streams<'m> = DoubleStreams<'m, D>;

    fn limbs_for(bits: usize) -> Option<usize> {
        let holds = |shape: &&DoubleShape| bits + SPARE_BITS <= shape.limbs * shape.limb_bits as usize;
        SHAPES.iter().find(holds).map(|shape| shape.limbs)
    }

    fn radix_bits(limbs: usize) -> usize {
        limbs * shape_of(limbs).limb_bits as usize
    }

    fn integer_limbs(limbs: usize) -> usize {
        Self::radix_bits(limbs).div_ceil(LIMB_BITS as usize)
    }

    fn stored(integer: &[u64], limbs: usize) -> Limbs {
        words::stored(integer, shape_of(limbs))
    }

    fn stored_inverse(n: &[u64], limbs: usize) -> Limbs {
        // As long as R, because q is computed at once. Bits above R vanish with the carry of the highest limb.
        words::stored(&integer::negated_inverse_mod_radix(n), shape_of(limbs))
    }

    fn radix_powers(n: &[u64], limbs: usize) -> [Limbs; 3] {
        let bits = Self::radix_bits(limbs);
        let one = integer::radix_mod(n);
        [bits, 2 * bits, 3 * bits].map(|power| integer::secret_power_of_two_mod(power, &one, n))
    }

    fn gather(self, numbers: [&[u64]; DOUBLES], out: &mut [DoubleVector]) {
        for (at, limb) in out.iter_mut().enumerate() {
            *limb = DoubleVector::from_bits(numbers.map(|number| number.get(at).copied().unwrap_or(0)));
        }
    }

    fn limbs_of_words(
        self,
        modulus_limbs: usize,
        words: [&[u64]; DOUBLES],
        _space: &mut [DoubleVector],
        limbs: &mut [DoubleVector],
    ) {
        let limb_bits = shape_of(modulus_limbs).limb_bits;
        self.call(
            #[inline(always)]
            || words::limbs_of_words(words, limb_bits, limbs),
        );
    }

    fn words_of_limbs(self, modulus_limbs: usize, limbs: &[DoubleVector], words: &mut [u64], count: usize) {
        let limb_bits = shape_of(modulus_limbs).limb_bits;
        self.call(
            #[inline(always)]
            || words::words_of_limbs(limbs, limb_bits, words, count),
        );
    }

    fn set_one(self, number: &mut [DoubleVector]) {
        number.fill(DoubleVector::ZERO);
        number[0] = DoubleVector::splat(1.0);
    }

    fn add(self, a: &mut [DoubleVector], b: &[DoubleVector]) {
        let shape = shape_of(a.len());
        self.call(
            #[inline(always)]
            || sums::add(shape, a, b),
        );
    }

    fn subtract_from(self, a: &mut [DoubleVector], b: &[DoubleVector], _n: &[DoubleVector]) {
        let shape = shape_of(a.len());
        self.call(
            #[inline(always)]
            || sums::subtract_from(shape, a, b),
        );
    }

    fn reduce(self, value: &mut [DoubleVector], n: &[DoubleVector]) {
        let shape = shape_of(value.len());
        self.call(
            #[inline(always)]
            || sums::reduce(shape, value, n),
        );
    }

    fn multiply_add(
        self,
        a: &[DoubleVector],
        b: &[DoubleVector],
        c: &[DoubleVector],
        out: &mut [DoubleVector],
    ) {
        let shape = shape_of(a.len());
        self.call(
            #[inline(always)]
            || sums::multiply_add(shape, a, b, c, out),
        );
    }

    fn keep_lanes(self, keep: [bool; DOUBLES], value: &mut [DoubleVector], other: &[DoubleVector]) {
        for (value, other) in value.iter_mut().zip(other) {
            *value = value.or_unless(keep, *other);
        }
    }

    /// A table has one entry after the other.
    fn store_entry(table: &mut [DoubleVector], at: usize, entry: &[DoubleVector]) {
        table[at * entry.len()..][..entry.len()].copy_from_slice(entry);
    }

    fn load_entry(table: &[DoubleVector], at: usize, entry: &mut [DoubleVector]) {
        entry.copy_from_slice(&table[at * entry.len()..][..entry.len()]);
    }

    fn pick(self, choice: &SecretChoice<'_, DoubleVector>, out: &mut [DoubleVector]) {
        self.0.pick(shape_of(out.len()), choice.table, choice.index, out);
    }
}
