//! The fields (TLVs) of headers of version 2.

use super::crc32c;
use super::error::HeaderError;

const ALPN: u8 = 0x01;
const AUTHORITY: u8 = 0x02;
pub(super) const CHECKSUM: u8 = 0x03;
const NO_OPERATION: u8 = 0x04;
const UNIQUE_ID: u8 = 0x05;
const TLS: u8 = 0x20;
const TLS_VERSION: u8 = 0x21;
const TLS_COMMON_NAME: u8 = 0x22;
const TLS_CIPHER: u8 = 0x23;
const TLS_SIGNATURE_ALGORITHM: u8 = 0x24;
const TLS_KEY_ALGORITHM: u8 = 0x25;

/// The client flags of the field for TLS.
const CLIENT_TLS: u8 = 0x01;
const CLIENT_CERTIFICATE_CONNECTION: u8 = 0x02;
const CLIENT_CERTIFICATE_SESSION: u8 = 0x04;

/// The length of a field's type and length.
const HEAD_LEN: usize = 3;

/// The fields of a header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderFields {
    /// The application protocol that was negotiated.
    pub alpn: Option<Vec<u8>>,
    /// The host name that the client asked for: the SNI.
    pub authority: Option<String>,
    /// An identifier of the connection.
    pub unique_id: Option<Vec<u8>>,
    /// The properties of the client's TLS connection.
    pub tls: Option<TlsFields>,
    /// All other fields, by type, in their order.
    pub others: Vec<(u8, Vec<u8>)>,
}

/// The properties of a client's TLS connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFields {
    /// True if the client showed a certificate on this connection.
    pub has_certificate: bool,
    /// True if the client showed a certificate on this connection or on the one that it resumes.
    pub has_certificate_in_session: bool,
    /// True if a certificate was shown and verified.
    pub is_verified: bool,
    /// The version, such as `TLSv1.3`.
    pub version: Option<String>,
    /// The common name in the client's certificate.
    pub common_name: Option<String>,
    /// The cipher suite, such as `TLS_AES_128_GCM_SHA256`.
    pub cipher: Option<String>,
    /// The signature algorithm of the server's certificate.
    pub signature_algorithm: Option<String>,
    /// The key algorithm of the server's certificate.
    pub key_algorithm: Option<String>,
}

impl HeaderFields {
    /// Parses the fields. `before` is the part of the header before them, which the checksum covers.
    pub(super) fn parse(before: &[u8], bytes: &[u8]) -> Result<Self, HeaderError> {
        let mut fields = Self::default();
        let mut at = 0;
        while at < bytes.len() {
            let (kind, value) = split_field(&bytes[at..])?;
            let start = at + HEAD_LEN;
            at = start + value.len();
            match kind {
                ALPN => set(&mut fields.alpn, value.to_vec(), "ALPN")?,
                AUTHORITY => set(&mut fields.authority, text(value, "AUTHORITY")?, "AUTHORITY")?,
                UNIQUE_ID => set(&mut fields.unique_id, value.to_vec(), "UNIQUE_ID")?,
                TLS => set(&mut fields.tls, TlsFields::parse(value)?, "SSL")?,
                NO_OPERATION => {}
                CHECKSUM => check(before, bytes, start, value)?,
                other => fields.others.push((other, value.to_vec())),
            }
        }
        Ok(fields)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        append(ALPN, self.alpn.as_deref(), out);
        append(AUTHORITY, self.authority.as_ref().map(String::as_bytes), out);
        append(UNIQUE_ID, self.unique_id.as_deref(), out);
        append(TLS, self.tls.as_ref().map(TlsFields::encode).as_deref(), out);
        for (kind, value) in &self.others {
            append(*kind, Some(value), out);
        }
    }
}

