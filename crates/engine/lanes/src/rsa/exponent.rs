//! Powers with a secret exponent, by fixed windows and tables that are read whole.

use zeroize::Zeroizing;

use super::factor::{PlainFactor, SecretChoice};
use super::leaf::{RsaLeaf, RsaStreams};
use super::memory::{FreeSpans, VectorSpan};
use crate::simd::declassify;

/// The digits of a secret exponent, highest first.
pub(super) type Digits = Zeroizing<Vec<u64>>;

/// Returns the digits of `window` bits of a big-endian exponent, or None if it has more than `bits` bits. The time
/// depends on lengths only.
pub(super) fn digits(exponent: &[u8], bits: usize, window: usize) -> Option<Digits> {
    let bit = |at: usize| {
        let byte = exponent.len().checked_sub(1 + at / 8).and_then(|at| exponent.get(at)).copied();
        u64::from(byte.unwrap_or(0) >> (at % 8) & 1)
    };
    // Folds all bits above the bound without a branch on them.
    let beyond = (bits..8 * exponent.len()).fold(0, |beyond, at| beyond | bit(at));
    let digit =
        |at: usize| (0..window).fold(0, |digit, position| digit | bit(at * window + position) << position);
    (declassify(beyond) == 0).then(|| Zeroizing::new((0..bits.div_ceil(window)).rev().map(digit).collect()))
}

/// One or two groups of `N` powers `base^exponent` in Montgomery form.
#[derive(Debug)]
pub(super) struct PowerGroups<'m, L: RsaLeaf<N>, const N: usize> {
    leaf: L,
    pub(super) streams: L::Streams<'m>,
    windows: Vec<PowerWindows<'m, L::Limb>>,
}

/// The exponents and tables of a group of powers.
#[derive(Debug)]
struct PowerWindows<'m, V> {
    /// The powers of the base from 0 on, in the layout of the leaf.
    table: &'m mut [V],
    /// The digits of the exponents, highest first.
    digits: &'m mut [V],
    /// An entry of the table, or another constant factor.
    entry: &'m mut [V],
}

impl<'m, L: RsaLeaf<N>, const N: usize> PowerGroups<'m, L, N> {
    /// The entries of a table.
    const ENTRIES: usize = 1 << L::WINDOW_BITS;

    /// Returns the memory of `count` groups of powers with exponents of `digits` digits.
    pub(super) fn spans(limbs: usize, digits: usize, count: usize) -> impl Iterator<Item = VectorSpan> {
        let windows = (0..count).flat_map(move |at| Self::window_spans(limbs, digits, at));
        L::Streams::spans(limbs, count).into_iter().chain(windows)
    }

    /// Returns the memory of one group. Entries are written while values are squared. They share the page offset of
    /// the values, because a square loads its value least often.
    fn window_spans(limbs: usize, digits: usize, at: usize) -> [VectorSpan; 3] {
        let entry = L::Streams::value_offset(limbs, at);
        [
            VectorSpan::anywhere(Self::ENTRIES * limbs),
            VectorSpan::anywhere(digits),
            VectorSpan::at(entry, limbs),
        ]
    }

    /// Allocates groups of powers. The caller then sets the moduli of the streams, the exponents and the bases.
    pub(super) fn new(
        leaf: L,
        limbs: usize,
        digits: usize,
        count: usize,
        spans: &mut FreeSpans<'m, L::Limb>,
    ) -> Self {
        let streams = L::Streams::new(leaf, limbs, count, spans);
        let windows = |at| {
            let [table, digits, entry] = spans.take(Self::window_spans(limbs, digits, at));
            PowerWindows { table, digits, entry }
        };
        Self { leaf, streams, windows: (0..count).map(windows).collect() }
    }

    /// Sets the exponents of a stream, which have the same number of digits in every lane.
    pub(super) fn set_exponents(&mut self, at: usize, digits: [&[u64]; N]) {
        self.leaf.gather(digits, self.windows[at].digits);
    }

