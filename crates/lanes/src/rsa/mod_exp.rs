//! `input^x mod n` with a secret exponent and no primes: threshold shares.

use oarlock_core::{KeyParts, ModExpParts, Operation, Outcomes, Shape, Status};

use super::convert::Staging;
use super::exponent::{Digits, Power, digits};
use super::montgomery::{Moduli, Scratch, number};
use super::number::{self as integer, Limbs};
use super::public::{PublicModulus, constants, keys_into};
use super::{carry, check_range, release};
use crate::batch::{Accepted, accept, per_lane};
use crate::simd::{LANES, Simd};

/// What is kept with a key; the modulus is public.
struct ModExpKey {
    modulus: PublicModulus,
    /// R mod n.
    radix: Limbs,
    digits: Digits,
}

struct Job<'a> {
    key: &'a ModExpKey,
    input: &'a [u8],
}

impl ModExpKey {
    fn new(parts: &ModExpParts, bits: u16) -> Result<Self, Status> {
        let modulus = PublicModulus::new(&parts.n, bits)?;
        let radix = integer::power_of_two_mod(52 * modulus.limbs, &modulus.n);
        let digits = digits(parts.exponent.expose(), parts.exponent_bits.into()).ok_or(Status::BadKey)?;
        Ok(Self { modulus, radix, digits })
    }
}

/// Computes jobs of a shape with a secret exponent, two groups of eight in turn.
pub(crate) fn mod_exp<S: Simd>(simd: S, shape: Shape, operations: &[Operation<'_>], out: &mut Outcomes) {
    let jobs = accept(shape, operations, out, |operation| read(shape, operation));
    let mut staging = Staging::new(simd, shape.output_len());
    for pair in jobs.chunks(2 * LANES) {
        let mut powers: Vec<Power<S>> =
            pair.chunks(LANES).map(|group| power(simd, group, &mut staging)).collect();
        Power::run(&mut powers);
        for (power, group) in powers.into_iter().zip(pair.chunks(LANES)) {
            let (moduli, mut value) = power.finish();
            carry::reduce(simd, &mut value, moduli.limbs());
            release(group, &value, &mut staging, out);
        }
    }
}

fn read<'a>(shape: Shape, operation: &'a Operation<'a>) -> Result<Job<'a>, Status> {
    let (Some(KeyParts::ModExp(parts)), Shape::ModExp { bits, .. }) = (operation.key.parts(), shape) else {
        return Err(Status::BadKey);
    };
    check_range(operation.input, &parts.n)?;
    Ok(Job { key: operation.key.prepared(|_| ModExpKey::new(parts, bits))?, input: operation.input })
}

fn power<S: Simd>(simd: S, group: &[Accepted<Job<'_>>], staging: &mut Staging<S>) -> Power<S> {
    let keys = per_lane(group, |job| job.key);
    let limbs = keys[0].modulus.limbs;
    let zero = || number(simd, limbs);
    let (mut input, mut base, mut radix_squared) = (zero(), zero(), zero());
    let mut moduli = Moduli::new(simd, zero(), simd.zero());
    keys_into(&keys.map(|key| &key.modulus), &mut moduli, &mut radix_squared);
    staging.read(per_lane(group, |job| job.input), &mut input);
    moduli.product(&input, &radix_squared, &mut base, &mut Scratch::new(simd, limbs));
    let one = constants(simd, limbs, keys.map(|key| &key.radix[..]));
    Power::new(moduli, &one, &base, keys.map(|key| &key.digits[..]))
}

/// Shows nothing of the exponent.
impl std::fmt::Debug for ModExpKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ModExpKey({:?})", self.modulus.limbs)
    }
}
