//! Files that name a key at a server, for programs that read keys from files only. A PEM block `OARLOCK KEY REFERENCE`
//! replaces the private key.
//!
//! ```text
//! KeyReference ::= SEQUENCE {
//!     version               INTEGER (1),
//!     uri                   UTF8String,                       -- oarlock:NAME
//!     subjectPublicKeyInfo  SubjectPublicKeyInfo OPTIONAL }   -- RFC 5280 4.1.2.7
//! ```
//!
//! In the URI, all bytes of the name except `A-Z a-z 0-9 - . _ ~` are percent-encoded. RFC 3986 2.1, 2.3. The file
//! contains no secret.

use der::asn1::{AnyRef, Utf8StringRef};
use der::{Decode, Encode, Reader, SliceReader, Tag, Tagged};
use pem_rfc7468::LineEnding;

use crate::asn1::{malformed, not_encoded, sequence};
use crate::{KeyError, import};

/// The maximum length of a file in bytes. A public key needs about 1 KiB of it, the name the rest.
pub const MAX_REFERENCE_LEN: usize = 64 << 10;

/// The label of the PEM block.
pub const REFERENCE_LABEL: &str = "OARLOCK KEY REFERENCE";

/// The scheme of the URI with its colon.
const SCHEME: &str = "oarlock:";

const VERSION: u8 = 1;
const STRUCTURE: &str = "KeyReference";

/// The name of a key at its server, and its public key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The name of the key at the server. It is never empty.
    pub name: String,
    /// The public half, a SubjectPublicKeyInfo in DER.
    pub spki: Option<Vec<u8>>,
}

impl Reference {
    /// Parses the first block `OARLOCK KEY REFERENCE` of a text.
    ///
    /// # Errors
    /// [`KeyError::PemLabel`], [`KeyError::PemMalformed`], else as [`parse_der`](Self::parse_der).
    pub fn parse_pem(text: &[u8]) -> Result<Self, KeyError> {
        Self::parse_der(&import::own_pem(REFERENCE_LABEL, bounded(text)?)?)
    }

    /// Parses a reference in DER.
    ///
    /// # Errors
    /// [`KeyError::InputTooLong`], [`KeyError::Der`], [`KeyError::Version`], those of [`parse_uri`](Self::parse_uri), and
    /// those of [`import::spki_der`] for the public key.
    pub fn parse_der(bytes: &[u8]) -> Result<Self, KeyError> {
        let malformed = malformed(STRUCTURE);
        let outer = AnyRef::from_der(bounded(bytes)?).map_err(&malformed)?;
        outer.tag().assert_eq(Tag::Sequence).map_err(&malformed)?;
        let mut members = SliceReader::new(outer.value()).map_err(&malformed)?;
        let version = u8::decode(&mut members).map_err(&malformed)?;
        if version != VERSION {
            return Err(KeyError::Version { structure: STRUCTURE, expected: VERSION, found: version });
        }
        let uri = Utf8StringRef::decode(&mut members).map_err(&malformed)?;
        let mut reference = Self::parse_uri(uri.as_str())?;
        if !members.is_finished() {
            // The key is parsed only to check it. Its bytes are kept, so that the file can be written unchanged.
            let spki = members.tlv_bytes().map_err(&malformed)?;
            import::spki_der(spki)?;
            reference.spki = Some(spki.to_vec());
        }
        members.finish().map_err(&malformed)?;
        Ok(reference)
    }

    /// Parses a reference without a public key: `oarlock:NAME`.
    ///
    /// # Errors
    /// [`KeyError::Uri`] if it is another URI, or its name is not percent-encoded UTF-8; [`KeyError::EmptyName`].
    pub fn parse_uri(uri: &str) -> Result<Self, KeyError> {
        bounded(uri.as_bytes())?;
        let bad = |reason| KeyError::Uri { reason };
        let name = match uri.split_at_checked(SCHEME.len()) {
            // RFC 3986 3.1: schemes are the same in either case.
            Some((scheme, name)) if scheme.eq_ignore_ascii_case(SCHEME) => name,
            _ => return Err(bad("it has another scheme")),
        };
        let name = String::from_utf8(decoded(name.as_bytes())?).map_err(|_| bad("its name is not UTF-8"))?;
        named(&name)?;
        Ok(Self { name, spki: None })
    }

    /// Returns the reference as a PEM block.
    ///
    /// # Errors
    /// As [`to_der`](Self::to_der).
    pub fn to_pem(&self) -> Result<String, KeyError> {
        let pem = pem_rfc7468::encode_string(REFERENCE_LABEL, LineEnding::LF, &self.to_der()?);
        let pem = pem.map_err(not_encoded)?;
        bounded(pem.as_bytes())?;
        Ok(pem)
    }

    /// Returns the reference in DER.
    ///
    /// # Errors
    /// [`KeyError::EmptyName`], [`KeyError::InputTooLong`] for a name that is too long for a file, and those of
    /// [`import::spki_der`] for the public key.
    pub fn to_der(&self) -> Result<Vec<u8>, KeyError> {
        named(&self.name)?;
        let uri = self.to_uri();
        bounded(uri.as_bytes())?;
        let spki = self.spki.as_deref().unwrap_or_default();
        if self.spki.is_some() {
            import::spki_der(spki)?;
        }
        let version = VERSION.to_der().map_err(not_encoded)?;
        let uri = Utf8StringRef::new(&uri).and_then(|uri| uri.to_der()).map_err(not_encoded)?;
        let der = sequence(&[&version, &uri, spki])?;
        bounded(&der)?;
        Ok(der)
    }

    /// Returns the URI. All bytes of the name except unreserved characters are percent-encoded.
    #[must_use]
    pub fn to_uri(&self) -> String {
        let mut uri = SCHEME.to_owned();
        for byte in self.name.bytes() {
            match is_unreserved(byte) {
                true => uri.push(byte.into()),
                false => uri.push_str(&format!("%{byte:02X}")),
            }
        }
        uri
    }
}

fn bounded(bytes: &[u8]) -> Result<&[u8], KeyError> {
    match bytes.len() {
        0..=MAX_REFERENCE_LEN => Ok(bytes),
        found => Err(KeyError::InputTooLong { limit: MAX_REFERENCE_LEN, found }),
    }
}

fn named(name: &str) -> Result<(), KeyError> {
    match name.is_empty() {
        true => Err(KeyError::EmptyName { what: "name" }),
        false => Ok(()),
    }
}

/// Returns true for an unreserved character. RFC 3986 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Decodes percent-encoded bytes, with digits of either case. RFC 3986 2.1.
fn decoded(mut text: &[u8]) -> Result<Vec<u8>, KeyError> {
    let bad = KeyError::Uri { reason: "its name has a % without two hexadecimal digits" };
    let mut bytes = Vec::with_capacity(text.len());
    while let Some((first, rest)) = text.split_first() {
        text = match (*first, rest) {
            (b'%', [high, low, rest @ ..]) => {
                let (high, low) =
                    (digit(*high).ok_or_else(|| bad.clone())?, digit(*low).ok_or_else(|| bad.clone())?);
                bytes.push(high << 4 | low);
                rest
            }
            (b'%', _) => return Err(bad),
            (byte, rest) if is_unreserved(byte) => {
                bytes.push(byte);
                rest
            }
            _ => {
                return Err(KeyError::Uri {
                    reason: "its name has a character that must be percent-encoded",
                });
            }
        };
    }
    Ok(bytes)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}
