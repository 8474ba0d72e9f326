//! PEM blocks within text. RFC 7468, read leniently: lines of any length, any line end or none, indented or not.
//!
//! A file often loses its line ends on its way through an environment variable, a JSON string or a folded YAML value.
//! Blanks, `\n` as two characters, or nothing stand in their place. Base64 contains none of these characters, so such
//! a block has one reading.
//!
//! No error quotes text that could be a key. A label is short and has only capital letters, digits and blanks; any
//! other line is not PEM. Even such a label may be a key in hexadecimal digits, so errors name only the labels that
//! known programs write.

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

use super::foreign;
use crate::KeyError;
use crate::import::outline::Structure;
use crate::text_file::BYTE_ORDER_MARK;

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";
/// OpenSSL's label of a certificate with trust settings.
const TRUSTED: &str = "TRUSTED CERTIFICATE";
/// The maximum length of a label in bytes. The longest one in use has about 30.
const MAX_LABEL_LEN: usize = 64;

/// Labels that errors quote. RFC 7468, RFC 4716, OpenSSL's `pem.h`, GnuPG, this program.
const KNOWN_LABELS: [&str; 33] = [
    "PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "ANY PRIVATE KEY",
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "DSA PRIVATE KEY",
    "DH PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "PUBLIC KEY",
    "RSA PUBLIC KEY",
    "DSA PUBLIC KEY",
    "EC PARAMETERS",
    "DSA PARAMETERS",
    "DH PARAMETERS",
    "SSL SESSION PARAMETERS",
    "CERTIFICATE",
    "X509 CERTIFICATE",
    "TRUSTED CERTIFICATE",
    "ATTRIBUTE CERTIFICATE",
    "CERTIFICATE REQUEST",
    "NEW CERTIFICATE REQUEST",
    "X509 CRL",
    "PKCS7",
    "PKCS12",
    "CMS",
    "PGP PRIVATE KEY BLOCK",
    "PGP PUBLIC KEY BLOCK",
    "PGP MESSAGE",
    "PGP SIGNATURE",
    "OARLOCK RSA SHARE",
    "OARLOCK ENCRYPTED RSA SHARE",
    "OARLOCK RSA THRESHOLD KEY",
    "OARLOCK KEY REFERENCE",
];

/// A block whose base64 is not decoded yet.
struct PemBlock<'a> {
    label: &'a str,
    body: &'a [u8],
}

/// Returns true if a block begins somewhere.
pub(super) fn is_pem(bytes: &[u8]) -> bool {
    next_begin(bytes).is_some()
}

/// Returns true if a block with the label of a private key begins somewhere.
pub(super) fn has_private_key(bytes: &[u8]) -> bool {
    count_labels(bytes, is_private) > 0
}

/// Returns true if there is `-----BEGIN`, but not in a valid PEM line.
pub(super) fn has_bad_begin(bytes: &[u8]) -> bool {
    find(bytes, BEGIN).is_some() && !is_pem(bytes)
}

/// Decodes the first block that holds a key.
pub(super) fn first_key(text: &[u8]) -> Result<(Structure, Zeroizing<Vec<u8>>), KeyError> {
    let expected =
        "PRIVATE KEY, ENCRYPTED PRIVATE KEY, RSA PRIVATE KEY, EC PRIVATE KEY, PUBLIC KEY or RSA PUBLIC KEY";
    refuse_several(text, is_private)?;
    let is_key = |block: &PemBlock<'_>| Structure::KEYS.into_iter().find(|key| block.label == key.label());
    find_block(text, expected, is_key)
}

/// Decodes the first block with the label of `wanted`.
pub(super) fn block(wanted: Structure, text: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    labelled(wanted.label(), text)
}

/// Decodes the first block with this label.
pub(super) fn labelled(label: &'static str, text: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    refuse_several(text, |found| is_private(found) && found == label)?;
    let is_wanted = |block: &PemBlock<'_>| (block.label == label).then_some(());
    find_block(text, label, is_wanted).map(|((), bytes)| bytes)
}

