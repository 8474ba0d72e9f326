//! Key management and random bytes.

use super::Cryptoki;
use crate::attribute::TemplateEntry;
use crate::constants::ReturnCode;
use crate::mechanism::Mechanism;
use crate::output::OutputBuffer;
use crate::session::{ObjectHandle, SessionHandle};

impl Cryptoki {
    /// `C_GenerateKey`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn generate_key(
        &self,
        _session: SessionHandle,
        _mechanism: &Mechanism<'_>,
        _template: &[TemplateEntry<'_>],
    ) -> Result<ObjectHandle, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_GenerateKeyPair`. Returns the public and the private key.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn generate_key_pair(
        &self,
        _session: SessionHandle,
        _mechanism: &Mechanism<'_>,
        _public: &[TemplateEntry<'_>],
        _private: &[TemplateEntry<'_>],
    ) -> Result<(ObjectHandle, ObjectHandle), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_WrapKey`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn wrap_key(
        &self,
        _session: SessionHandle,
        _mechanism: &Mechanism<'_>,
        _wrapping_key: ObjectHandle,
        _key: ObjectHandle,
        _output: &mut OutputBuffer<'_>,
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_UnwrapKey`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn unwrap_key(
        &self,
        _session: SessionHandle,
        _mechanism: &Mechanism<'_>,
        _unwrapping_key: ObjectHandle,
        _wrapped: &[u8],
        _template: &[TemplateEntry<'_>],
    ) -> Result<ObjectHandle, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_DeriveKey`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn derive_key(
        &self,
        _session: SessionHandle,
        _mechanism: &Mechanism<'_>,
        _base: ObjectHandle,
        _template: &[TemplateEntry<'_>],
    ) -> Result<ObjectHandle, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_SeedRandom`. The generator of the operating system needs no seed.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn seed_random(&self, _session: SessionHandle, _seed: &[u8]) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_GenerateRandom`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn generate_random(&self, _session: SessionHandle, _out: &mut [u8]) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }
}
