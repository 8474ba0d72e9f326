//! Objects and searches.

use super::Cryptoki;
use crate::attribute::{AttributeQuery, TemplateEntry, parse, parse_search};
use crate::constants::{AttributeType as A, ReturnCode};
use crate::handle::{ObjectHandle, SessionHandle};
use crate::object::{change, complete_copy};
use crate::session::CallResult;

/// The number of times that a change is tried if others change the same object at the same time.
const MAX_CONFLICTS: usize = 100;

impl Cryptoki {
    /// `C_CopyObject`.
    ///
    /// # Errors
    /// [`ReturnCode::ActionProhibited`], [`ReturnCode::AttributeReadOnly`], and those of
    /// [`create_object`](Self::create_object).
    pub fn copy_object(
        &self,
        session: SessionHandle,
        object: ObjectHandle,
        template: &[TemplateEntry<'_>],
    ) -> Result<ObjectHandle, ReturnCode> {
        let caller = self.caller(session)?;
        let source = caller.object(object)?;
        let template = parse(template, source.class)?;
        let attributes = complete_copy(&source.attributes, template, source.class, caller.context())?;
        caller.check_write(&attributes)?;
        let copy = source.copy_with(attributes, caller.slot.objects.token())?;
        self.add_first(&caller, CallResult::of_object(copy))
    }

    /// `C_DestroyObject`.
    ///
    /// # Errors
    /// [`ReturnCode::ActionProhibited`], [`ReturnCode::SessionReadOnly`], [`ReturnCode::ObjectHandleInvalid`].
    pub fn destroy_object(&self, session: SessionHandle, object: ObjectHandle) -> Result<(), ReturnCode> {
        let caller = self.caller(session)?;
        let found = caller.object(object)?;
        if found.attributes.bool(A::DESTROYABLE) == Some(false) {
            return Err(ReturnCode::ActionProhibited);
        }
        caller.check_write(&found.attributes)?;
        caller.slot.objects.destroy(object, &found)
    }

    /// `C_GetObjectSize`: the bytes of all values that are not secret.
    ///
    /// # Errors
    /// [`ReturnCode::ObjectHandleInvalid`].
    pub fn object_size(&self, session: SessionHandle, object: ObjectHandle) -> Result<usize, ReturnCode> {
        Ok(self.caller(session)?.object(object)?.size())
    }

    /// `C_GetAttributeValue`. Every query gets its length, also after an error.
    ///
    /// # Errors
    /// [`ReturnCode::AttributeSensitive`], [`ReturnCode::AttributeTypeInvalid`] and [`ReturnCode::BufferTooSmall`] of
    /// the first query that fails. The others are answered.
    pub fn get_attribute_value(
        &self,
        session: SessionHandle,
        object: ObjectHandle,
        queries: &mut [AttributeQuery<'_>],
    ) -> Result<(), ReturnCode> {
        let caller = self.caller(session)?;
        let found = caller.object(object)?;
        let token = caller.slot.objects.token();
        let mut result = Ok(());
        for query in queries {
            // The first error is returned, but every query is answered. PKCS#11 3.2 5.7.5.
            let answer = found.read(query, token);
            result = result.and(answer);
        }
        result
    }

    /// Returns the attributes of a template in an object, such as `CKA_WRAP_TEMPLATE`, as the C interface shows their
    /// values. [`get_attribute_value`](Self::get_attribute_value) returns their length only.
    ///
    /// # Errors
    /// [`ReturnCode::ObjectHandleInvalid`], [`ReturnCode::AttributeTypeInvalid`].
    pub fn get_template_attribute(
        &self,
        session: SessionHandle,
        object: ObjectHandle,
        kind: A,
    ) -> Result<Vec<(A, Vec<u8>)>, ReturnCode> {
        let object = self.caller(session)?.object(object)?;
        let entries = object.attributes.template(kind).ok_or(ReturnCode::AttributeTypeInvalid)?;
        Ok(entries.iter().map(|(kind, value)| (*kind, value.encoded().to_vec())).collect())
    }

    /// `C_SetAttributeValue`.
    ///
    /// # Errors
    /// [`ReturnCode::ActionProhibited`], [`ReturnCode::AttributeReadOnly`], [`ReturnCode::TemplateInconsistent`],
    /// [`ReturnCode::SessionReadOnly`]; [`ReturnCode::FunctionFailed`] if others change the object all the time.
    pub fn set_attribute_value(
        &self,
        session: SessionHandle,
        object: ObjectHandle,
        template: &[TemplateEntry<'_>],
    ) -> Result<(), ReturnCode> {
        let caller = self.caller(session)?;
        for _ in 0..MAX_CONFLICTS {
            let found = caller.object(object)?;
            caller.check_write(&found.attributes)?;
            let template = parse(template, found.class)?;
            let attributes = change(&found.attributes, template, found.class, caller.context())?;
            if caller.slot.objects.update(object, &found, attributes)? {
                return Ok(());
            }
            // Another thread or process was faster. The laws apply to what it has left.
            caller.slot.objects.refresh()?;
        }
        Err(ReturnCode::FunctionFailed)
    }

    /// `C_FindObjectsInit`. Changes of the token by other processes are seen.
    ///
    /// # Errors
    /// [`ReturnCode::OperationActive`], [`ReturnCode::AttributeValueInvalid`].
    pub fn find_objects_init(
        &self,
        session: SessionHandle,
        template: &[TemplateEntry<'_>],
    ) -> Result<(), ReturnCode> {
        let caller = self.caller_if(session, |found| match found.search {
            Some(_) => Err(ReturnCode::OperationActive),
            None => Ok(()),
        })?;
        let mut found = match parse_search(template)? {
            Some(wanted) => caller.slot.objects.find(&wanted, caller.slot.login.is_user())?,
            None => Vec::new(),
        };
        // Taken from the end.
        found.reverse();
        self.sessions.with(session, |open| {
            // Another thread may have begun a search while this one looked through the objects.
            if open.search.is_some() {
                return Err(ReturnCode::OperationActive);
            }
            open.search = Some(found);
            Ok(())
        })
    }

    /// `C_FindObjects`. Returns the number of handles written.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`].
    pub fn find_objects(
        &self,
        session: SessionHandle,
        handles: &mut [ObjectHandle],
    ) -> Result<usize, ReturnCode> {
        self.sessions.with(session, |open| {
            let search = open.search.as_mut().ok_or(ReturnCode::OperationNotInitialized)?;
            let mut count = 0;
            for to in handles {
                let Some(handle) = search.pop() else { break };
                *to = handle;
                count += 1;
            }
            Ok(count)
        })
    }

    /// `C_FindObjectsFinal`.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`].
    pub fn find_objects_final(&self, session: SessionHandle) -> Result<(), ReturnCode> {
        let search = self.sessions.with(session, |open| Ok(open.search.take()))?;
        search.map(drop).ok_or(ReturnCode::OperationNotInitialized)
    }
}
