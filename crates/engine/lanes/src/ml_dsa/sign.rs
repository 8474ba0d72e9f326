//! Signing. FIPS 204 algorithm 7.
//!
//! Four to five attempts make a signature, and each job needs a number of its own. So a lane holds an attempt, not a
//! job: before each round the lanes are given to the jobs that are not done, and if these are fewer, further lanes take
//! the next attempts of the same jobs. Of the attempts of a job that pass, the first one counts, as if they had been
//! made one after the other.

use std::marker::PhantomData;

use oarlock_core::{NonceInput, Operation, Outcomes, SecondInput, Shape, Status};
use zeroize::Zeroize;

use super::challenge::{Challenge, GroupHashes, MAX_HASH_WORDS};
use super::key::DsaSecret;
use super::reduce::{DsaFactor, centre, lift};
use super::rounding::{decompose, exceeds, make_hint};
use super::rows::{MAX_HALVES, RowPolys, multiply};
use super::transform::{forward, inverse, inverse_scale};
use super::uniform::{SEED_WORDS, words_of};
use super::{COEFFICIENTS, DsaSet, GROUPS, GroupWords, MU_WORDS, Poly, half_of, job_of, lanes};
use crate::batch::{LaneJob, accept};
use crate::keccak::{KeccakState, LAST_BIT, RATE_256, SHAKE_SUFFIX, STATE_WORDS, absorb, permute};
use crate::lattice::transform::InverseScale;
use crate::lattice::units::transpose_halves;
use crate::lattice::words::store_words;
use crate::scratch::{ThreadScratch, WipePolicy};
use crate::simd::{HalfMask, LaneArray, ShortSimd, ShortVector, Vector, declassify};

/// The words of the seed of a job's masks.
const MASK_SEED_WORDS: usize = 8;

/// The blocks of SHAKE256 that a mask is made of: 576 or 640 bytes.
const MASK_BLOCKS: usize = 5;

/// The scale of products of coefficients with a kept key.
const SCALE: InverseScale<DsaFactor> = inverse_scale(0);

/// The shift of the high part of a coefficient beside its low part.
const HIGH_SHIFT: u32 = 24;

/// Signs for every job.
pub(super) fn run<S: ShortSimd, P: DsaSet>(simd: S, operations: &[Operation<'_>], out: &mut Outcomes) {
    let jobs = accept(Shape::MlDsaSign { set: P::SET }, operations, out, |operation| {
        let SecondInput::NonceInput(NonceInput::Hedged(random)) = operation.extra else {
            return Err(Status::Malformed);
        };
        Ok(SigningInput { key: DsaSecret::of(simd, operation.key)?, random, mu: words_of(operation.input) })
    });
    let mut work = ThreadScratch::take(|| Signing::<S, P>::new(simd));
    let mut waiting: Vec<_> =
        jobs.chunks(S::V::WORDS).flat_map(|jobs| work.draw_mask_seeds(simd, jobs)).collect();
    let mut slots = Vec::with_capacity(lanes::<S::V>());
    while !waiting.is_empty() {
        fill_slots::<P>(&mut waiting, lanes::<S::V>(), &mut slots);
        let passed = work.attempt(simd, &waiting, &slots);
        let mut done = Vec::new();
        for (at, slot) in slots.iter().enumerate() {
            // The slots of a job are in the order of its attempts.
            let is_first = !done.iter().any(|(_, job)| *job == slot.job);
            if is_first && passed >> half_of::<S::V>(at) & 1 == 1 {
                done.push((at, slot.job));
            }
        }
        work.write(simd, &waiting, &done, out);
        let mut at = 0;
        waiting.retain(|job| {
            let is_done = done.iter().any(|(_, done)| *done == at);
            at += 1;
            // No key that was imported needs a hundredth of this number. FIPS 204 appendix C.
            let is_hopeless = !is_done && job.next_attempt > MAX_ATTEMPTS;
            if is_hopeless {
                out.set(job.index, Status::BadKey);
            }
            !is_done && !is_hopeless
        });
    }
}

/// The attempts after which a job fails. The counter of masks has 16 bits.
const MAX_ATTEMPTS: u16 = 8000;

struct SigningInput<'a, P> {
    key: &'a DsaSecret<P>,
    random: &'a [u8; 32],
    mu: [u64; MU_WORDS],
}

/// A job that is not done.
struct SigningJob<'a, P> {
    index: usize,
    key: &'a DsaSecret<P>,
    mu: [u64; MU_WORDS],
    /// The seed of the masks. FIPS 204 algorithm 7, step 7.
    mask_seed: [u64; MASK_SEED_WORDS],
    /// The number of the next attempt, from 0 on.
    next_attempt: u16,
}

