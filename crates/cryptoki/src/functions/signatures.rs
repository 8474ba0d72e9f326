//! Signatures and message authentication codes.

use super::Cryptoki;
use crate::constants::ReturnCode;
use crate::mechanism::Mechanism;
use crate::operation::{ManyAnswers, ManyInputs};
use crate::output::OutputBuffer;
use crate::session::{ObjectHandle, SessionHandle};

impl Cryptoki {
    /// `C_SignInit`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn sign_init(
        &self,
        _session: SessionHandle,
        _mechanism: &Mechanism<'_>,
        _key: ObjectHandle,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_Sign`. In an asynchronous session it may fail with [`ReturnCode::Pending`]; see
    /// [`async_complete`](Self::async_complete).
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn sign(
        &self,
        _session: SessionHandle,
        _data: &[u8],
        _output: &mut OutputBuffer<'_>,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_SignUpdate`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn sign_update(&self, _session: SessionHandle, _data: &[u8]) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_SignFinal`. It may fail with [`ReturnCode::Pending`] as [`sign`](Self::sign) does.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn sign_final(
        &self,
        _session: SessionHandle,
        _output: &mut OutputBuffer<'_>,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_VerifyInit`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn verify_init(
        &self,
        _session: SessionHandle,
        _mechanism: &Mechanism<'_>,
        _key: ObjectHandle,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_Verify`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn verify(&self, _session: SessionHandle, _data: &[u8], _signature: &[u8]) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_VerifyUpdate`, and `C_VerifySignatureUpdate`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn verify_update(&self, _session: SessionHandle, _data: &[u8]) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_VerifyFinal`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn verify_final(&self, _session: SessionHandle, _signature: &[u8]) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_VerifySignatureInit` of PKCS#11 3.2.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn verify_signature_init(
        &self,
        _session: SessionHandle,
        _mechanism: &Mechanism<'_>,
        _key: ObjectHandle,
        _signature: &[u8],
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_VerifySignature` of PKCS#11 3.2.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn verify_signature(&self, _session: SessionHandle, _data: &[u8]) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_VerifySignatureFinal` of PKCS#11 3.2.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn verify_signature_final(&self, _session: SessionHandle) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// Signs many inputs under one key: `O_SignMany`, and `O_MacMany` for MACs.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn sign_many(
        &self,
        _session: SessionHandle,
        _mechanism: &Mechanism<'_>,
        _key: ObjectHandle,
        _inputs: ManyInputs<'_>,
    ) -> Result<ManyAnswers, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// Verifies many signatures under one key: `O_VerifyMany`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn verify_many(
        &self,
        _session: SessionHandle,
        _mechanism: &Mechanism<'_>,
        _key: ObjectHandle,
        _inputs: ManyInputs<'_>,
        _signatures: ManyInputs<'_>,
    ) -> Result<ManyAnswers, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }
}
