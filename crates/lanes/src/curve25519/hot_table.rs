//! Tables of public keys that recur: with one, [S]B - [h]A takes no doubling. All public.

use oarlock_core::Key;

use super::comb::{Rows, load_niels};
use super::encoding::decode_opposites;
use super::point::Point;
use super::scalar::{Scalar, Signed};
use crate::hot::Table;
use crate::simd::{LANES, Simd};

/// Signed digits of h.
const WIDTH: usize = 5;
/// Signed digits of S.
pub(super) const BASE_WIDTH: usize = 8;

/// Multiples of -A, and the unit that made them.
#[derive(Debug)]
pub(crate) struct HotTable<S> {
    simd: S,
    rows: Rows<WIDTH>,
}

impl<S: Simd> HotTable<S> {
    /// None where A does not decode.
    pub(super) fn build(simd: S, public: &[u8]) -> Option<Self> {
        let decoded = decode_opposites(simd, &[[public; LANES]]);
        let key = decoded.first().filter(|decoded| decoded.is_valid != 0)?;
        Some(Self { simd, rows: Rows::comb(simd, &key.x, &key.y) })
    }
}

#[cfg(test)]
impl<S> HotTable<S> {
    /// Turns a bit over.
    pub(super) fn flip(&mut self, row: usize, word: usize) {
        self.rows.flip(row, word);
    }
}

impl<S: Simd> Table for HotTable<S> {
    const BYTES: usize = Rows::<WIDTH>::BYTES;
    const USES: u32 = 32;

    fn public(key: &Key) -> Option<&[u8]> {
        key.ed25519_public().map(<[u8; 32]>::as_slice)
    }

    fn is_right(&self, public: &[u8]) -> bool {
        let Ok(public) = public.try_into() else { return false };
        self.rows.are_multiples_of_opposite(self.simd, public)
    }
}

/// [S]B - [h]A: 32 additions of multiples of B and 51 of -A.
pub(super) fn hot_sum<S: Simd>(
    simd: S,
    base: &Rows<BASE_WIDTH>,
    tables: &[&HotTable<S>; LANES],
    h: &Scalar<S::V>,
    s: &Scalar<S::V>,
) -> Point<S::V> {
    let (h, s) = (Signed::<WIDTH>::new(simd, h), Signed::<BASE_WIDTH>::new(simd, s));
    let mut sum = Point::neutral(simd);
    for at in 0..s.len() {
        simd.call(
            #[inline(always)]
            || {
                let (magnitudes, negative) = s.at(at);
                let entry = load_niels(simd, &base.rows(at, magnitudes));
                sum.add_affine::<S, true>(simd, &entry, negative);
            },
        );
    }
    for at in 0..h.len() {
        simd.call(
            #[inline(always)]
            || {
                let (magnitudes, negative) = h.at(at);
                let mut rows = base.rows(0, magnitudes);
                for (lane, row) in rows.iter_mut().enumerate() {
                    *row = tables[lane].rows.row(at, magnitudes[lane]);
                }
                sum.add_affine::<S, true>(simd, &load_niels(simd, &rows), negative);
            },
        );
    }
    sum
}
