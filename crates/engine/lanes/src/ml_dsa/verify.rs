//! Verification. FIPS 204 algorithm 8. All values are public.

use std::marker::PhantomData;

use oarlock_core::{Operation, Outcomes, SecondInput, Shape, Status};
use oarlock_engine_kit::VerifyTableCache;

use super::challenge::{Challenge, GroupHashes, MAX_HASH_WORDS};
use super::reduce::lift;
use super::rounding::{exceeds, use_hint};
use super::rows::{KeptPoly, RowPolys, multiply};
use super::table::{DROPPED_BITS, DsaTable, SEED_LEN, T1_LEN};
use super::transform::{forward, inverse, inverse_scale};
use super::uniform::{SEED_WORDS, draw_polys};
use super::{COEFFICIENTS, DsaSet, GROUPS, GroupWords, MU_WORDS, Poly, half_of, lanes};
use crate::batch::{LaneJob, accept};
use crate::keccak::{RATE_256, SHAKE_SUFFIX, STATE_WORDS, absorb};
use crate::lattice::units::{Halves, for_values, transpose_halves};
use crate::lattice::words::load_words;
use crate::scratch::{ThreadScratch, WipePolicy};
use crate::simd::{HalfMask, ShortSimd, ShortVector, Vector};

/// The words of a packed polynomial of t1.
const T1_WORDS: usize = T1_LEN / 8;

struct VerifyJob<'a> {
    public: &'a [u8],
    mu: &'a [u8],
    signature: &'a [u8],
}

/// Verifies every job. It is fastest if all jobs of a group have one key, and much slower for keys without tables.
pub(super) fn run<S: ShortSimd, P: DsaSet>(
    simd: S,
    cache: &VerifyTableCache,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) {
    let jobs = accept(Shape::MlDsaVerify { set: P::SET }, operations, out, read::<P>);
    let keys = jobs.iter().map(|accepted| operations[accepted.index].key);
    let tables = cache.tables(keys, move |public| DsaTable::<P>::build(simd, public));
    let (mut without, mut with_table, mut tables_of) = (Vec::new(), Vec::new(), Vec::new());
    for (at, accepted) in jobs.into_iter().enumerate() {
        match tables.get(at) {
            Some(table) => {
                with_table.push(accepted);
                tables_of.push(table);
            }
            None => without.push(accepted),
        }
    }
    let mut work = ThreadScratch::take(|| Verification::<S, P>::new(simd));
    for (group, tables) in with_table.chunks(lanes::<S::V>()).zip(tables_of.chunks(lanes::<S::V>())) {
        work.run(simd, group, Some(tables), out);
    }
    for group in without.chunks(lanes::<S::V>()) {
        work.run(simd, group, None, out);
    }
}

fn read<'a, P: DsaSet>(operation: &'a Operation<'a>) -> Result<VerifyJob<'a>, Status> {
    let SecondInput::Signature(signature) = operation.extra else { return Err(Status::Malformed) };
    let (_, public) = operation.key.ml_dsa_public().ok_or(Status::BadKey)?;
    if public.len() != P::SET.public_len() {
        return Err(Status::BadKey);
    }
    if signature.len() != P::SET.signature_len() {
        return Err(Status::BadLength);
    }
    Ok(VerifyJob { public, mu: operation.input, signature })
}

/// The memory of a group of jobs.
struct Verification<S: ShortSimd, P> {
    /// The words of the signatures without hints, and then the units of z.
    signatures: Vec<GroupWords<S::V>>,
    /// The vector z and the challenge, in the transformed domain.
    factors: Vec<Poly<S::V>>,
    /// The product with a row.
    product: Poly<S::V>,
    /// For each coefficient of each row the half lanes with hints.
    hints: Vec<[HalfMask; COEFFICIENTS]>,
    challenge: Challenge,
    /// The words of mu and of w1.
    commitment: Vec<GroupWords<S::V>>,
    /// A row of the matrix of each job, for keys without tables.
    row: Vec<KeptPoly>,
    set: PhantomData<P>,
}

