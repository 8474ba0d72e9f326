//! Values of attributes in files: the bytes of the C interface on a machine with 64-bit numbers, the lowest byte first.

use zeroize::Zeroizing;

use super::form::{AttributeForm, is_template_entry};
use super::value::AttributeValue;
use crate::constants::{AttributeType, MechanismType, ObjectClass, ReturnCode};

impl AttributeValue {
    /// Returns the value as files have it, the same on every machine.
    #[must_use]
    pub fn to_stored(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(match self {
            Self::Bool(value) => vec![u8::from(*value)],
            Self::Number(value) => value.to_le_bytes().to_vec(),
            Self::Bytes(bytes) => bytes.clone(),
            Self::Secret(bytes) => bytes.expose().to_vec(),
            Self::Mechanisms(kinds) => kinds.iter().flat_map(|kind| kind.0.to_le_bytes()).collect(),
            Self::Template(entries) => entries.iter().flat_map(stored_entry).collect(),
        })
    }

    /// Reads what [`to_stored`](Self::to_stored) returned for an attribute of an object of this class.
    ///
    /// # Errors
    /// [`ReturnCode::AttributeTypeInvalid`] for an unknown type, [`ReturnCode::AttributeValueInvalid`] for bytes
    /// that do not fit the type.
    pub fn from_stored(kind: AttributeType, class: ObjectClass, bytes: &[u8]) -> Result<Self, ReturnCode> {
        let form = AttributeForm::from_type(kind, class.has_secret_value())
            .ok_or(ReturnCode::AttributeTypeInvalid)?;
        let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes);
        let invalid = |_| ReturnCode::AttributeValueInvalid;
        match form {
            AttributeForm::Number => number(bytes).map(Self::Number).map_err(invalid),
            AttributeForm::Mechanisms => {
                // A last chunk that is too short is not a number, so it fails in `number`.
                let kinds = bytes.chunks(size_of::<u64>()).map(|field| number(field).map(MechanismType));
                kinds.collect::<Result<_, _>>().map(Self::Mechanisms).map_err(invalid)
            }
            AttributeForm::Template => read_entries(bytes).map(Self::Template),
            form => form.read(bytes),
        }
    }
}

/// Returns the type, the length and the value of an entry of a template. Templates have no secret values.
fn stored_entry((kind, value): &(AttributeType, AttributeValue)) -> Vec<u8> {
    let value = value.to_stored();
    [&kind.0.to_le_bytes()[..], &(value.len() as u64).to_le_bytes(), &value].concat()
}

fn read_entries(mut bytes: &[u8]) -> Result<Vec<(AttributeType, AttributeValue)>, ReturnCode> {
    let invalid = ReturnCode::AttributeValueInvalid;
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let (kind, rest) = bytes.split_first_chunk().ok_or(invalid)?;
        let (len, rest) = rest.split_first_chunk().ok_or(invalid)?;
        let len = usize::try_from(u64::from_le_bytes(*len)).map_err(|_| invalid)?;
        let (value, rest) = rest.split_at_checked(len).ok_or(invalid)?;
        let kind = AttributeType(u64::from_le_bytes(*kind));
        // A template in a template ends here, so a damaged file cannot make the calls nest deeply.
        if !is_template_entry(kind) {
            return Err(invalid);
        }
        // Read as attributes of a key, as `parse_nested` reads what a caller gives.
        entries.push((kind, AttributeValue::from_stored(kind, ObjectClass::SECRET_KEY, value)?));
        bytes = rest;
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use oarlock::SecretBytes;

    use super::*;

    #[test]
    fn a_value_is_read_as_it_was_stored() {
        let kinds = AttributeValue::Mechanisms(vec![MechanismType(0x1041), MechanismType(0x250)]);
        for (kind, value) in [
            (AttributeType::TOKEN, true.into()),
            (AttributeType::KEY_TYPE, 3.into()),
            (AttributeType::LABEL, "mail".into()),
            (AttributeType::VALUE, SecretBytes::from(&b"secret"[..]).into()),
            (AttributeType::ALLOWED_MECHANISMS, kinds),
            (
                AttributeType::WRAP_TEMPLATE,
                AttributeValue::Template(vec![
                    (AttributeType::LABEL, "mail".into()),
                    (AttributeType::SIGN, true.into()),
                ]),
            ),
            (AttributeType::DERIVE_TEMPLATE, AttributeValue::Template(Vec::new())),
        ] {
            let stored = value.to_stored();
            assert_eq!(AttributeValue::from_stored(kind, ObjectClass::SECRET_KEY, &stored), Ok(value));
        }
    }

    #[test]
    fn bytes_that_do_not_fit_are_invalid() {
        let read = |kind, bytes: &[u8]| AttributeValue::from_stored(kind, ObjectClass::SECRET_KEY, bytes);
        let invalid = Err(ReturnCode::AttributeValueInvalid);
        assert_eq!(read(AttributeType::KEY_TYPE, &[1; 7]), invalid);
        assert_eq!(read(AttributeType::TOKEN, &[]), invalid);
        assert_eq!(read(AttributeType::ALLOWED_MECHANISMS, &[1; 9]), invalid);
        assert_eq!(read(AttributeType(0x7777), &[]), Err(ReturnCode::AttributeTypeInvalid));
        for kind in [AttributeType::WRAP_TEMPLATE, AttributeType::VALUE] {
            let nested = stored_entry(&(kind, AttributeValue::Bytes(Vec::new())));
            assert_eq!(read(AttributeType::WRAP_TEMPLATE, &nested), invalid, "templates have no {kind}");
        }
        let entry = stored_entry(&(AttributeType::SIGN, true.into()));
        assert_eq!(read(AttributeType::WRAP_TEMPLATE, &entry[..entry.len() - 1]), invalid);
    }
}
