//! Bare RSA operations, and the encodings of RSA encryption. RFC 8017.

use aws_lc_rs::rand;
use oarlock::engine_api::{OperationSet, SecondInput};
use oarlock::{Accelerator, DigestAlg, JobError, Key, KeyKind, Shape};
use zeroize::Zeroizing;

use super::digest::hash;
use super::failure::{FailureRule, to_return_code};
use crate::constants::ReturnCode;

/// Returns the number of bytes of the modulus.
pub(crate) fn modulus_len(key: &Key) -> Result<usize, ReturnCode> {
    let bits = match key.kind() {
        KeyKind::RsaPrivate(bits) | KeyKind::RsaPublic(bits) => bits,
        _ => return Err(ReturnCode::KeyTypeInconsistent),
    };
    Ok(usize::from(bits).div_ceil(8))
}

/// Computes the public operation over an integer of at most the modulus's length.
///
/// # Errors
/// [`ReturnCode::DataLenRange`] for a longer one, [`ReturnCode::DataInvalid`] if it is not below the modulus.
pub(crate) fn public_operation(
    accelerator: &Accelerator,
    key: &Key,
    input: &[u8],
    rule: FailureRule,
) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    let shape = key.rsa_public_shape().ok_or(ReturnCode::KeyTypeInconsistent)?;
    operate(accelerator, shape, key, input, rule)
}

/// Computes the private operation, which a key of a server does not do.
///
/// # Errors
/// As [`public_operation`].
pub(crate) fn private_operation(
    accelerator: &Accelerator,
    key: &Key,
    input: &[u8],
    rule: FailureRule,
) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    let KeyKind::RsaPrivate(bits) = key.kind() else { return Err(ReturnCode::KeyTypeInconsistent) };
    if key.home() != &oarlock::KeyHome::Local {
        // With bare operations, a server's key would sign and decrypt everything that its grants exclude.
        return Err(ReturnCode::KeyFunctionNotPermitted);
    }
    operate(accelerator, Shape::RsaPrivate { bits }, key, input, rule)
}

fn operate(
    accelerator: &Accelerator,
    shape: Shape,
    key: &Key,
    input: &[u8],
    rule: FailureRule,
) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    let len = modulus_len(key)?;
    let zeros = len.checked_sub(input.len()).ok_or(rule.length)?;
    let mut integer = Zeroizing::new(vec![0; len]);
    integer.iter_mut().skip(zeros).zip(input).for_each(|(to, from)| *to = *from);
    let mut set = OperationSet::with_capacity(shape, 1, len);
    let failed = |error: JobError| to_return_code(&error, rule);
    set.push(key, &integer, SecondInput::None).map_err(failed)?;
    let results = accelerator.diagnostics().dispatcher().run_all(&set);
    Ok(Zeroizing::new(results.get(0).map_err(failed)?.to_vec()))
}

/// Returns the encoding of RSAES-PKCS1-v1_5. RFC 8017 7.2.1.
///
/// # Errors
/// [`ReturnCode::DataLenRange`].
pub(crate) fn encode_pkcs1(message: &[u8], len: usize) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    // Two bytes of header, at least eight of padding, and the separator.
    let padding_len = len.checked_sub(message.len() + 3).filter(|len| *len >= 8);
    let padding_len = padding_len.ok_or(ReturnCode::DataLenRange)?;
    let mut encoded = Zeroizing::new(Vec::with_capacity(len));
    encoded.extend_from_slice(&[0, 2]);
    while encoded.len() < 2 + padding_len {
        let mut bytes = Zeroizing::new([0; 64]);
        rand::fill(&mut *bytes).map_err(|_| ReturnCode::RandomNoRng)?;
        let missing = 2 + padding_len - encoded.len();
        encoded.extend(bytes.iter().filter(|byte| **byte != 0).take(missing));
    }
    encoded.push(0);
    encoded.extend_from_slice(message);
    Ok(encoded)
}

/// Returns the encoding of RSAES-OAEP. RFC 8017 7.1.1.
///
/// # Errors
/// [`ReturnCode::DataLenRange`].
pub(crate) fn encode_oaep(
    message: &[u8],
    label: &[u8],
    (digest, mgf): (DigestAlg, DigestAlg),
    len: usize,
) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    let hash_len = digest.output_len();
    let zeros = len.checked_sub(message.len() + 2 * hash_len + 2).ok_or(ReturnCode::DataLenRange)?;
    let mut encoded = Zeroizing::new(Vec::with_capacity(len));
    let mut seed = Zeroizing::new(vec![0; hash_len]);
    rand::fill(&mut seed).map_err(|_| ReturnCode::RandomNoRng)?;
    encoded.push(0);
    encoded.extend_from_slice(&seed);
    encoded.extend_from_slice(hash(digest, &[label])?.as_ref());
    let separator = encoded.len() + zeros;
    encoded.resize(separator, 0);
    encoded.push(1);
    encoded.extend_from_slice(message);
    let (head, block) = encoded.split_at_mut(1 + hash_len);
    xor_mask(mgf, &seed, block)?;
    if let Some(masked_seed) = head.get_mut(1..) {
        xor_mask(mgf, block, masked_seed)?;
    }
    Ok(encoded)
}

/// `target ^= MGF1(seed, target.len())`. RFC 8017 B.2.1.
fn xor_mask(mgf: DigestAlg, seed: &[u8], target: &mut [u8]) -> Result<(), ReturnCode> {
    for (counter, chunk) in (0_u32..).zip(target.chunks_mut(mgf.output_len())) {
        let mask = hash(mgf, &[seed, &counter.to_be_bytes()])?;
        chunk.iter_mut().zip(mask.as_ref()).for_each(|(byte, mask)| *byte ^= mask);
    }
    Ok(())
}
