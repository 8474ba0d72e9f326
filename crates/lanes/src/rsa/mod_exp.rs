//! Computation of `input^x mod n` with a secret exponent and no primes, for threshold shares.

use oarlock_core::{KeyParts, ModExpParts, Operation, Outcomes, Shape, Status};

use super::convert::{Staging, gather_into};
use super::exponent::{Digits, PowerGroups, digits};
use super::memory::SpanMemory;
use super::number::{self as integer, Limbs};
use super::public::MontgomeryModulus;
use super::{check_range, write_results};
use crate::batch::{accept, per_lane};
use crate::simd::{LANES, MulSimd};

/// The prepared form of a key. The modulus is public.
struct ModExpKey {
    modulus: MontgomeryModulus,
    /// The residue R mod n.
    radix: Limbs,
    digits: Digits,
}

struct ModExpJob<'a> {
    key: &'a ModExpKey,
    input: &'a [u8],
}

impl ModExpKey {
    fn new(parts: &ModExpParts, bits: u16) -> Result<Self, Status> {
        let modulus = MontgomeryModulus::new(&parts.n, bits)?;
        // The modulus is public, so a division may compute the constants. Its time depends on n.
        let radix = integer::power_of_two_mod(52 * modulus.limbs, &modulus.n);
        let digits = digits(parts.exponent.expose(), parts.exponent_bits.into()).ok_or(Status::BadKey)?;
        Ok(Self { modulus, radix, digits })
    }
}

/// Computes jobs of a shape with a secret exponent, two groups of eight in turn.
pub(crate) fn mod_exp<S: MulSimd>(simd: S, shape: Shape, operations: &[Operation<'_>], out: &mut Outcomes) {
    let jobs = accept(shape, operations, out, |operation| read(shape, operation));
    let Some(first) = jobs.first() else { return };
    let (limbs, digits) = (first.job.key.modulus.limbs, first.job.key.digits.len());
    // All jobs of the shape have the same limbs and digits, so the first one decides the sizes for all.
    let count = jobs.len().div_ceil(LANES).min(2);
    let mut memory = SpanMemory::new(simd, PowerGroups::<S>::spans(limbs, digits, count));
    let mut powers = PowerGroups::new(simd, limbs, digits, count, &mut memory.places());
    let mut staging = Staging::new(simd, shape.output_len());
    for pair in jobs.chunks(2 * LANES) {
        let groups = || pair.chunks(LANES);
        for (at, group) in groups().enumerate() {
            let keys = per_lane(group, |job| job.key);
            let place = powers.streams.set_modulus(at, simd.load(&keys.map(|key| key.modulus.inverse)));
            gather_into(simd, keys.map(|key| &key.modulus.n[..]), place);
            powers.set_exponents(at, keys.map(|key| &key.digits[..]));
            staging.read(per_lane(group, |job| job.input), powers.streams.value_mut(at).0);
        }
        let constants = |of: fn(&ModExpKey) -> &Limbs| -> Vec<[&[u64]; LANES]> {
            groups().map(|group| per_lane(group, |job| &of(job.key)[..])).collect()
        };
        powers.multiply_by_constants(&constants(|key| &key.modulus.radix_squared));
        powers.raise(&constants(|key| &key.radix));
        for (at, group) in groups().enumerate() {
            write_results(group, powers.leave_montgomery(at), &mut staging, out);
        }
    }
}

fn read<'a>(shape: Shape, operation: &'a Operation<'a>) -> Result<ModExpJob<'a>, Status> {
    let (Some(KeyParts::ModExp(parts)), Shape::ModExp { bits, .. }) = (operation.key.parts(), shape) else {
        return Err(Status::BadKey);
    };
    check_range(operation.input, &parts.n)?;
    Ok(ModExpJob { key: operation.key.prepared(|_| ModExpKey::new(parts, bits))?, input: operation.input })
}

/// Prints no part of the exponent.
impl std::fmt::Debug for ModExpKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ModExpKey({:?})", self.modulus.limbs)
    }
}
