//! The loop over public-key operations.

use oarlock_core::{EngineFault, Operation, Outcomes, Shape, Status};

use crate::engine::NAME;
use crate::trouble::Trouble;
use crate::{curve25519, ecdsa, rsa};

/// Computes every operation into `out`.
pub(crate) fn run(shape: Shape, operations: &[Operation<'_>], out: &mut Outcomes) -> Result<(), EngineFault> {
    match shape {
        Shape::RsaPrivate { .. } => each(shape, operations, out, rsa::private),
        Shape::RsaPublic { .. } => each(shape, operations, out, rsa::public),
        Shape::ModExp { .. } => each(shape, operations, out, rsa::mod_exp),
        Shape::EcdsaSign { .. } => each(shape, operations, out, ecdsa::sign),
        Shape::EcdsaVerify { .. } => each(shape, operations, out, |operation, _| ecdsa::verify(operation)),
        Shape::Ed25519Sign => each(shape, operations, out, curve25519::sign),
        Shape::Ed25519Verify => each(shape, operations, out, |operation, _| curve25519::verify(operation)),
        Shape::X25519 => each(shape, operations, out, curve25519::derive),
        _ => Err(EngineFault::NotOffered { engine: NAME, shape }),
    }
}

fn each(
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
    compute: impl Fn(&Operation<'_>, &mut [u8]) -> Result<(), Trouble>,
) -> Result<(), EngineFault> {
    for (index, operation) in operations.iter().enumerate() {
        let result = out.result_mut(index);
        let done = check(shape, operation).and_then(|()| compute(operation, result));
        let status = match done {
            Ok(()) => Status::Done,
            Err(trouble) => {
                zeroize::Zeroize::zeroize(result);
                trouble.status()?
            }
        };
        out.set(index, status);
    }
    Ok(())
}

/// Jobs come checked; this keeps a caller's mistake from becoming another job's trouble.
fn check(shape: Shape, operation: &Operation<'_>) -> Result<(), Trouble> {
    if !operation.key.serves(shape) {
        return Err(Status::BadKey.into());
    }
    operation.check(shape).map_err(|_| Status::BadLength.into())
}
