//! Decapsulation. FIPS 203 algorithms 18 and 15.

use oarlock_core::{Operation, Outcomes, Shape};
use zeroize::Zeroize;

use super::coding::{GroupWords, decompress, push_message_bit};
use super::encrypt::{GroupSecrets, KemEncryption};
use super::key::{KeptKey, SEED_WORDS};
use super::reduce::{KemFactor, reduce};
use super::rows::{GroupKeys, multiply, prepare};
use super::transform::{forward, inverse, inverse_scale};
use super::{COEFFICIENTS, GROUPS, KemSet, lanes, write_secrets};
use crate::batch::{LaneJob, accept};
use crate::keccak::{SHAKE_SUFFIX, STATE_WORDS};
use crate::lattice::transform::InverseScale;
use crate::lattice::units::transpose_quarters;
use crate::lattice::words::load_words;
use crate::scratch::{ThreadScratch, WipePolicy};
use crate::simd::{BlindVector, ShortSimd, ShortVector};

/// The inverse of 128, which the inverse transform multiplies by.
const OVER_128: InverseScale<KemFactor> = inverse_scale(3303);

/// Decapsulates every job. It is fastest if all jobs of a group have one key.
pub(super) fn run<S: ShortSimd, P: KemSet>(
    simd: S,
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) {
    let jobs = accept(shape, operations, out, |operation| {
        Ok((KeptKey::of::<S, P>(simd, operation.key)?, operation.input))
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
    encryption: KemEncryption<S, P>,
    /// The secrets of implicit rejection.
    rejected: GroupSecrets<S::V>,
}

impl<S: ShortSimd, P: KemSet> Decapsulation<S, P> {
    fn new(simd: S) -> Self {
        Self {
            ciphertexts: vec![[simd.zero(); GROUPS]; P::SET.ciphertext_len() / 8],
            encryption: KemEncryption::new(simd),
            rejected: [[simd.zero(); SEED_WORDS]; GROUPS],
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
        self.decrypt(simd, &keys);
        let hash = |group: usize, at: usize| keys.load(simd, group, |key| key.hash[at]);
        self.encryption.hash_message(simd, hash);
        let different = self.encrypt_again(simd, &keys);
        self.reject(simd, different);
        write_secrets(group, &self.encryption.secrets, 0, out);
    }

    /// Hashes z and the ciphertext. FIPS 203 algorithm 18, step 7.
    fn hash_rejected(&mut self, simd: S, keys: &GroupKeys<'_>) {
        let Self { ciphertexts, encryption, rejected } = self;
        for (group, state) in encryption.states.iter_mut().enumerate() {
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
        }
        encryption.hash_words(simd, SEED_WORDS, SHAKE_SUFFIX, ciphertexts);
        for (rejected, state) in rejected.iter_mut().zip(&encryption.states) {
            rejected.copy_from_slice(&state[..SEED_WORDS]);
        }
    }

    /// Decrypts the messages as units. FIPS 203 algorithm 15.
    fn decrypt(&mut self, simd: S, keys: &GroupKeys<'_>) {
        let units = self.ciphertexts.as_flattened();
        let KemEncryption { factors, sum, noise: u, message, .. } = &mut self.encryption;
        for column in 0..P::K {
            simd.call(
                #[inline(always)]
                || {
                    P::for_vector_values(
                        simd,
                        &units[16 * P::DU * column..],
                        #[inline(always)]
                        |at, value| u[at] = decompress(simd, value, P::DU),
                    );
                },
            );
            forward(simd, u);
            prepare(simd, u, &mut factors[COEFFICIENTS / 2 * column..]);
        }
        multiply::<S, P>(simd, keys, P::K + 1, factors, sum);
        inverse(simd, sum, OVER_128);
        *message = [simd.zero(); 16];
        simd.call(
            #[inline(always)]
            || {
                P::for_last_values(
                    simd,
                    &units[16 * P::DU * P::K..],
                    #[inline(always)]
                    |at, value| {
                        let difference = decompress(simd, value, P::DV).sub16(sum[at]);
                        push_message_bit(simd, &mut message[at / 16], reduce(simd, difference));
                    },
                );
            },
        );
    }

    /// Encrypts the messages and returns a word that is not zero in the quarters of ciphertexts that differ. FIPS 203
    /// algorithm 18, steps 8 and 9.
    fn encrypt_again(&mut self, simd: S, keys: &GroupKeys<'_>) -> S::V {
        let Self { ciphertexts, encryption, .. } = self;
        encryption.draw_vector(simd);
        let mut different = simd.zero();
        for row in 0..=P::K {
            let KemEncryption { factors, sum, .. } = encryption;
            multiply::<S, P>(simd, keys, row, factors, sum);
            encryption.finish_row(simd, row, OVER_128);
            let units = &ciphertexts.as_flattened()[16 * P::DU * row..];
            simd.call(
                #[inline(always)]
                || {
                    if row < P::K {
                        P::for_vector_values(
                            simd,
                            units,
                            #[inline(always)]
                            |at, value| {
                                different = different | (encryption.vector_value(simd, at) ^ value);
                            },
                        );
                    } else {
                        P::for_last_values(
                            simd,
                            units,
                            #[inline(always)]
                            |at, value| {
                                let again = encryption.last_value(simd, at);
                                different = different | (again ^ value);
                            },
                        );
                    }
                },
            );
        }
        different
    }

    /// Replaces the shared secrets of jobs whose ciphertexts differ. FIPS 203 algorithm 18, steps 9 to 11.
    fn reject(&mut self, simd: S, different: S::V) {
        let Self { encryption: KemEncryption { secrets, .. }, rejected, .. } = self;
        simd.call(
            #[inline(always)]
            || {
                // All ones in the quarters that are not zero, and then in whole words.
                let negative = simd.zero().sub16(different);
                let masks = transpose_quarters(simd, [(different | negative).sar16(15); GROUPS]);
                for ((secrets, rejected), mask) in secrets.iter_mut().zip(&*rejected).zip(masks) {
                    for (secret, rejected) in secrets.iter_mut().zip(rejected) {
                        *secret = mask & *rejected | mask.and_not(*secret);
                    }
                }
            },
        );
    }
}

impl<S: ShortSimd, P: KemSet> WipePolicy for Decapsulation<S, P> {
    fn wipe(&mut self) {
        self.encryption.wipe();
        self.rejected.zeroize();
    }
}
