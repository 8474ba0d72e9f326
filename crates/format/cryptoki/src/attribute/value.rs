//! The value of an attribute.

use std::fmt;

use oarlock::SecretBytes;
use zeroize::Zeroizing;

use crate::constants::{AttributeType, MechanismType};

/// The value of an attribute, in a form that does not depend on the platform.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttributeValue {
    /// `CK_BBOOL`.
    Bool(bool),
    /// `CK_ULONG`.
    Number(u64),
    /// Bytes, big integers, strings and dates.
    Bytes(Vec<u8>),
    /// Bytes of a private or secret key.
    Secret(SecretBytes),
    /// A list of mechanisms.
    Mechanisms(Vec<MechanismType>),
    /// The template of other keys, in the order of the types.
    Template(Vec<(AttributeType, AttributeValue)>),
}

impl AttributeValue {
    /// Returns the number of bytes of the value in the C interface.
    pub(crate) fn encoded_len(&self) -> usize {
        match self {
            Self::Bool(_) => 1,
            Self::Number(_) => size_of::<usize>(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Secret(bytes) => bytes.len(),
            Self::Mechanisms(kinds) => kinds.len() * size_of::<usize>(),
            // A CK_ATTRIBUTE is a number, a pointer and a length.
            Self::Template(entries) => entries.len() * 3 * size_of::<usize>(),
        }
    }

    /// Writes the value as the C interface shows it. `out` has exactly [`encoded_len`](Self::encoded_len) bytes. A
    /// template is written by the code that knows the pointers of the caller.
    pub(crate) fn encode(&self, out: &mut [u8]) {
        match self {
            Self::Bool(value) => out.fill(u8::from(*value)),
            Self::Number(value) => encode_number(*value, out),
            Self::Bytes(bytes) => out.copy_from_slice(bytes),
            Self::Secret(bytes) => out.copy_from_slice(bytes.expose()),
            Self::Mechanisms(kinds) => {
                let chunks = out.chunks_exact_mut(size_of::<usize>());
                kinds.iter().zip(chunks).for_each(|(kind, chunk)| encode_number(kind.0, chunk));
            }
            Self::Template(_) => {}
        }
    }

    /// Returns the value as the C interface shows it.
    #[must_use]
    pub fn encoded(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![0; self.encoded_len()]);
        self.encode(&mut bytes);
        bytes
    }

    /// Returns a truth value.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// Returns a number.
    #[must_use]
    pub(crate) fn as_number(&self) -> Option<u64> {
        if let Self::Number(value) = self { Some(*value) } else { None }
    }

    /// Returns the attributes of a template.
    #[must_use]
    pub(crate) fn as_template(&self) -> Option<&[(AttributeType, AttributeValue)]> {
        if let Self::Template(entries) = self { Some(entries) } else { None }
    }

    /// Returns bytes, also those of a secret.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Secret(bytes) => Some(bytes.expose()),
            _ => None,
        }
    }
}

fn encode_number(value: u64, out: &mut [u8]) {
    // Truncates where a CK_ULONG is narrower, as CK_UNAVAILABLE_INFORMATION wants.
    let bytes = (value as usize).to_ne_bytes();
    out.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
}

impl From<bool> for AttributeValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for AttributeValue {
    fn from(value: u64) -> Self {
        Self::Number(value)
    }
}

impl From<&[u8]> for AttributeValue {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl From<Vec<u8>> for AttributeValue {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl From<&str> for AttributeValue {
    fn from(value: &str) -> Self {
        Self::Bytes(value.as_bytes().to_vec())
    }
}

impl From<SecretBytes> for AttributeValue {
    fn from(value: SecretBytes) -> Self {
        Self::Secret(value)
    }
}

/// Shows the length of bytes and not the bytes.
impl fmt::Debug for AttributeValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value:#x}"),
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Secret(bytes) => write!(f, "{} secret bytes", bytes.len()),
            Self::Mechanisms(kinds) => write!(f, "{kinds:?}"),
            Self::Template(entries) => f.debug_list().entries(entries).finish(),
        }
    }
}
