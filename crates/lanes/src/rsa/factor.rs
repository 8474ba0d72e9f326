//! What multiplies: the limbs of a number, of an entry of a secret's table, or of the multiplicand itself.

use crate::simd::{Mask, Simd, Vector};

/// Bits of a window of an exponent.
pub(crate) const WINDOW_BITS: usize = 4;

/// Entries of a table.
pub(crate) const ENTRIES: usize = 1 << WINDOW_BITS;

/// The factor of a product that is read limb by limb, once.
pub(crate) trait LimbFactor<V>: Copy {
    /// Whether it is the multiplicand itself.
    const IS_SQUARE: bool = false;

    /// Its limb at `at`.
    fn limb(self, at: usize) -> V;
}

/// A number in memory.
#[derive(Clone, Copy)]
pub(crate) struct PlainFactor<'a, V>(pub(crate) &'a [V]);

/// The multiplicand: the product is a square.
#[derive(Clone, Copy)]
pub(crate) struct SquareFactor<'a, V>(pub(crate) &'a [V]);

/// In each lane an entry of a table that a secret names. Every limb reads all entries, beside the products of the limb before.
#[derive(Clone, Copy)]
pub(crate) struct PickedFactor<'a, V> {
    /// All entries' first limbs, then all their second limbs, and so on.
    table: &'a [[V; ENTRIES]],
    /// Bit i of the index, per lane.
    bits: [Mask; WINDOW_BITS],
}

impl<'a, V: Vector> PickedFactor<'a, V> {
    /// The entries that `index` names. `place(i)` has bit i in every lane.
    #[inline(always)]
    pub(crate) fn new(table: &'a [V], index: V, place: impl Fn(usize) -> V) -> Self {
        let mut bits = [0; WINDOW_BITS];
        for (at, bits) in bits.iter_mut().enumerate() {
            *bits = index.has_any(place(at));
        }
        Self { table: table.as_chunks().0, bits }
    }

    /// The same entries without their lowest limbs.
    #[inline(always)]
    pub(crate) fn from(self, first: usize) -> Self {
        Self { table: &self.table[first..], ..self }
    }
}

/// In each lane an entry of a table that a secret names, and room for it.
#[derive(Debug)]
pub(crate) struct SecretChoice<'a, V> {
    /// As of [`PickedFactor`].
    pub(crate) table: &'a [V],
    pub(crate) index: V,
    /// The entry, where it is read before it is multiplied by.
    pub(crate) entry: &'a mut [V],
}

impl<'a, V: Vector> SecretChoice<'a, V> {
    /// The entries as a factor.
    #[inline(always)]
    pub(crate) fn picked<S: Simd<V = V>>(&self, simd: S) -> PickedFactor<'a, V> {
        PickedFactor::new(
            self.table,
            self.index,
            #[inline(always)]
            |bit| simd.splat(1 << bit),
        )
    }
}

impl<V: Vector> LimbFactor<V> for PlainFactor<'_, V> {
    #[inline(always)]
    fn limb(self, at: usize) -> V {
        V::fetch(&self.0[at])
    }
}

impl<V: Vector> LimbFactor<V> for SquareFactor<'_, V> {
    const IS_SQUARE: bool = true;

    #[inline(always)]
    fn limb(self, at: usize) -> V {
        V::fetch(&self.0[at])
    }
}

impl<V: Vector> LimbFactor<V> for PickedFactor<'_, V> {
    /// A tree of choices, one level for each bit, so that few vectors are held at a time.
    #[inline(always)]
    fn limb(self, at: usize) -> V {
        let (entries, bits) = (&self.table[at], self.bits);
        eight(entries, 0, bits).or_if(bits[3], eight(entries, 8, bits))
    }
}

#[inline(always)]
fn eight<V: Vector>(entries: &[V; ENTRIES], at: usize, bits: [Mask; WINDOW_BITS]) -> V {
    four(entries, at, bits).or_if(bits[2], four(entries, at + 4, bits))
}

#[inline(always)]
fn four<V: Vector>(entries: &[V; ENTRIES], at: usize, bits: [Mask; WINDOW_BITS]) -> V {
    two(entries, at, bits).or_if(bits[1], two(entries, at + 2, bits))
}

#[inline(always)]
fn two<V: Vector>(entries: &[V; ENTRIES], at: usize, bits: [Mask; WINDOW_BITS]) -> V {
    V::fetch(&entries[at]).or_if(bits[0], V::fetch(&entries[at + 1]))
}
