//! Encryption and decryption in one step or in pieces.

use std::fmt;

use oarlock::{
    Accelerator, AeadAlg, BlockCipher, CipherMode, DigestAlg, Direction, Input, Job, Key, Scheme,
    SecretBytes, Shape, SubmitOptions, WrapAlg,
};
use zeroize::Zeroizing;

use super::counter::CounterState;
use super::failure::{FailureRule, to_return_code};
use super::padding::{BLOCK, digest_of, digest_of_mgf, pkcs7, unpadded_len};
use super::record::{RecordInputs, run_blocks, run_record};
use super::rsa;
use crate::constants::{MechanismType, ReturnCode, parameter_values};
use crate::mechanism::{DigestRule, Mechanism, MechanismFacts, MechanismFamily, MechanismParameters};

/// The direction of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CipherDirection {
    Encrypt,
    Decrypt,
}

/// An encryption or decryption under way.
#[derive(Clone)]
pub(crate) struct CipherOperation {
    key: Key,
    direction: CipherDirection,
    method: CipherMethod,
    /// The bytes that have come and are not computed yet.
    waiting: Zeroizing<Vec<u8>>,
    is_in_pieces: bool,
    /// True until the user gives the PIN for this use of the key.
    pub(crate) needs_login: bool,
}

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

impl CipherOperation {
    /// Begins an operation.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismInvalid`] if the mechanism is not a cipher, [`ReturnCode::MechanismParamInvalid`],
    /// [`ReturnCode::KeySizeRange`].
    pub(crate) fn new(
        key: Key,
        facts: &MechanismFacts,
        mechanism: &Mechanism<'_>,
        direction: CipherDirection,
    ) -> Result<Self, ReturnCode> {
        let method = CipherMethod::new(&key, facts.family, &mechanism.parameters)?;
        let waiting = Zeroizing::default();
        Ok(Self { key, direction, method, waiting, is_in_pieces: false, needs_login: false })
    }

    /// True after the first piece.
    pub(crate) fn is_in_pieces(&self) -> bool {
        self.is_in_pieces
    }

    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    pub(crate) fn method(&self) -> &CipherMethod {
        &self.method
    }

    /// Returns the return codes for bad inputs.
    pub(crate) fn failure_rule(&self) -> FailureRule {
        self.rule()
    }

    /// Returns the length of the IV, or 0 if the mechanism has none.
    pub(crate) fn iv_len(&self) -> usize {
        match &self.method {
            CipherMethod::Cbc { .. } | CipherMethod::Ctr { .. } => BLOCK,
            CipherMethod::Aead { iv, .. } => iv.len(),
            _ => 0,
        }
    }

    /// True if two messages under one IV reveal each other.
    pub(crate) fn needs_fresh_iv(&self) -> bool {
        matches!(self.method, CipherMethod::Ctr { .. } | CipherMethod::Aead { .. })
    }

    /// Returns the operation with another IV.
    pub(crate) fn with_iv(&self, new: &[u8]) -> Result<Self, ReturnCode> {
        let mut other = self.clone();
        let invalid = ReturnCode::MechanismParamInvalid;
        match &mut other.method {
            CipherMethod::Cbc { iv, .. } => *iv = new.try_into().map_err(|_| invalid)?,
            CipherMethod::Ctr { counter, .. } => {
                *counter = counter.restarted(new.try_into().map_err(|_| invalid)?);
            }
            CipherMethod::Aead { iv, .. } => *iv = new.to_vec(),
            _ => return Err(invalid),
        }
        Ok(other)
    }

    fn rule(&self) -> FailureRule {
        match (&self.method, self.direction) {
            (_, CipherDirection::Encrypt) => FailureRule::ENCRYPT,
            (CipherMethod::Aead { .. }, CipherDirection::Decrypt) => FailureRule::AEAD_DECRYPT,
            (_, CipherDirection::Decrypt) => FailureRule::DECRYPT,
        }
    }

    fn shape_direction(&self) -> Direction {
        match self.direction {
            CipherDirection::Encrypt => Direction::Encrypt,
            CipherDirection::Decrypt => Direction::Decrypt,
        }
    }

