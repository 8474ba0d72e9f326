//! Computation of `input^d mod n` by the Chinese remainder theorem, RFC 8017 5.1.2 and 5.2.1: `m_p = c^dp mod p`,
//! `m_q = c^dq mod q`, `h = (m_p - m_q) qinv mod p`, `m = m_q + q h`. No branch, index or length depends on the key
//! or the input, except for the length of the modulus. Results are not confirmed here: the dispatcher does so with
//! public operations.

use std::marker::PhantomData;

use oarlock_core::{KeyParts, Operation, Outcomes, RsaPrivateParts, Shape, Status};

use super::convert::Staging;
use super::exponent::{Digits, PowerGroups, digits};
use super::leaf::{RsaLeaf, RsaStreams};
use super::memory::{FreeSpans, SpanMemory, VectorSpan};
use super::number::{self as integer, Limbs};
use super::{check_range, per_lane, write_results};
use crate::batch::accept;

/// The prepared form of a key for a leaf, in words of the leaf. They zeroize themselves.
struct PrivateKey<L> {
    /// The number of limbs of a prime.
    limbs: usize,
    p: PrimeHalf,
    q: PrimeHalf,
    /// `q^-1 mod p`.
    coefficient: Limbs,
    leaf: PhantomData<L>,
}

/// One prime with its exponent.
struct PrimeHalf {
    modulus: Limbs,
    /// -p^-1.
    inverse: Limbs,
    /// The residues R, R^2 and R^3 modulo the prime.
    radix: [Limbs; 3],
    digits: Digits,
}

struct PrivateJob<'a, L> {
    key: &'a PrivateKey<L>,
    input: &'a [u8],
}

impl<L> PrivateKey<L> {
    /// Prepares a key. Rejects parts that are too long or even, and primes whose product is not n. Other defects of
    /// a key show when its results are confirmed.
    fn new<const N: usize>(parts: &RsaPrivateParts) -> Result<Self, Status>
    where
        L: RsaLeaf<N>,
    {
        // Both primes get half the bits, rounded up. A longer prime would need other steps than the shape's.
        let half = usize::from(parts.public.bits()).div_ceil(2);
        let limbs = L::limbs_for(half).ok_or(Status::BadKey)?;
        let integer_limbs = L::integer_limbs(limbs);
        let (p, q) = (parts.p.expose(), parts.q.expose());
        let (p, q) = (prime_of(p, half, integer_limbs)?, prime_of(q, half, integer_limbs)?);
        let n = integer::from_bytes(&parts.public.n, 2 * integer_limbs).ok_or(Status::BadKey)?;
        let coefficient = integer::from_bytes(parts.qinv.expose(), integer_limbs).ok_or(Status::BadKey)?;
        // The recombination is only right for the primes of n. Whether p is prime is not checked: a result that is not
        // right fails the dispatcher's confirmation.
        if !integer::is_equal(&integer::product(&p, &q), &n) || !integer::is_below(&coefficient, &p) {
            return Err(Status::BadKey);
        }
        Ok(Self {
            limbs,
            p: PrimeHalf::new::<L, N>(&p, parts.dp.expose(), half, limbs)?,
            q: PrimeHalf::new::<L, N>(&q, parts.dq.expose(), half, limbs)?,
            coefficient: L::stored(&coefficient, limbs),
            leaf: PhantomData,
        })
    }
}

/// Reads an odd prime above 1 of at most `bits` bits.
fn prime_of(prime: &[u8], bits: usize, limbs: usize) -> Result<Limbs, Status> {
    let prime = integer::from_bytes(prime, limbs).ok_or(Status::BadKey)?;
    let one = integer::from_bytes(&[1], limbs).ok_or(Status::BadKey)?;
    let longest = integer::power_of_two(bits, limbs);
    let fits =
        integer::is_odd(&prime) && integer::is_below(&one, &prime) && integer::is_below(&prime, &longest);
    fits.then_some(prime).ok_or(Status::BadKey)
}

impl PrimeHalf {
    fn new<L: RsaLeaf<N>, const N: usize>(
        prime: &[u64],
        exponent: &[u8],
        bits: usize,
        limbs: usize,
    ) -> Result<Self, Status> {
        let digits = digits(exponent, bits, L::WINDOW_BITS).ok_or(Status::BadKey)?;
        // Primes are secret, so these constants come from constant-time arithmetic and not from a division.
        let radix = L::radix_powers(prime, limbs).map(|power| L::stored(&power, limbs));
        let inverse = L::stored_inverse(prime, limbs);
        Ok(Self { modulus: L::stored(prime, limbs), inverse, radix, digits })
    }
}

