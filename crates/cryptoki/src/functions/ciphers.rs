//! Encryption and decryption.

use zeroize::Zeroizing;

use super::Cryptoki;
use super::access::KeyFaults;
use super::steps::StepEnd;
use crate::constants::{AttributeType as A, ReturnCode, mechanism_flags, session_flags};
use crate::handle::{ObjectHandle, SessionHandle};
use crate::mechanism::Mechanism;
use crate::operation::{CipherDirection, CipherOperation, ManyAnswers, ManyInputs, ManyIvs, cipher_many};
use crate::output::CallOutput;
use crate::session::{ActiveOperation, Session};

impl Cryptoki {
    /// `C_EncryptInit`.
    ///
    /// # Errors
    /// [`ReturnCode::OperationActive`], [`ReturnCode::MechanismInvalid`], [`ReturnCode::MechanismParamInvalid`],
    /// [`ReturnCode::KeyHandleInvalid`], [`ReturnCode::KeyTypeInconsistent`],
    /// [`ReturnCode::KeyFunctionNotPermitted`].
    pub fn encrypt_init(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
    ) -> Result<(), ReturnCode> {
        self.cipher_init(session, mechanism, key, CipherDirection::Encrypt)
    }

    /// `C_Encrypt`.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`], [`ReturnCode::BufferTooSmall`], [`ReturnCode::DataLenRange`],
    /// [`ReturnCode::DataInvalid`].
    pub fn encrypt(
        &self,
        session: SessionHandle,
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.cipher_whole(session, CipherDirection::Encrypt, data, output)
    }

    /// `C_EncryptUpdate`.
    ///
    /// # Errors
    /// As [`encrypt`](Self::encrypt).
    pub fn encrypt_update(
        &self,
        session: SessionHandle,
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.cipher_update(session, CipherDirection::Encrypt, data, output)
    }

    /// `C_EncryptFinal`.
    ///
    /// # Errors
    /// As [`encrypt`](Self::encrypt).
    pub fn encrypt_final(
        &self,
        session: SessionHandle,
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.cipher_final(session, CipherDirection::Encrypt, output)
    }

    /// `C_DecryptInit`.
    ///
    /// # Errors
    /// As [`encrypt_init`](Self::encrypt_init).
    pub fn decrypt_init(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
    ) -> Result<(), ReturnCode> {
        self.cipher_init(session, mechanism, key, CipherDirection::Decrypt)
    }

