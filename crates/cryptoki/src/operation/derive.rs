//! Derivation of keys: key agreement with a key derivation function, and keys joined with data.

use oarlock::{Accelerator, DigestAlg, Input, Job, Key, KeyKind, Scheme, SecretBytes, SubmitOptions};
use zeroize::Zeroizing;

use super::digest::hash;
use super::failure::{FailureRule, to_return_code};
use crate::constants::{ReturnCode, parameter_values as value};
use crate::mechanism::{MechanismFamily, MechanismParameters};

/// The bytes of a derived key before it has its length.
pub(crate) struct DerivedValue {
    pub(crate) bytes: Zeroizing<Vec<u8>>,
    /// True if the value reveals the base key to somebody who knows the data.
    pub(crate) is_transparent: bool,
}

impl DerivedValue {
    /// Cuts the value to its length: an agreed secret at its start, and everything else at its end. PKCS#11 3.2 6.3.17
    /// and 6.43.
    ///
    /// # Errors
    /// [`ReturnCode::KeySizeRange`] if there are too few bytes.
    pub(crate) fn into_len(
        self,
        family: MechanismFamily,
        len: Option<usize>,
    ) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        let mut bytes = self.bytes;
        let Some(len) = len else { return Ok(bytes) };
        let surplus = bytes.len().checked_sub(len).ok_or(ReturnCode::KeySizeRange)?;
        if family == MechanismFamily::Ecdh {
            bytes.drain(..surplus);
        } else {
            bytes.truncate(len);
        }
        Ok(bytes)
    }
}

/// Derives the bytes of a key. A key derivation function yields exactly `len` bytes if it is given.
///
/// `second` is the other key of a concatenation.
///
/// # Errors
/// [`ReturnCode::MechanismParamInvalid`] for a bad point or an unknown function, [`ReturnCode::KeySizeRange`] if too
/// few bytes come out.
pub(crate) fn derive(
    accelerator: &Accelerator,
    base: &Key,
    family: MechanismFamily,
    parameters: &MechanismParameters<'_>,
    second: Option<&Key>,
    len: Option<usize>,
) -> Result<DerivedValue, ReturnCode> {
    let invalid = ReturnCode::MechanismParamInvalid;
    let secret = || base.secret().map(SecretBytes::expose).ok_or(ReturnCode::KeyTypeInconsistent);
    let joined = |first: &[u8], last: &[u8]| Zeroizing::new([first, last].concat());
    let bytes = match (family, *parameters) {
        (MechanismFamily::Ecdh, MechanismParameters::Ecdh { kdf, shared, public }) => {
            let agreed = agree(accelerator, base, public)?;
            let bytes = stretch(agreed, kdf, shared, len)?;
            return Ok(DerivedValue { bytes, is_transparent: false });
        }
        (MechanismFamily::ConcatenateKey, MechanismParameters::KeyHandle(_)) => {
            let second = second.and_then(Key::secret).ok_or(ReturnCode::KeyTypeInconsistent)?;
            joined(secret()?, second.expose())
        }
        (MechanismFamily::ConcatenateData, MechanismParameters::DerivationData(data)) => {
            joined(secret()?, data)
        }
        (MechanismFamily::ConcatenateDataFirst, MechanismParameters::DerivationData(data)) => {
            joined(data, secret()?)
        }
        (MechanismFamily::XorData, MechanismParameters::DerivationData(data)) => {
            let pairs = secret()?.iter().zip(data);
            Zeroizing::new(pairs.map(|(left, right)| left ^ right).collect())
        }
        _ => return Err(invalid),
    };
    Ok(DerivedValue { bytes, is_transparent: true })
}

/// Agrees on a secret with the peer's point.
fn agree(accelerator: &Accelerator, base: &Key, public: &[u8]) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    let (scheme, lens): (_, &[usize]) = match base.kind() {
        KeyKind::EcPrivate(curve) => (Scheme::Ecdh { curve }, &[65, 97]),
        KeyKind::X25519Private => (Scheme::X25519, &[32]),
        _ => return Err(ReturnCode::KeyTypeInconsistent),
    };
    // The point comes bare, or in an octet string as PKCS#11 2.40 and 3.0 allow.
    let is_bare = lens.contains(&public.len());
    let public = if is_bare { public } else { crate::object::unwrap_octets(public).unwrap_or(public) };
    let job = Job::with_scheme(scheme, base, Input::Message(public), &[]);
    let answer = accelerator.submit(&job, SubmitOptions::default()).wait();
    answer.map_err(|error| match to_return_code(&error, FailureRule::DERIVE) {
        // Everything that the caller can do wrong here is in the parameter.
        ReturnCode::DataInvalid | ReturnCode::FunctionFailed => ReturnCode::MechanismParamInvalid,
        code => code,
    })
}

/// Applies a key derivation function: none, or ANSI X9.63.
fn stretch(
    agreed: Zeroizing<Vec<u8>>,
    kdf: u64,
    shared: &[u8],
    len: Option<usize>,
) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    let alg = match kdf {
        value::CKD_NULL if shared.is_empty() => return Ok(agreed),
        value::CKD_SHA1_KDF => DigestAlg::Sha1,
        value::CKD_SHA224_KDF => DigestAlg::Sha224,
        value::CKD_SHA256_KDF => DigestAlg::Sha256,
        value::CKD_SHA384_KDF => DigestAlg::Sha384,
        value::CKD_SHA512_KDF => DigestAlg::Sha512,
        _ => return Err(ReturnCode::MechanismParamInvalid),
    };
    let len = len.unwrap_or(alg.output_len());
    let mut bytes = Zeroizing::new(Vec::with_capacity(len.next_multiple_of(alg.output_len())));
    for counter in 1_u32.. {
        if bytes.len() >= len {
            break;
        }
        bytes.extend_from_slice(hash(alg, &[&agreed, &counter.to_be_bytes(), shared])?.as_ref());
    }
    bytes.truncate(len);
    Ok(bytes)
}
