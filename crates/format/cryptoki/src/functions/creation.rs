//! Creation of objects from values.

use oarlock::SecretBytes;

use super::Cryptoki;
use super::access::Caller;
use crate::attribute::{AttributeSet, AttributeValue, TemplateEntry, parse, peek_number};
use crate::constants::{AttributeType as A, KeyTypeNumber, ObjectClass, ReturnCode};
use crate::handle::{ObjectHandle, SessionHandle};
use crate::object::{CreationKind, NewObject, complete, key_from_values, new_key_object};
use crate::session::CallResult;

/// `CKC_X_509`.
const X_509: u64 = 0;

impl Cryptoki {
    /// `C_CreateObject`: a key, a certificate or data.
    ///
    /// # Errors
    /// [`ReturnCode::TemplateIncomplete`], [`ReturnCode::TemplateInconsistent`],
    /// [`ReturnCode::AttributeTypeInvalid`], [`ReturnCode::AttributeValueInvalid`],
    /// [`ReturnCode::AttributeReadOnly`], [`ReturnCode::CurveNotSupported`], [`ReturnCode::SessionReadOnly`],
    /// [`ReturnCode::UserNotLoggedIn`].
    pub fn create_object(
        &self,
        session: SessionHandle,
        template: &[TemplateEntry<'_>],
    ) -> Result<ObjectHandle, ReturnCode> {
        let caller = self.caller(session)?;
        let class = peek_number(template, A::CLASS).ok_or(ReturnCode::TemplateIncomplete)?;
        let class = ObjectClass(class);
        let template = parse(template, class)?;
        let object = match class {
            ObjectClass::DATA => new_data(template, &caller)?,
            ObjectClass::CERTIFICATE => new_certificate(template, &caller)?,
            ObjectClass::PUBLIC_KEY | ObjectClass::PRIVATE_KEY | ObjectClass::SECRET_KEY => {
                new_key(template, class, &caller)?
            }
            _ => return Err(ReturnCode::AttributeValueInvalid),
        };
        // Checked when the object is complete: CKA_TOKEN and CKA_PRIVATE decide, and both have defaults.
        caller.check_write(&object.attributes)?;
        self.add_first(&caller, CallResult::of_object(object))
    }

    /// Adds the only object of a result and returns its handle.
    pub(super) fn add_first(
        &self,
        caller: &Caller<'_>,
        result: CallResult,
    ) -> Result<ObjectHandle, ReturnCode> {
        let handles = self.add(caller, result.objects)?;
        handles.first().copied().ok_or(ReturnCode::GeneralError)
    }

    /// Adds complete objects, all or none.
    pub(super) fn add(
        &self,
        caller: &Caller<'_>,
        objects: Vec<NewObject>,
    ) -> Result<Vec<ObjectHandle>, ReturnCode> {
        let has_own = objects.iter().any(|object| !object.attributes.is_true(A::TOKEN));
        let note = || {
            self.sessions.with(caller.session, |found| {
                found.has_objects |= has_own;
                Ok(())
            })
        };
        // Marked before the objects exist, because `close_session` looks only for objects of marked sessions.
        note()?;
        let handles = caller.slot.objects.add(objects, caller.session)?;
        // A session that was closed between the two has not taken these objects with it.
        note().inspect_err(|_| caller.slot.objects.forget_session(caller.session))?;
        Ok(handles)
    }
}

fn new_data(template: AttributeSet, caller: &Caller<'_>) -> Result<NewObject, ReturnCode> {
    let context = caller.context();
    let mut attributes = complete(template, ObjectClass::DATA, None, CreationKind::Values, context)?;
    attributes.set_default(A::VALUE, "");
    let mut private_value = None;
    if attributes.is_true(A::PRIVATE)
        && let Some(AttributeValue::Bytes(value)) = attributes.remove(A::VALUE)
    {
        private_value = Some(SecretBytes::new(value));
    }
    Ok(NewObject { attributes, key: None, private_value })
}

fn new_certificate(template: AttributeSet, caller: &Caller<'_>) -> Result<NewObject, ReturnCode> {
    let kind = template.number(A::CERTIFICATE_TYPE).ok_or(ReturnCode::TemplateIncomplete)?;
    let has_value = |kind| template.bytes(kind).is_some_and(|value| !value.is_empty());
    // A subject, and the certificate or its URL. PKCS#11 3.2 4.6.3.
    if kind == X_509 && !(template.contains(A::SUBJECT) && (has_value(A::VALUE) || has_value(A::URL))) {
        return Err(ReturnCode::TemplateIncomplete);
    }
    let context = caller.context();
    let attributes = complete(template, ObjectClass::CERTIFICATE, None, CreationKind::Values, context)?;
    Ok(NewObject { attributes, key: None, private_value: None })
}

fn new_key(template: AttributeSet, class: ObjectClass, caller: &Caller<'_>) -> Result<NewObject, ReturnCode> {
    let key_type = template.number(A::KEY_TYPE).ok_or(ReturnCode::TemplateIncomplete)?;
    let key_type = KeyTypeNumber(key_type);
    check_key_type(class, key_type)?;
    let (kind, context) = (CreationKind::Values, caller.context());
    let attributes = complete(template, class, Some(key_type), kind, context)?;
    let key = key_from_values(class, key_type, [&attributes, &AttributeSet::new()])?;
    // Read before `new_key_object` overwrites it. CKA_MODULUS_BITS follows from the modulus, so only the right number
    // is accepted.
    let given_bits = attributes.number(A::MODULUS_BITS);
    let object = new_key_object(attributes, key, class)?;
    if given_bits.is_some_and(|bits| object.attributes.number(A::MODULUS_BITS) != Some(bits)) {
        return Err(ReturnCode::TemplateInconsistent);
    }
    Ok(object)
}

/// Checks that keys of this class can have this type.
///
/// # Errors
/// [`ReturnCode::AttributeValueInvalid`] for a type that is not known, [`ReturnCode::TemplateInconsistent`] for one
/// that belongs to another class.
pub(super) fn check_key_type(class: ObjectClass, key_type: KeyTypeNumber) -> Result<(), ReturnCode> {
    if key_type.name().is_none() {
        return Err(ReturnCode::AttributeValueInvalid);
    }
    let wants_secret = class == ObjectClass::SECRET_KEY;
    if key_type.is_asymmetric() == wants_secret { Err(ReturnCode::TemplateInconsistent) } else { Ok(()) }
}
