//! Encapsulation by ML-KEM.

use oarlock::{Key, KeyKind, MlKemSet, Scheme};
use zeroize::Zeroizing;

use super::compute::{Computation, ComputedBytes, PlannedJob};
use super::failure::FailureRule;
use super::pieces::WholeMessage;
use crate::constants::ReturnCode;

/// Plans an encapsulation. Its output is divided by [`split_encapsulated`].
pub(crate) fn plan_encapsulation(key: &Key, set: MlKemSet) -> Computation<'_> {
    Computation::job(job(Scheme::MlKemEncaps { set }, key, &[]), FailureRule::ENCRYPT)
}

/// Plans a decapsulation. A ciphertext of another length is a bad one, and every other gives a secret.
pub(crate) fn plan_decapsulation<'a>(key: &'a Key, set: MlKemSet, ciphertext: &'a [u8]) -> Computation<'a> {
    Computation::job(job(Scheme::MlKemDecaps { set }, key, ciphertext), FailureRule::DECAPSULATE)
}

fn job<'a>(scheme: Scheme, key: &'a Key, input: &'a [u8]) -> PlannedJob<'a> {
    let input = WholeMessage::Lent(input);
    PlannedJob { scheme, key, input, is_digest: false, second: &[], context: &[] }
}

/// The output of an encapsulation.
pub(crate) struct Encapsulated {
    pub(crate) ciphertext: Zeroizing<Vec<u8>>,
    pub(crate) secret: Zeroizing<Vec<u8>>,
}

/// Divides the output of an encapsulation.
pub(crate) fn split_encapsulated(made: ComputedBytes, set: MlKemSet) -> Result<Encapsulated, ReturnCode> {
    let made = made?;
    let (ciphertext, secret) = made.split_at_checked(set.ciphertext_len()).ok_or(ReturnCode::GeneralError)?;
    let to_secret = |bytes: &[u8]| Zeroizing::new(bytes.to_vec());
    Ok(Encapsulated { ciphertext: to_secret(ciphertext), secret: to_secret(secret) })
}

/// Returns the parameter set of an ML-KEM key.
///
/// # Errors
/// [`ReturnCode::KeyTypeInconsistent`].
pub(crate) fn ml_kem_set(key: &Key) -> Result<MlKemSet, ReturnCode> {
    match key.kind() {
        KeyKind::MlKemPrivate(set) | KeyKind::MlKemPublic(set) => Ok(set),
        _ => Err(ReturnCode::KeyTypeInconsistent),
    }
}
