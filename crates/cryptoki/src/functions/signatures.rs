//! Signatures and message authentication codes.

use super::Cryptoki;
use super::access::KeyFaults;
use super::steps::StepEnd;
use crate::constants::{AttributeType as A, ReturnCode, mechanism_flags, session_flags};
use crate::handle::{ObjectHandle, SessionHandle};
use crate::mechanism::Mechanism;
use crate::operation::{ManyAnswers, ManyInputs, SignatureOperation, SigningStep, sign_many, verify_many};
use crate::output::CallOutput;

const SIGN: (u64, A) = (mechanism_flags::SIGN, A::SIGN);
const VERIFY: (u64, A) = (mechanism_flags::VERIFY, A::VERIFY);

impl Cryptoki {
    /// `C_SignInit`.
    ///
    /// # Errors
    /// [`ReturnCode::OperationActive`], [`ReturnCode::MechanismInvalid`], [`ReturnCode::MechanismParamInvalid`],
    /// [`ReturnCode::KeyHandleInvalid`], [`ReturnCode::KeyTypeInconsistent`],
    /// [`ReturnCode::KeyFunctionNotPermitted`].
    pub fn sign_init(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
    ) -> Result<(), ReturnCode> {
        let caller = self.caller_if(session, |found| found.sign.check_idle())?;
        let usable = caller.usable_key(key, mechanism, SIGN, KeyFaults::USUAL)?;
        let needs_login = usable.needs_login();
        let mut operation = SignatureOperation::new(usable.key, usable.facts, mechanism)?;
        operation.needs_login = needs_login;
        self.sessions.with(session, |found| found.sign.begin(operation))
    }