    /// Multiplies the value of every stream by a constant of its keys.
    pub(super) fn multiply_by_constants(&mut self, constants: &[[&[u64]; N]]) {
        for (window, constants) in self.windows.iter_mut().zip(constants) {
            self.leaf.gather(*constants, window.entry);
        }
        self.multiply_by_entries(constants.len());
    }

    /// Multiplies the value of one stream by a constant of its keys.
    pub(super) fn multiply_by_constant(&mut self, at: usize, constants: [&[u64]; N]) {
        let entry = &mut *self.windows[at].entry;
        self.leaf.gather(constants, entry);
        self.streams.multiply(at, &[PlainFactor(&*entry)]);
    }

    fn multiply_by_entries(&mut self, count: usize) {
        match &self.windows[..count] {
            [first, second] => {
                self.streams.multiply(0, &[PlainFactor(&*first.entry), PlainFactor(&*second.entry)]);
            }
            [one, ..] => self.streams.multiply(0, &[PlainFactor(&*one.entry)]),
            [] => {}
        }
    }

    /// Takes one stream's value, which must be a product, out of Montgomery form. The result is below n.
    pub(super) fn leave_montgomery(&mut self, at: usize) -> &[L::Limb] {
        let entry = &mut *self.windows[at].entry;
        // A product with 1 divides by R.
        self.leaf.set_one(entry);
        self.streams.multiply(at, &[PlainFactor(&*entry)]);
        let (value, n) = self.streams.value_mut(at);
        self.leaf.reduce(value, n);
        value
    }

    /// Raises the values of the first streams to their exponents. The bases are products or sums of two, in Montgomery
    /// form; the powers are products. `ones` are R mod n.
    pub(super) fn raise(&mut self, ones: &[[&[u64]; N]]) {
        self.fill(ones);
        let count = ones.len();
        let side_by_side = if L::ALTERNATES { count.max(1) } else { 1 };
        for first in (0..count).step_by(side_by_side) {
            self.raise_group(first, (first + side_by_side).min(count));
        }
    }

    /// Raises the values of one or two streams, window by window.
    fn raise_group(&mut self, first: usize, end: usize) {
        // The number of digits comes from the shape, not from the exponents: leading zeros take their steps too.
        for step in 0..self.windows[first].digits.len() {
            let mut choices = self.windows[first..end].iter_mut().map(|window| SecretChoice {
                table: window.table,
                index: window.digits[step],
                entry: window.entry,
            });
            // The first digit selects the start value, which saves the squares of one.
            if step == 0 {
                (first..)
                    .zip(choices)
                    .for_each(|(at, choice)| self.leaf.pick(&choice, self.streams.value_mut(at).0));
            } else if let (Some(one), second) = (choices.next(), choices.next()) {
                match second {
                    Some(second) => self.streams.raise(first, &mut [one, second]),
                    None => self.streams.raise(first, &mut [one]),
                }
            }
        }
    }

    /// Fills the tables: entry `2 i` is the square of entry i, and entry `2 i + 1` is the entry before times the
    /// base.
    fn fill(&mut self, ones: &[[&[u64]; N]]) {
        let count = ones.len();
        for (at, ones) in ones.iter().enumerate() {
            let PowerWindows { table, entry, .. } = &mut self.windows[at];
            self.leaf.gather(*ones, entry);
            L::store_entry(table, 0, entry);
            entry.copy_from_slice(self.streams.value(at));
            L::store_entry(table, 1, entry);
        }
        for index in 2..Self::ENTRIES {
            if index % 2 == 0 {
                for (at, window) in self.windows[..count].iter().enumerate() {
                    L::load_entry(window.table, index / 2, self.streams.value_mut(at).0);
                }
                self.streams.square(0..count, 1);
            } else {
                self.multiply_by_entries(count);
            }
            for (at, window) in self.windows[..count].iter_mut().enumerate() {
                L::store_entry(window.table, index, self.streams.value(at));
            }
        }
    }
}
