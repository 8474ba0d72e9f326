//! Objects and searches.

use cryptoki_sys::{CK_ATTRIBUTE, CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CK_ULONG};
use oarlock_cryptoki::{ObjectHandle, ReturnCode};

use super::functions;
use super::memory::number;
use super::session::session_handle;
use crate::library;

/// The maximum number of handles that one call returns. A caller with more space asks again.
const MAX_FOUND: usize = 1 << 16;

/// Returns a handle of an object.
pub(super) fn object_handle(handle: CK_OBJECT_HANDLE) -> ObjectHandle {
    ObjectHandle(number(handle))
}

functions! { memory:
    fn C_CreateObject(
        session: CK_SESSION_HANDLE,
        template: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        object: *mut CK_OBJECT_HANDLE,
    ) {
        library::with(|library| {
            if object.is_null() {
                return Err(ReturnCode::ArgumentsBad);
            }
            let template = memory.template(template, count)?;
            let created = library.cryptoki.create_object(session_handle(session), &template.entries())?;
            memory.write(object, created.0 as CK_OBJECT_HANDLE)
        })
    }

    fn C_CopyObject(
        session: CK_SESSION_HANDLE,
        object: CK_OBJECT_HANDLE,
        template: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        copy: *mut CK_OBJECT_HANDLE,
    ) {
        library::with(|library| {
            if copy.is_null() {
                return Err(ReturnCode::ArgumentsBad);
            }
            let template = memory.template(template, count)?;
            let session = session_handle(session);
            let copied = library.cryptoki.copy_object(session, object_handle(object), &template.entries())?;
            memory.write(copy, copied.0 as CK_OBJECT_HANDLE)
        })
    }

    fn C_DestroyObject(session: CK_SESSION_HANDLE, object: CK_OBJECT_HANDLE) {
        library::with(|library| {
            library.cryptoki.destroy_object(session_handle(session), object_handle(object))
        })
    }

    fn C_GetObjectSize(session: CK_SESSION_HANDLE, object: CK_OBJECT_HANDLE, size: *mut CK_ULONG) {
        library::with(|library| {
            let bytes = library.cryptoki.object_size(session_handle(session), object_handle(object))?;
            memory.write(size, bytes as CK_ULONG)
        })
    }

    fn C_GetAttributeValue(
        session: CK_SESSION_HANDLE,
        object: CK_OBJECT_HANDLE,
        template: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
    ) {
        library::with(|library| {
            let (session, object) = (session_handle(session), object_handle(object));
            // Lengths are written for objects only: a wrong handle leaves the template as it is.
            library.cryptoki.object_size(session, object)?;
            memory.query(
                template,
                count,
                |queries| library.cryptoki.get_attribute_value(session, object, queries),
                |kind| library.cryptoki.get_template_attribute(session, object, kind),
            )
        })
    }

    fn C_SetAttributeValue(
        session: CK_SESSION_HANDLE,
        object: CK_OBJECT_HANDLE,
        template: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
    ) {
        library::with(|library| {
            let template = memory.template(template, count)?;
            let session = session_handle(session);
            library.cryptoki.set_attribute_value(session, object_handle(object), &template.entries())
        })
    }

    fn C_FindObjectsInit(session: CK_SESSION_HANDLE, template: *mut CK_ATTRIBUTE, count: CK_ULONG) {
        library::with(|library| {
            let template = memory.template(template, count)?;
            library.cryptoki.find_objects_init(session_handle(session), &template.entries())
        })
    }

    fn C_FindObjects(
        session: CK_SESSION_HANDLE,
        objects: *mut CK_OBJECT_HANDLE,
        max_count: CK_ULONG,
        count: *mut CK_ULONG,
    ) {
        library::with(|library| {
            if count.is_null() || objects.is_null() {
                return Err(ReturnCode::ArgumentsBad);
            }
            let space = usize::try_from(max_count).unwrap_or(MAX_FOUND).min(MAX_FOUND);
            let mut handles = vec![ObjectHandle(0); space];
            let found = library.cryptoki.find_objects(session_handle(session), &mut handles)?;
            for (index, handle) in handles.iter().take(found).enumerate() {
                memory.write_element(objects, index, handle.0 as CK_OBJECT_HANDLE)?;
            }
            memory.write(count, found as CK_ULONG)
        })
    }

    fn C_FindObjectsFinal(session: CK_SESSION_HANDLE) {
        library::with(|library| library.cryptoki.find_objects_final(session_handle(session)))
    }
}