    /// `C_Decrypt`. In an asynchronous session it may fail with [`ReturnCode::Pending`]; see
    /// [`async_complete`](Self::async_complete).
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`], [`ReturnCode::BufferTooSmall`],
    /// [`ReturnCode::EncryptedDataInvalid`], [`ReturnCode::EncryptedDataLenRange`],
    /// [`ReturnCode::AeadDecryptFailed`], [`ReturnCode::UserNotLoggedIn`] if the key wants the PIN for each use.
    pub fn decrypt(
        &self,
        session: SessionHandle,
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.cipher_whole(session, CipherDirection::Decrypt, data, output)
    }

    /// `C_DecryptUpdate`.
    ///
    /// # Errors
    /// As [`decrypt`](Self::decrypt).
    pub fn decrypt_update(
        &self,
        session: SessionHandle,
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.cipher_update(session, CipherDirection::Decrypt, data, output)
    }

    /// `C_DecryptFinal`.
    ///
    /// # Errors
    /// As [`decrypt`](Self::decrypt).
    pub fn decrypt_final(
        &self,
        session: SessionHandle,
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.cipher_final(session, CipherDirection::Decrypt, output)
    }

    /// Encrypts many inputs under one key: `O_EncryptMany`. No operation of the session is used.
    ///
    /// # Errors
    /// As [`encrypt_init`](Self::encrypt_init), and [`ReturnCode::MechanismParamInvalid`] for IVs that do not fit.
    pub fn encrypt_many(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        inputs: ManyInputs<'_>,
        ivs: ManyIvs<'_>,
    ) -> Result<ManyAnswers, ReturnCode> {
        self.cipher_many(session, mechanism, key, CipherDirection::Encrypt, inputs, ivs)
    }

    /// Decrypts many inputs under one key: `O_DecryptMany`.
    ///
    /// # Errors
    /// As [`encrypt_many`](Self::encrypt_many).
    pub fn decrypt_many(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        inputs: ManyInputs<'_>,
        ivs: ManyIvs<'_>,
    ) -> Result<ManyAnswers, ReturnCode> {
        self.cipher_many(session, mechanism, key, CipherDirection::Decrypt, inputs, ivs)
    }

    fn cipher_init(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        direction: CipherDirection,
    ) -> Result<(), ReturnCode> {
        let caller = self.caller_if(session, |found| place(direction)(found).check_idle())?;
        let usable = caller.usable_key(key, mechanism, usage(direction), KeyFaults::USUAL)?;
        let needs_login = usable.needs_login();
        let mut operation = CipherOperation::new(usable.key, usable.facts, mechanism, direction)?;
        operation.needs_login = needs_login;
        self.sessions.with(session, |found| place(direction)(found).begin(operation))
    }

    fn cipher_whole(
        &self,
        session: SessionHandle,
        direction: CipherDirection,
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.step(session, place(direction), |operation, flags| {
            if operation.is_in_pieces() {
                return Err(ReturnCode::OperationActive);
            }
            check_login(operation)?;
            if flags & session_flags::ASYNC_SESSION != 0
                && !output.is_length_only()
                && let Some(job) = operation.job(data)?
            {
                self.check_none_pending(session, "C_Decrypt")?;
                let rejection = ReturnCode::EncryptedDataInvalid;
                return Err(self.submit_pending(session, "C_Decrypt", &job, output, rejection));
            }
            let len = operation.whole_len(data.len())?;
            finish(output, len, || operation.whole(&self.accelerator, data))
        })
    }

    fn cipher_update(
        &self,
        session: SessionHandle,
        direction: CipherDirection,
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.step(session, place(direction), |operation, _| {
            check_login(operation)?;
            if output.has_space(operation.update_len(data.len()))? {
                output.write(&operation.update(&self.accelerator, data)?)?;
            }
            Ok(StepEnd::More(()))
        })
    }

    fn cipher_final(
        &self,
        session: SessionHandle,
        direction: CipherDirection,
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.step(session, place(direction), |operation, _| {
            check_login(operation)?;
            let len = operation.finish_len()?;
            finish(output, len, || operation.finish(&self.accelerator))
        })
    }

    fn cipher_many(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        direction: CipherDirection,
        inputs: ManyInputs<'_>,
        ivs: ManyIvs<'_>,
    ) -> Result<ManyAnswers, ReturnCode> {
        let caller = self.caller(session)?;
        let usable = caller.usable_key(key, mechanism, usage(direction), KeyFaults::USUAL)?;
        if usable.needs_login() {
            return Err(ReturnCode::KeyFunctionNotPermitted);
        }
        let operation = CipherOperation::new(usable.key, usable.facts, mechanism, direction)?;
        cipher_many(&self.accelerator, &operation, direction, inputs, ivs)
    }
}

/// Writes the last output of an operation. `len` is the largest length, and whether every output is as long.
fn finish(
    output: &mut CallOutput<'_>,
    (max_len, is_exact): (usize, bool),
    compute: impl FnOnce() -> Result<Zeroizing<Vec<u8>>, ReturnCode>,
) -> Result<StepEnd<()>, ReturnCode> {
    if output.is_length_only() || is_exact {
        // Before anything is computed.
        let has_space = output.has_space(max_len)?;
        if !has_space {
            return Ok(StepEnd::More(()));
        }
    }
    output.write(&compute()?)?;
    Ok(StepEnd::Done(()))
}

fn place(direction: CipherDirection) -> fn(&mut Session) -> &mut ActiveOperation<CipherOperation> {
    match direction {
        CipherDirection::Encrypt => |session| &mut session.encrypt,
        CipherDirection::Decrypt => |session| &mut session.decrypt,
    }
}

fn usage(direction: CipherDirection) -> (u64, A) {
    match direction {
        CipherDirection::Encrypt => (mechanism_flags::ENCRYPT, A::ENCRYPT),
        CipherDirection::Decrypt => (mechanism_flags::DECRYPT, A::DECRYPT),
    }
}

fn check_login(operation: &CipherOperation) -> Result<(), ReturnCode> {
    if operation.needs_login { Err(ReturnCode::UserNotLoggedIn) } else { Ok(()) }
}
