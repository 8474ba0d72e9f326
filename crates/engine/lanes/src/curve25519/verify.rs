//! Ed25519 verification: S is below L, A decodes, and `encode([S]B - [h]A)` equals R byte by byte. RFC 8032 5.1.7,
//! cofactorless. All values are public, so branches and indices may depend on them.

use oarlock_core::{Operation, Outcomes, SecondInput, Shape, Status};
use oarlock_engine_kit::VerifyTableCache;

use super::constants::ORDER_BYTES;
use super::encoding::{decode_opposites, encode};
use super::field::FieldSimd;
use super::key_table::{Ed25519KeyTable, TableTerm, table_sums};
use super::multiples::{MultipleTerm, sums_of_multiples};
use super::point::EdwardsPoint;
use super::scalar::ScalarLanes;
use super::sign::hash_to_scalar;
use super::{base, words};
use crate::batch::{LaneJob, accept, per_lane};
use crate::simd::{LANES, Mask};

struct Ed25519VerifyJob<'a> {
    public: &'a [u8; 32],
    commitment: &'a [u8],
    response: &'a [u8],
    message: &'a [u8],
}

/// Verifies every job. Keys that recur have tables.
pub(crate) fn run<S: FieldSimd>(
    simd: S,
    cache: &VerifyTableCache,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) {
    let jobs = accept(Shape::Ed25519Verify, operations, out, read);
    let keys = jobs.iter().map(|accepted| operations[accepted.index].key);
    let tables = cache.tables(keys, move |public| Ed25519KeyTable::build(simd, public));
    let (mut without, mut with_table, mut tables_of) = (Vec::new(), Vec::new(), Vec::new());
    for (at, accepted) in jobs.into_iter().enumerate() {
        match tables.get(at) {
            Some(table) => {
                with_table.push(accepted);
                tables_of.push(table);
            }
            None => without.push(accepted),
        }
    }
    // The two kinds never share a group, because their steps differ. They share the inversion of `encode`.
    let groups = || without.chunks(LANES).chain(with_table.chunks(LANES));
    let mut points = Vec::with_capacity(groups().count());
    let mut masks = cold_points(simd, &without, &mut points);
    table_points(simd, &with_table, &tables_of, &mut points);
    // A key with a table has been decoded when the table was built.
    masks.resize(points.len(), Mask::MAX);
    for ((group, encoded), mask) in groups().zip(encode(simd, &points)).zip(masks) {
        for (lane, (accepted, encoded)) in group.iter().zip(encoded).enumerate() {
            let is_valid = mask >> lane & 1 == 1 && accepted.job.commitment == encoded;
            out.set(accepted.index, if is_valid { Status::Done } else { Status::Rejected });
        }
    }
}

fn read<'a>(operation: &'a Operation<'a>) -> Result<Ed25519VerifyJob<'a>, Status> {
    let SecondInput::Signature(signature) = operation.extra else { return Err(Status::Malformed) };
    let public = operation.key.ed25519_public().ok_or(Status::BadKey)?;
    let (commitment, response) = signature.split_at_checked(32).ok_or(Status::BadLength)?;
    // Without this test S + L would verify too. RFC 8032 5.1.7, step 1. Both are little-endian, so the comparison
    // begins with the last byte.
    if !response.iter().rev().lt(ORDER_BYTES.iter().rev()) {
        return Err(Status::Rejected);
    }
    Ok(Ed25519VerifyJob { public, commitment, response, message: operation.input })
}

/// Computes `[S]B - [h]A` for jobs whose keys have no tables. Returns the lanes of each group whose key decodes.
fn cold_points<S: FieldSimd>(
    simd: S,
    jobs: &[LaneJob<Ed25519VerifyJob<'_>>],
    points: &mut Vec<EdwardsPoint<S>>,
) -> Vec<Mask> {
    let keys: Vec<_> = jobs.chunks(LANES).map(|group| per_lane(group, |job| job.public.as_slice())).collect();
    let keys = decode_opposites(simd, &keys);
    let terms = jobs.chunks(LANES).zip(&keys).map(|(group, q)| {
        let [h, s] = scalars(simd, group);
        MultipleTerm { q, h, s }
    });
    sums_of_multiples(simd, &base(simd).window, &terms.collect::<Vec<_>>(), points);
    keys.iter().map(|key| key.is_valid).collect()
}

/// Computes `[S]B - [h]A` for jobs whose keys have tables.
fn table_points<S: FieldSimd>(
    simd: S,
    jobs: &[LaneJob<Ed25519VerifyJob<'_>>],
    tables: &[&Ed25519KeyTable<S>],
    points: &mut Vec<EdwardsPoint<S>>,
) {
    let terms = jobs.chunks(LANES).zip(tables.chunks(LANES)).map(|(group, tables)| {
        let [h, s] = scalars(simd, group);
        let tables = std::array::from_fn(|lane| tables[lane.min(tables.len() - 1)]);
        TableTerm { tables, h, s }
    });
    table_sums(simd, &base(simd).comb, &terms.collect::<Vec<_>>(), points);
}

/// Returns h = SHA-512(R || A || M) mod L, and S.
fn scalars<S: FieldSimd>(simd: S, group: &[LaneJob<Ed25519VerifyJob<'_>>]) -> [ScalarLanes<S::V>; 2] {
    let parts = per_lane(group, |job| [job.commitment, job.public, job.message]);
    let challenge = hash_to_scalar(simd, parts.each_ref().map(|parts| parts.as_slice()));
    let response: [_; 4] = words::load(simd, per_lane(group, |job| job.response));
    let response = simd.call(
        #[inline(always)]
        || ScalarLanes::from_limbs(words::split(simd, &response)),
    );
    [challenge, response]
}
