//! Signatures and message authentication codes.

use std::borrow::Cow;

use super::Cryptoki;
use super::access::KeyFaults;
use super::asynchronous::FunctionCall;
use super::steps::StepEnd;
use crate::constants::{AttributeType as A, ReturnCode, mechanism_flags};
use crate::handle::{ObjectHandle, SessionHandle};
use crate::mechanism::Mechanism;
use crate::operation::{ManyAnswers, ManyInputs, SignatureOperation, sign_many, verify_many};
use crate::output::CallOutput;
use crate::session::CallResult;

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

    /// `C_Sign`. In an asynchronous session it fails with [`ReturnCode::Pending`]; see
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
        self.finish_signature(session, "C_Sign", Some(data), output)
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
        self.finish_signature(session, "C_SignFinal", None, output)
    }

    fn finish_signature(
        &self,
        session: SessionHandle,
        function: &'static str,
        whole: Option<&[u8]>,
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.step(
            session,
            |found| &mut found.sign,
            |operation, flags| {
                check_step(operation, whole)?;
                check_login(operation)?;
                if !output.has_space(operation.len())? {
                    return Ok(StepEnd::More(()));
                }
                let call = FunctionCall::new((session, flags), function, Some(output));
                self.compute_output(call, operation.plan_signature(whole), output)
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
        // No PIN is awaited: only private keys have CKA_ALWAYS_AUTHENTICATE.
        let mut operation = SignatureOperation::new(usable.key, usable.facts, mechanism)?;
        operation.signature = signature.map(<[u8]>::to_vec);
        self.sessions.with(session, |found| found.verify.begin(operation))
    }

    /// `C_Verify`. In an asynchronous session it fails with [`ReturnCode::Pending`]; see
    /// [`async_complete`](Self::async_complete).
    ///
    /// # Errors
    /// [`ReturnCode::SignatureInvalid`], [`ReturnCode::SignatureLenRange`],
    /// [`ReturnCode::OperationNotInitialized`], [`ReturnCode::DataLenRange`].
    pub fn verify(&self, session: SessionHandle, data: &[u8], signature: &[u8]) -> Result<(), ReturnCode> {
        self.finish_verification(session, "C_Verify", Some(data), Some(signature))
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
        self.finish_verification(session, "C_VerifyFinal", None, Some(signature))
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
        self.finish_verification(session, "C_VerifySignature", Some(data), None)
    }

    /// `C_VerifySignatureFinal` of PKCS#11 3.2.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn verify_signature_final(&self, session: SessionHandle) -> Result<(), ReturnCode> {
        self.finish_verification(session, "C_VerifySignatureFinal", None, None)
    }

    fn finish_verification(
        &self,
        session: SessionHandle,
        function: &'static str,
        whole: Option<&[u8]>,
        signature: Option<&[u8]>,
    ) -> Result<(), ReturnCode> {
        self.step(
            session,
            |found| &mut found.verify,
            |operation, flags| {
                check_step(operation, whole)?;
                let call = FunctionCall::new((session, flags), function, None);
                self.check_none_pending(call)?;
                // An operation has its signature from the start or gets it at the end, never both.
                let from_init = operation.signature.take();
                let signature = match (signature, from_init) {
                    (Some(signature), None) => Cow::Borrowed(signature),
                    (None, Some(from_init)) => Cow::Owned(from_init),
                    _ => return Err(ReturnCode::OperationNotInitialized),
                };
                let verification = operation.plan_verification(whole, &signature);
                self.compute(call, verification, |verified| verified.map(|_| CallResult::default()))?;
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
        // One PIN would be good for one use of the key, and this call has many.
        if usable.needs_login() {
            return Err(ReturnCode::KeyFunctionNotPermitted);
        }
        let operation = SignatureOperation::new(usable.key, usable.facts, mechanism)?;
        sign_many(&self.accelerator, &operation, inputs)
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
        let operation = SignatureOperation::new(usable.key, usable.facts, mechanism)?;
        verify_many(&self.accelerator, &operation, inputs, signatures)
    }
}

/// A call in one step takes no message in pieces. PKCS#11 3.2 5.13.2.
fn check_step(operation: &SignatureOperation, whole: Option<&[u8]>) -> Result<(), ReturnCode> {
    let is_mixed = whole.is_some() && operation.is_in_pieces();
    if is_mixed { Err(ReturnCode::OperationActive) } else { Ok(()) }
}

fn check_login(operation: &SignatureOperation) -> Result<(), ReturnCode> {
    if operation.needs_login { Err(ReturnCode::UserNotLoggedIn) } else { Ok(()) }
}
