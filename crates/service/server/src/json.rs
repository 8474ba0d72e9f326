//! The messages of single calls as JSON, in Protocol Buffers' own mapping: names in lowerCamelCase, bytes in base64,
//! enumerations by name.

mod check;

use std::collections::HashMap;

use oarlock_wire::Message as _;
use prost_reflect::{
    DescriptorError, DescriptorPool, DynamicMessage, Kind, MethodDescriptor, SerializeOptions,
};
use thiserror::Error;

pub(crate) use self::check::MAX_ELEMENTS;

/// The memory that reading a byte of JSON may take: an element of a list has at least two bytes and becomes a value.
const MEMORY_PER_BYTE: usize = size_of::<prost_reflect::Value>().div_ceil(2);

/// The lists of one request have fewer values than this.
const MAX_READ_VALUES: usize = 4 * MAX_ELEMENTS;

/// Returns the maximum memory that reading a text of `len` bytes takes: its values, and the texts in them twice.
pub(crate) fn reading_bytes(len: usize) -> usize {
    (len * MEMORY_PER_BYTE).min(2 * len + MAX_READ_VALUES * size_of::<prost_reflect::Value>())
}

/// The calls whose messages may be JSON, by their paths.
#[derive(Clone, Debug)]
pub struct JsonCalls(HashMap<String, JsonCall>);

/// A call whose messages may be JSON.
#[derive(Clone, Debug)]
pub struct JsonCall(MethodDescriptor);

/// The reason why JSON is not a message. It never quotes a value, because values may be secret.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum JsonError {
    /// The text is not JSON, or more follows after the message.
    #[error("line {line}, column {column}: expected one JSON object and nothing else")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// The message has no such field.
    #[error("line {line}, column {column}: {message} has no field {name:?}")]
    UnknownField {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The message of the call.
        message: String,
        /// The name, cut after 64 characters.
        name: String,
    },
    /// A value does not fit its field.
    #[error("line {line}, column {column}: {}expected {expected}", in_field(.field.as_deref()))]
    Value {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The name of the field, if it is known.
        field: Option<String>,
        /// The expected value.
        expected: String,
    },
    /// A list has too many elements.
    #[error(
        "line {line}, column {column}: field {field:?}: more than {max} elements. Process and Stream take more"
    )]
    TooMany {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The name of the field.
        field: String,
        /// The maximum number.
        max: usize,
    },
    /// A field occurs twice.
    #[error("line {line}, column {column}: field {field:?} occurs twice")]
    Twice {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The name of the field.
        field: String,
    },
    /// The answer of the service is not the message that the call returns.
    #[error("the answer cannot be written as JSON")]
    Answer,
}

fn in_field(name: Option<&str>) -> String {
    name.map_or(String::new(), |name| format!("field {name:?}: "))
}

impl JsonCalls {
    /// Reads the calls in encoded `FileDescriptorSet`s. Streams have no JSON, and neither have calls with lists of
    /// messages, which take up to a hundred times the memory of their text.
    ///
    /// # Errors
    /// The descriptions cannot be read.
    pub fn new(descriptor_sets: &[&[u8]]) -> Result<Self, DescriptorError> {
        let mut pool = DescriptorPool::new();
        for set in descriptor_sets {
            pool.decode_file_descriptor_set(*set)?;
        }
        let methods = pool.services().flat_map(|service| service.methods().collect::<Vec<_>>());
        let calls = methods.filter(has_json).map(|method| {
            let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
            (path, JsonCall(method))
        });
        Ok(Self(calls.collect()))
    }

    /// Returns the call at a path such as `/oarlock.v1.Cryptoserver/Sign`.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<&JsonCall> {
        self.0.get(path)
    }

    /// Returns the paths of all calls, in order.
    #[must_use]
    pub fn paths(&self) -> Vec<&str> {
        let mut paths: Vec<_> = self.0.keys().map(String::as_str).collect();
        paths.sort_unstable();
        paths
    }
}

fn has_json(method: &MethodDescriptor) -> bool {
    let is_stream = method.is_client_streaming() || method.is_server_streaming();
    !is_stream && !has_messages_in_lists(&method.input(), MAX_DEPTH)
}

/// The depth of messages that is looked at. A message that contains itself is refused at the end.
const MAX_DEPTH: usize = 8;

fn has_messages_in_lists(message: &prost_reflect::MessageDescriptor, depth: usize) -> bool {
    depth == 0
        || message.fields().any(|field| match field.kind() {
            Kind::Message(message) => {
                field.is_list() || field.is_map() || has_messages_in_lists(&message, depth - 1)
            }
            _ => false,
        })
}

