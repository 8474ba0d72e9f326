//! ML-KEM and ML-DSA.

use oarlock_core::{
    Key, KeyParts, LatticePrivate, MlDsaSet, MlKemSet, NonceInput, Operation, SecondInput, Status,
};
use oarlock_engine_kit::lattice::{ExpandedKey, LatticeFault, ml_dsa, ml_kem};

use crate::op_error::OpError;

/// Writes the encapsulation key of a seed. The expanded key stays with the handle for the decapsulation that follows.
pub(crate) fn ml_kem_keygen(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let (set, private) = ml_kem_private(operation.key)?;
    let LatticePrivate::Seed(seed) = private else { return Err(Status::BadKey.into()) };
    let key = ml_kem_expanded(operation.key, set, seed.expose())?;
    let is_whole = out.len() == key.public.len();
    is_whole.then(|| out.copy_from_slice(&key.public)).ok_or(Status::BadLength.into())
}

/// Encapsulates from the random bytes of the operation.
pub(crate) fn ml_kem_encaps(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let (set, public) = operation.key.ml_kem_public().ok_or(Status::BadKey)?;
    let random = operation.input.try_into().map_err(|_| Status::BadLength)?;
    ml_kem::encapsulate(set, public, random, out).map_err(bad_key)
}

/// Decapsulates. Every ciphertext gives a secret.
pub(crate) fn ml_kem_decaps(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let (set, private) = ml_kem_private(operation.key)?;
    let expanded = match private {
        LatticePrivate::Seed(seed) => &ml_kem_expanded(operation.key, set, seed.expose())?.private[..],
        LatticePrivate::Expanded(expanded) => expanded.expose(),
    };
    let secret = out.try_into().map_err(|_| Status::BadLength)?;
    ml_kem::decapsulate(set, expanded, operation.input, secret).map_err(bad_key)
}

/// Signs mu with the random bytes of the operation.
pub(crate) fn ml_dsa_sign(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let Some(KeyParts::MlDsaPrivate(parts)) = operation.key.parts() else {
        return Err(Status::BadKey.into());
    };
    let SecondInput::NonceInput(NonceInput::Hedged(random)) = operation.extra else {
        return Err(Status::Malformed.into());
    };
    let expanded = match &parts.private {
        LatticePrivate::Seed(seed) => &ml_dsa_expanded(operation.key, parts.set, seed.expose())?.private[..],
        LatticePrivate::Expanded(expanded) => expanded.expose(),
    };
    let mu = operation.input.try_into().map_err(|_| Status::BadLength)?;
    ml_dsa::sign(parts.set, expanded, mu, random, out).map_err(bad_key)
}

/// Verifies a signature of mu.
pub(crate) fn ml_dsa_verify(operation: &Operation<'_>) -> Result<(), OpError> {
    let SecondInput::Signature(signature) = operation.extra else { return Err(Status::Malformed.into()) };
    let (set, public) = operation.key.ml_dsa_public().ok_or(Status::BadKey)?;
    let mu = operation.input.try_into().map_err(|_| Status::BadLength)?;
    let is_valid = ml_dsa::verify(set, public, mu, signature);
    if is_valid { Ok(()) } else { Err(Status::Rejected.into()) }
}

fn ml_kem_private(key: &Key) -> Result<(MlKemSet, &LatticePrivate), OpError> {
    match key.parts() {
        Some(KeyParts::MlKemPrivate(parts)) => Ok((parts.set, &parts.private)),
        _ => Err(Status::BadKey.into()),
    }
}

fn ml_kem_expanded<'k>(key: &'k Key, set: MlKemSet, seed: &[u8]) -> Result<&'k ExpandedKey, OpError> {
    let seed = seed.try_into().map_err(|_| Status::BadKey)?;
    key.prepared(|_| ml_kem::expand(set, seed)).map_err(bad_key)
}

fn ml_dsa_expanded<'k>(key: &'k Key, set: MlDsaSet, seed: &[u8]) -> Result<&'k ExpandedKey, OpError> {
    let seed = seed.try_into().map_err(|_| Status::BadKey)?;
    key.prepared(|_| ml_dsa::expand(set, seed)).map_err(bad_key)
}

/// AWS-LC allocates no memory for these shapes, so it fails for keys that are wrong only. The import of keys finds
/// them; a caller that makes keys of parts may not have looked.
fn bad_key(_: LatticeFault) -> OpError {
    Status::BadKey.into()
}
