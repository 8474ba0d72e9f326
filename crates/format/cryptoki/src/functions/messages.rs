//! Many messages under one key: the functions for messages of PKCS#11 3.0. A message that fails does not end the
//! operation.
//!
//! They answer at once in asynchronous sessions too: their outputs do not fit into the answer of `C_AsyncComplete`.

use super::Cryptoki;
use super::access::{KeyFaults, UsableKey};
use super::steps::StepEnd;
use crate::constants::{AttributeType as A, ReturnCode, mechanism_flags};
use crate::handle::{ObjectHandle, SessionHandle};
use crate::mechanism::{Mechanism, MechanismParameters, MessageParameters};
use crate::operation::{CipherDirection, MessageCipher, MessageSignature, SignatureOperation};
use crate::output::CallOutput;
use crate::session::{ActiveOperation, Session};

impl Cryptoki {
    /// `C_MessageEncryptInit`. The mechanism has no parameter: each message has its own.
    ///
    /// # Errors
    /// [`ReturnCode::OperationActive`], [`ReturnCode::MechanismInvalid`], [`ReturnCode::MechanismParamInvalid`],
    /// [`ReturnCode::KeyHandleInvalid`], [`ReturnCode::KeyTypeInconsistent`],
    /// [`ReturnCode::KeyFunctionNotPermitted`].
    pub fn message_encrypt_init(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
    ) -> Result<(), ReturnCode> {
        self.message_cipher_init(session, mechanism, key, CipherDirection::Encrypt)
    }

    /// `C_EncryptMessage`. The IV and the tag are written to the parameters.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`], [`ReturnCode::OperationActive`] while pieces of a message come,
    /// [`ReturnCode::MechanismParamInvalid`], [`ReturnCode::BufferTooSmall`].
    pub fn encrypt_message(
        &self,
        session: SessionHandle,
        parameters: &mut MessageParameters<'_>,
        aad: &[u8],
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.cipher_message(session, CipherDirection::Encrypt, parameters, (aad, data), output)
    }

    /// `C_EncryptMessageBegin`. The IV is written to the parameters.
    ///
    /// # Errors
    /// As [`encrypt_message`](Self::encrypt_message).
    pub fn encrypt_message_begin(
        &self,
        session: SessionHandle,
        parameters: &mut MessageParameters<'_>,
        aad: &[u8],
    ) -> Result<(), ReturnCode> {
        self.cipher_message_begin(session, CipherDirection::Encrypt, parameters, aad)
    }

    /// `C_EncryptMessageNext`. All output comes with the last piece, and so does the tag.
    ///
    /// # Errors
    /// As [`encrypt_message`](Self::encrypt_message).
    pub fn encrypt_message_next(
        &self,
        session: SessionHandle,
        parameters: &mut MessageParameters<'_>,
        data: &[u8],
        is_last: bool,
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.cipher_message_next(session, CipherDirection::Encrypt, parameters, (data, is_last), output)
    }

    /// `C_MessageEncryptFinal`.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`].
    pub fn message_encrypt_final(&self, session: SessionHandle) -> Result<(), ReturnCode> {
        self.step(session, cipher_of(CipherDirection::Encrypt), |_, _| Ok(StepEnd::Done(())))
    }

    /// `C_MessageDecryptInit`.
    ///
    /// # Errors
    /// As [`message_encrypt_init`](Self::message_encrypt_init).
    pub fn message_decrypt_init(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
    ) -> Result<(), ReturnCode> {
        self.message_cipher_init(session, mechanism, key, CipherDirection::Decrypt)
    }

    /// `C_DecryptMessage`. The parameters have the tag.
    ///
    /// # Errors
    /// [`ReturnCode::AeadDecryptFailed`], and those of [`encrypt_message`](Self::encrypt_message).
    pub fn decrypt_message(
        &self,
        session: SessionHandle,
        parameters: &mut MessageParameters<'_>,
        aad: &[u8],
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.cipher_message(session, CipherDirection::Decrypt, parameters, (aad, data), output)
    }

    /// `C_DecryptMessageBegin`.
    ///
    /// # Errors
    /// As [`encrypt_message`](Self::encrypt_message).
    pub fn decrypt_message_begin(
        &self,
        session: SessionHandle,
        parameters: &mut MessageParameters<'_>,
        aad: &[u8],
    ) -> Result<(), ReturnCode> {
        self.cipher_message_begin(session, CipherDirection::Decrypt, parameters, aad)
    }

