//! Derivation of keys: key agreement with a key derivation function, and keys joined with data.

use oarlock::{DigestAlg, Input, Job, Key, KeyKind, Scheme, SecretBytes};
use zeroize::Zeroizing;

use super::compute::ComputeRoute;
use super::digest::hash;
use super::failure::{FailureRule, to_return_code};
use crate::constants::{ReturnCode, parameter_values as value};
use crate::mechanism::{MechanismFamily, MechanismParameters};

/// The source of a derived key.
pub(crate) enum Derivation {
    /// A key agreement with a peer, and a key derivation function.
    Ecdh { kdf: u64, shared: Vec<u8>, public: Vec<u8> },
    /// Bytes that are known already: keys joined with data.
    Joined(Zeroizing<Vec<u8>>),
}

impl Derivation {
    /// Checks the parameters. `second` is the other key of a concatenation.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismParamInvalid`], [`ReturnCode::KeyTypeInconsistent`].
    pub(crate) fn new(
        base: &Key,
        family: MechanismFamily,
        parameters: &MechanismParameters<'_>,
        second: Option<&Key>,
    ) -> Result<Self, ReturnCode> {
        let secret = || base.secret().map(SecretBytes::expose).ok_or(ReturnCode::KeyTypeInconsistent);
        let joined = |first: &[u8], last: &[u8]| Self::Joined(Zeroizing::new([first, last].concat()));
        Ok(match (family, *parameters) {
            (MechanismFamily::Ecdh, MechanismParameters::Ecdh { kdf, shared, public }) => {
                Self::Ecdh { kdf, shared: shared.to_vec(), public: public.to_vec() }
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
                Self::Joined(Zeroizing::new(pairs.map(|(left, right)| left ^ right).collect()))
            }
            _ => return Err(ReturnCode::MechanismParamInvalid),
        })
    }

    /// True if the derived value reveals the base key to somebody who knows the data.
    pub(crate) fn is_transparent(&self) -> bool {
        matches!(self, Self::Joined(_))
    }

    /// Derives the bytes of a key of `len` bytes, or of the natural length. A surplus is cut: at the start of an agreed
    /// secret, and at the end of everything else. PKCS#11 3.2 6.3.17 and 6.43.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismParamInvalid`] for a bad point or an unknown function, [`ReturnCode::KeySizeRange`] if
    /// too few bytes come out.
    pub(crate) async fn derive(
        self,
        route: ComputeRoute<'_>,
        base: &Key,
        len: Option<usize>,
    ) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        let surplus = |bytes: &[u8]| match len {
            Some(len) => bytes.len().checked_sub(len).ok_or(ReturnCode::KeySizeRange),
            None => Ok(0),
        };
        match self {
            Self::Ecdh { kdf, shared, public } => {
                let agreed = agree(route, base, &public).await?;
                let mut bytes = stretch(agreed, kdf, &shared, len)?;
                let surplus = surplus(&bytes)?;
                bytes.drain(..surplus);
                Ok(bytes)
            }
            Self::Joined(mut bytes) => {
                let end = bytes.len() - surplus(&bytes)?;
                bytes.truncate(end);
                Ok(bytes)
            }
        }
    }
}

/// Agrees on a secret with the peer's point.
async fn agree(route: ComputeRoute<'_>, base: &Key, public: &[u8]) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    let (scheme, lens): (_, &[usize]) = match base.kind() {
        KeyKind::EcPrivate(curve) => (Scheme::Ecdh { curve }, &[65, 97]),
        KeyKind::X25519Private => (Scheme::X25519, &[32]),
        _ => return Err(ReturnCode::KeyTypeInconsistent),
    };
    // The point comes bare, or in an octet string as PKCS#11 2.40 and 3.0 allow.
    let is_bare = lens.contains(&public.len());
    let public = if is_bare { public } else { crate::object::unwrap_octets(public).unwrap_or(public) };
    let job = Job::with_scheme(scheme, base, Input::Message(public), &[]);
    route.job(&job).await.map_err(|error| match to_return_code(&error, FailureRule::DERIVE) {
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
