//! The seam of RSA for vectors of eight lanes with products of 52 bits.

use std::ops::Range;

use super::carry;
use super::convert;
use super::factor::{ENTRIES, LimbFactor, PlainFactor, SecretChoice, WINDOW_BITS};
use super::leaf::{LimbLeaf, RsaLeaf, RsaStreams};
use super::memory::{FreeSpans, VectorSpan};
use super::number::{self as integer, Limbs};
use super::streams::{ModulusStreams, limbs_for};
use super::window::LIMB_BITS;
use crate::simd::{BlindMulVector, LANES, Mask, MulSimd};

impl<S: MulSimd> LimbLeaf for S {
    type Limb = S::V;
    type RunState = ();

    fn run_state(self) {}

    fn zero_limb(self) -> S::V {
        self.zero()
    }
}

impl<S: MulSimd> RsaLeaf<LANES> for S {
    const WINDOW_BITS: usize = WINDOW_BITS;
    const ALTERNATES: bool = true;
    const GROUPS_PER_RUN: usize = 8;

    type Streams<'m> = ModulusStreams<'m, S>;

    fn limbs_for(bits: usize) -> Option<usize> {
        limbs_for(bits)
    }

    fn radix_bits(limbs: usize) -> usize {
        limbs * LIMB_BITS as usize
    }

    fn integer_limbs(limbs: usize) -> usize {
        limbs
    }

    fn stored(integer: &[u64], _limbs: usize) -> Limbs {
        integer::padded(integer)
    }

    fn stored_inverse(n: &[u64], _limbs: usize) -> Limbs {
        // One limb: each row of a product removes one limb.
        Limbs::new(vec![integer::negated_inverse(n[0])])
    }

    fn radix_powers(n: &[u64], _limbs: usize) -> [Limbs; 3] {
        let radix = integer::radix_mod(n);
        let squared = integer::radix_squared_mod(&radix, n);
        let cubed = integer::montgomery_product(&squared, &squared, n);
        [radix, squared, cubed]
    }

    fn gather(self, numbers: [&[u64]; LANES], out: &mut [S::V]) {
        convert::gather_into(self, numbers, out);
    }

    fn limbs_of_words(
        self,
        _modulus_limbs: usize,
        words: [&[u64]; LANES],
        space: &mut [S::V],
        limbs: &mut [S::V],
    ) {
        convert::limbs_of_words(self, &words, space, limbs);
    }

    fn words_of_limbs(self, _modulus_limbs: usize, limbs: &[S::V], words: &mut [u64], count: usize) {
        convert::words_of_limbs(self, limbs, words, count);
    }

    fn set_one(self, number: &mut [S::V]) {
        number.fill(self.zero());
        number[0] = self.splat(1);
    }

    fn add(self, a: &mut [S::V], b: &[S::V]) {
        carry::add(self, a, b);
    }

    /// Computes `b + 2 n - a`, so that no number is negative.
    fn subtract_from(self, a: &mut [S::V], b: &[S::V], n: &[S::V]) {
        carry::subtract_from(self, a, b, n);
    }

    fn reduce(self, value: &mut [S::V], n: &[S::V]) {
        carry::reduce(self, value, n);
    }

    fn multiply_add(self, a: &[S::V], b: &[S::V], c: &[S::V], out: &mut [S::V]) {
        carry::multiply_add(self, a, b, c, out);
    }

    fn keep_lanes(self, keep: [bool; LANES], value: &mut [S::V], other: &[S::V]) {
        let mask = (0..).zip(keep).fold(0, |mask, (lane, keep)| mask | Mask::from(keep) << lane);
        for (value, other) in value.iter_mut().zip(other) {
            *value = other.or_if(mask, *value);
        }
    }

    /// A table has first all lowest limbs, then the next limbs, and so on.
    fn store_entry(table: &mut [S::V], at: usize, entry: &[S::V]) {
        for (limb, entries) in entry.iter().zip(table.chunks_exact_mut(ENTRIES)) {
            entries[at] = *limb;
        }
    }

    fn load_entry(table: &[S::V], at: usize, entry: &mut [S::V]) {
        for (limb, entries) in entry.iter_mut().zip(table.chunks_exact(ENTRIES)) {
            *limb = entries[at];
        }
    }

    fn pick(self, choice: &SecretChoice<'_, S::V>, out: &mut [S::V]) {
        self.call(
            #[inline(always)]
            || {
                let picked = choice.picked(self);
                for (at, limb) in out.iter_mut().enumerate() {
                    *limb = picked.limb(at);
                }
            },
        );
    }
}

impl<'m, S: MulSimd> RsaStreams<'m, S, LANES> for ModulusStreams<'m, S> {
    fn spans(limbs: usize, count: usize) -> Vec<VectorSpan> {
        Self::spans(limbs, count).collect()
    }

    fn value_offset(limbs: usize, at: usize) -> usize {
        Self::value_offset(limbs, at)
    }

    fn new(leaf: S, limbs: usize, count: usize, spans: &mut FreeSpans<'m, S::V>) -> Self {
        Self::new(leaf, limbs, count, spans)
    }

    fn limbs(&self) -> usize {
        self.limbs()
    }

    fn set_modulus(&mut self, at: usize, moduli: [&[u64]; LANES], inverses: [&[u64]; LANES]) {
        let simd = self.simd();
        let block = self.set_modulus(at, simd.load(&inverses.map(|inverse| inverse[0])));
        convert::gather_into(simd, moduli, block);
    }

    fn modulus(&self, at: usize) -> &[S::V] {
        self.modulus(at)
    }

    fn value(&self, at: usize) -> &[S::V] {
        self.value(at)
    }

    fn value_mut(&mut self, at: usize) -> (&mut [S::V], &[S::V]) {
        self.value_mut(at)
    }

    fn square(&mut self, range: Range<usize>, times: usize) {
        self.square(range, times);
    }

    fn multiply(&mut self, first: usize, factors: &[PlainFactor<'_, S::V>]) {
        self.multiply(first, factors);
    }

    fn raise(&mut self, first: usize, choices: &mut [SecretChoice<'_, S::V>]) {
        debug_assert_eq!(first, 0, "streams that take turns");
        self.raise(choices);
    }
}
