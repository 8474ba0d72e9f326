//! Operations with many messages: a cipher whose messages have parameters of their own, and signatures.

use std::fmt;

use aws_lc_rs::rand;
use oarlock::process::ProcessMark;
use oarlock::{Accelerator, AeadAlg, Key};
use zeroize::Zeroizing;

use super::cipher::{CipherDirection, CipherOperation, gather};
use super::cipher_method::{CipherMethod, gcm_alg};
use super::signature::SignatureOperation;
use crate::constants::ReturnCode;
use crate::mechanism::{IvGenerator, MechanismFamily, MessageParameters};

/// The fewest bits that a generator may choose. With fewer, IVs of one key repeat too soon by chance.
const MIN_GENERATED_BITS: usize = 64;

/// The encryption or decryption of messages under one key.
pub(crate) struct MessageCipher {
    key: Key,
    alg: AeadAlg,
    direction: CipherDirection,
    /// The next number of the generator that counts, and the process in which it counts.
    counter: Option<(ProcessMark, u128)>,
    /// The message whose pieces come.
    current: Option<PartialMessage>,
}

struct PartialMessage {
    /// The process that began the message. Its forked child must not end it too, with other pieces under one IV.
    process: ProcessMark,
    iv: Vec<u8>,
    aad: Vec<u8>,
    data: Zeroizing<Vec<u8>>,
}

/// The signatures, or verifications, of messages under one key.
#[derive(Debug)]
pub(crate) struct MessageSignature {
    /// The operation of a message that has not begun.
    pub(crate) fresh: SignatureOperation,
    /// The operation of the message whose pieces come.
    pub(crate) current: Option<SignatureOperation>,
}

impl MessageCipher {
    /// Begins an operation.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismInvalid`], [`ReturnCode::KeySizeRange`].
    pub(crate) fn new(
        key: Key,
        family: MechanismFamily,
        direction: CipherDirection,
    ) -> Result<Self, ReturnCode> {
        let alg = match family {
            MechanismFamily::Gcm => gcm_alg(&key)?,
            MechanismFamily::ChaCha20Poly1305 => AeadAlg::ChaCha20Poly1305,
            _ => return Err(ReturnCode::MechanismInvalid),
        };
        Ok(Self { key, alg, direction, counter: None, current: None })
    }

    /// Checks that no pieces of a message come.
    ///
    /// # Errors
    /// [`ReturnCode::OperationActive`].
    pub(crate) fn check_between_messages(&self) -> Result<(), ReturnCode> {
        if self.current.is_none() { Ok(()) } else { Err(ReturnCode::OperationActive) }
    }

    /// Checks the lengths of the parameters of a message.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismParamInvalid`].
    pub(crate) fn check(&self, parameters: &MessageParameters<'_>) -> Result<(), ReturnCode> {
        let iv_bits = 8 * parameters.iv.len();
        let generated =
            usize::try_from(parameters.fixed_bits).ok().and_then(|fixed| iv_bits.checked_sub(fixed));
        let is_generated = self.generates(parameters);
        let is_valid = self.alg.iv_lens().contains(&parameters.iv.len())
            && self.alg.tag_lens().contains(&parameters.tag.len())
            && (!is_generated || generated.is_some_and(|bits| bits >= MIN_GENERATED_BITS));
        if is_valid { Ok(()) } else { Err(ReturnCode::MechanismParamInvalid) }
    }

    fn generates(&self, parameters: &MessageParameters<'_>) -> bool {
        self.direction == CipherDirection::Encrypt && parameters.generator != IvGenerator::None
    }

    /// Computes a whole message, and writes its IV and its tag to the parameters of an encryption.
    ///
    /// # Errors
    /// [`ReturnCode::AeadDecryptFailed`], and those of [`check`](Self::check).
    pub(crate) fn whole(
        &mut self,
        accelerator: &Accelerator,
        parameters: &mut MessageParameters<'_>,
        aad: &[u8],
        data: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        self.check(parameters)?;
        self.choose_iv(parameters)?;
        let iv = parameters.iv.to_vec();
        self.compute(accelerator, (iv, aad.to_vec()), data, parameters)
    }

