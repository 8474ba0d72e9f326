//! Ed25519 and X25519.

use oarlock_core::{KeyParts, Operation, SecondInput, Status};
use zeroize::Zeroizing;

use crate::ffi;
use crate::op_error::OpError;

/// Signs with Ed25519. RFC 8032 5.1.6.
pub(crate) fn sign(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let Some(KeyParts::Ed25519Private(parts)) = operation.key.parts() else {
        return Err(Status::BadKey.into());
    };
    let mut key = Zeroizing::new([0; 64]);
    let (seed, public) = key.split_at_mut(32);
    if parts.seed.len() != seed.len() {
        return Err(Status::BadKey.into());
    }
    seed.copy_from_slice(parts.seed.expose());
    public.copy_from_slice(&parts.public);
    let out = out.try_into().map_err(|_| Status::BadLength)?;
    Ok(ffi::ed25519_sign(&key, operation.input, out)?)
}

/// Verifies an Ed25519 signature by AWS-LC's predicate, which the shape prescribes.
pub(crate) fn verify(operation: &Operation<'_>) -> Result<(), OpError> {
    let SecondInput::Signature(signature) = operation.extra else { return Err(Status::Malformed.into()) };
    let public = operation.key.ed25519_public().ok_or(Status::BadKey)?;
    let signature = signature.try_into().map_err(|_| Status::BadLength)?;
    let is_valid = ffi::ed25519_verify(public, operation.input, signature);
    if is_valid { Ok(()) } else { Err(Status::Rejected.into()) }
}

/// The u of the base point. RFC 7748 4.1.
const BASE_U: [u8; 32] = {
    let mut bytes = [0; 32];
    bytes[0] = 9;
    bytes
};

/// Computes X25519. RFC 7748 section 5. An all-zero result is not an error here: the scheme rejects it.
///
/// A public key, which is the product with the base point, takes a third of the time.
pub(crate) fn derive(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let Some(KeyParts::X25519Private(parts)) = operation.key.parts() else {
        return Err(Status::BadKey.into());
    };
    let scalar = parts.scalar.expose().try_into().map_err(|_| Status::BadKey)?;
    let peer: &[u8; 32] = operation.input.try_into().map_err(|_| Status::BadLength)?;
    let out = out.try_into().map_err(|_| Status::BadLength)?;
    // The peer is public, so the path may depend on it. Other encodings of the base point take the ladder.
    match *peer == BASE_U {
        true => ffi::x25519_public(scalar, out),
        false => ffi::x25519(scalar, peer, out),
    }
    Ok(())
}