impl JsonCall {
    /// Returns the encoded request that a JSON text stands for.
    ///
    /// # Errors
    /// The text is not JSON, names an unknown field, has a value that does not fit its field, or a list that is too
    /// long.
    pub fn read_request(&self, json: &[u8]) -> Result<Vec<u8>, JsonError> {
        // Checked before anything is built: a message may take many times the memory of its text.
        check::check(json, &self.0.input())?;
        let mut text = serde_json::Deserializer::from_slice(json);
        let message = DynamicMessage::deserialize(self.0.input(), &mut text);
        // The text of the error may quote a value.
        let message = message.map_err(|error| JsonError::Value {
            line: error.line(),
            column: error.column(),
            field: None,
            expected: "a number in the range of its field, base64 without bits to spare, and one field of each choice"
                .to_owned(),
        })?;
        Ok(message.encode_to_vec())
    }

    /// Returns the JSON text of an encoded answer. Fields that are zero or empty are written too.
    ///
    /// # Errors
    /// The bytes are not an answer of this call.
    pub fn write_answer(&self, message: &[u8]) -> Result<Vec<u8>, JsonError> {
        let message = DynamicMessage::decode(self.0.output(), message).map_err(|_| JsonError::Answer)?;
        let mut text = serde_json::Serializer::new(Vec::with_capacity(message.encoded_len() * 2));
        let options = SerializeOptions::new().skip_default_fields(false);
        message.serialize_with_options(&mut text, &options).map_err(|_| JsonError::Answer)?;
        Ok(text.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use oarlock_wire::proto::{self, DESCRIPTORS};

    use super::*;

    fn calls() -> JsonCalls {
        JsonCalls::new(&[DESCRIPTORS]).unwrap()
    }

    fn call(name: &str) -> JsonCall {
        calls().find(&format!("/oarlock.v1.Cryptoserver/{name}")).unwrap().clone()
    }

    #[test]
    fn offers_the_single_calls() {
        let names = [
            "Decapsulate",
            "Decrypt",
            "Derive",
            "Detokenise",
            "Encapsulate",
            "Encrypt",
            "GetPublicKey",
            "ListEngines",
            "ListKeys",
            "Mac",
            "Rewrap",
            "Sign",
            "Tokenise",
            "Verify",
            "VerifyMac",
        ];
        let paths: Vec<_> = names.iter().map(|name| format!("/oarlock.v1.Cryptoserver/{name}")).collect();
        assert_eq!(calls().paths(), paths);
    }

    #[test]
    fn reading_a_byte_takes_the_documented_memory() {
        let page = include_str!("../../../../docs/cryptoserver/clients.md");
        let (before, _) = page.split_once(" times its length").unwrap();
        let documented: usize = before.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(MEMORY_PER_BYTE <= documented, "{MEMORY_PER_BYTE} > {documented}");
    }

    #[test]
    fn reads_bytes_enumerations_and_choices() {
        let json = br#"{"key": "p256", "scheme": {"kind": "ECDSA_SIGN", "digest": "SHA256"}, "message": "aGVsbG8="}"#;
        let read = call("Sign").read_request(json).unwrap();
        let read = <proto::SignRequest as oarlock_wire::Message>::decode(&read[..]).unwrap();
        let scheme = read.scheme.unwrap();
        assert_eq!(
            (read.key.as_str(), scheme.kind(), scheme.digest()),
            ("p256", proto::scheme::Kind::EcdsaSign, proto::Digest::Sha256)
        );
        assert!(matches!(read.input, Some(proto::sign_request::Input::Message(text)) if text == "hello"));
    }

    #[test]
    fn writes_what_is_false_or_empty() {
        let text = call("Verify").write_answer(&[]).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), r#"{"isValid":false}"#);
        assert_eq!(call("Verify").write_answer(&[0xff]), Err(JsonError::Answer));
    }

    #[test]
    fn names_the_place_of_a_mistake_and_never_a_value() {
        let of = |json: &str| call("Encrypt").read_request(json.as_bytes()).unwrap_err();
        let unknown = of("{\"key\": \"aes\",\n \"plaintext\": [\"c2VjcmV0\"]}");
        assert_eq!(
            unknown,
            JsonError::UnknownField {
                line: 2,
                column: 12,
                message: "EncryptRequest".to_owned(),
                name: "plaintext".to_owned()
            }
        );
        for json in [
            r#"{"key": 4111111111111111}"#,
            r#"{"plaintexts": "4111111111111111"}"#,
            r#"{"plaintexts": ["4111111111111111!"]}"#,
            r#"{"aad": {"4111111111111111": 1}}"#,
            r#""4111111111111111""#,
        ] {
            let error = of(json);
            assert!(matches!(error, JsonError::Value { .. }), "{json}: {error}");
            assert!(!error.to_string().contains("4111"), "{error}");
        }
        for json in ["", "{", "4111111111111111 1", "{} {}", "{\"key\": \"4111111111111111"] {
            let error = of(json);
            assert!(!error.to_string().contains("4111"), "{error}");
        }
        assert_eq!(of("{} {}"), JsonError::Syntax { line: 1, column: 4 });
        assert_eq!(of("{"), JsonError::Syntax { line: 1, column: 1 });
    }
}