/// Decodes the certificates, in order. No other block is decoded.
pub(super) fn certificates(mut text: &[u8]) -> Result<Vec<Vec<u8>>, KeyError> {
    let mut found = Vec::new();
    while let Some((block, rest)) = next_block(text)? {
        if block.is_certificate() {
            let der = block.decode()?;
            // Trust settings of OpenSSL follow such a certificate in its block.
            let len = match block.label {
                TRUSTED => sequence_len(&der).filter(|len| *len <= der.len()),
                _ => Some(der.len()),
            };
            found.push(der[..len.ok_or(block.malformed("not a certificate"))?].to_vec());
        }
        text = rest;
    }
    Ok(found)
}

/// Returns the length of a SEQUENCE in DER that has at least 128 bytes, as every certificate has.
fn sequence_len(der: &[u8]) -> Option<usize> {
    let (header, len): (usize, usize) = match *der {
        [0x30, 0x81, len, ..] => (3, len.into()),
        [0x30, 0x82, high, low, ..] => (4, u16::from_be_bytes([high, low]).into()),
        [0x30, 0x83, high, middle, low, ..] => {
            (5, u32::from_be_bytes([0, high, middle, low]).try_into().ok()?)
        }
        _ => return None,
    };
    Some(header + len)
}

/// Decodes base64 without BEGIN and END lines, as some services print keys. Returns None for other text.
pub(super) fn bare_base64(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    decode_base64(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)).filter(|bytes| !bytes.is_empty())
}

/// Rejects two private keys in one file, because the intended one is unknown.
fn refuse_several(text: &[u8], is_counted: impl Fn(&str) -> bool) -> Result<(), KeyError> {
    match count_labels(text, is_counted) {
        0 | 1 => Ok(()),
        found => Err(KeyError::SeveralKeys { found }),
    }
}

fn count_labels(mut text: &[u8], is_counted: impl Fn(&str) -> bool) -> usize {
    let mut count = 0;
    while let Some((label, rest)) = next_begin(text) {
        count += usize::from(is_counted(label));
        text = rest;
    }
    count
}

fn is_private(label: &str) -> bool {
    label.ends_with("PRIVATE KEY") || label.ends_with("RSA SHARE")
}

fn find_block<T>(
    mut text: &[u8],
    expected: &'static str,
    choose: impl Fn(&PemBlock<'_>) -> Option<T>,
) -> Result<(T, Zeroizing<Vec<u8>>), KeyError> {
    let mut passed_over = None;
    while let Some((block, rest)) = next_block(text)? {
        if let Some(chosen) = choose(&block) {
            return Ok((chosen, block.decode()?));
        }
        // OpenSSL writes EC PARAMETERS before an EC key. An error about that block would hide the real problem.
        if !block.label.ends_with("PARAMETERS") {
            passed_over.get_or_insert(block);
        }
        text = rest;
    }
    Err(match passed_over {
        Some(block) if block.is_certificate() => KeyError::Certificate,
        Some(block) => foreign::labelled(block.label, block.decode().ok().as_deref().map(Vec::as_slice))
            .unwrap_or(KeyError::PemLabel { expected, found: found(block.label) }),
        None => KeyError::PemLabel { expected, found: "no block".to_owned() },
    })
}

/// Returns the label of the next BEGIN line, and the text after the line.
fn next_begin(text: &[u8]) -> Option<(&str, &[u8])> {
    let mut from = 0;
    while let Some(at) = find(&text[from..], BEGIN) {
        let begin = from + at;
        from = begin + BEGIN.len();
        if starts_here(&text[..begin])
            && let Some(found) = label(&text[from..])
        {
            return Some(found);
        }
    }
    None
}

/// Returns true if a block may begin after this text: at the start of a line or of a quoted value, or directly after
/// another block. No block begins after a comment sign or other text in the same line.
fn starts_here(before: &[u8]) -> bool {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'"' | b'\'');
    let len = before.iter().rposition(|byte| !is_blank(byte)).map_or(0, |last| last + 1);
    let before = &before[..len];
    // `=` and `:` precede values in environment files, YAML and JSON; `[` and `,` precede elements of a JSON array.
    let ends: [&[u8]; 9] = [b"\n", b"\r", b"\\n", b"\\r", DASHES, b"=", b":", b"[", b","];
    before.is_empty() || before == BYTE_ORDER_MARK || ends.iter().any(|end| before.ends_with(end))
}

