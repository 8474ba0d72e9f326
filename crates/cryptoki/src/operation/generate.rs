//! New keys.

use oarlock::keys::{KeyError, generate};
use oarlock::{Curve, Key};

use crate::constants::{KeyTypeNumber, ReturnCode};

/// The public exponent of every new RSA key.
const F4: &[u8] = &[1, 0, 1];

/// Generates a secret key of `len` bytes.
///
/// # Errors
/// [`ReturnCode::KeySizeRange`], [`ReturnCode::RandomNoRng`].
pub(crate) fn generate_secret(key_type: KeyTypeNumber, len: Option<u64>) -> Result<Key, ReturnCode> {
    let len = match (key_type, len) {
        (KeyTypeNumber::CHACHA20, None) => 32,
        (_, None) => return Err(ReturnCode::TemplateIncomplete),
        (_, Some(len)) => usize::try_from(len).map_err(|_| ReturnCode::KeySizeRange)?,
    };
    let is_allowed = match key_type {
        KeyTypeNumber::AES => len == 16 || len == 32,
        KeyTypeNumber::CHACHA20 => len == 32,
        _ => (1..=oarlock::keys::raw::MAX_SECRET_LEN).contains(&len),
    };
    if !is_allowed {
        return Err(ReturnCode::KeySizeRange);
    }
    generate::secret(len).map_err(from_key_error)
}

/// Generates the private key of a pair: RSA of `bits`, or a key on `curve`.
///
/// # Errors
/// [`ReturnCode::KeySizeRange`] for a size that is not made, [`ReturnCode::AttributeValueInvalid`] for another public
/// exponent than 65537.
pub(crate) fn generate_pair(
    key_type: KeyTypeNumber,
    curve: Option<Curve>,
    bits: Option<u64>,
    exponent: Option<&[u8]>,
) -> Result<Key, ReturnCode> {
    match (key_type, curve) {
        (KeyTypeNumber::RSA, _) => {
            if exponent.is_some_and(|exponent| exponent != F4) {
                return Err(ReturnCode::AttributeValueInvalid);
            }
            let bits = bits.ok_or(ReturnCode::TemplateIncomplete)?;
            let bits = u16::try_from(bits).map_err(|_| ReturnCode::KeySizeRange)?;
            generate::rsa(bits).map_err(from_key_error)
        }
        (KeyTypeNumber::EC, Some(curve)) => generate::ec(curve).map_err(from_key_error),
        (KeyTypeNumber::EC_EDWARDS, _) => generate::ed25519().map_err(from_key_error),
        (KeyTypeNumber::EC_MONTGOMERY, _) => generate::x25519().map_err(from_key_error),
        _ => Err(ReturnCode::CurveNotSupported),
    }
}

fn from_key_error(error: KeyError) -> ReturnCode {
    match error {
        KeyError::CannotGenerate { .. } => ReturnCode::KeySizeRange,
        _ => ReturnCode::RandomNoRng,
    }
}