    /// Begins a message that comes in pieces, and writes its IV to the parameters of an encryption.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    pub(crate) fn begin(
        &mut self,
        parameters: &mut MessageParameters<'_>,
        aad: &[u8],
    ) -> Result<(), ReturnCode> {
        self.check(parameters)?;
        self.choose_iv(parameters)?;
        let (iv, data) = (parameters.iv.to_vec(), Zeroizing::default());
        self.current = Some(PartialMessage { process: ProcessMark::current(), iv, aad: aad.to_vec(), data });
        Ok(())
    }

    /// Returns the length of the whole message if its last piece has `len` bytes.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`] if no message has begun.
    pub(crate) fn message_len(&self, len: usize) -> Result<usize, ReturnCode> {
        let current = self.current.as_ref().ok_or(ReturnCode::OperationNotInitialized)?;
        Ok(current.data.len() + len)
    }

    /// Takes a piece. It is computed with the last one, because nothing of a decrypted message may be seen before its
    /// tag is compared.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`] if no message has begun, [`ReturnCode::DataLenRange`] or
    /// [`ReturnCode::EncryptedDataLenRange`] if the message gets too long. Then it has ended.
    pub(crate) fn add_piece(&mut self, data: &[u8]) -> Result<(), ReturnCode> {
        let too_long = match self.direction {
            CipherDirection::Encrypt => ReturnCode::DataLenRange,
            CipherDirection::Decrypt => ReturnCode::EncryptedDataLenRange,
        };
        let current = self.current.as_mut().ok_or(ReturnCode::OperationNotInitialized)?;
        gather(&mut current.data, data, too_long).inspect_err(|_| self.current = None)
    }

    /// Computes the message whose pieces have come, and ends it.
    ///
    /// # Errors
    /// As [`whole`](Self::whole), and [`ReturnCode::OperationNotInitialized`] if no message has begun, or if the parent
    /// of this process has begun its encryption.
    pub(crate) fn finish(
        &mut self,
        accelerator: &Accelerator,
        parameters: &mut MessageParameters<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        self.check(parameters)?;
        // As in `CipherOperation`: a child may end a decryption, because that uses no IV twice.
        let is_ours = |message: &PartialMessage| {
            self.direction == CipherDirection::Decrypt || message.process == ProcessMark::current()
        };
        let PartialMessage { iv, aad, data, .. } =
            self.current.take().filter(is_ours).ok_or(ReturnCode::OperationNotInitialized)?;
        self.compute(accelerator, (iv, aad), &data, parameters)
    }

    fn compute(
        &self,
        accelerator: &Accelerator,
        (iv, aad): (Vec<u8>, Vec<u8>),
        data: &[u8],
        parameters: &mut MessageParameters<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        let method = CipherMethod::Aead { alg: self.alg, iv, aad, tag_len: parameters.tag.len() };
        let operation = CipherOperation::with_method(self.key.clone(), method, self.direction);
        if self.direction == CipherDirection::Decrypt {
            let sealed = [data, parameters.tag].concat();
            return operation.plan_whole(&sealed)?.run(accelerator);
        }
        let mut sealed = operation.plan_whole(data)?.run(accelerator)?;
        let tag = sealed.get(data.len()..).filter(|tag| tag.len() == parameters.tag.len());
        parameters.tag.copy_from_slice(tag.ok_or(ReturnCode::GeneralError)?);
        sealed.truncate(data.len());
        Ok(sealed)
    }

    /// Generates the IV of an encryption, if the caller does not give it.
    fn choose_iv(&mut self, parameters: &mut MessageParameters<'_>) -> Result<(), ReturnCode> {
        if !self.generates(parameters) {
            return Ok(());
        }
        let mut generated = vec![0; parameters.iv.len()];
        if parameters.generator == IvGenerator::Counter {
            // Each operation starts somewhere else: from zero, a second operation under the key would repeat the first.
            // So does a forked child, whose parent continues to count.
            let process = ProcessMark::current();
            let counter = match self.counter {
                Some((owner, counter)) if owner == process => counter,
                _ => random_number()?,
            };
            self.counter = Some((process, counter.wrapping_add(1)));
            let digits = counter.to_be_bytes();
            // The low digits stand at the end, and the bits that are not fixed are there as well.
            generated.iter_mut().rev().zip(digits.iter().rev()).for_each(|(to, from)| *to = *from);
        } else {
            rand::fill(&mut generated).map_err(|_| ReturnCode::RandomNoRng)?;
        }
        let mut fixed = parameters.fixed_bits;
        for (byte, new) in parameters.iv.iter_mut().zip(&generated) {
            let kept = fixed.min(8) as u32;
            fixed -= u64::from(kept);
            let mask = 0xFF_u8.checked_shr(kept).unwrap_or(0);
            *byte = (*byte & !mask) | (new & mask);
        }
        Ok(())
    }
}

