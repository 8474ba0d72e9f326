//! SLH-DSA. AWS-LC does not have it, so that the portable steps of the engine kit compute it.

use oarlock_core::{Key, KeyParts, NonceInput, Operation, SecondInput, SlhDsaSet, Status};
use oarlock_engine_kit::slh_dsa::{PortableSteps, SignatureCheck, SlhDsaFault, root, sign, verify};

use crate::op_error::OpError;

/// Writes PK.seed || PK.root, computed from the seeds of the key.
pub(crate) fn slh_dsa_keygen(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let (set, private) = slh_dsa_private(operation.key)?;
    let steps = prepared(operation.key)?;
    let root = root(steps, set, &private[..set.n()], &|| operation.is_cancelled()).map_err(status)?;
    let (seed_out, root_out) = out.split_at_mut_checked(set.n()).ok_or(Status::BadLength)?;
    if root_out.len() != root.len() {
        return Err(Status::BadLength.into());
    }
    seed_out.copy_from_slice(&private[2 * set.n()..3 * set.n()]);
    root_out.copy_from_slice(&root);
    Ok(())
}

/// Signs an encoded message with opt_rand of the operation.
pub(crate) fn slh_dsa_sign(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let (set, private) = slh_dsa_private(operation.key)?;
    let SecondInput::NonceInput(NonceInput::Hedged(random)) = operation.extra else {
        return Err(Status::Malformed.into());
    };
    let (message, opt_rand) = (operation.input, &random[..set.n()]);
    let is_cancelled = || operation.is_cancelled();
    sign(prepared(operation.key)?, set, private, message, opt_rand, out, &is_cancelled).map_err(status)
}

/// Verifies a signature of an encoded message.
pub(crate) fn slh_dsa_verify(operation: &Operation<'_>) -> Result<(), OpError> {
    let SecondInput::Signature(signature) = operation.extra else { return Err(Status::Malformed.into()) };
    let (set, public) = operation.key.slh_dsa_public().ok_or(Status::BadKey)?;
    let check = SignatureCheck { public, message: operation.input, signature };
    let verdicts = verify(prepared(operation.key)?, set, &[check]).map_err(status)?;
    if verdicts == [true] { Ok(()) } else { Err(Status::Rejected.into()) }
}

/// Returns the set and the four parts of a private key of the right length.
fn slh_dsa_private(key: &Key) -> Result<(SlhDsaSet, &[u8]), OpError> {
    match key.parts() {
        Some(KeyParts::SlhDsaPrivate(set, private)) if private.len() == set.private_len() => {
            Ok((*set, private.expose()))
        }
        _ => Err(Status::BadKey.into()),
    }
}

/// Returns the states after PK.seed, which stay with the handle.
fn prepared(key: &Key) -> Result<&PortableSteps, OpError> {
    key.prepared(|key| {
        let (set, public) = key.slh_dsa_public().ok_or(Status::BadKey)?;
        // A caller that makes keys of parts may have given it another length.
        if public.len() != set.public_len() {
            return Err(Status::BadKey.into());
        }
        Ok(PortableSteps::new(set, [public]))
    })
}

fn status(fault: SlhDsaFault) -> OpError {
    match fault {
        SlhDsaFault::Cancelled => Status::Cancelled.into(),
        SlhDsaFault::Digest(fault) => OpError::Digest(fault),
        _ => Status::BadKey.into(),
    }
}