    /// `C_Sign`. In an asynchronous session it may fail with [`ReturnCode::Pending`]; see
    /// [`async_complete`](Self::async_complete).
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`], [`ReturnCode::BufferTooSmall`], [`ReturnCode::DataLenRange`],
    /// [`ReturnCode::UserNotLoggedIn`] if the key wants the PIN for each use.
    pub fn sign(
        &self,
        session: SessionHandle,
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.finish_signature(session, "C_Sign", SigningStep::Whole(data), output)
    }

    /// `C_SignUpdate`.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`], [`ReturnCode::UserNotLoggedIn`].
    pub fn sign_update(&self, session: SessionHandle, data: &[u8]) -> Result<(), ReturnCode> {
        self.step(
            session,
            |found| &mut found.sign,
            |operation, _| {
                check_login(operation)?;
                operation.update(data).map(StepEnd::More)
            },
        )
    }

    /// `C_SignFinal`. It may fail with [`ReturnCode::Pending`] as [`sign`](Self::sign) does.
    ///
    /// # Errors
    /// As [`sign`](Self::sign).
    pub fn sign_final(&self, session: SessionHandle, output: &mut CallOutput<'_>) -> Result<(), ReturnCode> {
        self.finish_signature(session, "C_SignFinal", SigningStep::Pieces, output)
    }

    fn finish_signature(
        &self,
        session: SessionHandle,
        function: &'static str,
        step: SigningStep<'_>,
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.step(
            session,
            |found| &mut found.sign,
            |operation, flags| {
                check_step(operation, &step)?;
                check_login(operation)?;
                if !output.has_space(operation.len())? {
                    return Ok(StepEnd::More(()));
                }
                if flags & session_flags::ASYNC_SESSION != 0 && operation.is_job() {
                    // Before the pieces are taken.
                    self.check_none_pending(session, function)?;
                    return Err(operation.with_job(step, &[], true, |job| {
                        Ok(self.submit_pending(session, function, job, output, ReturnCode::FunctionFailed))
                    })?);
                }
                output.write(&operation.sign(&self.accelerator, step)?)?;
                Ok(StepEnd::Done(()))
            },
        )
    }

    /// `C_VerifyInit`.
    ///
    /// # Errors
    /// As [`sign_init`](Self::sign_init).
    pub fn verify_init(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
    ) -> Result<(), ReturnCode> {
        self.begin_verification(session, mechanism, key, None)
    }

    fn begin_verification(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        signature: Option<&[u8]>,
    ) -> Result<(), ReturnCode> {
        let caller = self.caller_if(session, |found| found.verify.check_idle())?;
        let usable = caller.usable_key(key, mechanism, VERIFY, KeyFaults::USUAL)?;
        let mut operation = SignatureOperation::new(usable.key, usable.facts, mechanism)?;
        operation.signature = signature.map(<[u8]>::to_vec);
        self.sessions.with(session, |found| found.verify.begin(operation))
    }

    /// `C_Verify`.
    ///
    /// # Errors
    /// [`ReturnCode::SignatureInvalid`], [`ReturnCode::SignatureLenRange`],
    /// [`ReturnCode::OperationNotInitialized`], [`ReturnCode::DataLenRange`].
    pub fn verify(&self, session: SessionHandle, data: &[u8], signature: &[u8]) -> Result<(), ReturnCode> {
        self.finish_verification(session, SigningStep::Whole(data), Some(signature))
    }

    /// `C_VerifyUpdate`, and `C_VerifySignatureUpdate`.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`].
    pub fn verify_update(&self, session: SessionHandle, data: &[u8]) -> Result<(), ReturnCode> {
        self.step(
            session,
            |found| &mut found.verify,
            |operation, _| operation.update(data).map(StepEnd::More),
        )
    }

    /// `C_VerifyFinal`.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn verify_final(&self, session: SessionHandle, signature: &[u8]) -> Result<(), ReturnCode> {
        self.finish_verification(session, SigningStep::Pieces, Some(signature))
    }

    /// `C_VerifySignatureInit` of PKCS#11 3.2.
    ///
    /// # Errors
    /// As [`verify_init`](Self::verify_init).
    pub fn verify_signature_init(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        signature: &[u8],
    ) -> Result<(), ReturnCode> {
        self.begin_verification(session, mechanism, key, Some(signature))
    }

    /// `C_VerifySignature` of PKCS#11 3.2.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn verify_signature(&self, session: SessionHandle, data: &[u8]) -> Result<(), ReturnCode> {
        self.finish_verification(session, SigningStep::Whole(data), None)
    }

    /// `C_VerifySignatureFinal` of PKCS#11 3.2.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn verify_signature_final(&self, session: SessionHandle) -> Result<(), ReturnCode> {
        self.finish_verification(session, SigningStep::Pieces, None)
    }

    fn finish_verification(
        &self,
        session: SessionHandle,
        step: SigningStep<'_>,
        signature: Option<&[u8]>,
    ) -> Result<(), ReturnCode> {
        self.step(
            session,
            |found| &mut found.verify,
            |operation, _| {
                check_step(operation, &step)?;
                // An operation has its signature from the start or gets it at the end, never both.
                let own = operation.signature.take();
                let signature = match (signature, &own) {
                    (Some(signature), None) => signature,
                    (None, Some(own)) => own,
                    _ => return Err(ReturnCode::OperationNotInitialized),
                };
                operation.verify(&self.accelerator, step, signature)?;
                Ok(StepEnd::Done(()))
            },
        )
    }

    /// Signs many inputs under one key: `O_SignMany`, and `O_MacMany` for MACs. No operation of the session is used.
    ///
    /// # Errors
    /// As [`sign_init`](Self::sign_init).
    pub fn sign_many(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        inputs: ManyInputs<'_>,
    ) -> Result<ManyAnswers, ReturnCode> {
        let usable = self.caller(session)?.usable_key(key, mechanism, SIGN, KeyFaults::USUAL)?;
        if usable.needs_login() {
            return Err(ReturnCode::KeyFunctionNotPermitted);
        }
        let mut operation = SignatureOperation::new(usable.key, usable.facts, mechanism)?;
        sign_many(&self.accelerator, &mut operation, inputs)
    }

    /// Verifies many signatures under one key: `O_VerifyMany`.
    ///
    /// # Errors
    /// As [`verify_init`](Self::verify_init), and [`ReturnCode::ArgumentsBad`] unless there are as many signatures as
    /// inputs.
    pub fn verify_many(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        inputs: ManyInputs<'_>,
        signatures: ManyInputs<'_>,
    ) -> Result<ManyAnswers, ReturnCode> {
        let usable = self.caller(session)?.usable_key(key, mechanism, VERIFY, KeyFaults::USUAL)?;
        let mut operation = SignatureOperation::new(usable.key, usable.facts, mechanism)?;
        verify_many(&self.accelerator, &mut operation, inputs, signatures)
    }
}

/// A call in one step does not end an operation in pieces. PKCS#11 3.2 5.13.2.
fn check_step(operation: &SignatureOperation, step: &SigningStep<'_>) -> Result<(), ReturnCode> {
    let is_mixed = matches!(step, SigningStep::Whole(_)) && operation.is_in_pieces();
    if is_mixed { Err(ReturnCode::OperationActive) } else { Ok(()) }
}

fn check_login(operation: &SignatureOperation) -> Result<(), ReturnCode> {
    if operation.needs_login { Err(ReturnCode::UserNotLoggedIn) } else { Ok(()) }
}