    /// Returns the largest output for an input of one step, and whether every output is as long.
    ///
    /// # Errors
    /// A return code for an input that has no output.
    pub(crate) fn whole_len(&self, len: usize) -> Result<(usize, bool), ReturnCode> {
        let is_encryption = self.direction == CipherDirection::Encrypt;
        let too_short = self.rule().length;
        Ok(match &self.method {
            CipherMethod::Cbc { is_padded: true, .. } if is_encryption => (len + BLOCK - len % BLOCK, true),
            CipherMethod::Cbc { is_padded: true, .. } => (len, false),
            CipherMethod::Ecb(_) | CipherMethod::Cbc { .. } | CipherMethod::Ctr { .. } => (len, true),
            CipherMethod::Aead { tag_len, .. } if is_encryption => (len + tag_len, true),
            CipherMethod::Aead { tag_len, .. } => (len.checked_sub(*tag_len).ok_or(too_short)?, true),
            CipherMethod::Wrap { .. } if is_encryption => (len.next_multiple_of(8) + 8, true),
            CipherMethod::Wrap { is_padded, .. } => (len.checked_sub(8).ok_or(too_short)?, !is_padded),
            CipherMethod::RsaRaw => (rsa::modulus_len(&self.key)?, true),
            CipherMethod::RsaPkcs1 | CipherMethod::RsaOaep { .. } => {
                (rsa::modulus_len(&self.key)?, is_encryption)
            }
        })
    }

    /// Computes everything in one step.
    ///
    /// # Errors
    /// The return codes of the function for bad inputs.
    pub(crate) fn whole(
        &self,
        accelerator: &Accelerator,
        data: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        let rule = self.rule();
        match (&self.method, self.direction) {
            (CipherMethod::Ecb(_), _) => self.clone().blocks(accelerator, data),
            (CipherMethod::Cbc { is_padded: true, .. }, CipherDirection::Encrypt) => {
                let padded = Zeroizing::new([data, &pkcs7(data.len())].concat());
                self.clone().blocks(accelerator, &padded)
            }
            (CipherMethod::Cbc { is_padded: true, .. }, CipherDirection::Decrypt) => {
                if data.is_empty() {
                    return Err(rule.length);
                }
                unpad(self.clone().blocks(accelerator, data)?)
            }
            (CipherMethod::Cbc { .. }, _) => self.clone().blocks(accelerator, data),
            (CipherMethod::Ctr { alg, counter }, _) => {
                counter.clone().apply(accelerator, *alg, &self.key, data)
            }
            (CipherMethod::Aead { .. }, _) => self.aead(accelerator, data),
            (CipherMethod::Wrap { alg, is_padded }, _) => self.wrap(accelerator, *alg, *is_padded, data),
            (_, CipherDirection::Encrypt) => self.rsa_encrypt(accelerator, data),
            (CipherMethod::RsaRaw, CipherDirection::Decrypt) => {
                if data.len() != rsa::modulus_len(&self.key)? {
                    return Err(rule.length);
                }
                rsa::private_operation(accelerator, &self.key, data, rule)
            }
            (_, CipherDirection::Decrypt) => {
                let job = self.job(data)?.ok_or(ReturnCode::MechanismInvalid)?;
                let answer = accelerator.submit(&job, SubmitOptions::default()).wait();
                answer.map_err(|error| to_return_code(&error, rule))
            }
        }
    }

    /// Returns the job of an operation that the dispatcher computes: RSA decryption with padding.
    ///
    /// # Errors
    /// [`ReturnCode::EncryptedDataLenRange`] unless the ciphertext is as long as the modulus.
    pub(crate) fn job<'a>(&'a self, data: &'a [u8]) -> Result<Option<Job<'a>>, ReturnCode> {
        if self.direction == CipherDirection::Encrypt {
            return Ok(None);
        }
        let (scheme, label): (_, &[u8]) = match &self.method {
            CipherMethod::RsaPkcs1 => (Scheme::RsaPkcs1Decrypt, &[]),
            CipherMethod::RsaOaep { digest, mgf, label } => {
                (Scheme::RsaOaepDecrypt { digest: *digest, mgf: *mgf }, label)
            }
            _ => return Ok(None),
        };
        if data.len() != rsa::modulus_len(&self.key)? {
            return Err(ReturnCode::EncryptedDataLenRange);
        }
        Ok(Some(Job::with_scheme(scheme, &self.key, Input::Message(data), label)))
    }

