//! FF1 of many records side by side: a block of each of eight records. NIST SP 800-38G 5.1.
//!
//! The ten rounds of a record depend on each other, so one record cannot keep the AES unit busy. Records with the same
//! radix and lengths share a [`Ff1Plan`] and run in step. The halves of their numerals stay numbers from the first
//! round to the last. Numbers above 96 bits take the way of [`ff1::crypt`], one record at a time.
//! `docs/math/ff1.md` explains the arithmetic.

use std::ptr;

use oarlock_core::{Direction, Ff1Radix, Status};
use oarlock_engine_kit::ff1::{self, FF1_ROUNDS, Ff1Sizes};

use super::half::{Half, NarrowHalf, WideHalf};
use super::one_block::encrypted;
use super::rounds::encrypt;
use super::schedule::{AesSchedule, NONE};
use crate::simd::{BLOCK, BlockBytes, BlockSimd, SingleSimd, declassify};

/// The records in flight.
const PLACES: usize = 8;

/// A record to encrypt or decrypt.
#[derive(Clone, Copy)]
pub(super) struct Ff1Record<'a> {
    pub(super) schedule: &'a AesSchedule,
    /// The radix in four bytes.
    pub(super) radix: &'a [u8],
    pub(super) tweak: &'a [u8],
    pub(super) input: &'a [u8],
    /// The offset of the output.
    pub(super) output: usize,
    /// The index of the record, for its status.
    pub(super) index: usize,
}

const IDLE: Ff1Record<'static> =
    Ff1Record { schedule: &NONE, radix: &[], tweak: &[], input: &[], output: 0, index: 0 };

/// Values that records with the same radix and lengths have in common.
struct Ff1Plan {
    sizes: Ff1Sizes,
    /// The first block of the CBC-MAC.
    first_block: BlockBytes,
    /// The way of computing.
    way: PlanKind,
}

#[expect(
    clippy::large_enum_variant,
    reason = "there is one plan at a time, and its tables are read in every round"
)]
enum PlanKind {
    /// Numbers below 2^32.
    Narrow(NarrowHalf),
    /// Numbers below 2^96.
    Wide(WideHalf),
    /// Larger ones.
    General,
}

impl Ff1Plan {
    fn from_record(record: &Ff1Record<'_>) -> Option<Self> {
        let sizes = Ff1Sizes::new(Ff1Radix::from_iv(record.radix)?, record.input.len(), record.tweak.len())?;
        let way = match sizes.number_len() {
            0..=4 => PlanKind::Narrow(NarrowHalf::from_sizes(&sizes)?),
            5..=12 => PlanKind::Wide(WideHalf::from_sizes(&sizes)?),
            _ => PlanKind::General,
        };
        Some(Self { sizes, first_block: sizes.first_block(), way })
    }
}

impl Ff1Record<'_> {
    /// True if two records have the same plan.
    #[inline(always)]
    fn is_like(&self, other: &Self) -> bool {
        (self.input.len(), self.tweak.len()) == (other.input.len(), other.tweak.len())
            && self.radix == other.radix
    }
}

/// Encrypts or decrypts every record of `next`, and calls `fail` with the index of each record that has a numeral which
/// is not below the radix.
pub(super) fn run<'a, S: BlockSimd, const ROUNDS: usize>(
    simd: S,
    direction: Direction,
    mut next: impl FnMut() -> Option<Ff1Record<'a>>,
    output: &mut [u8],
    mut fail: impl FnMut(usize, Status),
) {
    let (mut plan, mut first): (Option<Ff1Plan>, _) = (None, None);
    let mut group = [IDLE; PLACES];
    let mut count = 0;
    loop {
        let record = next();
        let is_like = record.as_ref().is_none_or(|record| count > 0 && record.is_like(&group[0]));
        if count == PLACES || count > 0 && (record.is_none() || !is_like) {
            if let Some(plan) = &plan {
                let work = Ff1Group { plan, direction, records: &group[..count] };
                work.compute::<S, ROUNDS>(simd, &mut first, output, &mut fail);
            }
            if !is_like {
                (plan, first) = (None, None);
            }
            count = 0;
        }
        let Some(record) = record else { return };
        if plan.is_none() {
            plan = Ff1Plan::from_record(&record);
        }
        match plan {
            Some(_) => {
                group[count] = record;
                count += 1;
            }
            // unreachable because the record was accepted
            None => fail(record.index, Status::BadLength),
        }
    }
}

/// The encryption of a plan's first block under the key of the last group, if the group had one key.
type EncryptedFirst<'a> = Option<(&'a AesSchedule, BlockBytes)>;

/// Records with one plan, at most [`PLACES`].
struct Ff1Group<'g, 'a> {
    plan: &'g Ff1Plan,
    direction: Direction,
    records: &'g [Ff1Record<'a>],
}

