//! The known answers of ML-KEM and ML-DSA.

use oarlock_core::{MlDsaSet, MlKemSet, Status};
use oarlock_keys::raw;

use super::{KnownOperation, KnownResult, KnownSecondInput};
use crate::selftest::SelfTestFailure;
use crate::selftest::text::{bad_key, bytes, tagged};

const ML_KEM: &str = include_str!("../data/ml-kem.txt");
const ML_DSA: &str = include_str!("../data/ml-dsa.txt");

pub(super) fn ml_kem_keygen(set: MlKemSet) -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let mut cases = Vec::new();
    for words in tagged(ML_KEM, &format!("{set}-keygen")) {
        let key = raw::ml_kem_seed(set, &bytes(&words, 0)?).map_err(bad_key)?;
        cases.push(KnownOperation::plain(&key, Vec::new(), KnownResult::Output(bytes(&words, 1)?)));
    }
    Ok(cases)
}

pub(super) fn ml_kem_encaps(set: MlKemSet) -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let mut cases = Vec::new();
    for words in tagged(ML_KEM, &format!("{set}-encaps")) {
        let key = raw::ml_kem_public(set, &bytes(&words, 0)?).map_err(bad_key)?;
        let expected = KnownResult::Output([bytes(&words, 2)?, bytes(&words, 3)?].concat());
        cases.push(KnownOperation::plain(&key, bytes(&words, 1)?, expected));
    }
    Ok(cases)
}

/// Every ciphertext gives a secret, so that no case is refused.
pub(super) fn ml_kem_decaps(set: MlKemSet) -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let mut cases = Vec::new();
    for words in tagged(ML_KEM, &format!("{set}-decaps")) {
        let key = raw::ml_kem_seed(set, &bytes(&words, 0)?).map_err(bad_key)?;
        let expected = KnownResult::Output(bytes(&words, 2)?);
        cases.push(KnownOperation::plain(&key, bytes(&words, 1)?, expected));
    }
    Ok(cases)
}

pub(super) fn ml_dsa_sign(set: MlDsaSet) -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let mut cases = Vec::new();
    for words in tagged(ML_DSA, &set.to_string()) {
        let random = bytes(&words, 2)?.try_into();
        let random = random.map_err(|_| SelfTestFailure::Vectors { what: format!("rnd of {set}") })?;
        cases.push(KnownOperation {
            key: raw::ml_dsa_seed(set, &bytes(&words, 0)?).map_err(bad_key)?,
            input: bytes(&words, 1)?,
            extra: KnownSecondInput::Hedged(random),
            expected: KnownResult::Output(bytes(&words, 3)?),
        });
    }
    Ok(cases)
}

/// The signatures of [`ml_dsa_sign`]; and each with a changed hash, response or hint, or for another mu.
pub(super) fn ml_dsa_verify(set: MlDsaSet) -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let mut cases = Vec::new();
    for (index, words) in tagged(ML_DSA, &set.to_string()).iter().enumerate() {
        let key = raw::ml_dsa_seed(set, &bytes(words, 0)?).map_err(bad_key)?;
        let (mut mu, mut signature) = (bytes(words, 1)?, bytes(words, 3)?);
        cases.push(KnownOperation::signed(&key, mu.clone(), signature.clone(), Status::Done));
        match index {
            // The first byte of c~, the last but one of the counts of hints, a byte in the middle of z.
            0 => signature[0] ^= 1,
            1 => {
                let last = signature.len() - 2;
                signature[last] ^= 1;
            }
            2 => signature[1_000] ^= 0x10,
            _ => mu[63] ^= 0x80,
        }
        cases.push(KnownOperation::signed(&key, mu, signature, Status::Rejected));
    }
    Ok(cases)
}
