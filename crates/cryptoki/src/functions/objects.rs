//! Objects and searches.

use super::Cryptoki;
use crate::attribute::{AttributeQuery, TemplateEntry};
use crate::constants::ReturnCode;
use crate::session::{ObjectHandle, SessionHandle};

impl Cryptoki {
    /// `C_CreateObject`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn create_object(
        &self,
        _session: SessionHandle,
        _template: &[TemplateEntry<'_>],
    ) -> Result<ObjectHandle, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_CopyObject`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn copy_object(
        &self,
        _session: SessionHandle,
        _object: ObjectHandle,
        _template: &[TemplateEntry<'_>],
    ) -> Result<ObjectHandle, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_DestroyObject`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn destroy_object(&self, _session: SessionHandle, _object: ObjectHandle) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_GetObjectSize`: the bytes of all values.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn object_size(&self, _session: SessionHandle, _object: ObjectHandle) -> Result<usize, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_GetAttributeValue`. Every query gets its length, also after an error.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn get_attribute_value(
        &self,
        _session: SessionHandle,
        _object: ObjectHandle,
        _queries: &mut [AttributeQuery<'_>],
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_SetAttributeValue`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn set_attribute_value(
        &self,
        _session: SessionHandle,
        _object: ObjectHandle,
        _template: &[TemplateEntry<'_>],
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_FindObjectsInit`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn find_objects_init(
        &self,
        _session: SessionHandle,
        _template: &[TemplateEntry<'_>],
    ) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_FindObjects`. Returns the number of handles written.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn find_objects(
        &self,
        _session: SessionHandle,
        _handles: &mut [ObjectHandle],
    ) -> Result<usize, ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }

    /// `C_FindObjectsFinal`.
    ///
    /// # Errors
    /// The return codes of the standard for this function.
    pub fn find_objects_final(&self, _session: SessionHandle) -> Result<(), ReturnCode> {
        Err(ReturnCode::FunctionNotSupported)
    }
}
