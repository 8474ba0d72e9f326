//! The operations of the contract, for every engine.

use oarlock_core::{Key, KeyParts, NonceInput, Operation, SecondInput, SlhDsaSet, Status};

use super::{HashSteps, SignatureCheck, SlhDsaFault};

impl From<SlhDsaFault> for Status {
    fn from(fault: SlhDsaFault) -> Self {
        match fault {
            SlhDsaFault::Cancelled => Self::Cancelled,
            SlhDsaFault::BadKey | SlhDsaFault::Message(_) => Self::BadKey,
        }
    }
}

/// Returns the four parts of a private key of the right length. PK.seed begins at 2n.
///
/// # Errors
/// [`Status::BadKey`] for other keys.
pub fn private_parts(key: &Key, set: SlhDsaSet) -> Result<&[u8], Status> {
    match key.parts() {
        Some(KeyParts::SlhDsaPrivate(_, private)) if private.len() == set.private_len() => {
            Ok(private.expose())
        }
        _ => Err(Status::BadKey),
    }
}

/// Returns the signature of an operation with its message and its key.
///
/// # Errors
/// [`Status::BadKey`] if the public key has another length, [`Status::Malformed`] without a signature.
pub fn signature_check<'a>(
    operation: &'a Operation<'a>,
    set: SlhDsaSet,
) -> Result<SignatureCheck<'a>, Status> {
    let SecondInput::Signature(signature) = operation.extra else { return Err(Status::Malformed) };
    let (_, public) = operation.key.slh_dsa_public().ok_or(Status::BadKey)?;
    let is_whole = public.len() == set.public_len();
    is_whole.then_some(SignatureCheck { public, message: operation.input, signature }).ok_or(Status::BadKey)
}

/// Writes PK.seed || PK.root, computed from the seeds of `private`.
///
/// # Errors
/// [`Status::Cancelled`], [`Status::BadKey`].
pub fn generate(
    steps: &impl HashSteps,
    set: SlhDsaSet,
    operation: &Operation<'_>,
    private: &[u8],
    out: &mut [u8],
) -> Result<(), Status> {
    let n = set.n();
    let root = super::root(steps, set, &private[..n], &|| operation.is_cancelled())?;
    out[..n].copy_from_slice(&private[2 * n..3 * n]);
    out[n..].copy_from_slice(&root);
    Ok(())
}

/// Signs the encoded message of an operation with its opt_rand.
///
/// # Errors
/// [`Status::Malformed`] without opt_rand, [`Status::Cancelled`], [`Status::BadKey`].
pub fn sign(
    steps: &impl HashSteps,
    set: SlhDsaSet,
    operation: &Operation<'_>,
    private: &[u8],
    out: &mut [u8],
) -> Result<(), Status> {
    let SecondInput::NonceInput(NonceInput::Hedged(random)) = operation.extra else {
        return Err(Status::Malformed);
    };
    let is_cancelled = || operation.is_cancelled();
    super::sign(steps, set, private, operation.input, &random[..set.n()], out, &is_cancelled)?;
    Ok(())
}