    /// `C_DecryptMessageNext`. All output comes with the last piece, whose parameters have the tag.
    ///
    /// # Errors
    /// As [`decrypt_message`](Self::decrypt_message).
    pub fn decrypt_message_next(
        &self,
        session: SessionHandle,
        parameters: &mut MessageParameters<'_>,
        data: &[u8],
        is_last: bool,
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.cipher_message_next(session, CipherDirection::Decrypt, parameters, (data, is_last), output)
    }

    /// `C_MessageDecryptFinal`.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`].
    pub fn message_decrypt_final(&self, session: SessionHandle) -> Result<(), ReturnCode> {
        self.step(session, cipher_of(CipherDirection::Decrypt), |_, _| Ok(StepEnd::Done(())))
    }

    /// `C_MessageSignInit`.
    ///
    /// # Errors
    /// As [`sign_init`](Self::sign_init).
    pub fn message_sign_init(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
    ) -> Result<(), ReturnCode> {
        const SIGN: (u64, A) = (mechanism_flags::MESSAGE_SIGN, A::SIGN);
        self.message_signature_init(session, mechanism, key, SIGN, |found| &mut found.message_sign)
    }

    /// `C_SignMessage`.
    ///
    /// # Errors
    /// As [`sign`](Self::sign).
    pub fn sign_message(
        &self,
        session: SessionHandle,
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.message_step(session, signature_of, |operation| {
            operation.check_between_messages()?;
            if output.has_space(operation.fresh.len())? {
                let mut signature = operation.fresh.clone();
                output.write(&signature.plan_signature(Some(data))?.run(&self.accelerator)?)?;
            }
            Ok(())
        })
    }

    /// `C_SignMessageBegin`.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`], [`ReturnCode::OperationActive`].
    pub fn sign_message_begin(&self, session: SessionHandle) -> Result<(), ReturnCode> {
        self.message_step(session, signature_of, MessageSignature::begin)
    }

    /// `C_SignMessageNext`. The last piece has an output.
    ///
    /// # Errors
    /// As [`sign`](Self::sign).
    pub fn sign_message_next(
        &self,
        session: SessionHandle,
        data: &[u8],
        output: Option<&mut CallOutput<'_>>,
    ) -> Result<(), ReturnCode> {
        self.message_step(session, signature_of, |operation| {
            let Some(output) = output else { return operation.add_piece(data) };
            if operation.current.is_none() {
                return Err(ReturnCode::OperationNotInitialized);
            }
            // The piece is taken only if there is space for the signature: the caller repeats the call with the same
            // piece.
            if output.has_space(operation.fresh.len())? {
                operation.add_piece(data)?;
                let mut signature = operation.take_current()?;
                output.write(&signature.plan_signature(None)?.run(&self.accelerator)?)?;
            }
            Ok(())
        })
    }

    /// `C_MessageSignFinal`.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`].
    pub fn message_sign_final(&self, session: SessionHandle) -> Result<(), ReturnCode> {
        self.step(session, signature_of, |_, _| Ok(StepEnd::Done(())))
    }

    /// `C_MessageVerifyInit`.
    ///
    /// # Errors
    /// As [`verify_init`](Self::verify_init).
    pub fn message_verify_init(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
    ) -> Result<(), ReturnCode> {
        const VERIFY: (u64, A) = (mechanism_flags::MESSAGE_VERIFY, A::VERIFY);
        self.message_signature_init(session, mechanism, key, VERIFY, |found| &mut found.message_verify)
    }

