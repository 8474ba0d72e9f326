//! The methods of ciphers: mechanisms with checked parameters.

use oarlock::{AeadAlg, BlockCipher, DigestAlg, Key, KeyKind, WrapAlg};

use super::counter::CounterState;
use super::padding::{BLOCK, digest_of_mgf, rsa_digest_of};
use crate::constants::{MechanismType, ReturnCode, parameter_values};
use crate::mechanism::{MechanismFamily, MechanismParameters};

/// A cipher with its parameters.
#[derive(Clone)]
pub(crate) enum CipherMethod {
    Ecb(BlockCipher),
    Cbc { alg: BlockCipher, iv: [u8; BLOCK], is_padded: bool },
    Ctr { alg: BlockCipher, counter: CounterState },
    Aead { alg: AeadAlg, iv: Vec<u8>, aad: Vec<u8>, tag_len: usize },
    Wrap { alg: WrapAlg, is_padded: bool },
    RsaPkcs1,
    RsaOaep { digest: DigestAlg, mgf: DigestAlg, label: Vec<u8> },
    RsaRaw,
}

impl CipherMethod {
    pub(crate) fn new(
        key: &Key,
        family: MechanismFamily,
        parameters: &MechanismParameters<'_>,
    ) -> Result<Self, ReturnCode> {
        let invalid = ReturnCode::MechanismParamInvalid;
        Ok(match (family, *parameters) {
            (MechanismFamily::RsaPkcs1(None), MechanismParameters::None) => Self::RsaPkcs1,
            (MechanismFamily::RsaRaw, MechanismParameters::None) => Self::RsaRaw,
            (MechanismFamily::RsaOaep, MechanismParameters::Oaep { hash, mgf, source, label }) => {
                Self::oaep(hash, mgf, source, label)?
            }
            (MechanismFamily::Ecb, MechanismParameters::None) => Self::Ecb(aes(key)?),
            (MechanismFamily::Cbc | MechanismFamily::CbcPad, MechanismParameters::Iv(iv)) => Self::Cbc {
                alg: aes(key)?,
                iv: iv.try_into().map_err(|_| invalid)?,
                is_padded: family == MechanismFamily::CbcPad,
            },
            (MechanismFamily::Ctr, MechanismParameters::Counter { bits, block }) => {
                Self::Ctr { alg: aes(key)?, counter: CounterState::new(bits, block)? }
            }
            (MechanismFamily::Gcm, MechanismParameters::Gcm { iv, aad, tag_bits }) => {
                Self::gcm(key, iv, aad, tag_bits)?
            }
            (MechanismFamily::ChaCha20Poly1305, MechanismParameters::ChaCha20Poly1305 { nonce, aad }) => {
                // RFC 8439 2.8. PKCS#11 also has nonces of other lengths, for which there is no engine.
                if nonce.len() != 12 {
                    return Err(invalid);
                }
                let alg = AeadAlg::ChaCha20Poly1305;
                Self::Aead { alg, iv: nonce.to_vec(), aad: aad.to_vec(), tag_len: 16 }
            }
            (MechanismFamily::KeyWrap, parameters) => {
                // RFC 3394 2.2.3.1.
                check_initial_value(parameters, &[0xA6; 8])?;
                Self::Wrap { alg: key_wrap(key, false)?, is_padded: false }
            }
            (MechanismFamily::KeyWrapPadded, parameters) => {
                // RFC 5649 section 3.
                check_initial_value(parameters, &[0xA6, 0x59, 0x59, 0xA6])?;
                Self::Wrap { alg: key_wrap(key, true)?, is_padded: true }
            }
            (
                MechanismFamily::RsaPkcs1(None)
                | MechanismFamily::RsaRaw
                | MechanismFamily::RsaOaep
                | MechanismFamily::Ecb
                | MechanismFamily::Cbc
                | MechanismFamily::CbcPad
                | MechanismFamily::Ctr
                | MechanismFamily::Gcm
                | MechanismFamily::ChaCha20Poly1305,
                _,
            ) => return Err(invalid),
            _ => return Err(ReturnCode::MechanismInvalid),
        })
    }

    fn oaep(hash: MechanismType, mgf: u64, source: u64, label: &[u8]) -> Result<Self, ReturnCode> {
        // Source 0 means no label. Programs leave it at 0 with an empty label.
        let is_known = source == parameter_values::CKZ_DATA_SPECIFIED || (source == 0 && label.is_empty());
        if !is_known {
            return Err(ReturnCode::MechanismParamInvalid);
        }
        Ok(Self::RsaOaep { digest: rsa_digest_of(hash)?, mgf: digest_of_mgf(mgf)?, label: label.to_vec() })
    }

    fn gcm(key: &Key, iv: &[u8], aad: &[u8], tag_bits: u64) -> Result<Self, ReturnCode> {
        let alg = gcm_alg(key)?;
        let tag_len = usize::try_from(tag_bits / 8).map_err(|_| ReturnCode::MechanismParamInvalid)?;
        let is_tag = tag_bits.is_multiple_of(8) && alg.tag_lens().contains(&tag_len);
        if !is_tag || !alg.iv_lens().contains(&iv.len()) {
            return Err(ReturnCode::MechanismParamInvalid);
        }
        Ok(Self::Aead { alg, iv: iv.to_vec(), aad: aad.to_vec(), tag_len })
    }
}

fn check_initial_value(parameters: MechanismParameters<'_>, default: &[u8]) -> Result<(), ReturnCode> {
    match parameters {
        MechanismParameters::None => Ok(()),
        // The engines know the value of the RFC only, so a caller may name that one.
        MechanismParameters::Iv(iv) if iv == default => Ok(()),
        _ => Err(ReturnCode::MechanismParamInvalid),
    }
}

fn aes(key: &Key) -> Result<BlockCipher, ReturnCode> {
    // The kind, because the value of a key that a server holds is not here.
    match key.kind() {
        KeyKind::Secret(16) => Ok(BlockCipher::Aes128),
        KeyKind::Secret(32) => Ok(BlockCipher::Aes256),
        _ => Err(ReturnCode::KeySizeRange),
    }
}

/// Returns the algorithm of GCM under an AES key.
pub(crate) fn gcm_alg(key: &Key) -> Result<AeadAlg, ReturnCode> {
    match aes(key)? {
        BlockCipher::Aes128 => Ok(AeadAlg::Aes128Gcm),
        _ => Ok(AeadAlg::Aes256Gcm),
    }
}

fn key_wrap(key: &Key, is_padded: bool) -> Result<WrapAlg, ReturnCode> {
    Ok(match (aes(key)?, is_padded) {
        (BlockCipher::Aes128, false) => WrapAlg::Aes128Kw,
        (BlockCipher::Aes128, true) => WrapAlg::Aes128Kwp,
        (_, false) => WrapAlg::Aes256Kw,
        (_, true) => WrapAlg::Aes256Kwp,
    })
}
