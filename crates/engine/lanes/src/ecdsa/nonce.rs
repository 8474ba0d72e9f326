//! Nonces, eight side by side.
//!
//! A hedged nonce is `SHA-512(label || attempt || key || random || digest) mod n`. The hash is an integer of 512
//! bits, 256 more than the order of P-256 and 128 more than that of P-384. So its residue is uniform within 2^-128;
//! FIPS 186-5 A.3.1 asks for 2^-64. Without the key and the random bytes the nonce looks random. If the random bytes
//! fail, it still differs for every digest, as in RFC 6979. The same input gives the same nonce, so a run can be
//! repeated.

use oarlock_core::{DigestAlg, NonceInput};
use zeroize::Zeroizing;

use super::constants::shifted;
use super::curve::CurveParams;
use super::element::Element;
use super::rfc6979;
use super::ring::{MontgomeryRing, OddModulus};
use super::rows::limbs_of_words;
use super::scalars::lanes;
use super::sign::EcdsaSignJob;
use crate::batch::LaneJob;
use crate::hash::parts::digest_words;
use crate::simd::{LANES, MulSimd};

/// Returns the nonces of a block of jobs in Montgomery form, below 2n. `attempt` is the number of nonces that were
/// refused before.
pub(crate) fn nonces<S: MulSimd, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    block: &[LaneJob<EcdsaSignJob<'_>>],
    attempt: u8,
) -> Element<S::V, L, N> {
    let order = MontgomeryRing::<S, C::Order, L, N>::new(simd);
    let is_hedged = |job: &EcdsaSignJob<'_>| matches!(job.nonce, NonceInput::Hedged(_));
    let mut all = order.zero();
    if block.iter().any(|accepted| is_hedged(&accepted.job)) {
        all = hedged::<S, C, L, N>(simd, block, attempt);
    }
    // The kind of a nonce is public. All hedged is the usual case, and HMAC lane by lane is slow.
    if block.iter().all(|accepted| is_hedged(&accepted.job)) {
        return all;
    }
    let (given, chosen) = deterministic::<S, C, L, N>(simd, block, attempt);
    order.select(chosen, &all, &given)
}

/// Returns the reduced hashes of a block. Lanes with a deterministic nonce hash zeros.
fn hedged<S: MulSimd, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    block: &[LaneJob<EcdsaSignJob<'_>>],
    attempt: u8,
) -> Element<S::V, L, N> {
    let order = MontgomeryRing::<S, C::Order, L, N>::new(simd);
    let (mut high, mut low) = (order.zero(), order.zero());
    let messages: [[[&[u8]; 5]; LANES]; N] = lanes(block, |job| {
        let random: &[u8] = if let NonceInput::Hedged(random) = job.nonce { random } else { &[0; 32] };
        [C::NONCE_LABEL, &[], job.scalar, random, job.digest]
    });
    let attempt = [attempt];
    for (n, mut parts) in messages.into_iter().enumerate() {
        // Another attempt must give another nonce, or a refused one would come again.
        parts.iter_mut().for_each(|parts| parts[1] = &attempt);
        let mut words = Zeroizing::new(digest_words(simd, parts.each_ref().map(|parts| &parts[..])));
        // Digest words are big-endian; limbs start with the lowest.
        words.reverse();
        simd.call(
            #[inline(always)]
            || {
                let split = C::BYTES / 8;
                let limbs: [[S::V; L]; 2] =
                    [limbs_of_words(simd, &words[..split]), limbs_of_words(simd, &words[split..])];
                for limb in 0..L {
                    low.0[limb].0[n] = limbs[0][limb];
                    high.0[limb].0[n] = limbs[1][limb];
                }
            },
        );
    }
    simd.call(
        #[inline(always)]
        || {
            let shift = order.splat(&const { shifted(C::Order::R2, C::BITS, &C::Order::LIMBS) });
            // low R^2 / R + high 2^BITS R^2 / R is the hash in Montgomery form. Both products share one reduction.
            let sum = order.product(&low, &order.splat(&C::Order::R2));
            order.carry(order.times_onto(sum, &high, &shift))
        },
    )
}

/// Returns the nonces of RFC 6979, and the lanes that have one.
fn deterministic<S: MulSimd, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    block: &[LaneJob<EcdsaSignJob<'_>>],
    attempt: u8,
) -> (Element<S::V, L, N>, [u8; N]) {
    let order = MontgomeryRing::<S, C::Order, L, N>::new(simd);
    // Ones for the lanes with hedged nonces: any value but zero, which the mask then discards.
    let mut given = Zeroizing::new(vec![[1_u8; 48]; block.len()]);
    let mut chosen = [0; N];
    for (index, accepted) in block.iter().enumerate() {
        let job = &accepted.job;
        if let NonceInput::Deterministic(alg) = job.nonce {
            rfc6979::nonce::<C, L>(alg, job.scalar, job.digest, attempt, &mut given[index][..C::BYTES]);
            chosen[index / LANES] |= 1 << (index % LANES);
        }
    }
    let last = block.len() - 1;
    let integers: [[&[u8]; LANES]; N] =
        std::array::from_fn(|n| std::array::from_fn(|lane| &given[(n * LANES + lane).min(last)][..C::BYTES]));
    let plain = order.read(&integers);
    let entered = simd.call(
        #[inline(always)]
        || order.enter(&plain),
    );
    // Lanes without a job repeat the last job, so they take its kind of nonce too.
    if matches!(block[last].job.nonce, NonceInput::Deterministic(_)) {
        for index in block.len()..N * LANES {
            chosen[index / LANES] |= 1 << (index % LANES);
        }
    }
    (entered, chosen)
}

/// Returns true if this crate computes RFC 6979 with a digest.
pub(crate) fn has_rule(alg: DigestAlg) -> bool {
    matches!(
        alg,
        DigestAlg::Sha1 | DigestAlg::Sha224 | DigestAlg::Sha256 | DigestAlg::Sha384 | DigestAlg::Sha512
    )
}
