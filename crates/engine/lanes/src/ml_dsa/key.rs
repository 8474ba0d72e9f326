//! Private keys that are kept with their handles, expanded.

use std::marker::PhantomData;

use oarlock_core::{Key, KeyParts, LatticePrivate, Status};
use oarlock_engine_kit::lattice::ml_dsa;
use zeroize::{Zeroize, Zeroizing};

use super::rows::KeptPoly;
use super::table::{DROPPED_BITS, SEED_LEN, transform_kept, value_at};
use super::uniform::{SEED_WORDS, expand_matrix, word_of, words_of};
use super::{COEFFICIENTS, DsaSet};
use crate::simd::{ShortSimd, declassify};

/// The bytes of the hash of the public key.
const PUBLIC_HASH_LEN: usize = 64;

/// An expanded private key. FIPS 204 algorithm 7, steps 1 to 5.
///
/// The polynomials of s1 and s2 are small, and so are their products with a challenge. So two of them share the
/// coefficients of one polynomial, a 2^[`DsaSecret::PAIR_BITS`] times the other, and one product has both.
pub(super) struct DsaSecret<P> {
    /// K rows of L polynomials, in the transformed domain and times 2^32, as all polynomials here.
    matrix: Vec<KeptPoly>,
    /// The polynomials of s1 and then those of s2, in pairs.
    pairs: Vec<KeptPoly>,
    t0: Vec<KeptPoly>,
    /// The seed K of the masks.
    pub(super) mask_seed: [u64; SEED_WORDS],
    set: PhantomData<fn() -> P>,
}

impl<P: DsaSet> DsaSecret<P> {
    /// The bits of a coefficient of a product with the first polynomial of a pair, which is between -beta and beta.
    pub(super) const PAIR_BITS: u32 = (2 * P::BETA + 1).ilog2() + 1;

    /// The polynomials of s1 and s2.
    const SMALL: usize = P::L + P::K;

    /// The pairs of them. The last one may have one polynomial only.
    pub(super) const PAIRS: usize = Self::SMALL.div_ceil(2);

    /// Returns the expanded form of a key, which is made at its first use.
    pub(super) fn of<S: ShortSimd>(simd: S, key: &Key) -> Result<&Self, Status> {
        key.prepared(|key| Self::build(simd, key))
    }

    fn build<S: ShortSimd>(simd: S, key: &Key) -> Result<Self, Status> {
        let Some(KeyParts::MlDsaPrivate(parts)) = key.parts() else { return Err(Status::BadKey) };
        match &parts.private {
            LatticePrivate::Expanded(expanded) => Self::read(simd, expanded.expose()),
            LatticePrivate::Seed(seed) => {
                let seed = seed.expose().try_into().map_err(|_| Status::BadKey)?;
                let expanded = key.prepared(|_| ml_dsa::expand(parts.set, seed));
                Self::read(simd, &expanded.map_err(|_| Status::BadKey)?.private)
            }
        }
    }

    /// Reads the parts of a private key. FIPS 204 algorithm 25.
    fn read<S: ShortSimd>(simd: S, expanded: &[u8]) -> Result<Self, Status> {
        if expanded.len() != P::SET.expanded_len() {
            return Err(Status::BadKey);
        }
        let (seed, rest) = expanded.split_at(SEED_LEN);
        let (mask_seed, rest) = rest.split_at(SEED_LEN);
        let rest = &rest[PUBLIC_HASH_LEN..];
        let small_bits = if P::ETA == 2 { 3 } else { 4 };
        let small_len = COEFFICIENTS * small_bits / 8;
        let (small, t0) = rest.split_at(small_len * Self::SMALL);
        let mut pairs = Vec::with_capacity(Self::PAIRS);
        let mut is_beyond = 0;
        for pair in small.chunks(2 * small_len) {
            let mut value = |bytes: &[u8], at: usize| {
                let value = P::ETA - i32::from(value_at(bytes, at, small_bits));
                // Its sign bit is set below -eta.
                is_beyond |= value + P::ETA;
                value
            };
            let (first, second) = pair.split_at(small_len);
            let mut coefficient = |at: usize| {
                let second = if second.is_empty() { 0 } else { value(second, at) };
                value(first, at) + (second << Self::PAIR_BITS)
            };
            pairs.push(std::array::from_fn(|word| {
                word_of([coefficient(2 * word), coefficient(2 * word + 1)])
            }));
        }
        // The import of keys finds this; a caller that makes keys of parts may not have looked.
        if declassify(is_beyond < 0) {
            return Err(Status::BadKey);
        }
        let t0_bits = DROPPED_BITS as usize;
        let t0 = t0.chunks_exact(COEFFICIENTS * t0_bits / 8).map(|bytes| {
            let coefficient = |at: usize| (1 << (DROPPED_BITS - 1)) - i32::from(value_at(bytes, at, t0_bits));
            std::array::from_fn(|word| word_of([coefficient(2 * word), coefficient(2 * word + 1)]))
        });
        let mut secret = Self {
            matrix: vec![[0; COEFFICIENTS / 2]; P::K * P::L],
            pairs,
            t0: t0.collect(),
            mask_seed: words_of(mask_seed),
            set: PhantomData,
        };
        // The seed of the matrix is part of the public key.
        let seed = Zeroizing::new(words_of(seed));
        expand_matrix(simd, declassify(*seed), P::L, P::L, &mut secret.matrix);
        transform_kept(simd, &mut secret.pairs);
        transform_kept(simd, &mut secret.t0);
        Ok(secret)
    }

    /// Returns a row of the matrix.
    pub(super) fn matrix_row(&self, row: usize) -> &[KeptPoly] {
        &self.matrix[row * P::L..][..P::L]
    }

    /// Returns a pair of polynomials.
    pub(super) fn pair(&self, pair: usize) -> &[KeptPoly] {
        &self.pairs[pair..=pair]
    }

    /// Returns a polynomial of t0.
    pub(super) fn t0(&self, row: usize) -> &[KeptPoly] {
        &self.t0[row..=row]
    }
}

impl<P> Drop for DsaSecret<P> {
    fn drop(&mut self) {
        self.pairs.zeroize();
        self.t0.zeroize();
        self.mask_seed.zeroize();
    }
}
