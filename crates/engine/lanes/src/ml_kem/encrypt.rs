//! Encryption, which encapsulation does once and decapsulation repeats. FIPS 203 algorithm 14.

use std::marker::PhantomData;

use zeroize::Zeroize;

use super::coding::{compress, message_coefficient, sample_binomial};
use super::key::SEED_WORDS;
use super::reduce::{KemFactor, reduce};
use super::rows::{FactorPair, prepare};
use super::transform::{forward, inverse};
use super::{COEFFICIENTS, GROUPS, KemSet, Poly};
use crate::keccak::{
    KeccakState, RATE_256, RATE_512, SHA3_SUFFIX, SHAKE_SUFFIX, STATE_WORDS, absorb, pad, permute,
};
use crate::lattice::transform::InverseScale;
use crate::lattice::units::transpose_quarters;
use crate::simd::{ShortSimd, ShortVector};

/// Four words of every job of every group.
pub(super) type GroupSecrets<V> = [[V; SEED_WORDS]; GROUPS];

/// The memory of an encryption.
pub(super) struct KemEncryption<S: ShortSimd, P> {
    /// The vector y.
    pub(super) factors: Vec<FactorPair<S::V>>,
    /// The product with a row, and then u or v without noise.
    pub(super) sum: Poly<S::V>,
    pub(super) noise: Poly<S::V>,
    /// A state of every job.
    pub(super) states: [KeccakState<S::V>; GROUPS],
    /// The message as units.
    pub(super) message: [S::V; 16],
    /// The shared secrets.
    pub(super) secrets: GroupSecrets<S::V>,
    /// The seeds of the noise.
    seeds: GroupSecrets<S::V>,
    set: PhantomData<P>,
}

impl<S: ShortSimd, P: KemSet> KemEncryption<S, P> {
    pub(super) fn new(simd: S) -> Self {
        let zero = simd.zero();
        Self {
            factors: vec![FactorPair::splat(zero); P::K * COEFFICIENTS / 2],
            sum: [zero; COEFFICIENTS],
            noise: [zero; COEFFICIENTS],
            states: [[zero; STATE_WORDS]; GROUPS],
            message: [zero; 16],
            secrets: [[zero; SEED_WORDS]; GROUPS],
            seeds: [[zero; SEED_WORDS]; GROUPS],
            set: PhantomData,
        }
    }

    /// Hashes the messages and the hashes of the encapsulation keys, of which `hash` returns a word of a group, to the
    /// shared secrets and the seeds of the noise. FIPS 203 algorithm 17, step 1.
    pub(super) fn hash_message(&mut self, simd: S, hash: impl Fn(usize, usize) -> S::V) {
        let Self { states, message, .. } = self;
        for state in &mut *states {
            *state = [simd.zero(); STATE_WORDS];
        }
        simd.call(
            #[inline(always)]
            || {
                for (at, units) in message.as_chunks::<GROUPS>().0.iter().enumerate() {
                    for (group, word) in transpose_quarters(simd, *units).into_iter().enumerate() {
                        states[group][at] = word;
                        states[group][SEED_WORDS + at] = hash(group, at);
                    }
                }
            },
        );
        self.split_hash(simd, 2 * SEED_WORDS, SHA3_SUFFIX);
    }

    /// Pads a block of SHA3-512 of which `at` words are in the states, and splits the hash into the secrets and the
    /// seeds of the noise.
    pub(super) fn split_hash(&mut self, simd: S, at: usize, suffix: u64) {
        let Self { states, secrets, seeds, .. } = self;
        for ((state, secret), seed) in states.iter_mut().zip(secrets).zip(seeds) {
            pad(simd, state, at, RATE_512, suffix);
            permute(simd, state);
            secret.copy_from_slice(&state[..SEED_WORDS]);
            seed.copy_from_slice(&state[SEED_WORDS..2 * SEED_WORDS]);
        }
    }

    /// Draws the vector y and prepares it as factors. FIPS 203 algorithm 14, steps 9 to 12 and 18.
    pub(super) fn draw_vector(&mut self, simd: S) {
        for column in 0..P::K {
            self.draw_factor(simd, column);
        }
    }

    /// Draws polynomial `column` of a vector, transforms it and prepares it as a factor.
    pub(super) fn draw_factor(&mut self, simd: S, column: usize) {
        self.draw_noise(simd, column as u64);
        forward(simd, &mut self.noise);
        prepare(simd, &self.noise, &mut self.factors[COEFFICIENTS / 2 * column..]);
    }

    /// Transforms the product with row `row` back and draws its noise. `scale` undoes the factor of the transform, and
    /// of the key. FIPS 203 algorithm 14, steps 13 to 17, 19 and 21.
    pub(super) fn finish_row(&mut self, simd: S, row: usize, scale: InverseScale<KemFactor>) {
        inverse(simd, &mut self.sum, scale);
        self.draw_noise(simd, (P::K + row) as u64);
    }

    /// Returns a compressed coefficient of u. FIPS 203 algorithm 14, step 22.
    #[inline(always)]
    pub(super) fn vector_value(&self, simd: S, at: usize) -> S::V {
        let coefficient = self.sum[at].add16(self.noise[at]);
        compress(simd, reduce(simd, coefficient), P::DU)
    }

    /// Returns a compressed coefficient of v. FIPS 203 algorithm 14, step 23.
    #[inline(always)]
    pub(super) fn last_value(&self, simd: S, at: usize) -> S::V {
        let coefficient = self.sum[at].add16(self.noise[at]);
        let with_bit = coefficient.add16(message_coefficient(simd, self.message[at / 16], at % 16));
        compress(simd, reduce(simd, with_bit), P::DV)
    }

    /// Hashes words of every job after those that the states have absorbed, and leaves the first words of the output
    /// in the states.
    pub(super) fn hash_words(&mut self, simd: S, at: usize, suffix: u64, words: &[[S::V; GROUPS]]) {
        for (group, state) in self.states.iter_mut().enumerate() {
            let words = words.iter().map(
                #[inline(always)]
                |words| words[group],
            );
            absorb(simd, state, at, RATE_256, suffix, words);
        }
    }

    /// Draws a polynomial of noise from the seeds and a counter. FIPS 203 4.3, equation 4.3, and algorithm 8.
    pub(super) fn draw_noise(&mut self, simd: S, counter: u64) {
        let Self { states, noise, seeds, .. } = self;
        for (state, seed) in states.iter_mut().zip(&*seeds) {
            simd.call(
                #[inline(always)]
                || {
                    *state = [simd.zero(); STATE_WORDS];
                    state[..SEED_WORDS].copy_from_slice(seed);
                    state[SEED_WORDS] = simd.splat(counter);
                },
            );
            pad(simd, state, SEED_WORDS, RATE_256, SHAKE_SUFFIX << 8);
            permute(simd, state);
        }
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

    pub(super) fn wipe(&mut self) {
        self.factors.iter_mut().for_each(Zeroize::zeroize);
        self.sum.zeroize();
        self.noise.zeroize();
        self.states.zeroize();
        self.message.zeroize();
        self.secrets.zeroize();
        self.seeds.zeroize();
    }
}
