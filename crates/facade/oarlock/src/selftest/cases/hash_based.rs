//! The known answers of SLH-DSA, HSS and XMSS, and workloads to time engines with.
//!
//! A signature takes up to a second, so that no signature is a known answer, and only some sets have known answers:
//! [`proved_shape`] names the one that stands for another. Key generation goes through PRF, chains of F, T and H of the
//! set's hash functions, and verification through H_msg, F, T and H, for each pair of hash functions that a set can
//! have. What is left is the same code for every engine: the splitting of the digest, PRF_msg, and the order of the
//! parts of a signature. Each signature is verified before its release.

use oarlock_core::{Key, KeyParts, NonceInput, OperationSet, SecondInput, Shape, SlhDsaSet, Status};
use oarlock_engine_kit::slh_dsa::{PortableSteps, encoded_message, sign};
use oarlock_engine_kit::stateful::KNOWN_SIGNATURES;
use oarlock_keys::{KeyError, raw};

use super::{KnownOperation, KnownResult};
use crate::selftest::SelfTestFailure;
use crate::selftest::text::{bad_key, bytes, tagged};

const SLH_DSA: &str = include_str!("../data/slh-dsa.txt");

/// Returns the shape of SLH-DSA whose known answers stand for those of another: of the smallest set with the same hash
/// functions. Only SHA-2 has two pairs of them. FIPS 205 section 11.2.
pub(in crate::selftest) fn proved_shape(shape: Shape) -> Shape {
    let [fast, small] = match shape {
        Shape::SlhDsaKeygen { set } | Shape::SlhDsaSign { set } | Shape::SlhDsaVerify { set } => {
            match (set.is_shake(), set.n()) {
                (true, _) => [SlhDsaSet::Shake128f, SlhDsaSet::Shake128s],
                (false, 16) => [SlhDsaSet::Sha2_128f, SlhDsaSet::Sha2_128s],
                (false, _) => [SlhDsaSet::Sha2_192f, SlhDsaSet::Sha2_192s],
            }
        }
        other => return other,
    };
    match shape {
        // The set of small signatures has a third of the layers, and so a third of the hashes.
        Shape::SlhDsaVerify { .. } => Shape::SlhDsaVerify { set: small },
        _ => Shape::SlhDsaKeygen { set: fast },
    }
}

pub(super) fn keygen(set: SlhDsaSet) -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let mut cases = Vec::new();
    for key in keys(set)? {
        let public = key.slh_dsa_public().map_or(&[][..], |(_, public)| public).to_vec();
        cases.push(KnownOperation::plain(&key, Vec::new(), KnownResult::Output(public)));
    }
    Ok(cases)
}

/// A signature; and the same with a change at its end, and for another message.
pub(super) fn verify(set: SlhDsaSet) -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let mut cases = Vec::new();
    for words in tagged(SLH_DSA, &format!("{set}-signature")) {
        let key = first_key(set)?;
        let (message, signature) = (bytes(&words, 0)?, bytes(&words, 1)?);
        let (mut other, mut changed) = (message.clone(), signature.clone());
        other.push(0);
        changed.iter_mut().next_back().into_iter().for_each(|last| *last ^= 1);
        cases.push(KnownOperation::signed(&key, message.clone(), signature.clone(), Status::Done));
        cases.push(KnownOperation::signed(&key, message, changed, Status::Rejected));
        cases.push(KnownOperation::signed(&key, other, signature, Status::Rejected));
    }
    Ok(cases)
}

/// A signature of HSS or XMSS for each hash function; and the same with a change at its end.
pub(super) fn stateful(
    scheme: &str,
    import: fn(&[u8]) -> Result<Key, KeyError>,
) -> Result<Vec<KnownOperation>, SelfTestFailure> {
    let mut cases = Vec::new();
    for words in tagged(KNOWN_SIGNATURES, scheme) {
        let key = import(&bytes(&words, 0)?).map_err(bad_key)?;
        let (message, signature) = (bytes(&words, 1)?, bytes(&words, 2)?);
        let mut changed = signature.clone();
        changed.iter_mut().next_back().into_iter().for_each(|last| *last ^= 1);
        cases.push(KnownOperation::signed(&key, message.clone(), signature, Status::Done));
        cases.push(KnownOperation::signed(&key, message, changed, Status::Rejected));
    }
    Ok(cases)
}

/// Makes operations of any set, such as signatures of the slow sets.
pub(in crate::selftest) fn samples(
    shape: Shape,
    set: SlhDsaSet,
    count: usize,
) -> Result<OperationSet, SelfTestFailure> {
    let failed = |error: &dyn ToString| SelfTestFailure::Vectors { what: error.to_string() };
    let (key, random) = (first_key(set)?, [7; 32]);
    let message = encoded_message(b"context", b"message").map_err(|fault| failed(&fault))?;
    let signature = match (shape, tagged(SLH_DSA, &format!("{set}-signature")).first()) {
        // Of the same message. The costs of engines are measured with these, so that they must be quick to make.
        (Shape::SlhDsaVerify { .. }, Some(words)) => bytes(words, 1)?,
        (Shape::SlhDsaVerify { .. }, None) => signature(set, &key, &message, &random)?,
        _ => Vec::new(),
    };
    let (input, extra) = match shape {
        Shape::SlhDsaVerify { .. } => (&message[..], SecondInput::Signature(&signature)),
        Shape::SlhDsaSign { .. } => (&message[..], SecondInput::NonceInput(NonceInput::Hedged(&random))),
        _ => (&[][..], SecondInput::None),
    };
    let mut operations = OperationSet::new(shape);
    for _ in 0..count {
        operations.push(&key, input, extra).map_err(|error| failed(&error))?;
    }
    Ok(operations)
}

fn signature(
    set: SlhDsaSet,
    key: &Key,
    message: &[u8],
    random: &[u8; 32],
) -> Result<Vec<u8>, SelfTestFailure> {
    let Some(KeyParts::SlhDsaPrivate(_, private)) = key.parts() else {
        return Err(SelfTestFailure::NoVectors { shape: Shape::SlhDsaSign { set } });
    };
    let steps = PortableSteps::new(set, [&private.expose()[set.public_len()..]]);
    let mut signature = vec![0; set.signature_len()];
    let signed = sign(&steps, set, private.expose(), message, &random[..set.n()], &mut signature, &|| false);
    signed.map_err(|fault| SelfTestFailure::Vectors { what: fault.to_string() })?;
    Ok(signature)
}

fn keys(set: SlhDsaSet) -> Result<Vec<Key>, SelfTestFailure> {
    // An import would compute the root again, which takes as long as the test.
    let key = |words: &Vec<&str>| {
        let private = bytes(words, 0)?;
        let public = private.get(set.public_len()..).unwrap_or_default();
        let fingerprint = raw::slh_dsa_public(set, public).map_err(bad_key)?.fingerprint();
        Ok(Key::local(KeyParts::SlhDsaPrivate(set, private.into()), fingerprint))
    };
    tagged(SLH_DSA, &format!("{set}-key")).iter().map(key).collect()
}

fn first_key(set: SlhDsaSet) -> Result<Key, SelfTestFailure> {
    let missing = || SelfTestFailure::Vectors { what: format!("key of {set}") };
    keys(set)?.into_iter().next().ok_or_else(missing)
}