    /// Returns the bytes that the next piece yields.
    pub(crate) fn update_len(&self, len: usize) -> usize {
        let all = self.waiting.len() + len;
        match &self.method {
            CipherMethod::Ctr { .. } => len,
            CipherMethod::Ecb(_) | CipherMethod::Cbc { .. } => {
                let whole = all - all % BLOCK;
                // The last block may be padding, which only the end of the data shows.
                let is_held_back = self.holds_back() && whole == all && whole > 0;
                if is_held_back { whole - BLOCK } else { whole }
            }
            _ => 0,
        }
    }

    fn holds_back(&self) -> bool {
        self.direction == CipherDirection::Decrypt
            && matches!(self.method, CipherMethod::Cbc { is_padded: true, .. })
    }

    /// Takes the next piece and returns [`update_len`](Self::update_len) bytes.
    pub(crate) fn update(
        &mut self,
        accelerator: &Accelerator,
        data: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        self.is_in_pieces = true;
        if let CipherMethod::Ctr { alg, counter } = &mut self.method {
            return counter.apply(accelerator, *alg, &self.key, data);
        }
        let len = self.update_len(data.len());
        let mut all = Zeroizing::new(Vec::with_capacity(self.waiting.len() + data.len()));
        all.extend_from_slice(&self.waiting);
        all.extend_from_slice(data);
        let (now, later) = all.split_at(len);
        let later = Zeroizing::new(later.to_vec());
        let output = if now.is_empty() { Zeroizing::default() } else { self.blocks(accelerator, now)? };
        self.waiting = later;
        Ok(output)
    }

    /// Returns the largest output of the end, and whether every output is as long.
    pub(crate) fn finish_len(&self) -> Result<(usize, bool), ReturnCode> {
        match &self.method {
            CipherMethod::Ctr { .. } => Ok((0, true)),
            CipherMethod::Ecb(_) | CipherMethod::Cbc { is_padded: false, .. } => Ok((0, true)),
            CipherMethod::Cbc { .. } => Ok((BLOCK, self.direction == CipherDirection::Encrypt)),
            _ => self.whole_len(self.waiting.len()),
        }
    }

    /// Computes the end.
    pub(crate) fn finish(&self, accelerator: &Accelerator) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        match &self.method {
            CipherMethod::Ctr { .. } => Ok(Zeroizing::default()),
            CipherMethod::Ecb(_) | CipherMethod::Cbc { is_padded: false, .. } => {
                if self.waiting.is_empty() {
                    Ok(Zeroizing::default())
                } else {
                    Err(self.rule().length)
                }
            }
            _ => self.whole(accelerator, &self.waiting),
        }
    }

    /// Computes whole blocks of ECB or CBC, and moves the IV on.
    fn blocks(&mut self, accelerator: &Accelerator, data: &[u8]) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        let (rule, direction) = (self.rule(), self.shape_direction());
        let shape = |alg| Shape::Cipher { alg, mode: CipherMode::Cbc, direction };
        match &mut self.method {
            CipherMethod::Ecb(alg) => run_blocks(accelerator, shape(*alg), &self.key, data, rule),
            CipherMethod::Cbc { alg, iv, .. } => {
                if !data.len().is_multiple_of(BLOCK) {
                    return Err(rule.length);
                }
                let inputs =
                    RecordInputs { iv, input: data, output_len: data.len(), ..RecordInputs::default() };
                let output = run_record(accelerator, shape(*alg), &self.key, &inputs, rule)?;
                let ciphertext = if direction == Direction::Encrypt { &output } else { data };
                if let Some(last) = ciphertext.last_chunk() {
                    *iv = *last;
                }
                Ok(output)
            }
            _ => Err(ReturnCode::GeneralError),
        }
    }

    fn aead(&self, accelerator: &Accelerator, data: &[u8]) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        let CipherMethod::Aead { alg, iv, aad, tag_len } = &self.method else {
            return Err(ReturnCode::GeneralError);
        };
        let (rule, direction) = (self.rule(), self.shape_direction());
        let (input, expected_tag, made_len) = match self.direction {
            CipherDirection::Encrypt => (data, &[][..], *tag_len),
            CipherDirection::Decrypt => {
                let len = data.len().checked_sub(*tag_len).ok_or(rule.length)?;
                let (input, tag) = data.split_at(len);
                (input, tag, 0)
            }
        };
        let output_len = input.len();
        let inputs = RecordInputs { iv, aad, input, expected_tag, output_len, tag_len: made_len };
        run_record(accelerator, Shape::Aead { alg: *alg, direction }, &self.key, &inputs, rule)
    }

    fn wrap(
        &self,
        accelerator: &Accelerator,
        alg: WrapAlg,
        is_padded: bool,
        data: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        let (rule, direction) = (self.rule(), self.shape_direction());
        let output_len = match self.direction {
            CipherDirection::Encrypt if is_padded => data.len().next_multiple_of(8) + 8,
            CipherDirection::Encrypt => data.len() + 8,
            CipherDirection::Decrypt => data.len().checked_sub(8).ok_or(rule.length)?,
        };
        let inputs = RecordInputs { input: data, output_len, ..RecordInputs::default() };
        run_record(accelerator, Shape::Wrap { alg, direction }, &self.key, &inputs, rule)
    }

    fn rsa_encrypt(&self, accelerator: &Accelerator, data: &[u8]) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        let (rule, len) = (self.rule(), rsa::modulus_len(&self.key)?);
        let encoded = match &self.method {
            CipherMethod::RsaPkcs1 => rsa::encode_pkcs1(data, len)?,
            CipherMethod::RsaOaep { digest, mgf, label } => {
                rsa::encode_oaep(data, label, (*digest, *mgf), len)?
            }
            _ => Zeroizing::new(data.to_vec()),
        };
        rsa::public_operation(accelerator, &self.key, &encoded, rule)
    }
}

