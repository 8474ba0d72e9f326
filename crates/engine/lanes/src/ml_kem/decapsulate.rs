//! Decapsulation. FIPS 203 algorithms 18, 15 and 14.

use std::marker::PhantomData;

use oarlock_core::{MlKemSet, Operation, Outcomes, Shape, Status};
use zeroize::Zeroize;

use super::coding::{
    GroupWords, compress, decompress, load_words, message_coefficient, push_message_bit, sample_binomial,
    transpose_quarters,
};
use super::key::{KeptKey, SEED_WORDS};
use super::reduce::{ConstantFactor, reduce};
use super::rows::{FactorPair, GroupKeys, multiply, prepare};
use super::transform::{forward, inverse};
use super::{COEFFICIENTS, GROUPS, KemSet, Poly, lanes};
use crate::batch::{LaneJob, accept};
use crate::keccak::{
    KeccakState, LAST_BIT, RATE_256, RATE_512, SHA3_SUFFIX, SHAKE_SUFFIX, STATE_WORDS, permute,
};
use crate::scratch::{ThreadScratch, WipePolicy};
use crate::simd::{ShortSimd, ShortVector, Vector};

/// The inverse of 128, which the inverse transform multiplies by.
const OVER_128: ConstantFactor = ConstantFactor::new(3303);

/// Decapsulates every job. Jobs of one key should stand side by side.
pub(super) fn run<S: ShortSimd, P: KemSet>(
    simd: S,
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) {
    let jobs = accept(shape, operations, out, |operation| {
        let is_whole = operation.input.len() == P::SET.ciphertext_len();
        let key = KeptKey::of::<S, P>(simd, operation.key)?;
        is_whole.then_some((key, operation.input)).ok_or(Status::BadLength)
    });
    let mut work = ThreadScratch::take(|| Decapsulation::<S, P>::new(simd));
    for group in jobs.chunks(lanes::<S::V>()) {
        work.run(simd, group, out);
    }
}

type DecapsulationJob<'a> = (&'a KeptKey, &'a [u8]);

/// The memory of a group of jobs.
struct Decapsulation<S: ShortSimd, P> {
    /// The words of the ciphertexts, and then their units.
    ciphertexts: Vec<GroupWords<S::V>>,
    /// The vector u, and then y.
    vector: Vec<Poly<S::V>>,
    factors: Vec<FactorPair<S::V>>,
    sum: Poly<S::V>,
    noise: Poly<S::V>,
    /// Four states, one for each group.
    states: [KeccakState<S::V>; GROUPS],
    /// The secrets of implicit rejection.
    rejected: GroupSecrets<S::V>,
    set: PhantomData<P>,
}

/// Four words of every job of every group.
type GroupSecrets<V> = [[V; SEED_WORDS]; GROUPS];

impl<S: ShortSimd, P: KemSet> Decapsulation<S, P> {
    fn new(simd: S) -> Self {
        let zero = simd.zero();
        Self {
            ciphertexts: vec![[zero; GROUPS]; P::SET.ciphertext_len() / 8],
            vector: vec![[zero; COEFFICIENTS]; P::K],
            factors: vec![FactorPair::splat(zero); P::K * COEFFICIENTS / 2],
            sum: [zero; COEFFICIENTS],
            noise: [zero; COEFFICIENTS],
            states: [[zero; STATE_WORDS]; GROUPS],
            rejected: [[zero; SEED_WORDS]; GROUPS],
            set: PhantomData,
        }
    }

