//! The check of a JSON text before a message is made of it. Nothing is built, and a list that is too long ends it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use super::JsonError;

/// The maximum number of elements of a list.
pub(crate) const MAX_ELEMENTS: usize = 1024;

/// Checks that a text is an object with fields of a message, and that their values have the right form.
///
/// # Errors
/// The first mistake. The range of numbers is not checked, and neither is the choice between fields.
pub(super) fn check(json: &[u8], message: &MessageDescriptor) -> Result<(), JsonError> {
    let flaw = RefCell::new(None);
    let mut text = serde_json::Deserializer::from_slice(json);
    let checked = text.deserialize_map(MessageCheck { message, flaw: &flaw });
    let Err(error) = checked.and_then(|()| text.end()) else { return Ok(()) };
    let (line, column) = (error.line(), error.column());
    // A syntax error inside of a field also leaves its flaw behind, although the value is not at fault.
    Err(match flaw.into_inner().filter(|_| error.classify() == Category::Data) {
        Some(flaw) => flaw.at(line, column),
        None if error.classify() == Category::Data => {
            JsonError::Value { line, column, field: None, expected: "an object".to_owned() }
        }
        None => JsonError::Syntax { line, column },
    })
}

/// The field that is read, and what is wrong if reading fails there.
enum JsonFlaw {
    /// The value does not fit.
    Value(FieldDescriptor),
    /// The list is too long.
    TooMany(FieldDescriptor),
    /// The field has occurred before.
    Twice(FieldDescriptor),
    /// The message has no such field.
    Unknown { message: String, name: String },
}

impl JsonFlaw {
    fn at(self, line: usize, column: usize) -> JsonError {
        match self {
            Self::Value(field) => {
                let expected = expected(&field);
                JsonError::Value { line, column, field: Some(field.json_name().to_owned()), expected }
            }
            Self::TooMany(field) => {
                JsonError::TooMany { line, column, field: field.json_name().to_owned(), max: MAX_ELEMENTS }
            }
            Self::Twice(field) => JsonError::Twice { line, column, field: field.json_name().to_owned() },
            Self::Unknown { message, name } => JsonError::UnknownField { line, column, message, name },
        }
    }
}

/// Messages with an example of each.
const EXAMPLES: [(&str, &str); 2] = [
    ("Scheme", r#"{"kind":"ECDSA_SIGN","digest":"SHA256"}"#),
    ("TokenFormat", r#"{"alphabet":"digits","keepLast":4}"#),
];

/// Returns what is expected in a field.
fn expected(field: &FieldDescriptor) -> String {
    let of_value = match field.kind() {
        Kind::Message(message) => match EXAMPLES.iter().find(|(name, _)| *name == message.name()) {
            Some((_, example)) => format!("an object such as {example}"),
            None => "an object".to_owned(),
        },
        Kind::Enum(names) => {
            let names = names.values().filter(|value| !value.name().ends_with("_UNSPECIFIED"));
            let names: Vec<String> = names.map(|value| format!("{:?}", value.name())).collect();
            format!("one of {}", names.join(", "))
        }
        Kind::Bytes => "base64 in quotes".to_owned(),
        Kind::String => "a text in quotes".to_owned(),
        Kind::Bool => "true or false".to_owned(),
        _ => "a number".to_owned(),
    };
    match field.is_list() {
        true => format!("a list of {MAX_ELEMENTS} elements at most, each {of_value}"),
        false => of_value,
    }
}

fn unfit<E: Error>() -> E {
    E::custom("the value does not fit")
}

/// Reads the fields of a message.
#[derive(Clone, Copy)]
struct MessageCheck<'c> {
    message: &'c MessageDescriptor,
    flaw: &'c RefCell<Option<JsonFlaw>>,
}

impl<'de> Visitor<'de> for MessageCheck<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = Vec::new();
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            let by_json_name = self.message.get_field_by_json_name(&name);
            let Some(field) = by_json_name.or_else(|| self.message.get_field_by_name(&name)) else {
                let message = self.message.name().to_owned();
                let name = name.chars().take(64).collect();
                self.flaw.replace(Some(JsonFlaw::Unknown { message, name }));
                return Err(unfit());
            };
            // Each occurrence of a list could have the maximum of elements.
            if seen.contains(&field.number()) {
                self.flaw.replace(Some(JsonFlaw::Twice(field)));
                return Err(unfit());
            }
            seen.push(field.number());
            // Set before the value is read: an error in the reader has no field, and takes this one.
            self.flaw.replace(Some(JsonFlaw::Value(field.clone())));
            map.next_value_seed(ValueCheck { field: &field, is_element: false, flaw: self.flaw })?;
            self.flaw.replace(None);
        }
        Ok(())
    }
}

/// Reads the value of a field, or an element of it.
#[derive(Clone, Copy)]
struct ValueCheck<'c> {
    field: &'c FieldDescriptor,
    /// True for an element of a list.
    is_element: bool,
    flaw: &'c RefCell<Option<JsonFlaw>>,
}