fn random_number() -> Result<u128, ReturnCode> {
    let mut bytes = [0; 16];
    rand::fill(&mut bytes).map_err(|_| ReturnCode::RandomNoRng)?;
    Ok(u128::from_be_bytes(bytes))
}

impl MessageSignature {
    pub(crate) fn new(fresh: SignatureOperation) -> Self {
        Self { fresh, current: None }
    }

    /// Begins a message that comes in pieces.
    ///
    /// # Errors
    /// [`ReturnCode::OperationActive`].
    pub(crate) fn begin(&mut self) -> Result<(), ReturnCode> {
        self.check_between_messages()?;
        self.current = Some(self.fresh.clone());
        Ok(())
    }

    /// Checks that no pieces of a message come.
    ///
    /// # Errors
    /// [`ReturnCode::OperationActive`].
    pub(crate) fn check_between_messages(&self) -> Result<(), ReturnCode> {
        if self.current.is_none() { Ok(()) } else { Err(ReturnCode::OperationActive) }
    }

    /// Takes a piece.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`] if no message has begun.
    pub(crate) fn add_piece(&mut self, data: &[u8]) -> Result<(), ReturnCode> {
        self.current.as_mut().ok_or(ReturnCode::OperationNotInitialized)?.update(data)
    }

    /// Takes the operation of the message whose pieces have come.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`] if no message has begun.
    pub(crate) fn take_current(&mut self) -> Result<SignatureOperation, ReturnCode> {
        self.current.take().ok_or(ReturnCode::OperationNotInitialized)
    }
}

impl fmt::Debug for MessageCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessageCipher({:?}, {:?})", self.direction, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(cipher: &mut MessageCipher, fixed_bits: u64, generator: IvGenerator) -> Vec<u8> {
        let (mut iv, mut tag) = ([0xA5; 12], [0; 16]);
        let mut parameters = MessageParameters { iv: &mut iv, fixed_bits, generator, tag: &mut tag };
        cipher.check(&parameters).unwrap();
        cipher.choose_iv(&mut parameters).unwrap();
        iv.to_vec()
    }

    fn cipher() -> MessageCipher {
        let key = oarlock::keys::raw::secret(vec![1; 16]).unwrap();
        MessageCipher::new(key, MechanismFamily::Gcm, CipherDirection::Encrypt).unwrap()
    }

    #[test]
    #[cfg_attr(miri, ignore = "AWS-LC is foreign code")]
    fn a_generator_leaves_fixed_bits_and_never_repeats() {
        for generator in [IvGenerator::Any, IvGenerator::Counter, IvGenerator::Random] {
            let mut cipher = cipher();
            let ivs: Vec<_> = (0..64).map(|_| choose(&mut cipher, 28, generator)).collect();
            for (index, iv) in ivs.iter().enumerate() {
                assert_eq!((&iv[..3], iv[3] >> 4), (&[0xA5; 3][..], 0xA), "{generator:?}");
                assert!(!ivs[..index].contains(iv), "{generator:?}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "AWS-LC is foreign code")]
    fn a_counter_counts() {
        let mut cipher = cipher();
        cipher.counter = Some((ProcessMark::current(), u128::MAX));
        assert_eq!(choose(&mut cipher, 32, IvGenerator::Counter)[4..], [0xFF; 8]);
        assert_eq!(choose(&mut cipher, 32, IvGenerator::Counter)[4..], [0; 8]);
        assert_eq!(choose(&mut cipher, 32, IvGenerator::Counter)[4..], [0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "AWS-LC is foreign code")]
    fn too_few_free_bits_are_invalid() {
        let (mut iv, mut tag) = ([0; 12], [0; 16]);
        for (fixed_bits, generator, is_valid) in [
            (32, IvGenerator::Random, true),
            (33, IvGenerator::Random, false),
            (97, IvGenerator::Counter, false),
            (u64::MAX, IvGenerator::Any, false),
            (96, IvGenerator::None, true),
        ] {
            let parameters = MessageParameters { iv: &mut iv, fixed_bits, generator, tag: &mut tag };
            assert_eq!(cipher().check(&parameters).is_ok(), is_valid, "{fixed_bits} {generator:?}");
        }
    }
}
