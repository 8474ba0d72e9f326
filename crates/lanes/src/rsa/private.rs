//! `input^d mod n` by the Chinese remainder theorem, RFC 8017 5.1.2 and 5.2.1: `m_p = c^dp mod p`, `m_q = c^dq mod q`,
//! `h = (m_p - m_q) qinv mod p`, `m = m_q + q h`. No branch, index or length depends on the key or the input, except for
//! the modulus's length. Results are not confirmed here: the dispatcher does so with public operations.

use oarlock_core::{KeyParts, Operation, Outcomes, RsaPrivateParts, Shape, Status};

use super::convert::Staging;
use super::exponent::{Digits, Power, digits};
use super::montgomery::{Moduli, Number, Scratch, limbs_for, number};
use super::number::{self as integer, Limbs};
use super::public::constants;
use super::{carry, check_range, release};
use crate::batch::{Accepted, accept, per_lane};
use crate::simd::{LANES, Simd};

/// What is kept with a key. Limbs zeroize themselves.
struct PrivateKey {
    p: Prime,
    q: Prime,
    /// `q^-1 mod p`.
    coefficient: Limbs,
}

/// One prime with its exponent.
struct Prime {
    modulus: Limbs,
    /// -p^-1 mod 2^52.
    inverse: u64,
    /// R, R^2 and R^3 modulo the prime.
    radix: [Limbs; 3],
    digits: Digits,
}

struct Job<'a> {
    key: &'a PrivateKey,
    input: &'a [u8],
}

impl PrivateKey {
    /// Refuses parts that are too long or even, and primes whose product is not n. What else may be wrong with a key shows
    /// when its results are confirmed.
    fn new(parts: &RsaPrivateParts) -> Result<Self, Status> {
        let half = usize::from(parts.public.bits()).div_ceil(2);
        let limbs = limbs_for(half).ok_or(Status::BadKey)?;
        let p = Prime::new(parts.p.expose(), parts.dp.expose(), half, limbs)?;
        let q = Prime::new(parts.q.expose(), parts.dq.expose(), half, limbs)?;
        let n = integer::from_bytes(&parts.public.n, 2 * limbs).ok_or(Status::BadKey)?;
        let coefficient = integer::from_bytes(parts.qinv.expose(), limbs).ok_or(Status::BadKey)?;
        let fits = integer::is_equal(&integer::product(&p.modulus, &q.modulus), &n)
            && integer::is_below(&coefficient, &p.modulus);
        fits.then_some(Self { p, q, coefficient }).ok_or(Status::BadKey)
    }
}

impl Prime {
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
        let radix = integer::radix_mod(&modulus);
        let squared = integer::radix_squared_mod(&radix, &modulus);
        let cubed = integer::montgomery_product(&squared, &squared, &modulus);
        let inverse = integer::negated_inverse(modulus[0]);
        Ok(Self { modulus, inverse, radix: [radix, squared, cubed], digits })
    }
}

/// Computes jobs of a private shape, eight at a time; the halves of the eight keys take their steps in turn.
pub(crate) fn private<S: Simd>(simd: S, shape: Shape, operations: &[Operation<'_>], out: &mut Outcomes) {
    let jobs = accept(shape, operations, out, read);
    let mut staging = Staging::new(simd, shape.output_len());
    for group in jobs.chunks(LANES) {
        let result = transform(simd, group, &mut staging);
        release(group, &result, &mut staging, out);
    }
}

fn read<'a>(operation: &'a Operation<'a>) -> Result<Job<'a>, Status> {
    let Some(KeyParts::RsaPrivate(parts)) = operation.key.parts() else { return Err(Status::BadKey) };
    check_range(operation.input, &parts.public.n)?;
    Ok(Job { key: operation.key.prepared(|_| PrivateKey::new(parts))?, input: operation.input })
}

fn transform<S: Simd>(simd: S, group: &[Accepted<Job<'_>>], staging: &mut Staging<S>) -> Number<S> {
    let keys = per_lane(group, |job| job.key);
    let limbs = keys[0].p.modulus.len();
    let mut input = number(simd, 2 * limbs);
    staging.read(per_lane(group, |job| job.input), &mut input);
    let mut halves =
        [keys.map(|key| &key.p), keys.map(|key| &key.q)].map(|primes| half(simd, primes, &input));
    Power::run(&mut halves);
    let [p, q] = halves;
    let (q, mut m_q) = q.finish();
    carry::reduce(simd, &mut m_q, q.limbs());
    let (p, m_p) = p.into_montgomery();
    let h = quotient(&p, &m_p, &m_q, keys);
    carry::multiply_add(simd, q.limbs(), &h, &m_q)
}

/// `(m_p - m_q) qinv mod p`, of `m_p` in Montgomery form below `2 p` and any `m_q` below R.
fn quotient<S: Simd>(p: &Moduli<S>, m_p: &[S::V], m_q: &[S::V], keys: [&PrivateKey; LANES]) -> Number<S> {
    let (simd, limbs) = (p.simd(), m_p.len());
    let (mut own, mut h, mut scratch) = (number(simd, limbs), number(simd, limbs), Scratch::new(simd, limbs));
    let squared = constants(simd, limbs, keys.map(|key| &key.p.radix[1][..]));
    p.product(m_q, &squared, &mut own, &mut scratch);
    // Between 0 and 4 p.
    let raised = carry::add_subtract(simd, m_p, p.limbs(), &number(simd, limbs));
    let difference = carry::add_subtract(simd, &raised, p.limbs(), &own);
    let coefficient = constants(simd, limbs, keys.map(|key| &key.coefficient[..]));
    p.product(&difference, &coefficient, &mut h, &mut scratch);
    carry::reduce(simd, &mut h, p.limbs());
    h
}

/// The power of a prime of each key: the input is `low + high R`, so that its Montgomery form is `low R^2 / R + high R^3 / R`.
fn half<S: Simd>(simd: S, primes: [&Prime; LANES], input: &[S::V]) -> Power<S> {
    let limbs = primes[0].modulus.len();
    let modulus = constants(simd, limbs, primes.map(|prime| &prime.modulus[..]));
    let moduli = Moduli::new(simd, modulus, simd.load(&primes.map(|prime| prime.inverse)));
    let mut scratch = Scratch::new(simd, limbs);
    let [one, squared, cubed] =
        [0, 1, 2].map(|power| constants(simd, limbs, primes.map(|prime| &prime.radix[power][..])));
    let (mut low, mut high) = (number(simd, limbs), number(simd, limbs));
    moduli.product(&input[..limbs], &squared, &mut low, &mut scratch);
    moduli.product(&input[limbs..], &cubed, &mut high, &mut scratch);
    let base = carry::add_subtract(simd, &low, &high, &number(simd, limbs));
    Power::new(moduli, &one, &base, primes.map(|prime| &prime.digits[..]))
}

/// Shows nothing of the key.
impl std::fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PrivateKey({} limbs)", self.p.modulus.len())
    }
}