/// Computes jobs of a private shape, `N` at a time. The halves of the `N` keys take turns step by step.
pub(crate) fn private<L: RsaLeaf<N>, const N: usize>(
    leaf: L,
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) {
    let jobs = accept(shape, operations, out, read::<L, N>);
    let Some(first) = jobs.first() else { return };
    // The shape fixes both numbers, so they are those of every job.
    let (limbs, digits) = (first.job.key.limbs, first.job.key.p.digits.len());
    let spans = PowerGroups::<L, N>::spans(limbs, digits, 2).chain(CrtHalves::<L, N>::spans(limbs));
    let mut memory = SpanMemory::new(leaf, spans);
    let mut halves = CrtHalves::new(leaf, limbs, digits, &mut memory.free_spans());
    let mut staging = Staging::new(leaf, limbs, shape.output_len());
    for group in jobs.chunks(N) {
        staging.read(per_lane(group, |job| job.input), halves.input);
        halves.transform(per_lane(group, |job| job.key));
        write_results(group, halves.result, &mut staging, out);
    }
}

fn read<'a, L: RsaLeaf<N>, const N: usize>(
    operation: &'a Operation<'a>,
) -> Result<PrivateJob<'a, L>, Status> {
    let Some(KeyParts::RsaPrivate(parts)) = operation.key.parts() else { return Err(Status::BadKey) };
    check_range(operation.input, &parts.public.n)?;
    Ok(PrivateJob { key: operation.key.prepared(|_| PrivateKey::new::<N>(parts))?, input: operation.input })
}

/// The powers modulo p and q, with their inputs and results.
struct CrtHalves<'m, L: RsaLeaf<N>, const N: usize> {
    leaf: L,
    powers: PowerGroups<'m, L, N>,
    /// The inputs, with twice as many limbs as a prime.
    input: &'m mut [L::Limb],
    result: &'m mut [L::Limb],
    /// One number for each half.
    halves: [&'m mut [L::Limb]; 2],
}

impl<'m, L: RsaLeaf<N>, const N: usize> CrtHalves<'m, L, N> {
    /// Returns the memory in addition to that of the powers.
    fn spans(limbs: usize) -> [VectorSpan; 4] {
        [2 * limbs, 2 * limbs, limbs, limbs].map(VectorSpan::anywhere)
    }

    fn new(leaf: L, limbs: usize, digits: usize, spans: &mut FreeSpans<'m, L::Limb>) -> Self {
        let powers = PowerGroups::new(leaf, limbs, digits, 2, spans);
        let [input, result, p, q] = spans.take(Self::spans(limbs));
        Self { leaf, powers, input, result, halves: [p, q] }
    }

    /// Computes the result of the input under `N` keys.
    fn transform(&mut self, keys: [&PrivateKey<L>; N]) {
        let primes = [keys.map(|key| &key.p), keys.map(|key| &key.q)];
        self.enter_montgomery(primes);
        self.powers.raise(&primes.map(|primes| primes.map(|prime| &prime.radix[0][..])));
        self.recombine(keys);
    }

    /// Brings the input into Montgomery form. The input is `low + high R`, so its form is `low R^2 / R + high R^3 /
    /// R`.
    fn enter_montgomery(&mut self, primes: [[&PrimeHalf; N]; 2]) {
        let Self { leaf, powers, input, halves, .. } = self;
        for (at, primes) in primes.iter().enumerate() {
            let inverses = primes.map(|prime| &prime.inverse[..]);
            powers.streams.set_modulus(at, primes.map(|prime| &prime.modulus[..]), inverses);
            powers.set_exponents(at, primes.map(|prime| &prime.digits[..]));
        }
        // The input has the length of n and is above the primes. Splitting it at R avoids a division.
        let (low, high) = input.split_at(halves[0].len());
        for (input, power) in [(low, 1), (high, 2)] {
            for (at, half) in halves.iter_mut().enumerate() {
                half.copy_from_slice(powers.streams.value(at));
                powers.streams.value_mut(at).0.copy_from_slice(input);
            }
            powers.multiply_by_constants(&primes.map(|primes| primes.map(|prime| &prime.radix[power][..])));
        }
        for (at, low) in halves.iter().enumerate() {
            leaf.add(powers.streams.value_mut(at).0, low);
        }
    }

    /// Computes `m_q + q h` with `h = (m_p - m_q) qinv mod p`. `m_p` is a product in Montgomery form, and
    /// `m_q` is reduced.
    fn recombine(&mut self, keys: [&PrivateKey<L>; N]) {
        let Self { leaf, powers, halves: [m_p, m_q], result, .. } = self;
        m_p.copy_from_slice(powers.streams.value(0));
        m_q.copy_from_slice(powers.leave_montgomery(1));
        let (value, _) = powers.streams.value_mut(0);
        value.copy_from_slice(m_q);
        // m_q below q can exceed p. A product with R^2 brings it into Montgomery form modulo p.
        powers.multiply_by_constant(0, keys.map(|key| &key.p.radix[1][..]));
        let (value, p) = powers.streams.value_mut(0);
        // The difference of two products is a factor.
        leaf.subtract_from(value, m_p, p);
        // The coefficient is plain, so this product also leaves Montgomery form.
        powers.multiply_by_constant(0, keys.map(|key| &key.coefficient[..]));
        let (h, p) = powers.streams.value_mut(0);
        leaf.reduce(h, p);
        leaf.multiply_add(powers.streams.modulus(1), powers.streams.value(0), m_q, result);
    }
}

/// Prints no part of the key.
impl<L> std::fmt::Debug for PrivateKey<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PrivateKey({} limbs)", self.limbs)
    }
}
