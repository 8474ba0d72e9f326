//! One inversion for all lanes of public values. It inverts the product of the lanes by Euclid's algorithm, whose
//! time depends on that product.

use zeroize::Zeroizing;

use super::constants::{LOW_52, minus, small};
use super::element::Element;
use super::interleaved::{Interleaved, part};
use super::ring::{MontgomeryRing, OddModulus};
use crate::simd::{LANES, MulSimd, MulVector, Vector, Words};

impl<S: MulSimd, M: OddModulus<L>, const L: usize, const N: usize> MontgomeryRing<S, M, L, N> {
    /// Replaces each of `all` by its inverse. The values must be public and not zero.
    pub(crate) fn invert_all_public(self, all: &mut [Element<S::V, L, N>]) {
        self.invert_all_by(all, |product| self.invert_public(product));
    }

    /// Computes `1/a` in every lane, in Montgomery form. No lane may be zero.
    ///
    /// The lanes are multiplied up by rotations of 4, 2 and 1 lanes. Each lane also keeps the product of all values
    /// that it met; times the inverse of the whole product, this is its own inverse.
    fn invert_public(self, a: &Element<S::V, L, N>) -> Element<S::V, L, N> {
        self.invert_joined(
            a,
            #[inline(always)]
            |single, joined| {
                let (factor, power) = inverse::<M, L>(joined);
                single.mul(&single.enter(&single.splat(&factor)), &single.splat(&power))
            },
        )
    }

    /// Computes `1/a` in every lane from the inverse of the product of all lanes, which `invert` returns in every lane.
    pub(super) fn invert_joined(
        self,
        a: &Element<S::V, L, N>,
        invert: impl FnOnce(MontgomeryRing<S, M, L, 1>, &[u64; L]) -> Element<S::V, L, 1>,
    ) -> Element<S::V, L, N> {
        let single = MontgomeryRing::<S, M, L, 1>::new(self.simd);
        self.simd.call(
            #[inline(always)]
            || {
                let first: Element<_, L, 1> = a.part(0);
                // With one part this is the first again and stays unused.
                let second: Element<_, L, 1> = a.part(N - 1);
                let mut product = if N == 2 { single.mul(&first, &second) } else { first };
                // After each turn a lane has met twice as many values, so three turns bring all eight together.
                let mut others = single.one();
                for distance in [4, 2, 1] {
                    let turned = turn(self.simd, &product, distance);
                    others = single.mul(&others, &turned);
                    product = single.mul(&product, &turned);
                }
                let joined = Zeroizing::new(first_lane(&single.below_modulus(&product)));
                let inverse = single.mul(&invert(single, &joined), &others);
                let mut inverses = *a;
                for n in 0..N {
                    let part_inverse =
                        if N == 1 { inverse } else { single.mul(&inverse, &a.part(N - 1 - n)) };
                    inverses.set_part(n, &part_inverse);
                }
                inverses
            },
        )
    }
}

/// Returns in each lane the value of the lane `distance` further.
#[inline(always)]
fn turn<S: MulSimd, const L: usize>(
    simd: S,
    element: &Element<S::V, L, 1>,
    distance: usize,
) -> Element<S::V, L, 1> {
    let mut turned = *element;
    for limb in &mut turned.0 {
        let words: Words = limb.0[0].words();
        *limb = Interleaved([simd.load(&std::array::from_fn(|lane| words[(lane + distance) % LANES]))]);
    }
    turned
}

#[inline(always)]
fn first_lane<V: MulVector, const L: usize>(element: &Element<V, L, 1>) -> [u64; L] {
    part::<V, L, 1, 1>(&element.0, 0).map(|limb| limb.0[0].words()[0])
}

