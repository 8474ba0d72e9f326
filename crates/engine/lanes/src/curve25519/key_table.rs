//! Tables of public keys that recur. With a table, `[S]B - [h]A` takes no doubling. All values are public.

use oarlock_core::Key;
use oarlock_engine_kit::VerifyTable;

use super::comb::{CombRows, load_niels};
use super::encoding::decode_opposites;
use super::field::FieldSimd;
use super::point::{EdwardsPoint, add_affine_all};
use super::scalar::{ScalarLanes, SignedDigits};
use crate::simd::LANES;

/// The bits of a signed digit of h.
const WIDTH: usize = 5;
/// The bits of a signed digit of S.
pub(super) const BASE_WIDTH: usize = 8;

/// The multiples of -A, and the CPU that computed them.
#[derive(Debug)]
pub(crate) struct Ed25519KeyTable<S> {
    simd: S,
    rows: CombRows<WIDTH>,
}

impl<S: FieldSimd> Ed25519KeyTable<S> {
    /// Builds the table of A, or returns None if A does not decode.
    pub(super) fn build(simd: S, public: &[u8]) -> Option<Self> {
        // Tables are built on any thread.
        let _state = simd.run_state();
        let decoded = decode_opposites(simd, &[[public; LANES]]);
        let key = decoded.first().filter(|decoded| decoded.is_valid != 0)?;
        Some(Self { simd, rows: CombRows::comb(simd, &key.x, &key.y) })
    }
}

#[cfg(test)]
impl<S> Ed25519KeyTable<S> {
    /// Flips a bit.
    pub(super) fn flip(&mut self, row: usize, word: usize) {
        self.rows.flip(row, word);
    }
}

impl<S: FieldSimd> VerifyTable for Ed25519KeyTable<S> {
    const BYTES: usize = CombRows::<WIDTH>::BYTES;
    // 31 uses pay for building and checking a table: docs/performance/public-key.md, "Verification tables in lanes".
    const USES: u32 = 32;

    fn public(key: &Key) -> Option<&[u8]> {
        key.ed25519_public().map(<[u8; 32]>::as_slice)
    }

    fn is_right(&self, public: &[u8]) -> bool {
        let Ok(public) = public.try_into() else { return false };
        let _state = self.simd.run_state();
        self.rows.are_multiples_of_opposite(self.simd, public)
    }
}

/// The scalars and tables of a group.
pub(super) struct TableTerm<'a, S: FieldSimd> {
    pub(super) tables: [&'a Ed25519KeyTable<S>; LANES],
    pub(super) h: ScalarLanes<S::V>,
    pub(super) s: ScalarLanes<S::V>,
}

/// Computes `[S]B - [h]A` for every group with 32 additions of multiples of B and 51 of -A.
pub(super) fn table_sums<S: FieldSimd>(
    simd: S,
    base: &CombRows<BASE_WIDTH>,
    terms: &[TableTerm<'_, S>],
    sums: &mut Vec<EdwardsPoint<S>>,
) {
    let (pairs, rest) = terms.as_chunks::<2>();
    pairs.iter().for_each(|pair| sums.extend(sum_together(simd, base, pair)));
    let (ones, _) = rest.as_chunks::<1>();
    ones.iter().for_each(|one| sums.extend(sum_together(simd, base, one)));
}

fn sum_together<S: FieldSimd, const N: usize>(
    simd: S,
    base: &CombRows<BASE_WIDTH>,
    terms: &[TableTerm<'_, S>; N],
) -> [EdwardsPoint<S>; N] {
    let h = terms.each_ref().map(|term| SignedDigits::<WIDTH>::new(simd, &term.h));
    let s = terms.each_ref().map(|term| SignedDigits::<BASE_WIDTH>::new(simd, &term.s));
    let mut sums = [EdwardsPoint::neutral(simd); N];
    // Multiples of B first, then those of -A: each table is walked in order, and only one is in use at a time.
    for at in 0..s[0].len() {
        simd.call(
            #[inline(always)]
            || {
                add_affine_all::<S, N, true>(
                    simd,
                    &mut sums,
                    #[inline(always)]
                    |group| {
                        let (magnitudes, negative) = s[group].at(at);
                        (load_niels(simd, &base.rows(at, magnitudes)), negative)
                    },
                );
            },
        );
    }
    for at in 0..h[0].len() {
        simd.call(
            #[inline(always)]
            || {
                add_affine_all::<S, N, true>(
                    simd,
                    &mut sums,
                    #[inline(always)]
                    |group| {
                        let (magnitudes, negative) = h[group].at(at);
                        // Neutral rows of the right type, each replaced below by one of its lane's own table.
                        let mut rows = base.rows(0, &[0; LANES]);
                        for (lane, row) in rows.iter_mut().enumerate() {
                            *row = terms[group].tables[lane].rows.row(at, magnitudes[lane]);
                        }
                        (load_niels(simd, &rows), negative)
                    },
                );
            },
        );
    }
    sums
}