impl<'a> Ff1Group<'_, 'a> {
    fn compute<S: BlockSimd, const ROUNDS: usize>(
        &self,
        simd: S,
        first: &mut EncryptedFirst<'a>,
        output: &mut [u8],
        fail: &mut impl FnMut(usize, Status),
    ) {
        let sizes = &self.plan.sizes;
        let mut are_good = [false; PLACES];
        for (record, is_good) in self.records.iter().zip(&mut are_good) {
            // Whether a numeral is one at all is public: the status says it.
            *is_good = declassify(sizes.are_numerals(record.input));
            if !*is_good {
                fail(record.index, Status::OutOfRange);
            }
        }
        match &self.plan.way {
            PlanKind::Narrow(half) => self.side_by_side::<S, _, ROUNDS>(simd, half, first, output, &are_good),
            PlanKind::Wide(half) => self.side_by_side::<S, _, ROUNDS>(simd, half, first, output, &are_good),
            PlanKind::General => {
                for (record, _) in self.records.iter().zip(are_good).filter(|(_, is_good)| *is_good) {
                    let result = &mut output[record.output..][..record.input.len()];
                    let encrypt = |block: &mut BlockBytes| {
                        *block = encrypted(simd, record.schedule, KEY_LENS[usize::from(ROUNDS > 10)], block);
                    };
                    let done = ff1::crypt(sizes, self.direction, record.tweak, record.input, result, encrypt);
                    if let Err(status) = done {
                        fail(record.index, status);
                    }
                }
            }
        }
    }

    // A function of its own for each form of numbers, for both directions: the kernels of the rounds are compiled into
    // it.
    #[inline(never)]
    fn side_by_side<S: BlockSimd, H: Half, const ROUNDS: usize>(
        &self,
        simd: S,
        half: &H,
        first: &mut EncryptedFirst<'a>,
        output: &mut [u8],
        are_good: &[bool; PLACES],
    ) {
        simd.call(
            #[inline(always)]
            || {
                let single = simd.single();
                let sizes = &self.plan.sizes;
                let mut keys = [&NONE; PLACES];
                let mut halves = [[H::Number::default(); PLACES]; 2];
                for (index, record) in self.records.iter().enumerate() {
                    keys[index] = record.schedule;
                    let (left, right) = sizes.halves(record.input);
                    (halves[0][index], halves[1][index]) = (half.number(left), half.number(right));
                }
                let starts = self.starts::<S::Single, ROUNDS>(single, &keys, first);
                for step in 0..FF1_ROUNDS {
                    let round = match self.direction {
                        Direction::Encrypt => step,
                        Direction::Decrypt => FF1_ROUNDS - 1 - step,
                    };
                    // Even rounds change the left half and odd ones the right half, so halves never change places.
                    let is_right = round % 2 == 1;
                    let [left, right] = &mut halves;
                    let (source, target) = if is_right { (left, right) } else { (right, left) };
                    let mut states = starts;
                    for index in 0..PLACES {
                        states[index] =
                            states[index] ^ single.block_of_words(half.block(round, source[index]));
                    }
                    states = encrypt::<_, PLACES, ROUNDS>(
                        #[inline(always)]
                        |key| single.load_block(key),
                        states,
                        &keys,
                    );
                    for index in 0..PLACES {
                        let mut stream = [0; BLOCK];
                        single.store_block(states[index], &mut stream);
                        target[index] = match self.direction {
                            Direction::Encrypt => half.add(is_right, target[index], &stream),
                            Direction::Decrypt => half.subtract(is_right, target[index], &stream),
                        };
                    }
                }
                for (index, record) in self.records.iter().enumerate().filter(|(index, _)| are_good[*index]) {
                    let text = &mut output[record.output..][..record.input.len()];
                    let (left, right) = text.split_at_mut(sizes.left() * sizes.numeral_bytes());
                    half.write(halves[0][index], left);
                    half.write(halves[1][index], right);
                }
            },
        );
    }

    /// Returns the CBC-MAC of everything that is the same in all rounds, XORed with the part of the last block that is.
    #[inline(always)]
    fn starts<S: SingleSimd, const ROUNDS: usize>(
        &self,
        simd: S,
        keys: &[&'a AesSchedule; PLACES],
        first: &mut EncryptedFirst<'a>,
    ) -> [S::Block; PLACES] {
        let sizes = &self.plan.sizes;
        let has_one_key = self.records.iter().all(|record| ptr::eq(record.schedule, keys[0]));
        let mut states = match first {
            Some((key, block)) if has_one_key && ptr::eq(*key, keys[0]) => [simd.load_block(block); PLACES],
            _ => {
                let block = simd.load_block(&self.plan.first_block);
                let states = encrypt_all::<S, ROUNDS>(simd, [block; PLACES], keys);
                *first = has_one_key.then(|| {
                    let mut block = [0; BLOCK];
                    simd.store_block(states[0], &mut block);
                    (keys[0], block)
                });
                states
            }
        };
        let tweak_len = self.records.first().map_or(0, |record| record.tweak.len());
        // The number of the round and the number of a half end the last block. If the rest of the tweak does not fit in
        // front of them, it has a block of its own.
        let has_own_block = tweak_len % BLOCK + 1 + sizes.number_len() > BLOCK;
        let blocks = tweak_len / BLOCK + usize::from(has_own_block);
        for at in 0..blocks {
            for (state, record) in states.iter_mut().zip(self.records) {
                *state = *state ^ simd.load_block_at(record.tweak, BLOCK * at);
            }
            states = encrypt_all::<S, ROUNDS>(simd, states, keys);
        }
        if !has_own_block {
            for (state, record) in states.iter_mut().zip(self.records) {
                *state = *state ^ simd.load_block_at(record.tweak, BLOCK * blocks);
            }
        }
        states
    }
}

/// The bytes of the keys with ten and with fourteen rounds.
const KEY_LENS: [usize; 2] = [16, 32];

/// Encrypts a block of each record.
// A function of its own: the rounds of eight blocks are much code, and each form of numbers calls them twice for its
// starts. The ten rounds have the code in their loop.
#[inline(never)]
fn encrypt_all<S: SingleSimd, const ROUNDS: usize>(
    simd: S,
    states: [S::Block; PLACES],
    keys: &[&AesSchedule; PLACES],
) -> [S::Block; PLACES] {
    simd.call(
        #[inline(always)]
        || {
            encrypt::<_, PLACES, ROUNDS>(
                #[inline(always)]
                |key| simd.load_block(key),
                states,
                keys,
            )
        },
    )
}