impl<S: ShortSimd, P: DsaSet> Verification<S, P> {
    fn new(simd: S) -> Self {
        let zero = simd.zero();
        Self {
            signatures: vec![[zero; GROUPS]; P::HASH_WORDS + P::L * P::MASK_WORDS],
            factors: vec![[zero; COEFFICIENTS]; P::L + 1],
            product: [zero; COEFFICIENTS],
            hints: vec![[0; COEFFICIENTS]; P::K],
            challenge: Challenge::ZERO,
            commitment: vec![[zero; GROUPS]; MU_WORDS + P::K * P::HIGH_WORDS],
            row: vec![[0; COEFFICIENTS / 2]; lanes::<S::V>() * P::L],
            set: PhantomData,
        }
    }

    fn run(
        &mut self,
        simd: S,
        group: &[LaneJob<VerifyJob<'_>>],
        tables: Option<&[&DsaTable<P>]>,
        out: &mut Outcomes,
    ) {
        let job = |at: usize| &group[at.min(group.len() - 1)].job;
        simd.call(
            #[inline(always)]
            || {
                load_words(simd, &mut self.signatures, |at| job(at).signature);
                load_words(simd, &mut self.commitment[..MU_WORDS], |at| job(at).mu);
            },
        );
        let mut hashes: GroupHashes<S::V> = [[simd.zero(); GROUPS]; MAX_HASH_WORDS];
        hashes[..P::HASH_WORDS].copy_from_slice(&self.signatures[..P::HASH_WORDS]);
        let mut rejected = self.read_hints(group);
        rejected |= self.read_responses(simd);
        self.challenge.draw::<S, P>(simd, &hashes, group.len());
        self.challenge.write(simd, &mut self.factors[P::L]);
        forward(simd, &mut self.factors[P::L]);
        match tables {
            Some(tables) => {
                let scale = inverse_scale(0);
                for row in 0..P::K {
                    let rows = RowPolys::new::<S::V>(group.len(), |job| tables[job].row(row));
                    multiply(simd, &rows, None, &self.factors, &mut self.product);
                    inverse(simd, &mut self.product, scale);
                    self.round_row(simd, row);
                }
            }
            None => self.multiply_cold(simd, group),
        }
        rejected |= self.differing(simd, &hashes);
        for (at, job) in group.iter().enumerate() {
            let is_valid = rejected >> half_of::<S::V>(at) & 1 == 0;
            out.set(job.index, if is_valid { Status::Done } else { Status::Rejected });
        }
    }

    /// Reads the hints, and returns the half lanes of jobs whose hints are malformed. FIPS 204 algorithm 21.
    fn read_hints(&mut self, group: &[LaneJob<VerifyJob<'_>>]) -> HalfMask {
        self.hints.fill([0; COEFFICIENTS]);
        let mut malformed = 0;
        for (at, job) in group.iter().enumerate() {
            let bit = 1 << half_of::<S::V>(at);
            let hints = &job.job.signature[8 * (P::HASH_WORDS + P::L * P::MASK_WORDS)..];
            let (positions, ends) = hints.split_at(P::OMEGA);
            let mut start = 0;
            let are_read = ends.iter().zip(&mut self.hints).all(|(end, row)| {
                let end = usize::from(*end);
                let Some(positions) = positions.get(start..end) else { return false };
                start = end;
                for position in positions {
                    row[usize::from(*position)] |= bit;
                }
                positions.is_sorted_by(|one, next| one < next)
            });
            if !are_read || positions[start..].iter().any(|position| *position != 0) {
                malformed |= bit;
            }
        }
        malformed
    }

    /// Reads the vector z and transforms it. Returns the half lanes of jobs that have too large a coefficient. FIPS 204
    /// algorithm 27, and algorithm 8, step 13.
    fn read_responses(&mut self, simd: S) -> HalfMask {
        let Self { signatures, factors, .. } = self;
        let mut large = simd.zero();
        let words = signatures[P::HASH_WORDS..].chunks_exact_mut(P::MASK_WORDS);
        for (words, poly) in words.zip(factors) {
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
                        |at, value| {
                            let z = simd.splat32(P::GAMMA1.cast_unsigned()).sub32(value);
                            large = large | exceeds(simd, z, P::GAMMA1 - P::BETA);
                            poly[at] = z;
                        },
                    );
                },
            );
            forward(simd, poly);
        }
        large.negative32()
    }

    /// Computes all rows for keys without tables, of which one row at a time is expanded. FIPS 204 algorithm 8, steps 5
    /// and 9.
    fn multiply_cold(&mut self, simd: S, group: &[LaneJob<VerifyJob<'_>>]) {
        let job = |at: usize| &group[at.min(group.len() - 1)].job;
        let mut seeds = [[simd.zero(); GROUPS]; SEED_WORDS];
        simd.call(
            #[inline(always)]
            || load_words(simd, &mut seeds, |at| job(at).public),
        );
        let mut t = [simd.zero(); COEFFICIENTS];
        // These keys are not times 2^32.
        let scale = inverse_scale(32);
        for row in 0..P::K {
            for first in (0..group.len()).step_by(S::V::WORDS) {
                let seeds = seeds.map(|seeds| seeds[first / S::V::WORDS]);
                let count = S::V::WORDS.min(group.len() - first);
                let mut polys = [[0; COEFFICIENTS / 2]; 8];
                for column in 0..P::L {
                    draw_polys(simd, &seeds, |_| (row, column), &mut polys[..count]);
                    for (lane, poly) in polys[..count].iter().enumerate() {
                        self.row[(first + lane) * P::L + column] = *poly;
                    }
                }
            }
            read_negative_t(simd, |at| &job(at).public[SEED_LEN + T1_LEN * row..], &mut t);
            let rows = RowPolys::new::<S::V>(group.len(), |job| &self.row[job * P::L..(job + 1) * P::L]);
            multiply(simd, &rows, Some(&t), &self.factors, &mut self.product);
            inverse(simd, &mut self.product, scale);
            self.round_row(simd, row);
        }
    }

    /// Corrects a row by its hints, and packs its high parts. FIPS 204 algorithm 8, steps 10 and 12.
    fn round_row(&mut self, simd: S, row: usize) {
        let Self { product, hints, commitment, .. } = self;
        let words = &mut commitment[MU_WORDS + row * P::HIGH_WORDS..][..P::HIGH_WORDS];
        let hints = &hints[row];
        simd.call(
            #[inline(always)]
            || {
                P::pack_high_values(
                    simd,
                    words.as_flattened_mut(),
                    #[inline(always)]
                    |at| use_hint::<S, P>(simd, hints[at], lift(simd, product[at])),
                );
                for words in words.iter_mut() {
                    *words = transpose_halves(simd, *words);
                }
            },
        );
    }

    /// Hashes the commitments, and returns the half lanes of jobs whose hash differs. FIPS 204 algorithm 8, steps 12
    /// and 13.
    fn differing(&self, simd: S, hashes: &GroupHashes<S::V>) -> HalfMask {
        let mut differing = 0;
        for group in 0..GROUPS {
            let mut state = [simd.zero(); STATE_WORDS];
            let words = self.commitment.iter().map(
                #[inline(always)]
                |words| words[group],
            );
            absorb(simd, &mut state, 0, RATE_256, SHAKE_SUFFIX, words);
            let words = state.iter().zip(&hashes[..P::HASH_WORDS]);
            let different = words.fold(simd.zero(), |all, (word, hash)| all | (*word ^ hash[group]));
            for (lane, word) in different.words().as_ref().iter().enumerate() {
                differing |= HalfMask::from(*word != 0) << (GROUPS * lane + group);
            }
        }
        differing
    }
}

/// Reads -t1 2^13 of every job, and transforms it.
fn read_negative_t<'a, S: ShortSimd>(simd: S, t1: impl Fn(usize) -> &'a [u8], poly: &mut Poly<S::V>) {
    simd.call(
        #[inline(always)]
        || {
            let mut words = [[simd.zero(); GROUPS]; T1_WORDS];
            load_words(simd, &mut words, t1);
            for words in &mut words {
                *words = transpose_halves(simd, *words);
            }
            for_values::<S, Halves, 10>(
                simd,
                words.as_flattened(),
                #[inline(always)]
                |at, value| poly[at] = simd.zero().sub32(value.shl32_by(DROPPED_BITS)),
            );
        },
    );
    forward(simd, poly);
}

impl<S: ShortSimd, P: DsaSet> WipePolicy for Verification<S, P> {
    /// Nothing here is secret.
    fn wipe(&mut self) {}
}
