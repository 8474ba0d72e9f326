//! Ed25519 signing. RFC 8032 5.1.6. Constant time in the seed, the nonce and all values derived from them.

use oarlock_core::{Key, KeyParts, Operation, Outcomes, Shape, Status};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::base;
use super::encoding::encode;
use super::field::FieldSimd;
use super::scalar::ScalarLanes;
use super::words;
use crate::batch::{LaneJob, accept, per_lane};
use crate::hash::parts::{Parts, digest, digest_words};
use crate::simd::{LANES, Vector, Words};

/// The expansion of a seed, which is cached with the key.
#[derive(Zeroize, ZeroizeOnDrop)]
struct Expanded {
    /// The secret scalar modulo L, in Montgomery form.
    scalar: [u64; 5],
    /// The prefix from which nonces are derived.
    prefix: [u8; 32],
    #[zeroize(skip)]
    public: [u8; 32],
}

struct Ed25519SignJob<'a> {
    key: &'a Expanded,
    message: &'a [u8],
}

/// Signs every job.
pub(crate) fn run<S: FieldSimd>(simd: S, operations: &[Operation<'_>], out: &mut Outcomes) {
    let jobs = accept(Shape::Ed25519Sign, operations, out, |operation| {
        let key = operation.key.prepared(|key| expand(simd, key))?;
        Ok(Ed25519SignJob { key, message: operation.input })
    });
    let groups: Vec<_> = jobs.chunks(LANES).collect();
    let nonces: Zeroizing<Vec<_>> = Zeroizing::new(groups.iter().map(|group| nonce(simd, group)).collect());
    let mut points = Zeroizing::new(Vec::with_capacity(groups.len()));
    base(simd).columns.times(simd, &nonces, &mut points);
    let commitments = encode(simd, &points);
    for ((group, nonce), commitments) in groups.iter().zip(nonces.iter()).zip(&commitments) {
        // R is part of the challenge, so all commitments are encoded first, with one inversion for the run.
        let responses = respond(simd, group, nonce, commitments);
        for ((job, commitment), response) in group.iter().zip(commitments).zip(&responses) {
            // Lanes past the last job repeat it, and `zip` ends with the jobs.
            let signature = out.result_mut(job.index);
            signature[..32].copy_from_slice(commitment);
            signature[32..].copy_from_slice(response);
            out.set(job.index, Status::Done);
        }
    }
}

/// Computes r = SHA-512(prefix || M) mod L. RFC 8032 5.1.6, step 2.
fn nonce<S: FieldSimd>(simd: S, group: &[LaneJob<Ed25519SignJob<'_>>]) -> ScalarLanes<S::V> {
    let parts = per_lane(group, |job| [job.key.prefix.as_slice(), job.message]);
    hash_to_scalar(simd, parts.each_ref().map(|parts| parts.as_slice()))
}

/// Computes S = r + SHA-512(R || A || M) s mod L. RFC 8032 5.1.6, steps 4 and 5.
fn respond<S: FieldSimd>(
    simd: S,
    group: &[LaneJob<Ed25519SignJob<'_>>],
    nonce: &ScalarLanes<S::V>,
    commitments: &[[u8; 32]; LANES],
) -> [[u8; 32]; LANES] {
    let jobs = per_lane(group, |job| (job.key, job.message));
    let parts: [[&[u8]; 3]; LANES] =
        std::array::from_fn(|lane| [&commitments[lane], &jobs[lane].0.public, jobs[lane].1]);
    let challenge = hash_to_scalar(simd, parts.each_ref().map(|parts| parts.as_slice()));
    let limbs: Zeroizing<[Words; 5]> =
        Zeroizing::new(std::array::from_fn(|limb| jobs.map(|(key, _)| key.scalar[limb])));
    let response = simd.call(
        #[inline(always)]
        || {
            let mut secret = [simd.zero(); 5];
            for (limb, words) in secret.iter_mut().zip(limbs.iter()) {
                *limb = simd.load(words);
            }
            challenge.times_plus(simd, &ScalarLanes::from_limbs(secret), nonce).as_words(simd)
        },
    );
    words::bytes(simd, &response)
}

/// Returns a digest as a little-endian integer modulo L.
pub(super) fn hash_to_scalar<S: FieldSimd>(simd: S, messages: [Parts<'_>; LANES]) -> ScalarLanes<S::V> {
    let mut words = Zeroizing::new(digest_words(simd, messages));
    simd.call(
        #[inline(always)]
        || {
            // SHA-512 gives big-endian words; RFC 8032 reads the digest as a little-endian integer.
            for word in words.iter_mut() {
                *word = word.swap_bytes();
            }
            ScalarLanes::from_wide(simd, &words)
        },
    )
}

/// Expands a seed. RFC 8032 5.1.5, steps 1 to 3, and 5.1.6, step 1.
fn expand<S: FieldSimd>(simd: S, key: &Key) -> Result<Expanded, Status> {
    let Some(KeyParts::Ed25519Private(parts)) = key.parts() else { return Err(Status::BadKey) };
    if parts.seed.len() != 32 {
        return Err(Status::BadKey);
    }
    // All lanes hash the same seed: this runs once per key, and a scalar SHA-512 would be more code.
    let digests = Zeroizing::new(digest(simd, [&[parts.seed.expose()]; LANES]));
    let (scalar, prefix) = digests[0].split_at(32);
    let mut clamped = Zeroizing::new([0; 32]);
    clamped.copy_from_slice(scalar);
    clamp(&mut clamped);
    let mut expanded = Expanded { scalar: [0; 5], prefix: [0; 32], public: parts.public };
    expanded.prefix.copy_from_slice(prefix);
    let words = Zeroizing::new(words::load(simd, [clamped.as_slice(); LANES]));
    let limbs = simd.call(
        #[inline(always)]
        || Zeroizing::new(*ScalarLanes::from_words(simd, &words).into_montgomery(simd).limbs()),
    );
    for (to, limb) in expanded.scalar.iter_mut().zip(limbs.iter()) {
        *to = limb.words()[0];
    }
    Ok(expanded)
}

/// Clears and sets the fixed bits of a scalar. RFC 8032 5.1.5, step 2, and RFC 7748 section 5.
pub(super) fn clamp(scalar: &mut [u8; 32]) {
    scalar[0] &= 0xF8;
    scalar[31] = scalar[31] & 0x7F | 0x40;
}
