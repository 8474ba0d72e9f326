//! Derivation of keys: key agreement with a key derivation function, and keys joined with data.

use oarlock::{DigestAlg, Key, KeyKind, Scheme, SecretBytes};
use zeroize::Zeroizing;

use super::compute::{Computation, ComputedBytes, Finish, PlannedJob};
use super::digest::hash;
use super::failure::FailureRule;
use super::pieces::WholeMessage;
use crate::constants::{ReturnCode, parameter_values as value};
use crate::mechanism::{MechanismFamily, MechanismParameters};

/// The source of a derived key.
pub(crate) enum Derivation<'a> {
    /// A key agreement with a peer, and a key derivation function.
    Ecdh { kdf: u64, shared: &'a [u8], public: &'a [u8] },
    /// Bytes that are known already: keys joined with data.
    Joined(Zeroizing<Vec<u8>>),
}

/// The way from the secret of an agreement to the bytes of a key.
pub(crate) struct KeyStretch {
    kdf: u64,
    shared: Vec<u8>,
    /// The number of bytes, or `None` for the natural number.
    len: Option<usize>,
}

impl<'a> Derivation<'a> {
    /// Checks the parameters. `second` is the other key of a concatenation.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismParamInvalid`], [`ReturnCode::KeyTypeInconsistent`].
    pub(crate) fn new(
        base: &Key,
        family: MechanismFamily,
        parameters: &MechanismParameters<'a>,
        second: Option<&Key>,
    ) -> Result<Self, ReturnCode> {
        let secret = || base.secret().map(SecretBytes::expose).ok_or(ReturnCode::KeyTypeInconsistent);
        let joined = |first: &[u8], last: &[u8]| Self::Joined(Zeroizing::new([first, last].concat()));
        Ok(match (family, *parameters) {
            (MechanismFamily::Ecdh, MechanismParameters::Ecdh { kdf, shared, public }) => {
                Self::Ecdh { kdf, shared, public }
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
                // The standard cuts both to the shorter one, and `zip` does so.
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

    /// Plans the bytes of a key of `len` bytes, or of the natural length. A surplus is cut: at the start of an agreed
    /// secret, and at the end of everything else. PKCS#11 3.2 6.3.17 and 6.43.
    ///
    /// # Errors
    /// [`ReturnCode::KeyTypeInconsistent`]; [`ReturnCode::KeySizeRange`] if too few bytes come out.
    pub(crate) fn plan(&'a self, base: &'a Key, len: Option<usize>) -> Result<Computation<'a>, ReturnCode> {
        match self {
            Self::Ecdh { kdf, shared, public } => {
                let stretch = KeyStretch { kdf: *kdf, shared: shared.to_vec(), len };
                let agreement = Computation::job(agreement(base, public)?, FailureRule::DERIVE);
                Ok(agreement.with_finish(Finish::Stretch(stretch)))
            }
            Self::Joined(bytes) => {
                let end = bytes.len() - surplus(bytes, len)?;
                Ok(Computation::done(Ok(Zeroizing::new(bytes.get(..end).unwrap_or_default().to_vec()))))
            }
        }
    }
}

/// Returns the job that agrees on a secret with the peer's point.
fn agreement<'a>(base: &'a Key, public: &'a [u8]) -> Result<PlannedJob<'a>, ReturnCode> {
    let (scheme, lens): (_, &[usize]) = match base.kind() {
        KeyKind::EcPrivate(curve) => (Scheme::Ecdh { curve }, &[65, 97]),
        KeyKind::X25519Private => (Scheme::X25519, &[32]),
        _ => return Err(ReturnCode::KeyTypeInconsistent),
    };
    // The point comes bare, or in an octet string as PKCS#11 2.40 and 3.0 allow.
    let is_bare = lens.contains(&public.len());
    let public = if is_bare { public } else { crate::object::unwrap_octets(public).unwrap_or(public) };
    let input = WholeMessage::Lent(public);
    Ok(PlannedJob { scheme, key: base, input, is_digest: false, second: &[], context: &[] })
}

impl KeyStretch {
    /// Returns the bytes of the key.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismParamInvalid`] for a bad point or an unknown function, [`ReturnCode::KeySizeRange`] if
    /// too few bytes come out.
    pub(crate) fn apply(self, agreed: ComputedBytes) -> ComputedBytes {
        let agreed = agreed.map_err(|code| match code {
            // Everything that the caller can do wrong here is in the parameter.
            ReturnCode::DataInvalid | ReturnCode::FunctionFailed => ReturnCode::MechanismParamInvalid,
            code => code,
        })?;
        let mut bytes = stretch(agreed, self.kdf, &self.shared, self.len)?;
        let surplus = surplus(&bytes, self.len)?;
        bytes.drain(..surplus);
        Ok(bytes)
    }
}

fn surplus(bytes: &[u8], len: Option<usize>) -> Result<usize, ReturnCode> {
    len.map_or(Ok(0), |len| bytes.len().checked_sub(len).ok_or(ReturnCode::KeySizeRange))
}

/// Applies a key derivation function: none, or ANSI X9.63.
fn stretch(
    agreed: Zeroizing<Vec<u8>>,
    kdf: u64,
    shared: &[u8],
    len: Option<usize>,
) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    let alg = match kdf {
        // Without a function the shared information would be ignored silently, so it is an error.
        value::CKD_NULL if shared.is_empty() => return Ok(agreed),
        value::CKD_SHA1_KDF => DigestAlg::Sha1,
        value::CKD_SHA224_KDF => DigestAlg::Sha224,
        value::CKD_SHA256_KDF => DigestAlg::Sha256,
        value::CKD_SHA384_KDF => DigestAlg::Sha384,
        value::CKD_SHA512_KDF => DigestAlg::Sha512,
        _ => return Err(ReturnCode::MechanismParamInvalid),
    };
    let len = len.unwrap_or(alg.output_len());
    // Long enough for the last digest before it is cut: a growing vector would leave copies in freed memory.
    let mut bytes = Zeroizing::new(Vec::with_capacity(len.next_multiple_of(alg.output_len())));
    // The counter of ANSI X9.63 begins at 1, and that of MGF1 at 0.
    for counter in 1_u32.. {
        if bytes.len() >= len {
            break;
        }
        bytes.extend_from_slice(&hash(alg, &[&agreed, &counter.to_be_bytes(), shared])?);
    }
    bytes.truncate(len);
    Ok(bytes)
}