/// Returns two plain integers below m and R whose product is `R^2/a mod m`. For a Montgomery form `a = x R`, this is
/// the Montgomery form of `1/x`. `a` must be in (0, m).
///
/// This is phase one of Kaliski, "The Montgomery inverse and its applications", which here shifts out all zeros at
/// once. It starts with u = m, v = a, r = 0, s = 1. The invariants are `a r = -u 2^k` and `a s = v 2^k` mod m, and
/// `m = u s + v r`. At the end u is the greatest common divisor, 1. So `1/a = -r 2^-k`, and k is between the bits of
/// m and twice as many. Then r is doubled until R^2/2^k is below R.
fn inverse<M: OddModulus<L>, const L: usize>(a: &[u64; L]) -> ([u64; L], [u64; L]) {
    let (mut u, mut v) = (words(&M::LIMBS), words(a));
    let (mut r, mut s) = (words(&[0; L]), words(&small(1)));
    let mut k = shift_out(&mut v, &mut r);
    while v != [0; L] {
        if is_below(&v, &u) {
            subtract(&mut u, &v);
            add(&mut r, &s);
            k += shift_out(&mut u, &mut s);
        } else {
            subtract(&mut v, &u);
            add(&mut s, &r);
            // Zero has no lowest set bit to shift to. The phase ends with one more doubling, as Kaliski's does.
            if v == [0; L] {
                shift_left(&mut r, 1);
                k += 1;
            } else {
                k += shift_out(&mut v, &mut r);
            }
        }
    }
    debug_assert_eq!(u, words(&small(1)), "the modulus is not a prime, or a is zero");
    let m = words(&M::LIMBS);
    let reduce = |r: &mut [u64; L]| {
        // The values are public, so this may branch.
        if !is_below(r, &m) {
            subtract(r, &m);
        }
    };
    reduce(&mut r);
    // The power must be below R to be a plain factor.
    while k <= 52 * L {
        shift_left(&mut r, 1);
        reduce(&mut r);
        k += 1;
    }
    let mut power = [0; L];
    power[(104 * L - k) / 52] = 1 << ((104 * L - k) % 52);
    (minus(&M::LIMBS, &limbs(&r)).0, power)
}

/// Converts limbs to 64-bit words.
#[inline(always)]
fn words<const L: usize>(limbs: &[u64; L]) -> [u64; L] {
    let mut words = [0; L];
    for (at, limb) in limbs.iter().enumerate() {
        let (word, bit) = (52 * at / 64, 52 * at % 64);
        words[word] |= limb << bit;
        // 64 - 52 = 12: a limb that begins later reaches into the next word.
        if bit > 12 && word + 1 < L {
            words[word + 1] |= limb >> (64 - bit);
        }
    }
    words
}

/// Converts 64-bit words to limbs.
#[inline(always)]
fn limbs<const L: usize>(words: &[u64; L]) -> [u64; L] {
    let mut limbs = [0; L];
    for (at, limb) in limbs.iter_mut().enumerate() {
        let (word, bit) = (52 * at / 64, 52 * at % 64);
        *limb = words[word] >> bit;
        if bit > 12 && word + 1 < L {
            *limb |= words[word + 1] << (64 - bit);
        }
        *limb &= LOW_52;
    }
    limbs
}

/// Divides `even`, which is not zero, by its power of two 2^z, multiplies `other` by it, and returns z.
#[inline(always)]
fn shift_out<const L: usize>(even: &mut [u64; L], other: &mut [u64; L]) -> usize {
    let mut all = 0;
    loop {
        // A shift by 64 is undefined for words. A lowest word of zero takes two rounds.
        let zeros = even[0].trailing_zeros().min(63);
        if zeros == 0 {
            return all;
        }
        shift_right(even, zeros);
        shift_left(other, zeros);
        all += zeros as usize;
    }
}

#[inline(always)]
fn shift_right<const L: usize>(a: &mut [u64; L], bits: u32) {
    for at in 0..L {
        let above = if at + 1 < L { a[at + 1] } else { 0 };
        // In two steps, because `above << 64` would overflow if `bits` is zero.
        a[at] = a[at] >> bits | above << 1 << (63 - bits);
    }
}

#[inline(always)]
fn shift_left<const L: usize>(a: &mut [u64; L], bits: u32) {
    for at in (0..L).rev() {
        let below = if at > 0 { a[at - 1] } else { 0 };
        a[at] = a[at] << bits | below >> 1 >> (63 - bits);
    }
}

#[inline(always)]
fn is_below<const L: usize>(a: &[u64; L], b: &[u64; L]) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

#[inline(always)]
fn add<const L: usize>(a: &mut [u64; L], b: &[u64; L]) {
    let mut carry = false;
    for at in 0..L {
        let (sum, first) = a[at].overflowing_add(b[at]);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        (a[at], carry) = (sum, first | second);
    }
}

#[inline(always)]
fn subtract<const L: usize>(a: &mut [u64; L], b: &[u64; L]) {
    let mut borrow = false;
    for at in 0..L {
        let (difference, first) = a[at].overflowing_sub(b[at]);
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        (a[at], borrow) = (difference, first | second);
    }
}
