//! Encryption and decryption in one step or in pieces.

use std::fmt;

use oarlock::process::ProcessMark;
use oarlock::{CipherMode, Direction, Key, Scheme, Shape};
use zeroize::Zeroizing;

use super::cipher_method::CipherMethod;
use super::compute::{Computation, Finish, PlannedJob};
use super::counter::ctr_shape;
use super::failure::FailureRule;
use super::padding::{BLOCK, pkcs7};
use super::pieces::{WholeMessage, append};
use super::record::{RecordInputs, plan_blocks, plan_gathered_record, plan_record};
use super::rsa::{self, BareRsa};
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

/// An encryption or decryption that has begun.
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
        // A forked child may end a decryption: that makes no second message under the IV.
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
    pub(crate) fn iv(&self) -> &[u8] {
        match &self.method {
            CipherMethod::Cbc { iv, .. } => iv,
            CipherMethod::Ctr { counter, .. } => counter.block(),
            CipherMethod::Aead { iv, .. } => iv,
            _ => &[],
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
            // No engine has a shape for ECB: `plan_blocks` makes a record of CBC with a zero IV for each block.
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

    /// Plans everything in one step.
    ///
    /// # Errors
    /// The return codes of the function for bad inputs.
    pub(crate) fn plan_whole<'a>(&'a self, data: &'a [u8]) -> Result<Computation<'a>, ReturnCode> {
        let rule = self.rule();
        let Some(shape) = self.shape() else { return self.plan_rsa(data) };
        if let CipherMethod::Ecb(_) = self.method {
            return plan_blocks(shape, &self.key, data, rule);
        }
        let computation = plan_record(shape, &self.key, &self.record(self.iv(), data)?, rule)?;
        Ok(if self.removes_padding() { computation.with_finish(Finish::Unpad) } else { computation })
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
            // Even an empty message has a block of padding.
            CipherMethod::Cbc { is_padded: true, .. } if data.is_empty() => Err(length),
            CipherMethod::Cbc { .. } if data.len().is_multiple_of(BLOCK) => Ok(plain),
            CipherMethod::Cbc { .. } => Err(length),
            CipherMethod::Ctr { counter, .. } => {
                // The engine counts over all 128 bits, so a counter that would run into the fixed bits is found here.
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
            // unreachable because the callers plan these methods without records
            CipherMethod::Ecb(_)
            | CipherMethod::RsaPkcs1
            | CipherMethod::RsaOaep { .. }
            | CipherMethod::RsaRaw => Err(ReturnCode::GeneralError),
        }
    }

    /// True if the output of the engine ends with a padding.
    pub(crate) fn removes_padding(&self) -> bool {
        self.direction == CipherDirection::Decrypt
            && matches!(self.method, CipherMethod::Cbc { is_padded: true, .. })
    }

    fn plan_rsa<'a>(&'a self, data: &'a [u8]) -> Result<Computation<'a>, ReturnCode> {
        let rule = self.rule();
        match self.bare_rsa() {
            Some(operation) => rsa::plan(operation, &self.key, &self.rsa_input(data)?, rule),
            None => Ok(Computation::job(self.job(data)?, rule)),
        }
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
    pub(crate) fn job<'a>(&'a self, data: &'a [u8]) -> Result<PlannedJob<'a>, ReturnCode> {
        let (scheme, second): (_, &[u8]) = match &self.method {
            CipherMethod::RsaPkcs1 => (Scheme::RsaPkcs1Decrypt, &[]),
            CipherMethod::RsaOaep { digest, mgf, label } => {
                (Scheme::RsaOaepDecrypt { digest: *digest, mgf: *mgf }, label)
            }
            _ => return Err(ReturnCode::MechanismInvalid),
        };
        if data.len() != rsa::modulus_len(&self.key)? {
            return Err(ReturnCode::EncryptedDataLenRange);
        }
        let input = WholeMessage::Lent(data);
        Ok(PlannedJob { scheme, key: &self.key, input, is_digest: false, second, context: &[] })
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

    /// Plans the next piece, which yields [`update_len`](Self::update_len) bytes. They go to
    /// [`chain`](Self::chain) before the piece behind it.
    pub(crate) fn plan_update(&mut self, data: &[u8]) -> Result<Computation<'_>, ReturnCode> {
        self.is_in_pieces = true;
        let (rule, shape, len) = (self.rule(), self.shape(), self.update_len(data.len()));
        let Self { key, method, waiting, direction, .. } = self;
        let iv = match method {
            CipherMethod::Ctr { alg, counter } => return counter.plan(*alg, key, data),
            CipherMethod::Ecb(_) => None,
            CipherMethod::Cbc { iv, .. } => Some(iv),
            _ => return gather(waiting, data, rule.length).map(|()| Computation::nothing()),
        };
        let all = Zeroizing::new([&waiting[..], data].concat());
        let (now, later) = all.split_at(len);
        *waiting = Zeroizing::new(later.to_vec());
        let shape = shape.ok_or(ReturnCode::GeneralError)?;
        match iv {
            _ if now.is_empty() => Ok(Computation::nothing()),
            None => plan_blocks(shape, key, now, rule),
            Some(iv) => {
                let inputs = RecordInputs { iv, input: now, output_len: len, ..RecordInputs::default() };
                let computation = plan_gathered_record(shape, key, &inputs, rule);
                // The next IV of a decryption is in this input. That of an encryption comes with the output, in
                // `chain`.
                if let (CipherDirection::Decrypt, Some(last)) = (direction, now.last_chunk()) {
                    *iv = *last;
                }
                computation
            }
        }
    }

    /// Takes the output of a piece: the last block that CBC encrypts is the IV of the next piece.
    pub(crate) fn chain(&mut self, output: &[u8]) {
        if let (CipherMethod::Cbc { iv, .. }, CipherDirection::Encrypt, Some(last)) =
            (&mut self.method, self.direction, output.last_chunk())
        {
            *iv = *last;
        }
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

    /// Plans the end.
    pub(crate) fn plan_end(&self) -> Result<Computation<'_>, ReturnCode> {
        match &self.method {
            CipherMethod::Ctr { .. } => Ok(Computation::nothing()),
            CipherMethod::Ecb(_) | CipherMethod::Cbc { is_padded: false, .. } => {
                if self.waiting.is_empty() {
                    Ok(Computation::nothing())
                } else {
                    Err(self.rule().length)
                }
            }
            _ => self.plan_whole(&self.waiting),
        }
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
    // The message never exceeds the limit, so the difference cannot wrap.
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
