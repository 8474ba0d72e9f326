//! Templates and queries as callers give them.

use std::fmt;

use super::form::{AttributeForm, is_template_entry};
use super::set::AttributeSet;
use super::value::AttributeValue;
use crate::constants::{AttributeType, ObjectClass, ReturnCode};

/// An entry of a template, `CK_ATTRIBUTE` with a slice in place of the pointer.
#[derive(Clone, Copy)]
pub struct TemplateEntry<'a> {
    /// The type.
    pub kind: AttributeType,
    /// The memory of the value, or `None` for a null pointer with a length that is not zero.
    pub value: Option<&'a [u8]>,
    /// The value of `CKA_WRAP_TEMPLATE` and its like, which is a template itself.
    pub nested: Option<&'a [TemplateEntry<'a>]>,
}

/// An entry of `C_GetAttributeValue`: an attribute that the caller asks for.
pub struct AttributeQuery<'a> {
    /// The type.
    pub kind: AttributeType,
    /// The place of the value, or `None` if the caller asks for the length.
    pub buffer: Option<&'a mut [u8]>,
    /// The length of the value, to be written to `ulValueLen`. `None` is `CK_UNAVAILABLE_INFORMATION`.
    pub len: Option<usize>,
}

impl<'a> TemplateEntry<'a> {
    /// Creates an entry.
    #[must_use]
    pub fn new(kind: AttributeType, value: &'a [u8]) -> Self {
        Self { kind, value: Some(value), nested: None }
    }

    /// Creates an entry whose value is a template.
    #[must_use]
    pub fn nested(kind: AttributeType, entries: &'a [TemplateEntry<'a>]) -> Self {
        Self { kind, value: Some(&[]), nested: Some(entries) }
    }

    /// Creates an entry for a null pointer with a length that is not zero.
    #[must_use]
    pub fn null(kind: AttributeType) -> Self {
        Self { kind, value: None, nested: None }
    }
}

impl<'a> AttributeQuery<'a> {
    /// Creates a query with a place for the value.
    #[must_use]
    pub fn new(kind: AttributeType, buffer: &'a mut [u8]) -> Self {
        Self { kind, buffer: Some(buffer), len: None }
    }

    /// Creates a query for the length.
    #[must_use]
    pub fn length_only(kind: AttributeType) -> Self {
        Self { kind, buffer: None, len: None }
    }
}

/// Parses a template. A type that stands twice is an error, even with equal values.
///
/// # Errors
/// [`ReturnCode::TemplateInconsistent`] for a type that stands twice, [`ReturnCode::AttributeTypeInvalid`] for an
/// unknown type, [`ReturnCode::AttributeValueInvalid`] for a value that does not fit.
pub(crate) fn parse(template: &[TemplateEntry<'_>], class: ObjectClass) -> Result<AttributeSet, ReturnCode> {
    let mut set = AttributeSet::new();
    for entry in template {
        let form = AttributeForm::from_type(entry.kind, class.has_secret_value())
            .ok_or(ReturnCode::AttributeTypeInvalid)?;
        let bytes = entry.value.ok_or(ReturnCode::AttributeValueInvalid)?;
        let value = match (form, entry.nested) {
            (AttributeForm::Template, Some(nested)) => parse_nested(nested)?,
            _ => form.read(bytes)?,
        };
        if set.set(entry.kind, value).is_some() {
            return Err(ReturnCode::TemplateInconsistent);
        }
    }
    Ok(set)
}

/// Parses the template of other keys.
fn parse_nested(nested: &[TemplateEntry<'_>]) -> Result<AttributeValue, ReturnCode> {
    if !nested.iter().all(|entry| is_template_entry(entry.kind)) {
        return Err(ReturnCode::AttributeValueInvalid);
    }
    // The class only decides the form of CKA_VALUE, which `is_template_entry` has rejected.
    let set = parse(nested, ObjectClass::SECRET_KEY)?;
    Ok(AttributeValue::Template(set.iter().map(|(kind, value)| (kind, value.clone())).collect()))
}

/// Parses the template of a search. Unknown types and values of a wrong length match nothing and give `None`.
///
/// # Errors
/// [`ReturnCode::AttributeValueInvalid`] for a null pointer with a length.
pub(crate) fn parse_search(template: &[TemplateEntry<'_>]) -> Result<Option<AttributeSet>, ReturnCode> {
    let mut set = AttributeSet::new();
    for entry in template {
        let bytes = entry.value.ok_or(ReturnCode::AttributeValueInvalid)?;
        // Only public values are compared, so CKA_VALUE is read as that of data and public keys.
        let Some(Ok(value)) = AttributeForm::from_type(entry.kind, false).map(|form| form.read(bytes)) else {
            return Ok(None);
        };
        // No object has two values of one attribute, so a search for both finds nothing.
        match set.set(entry.kind, value) {
            Some(earlier) if set.get(entry.kind) != Some(&earlier) => return Ok(None),
            _ => {}
        }
    }
    Ok(Some(set))
}

/// Returns the number in a template without parsing the rest.
pub(crate) fn peek_number(template: &[TemplateEntry<'_>], kind: AttributeType) -> Option<u64> {
    // The form of CKA_VALUE depends on the class, so the class must be known before the template is parsed.
    let bytes = template.iter().find(|entry| entry.kind == kind)?.value?;
    AttributeForm::Number.read(bytes).ok()?.as_number()
}

/// Shows the type and the length, because the value may be secret.
impl fmt::Debug for TemplateEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) => write!(f, "TemplateEntry({}, {} bytes)", self.kind, value.len()),
            None => write!(f, "TemplateEntry({}, null)", self.kind),
        }
    }
}

impl fmt::Debug for AttributeQuery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = self.buffer.as_ref().map(|buffer| buffer.len());
        write!(f, "AttributeQuery({}, space for {space:?}, {:?} bytes)", self.kind, self.len)
    }
}
