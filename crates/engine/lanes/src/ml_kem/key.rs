//! Keys that are kept with their handles, expanded: the matrix, the vectors t and s, the hash and z.

use oarlock_core::{Key, KeyParts, LatticePrivate, Status};
use oarlock_engine_kit::lattice::ml_kem;
use zeroize::Zeroize;

use super::reduce::{KemFactor, to_montgomery};
use super::uniform::{KemDraw, word_of};
use super::{COEFFICIENTS, KemSet};
use crate::keccak::{KeccakState, LAST_BIT, RATE_128, SHAKE_SUFFIX, STATE_WORDS};
use crate::lattice::uniform::{MAX_STATES, draw};
use crate::simd::{LaneArray, LaneValues, ShortSimd, Vector, declassify};

/// The words of a polynomial: four coefficients each.
pub(super) const POLY_WORDS: usize = COEFFICIENTS / 4;

/// The words of a seed, a hash or a secret.
pub(super) const SEED_WORDS: usize = 4;

/// 2^16, which kept keys are multiplied by.
pub(super) const MONTGOMERY: KemFactor = KemFactor::new((1 << 16) % 3329);

/// An expanded decapsulation key. FIPS 203 algorithm 16.
pub(super) struct KeptKey {
    /// Rows of K polynomials times 2^16 in the transformed domain: those of the matrix, transposed, then t, then s.
    rows: Vec<u64>,
    /// The hash of the encapsulation key.
    pub(super) hash: [u64; SEED_WORDS],
    /// The secret of implicit rejection.
    pub(super) rejection: [u64; SEED_WORDS],
}

impl KeptKey {
    /// Returns the expanded form of a key, which is made at its first use.
    pub(super) fn of<S: ShortSimd, P: KemSet>(simd: S, key: &Key) -> Result<&Self, Status> {
        key.prepared(|key| Self::build::<S, P>(simd, key))
    }

    fn build<S: ShortSimd, P: KemSet>(simd: S, key: &Key) -> Result<Self, Status> {
        let Some(KeyParts::MlKemPrivate(parts)) = key.parts() else { return Err(Status::BadKey) };
        match &parts.private {
            LatticePrivate::Expanded(expanded) => Self::read::<S, P>(simd, expanded.expose()),
            LatticePrivate::Seed(seed) => {
                let seed = seed.expose().try_into().map_err(|_| Status::BadKey)?;
                let expanded = key.prepared(|_| ml_kem::expand(parts.set, seed));
                Self::read::<S, P>(simd, &expanded.map_err(|_| Status::BadKey)?.private)
            }
        }
    }

    /// Reads s, t, the seed of the matrix, the hash and z. FIPS 203 algorithm 16, step 3, and algorithm 13, steps 19
    /// and 20.
    fn read<S: ShortSimd, P: KemSet>(simd: S, expanded: &[u8]) -> Result<Self, Status> {
        if expanded.len() != P::SET.expanded_len() {
            return Err(Status::BadKey);
        }
        let vector_len = P::K * POLY_WORDS;
        // 12 bits per coefficient.
        let (s, rest) = expanded.split_at(vector_len * 6);
        let (t, rest) = rest.split_at(vector_len * 6);
        let (seed, rest) = rest.split_at(32);
        let (hash, z) = rest.split_at(32);
        let mut rows = vec![0; (P::K + 2) * vector_len];
        let (matrix, vectors) = rows.split_at_mut(P::K * vector_len);
        // The seed of the matrix is part of the encapsulation key.
        expand_matrix(simd, &declassify(words_of(seed)), P::K, matrix);
        for (bytes, out) in t.chunks_exact(6).chain(s.chunks_exact(6)).zip(vectors) {
            *out = word_of_coefficients(bytes);
        }
        Ok(Self { rows, hash: words_of(hash), rejection: words_of(z) })
    }

    /// Returns a key without its vectors, matrix and hash, for [`Self::poly_mut`].
    pub(super) fn with_rejection<P: KemSet>(rejection: &[u8]) -> Self {
        let rows = vec![0; (P::K + 2) * P::K * POLY_WORDS];
        Self { rows, hash: [0; SEED_WORDS], rejection: words_of(rejection) }
    }

    /// Returns polynomial `column` of a row, to write words times 2^16.
    pub(super) fn poly_mut<P: KemSet>(&mut self, row: usize, column: usize) -> &mut [u64; POLY_WORDS] {
        &mut self.rows.as_chunks_mut().0[row * P::K + column]
    }

    /// Returns polynomial `column` of a row.
    pub(super) fn poly<P: KemSet>(&self, row: usize, column: usize) -> &[u64; POLY_WORDS] {
        const NONE: [u64; POLY_WORDS] = [0; POLY_WORDS];
        self.rows.as_chunks().0.get(row * P::K + column).unwrap_or(&NONE)
    }
}

impl Drop for KeptKey {
    fn drop(&mut self) {
        self.rows.zeroize();
        self.rejection.zeroize();
    }
}

fn words_of(bytes: &[u8]) -> [u64; SEED_WORDS] {
    let (chunks, _) = bytes.as_chunks();
    std::array::from_fn(|word| chunks.get(word).map_or(0, |chunk| u64::from_le_bytes(*chunk)))
}

/// Decodes four coefficients of 12 bits. FIPS 203 algorithm 6.
fn word_of_coefficients(bytes: &[u8]) -> u64 {
    let mut padded = [0; 8];
    padded[..6].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(padded);
    padded.zeroize();
    word_in_montgomery(std::array::from_fn(|at| (bits >> (12 * at) & 0xFFF) as u16))
}

/// Returns coefficients times 2^16 mod q.
fn word_in_montgomery(coefficients: [u16; 4]) -> u64 {
    word_of(coefficients.map(|coefficient| to_montgomery(coefficient).cast_unsigned()))
}

/// Multiplies the coefficients of words by 2^16.
pub(super) fn scale<S: ShortSimd>(simd: S, words: &mut [u64; POLY_WORDS]) {
    simd.call(
        #[inline(always)]
        || {
            let vectors: &mut [LaneValues<S::V, u64>] = LaneArray::chunks_mut(words);
            for words in vectors {
                *words = MONTGOMERY.times(simd, simd.load(words)).words();
            }
        },
    );
}

/// Expands the transposed matrix: the polynomial of row i and column j has the seed with the bytes i and j. FIPS 203
/// algorithm 13, step 5, and algorithm 14, step 6.
fn expand_matrix<S: ShortSimd>(simd: S, seed: &[u64; SEED_WORDS], columns: usize, matrix: &mut [u64]) {
    for (group, polys) in matrix.chunks_mut(S::V::WORDS * POLY_WORDS).enumerate() {
        let row_and_column = |lane: usize| {
            let at = group * S::V::WORDS + lane;
            (at / columns) as u64 | ((at % columns) as u64) << 8
        };
        let mut state: KeccakState<S::V> = [simd.zero(); STATE_WORDS];
        for (word, seed) in state.iter_mut().zip(seed) {
            *word = simd.splat(*seed);
        }
        state[SEED_WORDS] = simd.load(&LaneArray::from_fn(|lane| row_and_column(lane) | SHAKE_SUFFIX << 16));
        state[RATE_128 - 1] = simd.splat(LAST_BIT);
        let polys = polys.as_chunks_mut::<POLY_WORDS>().0;
        let mut drawn = [KemDraw::NEW; MAX_STATES];
        draw(simd, &mut state, &mut drawn[..polys.len()]);
        for (poly, drawn) in polys.iter_mut().zip(&drawn) {
            *poly = drawn.words();
            scale(simd, poly);
        }
    }
}
