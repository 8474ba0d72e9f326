//! Encryption and decryption in one step or in pieces.

use std::borrow::Cow;
use std::fmt;

use oarlock::{CipherMode, Direction, Input, Job, Key, ProcessMark, Scheme, Shape};
use zeroize::Zeroizing;

use super::cipher_method::CipherMethod;
use super::compute::ComputeRoute;
use super::counter::ctr_shape;
use super::failure::{FailureRule, to_return_code};
use super::padding::{BLOCK, pkcs7, unpadded_len};
use super::record::{RecordInputs, run_blocks, run_record};
use super::rsa::{self, BareRsa};
use super::signature::append;
use crate::constants::ReturnCode;
use crate::mechanism::{Mechanism, MechanismFacts};

/// The maximum length of a message whose pieces are computed together. The whole message is in memory until then, and
/// several times during the computation.
const MAX_GATHERED_LEN: usize = 1 << 30;

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
    /// The process that may encrypt under the IV, if two messages under one IV reveal each other.
    owner: Option<ProcessMark>,
    /// True until the user gives the PIN for this use of the key.
    pub(crate) needs_login: bool,
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
        let operation = Self::with_method(key, method, direction);
        let owns_iv = direction == CipherDirection::Encrypt && operation.needs_fresh_iv();
        Ok(Self { owner: owns_iv.then(ProcessMark::current), ..operation })
    }

    /// Begins an operation of a method.
    pub(crate) fn with_method(key: Key, method: CipherMethod, direction: CipherDirection) -> Self {
        let waiting = Zeroizing::default();
        Self { key, direction, method, waiting, is_in_pieces: false, owner: None, needs_login: false }
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

    pub(crate) fn direction(&self) -> CipherDirection {
        self.direction
    }

    /// Returns the IV, which is empty if the mechanism has none.
    pub(crate) fn iv(&self) -> Cow<'_, [u8]> {
        match &self.method {
            CipherMethod::Cbc { iv, .. } => Cow::Borrowed(iv),
            CipherMethod::Ctr { counter, .. } => Cow::Owned(counter.block().to_vec()),
            CipherMethod::Aead { iv, .. } => Cow::Borrowed(iv),
            _ => Cow::Borrowed(&[]),
        }
    }

    /// True if two messages under one IV reveal each other.
    pub(crate) fn needs_fresh_iv(&self) -> bool {
        matches!(self.method, CipherMethod::Ctr { .. } | CipherMethod::Aead { .. })
    }

    /// True if the parent of this process has begun the operation, and its child must not end it too: with other data
    /// it would encrypt two messages under one IV.
    pub(crate) fn is_of_parent(&self) -> bool {
        self.owner.is_some_and(|owner| owner != ProcessMark::current())
    }

    /// Returns the return codes for bad inputs.
    pub(crate) fn rule(&self) -> FailureRule {
        match (&self.method, self.direction) {
            (_, CipherDirection::Encrypt) => FailureRule::ENCRYPT,
            (CipherMethod::Aead { .. }, CipherDirection::Decrypt) => FailureRule::AEAD_DECRYPT,
            (_, CipherDirection::Decrypt) => FailureRule::DECRYPT,
        }
    }

    /// Returns the shape of the records, or `None` for RSA. The records of ECB are single blocks.
    pub(crate) fn shape(&self) -> Option<Shape> {
        let direction = match self.direction {
            CipherDirection::Encrypt => Direction::Encrypt,
            CipherDirection::Decrypt => Direction::Decrypt,
        };
        Some(match &self.method {
            CipherMethod::Ecb(alg) | CipherMethod::Cbc { alg, .. } => {
                Shape::Cipher { alg: *alg, mode: CipherMode::Cbc, direction }
            }
            CipherMethod::Ctr { alg, .. } => ctr_shape(*alg),
            CipherMethod::Aead { alg, .. } => Shape::Aead { alg: *alg, direction },
            CipherMethod::Wrap { alg, .. } => Shape::Wrap { alg: *alg, direction },
            CipherMethod::RsaPkcs1 | CipherMethod::RsaOaep { .. } | CipherMethod::RsaRaw => return None,
        })
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
    pub(crate) async fn whole(
        &self,
        route: ComputeRoute<'_>,
        data: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        let rule = self.rule();
        let Some(shape) = self.shape() else { return self.rsa(route, data).await };
        if let CipherMethod::Ecb(_) = self.method {
            return run_blocks(route, shape, &self.key, data, rule).await;
        }
        let iv = self.iv();
        let inputs = self.record(&iv, data)?;
        let mut output = run_record(route, shape, &self.key, &inputs, rule).await?;
        let len = self.unpadded_len(&output)?;
        output.truncate(len);
        Ok(output)
    }

    /// Returns the record of a whole input. RSA and ECB have none.
    ///
    /// # Errors
    /// A return code for a length that does not fit.
    pub(crate) fn record<'a>(&'a self, iv: &'a [u8], data: &'a [u8]) -> Result<RecordInputs<'a>, ReturnCode> {
        let is_encryption = self.direction == CipherDirection::Encrypt;
        let length = self.rule().length;
        let plain = RecordInputs { iv, input: data, output_len: data.len(), ..RecordInputs::default() };
        match &self.method {
            CipherMethod::Cbc { is_padded: true, .. } if is_encryption => {
                let suffix = pkcs7(data.len());
                Ok(RecordInputs { suffix, output_len: data.len() + suffix.len(), ..plain })
            }
            CipherMethod::Cbc { is_padded: true, .. } if data.is_empty() => Err(length),
            CipherMethod::Cbc { .. } if data.len().is_multiple_of(BLOCK) => Ok(plain),
            CipherMethod::Cbc { .. } => Err(length),
            CipherMethod::Ctr { counter, .. } => {
                let block = iv.try_into().map_err(|_| ReturnCode::MechanismParamInvalid)?;
                counter.restarted(block).check_len(data.len())?;
                Ok(plain)
            }
            CipherMethod::Aead { aad, tag_len, .. } if is_encryption => {
                Ok(RecordInputs { aad, tag_len: *tag_len, ..plain })
            }
            CipherMethod::Aead { aad, tag_len, .. } => {
                let len = data.len().checked_sub(*tag_len).ok_or(length)?;
                let (input, expected_tag) = data.split_at(len);
                Ok(RecordInputs { aad, input, expected_tag, output_len: len, ..plain })
            }
            CipherMethod::Wrap { is_padded, .. } => {
                let output_len = match self.direction {
                    CipherDirection::Encrypt if *is_padded => data.len().next_multiple_of(8) + 8,
                    CipherDirection::Encrypt => data.len() + 8,
                    CipherDirection::Decrypt => data.len().checked_sub(8).ok_or(length)?,
                };
                Ok(RecordInputs { output_len, ..plain })
            }
            CipherMethod::Ecb(_)
            | CipherMethod::RsaPkcs1
            | CipherMethod::RsaOaep { .. }
            | CipherMethod::RsaRaw => Err(ReturnCode::GeneralError),
        }
    }

    /// Returns the length of an output without its padding.
    ///
    /// # Errors
    /// [`ReturnCode::EncryptedDataInvalid`] for a bad padding.
    pub(crate) fn unpadded_len(&self, output: &[u8]) -> Result<usize, ReturnCode> {
        if !self.removes_padding() {
            return Ok(output.len());
        }
        let len = output.last_chunk().and_then(unpadded_len).ok_or(ReturnCode::EncryptedDataInvalid)?;
        Ok(output.len() - BLOCK + len)
    }

    fn removes_padding(&self) -> bool {
        self.direction == CipherDirection::Decrypt
            && matches!(self.method, CipherMethod::Cbc { is_padded: true, .. })
    }

    async fn rsa(&self, route: ComputeRoute<'_>, data: &[u8]) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        let rule = self.rule();
        if let Some(operation) = self.bare_rsa() {
            let input = self.rsa_input(data)?;
            return rsa::operate(route, operation, &self.key, &input, rule).await;
        }
        let job = self.job(data)?;
        route.job(&job).await.map_err(|error| to_return_code(&error, rule))
    }

    /// Returns the bare operation of RSA that computes this one, if no scheme does.
    pub(crate) fn bare_rsa(&self) -> Option<BareRsa> {
        match (&self.method, self.direction) {
            (CipherMethod::RsaRaw, CipherDirection::Decrypt) => Some(BareRsa::Private),
            (
                CipherMethod::RsaRaw | CipherMethod::RsaPkcs1 | CipherMethod::RsaOaep { .. },
                CipherDirection::Encrypt,
            ) => Some(BareRsa::Public),
            _ => None,
        }
    }

    /// Returns the input of a bare operation of RSA.
    ///
    /// # Errors
    /// A return code for a length that does not fit.
    pub(crate) fn rsa_input(&self, data: &[u8]) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        let len = rsa::modulus_len(&self.key)?;
        match (&self.method, self.direction) {
            (CipherMethod::RsaPkcs1, CipherDirection::Encrypt) => rsa::encode_pkcs1(data, len),
            (CipherMethod::RsaOaep { digest, mgf, label }, CipherDirection::Encrypt) => {
                rsa::encode_oaep(data, label, (*digest, *mgf), len)
            }
            (_, CipherDirection::Decrypt) if data.len() != len => Err(self.rule().length),
            _ => Ok(Zeroizing::new(data.to_vec())),
        }
    }

    /// Returns the job of RSA decryption with padding.
    ///
    /// # Errors
    /// [`ReturnCode::EncryptedDataLenRange`] unless the ciphertext is as long as the modulus.
    pub(crate) fn job<'a>(&'a self, data: &'a [u8]) -> Result<Job<'a>, ReturnCode> {
        let (scheme, label): (_, &[u8]) = match &self.method {
            CipherMethod::RsaPkcs1 => (Scheme::RsaPkcs1Decrypt, &[]),
            CipherMethod::RsaOaep { digest, mgf, label } => {
                (Scheme::RsaOaepDecrypt { digest: *digest, mgf: *mgf }, label)
            }
            _ => return Err(ReturnCode::MechanismInvalid),
        };
        if data.len() != rsa::modulus_len(&self.key)? {
            return Err(ReturnCode::EncryptedDataLenRange);
        }
        Ok(Job::with_scheme(scheme, &self.key, Input::Message(data), label))
    }

    /// Returns the bytes that the next piece yields.
    pub(crate) fn update_len(&self, len: usize) -> usize {
        let all = self.waiting.len() + len;
        match &self.method {
            CipherMethod::Ctr { .. } => len,
            CipherMethod::Ecb(_) | CipherMethod::Cbc { .. } => {
                let whole = all - all % BLOCK;
                // The last block may be padding, which only the end of the data shows.
                let is_held_back = self.removes_padding() && whole == all && whole > 0;
                if is_held_back { whole - BLOCK } else { whole }
            }
            _ => 0,
        }
    }

    /// Takes the next piece and returns [`update_len`](Self::update_len) bytes.
    pub(crate) async fn update(
        &mut self,
        route: ComputeRoute<'_>,
        data: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        self.is_in_pieces = true;
        match &mut self.method {
            CipherMethod::Ctr { alg, counter } => {
                return counter.apply(route, *alg, &self.key, data).await;
            }
            CipherMethod::Ecb(_) | CipherMethod::Cbc { .. } => {}
            _ => {
                let too_long = self.rule().length;
                return gather(&mut self.waiting, data, too_long).map(|()| Zeroizing::default());
            }
        }
        let len = self.update_len(data.len());
        let mut all = Zeroizing::new(Vec::with_capacity(self.waiting.len() + data.len()));
        all.extend_from_slice(&self.waiting);
        all.extend_from_slice(data);
        let (now, later) = all.split_at(len);
        let later = Zeroizing::new(later.to_vec());
        let output = if now.is_empty() { Zeroizing::default() } else { self.blocks(route, now).await? };
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
    pub(crate) async fn finish(&self, route: ComputeRoute<'_>) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        match &self.method {
            CipherMethod::Ctr { .. } => Ok(Zeroizing::default()),
            CipherMethod::Ecb(_) | CipherMethod::Cbc { is_padded: false, .. } => {
                if self.waiting.is_empty() {
                    Ok(Zeroizing::default())
                } else {
                    Err(self.rule().length)
                }
            }
            _ => self.whole(route, &self.waiting).await,
        }
    }

    /// Computes whole blocks of ECB or CBC, and moves the IV on.
    async fn blocks(
        &mut self,
        route: ComputeRoute<'_>,
        data: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        let (rule, shape) = (self.rule(), self.shape().ok_or(ReturnCode::GeneralError)?);
        let CipherMethod::Cbc { iv, .. } = &mut self.method else {
            return run_blocks(route, shape, &self.key, data, rule).await;
        };
        let inputs = RecordInputs { iv, input: data, output_len: data.len(), ..RecordInputs::default() };
        let output = run_record(route, shape, &self.key, &inputs, rule).await?;
        let is_encryption = self.direction == CipherDirection::Encrypt;
        let ciphertext = if is_encryption { &output } else { data };
        if let Some(last) = ciphertext.last_chunk() {
            *iv = *last;
        }
        Ok(output)
    }
}

/// Keeps a piece of a message that is computed as a whole: nothing of a decryption may be returned before its tag is
/// compared (PKCS#11 3.2, 6.13.3).
///
/// # Errors
/// `too_long` if the message would exceed [`MAX_GATHERED_LEN`].
pub(super) fn gather(
    message: &mut Zeroizing<Vec<u8>>,
    piece: &[u8],
    too_long: ReturnCode,
) -> Result<(), ReturnCode> {
    if piece.len() > MAX_GATHERED_LEN - message.len() {
        return Err(too_long);
    }
    append(message, piece);
    Ok(())
}

impl fmt::Debug for CipherOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CipherOperation({:?}, {:?})", self.direction, self.key)
    }
}