/// Returns the label at the start of `text`, up to its dashes, and the text after them.
fn label(text: &[u8]) -> Option<(&str, &[u8])> {
    let is_label = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ';
    let len = text.iter().take(MAX_LABEL_LEN + 1).take_while(|byte| is_label(byte)).count();
    let (label, rest) = text.split_at(len);
    let rest = rest.strip_prefix(DASHES).filter(|_| (1..=MAX_LABEL_LEN).contains(&len))?;
    Some((std::str::from_utf8(label).ok()?, rest))
}

/// Returns the next block up to its own END line, and the text after it.
fn next_block(text: &[u8]) -> Result<Option<(PemBlock<'_>, &[u8])>, KeyError> {
    let Some((label, rest)) = next_begin(text) else { return Ok(None) };
    let malformed = |what| malformed(label, what);
    // Base64 has no dashes, so the next ones must be those of the END line.
    let at = find(rest, DASHES).ok_or(malformed("no END"))?;
    let (body, line) = rest.split_at(at);
    if line.starts_with(BEGIN) {
        return Err(malformed("another BEGIN within"));
    }
    match line.strip_prefix(END).map(self::label) {
        Some(Some((end, rest))) if end == label => Ok(Some((PemBlock { label, body }, rest))),
        Some(Some(_)) => Err(malformed("its END names another label")),
        Some(None) => Err(malformed("no END")),
        None => Err(malformed("not base64")),
    }
}

impl PemBlock<'_> {
    /// Returns true for the labels of certificates: RFC 7468 section 5, and two of OpenSSL.
    fn is_certificate(&self) -> bool {
        matches!(self.label, "CERTIFICATE" | "X509 CERTIFICATE" | TRUSTED)
    }

    fn decode(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        self.refuse_headers()?;
        decode_base64(self.body).ok_or(self.malformed("not base64"))
    }

    /// Rejects headers. Only OpenSSL's traditional encryption still uses the headers of RFC 1421.
    fn refuse_headers(&self) -> Result<(), KeyError> {
        if find(self.body, b"Proc-Type:").is_some() && find(self.body, b"ENCRYPTED").is_some() {
            return Err(KeyError::LegacyPemEncryption);
        }
        match self.body.contains(&b':') {
            true => Err(self.malformed("headers within")),
            false => Ok(()),
        }
    }

    fn malformed(&self, what: &'static str) -> KeyError {
        malformed(self.label, what)
    }
}

/// Returns a label if errors may quote it.
fn known(label: &str) -> Option<&'static str> {
    KNOWN_LABELS.into_iter().find(|known| *known == label)
}

fn found(label: &str) -> String {
    known(label).unwrap_or("one with an unknown label").to_owned()
}

fn malformed(label: &str, what: &'static str) -> KeyError {
    KeyError::PemMalformed { label: known(label).unwrap_or("with an unknown label").to_owned(), what }
}

fn decode_base64(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let text = without_breaks(text);
    let mut bytes = Zeroizing::new(vec![0; text.len() / 4 * 3]);
    let len = Base64::decode(text.as_slice(), &mut bytes).ok()?.len();
    bytes.truncate(len);
    Some(bytes)
}

/// Returns the text without blanks and line ends, also without those that are written out as `\n` or, quoted twice,
/// as `\\n`.
fn without_breaks(text: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut kept = Zeroizing::new(Vec::with_capacity(text.len()));
    let mut rest = text;
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        match byte {
            b'\\' => {
                // A text that was quoted several times has several backslashes before its `n`.
                let escaped = &behind[behind.iter().take_while(|byte| **byte == b'\\').count()..];
                match escaped.split_first() {
                    Some((b'n' | b'r' | b't' | b'\n' | b'\r', behind)) => rest = behind,
                    // A backslash is not base64, so the decoder rejects the block.
                    _ => kept.push(b'\\'),
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            byte => kept.push(*byte),
        }
    }
    kept
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