impl CipherMethod {
    fn new(
        key: &Key,
        family: MechanismFamily,
        parameters: &MechanismParameters<'_>,
    ) -> Result<Self, ReturnCode> {
        let invalid = ReturnCode::MechanismParamInvalid;
        Ok(match (family, *parameters) {
            (MechanismFamily::RsaPkcs1(DigestRule::Given), MechanismParameters::None) => Self::RsaPkcs1,
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
                MechanismFamily::RsaPkcs1(DigestRule::Given)
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
        Ok(Self::RsaOaep { digest: digest_of(hash)?, mgf: digest_of_mgf(mgf)?, label: label.to_vec() })
    }

    fn gcm(key: &Key, iv: &[u8], aad: &[u8], tag_bits: u64) -> Result<Self, ReturnCode> {
        let alg = match aes(key)? {
            BlockCipher::Aes128 => AeadAlg::Aes128Gcm,
            _ => AeadAlg::Aes256Gcm,
        };
        let tag_len = usize::try_from(tag_bits / 8).map_err(|_| ReturnCode::MechanismParamInvalid)?;
        let is_tag = tag_bits.is_multiple_of(8) && alg.tag_lens().contains(&tag_len);
        if !is_tag || !alg.iv_lens().contains(&iv.len()) {
            return Err(ReturnCode::MechanismParamInvalid);
        }
        Ok(Self::Aead { alg, iv: iv.to_vec(), aad: aad.to_vec(), tag_len })
    }
}

/// Removes the padding of PKCS#7.
fn unpad(mut padded: Zeroizing<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    let invalid = ReturnCode::EncryptedDataInvalid;
    let len = padded.last_chunk().and_then(unpadded_len).ok_or(invalid)?;
    let end = padded.len() - BLOCK + len;
    padded.truncate(end);
    Ok(padded)
}

fn check_initial_value(parameters: MechanismParameters<'_>, default: &[u8]) -> Result<(), ReturnCode> {
    match parameters {
        MechanismParameters::None => Ok(()),
        MechanismParameters::Iv(iv) if iv == default => Ok(()),
        _ => Err(ReturnCode::MechanismParamInvalid),
    }
}

pub(crate) fn aes(key: &Key) -> Result<BlockCipher, ReturnCode> {
    match key.secret().map(SecretBytes::len) {
        Some(16) => Ok(BlockCipher::Aes128),
        Some(32) => Ok(BlockCipher::Aes256),
        _ => Err(ReturnCode::KeySizeRange),
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

impl fmt::Debug for CipherOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CipherOperation({:?}, {:?})", self.direction, self.key)
    }
}
