//! Encryption and decryption.

use super::Cryptoki;
use crate::constants::ReturnCode;
use crate::mechanism::Mechanism;
use crate::operation::{ManyAnswers, ManyInputs, ManyIvs};
use crate::output::OutputBuffer;
use crate::session::{ObjectHandle, SessionHandle};

impl Cryptoki {
    /// `C_EncryptInit`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn encrypt_init(
        &self,
        _session: SessionHandle,
        _mechanism: &Mechanism<'_>,
        _key: ObjectHandle,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_Encrypt`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn encrypt(
        &self,
        _session: SessionHandle,
        _data: &[u8],
        _output: &mut OutputBuffer<'_>,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_EncryptUpdate`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn encrypt_update(
        &self,
        _session: SessionHandle,
        _data: &[u8],
        _output: &mut OutputBuffer<'_>,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_EncryptFinal`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn encrypt_final(
        &self,
        _session: SessionHandle,
        _output: &mut OutputBuffer<'_>,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_DecryptInit`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn decrypt_init(
        &self,
        _session: SessionHandle,
        _mechanism: &Mechanism<'_>,
        _key: ObjectHandle,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_Decrypt`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn decrypt(
        &self,
        _session: SessionHandle,
        _data: &[u8],
        _output: &mut OutputBuffer<'_>,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_DecryptUpdate`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn decrypt_update(
        &self,
        _session: SessionHandle,
        _data: &[u8],
        _output: &mut OutputBuffer<'_>,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_DecryptFinal`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn decrypt_final(
        &self,
        _session: SessionHandle,
        _output: &mut OutputBuffer<'_>,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// Encrypts many inputs under one key: `O_EncryptMany`. No operation of the session is used.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn encrypt_many(
        &self,
        _session: SessionHandle,
        _mechanism: &Mechanism<'_>,
        _key: ObjectHandle,
        _inputs: ManyInputs<'_>,
        _ivs: ManyIvs<'_>,
    ) -> Result<ManyAnswers, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// Decrypts many inputs under one key: `O_DecryptMany`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn decrypt_many(
        &self,
        _session: SessionHandle,
        _mechanism: &Mechanism<'_>,
        _key: ObjectHandle,
        _inputs: ManyInputs<'_>,
        _ivs: ManyIvs<'_>,
    ) -> Result<ManyAnswers, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }
}
