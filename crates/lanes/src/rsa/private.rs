//! Computation of `input^d mod n` by the Chinese remainder theorem, RFC 8017 5.1.2 and 5.2.1: `m_p = c^dp mod p`,
//! `m_q = c^dq mod q`, `h = (m_p - m_q) qinv mod p`, `m = m_q + q h`. No branch, index or length depends on the key
//! or the input, except for the length of the modulus. Results are not confirmed here: the dispatcher does so with
//! public operations.

use oarlock_core::{KeyParts, Operation, Outcomes, RsaPrivateParts, Shape, Status};

use super::convert::{Staging, gather_into};
use super::exponent::{Digits, PowerGroups, digits};
use super::memory::{FreeSpans, SpanMemory, VectorSpan};
use super::number::{self as integer, Limbs};
use super::streams::limbs_for;
use super::{carry, check_range, write_results};
use crate::batch::{accept, per_lane};
use crate::simd::{LANES, MulSimd};

/// The prepared form of a key. Limbs zeroize themselves. Numbers are padded to a multiple of eight words.
struct PrivateKey {
    /// The number of limbs of a prime without padding.
    limbs: usize,
    p: PrimeHalf,
    q: PrimeHalf,
    /// `q^-1 mod p`.
    coefficient: Limbs,
}

/// One prime with its exponent.
struct PrimeHalf {
    modulus: Limbs,
    /// -p^-1 mod 2^52.
    inverse: u64,
    /// The residues R, R^2 and R^3 modulo the prime.
    radix: [Limbs; 3],
    digits: Digits,
}

struct PrivateJob<'a> {
    key: &'a PrivateKey,
    input: &'a [u8],
}

impl PrivateKey {
    /// Prepares a key. Rejects parts that are too long or even, and primes whose product is not n. Other defects of
    /// a key show when its results are confirmed.
    fn new(parts: &RsaPrivateParts) -> Result<Self, Status> {
        // Both primes get half the bits, rounded up. A longer prime would need other steps than the shape's.
        let half = usize::from(parts.public.bits()).div_ceil(2);
        let limbs = limbs_for(half).ok_or(Status::BadKey)?;
        let p = PrimeHalf::new(parts.p.expose(), parts.dp.expose(), half, limbs)?;
        let q = PrimeHalf::new(parts.q.expose(), parts.dq.expose(), half, limbs)?;
        let n = integer::from_bytes(&parts.public.n, 2 * limbs).ok_or(Status::BadKey)?;
        let coefficient = integer::from_bytes(parts.qinv.expose(), limbs).ok_or(Status::BadKey)?;
        // The recombination is only right for the primes of n. Whether p is prime is not checked: a result that is not
        // right fails the dispatcher's confirmation.
        let fits = integer::is_equal(&integer::product(&p.modulus, &q.modulus), &n)
            && integer::is_below(&coefficient, &p.modulus);
        let coefficient = integer::padded(&coefficient);
        fits.then_some(Self { limbs, p: p.padded(), q: q.padded(), coefficient }).ok_or(Status::BadKey)
    }
}

impl PrimeHalf {
    fn new(prime: &[u8], exponent: &[u8], bits: usize, limbs: usize) -> Result<Self, Status> {
        let modulus = integer::from_bytes(prime, limbs).ok_or(Status::BadKey)?;
        let digits = digits(exponent, bits).ok_or(Status::BadKey)?;
        let one = integer::from_bytes(&[1], limbs).ok_or(Status::BadKey)?;
        let longest = integer::power_of_two(bits, limbs);
        if !integer::is_odd(&modulus)
            || !integer::is_below(&one, &modulus)
            || !integer::is_below(&modulus, &longest)
        {
            return Err(Status::BadKey);
        }
        // Primes are secret, so these constants come from constant-time arithmetic and not from a division.
        let radix = integer::radix_mod(&modulus);
        let squared = integer::radix_squared_mod(&radix, &modulus);
        let cubed = integer::montgomery_product(&squared, &squared, &modulus);
        let inverse = integer::negated_inverse(modulus[0]);
        Ok(Self { modulus, inverse, radix: [radix, squared, cubed], digits })
    }

    fn padded(self) -> Self {
        let modulus = integer::padded(&self.modulus);
        Self { modulus, radix: self.radix.map(|power| integer::padded(&power)), ..self }
    }
}

