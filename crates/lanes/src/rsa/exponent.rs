//! Powers with a secret exponent, by a fixed window whose table is read whole.

use zeroize::Zeroizing;

use super::montgomery::{Moduli, Number, Scratch, Task, in_turn, number};
use crate::simd::{LANES, Simd, Vector, declassify};

/// Bits of a window.
const WINDOW_BITS: usize = 4;

/// Entries of a table.
const ENTRIES: usize = 1 << WINDOW_BITS;

/// Limbs of an entry that a scan holds in registers; every number has a multiple of it.
const LIMBS_AT_ONCE: usize = 10;

/// Digits of a secret exponent, highest first.
pub(super) type Digits = Zeroizing<Vec<u64>>;

/// The digits of a big-endian exponent of at most so many bits, or None where it is longer. The time depends on lengths only.
pub(super) fn digits(exponent: &[u8], bits: usize) -> Option<Digits> {
    let bit = |at: usize| {
        let byte = exponent.len().checked_sub(1 + at / 8).and_then(|at| exponent.get(at)).copied();
        u64::from(byte.unwrap_or(0) >> (at % 8) & 1)
    };
    let beyond = (bits..8 * exponent.len()).fold(0, |beyond, at| beyond | bit(at));
    let digit =
        |at: usize| (0..WINDOW_BITS).fold(0, |digit, place| digit | bit(at * WINDOW_BITS + place) << place);
    (declassify(beyond) == 0)
        .then(|| Zeroizing::new((0..bits.div_ceil(WINDOW_BITS)).rev().map(digit).collect()))
}

/// Eight powers on their way: `base^exponent`, in Montgomery form.
#[derive(Debug)]
pub(super) struct Power<S: Simd> {
    moduli: Moduli<S>,
    /// The powers 0 to 15 of the base, one after the other.
    table: Number<S>,
    digits: Number<S>,
    /// The power so far, and the one before it.
    value: Number<S>,
    last: Number<S>,
    /// The table's entry for the digit at work.
    entry: Number<S>,
    scratch: Scratch<S>,
}

impl<S: Simd> Power<S> {
    /// Of `one` (R mod n) and a base below `4 n` in Montgomery form. Digits are as many in every lane.
    pub(super) fn new(moduli: Moduli<S>, one: &[S::V], base: &[S::V], digits: [&[u64]; LANES]) -> Self {
        let (simd, limbs) = (moduli.simd(), base.len());
        let mut own = number(simd, digits[0].len());
        simd.call(
            #[inline(always)]
            || super::convert::gather(simd, &digits, &mut own),
        );
        let mut power = Self {
            table: number(simd, ENTRIES * limbs),
            digits: own,
            value: number(simd, limbs),
            last: number(simd, limbs),
            entry: number(simd, limbs),
            scratch: Scratch::new(simd, limbs),
            moduli,
        };
        power.fill(one, base);
        power
    }

    fn fill(&mut self, one: &[S::V], base: &[S::V]) {
        let limbs = base.len();
        self.table[..limbs].copy_from_slice(one);
        self.table[limbs..2 * limbs].copy_from_slice(base);
        for entry in 2..ENTRIES {
            let (known, rest) = self.table.split_at_mut(entry * limbs);
            let of = |entry: usize| &known[entry * limbs..(entry + 1) * limbs];
            if entry % 2 == 0 {
                self.moduli.square(of(entry / 2), &mut rest[..limbs], &mut self.scratch);
            } else {
                self.moduli.product(of(entry - 1), base, &mut rest[..limbs], &mut self.scratch);
            }
        }
    }

    /// Powers of one length, step by step in turn, so that one's carries are hidden under the other's products.
    pub(super) fn run(powers: &mut [Self]) {
        let steps = powers.first().map_or(0, |power| power.digits.len());
        powers.iter_mut().for_each(Self::start);
        for step in 1..steps {
            for _ in 0..WINDOW_BITS {
                in_turn::<S, true>(powers.iter_mut().map(Self::square));
            }
            powers.iter_mut().for_each(|power| power.select(step));
            in_turn::<S, false>(powers.iter_mut().map(Self::multiply));
        }
    }

    fn start(&mut self) {
        self.select(0);
        self.value.copy_from_slice(&self.entry);
    }

    fn square(&mut self) -> Task<'_, S> {
        let Self { moduli, value, last, scratch, .. } = self;
        std::mem::swap(value, last);
        Task { moduli, a: last, b: last, out: value, scratch }
    }

    fn multiply(&mut self) -> Task<'_, S> {
        let Self { moduli, value, last, entry, scratch, .. } = self;
        std::mem::swap(value, last);
        Task { moduli, a: entry, b: last, out: value, scratch }
    }

    /// Reads the whole table, and leaves what the digit names in `entry`.
    fn select(&mut self, step: usize) {
        let (simd, digit) = (self.moduli.simd(), self.digits[step]);
        let limbs = self.entry.len();
        for (at, out) in self.entry.as_chunks_mut::<LIMBS_AT_ONCE>().0.iter_mut().enumerate() {
            let first = at * LIMBS_AT_ONCE;
            simd.call(
                #[inline(always)]
                || *out = scan(simd, &self.table[first..], limbs, digit),
            );
        }
    }

    /// The power in Montgomery form, below `2 n`, with its moduli.
    pub(super) fn into_montgomery(self) -> (Moduli<S>, Number<S>) {
        (self.moduli, self.value)
    }

    /// The power out of Montgomery form, at most n, with its moduli.
    pub(super) fn finish(mut self) -> (Moduli<S>, Number<S>) {
        let simd = self.moduli.simd();
        let mut one = number(simd, self.last.len());
        one[0] = simd.splat(1);
        self.moduli.product(&self.value, &one, &mut self.last, &mut self.scratch);
        (self.moduli, self.last)
    }
}

/// Limbs of the entry that each lane's digit names, of entries `stride` apart.
#[inline(always)]
fn scan<S: Simd>(simd: S, table: &[S::V], stride: usize, digit: S::V) -> [S::V; LIMBS_AT_ONCE] {
    let mut found = [simd.zero(); LIMBS_AT_ONCE];
    for (index, entry) in table.chunks(stride).enumerate() {
        let is_it = digit.is_equal(simd.splat(index as u64));
        let Some(entry) = entry.first_chunk::<LIMBS_AT_ONCE>() else { break };
        for (found, limb) in found.iter_mut().zip(entry) {
            *found = found.or_if(is_it, *limb);
        }
    }
    found
}