    fn run(&mut self, simd: S, group: &[LaneJob<DecapsulationJob<'_>>], out: &mut Outcomes) {
        let job = |at: usize| &group[at.min(group.len() - 1)].job;
        let keys: Vec<_> = group.iter().map(|job| job.job.0).collect();
        let keys = GroupKeys::new(&keys);
        simd.call(
            #[inline(always)]
            || load_words(simd, &mut self.ciphertexts, |at| job(at).1),
        );
        self.hash_rejected(simd, &keys);
        simd.call(
            #[inline(always)]
            || {
                for words in &mut self.ciphertexts {
                    *words = transpose_quarters(simd, *words);
                }
            },
        );
        let message = self.decrypt(simd, &keys);
        let [shared, seeds] = self.hash_message(simd, &keys, &message);
        let different = self.encrypt_again(simd, &keys, &message, &seeds);
        self.write(simd, group, &shared, different, out);
    }

    /// The ciphertexts as units of 16 bits.
    #[inline(always)]
    fn units(&self) -> &[S::V] {
        self.ciphertexts.as_flattened()
    }

    /// Hashes z and the ciphertext. FIPS 203 algorithm 18, step 7.
    fn hash_rejected(&mut self, simd: S, keys: &GroupKeys<'_>) {
        for (group, (state, rejected)) in self.states.iter_mut().zip(&mut self.rejected).enumerate() {
            simd.call(
                #[inline(always)]
                || {
                    *state = [simd.zero(); STATE_WORDS];
                    for (word, out) in state.iter_mut().enumerate().take(SEED_WORDS) {
                        *out = keys.load(
                            simd,
                            group,
                            #[inline(always)]
                            |key| key.rejection[word],
                        );
                    }
                },
            );
            let mut at = SEED_WORDS;
            let mut rest = &self.ciphertexts[..];
            while !rest.is_empty() {
                let (block, others) = rest.split_at(rest.len().min(RATE_256 - at));
                simd.call(
                    #[inline(always)]
                    || {
                        for (word, words) in state[at..].iter_mut().zip(block) {
                            *word = *word ^ words[group];
                        }
                    },
                );
                (at, rest) = (at + block.len(), others);
                if at == RATE_256 {
                    permute(simd, state);
                    at = 0;
                }
            }
            pad(simd, state, at, SHAKE_SUFFIX, RATE_256);
            permute(simd, state);
            rejected.copy_from_slice(&state[..SEED_WORDS]);
        }
    }

    /// Decrypts the messages as units. FIPS 203 algorithm 15.
    fn decrypt(&mut self, simd: S, keys: &GroupKeys<'_>) -> [S::V; 16] {
        for column in 0..P::K {
            let poly = &mut self.vector[column];
            let units = &self.ciphertexts.as_flattened()[16 * P::DU * column..];
            simd.call(
                #[inline(always)]
                || {
                    P::for_vector_values(
                        simd,
                        units,
                        #[inline(always)]
                        |block, at, value| poly[16 * block + at] = decompress(simd, value, P::DU),
                    );
                },
            );
            forward(simd, poly);
            prepare(simd, poly, &mut self.factors[COEFFICIENTS / 2 * column..]);
        }
        multiply::<S, P>(simd, keys, P::K + 1, &self.factors, &mut self.sum);
        inverse(simd, &mut self.sum, OVER_128);
        let mut message = [simd.zero(); 16];
        simd.call(
            #[inline(always)]
            || {
                P::for_last_values(
                    simd,
                    &self.units()[16 * P::DU * P::K..],
                    #[inline(always)]
                    |block, at, value| {
                        let difference = decompress(simd, value, P::DV).sub16(self.sum[16 * block + at]);
                        push_message_bit(simd, &mut message[block], reduce(simd, difference));
                    },
                );
            },
        );
        message
    }

    /// Hashes the messages and the hashes of the encapsulation keys: returns the shared secrets, and the seeds of the
    /// noise. FIPS 203 algorithm 18, step 6.
    fn hash_message(
        &mut self,
        simd: S,
        keys: &GroupKeys<'_>,
        message: &[S::V; 16],
    ) -> [GroupSecrets<S::V>; 2] {
        let zero = [[simd.zero(); SEED_WORDS]; GROUPS];
        let (mut shared, mut seeds) = (zero, zero);
        let mut words = [[simd.zero(); GROUPS]; SEED_WORDS];
        simd.call(
            #[inline(always)]
            || {
                for (units, words) in message.as_chunks::<GROUPS>().0.iter().zip(&mut words) {
                    *words = transpose_quarters(simd, *units);
                }
            },
        );
        for (group, state) in self.states.iter_mut().enumerate() {
            simd.call(
                #[inline(always)]
                || {
                    *state = [simd.zero(); STATE_WORDS];
                    for (at, words) in words.iter().enumerate() {
                        state[at] = words[group];
                        state[SEED_WORDS + at] = keys.load(
                            simd,
                            group,
                            #[inline(always)]
                            |key| key.hash[at],
                        );
                    }
                },
            );
            pad(simd, state, 2 * SEED_WORDS, SHA3_SUFFIX, RATE_512);
            permute(simd, state);
            shared[group].copy_from_slice(&state[..SEED_WORDS]);
            seeds[group].copy_from_slice(&state[SEED_WORDS..2 * SEED_WORDS]);
        }
        [shared, seeds]
    }

    /// Encrypts the messages and returns a word that is not zero in the quarters of ciphertexts that differ. FIPS 203
    /// algorithm 14 and algorithm 18, steps 8 and 9.
    fn encrypt_again(
        &mut self,
        simd: S,
        keys: &GroupKeys<'_>,
        message: &[S::V; 16],
        seeds: &GroupSecrets<S::V>,
    ) -> S::V {
        for column in 0..P::K {
            self.sample_noise(simd, seeds, column as u64);
            let Self { noise, factors, .. } = self;
            forward(simd, noise);
            prepare(simd, noise, &mut factors[COEFFICIENTS / 2 * column..]);
        }
        let mut different = simd.zero();
        for row in 0..=P::K {
            multiply::<S, P>(simd, keys, row, &self.factors, &mut self.sum);
            inverse(simd, &mut self.sum, OVER_128);
            self.sample_noise(simd, seeds, (P::K + row) as u64);
            let Self { sum, noise, .. } = &*self;
            let units = &self.units()[16 * P::DU * row..];
            simd.call(
                #[inline(always)]
                || {
                    if row < P::K {
                        P::for_vector_values(
                            simd,
                            units,
                            #[inline(always)]
                            |block, at, value| {
                                let coefficient = sum[16 * block + at].add16(noise[16 * block + at]);
                                different = different | (compressed(simd, coefficient, P::DU) ^ value);
                            },
                        );
                    } else {
                        P::for_last_values(
                            simd,
                            units,
                            #[inline(always)]
                            |block, at, value| {
                                let bit = message_coefficient(simd, message[block], at);
                                let coefficient = sum[16 * block + at].add16(noise[16 * block + at]);
                                different =
                                    different | (compressed(simd, coefficient.add16(bit), P::DV) ^ value);
                            },
                        );
                    }
                },
            );
        }
        different
    }

    /// Draws a polynomial of noise from the seeds and a counter. FIPS 203 4.3, equation 4.3, and algorithm 8.
    fn sample_noise(&mut self, simd: S, seeds: &GroupSecrets<S::V>, counter: u64) {
        for (state, seed) in self.states.iter_mut().zip(seeds) {
            simd.call(
                #[inline(always)]
                || {
                    *state = [simd.zero(); STATE_WORDS];
                    state[..SEED_WORDS].copy_from_slice(seed);
                    state[SEED_WORDS] = simd.splat(counter);
                },
            );
            pad(simd, state, SEED_WORDS, SHAKE_SUFFIX << 8, RATE_256);
            permute(simd, state);
        }
        let Self { states, noise, .. } = self;
        simd.call(
            #[inline(always)]
            || {
                let words = std::array::from_fn(
                    #[inline(always)]
                    |word| {
                        std::array::from_fn(
                            #[inline(always)]
                            |group: usize| states[group][word],
                        )
                    },
                );
                sample_binomial(simd, &words, noise);
            },
        );
    }

    /// Writes the shared secret of every job, or that of implicit rejection where its ciphertext differs. FIPS 203
    /// algorithm 18, steps 9 to 12.
    fn write(
        &self,
        simd: S,
        group: &[LaneJob<DecapsulationJob<'_>>],
        shared: &GroupSecrets<S::V>,
        different: S::V,
        out: &mut Outcomes,
    ) {
        let mut chosen = *shared;
        simd.call(
            #[inline(always)]
            || {
                // All ones in the quarters that are not zero, and then in whole words.
                let negative = simd.zero().sub16(different);
                let masks = transpose_quarters(simd, [(different | negative).sar16(15); GROUPS]);
                for ((chosen, rejected), mask) in chosen.iter_mut().zip(&self.rejected).zip(masks) {
                    for (chosen, rejected) in chosen.iter_mut().zip(rejected) {
                        *chosen = mask & *rejected | mask.and_not(*chosen);
                    }
                }
            },
        );
        let mut secrets = [0; MlKemSet::SECRET_LEN];
        for (at, chosen) in chosen.iter().enumerate() {
            let jobs = group.get(at * S::V::WORDS..).unwrap_or_default();
            let words: [_; SEED_WORDS] = std::array::from_fn(|word| chosen[word].words());
            for (lane, job) in jobs.iter().enumerate().take(S::V::WORDS) {
                for (bytes, words) in secrets.as_chunks_mut().0.iter_mut().zip(&words) {
                    *bytes = words.as_ref()[lane].to_le_bytes();
                }
                out.result_mut(job.index).copy_from_slice(&secrets);
                out.set(job.index, Status::Done);
            }
        }
        secrets.zeroize();
    }
}

/// Adds a suffix and the last bit of the padding to a block of which `at` words are there. FIPS 202 5.1 and 6.
fn pad<S: ShortSimd>(simd: S, state: &mut KeccakState<S::V>, at: usize, suffix: u64, rate: usize) {
    simd.call(
        #[inline(always)]
        || {
            state[at] = state[at] ^ simd.splat(suffix);
            state[rate - 1] = state[rate - 1] ^ simd.splat(LAST_BIT);
        },
    );
}

/// Reduces and compresses any words.
#[inline(always)]
fn compressed<S: ShortSimd>(simd: S, words: S::V, bits: usize) -> S::V {
    compress(simd, reduce(simd, words), bits)
}

impl<S: ShortSimd, P: KemSet> WipePolicy for Decapsulation<S, P> {
    fn wipe(&mut self) {
        self.vector.iter_mut().for_each(Zeroize::zeroize);
        self.factors.iter_mut().for_each(Zeroize::zeroize);
        self.sum.zeroize();
        self.noise.zeroize();
        self.states.zeroize();
        self.rejected.zeroize();
    }
}
