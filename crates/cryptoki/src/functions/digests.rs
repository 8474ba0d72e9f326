//! Digests, and functions that digest or sign beside a cipher.

use super::Cryptoki;
use crate::constants::ReturnCode;
use crate::mechanism::Mechanism;
use crate::output::OutputBuffer;
use crate::session::{ObjectHandle, SessionHandle};

impl Cryptoki {
    /// `C_DigestInit`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn digest_init(&self, _session: SessionHandle, _mechanism: &Mechanism<'_>) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_Digest`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn digest(
        &self,
        _session: SessionHandle,
        _data: &[u8],
        _output: &mut OutputBuffer<'_>,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_DigestUpdate`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn digest_update(&self, _session: SessionHandle, _data: &[u8]) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_DigestKey`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn digest_key(&self, _session: SessionHandle, _key: ObjectHandle) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_DigestFinal`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn digest_final(
        &self,
        _session: SessionHandle,
        _output: &mut OutputBuffer<'_>,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_DigestEncryptUpdate`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn digest_encrypt_update(
        &self,
        _session: SessionHandle,
        _data: &[u8],
        _output: &mut OutputBuffer<'_>,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_SignEncryptUpdate`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn sign_encrypt_update(
        &self,
        _session: SessionHandle,
        _data: &[u8],
        _output: &mut OutputBuffer<'_>,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }
}
