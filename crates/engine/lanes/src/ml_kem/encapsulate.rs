//! Encapsulation under keys of one use, whose matrices are expanded here. FIPS 203 algorithm 17.

use oarlock_core::{Operation, Outcomes, Shape, Status};
use zeroize::Zeroizing;

use super::coding::GroupWords;
use super::encrypt::{GroupSecrets, KemEncryption};
use super::key::{POLY_WORDS, SEED_WORDS};
use super::reduce::KemFactor;
use super::rows::{multiply_each, multiply_lanes};
use super::transform::inverse_scale;
use super::uniform::KemDraw;
use super::{COEFFICIENTS, GROUPS, KemSet, Poly, lanes, write_secrets};
use crate::batch::{LaneJob, accept};
use crate::keccak::{LAST_BIT, RATE_128, SHA3_SUFFIX, SHAKE_SUFFIX, STATE_WORDS};
use crate::lattice::transform::InverseScale;
use crate::lattice::uniform::{MAX_STATES, draw};
use crate::lattice::units::{Quarters, for_values, transpose_quarters};
use crate::lattice::words::{load_words, store_words};
use crate::scratch::{ThreadScratch, WipePolicy};
use crate::simd::{ShortSimd, Vector};

/// 2^16 over 128: these keys are not times 2^16.
const SCALE: InverseScale<KemFactor> = inverse_scale((3303 << 16) % 3329);

/// The bits of a coefficient of an encapsulation key.
pub(super) const KEY_BITS: usize = 12;

/// Encapsulates for every job.
pub(super) fn run<S: ShortSimd, P: KemSet>(
    simd: S,
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) {
    let jobs = accept(shape, operations, out, |operation| {
        let (_, public) = operation.key.ml_kem_public().ok_or(Status::BadKey)?;
        let is_whole = public.len() == P::SET.public_len();
        is_whole.then_some((public, operation.input)).ok_or(Status::BadKey)
    });
    let mut work = ThreadScratch::take(|| Encapsulation::<S, P>::new(simd));
    for group in jobs.chunks(lanes::<S::V>()) {
        work.run(simd, group, out);
    }
}

/// A public key and the random bytes.
type EncapsulationJob<'a> = (&'a [u8], &'a [u8]);

/// The memory of a group of jobs.
struct Encapsulation<S: ShortSimd, P> {
    /// The words of the keys, and then their units.
    keys: Vec<GroupWords<S::V>>,
    /// The vectors t.
    vector: Vec<Poly<S::V>>,
    /// A row of the matrix of each job.
    row: Vec<[u64; POLY_WORDS]>,
    /// A packed polynomial.
    packed: Vec<GroupWords<S::V>>,
    encryption: KemEncryption<S, P>,
}

impl<S: ShortSimd, P: KemSet> Encapsulation<S, P> {
    fn new(simd: S) -> Self {
        let zero = simd.zero();
        Self {
            keys: vec![[zero; GROUPS]; P::SET.public_len() / 8],
            vector: vec![[zero; COEFFICIENTS]; P::K],
            row: vec![[0; POLY_WORDS]; lanes::<S::V>() * P::K],
            packed: vec![[zero; GROUPS]; 4 * P::DU],
            encryption: KemEncryption::new(simd),
        }
    }

