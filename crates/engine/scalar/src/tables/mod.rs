//! Verification under keys that recur, without doublings: a sum of multiples of the key and of the base point, one
//! per window of each scalar. For CPUs without a lane engine.
//!
//! | module | contents |
//! |---|---|
//! | this one | [`verdicts`], called once per run |
//! | `comb` | scalars as signed digits, and the multiples for each digit |
//! | `p256`, `ed25519` | points, tables, and the other steps of verification |
//!
//! `docs/math/tables.md` has the counts. `crrl` provides field and scalar arithmetic. All values here are public, so
//! branches and indices may depend on them. AWS-LC verifies signatures under keys without tables, and signatures
//! whose sum met an exception of the incomplete additions.

mod comb;
mod ed25519;
mod p256;
#[cfg(test)]
mod tests;

use oarlock_core::{Curve, Operation, SecondInput, Shape};
use oarlock_engine_kit::{VerifyTable, VerifyTableCache};

/// Verifies the signatures whose keys have tables. Returns one entry per operation, None if no table decided; or an
/// empty list if no key has a table. Counts the uses of keys that have no table yet.
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

/// A signature to verify: the digest or message, and r || s or R || S.
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
    let (indices, signed): (Vec<usize>, Vec<_>) = operations
        .iter()
        .enumerate()
        .filter_map(|(index, operation)| {
            // A job of another shape is left to the loop over all operations, which sets its status.
            let table = tables.get(index).filter(|_| operation.fits(shape))?;
            let SecondInput::Signature(signature) = operation.extra else { return None };
            Some((
                index,
                SignedInput { table, input: operation.input, signature: signature.try_into().ok()? },
            ))
        })
        .unzip();
    if signed.is_empty() {
        return Vec::new();
    }
    let mut verdicts = vec![None; operations.len()];
    indices.into_iter().zip(verify(&signed)).for_each(|(index, verdict)| verdicts[index] = verdict);
    verdicts
}
