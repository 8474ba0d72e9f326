//! The loop over public-key operations.

use oarlock_core::{EngineFault, Operation, Outcomes, Shape, Status};

use crate::fault::not_offered;
use crate::op_error::OpError;
use crate::{curve25519, ecdh, ecdsa, hash_based, lattice, rsa};

/// Computes every operation into `out`. `verdicts` are the results of signatures that tables have verified; it can
/// be empty.
pub(crate) fn run(
    shape: Shape,
    operations: &[Operation<'_>],
    verdicts: &[Option<bool>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    match shape {
        Shape::RsaPrivate { .. } => each(shape, operations, out, rsa::private),
        Shape::RsaPublic { .. } => each(shape, operations, out, rsa::public),
        Shape::ModExp { .. } => each(shape, operations, out, rsa::mod_exp),
        Shape::EcdsaSign { .. } => each(shape, operations, out, ecdsa::sign),
        Shape::EcdsaVerify { .. } => verify_others(shape, operations, verdicts, out, ecdsa::verify),
        Shape::Ed25519Sign => each(shape, operations, out, curve25519::sign),
        Shape::Ed25519Verify => verify_others(shape, operations, verdicts, out, curve25519::verify),
        Shape::X25519 => each(shape, operations, out, curve25519::derive),
        Shape::Ecdh { .. } => each(shape, operations, out, ecdh::derive),
        Shape::MlKemKeygen { .. } => each(shape, operations, out, lattice::ml_kem_keygen),
        Shape::MlKemEncaps { .. } => each(shape, operations, out, lattice::ml_kem_encaps),
        Shape::MlKemDecaps { .. } => each(shape, operations, out, lattice::ml_kem_decaps),
        Shape::MlDsaSign { .. } => each(shape, operations, out, lattice::ml_dsa_sign),
        Shape::MlDsaVerify { .. } => verify_others(shape, operations, verdicts, out, lattice::ml_dsa_verify),
        Shape::SlhDsaKeygen { .. } => each(shape, operations, out, hash_based::slh_dsa_keygen),
        Shape::SlhDsaSign { .. } => each(shape, operations, out, hash_based::slh_dsa_sign),
        Shape::SlhDsaVerify { .. } => {
            verify_others(shape, operations, verdicts, out, hash_based::slh_dsa_verify)
        }
        Shape::HssVerify | Shape::XmssVerify => {
            verify_others(shape, operations, verdicts, out, hash_based::stateful_verify)
        }
        _ => Err(not_offered(shape)),
    }
}

fn each(
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
    compute: impl Fn(&Operation<'_>, &mut [u8]) -> Result<(), OpError>,
) -> Result<(), EngineFault> {
    for (index, operation) in operations.iter().enumerate() {
        let result = out.result_mut(index);
        let done = check_shape(shape, operation).and_then(|()| compute(operation, result));
        let status = match done {
            Ok(()) => Status::Done,
            Err(error) => {
                // A failed operation must not leave a partial result, which can be a faulty signature.
                zeroize::Zeroize::zeroize(result);
                error.status()?
            }
        };
        out.set(index, status);
    }
    Ok(())
}

/// Uses the verdicts of the tables and verifies the other signatures. A verification has no result but its status.
fn verify_others(
    shape: Shape,
    operations: &[Operation<'_>],
    verdicts: &[Option<bool>],
    out: &mut Outcomes,
    verify: impl Fn(&Operation<'_>) -> Result<(), OpError>,
) -> Result<(), EngineFault> {
    for (index, operation) in operations.iter().enumerate() {
        let status = match verdicts.get(index).copied().flatten() {
            Some(true) => Status::Done,
            Some(false) => Status::Rejected,
            None => match check_shape(shape, operation).and_then(|()| verify(operation)) {
                Ok(()) => Status::Done,
                Err(error) => error.status()?,
            },
        };
        out.set(index, status);
    }
    Ok(())
}

/// Checks that a job is of the shape of the run. Its type proves that key and lengths fit its own shape; a job of
/// another shape fails alone.
fn check_shape(shape: Shape, operation: &Operation<'_>) -> Result<(), OpError> {
    if operation.fits(shape) { Ok(()) } else { Err(Status::BadKey.into()) }
}
