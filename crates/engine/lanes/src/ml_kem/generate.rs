//! Key generation. FIPS 203 algorithms 16 and 13.
//!
//! The expanded key stays with its handle, so that the decapsulation that follows has its matrix.

use oarlock_core::{Key, KeyParts, LatticePrivate, Operation, Outcomes, Shape, Status};
use zeroize::Zeroizing;

use super::coding::GroupWords;
use super::encapsulate::KEY_BITS;
use super::encrypt::{GroupSecrets, KemEncryption};
use super::key::{KeptKey, MONTGOMERY, POLY_WORDS, SEED_WORDS, scale};
use super::reduce::{Q, reduce};
use super::rows::multiply_each;
use super::transform::forward;
use super::uniform::KemDraw;
use super::{GROUPS, KemSet, lanes};
use crate::batch::{LaneJob, accept};
use crate::keccak::{LAST_BIT, RATE_128, SHA3_SUFFIX, SHAKE_SUFFIX, STATE_WORDS};
use crate::lattice::uniform::{MAX_STATES, draw};
use crate::lattice::units::{Quarters, pack_values, transpose_quarters};
use crate::lattice::words::{load_words, store_words};
use crate::scratch::{ThreadScratch, WipePolicy};
use crate::simd::{ShortSimd, ShortVector, Vector, declassify};

/// The bytes of d, and of z behind it.
const SEED_LEN: usize = 8 * SEED_WORDS;

/// Generates the key of every job.
pub(super) fn run<S: ShortSimd, P: KemSet>(
    simd: S,
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) {
    let jobs = accept(shape, operations, out, |operation| {
        let Some(KeyParts::MlKemPrivate(parts)) = operation.key.parts() else { return Err(Status::BadKey) };
        let LatticePrivate::Seed(seed) = &parts.private else { return Err(Status::BadKey) };
        let seed = seed.expose();
        (seed.len() == 2 * SEED_LEN).then_some((operation.key, seed)).ok_or(Status::BadKey)
    });
    let mut work = ThreadScratch::take(|| KemGeneration::<S, P>::new(simd));
    for group in jobs.chunks(lanes::<S::V>()) {
        work.run(simd, group, out);
    }
}

/// A private key and its seed.
type GenerationJob<'a> = (&'a Key, &'a [u8]);

/// The memory of a group of jobs.
struct KemGeneration<S: ShortSimd, P> {
    /// The words of the encapsulation keys.
    keys: Vec<GroupWords<S::V>>,
    encryption: KemEncryption<S, P>,
}

impl<S: ShortSimd, P: KemSet> KemGeneration<S, P> {
    fn new(simd: S) -> Self {
        Self {
            keys: vec![[simd.zero(); GROUPS]; P::SET.public_len() / 8],
            encryption: KemEncryption::new(simd),
        }
    }