impl<P> Drop for SigningJob<'_, P> {
    fn drop(&mut self) {
        self.mask_seed.zeroize();
    }
}

/// The attempt of a lane.
struct AttemptSlot {
    /// The index of the job among those that wait.
    job: usize,
    attempt: u16,
}

/// Gives lanes to the first jobs that wait, and further ones to their next attempts.
fn fill_slots<P>(waiting: &mut [SigningJob<'_, P>], lanes: usize, slots: &mut Vec<AttemptSlot>) {
    slots.clear();
    let count = waiting.len().min(lanes);
    for at in 0..lanes {
        let job = at % count;
        slots.push(AttemptSlot { job, attempt: waiting[job].next_attempt });
        waiting[job].next_attempt += 1;
    }
}

/// The memory of a round of attempts.
struct Signing<S: ShortSimd, P> {
    /// The masks y, and then the vectors z.
    masks: Vec<Poly<S::V>>,
    /// The masks in the transformed domain.
    factors: Vec<Poly<S::V>>,
    /// The low parts of the vector w, and above [`HIGH_SHIFT`] the high ones. Then the low parts of w - c s2.
    parts: Vec<Poly<S::V>>,
    challenge: Challenge,
    /// The challenge in the transformed domain.
    challenge_poly: Vec<Poly<S::V>>,
    product: Poly<S::V>,
    /// The words of mu and of w1.
    commitment: Vec<GroupWords<S::V>>,
    hashes: GroupHashes<S::V>,
    /// For each coefficient of each row the half lanes with hints.
    hints: Vec<[HalfMask; COEFFICIENTS]>,
    /// The words of a mask.
    words: Vec<GroupWords<S::V>>,
    mask_seeds: [GroupWords<S::V>; MASK_SEED_WORDS],
    state: KeccakState<S::V>,
    set: PhantomData<P>,
}

impl<S: ShortSimd, P: DsaSet> Signing<S, P> {
    fn new(simd: S) -> Self {
        let zero = simd.zero();
        let vector = |len| vec![[zero; COEFFICIENTS]; len];
        Self {
            masks: vector(P::L),
            factors: vector(P::L),
            parts: vector(P::K),
            challenge: Challenge::ZERO,
            challenge_poly: vector(1),
            product: [zero; COEFFICIENTS],
            commitment: vec![[zero; GROUPS]; MU_WORDS + P::K * P::HIGH_WORDS],
            hashes: [[zero; GROUPS]; MAX_HASH_WORDS],
            hints: vec![[0; COEFFICIENTS]; P::K],
            words: vec![[zero; GROUPS]; MASK_BLOCKS * RATE_256],
            mask_seeds: [[zero; GROUPS]; MASK_SEED_WORDS],
            state: [zero; STATE_WORDS],
            set: PhantomData,
        }
    }

    /// Hashes the seeds of up to as many jobs as there are lanes. FIPS 204 algorithm 7, step 7.
    fn draw_mask_seeds<'a>(
        &mut self,
        simd: S,
        jobs: &[LaneJob<SigningInput<'a, P>>],
    ) -> Vec<SigningJob<'a, P>> {
        let job = |lane: usize| &jobs[lane.min(jobs.len() - 1)].job;
        let load = |word: &dyn Fn(&SigningInput<'a, P>) -> u64| {
            simd.load(&LaneArray::from_fn(|lane| word(job(lane))))
        };
        self.state = [simd.zero(); STATE_WORDS];
        for at in 0..SEED_WORDS {
            self.state[at] = load(&|job| job.key.mask_seed[at]);
            self.state[SEED_WORDS + at] = load(&|job| words_of::<SEED_WORDS>(job.random)[at]);
        }
        for at in 0..MU_WORDS {
            self.state[2 * SEED_WORDS + at] = load(&|job| job.mu[at]);
        }
        // Suffix and padding share the last word of the block.
        self.state[RATE_256 - 1] = simd.splat(SHAKE_SUFFIX | LAST_BIT);
        permute(simd, &mut self.state);
        let seeds: [_; MASK_SEED_WORDS] = std::array::from_fn(|word| self.state[word].words());
        let with_seed = |(lane, job): (usize, &LaneJob<SigningInput<'a, P>>)| SigningJob {
            index: job.index,
            key: job.job.key,
            mu: job.job.mu,
            mask_seed: seeds.each_ref().map(|words| words.as_ref()[lane]),
            next_attempt: 0,
        };
        jobs.iter().enumerate().map(with_seed).collect()
    }

    /// Makes one attempt in each lane, and returns the half lanes whose attempt has passed.
    fn attempt(&mut self, simd: S, jobs: &[SigningJob<'_, P>], slots: &[AttemptSlot]) -> HalfMask {
        let job = |at: usize| &jobs[slots[at].job];
        self.load_jobs(simd, jobs, slots);
        for column in 0..P::L {
            self.draw_mask(simd, slots, column);
        }
        for row in 0..P::K {
            let rows = RowPolys::new::<S::V>(slots.len(), |at| job(at).key.matrix_row(row));
            multiply(simd, &rows, None, &self.factors, &mut self.product);
            inverse(simd, &mut self.product, SCALE);
            self.split_row(simd, row);
        }
        self.hash_commitments(simd);
        self.challenge.draw::<S, P>(simd, &self.hashes, slots.len());
        self.challenge.write(simd, &mut self.challenge_poly[0]);
        forward(simd, &mut self.challenge_poly[0]);
        let mut large = simd.zero();
        for pair in 0..DsaSecret::<P>::PAIRS {
            let rows = RowPolys::new::<S::V>(slots.len(), |at| job(at).key.pair(pair));
            multiply(simd, &rows, None, &self.challenge_poly, &mut self.product);
            inverse(simd, &mut self.product, SCALE);
            large = large | self.add_pair(simd, pair);
        }
        if declassify(!large.negative32() & all_halves::<S::V>()) == 0 {
            return 0;
        }
        let mut count = simd.zero();
        for row in 0..P::K {
            let rows = RowPolys::new::<S::V>(slots.len(), |at| job(at).key.t0(row));
            multiply(simd, &rows, None, &self.challenge_poly, &mut self.product);
            inverse(simd, &mut self.product, SCALE);
            large = large | self.find_hints(simd, row, &mut count);
        }
        let omega = simd.splat32(P::OMEGA as u32);
        let is_beyond = large | omega.sub32(count);
        // FIPS 204 permits that the time shows which attempts pass.
        declassify(!is_beyond.negative32() & all_halves::<S::V>())
    }

    /// Loads mu and the seed of the masks of the job of every lane.
    fn load_jobs(&mut self, simd: S, jobs: &[SigningJob<'_, P>], slots: &[AttemptSlot]) {
        let Self { mask_seeds, commitment, .. } = self;
        simd.call(
            #[inline(always)]
            || {
                for group in 0..GROUPS {
                    let job = |lane: usize| &jobs[slots[group * S::V::WORDS + lane].job];
                    for (at, (seed, mu)) in mask_seeds.iter_mut().zip(commitment.iter_mut()).enumerate() {
                        seed[group] = simd.load(&LaneArray::from_fn(
                            #[inline(always)]
                            |lane| job(lane).mask_seed[at],
                        ));
                        mu[group] = simd.load(&LaneArray::from_fn(
                            #[inline(always)]
                            |lane| job(lane).mu[at],
                        ));
                    }
                }
            },
        );
    }

    /// Draws polynomial `column` of the masks, and transforms a copy. FIPS 204 algorithm 34.
    fn draw_mask(&mut self, simd: S, slots: &[AttemptSlot], column: usize) {
        let Self { state, words, mask_seeds, masks, factors, .. } = self;
        for group in 0..GROUPS {
            simd.call(
                #[inline(always)]
                || {
                    let suffix = |lane: usize| {
                        let attempt = slots[group * S::V::WORDS + lane].attempt;
                        (usize::from(attempt) * P::L + column) as u64 | SHAKE_SUFFIX << 16
                    };
                    *state = [simd.zero(); STATE_WORDS];
                    for (word, seed) in state.iter_mut().zip(&*mask_seeds) {
                        *word = seed[group];
                    }
                    state[MASK_SEED_WORDS] = simd.load(&LaneArray::from_fn(suffix));
                    state[RATE_256 - 1] = simd.splat(LAST_BIT);
                },
            );
            for block in words.chunks_exact_mut(RATE_256) {
                permute(simd, state);
                simd.call(
                    #[inline(always)]
                    || {
                        for (out, word) in block.iter_mut().zip(&*state) {
                            out[group] = *word;
                        }
                    },
                );
            }
        }
        let mask = &mut masks[column];
        simd.call(
            #[inline(always)]
            || {
                for words in words.iter_mut() {
                    *words = transpose_halves(simd, *words);
                }
                P::for_mask_values(
                    simd,
                    words.as_flattened(),
                    #[inline(always)]
                    |at, value| mask[at] = simd.splat32(P::GAMMA1.cast_unsigned()).sub32(value),
                );
            },
        );
        factors[column] = *mask;
        forward(simd, &mut factors[column]);
    }

    /// Splits a row of w into its parts, and packs the high ones. FIPS 204 algorithm 7, steps 13 to 15.
    fn split_row(&mut self, simd: S, row: usize) {
        let Self { product, parts, commitment, .. } = self;
        let words = &mut commitment[MU_WORDS + row * P::HIGH_WORDS..][..P::HIGH_WORDS];
        let parts = &mut parts[row];
        simd.call(
            #[inline(always)]
            || {
                P::pack_high_values(
                    simd,
                    words.as_flattened_mut(),
                    #[inline(always)]
                    |at| {
                        let (high, low) = decompose::<S, P>(simd, lift(simd, product[at]));
                        parts[at] = low.add32(high.shl32_by(HIGH_SHIFT));
                        high
                    },
                );
                for words in words.iter_mut() {
                    *words = transpose_halves(simd, *words);
                }
            },
        );
    }

    /// Hashes mu and the high parts. FIPS 204 algorithm 7, step 15.
    fn hash_commitments(&mut self, simd: S) {
        let Self { commitment, hashes, state, .. } = self;
        for group in 0..GROUPS {
            *state = [simd.zero(); STATE_WORDS];
            let words = commitment.iter().map(
                #[inline(always)]
                |words| words[group],
            );
            absorb(simd, state, 0, RATE_256, SHAKE_SUFFIX, words);
            for (hash, word) in hashes[..P::HASH_WORDS].iter_mut().zip(&*state) {
                hash[group] = *word;
            }
        }
    }

    /// Adds a product of the challenge with two polynomials of s1 to the masks, or subtracts those of s2 from the low
    /// parts. Returns words whose sign bit is set where a result is too large. FIPS 204 algorithm 7, steps 18 to 23.
    fn add_pair(&mut self, simd: S, pair: usize) -> S::V {
        let Self { product, masks, parts, .. } = self;
        let mut large = simd.zero();
        for part in 0..2 {
            let poly = 2 * pair + part;
            simd.call(
                #[inline(always)]
                || {
                    if let Some(mask) = masks.get_mut(poly) {
                        for (mask, product) in mask.iter_mut().zip(&*product) {
                            *mask = mask.add32(product_of_pair::<S, P>(simd, *product, part));
                            large = large | exceeds(simd, *mask, P::GAMMA1 - P::BETA);
                        }
                    } else if let Some(parts) = parts.get_mut(poly - P::L) {
                        for (parts, product) in parts.iter_mut().zip(&*product) {
                            *parts = parts.sub32(product_of_pair::<S, P>(simd, *product, part));
                            large = large | exceeds(simd, low_part(*parts), P::GAMMA2 - P::BETA);
                        }
                    }
                },
            );
        }
        large
    }

    /// Finds the hints of a row, of whose polynomial of t0 the product with the challenge is there, and counts them.
    /// Returns words whose sign bit is set where the product is too large. FIPS 204 algorithm 7, steps 25 to 28.
    fn find_hints(&mut self, simd: S, row: usize, count: &mut S::V) -> S::V {
        let Self { product, parts, hints, .. } = self;
        let (parts, hints) = (&parts[row], &mut hints[row]);
        let mut large = simd.zero();
        simd.call(
            #[inline(always)]
            || {
                for ((product, parts), hints) in product.iter().zip(parts).zip(hints) {
                    let change = centre(simd, *product);
                    large = large | exceeds(simd, change, P::GAMMA2);
                    let low = low_part(*parts);
                    let hint = make_hint::<S, P>(simd, parts.sub32(low), low, change);
                    *hints = hint.negative32();
                    *count = count.sub32(hint.sar32_by(31));
                }
            },
        );
        large
    }

    /// Writes the signatures of some slots for their jobs. FIPS 204 algorithm 26.
    fn write(&mut self, simd: S, jobs: &[SigningJob<'_, P>], done: &[(usize, usize)], out: &mut Outcomes) {
        if done.is_empty() {
            return;
        }
        let mut index_of = [None; MAX_HALVES];
        for (slot, job) in done {
            index_of[*slot] = Some(jobs[*job].index);
        }
        self.write_words(simd, &index_of, 0, out, |work| work.hashes[..P::HASH_WORDS].to_vec());
        for column in 0..P::L {
            let start = 8 * (P::HASH_WORDS + column * P::MASK_WORDS);
            self.write_words(simd, &index_of, start, out, |work| work.packed_response(simd, column));
        }
        self.write_hints(&index_of, out);
        for (_, job) in done {
            out.set(jobs[*job].index, Status::Done);
        }
    }

    /// Writes the hints of the slots that have a result. FIPS 204 algorithm 20.
    fn write_hints(&self, index_of: &[Option<usize>; MAX_HALVES], out: &mut Outcomes) {
        let start = 8 * (P::HASH_WORDS + P::L * P::MASK_WORDS);
        let (mut written, mut counts) = (0, [0; MAX_HALVES]);
        for (slot, index) in index_of.iter().enumerate() {
            if let Some(index) = index {
                written |= 1 << half_of::<S::V>(slot);
                out.result_mut(*index)[start..].fill(0);
            }
        }
        for (row, hints) in self.hints.iter().enumerate() {
            for (at, hints) in hints.iter().enumerate() {
                // These attempts have passed, so their hints are public.
                let mut left = declassify(hints & written);
                while left != 0 {
                    let slot = job_of::<S::V>(left.trailing_zeros() as usize);
                    if let Some(index) = index_of[slot] {
                        out.result_mut(index)[start + counts[slot]] = at as u8;
                        counts[slot] += 1;
                    }
                    left &= left - 1;
                }
            }
            for (index, count) in index_of.iter().zip(counts) {
                if let Some(index) = index {
                    out.result_mut(*index)[start + P::OMEGA + row] = count as u8;
                }
            }
        }
    }

    /// Returns a packed polynomial of the vectors z.
    fn packed_response(&self, simd: S, column: usize) -> Vec<GroupWords<S::V>> {
        let response = &self.masks[column];
        let mut words = vec![[simd.zero(); GROUPS]; P::MASK_WORDS];
        simd.call(
            #[inline(always)]
            || {
                P::pack_mask_values(
                    simd,
                    words.as_flattened_mut(),
                    #[inline(always)]
                    |at| simd.splat32(P::GAMMA1.cast_unsigned()).sub32(response[at]),
                );
                for words in &mut words {
                    *words = transpose_halves(simd, *words);
                }
            },
        );
        words
    }

    /// Writes words to the results of the slots that have one.
    fn write_words(
        &self,
        simd: S,
        index_of: &[Option<usize>],
        start: usize,
        out: &mut Outcomes,
        words: impl Fn(&Self) -> Vec<GroupWords<S::V>>,
    ) {
        let words = words(self);
        simd.call(
            #[inline(always)]
            || {
                store_words(
                    simd,
                    &words,
                    #[inline(always)]
                    |slot, offset, bytes| {
                        if let Some(index) = index_of[slot] {
                            let result = &mut out.result_mut(index)[start..start + 8 * words.len()];
                            bytes.store_prefix(&mut result[offset..]);
                        }
                    },
                );
            },
        );
    }
}

/// Returns the coefficient of a polynomial's product from that of the product with its pair.
#[inline(always)]
fn product_of_pair<S: ShortSimd, P: DsaSet>(simd: S, product: S::V, part: usize) -> S::V {
    let bits = DsaSecret::<P>::PAIR_BITS;
    let both = centre(simd, product);
    let first = both.shl32_by(32 - bits).sar32_by(32 - bits);
    if part == 0 { first } else { both.sub32(first).sar32_by(bits) }
}

/// Returns the low part of a coefficient that is stored beside its high part.
#[inline(always)]
fn low_part<V: ShortVector>(parts: V) -> V {
    parts.shl32_by(32 - HIGH_SHIFT).sar32_by(32 - HIGH_SHIFT)
}

/// Returns a mask of all half lanes.
const fn all_halves<V: Vector>() -> HalfMask {
    HalfMask::MAX >> (HalfMask::BITS as usize - V::HALVES)
}

impl<S: ShortSimd, P: DsaSet> WipePolicy for Signing<S, P> {
    fn wipe(&mut self) {
        for polys in [&mut self.masks, &mut self.factors, &mut self.parts, &mut self.challenge_poly] {
            polys.iter_mut().for_each(Zeroize::zeroize);
        }
        self.product.zeroize();
        self.commitment.iter_mut().for_each(Zeroize::zeroize);
        self.hashes.zeroize();
        self.hints.iter_mut().for_each(Zeroize::zeroize);
        self.words.iter_mut().for_each(Zeroize::zeroize);
        self.mask_seeds.zeroize();
        self.state.zeroize();
    }
}
