//! Powers with a secret exponent, by a fixed window whose table is read whole.

use zeroize::Zeroizing;

use super::factor::{ENTRIES, Factor, Itself, Picked, Plain, WINDOW_BITS};
use super::montgomery::{Moduli, Number, PAIRED, Scratch, Task, in_turn, number};
use crate::simd::{LANES, Simd, declassify};

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
    /// The powers 0 to 15 of the base: their lowest limbs, then their next, and so on.
    table: Number<S>,
    digits: Number<S>,
    /// The power so far, and the one before it.
    value: Number<S>,
    last: Number<S>,
    /// An entry of the table.
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
        self.value.copy_from_slice(one);
        self.enter(0);
        self.value.copy_from_slice(base);
        self.enter(1);
        for entry in 2..ENTRIES {
            std::mem::swap(&mut self.value, &mut self.last);
            self.moduli.product(&self.last, base, &mut self.value, &mut self.scratch);
            self.enter(entry);
        }
    }

    fn enter(&mut self, entry: usize) {
        for (limb, entries) in self.value.iter().zip(self.table.chunks_exact_mut(ENTRIES)) {
            entries[entry] = *limb;
        }
    }

    /// Powers of one length, step by step in turn, so that one's carries are hidden under the other's products.
    pub(super) fn run(powers: &mut [Self]) {
        let steps = powers.first().map_or(0, |power| power.digits.len());
        powers.iter_mut().for_each(Self::start);
        for step in 1..steps {
            for _ in 0..WINDOW_BITS {
                in_turn(powers.iter_mut().map(Self::square));
            }
            if powers.iter().any(|power| power.value.len() == PAIRED) {
                powers.iter_mut().for_each(|power| power.scan(step));
                in_turn(powers.iter_mut().map(Self::multiply_by_entry));
            } else {
                in_turn(powers.iter_mut().map(|power| power.multiply(step)));
            }
        }
    }

    fn start(&mut self) {
        self.scan(0);
        self.value.copy_from_slice(&self.entry);
    }

    /// Reads the whole table, and leaves what the digit names in `entry`. Where rows are short, the load ports have no time
    /// for this beside them.
    fn scan(&mut self, step: usize) {
        let Self { moduli, table, digits, entry, .. } = self;
        let simd = moduli.simd();
        simd.call(
            #[inline(always)]
            || {
                let picked = Picked::new(table, digits[step], |bit| simd.splat(1 << bit));
                for (at, limb) in entry.iter_mut().enumerate() {
                    *limb = picked.limb(at);
                }
            },
        );
    }

    fn square(&mut self) -> Task<'_, S, Itself<'_, S::V>> {
        let Self { moduli, value, last, scratch, .. } = self;
        std::mem::swap(value, last);
        Task { moduli, a: Itself(last), b: last, out: value, scratch }
    }

    fn multiply_by_entry(&mut self) -> Task<'_, S, Plain<'_, S::V>> {
        let Self { moduli, value, last, entry, scratch, .. } = self;
        std::mem::swap(value, last);
        Task { moduli, a: Plain(entry), b: last, out: value, scratch }
    }

    fn multiply(&mut self, step: usize) -> Task<'_, S, Picked<'_, S::V>> {
        let Self { moduli, table, digits, value, last, scratch, .. } = self;
        std::mem::swap(value, last);
        let simd = moduli.simd();
        let picked = simd.call(
            #[inline(always)]
            || Picked::new(table, digits[step], |bit| simd.splat(1 << bit)),
        );
        Task { moduli, a: picked, b: last, out: value, scratch }
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