    fn run(&mut self, simd: S, group: &[LaneJob<GenerationJob<'_>>], out: &mut Outcomes) {
        let mut kept: Vec<_> =
            group.iter().map(|job| KeptKey::with_rejection::<P>(&job.job.1[SEED_LEN..])).collect();
        self.hash_seeds(simd, group);
        // The seed of the matrix is part of the encapsulation key.
        let matrix_seeds = declassify(self.encryption.secrets);
        for column in 0..P::K {
            self.encryption.draw_factor(simd, column);
            self.encryption.keep_noise(simd, &mut kept, P::K + 1, column);
        }
        for row in 0..P::K {
            expand_row::<S, P>(simd, &mut self.encryption, &matrix_seeds, row, &mut kept);
            let KemEncryption { factors, sum, .. } = &mut self.encryption;
            let job = |at: usize| &kept[at.min(kept.len() - 1)];
            multiply_each::<S, P>(simd, |at, column| job(at).poly::<P>(column, row), factors, sum);
            self.encryption.draw_noise(simd, (P::K + row) as u64);
            forward(simd, &mut self.encryption.noise);
            self.add_noise(simd, row);
            self.encryption.keep_noise(simd, &mut kept, P::K, row);
        }
        self.finish(simd, &matrix_seeds, group, kept, out);
    }

    /// Hashes d and k to the seeds of the matrix and of the noise. FIPS 203 algorithm 13, step 1.
    fn hash_seeds(&mut self, simd: S, group: &[LaneJob<GenerationJob<'_>>]) {
        let job = |at: usize| &group[at.min(group.len() - 1)].job;
        let mut seeds = Zeroizing::new([[simd.zero(); GROUPS]; SEED_WORDS]);
        simd.call(
            #[inline(always)]
            || {
                load_words(simd, &mut seeds[..], |at| job(at).1);
                for (group, state) in self.encryption.states.iter_mut().enumerate() {
                    *state = [simd.zero(); STATE_WORDS];
                    for (word, seeds) in state.iter_mut().zip(seeds.iter()) {
                        *word = seeds[group];
                    }
                }
            },
        );
        self.encryption.split_hash(simd, SEED_WORDS, P::K as u64 | SHA3_SUFFIX << 8);
    }

    /// Adds the transformed noise to the product with a row, and packs the sum: a polynomial of t. It stands in the
    /// noise's memory then. FIPS 203 algorithm 13, steps 18 and 19.
    fn add_noise(&mut self, simd: S, row: usize) {
        let Self { keys, encryption: KemEncryption { sum, noise, .. } } = self;
        let words = &mut keys[4 * KEY_BITS * row..][..4 * KEY_BITS];
        simd.call(
            #[inline(always)]
            || {
                for (noise, sum) in noise.iter_mut().zip(&*sum) {
                    let reduced = reduce(simd, reduce(simd, *noise).add16(*sum));
                    // q itself is 0.
                    *noise = reduced.sub16(simd.splat16(Q - 1).sub16(reduced).sar16(15) & simd.splat16(Q));
                }
                pack_values::<S, Quarters, KEY_BITS>(
                    simd,
                    words.as_flattened_mut(),
                    #[inline(always)]
                    |at| noise[at],
                );
                for words in words.iter_mut() {
                    *words = transpose_quarters(simd, *words);
                }
            },
        );
    }

    /// Writes the encapsulation keys, and gives the kept keys to their handles.
    fn finish(
        &mut self,
        simd: S,
        matrix_seeds: &GroupSecrets<S::V>,
        group: &[LaneJob<GenerationJob<'_>>],
        mut kept: Vec<KeptKey>,
        out: &mut Outcomes,
    ) {
        let Self { keys, encryption } = self;
        let seeds = keys.len() - SEED_WORDS;
        for (at, words) in keys[seeds..].iter_mut().enumerate() {
            *words = matrix_seeds.each_ref().map(|seed| seed[at]);
        }
        simd.call(
            #[inline(always)]
            || {
                store_words(
                    simd,
                    keys,
                    #[inline(always)]
                    |at, offset, bytes| {
                        if let Some(job) = group.get(at) {
                            bytes.store_prefix(&mut out.result_mut(job.index)[offset..]);
                        }
                    },
                );
            },
        );
        for state in &mut encryption.states {
            *state = [simd.zero(); STATE_WORDS];
        }
        encryption.hash_words(simd, 0, SHA3_SUFFIX, keys);
        for (at, kept) in kept.iter_mut().enumerate() {
            let state = &encryption.states[at / S::V::WORDS];
            for (hash, word) in kept.hash.iter_mut().zip(state) {
                *hash = word.words().as_ref()[at % S::V::WORDS];
            }
        }
        for (job, kept) in group.iter().zip(kept) {
            // A key that was used before keeps its earlier form.
            let is_kept: Result<_, Status> = job.job.0.prepared(|_| Ok(kept));
            out.set(job.index, if is_kept.is_ok() { Status::Done } else { Status::BadKey });
        }
    }
}

impl<S: ShortSimd, P: KemSet> KemEncryption<S, P> {
    /// Keeps the noise, from -8 q to 8 q, as polynomial `column` of a row of the kept keys.
    fn keep_noise(&self, simd: S, kept: &mut [KeptKey], row: usize, column: usize) {
        let mut words = Zeroizing::new([[simd.zero(); GROUPS]; POLY_WORDS]);
        simd.call(
            #[inline(always)]
            || {
                for (words, coefficients) in words.iter_mut().zip(self.noise.as_chunks::<GROUPS>().0) {
                    let mut scaled = *coefficients;
                    for coefficient in &mut scaled {
                        *coefficient = MONTGOMERY.times(simd, *coefficient);
                    }
                    *words = transpose_quarters(simd, scaled);
                }
                store_words(
                    simd,
                    &words[..],
                    #[inline(always)]
                    |at, offset, bytes| {
                        if let Some(kept) = kept.get_mut(at) {
                            let poly = &mut kept.poly_mut::<P>(row, column)[offset / 8..];
                            for (out, word) in poly.iter_mut().zip(bytes.words().as_ref()) {
                                *out = *word;
                            }
                        }
                    },
                );
            },
        );
    }
}

/// Expands a row of the matrix of every job, which is a column of the kept keys' transposed matrix. FIPS 203 algorithm
/// 13, steps 3 to 7.
fn expand_row<S: ShortSimd, P: KemSet>(
    simd: S,
    encryption: &mut KemEncryption<S, P>,
    seeds: &GroupSecrets<S::V>,
    row: usize,
    kept: &mut [KeptKey],
) {
    for (state, (seeds, kept)) in
        encryption.states.iter_mut().zip(seeds.iter().zip(kept.chunks_mut(S::V::WORDS)))
    {
        for column in 0..P::K {
            simd.call(
                #[inline(always)]
                || {
                    *state = [simd.zero(); STATE_WORDS];
                    state[..SEED_WORDS].copy_from_slice(seeds);
                    let suffix = (column | row << 8) as u64 | SHAKE_SUFFIX << 16;
                    state[SEED_WORDS] = simd.splat(suffix);
                    state[RATE_128 - 1] = simd.splat(LAST_BIT);
                },
            );
            let mut drawn = [KemDraw::NEW; MAX_STATES];
            draw(simd, state, &mut drawn[..kept.len()]);
            for (kept, drawn) in kept.iter_mut().zip(&drawn) {
                let poly = kept.poly_mut::<P>(column, row);
                *poly = drawn.words();
                scale(simd, poly);
            }
        }
    }
}

impl<S: ShortSimd, P: KemSet> WipePolicy for KemGeneration<S, P> {
    fn wipe(&mut self) {
        self.encryption.wipe();
    }
}