impl ValueCheck<'_> {
    /// Returns the kind of a single value, or None if a list is expected.
    fn single(&self) -> Option<Kind> {
        (self.is_element || !self.field.is_list()).then(|| self.field.kind())
    }

    fn check<E: Error>(&self, fits: impl FnOnce(Kind) -> bool) -> Result<(), E> {
        if self.single().is_some_and(fits) { Ok(()) } else { Err(unfit()) }
    }

    fn check_number<E: Error>(&self) -> Result<(), E> {
        self.check(|kind| !matches!(kind, Kind::Message(_) | Kind::Bytes | Kind::String | Kind::Bool))
    }
}

impl<'de> DeserializeSeed<'de> for ValueCheck<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueCheck<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of the field")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        // A field that is null is absent.
        if self.is_element { Err(unfit()) } else { Ok(()) }
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.check(|kind| matches!(kind, Kind::Bool))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.check_number()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.check_number()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.check_number()
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.check(|kind| match kind {
            Kind::Bytes => is_base64(text),
            Kind::Enum(names) => names.get_value_by_name(text).is_some(),
            // Numbers may be quoted.
            kind => !matches!(kind, Kind::Message(_) | Kind::Bool),
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        if self.single().is_some() {
            return Err(unfit());
        }
        let element = Self { is_element: true, ..self };
        let mut len = 0;
        while elements.next_element_seed(element)?.is_some() {
            len += 1;
            if len > MAX_ELEMENTS {
                self.flaw.replace(Some(JsonFlaw::TooMany(self.field.clone())));
                return Err(unfit());
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        match self.single() {
            Some(Kind::Message(message)) => {
                MessageCheck { message: &message, flaw: self.flaw }.visit_map(map)
            }
            _ => Err(unfit()),
        }
    }
}

/// True if a text can be base64, of either alphabet and with or without padding. RFC 4648.
fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte);
    digits.len() % 4 != 1 && text.len() - digits.len() <= 2 && digits.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use oarlock_wire::proto::DESCRIPTORS;
    use prost_reflect::DescriptorPool;

    use super::*;

    fn message(name: &str) -> MessageDescriptor {
        let pool = DescriptorPool::decode(DESCRIPTORS).unwrap();
        pool.get_message_by_name(&format!("oarlock.v1.{name}")).unwrap()
    }

    fn fault(name: &str, json: &str) -> String {
        check(json.as_bytes(), &message(name)).unwrap_err().to_string()
    }

    #[test]
    fn a_list_ends_the_check_where_it_becomes_too_long() {
        let list = |len: usize| format!(r#"{{"plaintexts":[{}"""#, r#""","#.repeat(len - 1));
        let whole = list(MAX_ELEMENTS) + "]}";
        assert_eq!(check(whole.as_bytes(), &message("EncryptRequest")), Ok(()));
        // The rest is no JSON, and is not read.
        let error = check((list(MAX_ELEMENTS + 1) + "}}]").as_bytes(), &message("EncryptRequest"));
        let column = list(MAX_ELEMENTS + 1).len();
        let field = "plaintexts".to_owned();
        assert_eq!(error, Err(JsonError::TooMany { line: 1, column, field, max: MAX_ELEMENTS }));
    }

    #[test]
    fn a_mistake_names_its_field_and_what_is_expected() {
        for (name, json, expected) in [
            (
                "SignRequest",
                r#"{"scheme":"ecdsa-sha256"}"#,
                r#"field "scheme": expected an object such as {"kind":"ECDSA_SIGN","digest":"SHA256"}"#,
            ),
            (
                "SignRequest",
                r#"{"scheme":{"kind":"ECDSA"}}"#,
                r#"field "kind": expected one of "RSA_PKCS1_SIGN", "#,
            ),
            ("SignRequest", r#"{"message":7}"#, r#"field "message": expected base64 in quotes"#),
            (
                "EncryptRequest",
                r#"{"plaintexts":"eA=="}"#,
                "field \"plaintexts\": expected a list of 1024 elements",
            ),
            ("EncryptRequest", r#"{"plaintexts":["a!"]}"#, "each base64 in quotes"),
            ("EncryptRequest", r#"{"plaintexts":[null]}"#, "each base64 in quotes"),
            ("EncryptRequest", r#"{"key":["aes"]}"#, "field \"key\": expected a text in quotes"),
            ("MacRequest", r#"{"length":true}"#, "field \"length\": expected a number"),
            ("VerifyResponse", r#"{"isValid":"true"}"#, "field \"isValid\": expected true or false"),
            ("EncryptRequest", r#"{"aad":"","key":"a","aad":""}"#, "field \"aad\" occurs twice"),
            ("EncryptRequest", "[]", "expected an object"),
        ] {
            let found = fault(name, json);
            assert!(found.contains(expected), "{json}: {found}");
        }
    }

    #[test]
    fn what_a_message_can_be_made_of_passes() {
        for (name, json) in [
            ("EncryptRequest", r#"{"key":"aes","plaintexts":["eA==","eA","-_8",""],"aad":null}"#),
            ("MacRequest", r#"{"length":"8"}"#),
            ("MacRequest", r#"{"length":8}"#),
            ("SignRequest", r#"{"scheme":{"kind":7,"salt_len":32,"takesDigest":false}}"#),
        ] {
            assert_eq!(check(json.as_bytes(), &message(name)), Ok(()), "{json}");
        }
        for (name, example) in EXAMPLES {
            assert_eq!(check(example.as_bytes(), &message(name)), Ok(()), "{example}");
        }
    }
}
