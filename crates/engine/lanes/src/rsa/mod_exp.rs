//! Computation of `input^x mod n` with a secret exponent and no primes, for threshold shares.

use std::marker::PhantomData;

use oarlock_core::{KeyParts, ModExpParts, Operation, Outcomes, Shape, Status};

use super::convert::Staging;
use super::exponent::{Digits, PowerGroups, digits};
use super::leaf::{RsaLeaf, RsaStreams};
use super::memory::SpanMemory;
use super::number::{self as integer, Limbs};
use super::public::MontgomeryModulus;
use super::{check_range, per_lane, write_results};
use crate::batch::accept;

/// The prepared form of a key for a leaf. The modulus is public.
struct ModExpKey<L> {
    modulus: MontgomeryModulus,
    /// The residue R mod n.
    radix: Limbs,
    digits: Digits,
    leaf: PhantomData<L>,
}

struct ModExpJob<'a, L> {
    key: &'a ModExpKey<L>,
    input: &'a [u8],
}

impl<L> ModExpKey<L> {
    fn new<const N: usize>(parts: &ModExpParts, bits: u16) -> Result<Self, Status>
    where
        L: RsaLeaf<N>,
    {
        let modulus = MontgomeryModulus::new::<L, N>(&parts.n, bits)?;
        let limbs = modulus.limbs;
        let n = integer::from_bytes(&parts.n, L::integer_limbs(limbs)).ok_or(Status::BadKey)?;
        // The modulus is public, so a division may compute the constants. Its time depends on n.
        let radix = L::stored(&integer::power_of_two_mod(L::radix_bits(limbs), &n), limbs);
        let digits = digits(parts.exponent.expose(), parts.exponent_bits.into(), L::WINDOW_BITS);
        Ok(Self { modulus, radix, digits: digits.ok_or(Status::BadKey)?, leaf: PhantomData })
    }
}

/// Computes jobs of a shape with a secret exponent, two groups of `N` in turn.
pub(crate) fn mod_exp<L: RsaLeaf<N>, const N: usize>(
    leaf: L,
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) {
    let jobs = accept(shape, operations, out, |operation| read::<L, N>(shape, operation));
    let Some(first) = jobs.first() else { return };
    let (limbs, digits) = (first.job.key.modulus.limbs, first.job.key.digits.len());
    // All jobs of the shape have the same limbs and digits, so the first one decides the sizes for all.
    let count = jobs.len().div_ceil(N).min(2);
    let mut memory = SpanMemory::new(leaf, PowerGroups::<L, N>::spans(limbs, digits, count));
    let mut powers = PowerGroups::new(leaf, limbs, digits, count, &mut memory.free_spans());
    let mut staging = Staging::new(leaf, limbs, shape.output_len());
    for pair in jobs.chunks(2 * N) {
        let groups = || pair.chunks(N);
        for (at, group) in groups().enumerate() {
            let keys = per_lane(group, |job| job.key);
            let inverses = keys.map(|key| &key.modulus.inverse[..]);
            powers.streams.set_modulus(at, keys.map(|key| &key.modulus.n[..]), inverses);
            powers.set_exponents(at, keys.map(|key| &key.digits[..]));
            staging.read(per_lane(group, |job| job.input), powers.streams.value_mut(at).0);
        }
        let constants = |of: fn(&ModExpKey<L>) -> &Limbs| -> Vec<[&[u64]; N]> {
            groups().map(|group| per_lane(group, |job| &of(job.key)[..])).collect()
        };
        powers.multiply_by_constants(&constants(|key| &key.modulus.radix_squared));
        powers.raise(&constants(|key| &key.radix));
        for (at, group) in groups().enumerate() {
            write_results(group, powers.leave_montgomery(at), &mut staging, out);
        }
    }
}

fn read<'a, L: RsaLeaf<N>, const N: usize>(
    shape: Shape,
    operation: &'a Operation<'a>,
) -> Result<ModExpJob<'a, L>, Status> {
    let (Some(KeyParts::ModExp(parts)), Shape::ModExp { bits, .. }) = (operation.key.parts(), shape) else {
        return Err(Status::BadKey);
    };
    check_range(operation.input, &parts.n)?;
    Ok(ModExpJob {
        key: operation.key.prepared(|_| ModExpKey::new::<N>(parts, bits))?,
        input: operation.input,
    })
}

/// Prints no part of the exponent.
impl<L> std::fmt::Debug for ModExpKey<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ModExpKey({:?})", self.modulus.limbs)
    }
}
