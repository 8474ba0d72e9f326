//! URIs that name tokens and objects. RFC 7512.

mod percent;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use self::percent::{decode, write_encoded, write_id};

/// The maximum length of a URI in bytes.
pub const MAX_URI_LEN: usize = 4096;

/// The scheme of the URI with its colon.
const SCHEME: &str = "pkcs11:";

/// A URI that names a token, an object on it, or both. RFC 7512 section 2.
///
/// Attributes that are absent match everything. An attribute that this crate does not compare is an error, because
/// ignoring it would match more objects than its author wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Pkcs11Uri {
    /// The label of the token.
    pub token: Option<String>,
    /// The serial number of the token.
    pub serial: Option<String>,
    /// The manufacturer of the token.
    pub manufacturer: Option<String>,
    /// The model of the token.
    pub model: Option<String>,
    /// The number of the slot.
    pub slot_id: Option<u64>,
    /// The label of the object, `CKA_LABEL`.
    pub object: Option<String>,
    /// The identifier of the object, `CKA_ID`. It is not empty.
    pub id: Option<Vec<u8>>,
    /// The class of the object.
    pub class: Option<UriClass>,
    /// The path of the module.
    pub module_path: Option<String>,
    /// The path of the file with the PIN: the value of `pin-source`, without `file:`.
    pub pin_source: Option<String>,
}

/// The class of an object in a URI: the attribute `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UriClass {
    /// A public key.
    Public,
    /// A private key.
    Private,
    /// A certificate.
    Cert,
    /// A secret key.
    SecretKey,
    /// Data.
    Data,
}

/// An error of a URI. No message quotes a value, because it may be a PIN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum UriError {
    #[error("a URI of {found} bytes: expected at most {MAX_URI_LEN}")]
    TooLong { found: usize },
    #[error("expected a URI that begins with `pkcs11:`")]
    Scheme,
    #[error("an attribute without `=`: expected NAME=VALUE, separated by `;` and, behind `?`, by `&`")]
    NoValue,
    #[error("unknown attribute `{name}`; allowed are {allowed}")]
    Unknown { name: String, allowed: &'static str },
    #[error("attribute `{name}` stands there twice")]
    Twice { name: &'static str },
    #[error("attribute `{name}` is not supported: {reason}")]
    Unsupported { name: &'static str, reason: &'static str },
    #[error("attribute `{name}` is empty and would match nothing; leave it out to match everything")]
    Empty { name: &'static str },
    #[error("attribute `{name}` has a character that must be percent-encoded, at byte {at} of its value")]
    Character { name: &'static str, at: usize },
    #[error("attribute `{name}`: expected two hexadecimal digits behind `%`, at byte {at} of its value")]
    Percent { name: &'static str, at: usize },
    #[error("attribute `{name}` is not UTF-8")]
    NotUtf8 { name: &'static str },
    #[error("attribute `{name}`: expected {expected}")]
    Value { name: &'static str, expected: &'static str },
}

/// The attributes of the path that a URI may have, for messages.
const PATH_ATTRIBUTES: &str = "token, serial, manufacturer, model, slot-id, object, id and type";

/// The attributes of the query that a URI may have, for messages.
const QUERY_ATTRIBUTES: &str = "module-path and pin-source";

/// Attributes of the standard that this crate does not compare, and the reasons.
const UNSUPPORTED: [(&str, &str); 7] = [
    ("library-manufacturer", "name the module by `module-path`"),
    ("library-description", "name the module by `module-path`"),
    ("library-version", "name the module by `module-path`"),
    ("slot-manufacturer", "name the slot by `slot-id`"),
    ("slot-description", "name the slot by `slot-id`"),
    ("module-name", "name the module by `module-path`"),
    ("pin-value", "settings are no place for a PIN; name its file by `pin-source`"),
];

impl Pkcs11Uri {
    /// Returns the URI of an object by its label, its identifier and its class.
    #[must_use]
    pub fn of_object(object: Option<&str>, id: Option<&[u8]>, class: Option<UriClass>) -> Self {
        Self { object: object.map(str::to_owned), id: id.map(<[u8]>::to_vec), class, ..Self::default() }
    }

    /// Returns the name of a key: everything except how to reach its token. A key without a class is a private key.
    pub(crate) fn key_name(&self) -> Self {
        let class = self.class.or(Some(UriClass::Private));
        Self { class, module_path: None, pin_source: None, ..self.clone() }
    }

    fn set(&mut self, part: UriPart, name: &str, value: &str) -> Result<(), UriError> {
        match (part, name) {
            (UriPart::Path, "token") => put_text(&mut self.token, "token", value, part),
            (UriPart::Path, "serial") => put_text(&mut self.serial, "serial", value, part),
            (UriPart::Path, "manufacturer") => put_text(&mut self.manufacturer, "manufacturer", value, part),
            (UriPart::Path, "model") => put_text(&mut self.model, "model", value, part),
            (UriPart::Path, "object") => put_text(&mut self.object, "object", value, part),
            (UriPart::Path, "slot-id") => put(&mut self.slot_id, "slot-id", parse_slot(value)?),
            (UriPart::Path, "id") => put(&mut self.id, "id", decode("id", value, part)?),
            (UriPart::Path, "type") => put(&mut self.class, "type", parse_class(value)?),
            (UriPart::Query, "module-path") => put_text(&mut self.module_path, "module-path", value, part),
            (UriPart::Query, "pin-source") => {
                put(&mut self.pin_source, "pin-source", parse_pin_source(value)?)
            }
            (part, name) => Err(refuse(part, name)),
        }
    }
}

/// The part of a URI in which an attribute stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UriPart {
    Path,
    Query,
}

impl FromStr for Pkcs11Uri {
    type Err = UriError;

    fn from_str(text: &str) -> Result<Self, UriError> {
        if text.len() > MAX_URI_LEN {
            return Err(UriError::TooLong { found: text.len() });
        }
        let rest = text.strip_prefix(SCHEME).ok_or(UriError::Scheme)?;
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        let mut uri = Self::default();
        if !path.is_empty() {
            for attribute in path.split(';') {
                let (name, value) = attribute.split_once('=').ok_or(UriError::NoValue)?;
                uri.set(UriPart::Path, name, value)?;
            }
        }
        for attribute in query.into_iter().flat_map(|query| query.split('&')) {
            let (name, value) = attribute.split_once('=').ok_or(UriError::NoValue)?;
            uri.set(UriPart::Query, name, value)?;
        }
        Ok(uri)
    }
}

/// Writes the attributes in a fixed order, so equal URIs have equal texts.
impl fmt::Display for Pkcs11Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SCHEME)?;
        let mut separator = "";
        let texts = [
            ("token", &self.token),
            ("serial", &self.serial),
            ("manufacturer", &self.manufacturer),
            ("model", &self.model),
            ("object", &self.object),
        ];
        for (name, value) in texts.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
            write!(f, "{separator}{name}=")?;
            write_encoded(f, value)?;
            separator = ";";
        }
        if let Some(slot) = self.slot_id {
            write!(f, "{separator}slot-id={slot}")?;
            separator = ";";
        }
        if let Some(id) = &self.id {
            write!(f, "{separator}id=")?;
            write_id(f, id)?;
            separator = ";";
        }
        if let Some(class) = self.class {
            write!(f, "{separator}type={class}")?;
        }
        let mut separator = "?";
        for (name, value) in [("module-path", &self.module_path), ("pin-source", &self.pin_source)] {
            if let Some(value) = value {
                write!(f, "{separator}{name}=")?;
                write_encoded(f, value)?;
                separator = "&";
            }
        }
        Ok(())
    }
}

