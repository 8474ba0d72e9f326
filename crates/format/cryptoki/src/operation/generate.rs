//! New keys.

use std::time::Duration;

use oarlock::keys::{KeyError, generate};
use oarlock::{Curve, Key, MlDsaSet, MlKemSet, SlhDsaSet};

use crate::constants::{KeyTypeNumber, ReturnCode};
use crate::deep_stack::on_deep_stack;
use crate::object::{ParameterSet, is_secret_len};

/// The public exponent of every new RSA key.
const F4: &[u8] = &[1, 0, 1];

/// A key to be generated.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NewKey {
    Secret { len: usize },
    Rsa { bits: u16 },
    Ec(Curve),
    Ed25519,
    X25519,
    MlKem(MlKemSet),
    MlDsa(MlDsaSet),
    SlhDsa(SlhDsaSet),
}

impl From<ParameterSet> for NewKey {
    fn from(set: ParameterSet) -> Self {
        match set {
            ParameterSet::MlKem(set) => Self::MlKem(set),
            ParameterSet::MlDsa(set) => Self::MlDsa(set),
            ParameterSet::SlhDsa(set) => Self::SlhDsa(set),
        }
    }
}

/// Checks the length of a secret key.
///
/// # Errors
/// [`ReturnCode::TemplateIncomplete`], [`ReturnCode::KeySizeRange`].
pub(crate) fn new_secret(key_type: KeyTypeNumber, len: Option<u64>) -> Result<NewKey, ReturnCode> {
    let len = match (key_type, len) {
        (KeyTypeNumber::CHACHA20, None) => 32,
        (_, None) => return Err(ReturnCode::TemplateIncomplete),
        (_, Some(len)) => usize::try_from(len).map_err(|_| ReturnCode::KeySizeRange)?,
    };
    if is_secret_len(key_type, len) { Ok(NewKey::Secret { len }) } else { Err(ReturnCode::KeySizeRange) }
}

/// Checks what the private key of a pair shall be: RSA of `bits`, or a key on `curve`.
///
/// # Errors
/// [`ReturnCode::KeySizeRange`] for a size that is not made, [`ReturnCode::AttributeValueInvalid`] for another public
/// exponent than 65537.
pub(crate) fn new_pair(
    key_type: KeyTypeNumber,
    curve: Option<Curve>,
    bits: Option<u64>,
    exponent: Option<&[u8]>,
) -> Result<NewKey, ReturnCode> {
    match (key_type, curve) {
        (KeyTypeNumber::RSA, _) => {
            // A big integer may begin with zeros.
            let is_other = |exponent: &[u8]| !exponent.iter().skip_while(|digit| **digit == 0).eq(F4);
            // FIPS 186-5 wants an exponent above 2^16.
            if exponent.is_some_and(is_other) {
                return Err(ReturnCode::AttributeValueInvalid);
            }
            let bits = bits.ok_or(ReturnCode::TemplateIncomplete)?;
            let bits = u16::try_from(bits).map_err(|_| ReturnCode::KeySizeRange)?;
            Ok(NewKey::Rsa { bits })
        }
        (KeyTypeNumber::EC, Some(curve)) => Ok(NewKey::Ec(curve)),
        (KeyTypeNumber::EC_EDWARDS, _) => Ok(NewKey::Ed25519),
        (KeyTypeNumber::EC_MONTGOMERY, _) => Ok(NewKey::X25519),
        _ => Err(ReturnCode::CurveNotSupported),
    }
}

impl NewKey {
    /// Generates the key.
    ///
    /// # Errors
    /// [`ReturnCode::KeySizeRange`] for a size that is not made, [`ReturnCode::RandomNoRng`],
    /// [`ReturnCode::HostMemory`].
    pub(crate) fn generate(self) -> Result<Key, ReturnCode> {
        let generated = match self {
            Self::Secret { len } => generate::secret(len),
            Self::Rsa { bits } => generate::rsa(bits),
            Self::Ec(curve) => generate::ec(curve),
            Self::Ed25519 => generate::ed25519(),
            Self::X25519 => generate::x25519(),
            Self::MlKem(set) => on_deep_stack(|| generate::ml_kem(set))?,
            Self::MlDsa(set) => on_deep_stack(|| generate::ml_dsa(set))?,
            Self::SlhDsa(set) => on_deep_stack(|| generate::slh_dsa(set))?,
        };
        generated.map_err(from_key_error)
    }

    /// Returns the usual time of the generation, by which the dispatcher shares its threads between tasks.
    pub(crate) fn usual_time(self) -> Duration {
        match self {
            // The search for primes takes about 80 ms for 2048 bits, and 16 times as long for twice as many.
            Self::Rsa { bits } => Duration::from_millis(5) * u32::from(bits / 1024).pow(4),
            // A hash takes up to 0.4 us.
            Self::SlhDsa(set) => Duration::from_nanos(400 * set.root_hashes() as u64),
            _ => Duration::from_micros(50),
        }
    }
}

fn from_key_error(error: KeyError) -> ReturnCode {
    match error {
        KeyError::CannotGenerate { .. } => ReturnCode::KeySizeRange,
        _ => ReturnCode::RandomNoRng,
    }
}
