//! Bare RSA operations, and the encodings of RSA encryption. RFC 8017.

use aws_lc_rs::rand;
use oarlock::engine_api::{OperationSet, SecondInput};
use oarlock::{Accelerator, DigestAlg, Key, KeyKind, Shape};
use zeroize::Zeroizing;

use super::compute::{Computation, ComputedBytes};
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

/// A bare operation of RSA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BareRsa {
    Public,
    /// A key of a server does not do it.
    Private,
}

impl BareRsa {
    fn shape(self, key: &Key) -> Result<Shape, ReturnCode> {
        if self == Self::Public {
            return key.rsa_public_shape().ok_or(ReturnCode::KeyTypeInconsistent);
        }
        let KeyKind::RsaPrivate(bits) = key.kind() else { return Err(ReturnCode::KeyTypeInconsistent) };
        if key.home() != &oarlock::KeyHome::Local {
            // With bare operations, a server's key would sign and decrypt everything that its grants exclude.
            return Err(ReturnCode::KeyFunctionNotPermitted);
        }
        Ok(Shape::RsaPrivate { bits })
    }
}

/// Plans a bare operation over an integer of at most the modulus's length.
///
/// # Errors
/// [`ReturnCode::DataLenRange`] for a longer one, [`ReturnCode::DataInvalid`] if it is not below the modulus.
pub(crate) fn plan<'a>(
    operation: BareRsa,
    key: &Key,
    input: &[u8],
    rule: FailureRule,
) -> Result<Computation<'a>, ReturnCode> {
    let mut set = OperationSet::with_capacity(operation.shape(key)?, 1, modulus_len(key)?);
    push(&mut set, key, input, rule)?;
    Ok(Computation::operation(set, rule))
}

/// Computes bare operations in one batch. An input that is an error stays one.
pub(crate) fn operate_many<B: AsRef<[u8]>>(
    accelerator: &Accelerator,
    operation: BareRsa,
    key: &Key,
    inputs: impl ExactSizeIterator<Item = Result<B, ReturnCode>>,
    rule: FailureRule,
) -> Result<Vec<ComputedBytes>, ReturnCode> {
    let count = inputs.len();
    let mut set = OperationSet::with_capacity(operation.shape(key)?, count, count * modulus_len(key)?);
    let pushed: Vec<_> = inputs.map(|input| push(&mut set, key, input?.as_ref(), rule)).collect();
    let results = accelerator.raw().run(&set);
    // The set has only the inputs without errors, so its results are counted apart.
    let mut indices = 0..;
    let answers = pushed.into_iter().map(|pushed| {
        pushed?;
        let result = results.get(indices.next().unwrap_or(usize::MAX));
        Ok(Zeroizing::new(result.map_err(|error| to_return_code(&error, rule))?.to_vec()))
    });
    Ok(answers.collect())
}

/// Adds an operation to a set.
fn push(set: &mut OperationSet, key: &Key, input: &[u8], rule: FailureRule) -> Result<(), ReturnCode> {
    let integer = widened(input, modulus_len(key)?).ok_or(rule.length)?;
    set.push(key, &integer, SecondInput::None).map_err(|error| to_return_code(&error, rule))
}

/// Puts zeros before an integer, or returns `None` if it is longer than `len`.
fn widened(input: &[u8], len: usize) -> Option<Zeroizing<Vec<u8>>> {
    let zeros = len.checked_sub(input.len())?;
    let mut integer = Zeroizing::new(vec![0; len]);
    integer.iter_mut().skip(zeros).zip(input).for_each(|(to, from)| *to = *from);
    Some(integer)
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
        // A zero would end the padding, so zeros are left out and more bytes are drawn until there are enough.
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
    encoded.extend_from_slice(&hash(digest, &[label])?);
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
        chunk.iter_mut().zip(mask.iter()).for_each(|(byte, mask)| *byte ^= mask);
    }
    Ok(())
}
