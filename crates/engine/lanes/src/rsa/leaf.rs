//! The seam between RSA and the arithmetic of a leaf: how a leaf stores numbers, and its products under moduli.
//!
//! A leaf computes `N` operations side by side. Everything above this seam is written once: keys, the Chinese remainder
//! theorem, windows of exponents and results.

use std::fmt::Debug;
use std::ops::Range;

use zeroize::Zeroize;

use super::factor::{PlainFactor, SecretChoice};
use super::memory::{FreeSpans, VectorSpan};
use super::number::Limbs;
use crate::simd::Cpu;

/// A CPU that stores one limb of every lane in a vector.
pub(crate) trait LimbLeaf: Cpu {
    /// One limb of every lane.
    type Limb: Copy + Debug + Zeroize + Send + Sync + 'static;

    /// The state of the CPU during a run. The state before returns when the value is dropped.
    type RunState;

    /// Prepares the CPU for a run.
    fn run_state(self) -> Self::RunState;

    /// Returns zero in every lane.
    fn zero_limb(self) -> Self::Limb;
}

/// A CPU that computes Montgomery products of `N` numbers side by side.
///
/// Numbers of a key are prepared as words in the leaf's own format, one word per limb. [`RsaLeaf::gather`] brings the
/// words of several keys into vectors.
pub(crate) trait RsaLeaf<const N: usize>: LimbLeaf {
    /// The bits of a window of a secret exponent.
    const WINDOW_BITS: usize;

    /// True if the windows of two streams take turns, and false if one power follows the other.
    const ALTERNATES: bool;

    /// The groups of private operations of 2048 bits that take about 4 ms.
    const GROUPS_PER_RUN: usize;

    /// The moduli and values of a run.
    type Streams<'m>: RsaStreams<'m, Self, N>;

    /// Returns the number of limbs for a modulus of `bits` bits, or None if it is too long.
    fn limbs_for(bits: usize) -> Option<usize>;

    /// Returns the exponent of R, which is a power of two, for numbers of `limbs` limbs.
    fn radix_bits(limbs: usize) -> usize;

    /// Returns the limbs of 52 bits in which a key's numbers are prepared. They hold 16 times a modulus.
    fn integer_limbs(limbs: usize) -> usize;

    /// Converts a number in limbs of 52 bits to words of the leaf.
    fn stored(integer: &[u64], limbs: usize) -> Limbs;

    /// Returns -n^-1 in words of the leaf, as many as its reduction needs.
    fn stored_inverse(n: &[u64], limbs: usize) -> Limbs;

    /// Returns the residues R, R^2 and R^3 modulo an odd n in limbs of 52 bits, in constant time.
    fn radix_powers(n: &[u64], limbs: usize) -> [Limbs; 3];

    /// Loads the words of every lane's number. A number that is too short is extended with zeros.
    fn gather(self, numbers: [&[u64]; N], out: &mut [Self::Limb]);

    /// Converts one number of 64-bit words per lane to limbs, once or twice as many as the modulus has. `space` has a
    /// vector per word and some more.
    fn limbs_of_words(
        self,
        modulus_limbs: usize,
        words: [&[u64]; N],
        space: &mut [Self::Limb],
        limbs: &mut [Self::Limb],
    );

    /// Converts numbers that [`RsaLeaf::reduce`] or [`RsaLeaf::multiply_add`] returned to words of 64 bits, `count` for
    /// each lane.
    fn words_of_limbs(self, modulus_limbs: usize, limbs: &[Self::Limb], words: &mut [u64], count: usize);

    /// Replaces a number by 1 in every lane.
    fn set_one(self, number: &mut [Self::Limb]);

    /// Replaces `a` by `a + b`, for two products.
    fn add(self, a: &mut [Self::Limb], b: &[Self::Limb]);

    /// Replaces `a` by a number that is `b - a` modulo n, for two products.
    fn subtract_from(self, a: &mut [Self::Limb], b: &[Self::Limb], n: &[Self::Limb]);

    /// Reduces a product to the residue in `0..n`.
    fn reduce(self, value: &mut [Self::Limb], n: &[Self::Limb]);

    /// Computes `a b + c` of numbers that are not negative, in as many limbs as a and b have together.
    fn multiply_add(self, a: &[Self::Limb], b: &[Self::Limb], c: &[Self::Limb], out: &mut [Self::Limb]);

    /// Replaces the value by the other number in lanes that `keep` does not name. The lanes are public.
    fn keep_lanes(self, keep: [bool; N], value: &mut [Self::Limb], other: &[Self::Limb]);

    /// Stores an entry of a table for [`SecretChoice`].
    fn store_entry(table: &mut [Self::Limb], at: usize, entry: &[Self::Limb]);

    /// Loads an entry whose index is public.
    fn load_entry(table: &[Self::Limb], at: usize, entry: &mut [Self::Limb]);

    /// Copies a secret entry. Reads the whole table.
    fn pick(self, choice: &SecretChoice<'_, Self::Limb>, out: &mut [Self::Limb]);
}

/// One or two streams of `N` odd moduli each, and `N` values that products and squares replace.
pub(crate) trait RsaStreams<'m, L: RsaLeaf<N>, const N: usize>: Debug + Sized {
    /// Returns the memory of `count` streams.
    fn spans(limbs: usize, count: usize) -> Vec<VectorSpan>;

    /// Returns the offset in a page of a stream's value.
    fn value_offset(limbs: usize, at: usize) -> usize;

    /// Allocates streams. The caller then sets values and moduli.
    fn new(leaf: L, limbs: usize, count: usize, spans: &mut FreeSpans<'m, L::Limb>) -> Self;

    /// Returns the number of limbs of every number.
    fn limbs(&self) -> usize;

    /// Sets the moduli of a stream, and their inverses from [`RsaLeaf::stored_inverse`].
    fn set_modulus(&mut self, at: usize, moduli: [&[u64]; N], inverses: [&[u64]; N]);

    /// Returns the moduli of a stream.
    fn modulus(&self, at: usize) -> &[L::Limb];

    /// Returns the value of a stream.
    fn value(&self, at: usize) -> &[L::Limb];

    /// Returns a stream's value for writing, and its moduli.
    fn value_mut(&mut self, at: usize) -> (&mut [L::Limb], &[L::Limb]);

    /// Replaces the values v of a range of streams `times` times by `v^2 / R mod n`.
    fn square(&mut self, range: Range<usize>, times: usize);

    /// Replaces the values v of streams from `first` on by `f v / R mod n`, with one factor f each.
    fn multiply(&mut self, first: usize, factors: &[PlainFactor<'_, L::Limb>]);

    /// Squares the values of streams from `first` on once for every bit of a window, then multiplies each by its
    /// selected entry.
    fn raise(&mut self, first: usize, choices: &mut [SecretChoice<'_, L::Limb>]);
}