impl TlsFields {
    fn parse(bytes: &[u8]) -> Result<Self, HeaderError> {
        let (head, mut rest) =
            bytes.split_at_checked(5).ok_or(HeaderError::Cut { within: "the field SSL" })?;
        let client = head[0];
        let mut fields = Self {
            has_certificate: client & CLIENT_CERTIFICATE_CONNECTION != 0,
            has_certificate_in_session: client & CLIENT_CERTIFICATE_SESSION != 0,
            // The verification's result: 0 is success, as in a shell.
            is_verified: head[1..] == [0; 4],
            ..Self::default()
        };
        while !rest.is_empty() {
            let (kind, value) = split_field(rest)?;
            rest = &rest[HEAD_LEN + value.len()..];
            if let Some((field, name)) = fields.field(kind) {
                set(field, text(value, name)?, name)?;
            }
        }
        Ok(fields)
    }

    fn field(&mut self, kind: u8) -> Option<(&mut Option<String>, &'static str)> {
        Some(match kind {
            TLS_VERSION => (&mut self.version, "SSL_VERSION"),
            TLS_COMMON_NAME => (&mut self.common_name, "SSL_CN"),
            TLS_CIPHER => (&mut self.cipher, "SSL_CIPHER"),
            TLS_SIGNATURE_ALGORITHM => (&mut self.signature_algorithm, "SSL_SIG_ALG"),
            TLS_KEY_ALGORITHM => (&mut self.key_algorithm, "SSL_KEY_ALG"),
            _ => return None,
        })
    }

    fn encode(&self) -> Vec<u8> {
        let flag = |is_set, bit| if is_set { bit } else { 0 };
        let client = CLIENT_TLS
            | flag(self.has_certificate, CLIENT_CERTIFICATE_CONNECTION)
            | flag(self.has_certificate_in_session, CLIENT_CERTIFICATE_SESSION);
        let mut out = vec![client];
        out.extend_from_slice(&u32::from(!self.is_verified).to_be_bytes());
        for (kind, value) in [
            (TLS_VERSION, &self.version),
            (TLS_COMMON_NAME, &self.common_name),
            (TLS_CIPHER, &self.cipher),
            (TLS_SIGNATURE_ALGORITHM, &self.signature_algorithm),
            (TLS_KEY_ALGORITHM, &self.key_algorithm),
        ] {
            append(kind, value.as_ref().map(String::as_bytes), &mut out);
        }
        out
    }
}

/// Appends a field. The value of a field has at most 65,535 bytes: a longer one is left out.
pub(super) fn append(kind: u8, value: Option<&[u8]>, out: &mut Vec<u8>) {
    let Some((value, len)) = value.and_then(|value| Some((value, u16::try_from(value.len()).ok()?))) else {
        return;
    };
    out.push(kind);
    out.extend_from_slice(&len.to_be_bytes());
    out.extend_from_slice(value);
}

fn split_field(bytes: &[u8]) -> Result<(u8, &[u8]), HeaderError> {
    let cut = HeaderError::Cut { within: "a field" };
    let [kind, high, low, rest @ ..] = bytes else { return Err(cut) };
    let value = rest.get(..usize::from(u16::from_be_bytes([*high, *low]))).ok_or(cut)?;
    Ok((*kind, value))
}

fn set<T>(field: &mut Option<T>, value: T, name: &'static str) -> Result<(), HeaderError> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(HeaderError::Twice { field: name }),
    }
}

fn text(value: &[u8], field: &'static str) -> Result<String, HeaderError> {
    String::from_utf8(value.to_vec()).map_err(|_| HeaderError::NotText { field })
}

/// Checks the checksum at `start` of the fields. It covers the whole header, with zeros in its own place.
fn check(before: &[u8], fields: &[u8], start: usize, found: &[u8]) -> Result<(), HeaderError> {
    let rest = fields.get(start + 4..).filter(|_| found.len() == 4).ok_or(HeaderError::Checksum)?;
    let expected = crc32c::checksum(&[before, &fields[..start], &[0; 4], rest]);
    if found == expected.to_be_bytes() { Ok(()) } else { Err(HeaderError::Checksum) }
}
