//! SLH-DSA, HSS and XMSS. AWS-LC does not have them, so that the portable hashes of the engine kit compute them.

use oarlock_core::{Key, Operation, SlhDsaSet, Status};
use oarlock_engine_kit::slh_dsa::{PortableSteps, operation, verify};
use oarlock_engine_kit::stateful::{self, PortableHasher, StatefulCheck};

use crate::op_error::OpError;

/// Writes PK.seed || PK.root, computed from the seeds of the key.
pub(crate) fn slh_dsa_keygen(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let (set, steps) = prepared(operation.key)?;
    let private = operation::private_parts(operation.key, set)?;
    operation::generate(steps, set, operation, private, out).map_err(OpError::from)
}

/// Signs an encoded message with opt_rand of the operation.
pub(crate) fn slh_dsa_sign(operation: &Operation<'_>, out: &mut [u8]) -> Result<(), OpError> {
    let (set, steps) = prepared(operation.key)?;
    let private = operation::private_parts(operation.key, set)?;
    operation::sign(steps, set, operation, private, out).map_err(OpError::from)
}

/// Verifies a signature of an encoded message.
pub(crate) fn slh_dsa_verify(operation: &Operation<'_>) -> Result<(), OpError> {
    let (set, steps) = prepared(operation.key)?;
    let check = operation::signature_check(operation, set)?;
    if verify(steps, set, &[check]) == [true] { Ok(()) } else { Err(Status::Rejected.into()) }
}

/// Verifies an HSS or XMSS signature of a message.
pub(crate) fn stateful_verify(operation: &Operation<'_>) -> Result<(), OpError> {
    let check = StatefulCheck::new(operation)?;
    if stateful::verify(&PortableHasher, &[check]) == [true] { Ok(()) } else { Err(Status::Rejected.into()) }
}

/// Returns the set of a key and the states after PK.seed, which stay with the handle.
fn prepared(key: &Key) -> Result<(SlhDsaSet, &PortableSteps), OpError> {
    let (set, public) = key.slh_dsa_public().ok_or(Status::BadKey)?;
    // A caller that makes keys of parts may have given it another length.
    if public.len() != set.public_len() {
        return Err(Status::BadKey.into());
    }
    let steps = key.prepared(|_| Ok::<_, Status>(PortableSteps::new(set, [public])))?;
    Ok((set, steps))
}
