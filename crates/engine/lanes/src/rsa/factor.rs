//! The factors of products: a number, an entry of a table that a secret selects, or the multiplicand itself.

use crate::simd::{Mask, MulSimd, MulVector};

/// The bits of a window of an exponent.
// Five bits would save 6 % of the products and double the tables, to 40 KB of a first cache of 48 KB at 20 limbs:
// docs/performance/public-key.md, RSA.
pub(crate) const WINDOW_BITS: usize = 4;

/// The entries of a table.
pub(crate) const ENTRIES: usize = 1 << WINDOW_BITS;

/// A factor that is read once, limb by limb.
pub(crate) trait LimbFactor<V>: Copy {
    /// True if the factor is the multiplicand itself.
    const IS_SQUARE: bool = false;

    /// Returns limb `at`.
    fn limb(self, at: usize) -> V;
}

/// A number in memory as a factor.
#[derive(Clone, Copy)]
pub(crate) struct PlainFactor<'a, V>(pub(crate) &'a [V]);

/// The multiplicand as a factor: the product is a square.
#[derive(Clone, Copy)]
pub(crate) struct SquareFactor<'a, V>(pub(crate) &'a [V]);

/// A table entry that a secret selects in each lane. Every limb reads all entries, beside the products of the limb
/// before.
#[derive(Clone, Copy)]
pub(crate) struct PickedFactor<'a, V> {
    /// The first limbs of all entries, then their second limbs, and so on.
    table: &'a [[V; ENTRIES]],
    /// Bit i of the index of each lane, for every i.
    bits: [Mask; WINDOW_BITS],
}

impl<'a, V: MulVector> PickedFactor<'a, V> {
    /// Selects the entries of `index`. `number_at(i)` has bit i set in every lane.
    #[inline(always)]
    pub(crate) fn new(table: &'a [V], index: V, number_at: impl Fn(usize) -> V) -> Self {
        // Masks are computed once for all limbs. They stay in mask registers, where nothing indexes by them.
        let mut bits = [0; WINDOW_BITS];
        for (at, bits) in bits.iter_mut().enumerate() {
            *bits = index.has_any(number_at(at));
        }
        Self { table: table.as_chunks().0, bits }
    }

    /// Returns the same entries without their lowest limbs.
    #[inline(always)]
    pub(crate) fn from(self, first: usize) -> Self {
        Self { table: &self.table[first..], ..self }
    }
}

/// A table entry that a secret selects in each lane, with memory for it.
#[derive(Debug)]
pub(crate) struct SecretChoice<'a, V> {
    /// The entries in the layout of [`PickedFactor`].
    pub(crate) table: &'a [V],
    pub(crate) index: V,
    /// The selected entry, if it is copied before the product.
    pub(crate) entry: &'a mut [V],
}

impl<'a, V: MulVector> SecretChoice<'a, V> {
    /// Returns the selected entry as a factor.
    #[inline(always)]
    pub(crate) fn picked<S: MulSimd<V = V>>(&self, simd: S) -> PickedFactor<'a, V> {
        PickedFactor::new(
            self.table,
            self.index,
            #[inline(always)]
            |bit| simd.splat(1 << bit),
        )
    }
}

impl<V: MulVector> LimbFactor<V> for PlainFactor<'_, V> {
    #[inline(always)]
    fn limb(self, at: usize) -> V {
        V::fetch(&self.0[at])
    }
}

impl<V: MulVector> LimbFactor<V> for SquareFactor<'_, V> {
    const IS_SQUARE: bool = true;

    #[inline(always)]
    fn limb(self, at: usize) -> V {
        V::fetch(&self.0[at])
    }
}

impl<V: MulVector> LimbFactor<V> for PickedFactor<'_, V> {
    /// Selects with a tree of choices, one level for each bit, so that few vectors are live at a time.
    #[inline(always)]
    fn limb(self, at: usize) -> V {
        // The sixteen entries of a limb lie side by side, in 16 lines that are read in order.
        let (entries, bits) = (&self.table[at], self.bits);
        eight(entries, 0, bits).or_if(bits[3], eight(entries, 8, bits))
    }
}

#[inline(always)]
fn eight<V: MulVector>(entries: &[V; ENTRIES], at: usize, bits: [Mask; WINDOW_BITS]) -> V {
    four(entries, at, bits).or_if(bits[2], four(entries, at + 4, bits))
}

#[inline(always)]
fn four<V: MulVector>(entries: &[V; ENTRIES], at: usize, bits: [Mask; WINDOW_BITS]) -> V {
    two(entries, at, bits).or_if(bits[1], two(entries, at + 2, bits))
}

#[inline(always)]
fn two<V: MulVector>(entries: &[V; ENTRIES], at: usize, bits: [Mask; WINDOW_BITS]) -> V {
    V::fetch(&entries[at]).or_if(bits[0], V::fetch(&entries[at + 1]))
}