/// Computes jobs of a private shape, eight at a time. The halves of the eight keys take turns step by step.
pub(crate) fn private<S: MulSimd>(simd: S, shape: Shape, operations: &[Operation<'_>], out: &mut Outcomes) {
    let jobs = accept(shape, operations, out, read);
    let Some(first) = jobs.first() else { return };
    // The shape fixes both numbers, so they are those of every job.
    let (limbs, digits) = (first.job.key.limbs, first.job.key.p.digits.len());
    let spans = PowerGroups::<S>::spans(limbs, digits, 2).chain(CrtHalves::<S>::spans(limbs));
    let mut memory = SpanMemory::new(simd, spans);
    let mut halves = CrtHalves::new(simd, limbs, digits, &mut memory.places());
    let mut staging = Staging::new(simd, shape.output_len());
    for group in jobs.chunks(LANES) {
        staging.read(per_lane(group, |job| job.input), halves.input);
        halves.transform(per_lane(group, |job| job.key));
        write_results(group, halves.result, &mut staging, out);
    }
}

fn read<'a>(operation: &'a Operation<'a>) -> Result<PrivateJob<'a>, Status> {
    let Some(KeyParts::RsaPrivate(parts)) = operation.key.parts() else { return Err(Status::BadKey) };
    check_range(operation.input, &parts.public.n)?;
    Ok(PrivateJob { key: operation.key.prepared(|_| PrivateKey::new(parts))?, input: operation.input })
}

/// The powers modulo p and q, with their inputs and results.
struct CrtHalves<'m, S: MulSimd> {
    powers: PowerGroups<'m, S>,
    /// The inputs, with twice as many limbs as a prime.
    input: &'m mut [S::V],
    result: &'m mut [S::V],
    /// One number for each half.
    own: [&'m mut [S::V]; 2],
}

impl<'m, S: MulSimd> CrtHalves<'m, S> {
    /// Returns the memory in addition to that of the powers.
    fn spans(limbs: usize) -> [VectorSpan; 4] {
        [2 * limbs, 2 * limbs, limbs, limbs].map(VectorSpan::anywhere)
    }

    fn new(simd: S, limbs: usize, digits: usize, places: &mut FreeSpans<'m, S::V>) -> Self {
        let powers = PowerGroups::new(simd, limbs, digits, 2, places);
        let [input, result, p, q] = places.take(Self::spans(limbs));
        Self { powers, input, result, own: [p, q] }
    }

    /// Computes the result of the input under eight keys.
    fn transform(&mut self, keys: [&PrivateKey; LANES]) {
        let primes = [keys.map(|key| &key.p), keys.map(|key| &key.q)];
        self.enter_montgomery(primes);
        self.powers.raise(&primes.map(|primes| primes.map(|prime| &prime.radix[0][..])));
        self.recombine(keys);
    }

    /// Brings the input into Montgomery form. The input is `low + high R`, so its form is `low R^2 / R + high R^3 /
    /// R`.
    fn enter_montgomery(&mut self, primes: [[&PrimeHalf; LANES]; 2]) {
        let Self { powers, input, own, .. } = self;
        let simd = powers.streams.simd();
        for (at, primes) in primes.iter().enumerate() {
            let place = powers.streams.set_modulus(at, simd.load(&primes.map(|prime| prime.inverse)));
            gather_into(simd, primes.map(|prime| &prime.modulus[..]), place);
            powers.set_exponents(at, primes.map(|prime| &prime.digits[..]));
        }
        // The input has the length of n and is above the primes. Splitting it at R avoids a division.
        let (low, high) = input.split_at(own[0].len());
        for (input, power) in [(low, 1), (high, 2)] {
            for (at, own) in own.iter_mut().enumerate() {
                own.copy_from_slice(powers.streams.value(at));
                powers.streams.value_mut(at).0.copy_from_slice(input);
            }
            powers.multiply_by_constants(&primes.map(|primes| primes.map(|prime| &prime.radix[power][..])));
        }
        for (at, low) in own.iter().enumerate() {
            carry::add(simd, powers.streams.value_mut(at).0, low);
        }
    }

    /// Computes `m_q + q h` with `h = (m_p - m_q) qinv mod p`. `m_p` is in Montgomery form below `2 p`, and `m_q` is
    /// below R.
    fn recombine(&mut self, keys: [&PrivateKey; LANES]) {
        let Self { powers, own: [m_p, m_q], result, .. } = self;
        let simd = powers.streams.simd();
        m_p.copy_from_slice(powers.streams.value(0));
        m_q.copy_from_slice(powers.leave_montgomery(1));
        let (value, _) = powers.streams.value_mut(0);
        value.copy_from_slice(m_q);
        // m_q below q can exceed p. A product with R^2 brings it into Montgomery form modulo p, below 2 p.
        powers.multiply_by_constant(0, keys.map(|key| &key.p.radix[1][..]));
        let (value, p) = powers.streams.value_mut(0);
        // The difference is between 0 and 4 p, as multiplication requires.
        carry::subtract_from(simd, value, m_p, p);
        // The coefficient is plain, so this product also leaves Montgomery form.
        powers.multiply_by_constant(0, keys.map(|key| &key.coefficient[..]));
        let (h, p) = powers.streams.value_mut(0);
        carry::reduce(simd, h, p);
        carry::multiply_add(simd, powers.streams.modulus(1), powers.streams.value(0), m_q, result);
    }
}

/// Prints no part of the key.
impl std::fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PrivateKey({} limbs)", self.limbs)
    }
}