impl fmt::Display for UriClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "public",
            Self::Private => "private",
            Self::Cert => "cert",
            Self::SecretKey => "secret-key",
            Self::Data => "data",
        })
    }
}

fn put<T>(slot: &mut Option<T>, name: &'static str, value: T) -> Result<(), UriError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(UriError::Twice { name }),
    }
}

fn put_text(
    slot: &mut Option<String>,
    name: &'static str,
    value: &str,
    part: UriPart,
) -> Result<(), UriError> {
    put(slot, name, decode_text(name, value, part)?)
}

fn decode_text(name: &'static str, value: &str, part: UriPart) -> Result<String, UriError> {
    String::from_utf8(decode(name, value, part)?).map_err(|_| UriError::NotUtf8 { name })
}

fn parse_slot(value: &str) -> Result<u64, UriError> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_number { value.parse().ok() } else { None };
    number.ok_or(UriError::Value { name: "slot-id", expected: "a decimal number of at most 64 bits" })
}

fn parse_class(value: &str) -> Result<UriClass, UriError> {
    let classes = [UriClass::Public, UriClass::Private, UriClass::Cert, UriClass::SecretKey, UriClass::Data];
    let expected = "public, private, cert, secret-key or data";
    let found = classes.into_iter().find(|class| class.to_string() == value);
    found.ok_or(UriError::Value { name: "type", expected })
}

/// Returns the path of a PIN file. RFC 7512 2.4 leaves the meaning of the value to the program.
fn parse_pin_source(value: &str) -> Result<String, UriError> {
    let decoded = decode_text("pin-source", value, UriPart::Query)?;
    let path = decoded.strip_prefix("file://").or_else(|| decoded.strip_prefix("file:")).unwrap_or(&decoded);
    if path.starts_with('/') {
        return Ok(path.to_owned());
    }
    Err(UriError::Value {
        name: "pin-source",
        expected: "the absolute path of a file, or `file:` and such a path",
    })
}

fn refuse(part: UriPart, name: &str) -> UriError {
    if let Some((name, reason)) = UNSUPPORTED.iter().find(|(known, _)| *known == name) {
        return UriError::Unsupported { name, reason };
    }
    let allowed = match part {
        UriPart::Path => PATH_ATTRIBUTES,
        UriPart::Query => QUERY_ATTRIBUTES,
    };
    // A name is short and has no secret; a long one is cut, so that a message stays a line.
    UriError::Unknown { name: name.chars().take(32).collect(), allowed }
}
