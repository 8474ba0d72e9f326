//! ECDSA signing and verification.

use oarlock_core::{EcPrivateParts, KeyParts, NonceInput, Operation, SecondInput, Status};

use crate::ffi::{EcPrivate, EcPublic};
use crate::op_error::OpError;
use crate::rfc6979;

/// Signs and writes r || s. For hedged nonces AWS-LC draws its own random bytes and mixes them with a hash of key
/// and digest. The caller's random bytes stay unused, which the contract allows.
pub(crate) fn sign(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let (parts, key) = private_key(operation)?;
    match operation.extra {
        SecondInput::NonceInput(NonceInput::Hedged(_)) => Ok(key.sign(operation.input, out)?),
        SecondInput::NonceInput(NonceInput::Deterministic(alg)) => {
            rfc6979::sign(parts, alg, operation.input, |k| {
                Ok(key.sign_with_nonce(operation.input, k, out)?)
            })
        }
        SecondInput::None | SecondInput::Signature(_) => Err(Status::Malformed.into()),
    }
}

/// Returns the private key of an operation with its prepared form, which ECDSA and ECDH share.
pub(crate) fn private_key<'a>(
    operation: &'a Operation<'_>,
) -> Result<(&'a EcPrivateParts, &'a EcPrivate), OpError> {
    let Some(KeyParts::EcPrivate(parts)) = operation.key.parts() else { return Err(Status::BadKey.into()) };
    let key = operation
        .key
        .prepared(|_| EcPrivate::new(parts.curve, parts.scalar.expose()).map_err(OpError::from_key_error))?;
    Ok((parts, key))
}

/// Verifies r || s. Values of r and s outside [1, n-1] are rejected like any other wrong signature.
pub(crate) fn verify(operation: &Operation<'_>) -> Result<(), OpError> {
    let SecondInput::Signature(signature) = operation.extra else { return Err(Status::Malformed.into()) };
    let (curve, point) = operation.key.ec_public().ok_or(Status::BadKey)?;
    let key = operation.key.prepared(|_| EcPublic::new(curve, point).map_err(OpError::from_key_error))?;
    if key.verify(operation.input, signature)? { Ok(()) } else { Err(Status::Rejected.into()) }
}
