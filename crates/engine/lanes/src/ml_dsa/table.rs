//! Public keys that recur, expanded: the matrix, and the vector t.

use std::marker::PhantomData;

use oarlock_core::Key;
use oarlock_engine_kit::VerifyTable;
use oarlock_engine_kit::hash::shake128;
use zeroize::Zeroizing;

use super::reduce::Q;
use super::rows::{KeptPoly, MAX_HALVES, load_block, store_block};
use super::transform::{ZETA, forward};
use super::uniform::{MONTGOMERY, expand_matrix, word_of, words_of};
use super::{COEFFICIENTS, DsaSet, Poly};
use crate::simd::{ShortSimd, Vector};

/// The bytes of the seed of the matrix.
pub(super) const SEED_LEN: usize = 32;

/// The bytes of a packed polynomial of t1: 10 bits a coefficient.
pub(super) const T1_LEN: usize = 320;

/// The bits of t that a public key does not have. FIPS 204 table 1.
pub(super) const DROPPED_BITS: u32 = 13;

/// An expanded public key: K rows of L polynomials of the matrix and one of -t1 2^13, in the transformed domain and
/// times 2^32. FIPS 204 algorithm 8, steps 1 and 5.
pub(super) struct DsaTable<P> {
    rows: Vec<KeptPoly>,
    set: PhantomData<fn() -> P>,
}

impl<P: DsaSet> DsaTable<P> {
    /// The polynomials of a row.
    const COLUMNS: usize = P::L + 1;

    pub(super) fn build<S: ShortSimd>(simd: S, public: &[u8]) -> Option<Self> {
        let (seed, t1) = public.split_at_checked(SEED_LEN)?;
        if public.len() != P::SET.public_len() {
            return None;
        }
        let mut rows = vec![[0; COEFFICIENTS / 2]; P::K * Self::COLUMNS];
        expand_matrix(simd, words_of(seed), P::L, Self::COLUMNS, &mut rows);
        let mut t: Vec<KeptPoly> = t1.chunks_exact(T1_LEN).map(negative_t).collect();
        transform_kept(simd, &mut t);
        for (row, t) in rows.chunks_exact_mut(Self::COLUMNS).zip(t) {
            row[P::L] = t;
        }
        Some(Self { rows, set: PhantomData })
    }

    /// Returns a row: the polynomials of the matrix, and that of t.
    pub(super) fn row(&self, row: usize) -> &[KeptPoly] {
        &self.rows[row * Self::COLUMNS..][..Self::COLUMNS]
    }

    /// Returns a coefficient of a polynomial, not times 2^32, from 0 to q.
    fn coefficient(&self, row: usize, column: usize, at: usize) -> u64 {
        // The inverse of 2^32.
        const UNSCALE: i64 = 8_265_825;
        let word = self.row(row)[column][at / 2];
        let kept = i64::from((word >> (32 * (at % 2))) as i32);
        (kept * UNSCALE).rem_euclid(Q.into()).cast_unsigned()
    }
}

impl<P: DsaSet> VerifyTable for DsaTable<P> {
    const BYTES: usize = P::K * Self::COLUMNS * size_of::<KeptPoly>();
    // To expand a key takes no longer than to verify without its table, which expands it too.
    const USES: u32 = 2;
    const IS_BUILT_AT_ONCE: bool = true;

    fn public(key: &Key) -> Option<&[u8]> {
        let (set, public) = key.ml_dsa_public()?;
        (set == P::SET).then_some(public)
    }

    /// Draws one polynomial of the matrix by AWS-LC's SHAKE128, and evaluates one of t at a root of unity.
    fn is_right(&self, public: &[u8]) -> bool {
        // The sample differs from key to key.
        let [a, b, c, ..] = *public else { return false };
        let (row, column, at) = (usize::from(a) % P::K, usize::from(b) % P::L, usize::from(c));
        let seed = &public[..SEED_LEN];
        let mut drawn = vec![0; 4 * 3 * COEFFICIENTS];
        shake128(&[seed, &[column as u8, row as u8]], &mut drawn);
        let values =
            drawn.as_chunks::<3>().0.iter().map(|[a, b, c]| u32::from_le_bytes([*a, *b, c & 0x7F, 0]));
        let is_drawn = values
            .filter(|value| *value < Q.cast_unsigned())
            .take(COEFFICIENTS)
            .enumerate()
            .all(|(at, value)| self.coefficient(row, column, at) == value.into());
        let q = u64::from(Q.cast_unsigned());
        let root = (0..2 * u32::from(c.reverse_bits()) + 1).fold(1, |power, _| power * ZETA % q);
        let t1 = &public[SEED_LEN + T1_LEN * row..][..T1_LEN];
        let t1_at_root = t1_values(t1).rev().fold(0, |sum, t1| (sum * root + u64::from(t1)) % q);
        is_drawn && (self.coefficient(row, P::L, at) + (t1_at_root << DROPPED_BITS)).is_multiple_of(q)
    }
}

/// Returns -t1 2^13. FIPS 204 algorithm 23, step 3.
fn negative_t(bytes: &[u8]) -> KeptPoly {
    let values: Vec<_> = t1_values(bytes).map(|t1| -(i32::from(t1) << DROPPED_BITS)).collect();
    let pairs = values.as_chunks::<2>().0;
    std::array::from_fn(|word| word_of(pairs[word]))
}

/// Returns the coefficients of a packed polynomial of t1.
fn t1_values(bytes: &[u8]) -> impl DoubleEndedIterator<Item = u16> {
    (0..COEFFICIENTS).map(|at| value_at(bytes, at, 10))
}

/// Returns value `at` of `bits` bits of packed values.
#[inline(always)]
pub(super) fn value_at(bytes: &[u8], at: usize, bits: usize) -> u16 {
    let first = bits * at / 8;
    let byte = |at: usize| u32::from(bytes.get(at).copied().unwrap_or(0));
    let all = byte(first) | byte(first + 1) << 8 | byte(first + 2) << 16;
    (all >> (bits * at % 8)) as u16 & ((1 << bits) - 1)
}

/// Transforms polynomials of one key between -q and q, and multiplies them by 2^32.
pub(super) fn transform_kept<S: ShortSimd>(simd: S, polys: &mut [KeptPoly]) {
    let mut lanes = Zeroizing::new([simd.zero(); COEFFICIENTS]);
    for polys in polys.chunks_mut(S::V::HALVES) {
        simd.call(
            #[inline(always)]
            || {
                for (block, out) in lanes.as_chunks_mut::<MAX_HALVES>().0.iter_mut().enumerate() {
                    load_block(
                        simd,
                        #[inline(always)]
                        |half| &polys[half.min(polys.len() - 1)],
                        block,
                        out,
                    );
                }
            },
        );
        let lanes: &mut Poly<S::V> = &mut lanes;
        forward(simd, lanes);
        simd.call(
            #[inline(always)]
            || {
                for (block, words) in lanes.as_chunks_mut::<MAX_HALVES>().0.iter_mut().enumerate() {
                    for word in words.iter_mut() {
                        *word = MONTGOMERY.times(simd, *word);
                    }
                    store_block::<S>(*words, block, polys);
                }
            },
        );
    }
}
