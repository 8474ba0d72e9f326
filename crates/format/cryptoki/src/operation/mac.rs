//! The shapes and lengths of message authentication codes.

use oarlock::{DigestAlg, Key, KeyKind, MacAlg};

use crate::constants::ReturnCode;
use crate::mechanism::{MechanismFamily, MechanismParameters};

/// A MAC and the length that the mechanism keeps of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MacRule {
    pub(crate) alg: MacAlg,
    /// The digest of an HMAC.
    pub(crate) digest: Option<DigestAlg>,
    pub(crate) len: usize,
}

impl MacRule {
    /// Returns the rule of an HMAC mechanism.
    pub(crate) fn hmac(
        digest: DigestAlg,
        is_general: bool,
        parameters: &MechanismParameters<'_>,
    ) -> Result<Self, ReturnCode> {
        let alg = match digest {
            DigestAlg::Sha1 => MacAlg::HmacSha1,
            DigestAlg::Sha224 => MacAlg::HmacSha224,
            DigestAlg::Sha256 => MacAlg::HmacSha256,
            DigestAlg::Sha384 => MacAlg::HmacSha384,
            DigestAlg::Sha512 => MacAlg::HmacSha512,
            _ => return Err(ReturnCode::MechanismInvalid),
        };
        Ok(Self { alg, digest: Some(digest), len: mac_len(alg, is_general, parameters)? })
    }

    /// Returns the rule of CMAC under an AES key.
    pub(crate) fn cmac(
        key: &Key,
        is_general: bool,
        parameters: &MechanismParameters<'_>,
    ) -> Result<Self, ReturnCode> {
        let alg = match key.kind() {
            KeyKind::Secret(16) => MacAlg::Aes128Cmac,
            KeyKind::Secret(32) => MacAlg::Aes256Cmac,
            _ => return Err(ReturnCode::KeySizeRange),
        };
        Ok(Self { alg, digest: None, len: mac_len(alg, is_general, parameters)? })
    }
}

/// Checks the length of the codes that a key verifies which makes none. The caller chooses it for each call, so a short
/// code that was guessed would grow to a whole one byte by byte.
///
/// # Errors
/// [`ReturnCode::MechanismParamInvalid`] below half of the code. RFC 2104 section 5, NIST SP 800-38B A.2.
pub(crate) fn check_verified_len(
    family: MechanismFamily,
    parameters: &MechanismParameters<'_>,
) -> Result<(), ReturnCode> {
    let (MechanismFamily::Hmac { .. } | MechanismFamily::Cmac { .. }, MechanismParameters::Number(len)) =
        (family, parameters)
    else {
        return Ok(());
    };
    let whole = match family {
        MechanismFamily::Hmac { alg, .. } => alg.output_len(),
        // AES has one block size, so codes of both key lengths are equally long.
        _ => MacAlg::Aes128Cmac.tag_len(),
    };
    if *len < whole as u64 / 2 { Err(ReturnCode::MechanismParamInvalid) } else { Ok(()) }
}

fn mac_len(alg: MacAlg, is_general: bool, parameters: &MechanismParameters<'_>) -> Result<usize, ReturnCode> {
    match (is_general, parameters) {
        (false, MechanismParameters::None) => Ok(alg.tag_len()),
        (true, MechanismParameters::Number(len)) => {
            let len = usize::try_from(*len).ok().filter(|len| (1..=alg.tag_len()).contains(len));
            len.ok_or(ReturnCode::MechanismParamInvalid)
        }
        _ => Err(ReturnCode::MechanismParamInvalid),
    }
}