    /// `C_VerifyMessage`.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn verify_message(
        &self,
        session: SessionHandle,
        data: &[u8],
        signature: &[u8],
    ) -> Result<(), ReturnCode> {
        self.message_step(session, verification_of, |operation| {
            operation.check_between_messages()?;
            let mut verification = operation.fresh.clone();
            verification.plan_verification(Some(data), signature)?.run(&self.accelerator).map(drop)
        })
    }

    /// `C_VerifyMessageBegin`.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`], [`ReturnCode::OperationActive`].
    pub fn verify_message_begin(&self, session: SessionHandle) -> Result<(), ReturnCode> {
        self.message_step(session, verification_of, MessageSignature::begin)
    }

    /// `C_VerifyMessageNext`. The last piece comes with the signature.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn verify_message_next(
        &self,
        session: SessionHandle,
        data: &[u8],
        signature: Option<&[u8]>,
    ) -> Result<(), ReturnCode> {
        self.message_step(session, verification_of, |operation| {
            operation.add_piece(data)?;
            let Some(signature) = signature else { return Ok(()) };
            let mut verification = operation.take_current()?;
            verification.plan_verification(None, signature)?.run(&self.accelerator).map(drop)
        })
    }

    /// `C_MessageVerifyFinal`.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`].
    pub fn message_verify_final(&self, session: SessionHandle) -> Result<(), ReturnCode> {
        self.step(session, verification_of, |_, _| Ok(StepEnd::Done(())))
    }

    fn message_cipher_init(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        direction: CipherDirection,
    ) -> Result<(), ReturnCode> {
        let usage = match direction {
            CipherDirection::Encrypt => (mechanism_flags::MESSAGE_ENCRYPT, A::ENCRYPT),
            CipherDirection::Decrypt => (mechanism_flags::MESSAGE_DECRYPT, A::DECRYPT),
        };
        if !matches!(mechanism.parameters, MechanismParameters::None) {
            return Err(ReturnCode::MechanismParamInvalid);
        }
        let usable = self.message_key(session, mechanism, key, usage, &cipher_of(direction))?;
        let operation = MessageCipher::new(usable.key, usable.facts.family, direction)?;
        self.sessions.with(session, |found| cipher_of(direction)(found).begin(operation))
    }

    fn message_signature_init(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        usage: (u64, A),
        operation_of: fn(&mut Session) -> &mut ActiveOperation<MessageSignature>,
    ) -> Result<(), ReturnCode> {
        let usable = self.message_key(session, mechanism, key, usage, &operation_of)?;
        let fresh = SignatureOperation::new(usable.key, usable.facts, mechanism)?;
        self.sessions.with(session, |found| operation_of(found).begin(MessageSignature::new(fresh)))
    }

    /// Returns the key of many messages. One that wants the PIN for each use is not for many.
    fn message_key<T>(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        usage: (u64, A),
        operation_of: &impl Fn(&mut Session) -> &mut ActiveOperation<T>,
    ) -> Result<UsableKey, ReturnCode> {
        let caller = self.caller_if(session, |found| operation_of(found).check_idle())?;
        let usable = caller.usable_key(key, mechanism, usage, KeyFaults::USUAL)?;
        if usable.needs_login() { Err(ReturnCode::KeyFunctionNotPermitted) } else { Ok(usable) }
    }

    fn cipher_message(
        &self,
        session: SessionHandle,
        direction: CipherDirection,
        parameters: &mut MessageParameters<'_>,
        (aad, data): (&[u8], &[u8]),
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.message_step(session, cipher_of(direction), |operation| {
            operation.check_between_messages()?;
            operation.check(parameters)?;
            if output.has_space(data.len())? {
                output.write(&operation.whole(&self.accelerator, parameters, aad, data)?)?;
            }
            Ok(())
        })
    }

    fn cipher_message_begin(
        &self,
        session: SessionHandle,
        direction: CipherDirection,
        parameters: &mut MessageParameters<'_>,
        aad: &[u8],
    ) -> Result<(), ReturnCode> {
        self.message_step(session, cipher_of(direction), |operation| {
            operation.check_between_messages()?;
            operation.begin(parameters, aad)
        })
    }

    fn cipher_message_next(
        &self,
        session: SessionHandle,
        direction: CipherDirection,
        parameters: &mut MessageParameters<'_>,
        (data, is_last): (&[u8], bool),
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.message_step(session, cipher_of(direction), |operation| {
            let len = operation.message_len(data.len())?;
            if !is_last {
                // Without a buffer the call asks for the length, which is 0, and must not take the piece.
                let has_space = output.has_space(0)?;
                return if has_space { operation.add_piece(data) } else { Ok(()) };
            }
            // Checked before the last piece is taken, so that a call with bad parameters can be repeated.
            operation.check(parameters)?;
            if output.has_space(len)? {
                operation.add_piece(data)?;
                output.write(&operation.finish(&self.accelerator, parameters)?)?;
            }
            Ok(())
        })
    }

    /// Runs a step of one message. Its error does not end the operation.
    fn message_step<T>(
        &self,
        session: SessionHandle,
        operation_of: impl Fn(&mut Session) -> &mut ActiveOperation<T>,
        action: impl FnOnce(&mut T) -> Result<(), ReturnCode>,
    ) -> Result<(), ReturnCode> {
        // The error of a message is the value of a step that succeeded, so `step` keeps the operation.
        self.step(session, operation_of, |operation, _| Ok(StepEnd::More(action(operation))))?
    }
}

fn cipher_of(direction: CipherDirection) -> impl Fn(&mut Session) -> &mut ActiveOperation<MessageCipher> {
    move |session| match direction {
        CipherDirection::Encrypt => &mut session.message_encrypt,
        CipherDirection::Decrypt => &mut session.message_decrypt,
    }
}

fn signature_of(session: &mut Session) -> &mut ActiveOperation<MessageSignature> {
    &mut session.message_sign
}

fn verification_of(session: &mut Session) -> &mut ActiveOperation<MessageSignature> {
    &mut session.message_verify
}
