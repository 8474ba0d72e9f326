//! Encryption and decryption.

use super::Cryptoki;
use super::access::KeyFaults;
use super::asynchronous::FunctionCall;
use super::steps::StepEnd;
use crate::constants::{AttributeType as A, ReturnCode, mechanism_flags, session_flags};
use crate::handle::{ObjectHandle, SessionHandle};
use crate::mechanism::Mechanism;
use crate::operation::{CipherDirection, CipherOperation, ManyAnswers, ManyInputs, ManyIvs, cipher_many};
use crate::output::CallOutput;
use crate::session::{ActiveOperation, CallResult, Session};

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

    /// `C_Encrypt`. In an asynchronous session it fails with [`ReturnCode::Pending`]; see
    /// [`async_complete`](Self::async_complete).
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
        self.cipher_whole(session, "C_Encrypt", CipherDirection::Encrypt, data, output)
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
        self.cipher_update(session, Some("C_EncryptUpdate"), CipherDirection::Encrypt, data, output)
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
        self.cipher_final(session, "C_EncryptFinal", CipherDirection::Encrypt, output)
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

    /// `C_Decrypt`. In an asynchronous session it fails with [`ReturnCode::Pending`]; see
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
        self.cipher_whole(session, "C_Decrypt", CipherDirection::Decrypt, data, output)
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
        self.cipher_update(session, Some("C_DecryptUpdate"), CipherDirection::Decrypt, data, output)
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
        self.cipher_final(session, "C_DecryptFinal", CipherDirection::Decrypt, output)
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
        let caller = self.caller_if(session, |found| operation_of(direction)(found).check_idle())?;
        let usable = caller.usable_key(key, mechanism, usage(direction), KeyFaults::USUAL)?;
        let needs_login = usable.needs_login();
        let mut operation = CipherOperation::new(usable.key, usable.facts, mechanism, direction)?;
        operation.needs_login = needs_login;
        // `begin` checks again: another thread may have begun an operation since the first check.
        self.sessions.with(session, |found| operation_of(direction)(found).begin(operation))
    }

    fn cipher_whole(
        &self,
        session: SessionHandle,
        function: &'static str,
        direction: CipherDirection,
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.step(session, operation_of(direction), |operation, flags| {
            // C_Encrypt and C_Decrypt cannot end an operation in pieces. PKCS#11 3.2 5.8.2 and 5.10.2.
            if operation.is_in_pieces() {
                return Err(ReturnCode::OperationActive);
            }
            check_turn(operation)?;
            if !has_space(output, operation.whole_len(data.len())?)? {
                return Ok(StepEnd::More(()));
            }
            let call = FunctionCall::new((session, flags), function, Some(output));
            self.compute_output(call, operation.plan_whole(data), output)
        })
    }

    /// Computes a piece. Without the name of a function it is never asynchronous.
    pub(super) fn cipher_update(
        &self,
        session: SessionHandle,
        function: Option<&'static str>,
        direction: CipherDirection,
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.step(session, operation_of(direction), |operation, flags| {
            check_turn(operation)?;
            // The buffer is checked before the piece is taken: after CKR_BUFFER_TOO_SMALL the caller gives the same
            // piece again.
            let len = operation.update_len(data.len());
            if !output.has_space(len)? {
                return Ok(StepEnd::More(()));
            }
            // A piece that only fills a block up has nothing to compute.
            let is_asynchronous = len > 0 && flags & session_flags::ASYNC_SESSION != 0;
            let Some(function) = function.filter(|_| is_asynchronous) else {
                let bytes = operation.plan_update(data)?.run(&self.accelerator)?;
                operation.chain(&bytes);
                output.write(&bytes)?;
                return Ok(StepEnd::More(()));
            };
            let call = FunctionCall::new((session, flags), function, Some(output));
            self.check_none_pending(call)?;
            Ok(StepEnd::Waits(self.submit_piece(call, operation, data)))
        })
    }

    fn submit_piece(&self, call: FunctionCall, operation: &mut CipherOperation, data: &[u8]) -> ReturnCode {
        // Planned before the copy is made, which must have the rest of the input and the next IV.
        let submitted = operation.plan_update(data).map(|computation| computation.submit(&self.accelerator));
        // The computation outlives this call and takes a copy with it. The session's operation stays busy until
        // C_AsyncComplete puts the copy back.
        let mut operation = Box::new(operation.clone());
        self.submit_pending(call, Some(operation.direction()), async move {
            let bytes = submitted?.await?;
            operation.chain(&bytes);
            Ok(CallResult { bytes, cipher: Some(operation), ..CallResult::default() })
        })
    }

    fn cipher_final(
        &self,
        session: SessionHandle,
        function: &'static str,
        direction: CipherDirection,
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.step(session, operation_of(direction), |operation, flags| {
            check_turn(operation)?;
            let (max_len, is_exact) = operation.finish_len()?;
            if !has_space(output, (max_len, is_exact))? {
                return Ok(StepEnd::More(()));
            }
            // An end without output has nothing to compute.
            let flags = if max_len > 0 { flags } else { 0 };
            let call = FunctionCall::new((session, flags), function, Some(output));
            self.compute_output(call, operation.plan_end(), output)
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
        // One call uses the key many times, and one PIN would be good for one use only.
        if usable.needs_login() {
            return Err(ReturnCode::KeyFunctionNotPermitted);
        }
        let operation = CipherOperation::new(usable.key, usable.facts, mechanism, direction)?;
        cipher_many(&self.accelerator, &operation, inputs, ivs)
    }
}

/// Returns true if there is space for an output, and false if the caller asks for its length. `len` is the largest
/// length, and whether every output is as long.
///
/// # Errors
/// [`ReturnCode::BufferTooSmall`], before anything is computed.
fn has_space(output: &mut CallOutput<'_>, (max_len, is_exact): (usize, bool)) -> Result<bool, ReturnCode> {
    // A decryption with padding may need less than its upper bound, so a smaller buffer is tried and `write` decides.
    if output.is_length_only() || is_exact { output.has_space(max_len) } else { Ok(true) }
}

fn operation_of(
    direction: CipherDirection,
) -> impl Fn(&mut Session) -> &mut ActiveOperation<CipherOperation> {
    move |session| session.cipher(direction)
}

fn usage(direction: CipherDirection) -> (u64, A) {
    match direction {
        CipherDirection::Encrypt => (mechanism_flags::ENCRYPT, A::ENCRYPT),
        CipherDirection::Decrypt => (mechanism_flags::DECRYPT, A::DECRYPT),
    }
}

/// Checks that this process may go on with an operation, and that it has given the PIN.
fn check_turn(operation: &CipherOperation) -> Result<(), ReturnCode> {
    if operation.is_of_parent() {
        return Err(ReturnCode::OperationNotInitialized);
    }
    if operation.needs_login { Err(ReturnCode::UserNotLoggedIn) } else { Ok(()) }
}