    fn run(&mut self, simd: S, group: &[LaneJob<EncapsulationJob<'_>>], out: &mut Outcomes) {
        let job = |at: usize| &group[at.min(group.len() - 1)].job;
        let mut random = Zeroizing::new([[simd.zero(); GROUPS]; SEED_WORDS]);
        simd.call(
            #[inline(always)]
            || {
                load_words(simd, &mut self.keys, |at| job(at).0);
                load_words(simd, &mut random[..], |at| job(at).1);
            },
        );
        // The seed of the matrix is behind the vector.
        let seeds: [_; SEED_WORDS] =
            std::array::from_fn(|word| self.keys[self.keys.len() - SEED_WORDS + word]);
        let hashes = self.hash_keys(simd);
        self.read_vector(simd);
        let message = &mut self.encryption.message;
        simd.call(
            #[inline(always)]
            || {
                for (units, words) in message.as_chunks_mut::<GROUPS>().0.iter_mut().zip(random.iter()) {
                    *units = transpose_quarters(simd, *words);
                }
            },
        );
        let hash = |group: usize, at: usize| hashes[group][at];
        self.encryption.hash_message(simd, hash);
        self.encryption.draw_vector(simd);
        for row in 0..=P::K {
            if row < P::K {
                self.expand_row(simd, &seeds, row, group.len());
                let KemEncryption { factors, sum, .. } = &mut self.encryption;
                // Places without a job have the polynomials of an earlier group.
                multiply_each::<S, P>(simd, |job, column| &self.row[job * P::K + column], factors, sum);
            } else {
                let KemEncryption { factors, sum, .. } = &mut self.encryption;
                multiply_lanes::<S, P>(simd, &self.vector, factors, sum);
            }
            self.encryption.finish_row(simd, row, SCALE);
            self.pack(simd, row);
            self.write(simd, row, group, out);
        }
        write_secrets(group, &self.encryption.secrets, P::SET.ciphertext_len(), out);
    }

    /// Hashes the keys. FIPS 203 algorithm 17, step 1.
    fn hash_keys(&mut self, simd: S) -> GroupSecrets<S::V> {
        for state in &mut self.encryption.states {
            *state = [simd.zero(); STATE_WORDS];
        }
        self.encryption.hash_words(simd, 0, SHA3_SUFFIX, &self.keys);
        std::array::from_fn(|group| {
            let state = &self.encryption.states[group];
            std::array::from_fn(|word| state[word])
        })
    }

    /// Decodes the vector t. FIPS 203 algorithm 14, step 2.
    fn read_vector(&mut self, simd: S) {
        let Self { keys, vector, .. } = self;
        simd.call(
            #[inline(always)]
            || {
                for words in keys.iter_mut() {
                    *words = transpose_quarters(simd, *words);
                }
                for (units, poly) in keys.as_flattened().chunks_exact(16 * KEY_BITS).zip(vector) {
                    for_values::<S, Quarters, KEY_BITS>(
                        simd,
                        units,
                        #[inline(always)]
                        |at, value| poly[at] = value,
                    );
                }
            },
        );
    }

    /// Expands a row of the transposed matrix of every job. FIPS 203 algorithm 14, steps 4 to 8.
    fn expand_row(&mut self, simd: S, seeds: &[GroupWords<S::V>; SEED_WORDS], row: usize, jobs: usize) {
        for group in 0..GROUPS {
            let first = group * S::V::WORDS;
            let count = jobs.saturating_sub(first).min(S::V::WORDS);
            for column in 0..if count > 0 { P::K } else { 0 } {
                let state = &mut self.encryption.states[group];
                simd.call(
                    #[inline(always)]
                    || {
                        *state = [simd.zero(); STATE_WORDS];
                        for (word, seeds) in state.iter_mut().zip(seeds) {
                            *word = seeds[group];
                        }
                        let suffix = (row | column << 8) as u64 | SHAKE_SUFFIX << 16;
                        state[SEED_WORDS] = simd.splat(suffix);
                        state[RATE_128 - 1] = simd.splat(LAST_BIT);
                    },
                );
                let mut drawn = [KemDraw::NEW; MAX_STATES];
                draw(simd, state, &mut drawn[..count]);
                for (job, drawn) in drawn[..count].iter().enumerate() {
                    self.row[(first + job) * P::K + column] = drawn.words();
                }
            }
        }
    }

    /// Compresses and packs u or v. FIPS 203 algorithm 14, steps 22 and 23.
    fn pack(&mut self, simd: S, row: usize) {
        let Self { packed, encryption, .. } = self;
        simd.call(
            #[inline(always)]
            || {
                if row < P::K {
                    P::pack_vector_values(
                        simd,
                        packed.as_flattened_mut(),
                        #[inline(always)]
                        |at| encryption.vector_value(simd, at),
                    );
                } else {
                    P::pack_last_values(
                        simd,
                        packed.as_flattened_mut(),
                        #[inline(always)]
                        |at| encryption.last_value(simd, at),
                    );
                }
                for units in packed.iter_mut() {
                    *units = transpose_quarters(simd, *units);
                }
            },
        );
    }

    /// Writes a packed polynomial to the ciphertext of every job.
    fn write(&self, simd: S, row: usize, group: &[LaneJob<EncapsulationJob<'_>>], out: &mut Outcomes) {
        let (start, words) = (32 * P::DU * row, 4 * if row < P::K { P::DU } else { P::DV });
        simd.call(
            #[inline(always)]
            || {
                store_words(
                    simd,
                    &self.packed[..words],
                    #[inline(always)]
                    |at, offset, bytes| {
                        if let Some(job) = group.get(at) {
                            let result = &mut out.result_mut(job.index)[start..start + 8 * words];
                            bytes.store_prefix(&mut result[offset..]);
                        }
                    },
                );
            },
        );
    }
}

impl<S: ShortSimd, P: KemSet> WipePolicy for Encapsulation<S, P> {
    fn wipe(&mut self) {
        self.encryption.wipe();
    }
}
