//! Verification under keys that recur, without doublings: multiples of the key and of the base point for every window of a
//! scalar, added up. For processors whose signatures no lanes verify.
//!
//! | module | what it holds |
//! |---|---|
//! | this one | [`verdicts`], asked once per run |
//! | `comb` | scalars as signed digits, and which multiples they stand for |
//! | `p256`, `ed25519` | points, tables, and what verifying needs beside them |
//!
//! `docs/math/tables.md` has counts. Field and scalar arithmetic are `crrl`'s. Everything here is public: branches and indices may
//! depend on it. AWS-LC decides what has no table, and the sums that incomplete additions cannot tell.

mod comb;
mod ed25519;
mod p256;
#[cfg(test)]
mod tests;

use oarlock_core::{Curve, Operation, SecondInput, Shape, VerifyTable, VerifyTableCache};

/// Whether each operation's signature is valid, where a table of its key tells; empty where none does. Counts the uses of
/// keys that have none yet.
pub(crate) fn verdicts(
    cache: &VerifyTableCache,
    shape: Shape,
    operations: &[Operation<'_>],
) -> Vec<Option<bool>> {
    match shape {
        Shape::EcdsaVerify { curve: Curve::P256 } => {
            verify_with_tables(cache, shape, operations, p256::P256KeyTable::new, p256::verify)
        }
        Shape::Ed25519Verify => {
            verify_with_tables(cache, shape, operations, ed25519::EdwardsKeyTable::new, ed25519::verify)
        }
        _ => Vec::new(),
    }
}

/// What is verified: a digest or a message, and r || s or R || S.
struct SignedInput<'a, T> {
    table: &'a T,
    input: &'a [u8],
    signature: &'a [u8; 64],
}

fn verify_with_tables<T: VerifyTable>(
    cache: &VerifyTableCache,
    shape: Shape,
    operations: &[Operation<'_>],
    build: fn(&[u8]) -> Option<T>,
    verify: fn(&[SignedInput<'_, T>]) -> Vec<Option<bool>>,
) -> Vec<Option<bool>> {
    let tables = cache.tables(operations.iter().map(|operation| operation.key), build);
    let (places, signed): (Vec<usize>, Vec<_>) = operations
        .iter()
        .enumerate()
        .filter_map(|(place, operation)| {
            let table = tables.of(place).filter(|_| operation.check(shape).is_ok())?;
            let SecondInput::Signature(signature) = operation.extra else { return None };
            Some((
                place,
                SignedInput { table, input: operation.input, signature: signature.try_into().ok()? },
            ))
        })
        .unzip();
    if signed.is_empty() {
        return Vec::new();
    }
    let mut verdicts = vec![None; operations.len()];
    places.into_iter().zip(verify(&signed)).for_each(|(place, verdict)| verdicts[place] = verdict);
    verdicts
}
