//! PEM blocks within text. RFC 7468, read leniently: any line length, any line end, indented or not.

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

use super::outline::Structure;
use crate::KeyError;

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";
/// A label in an error is cut to so many bytes.
const MAX_LABEL_LEN: usize = 64;

/// One block, its base64 text not yet decoded.
struct Block<'a> {
    label: &'a [u8],
    lines: Vec<&'a [u8]>,
}

/// True where a line begins a block.
pub(super) fn is_pem(bytes: &[u8]) -> bool {
    lines(bytes).any(|line| label(line, BEGIN).is_some())
}

/// The first block that holds a key, decoded.
pub(super) fn first_key(text: &[u8]) -> Result<(Structure, Zeroizing<Vec<u8>>), KeyError> {
    let expected =
        "PRIVATE KEY, ENCRYPTED PRIVATE KEY, RSA PRIVATE KEY, EC PRIVATE KEY, PUBLIC KEY or RSA PUBLIC KEY";
    let is_key = |block: &Block<'_>| Structure::KEYS.into_iter().find(|key| block.is(*key));
    find(text, expected, is_key)
}

/// The first block labelled as `wanted`, decoded.
pub(super) fn block(wanted: Structure, text: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    labelled(wanted.label(), text)
}

/// The first block with a label, decoded.
pub(super) fn labelled(label: &'static str, text: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let is_wanted = |block: &Block<'_>| (block.label == label.as_bytes()).then_some(());
    find(text, label, is_wanted).map(|((), bytes)| bytes)
}

fn find<T>(
    text: &[u8],
    expected: &'static str,
    choose: impl Fn(&Block<'_>) -> Option<T>,
) -> Result<(T, Zeroizing<Vec<u8>>), KeyError> {
    let mut rest = lines(text);
    let mut passed_over = None;
    while let Some(block) = next_block(&mut rest)? {
        if let Some(chosen) = choose(&block) {
            return Ok((chosen, block.decode()?));
        }
        if !block.label.ends_with(b"PARAMETERS") {
            passed_over.get_or_insert(block);
        }
    }
    Err(match passed_over {
        Some(block) if block.is_certificate() => KeyError::Certificate,
        Some(block) => KeyError::PemLabel { expected, found: block.shown_label() },
        None => KeyError::PemLabel { expected, found: "no block".to_owned() },
    })
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii)
}

fn label<'a>(line: &'a [u8], start: &[u8]) -> Option<&'a [u8]> {
    line.strip_prefix(start)?.strip_suffix(DASHES)
}

/// The next block, up to its own end line.
fn next_block<'a>(rest: &mut impl Iterator<Item = &'a [u8]>) -> Result<Option<Block<'a>>, KeyError> {
    let Some(label_found) = rest.find_map(|line| label(line, BEGIN)) else { return Ok(None) };
    let mut block = Block { label: label_found, lines: Vec::new() };
    for line in rest {
        if let Some(end) = label(line, END) {
            return if end == block.label {
                Ok(Some(block))
            } else {
                Err(block.malformed("its END names another label"))
            };
        }
        if label(line, BEGIN).is_some() {
            return Err(block.malformed("another BEGIN within"));
        }
        block.lines.push(line);
    }
    Err(block.malformed("no END"))
}

impl Block<'_> {
    fn is(&self, structure: Structure) -> bool {
        self.label == structure.label().as_bytes()
    }

    /// RFC 7468 section 5, and OpenSSL's own labels.
    fn is_certificate(&self) -> bool {
        matches!(self.label, b"CERTIFICATE" | b"X509 CERTIFICATE" | b"TRUSTED CERTIFICATE")
    }

    fn decode(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        self.refuse_headers()?;
        let len = self.lines.iter().map(|line| line.len()).sum();
        let mut text = Zeroizing::new(Vec::with_capacity(len));
        self.lines.iter().for_each(|line| text.extend_from_slice(line));
        let mut bytes = Zeroizing::new(vec![0; len / 4 * 3]);
        let len = match Base64::decode(text.as_slice(), &mut bytes) {
            Ok(decoded) => decoded.len(),
            Err(_) => return Err(self.malformed("not base64")),
        };
        bytes.truncate(len);
        Ok(bytes)
    }

    /// RFC 1421 headers survive in OpenSSL's traditional encryption alone.
    fn refuse_headers(&self) -> Result<(), KeyError> {
        let is_encrypted = |line: &&[u8]| line.starts_with(b"Proc-Type:") && line.ends_with(b"ENCRYPTED");
        if self.lines.iter().any(is_encrypted) {
            return Err(KeyError::LegacyPemEncryption);
        }
        match self.lines.iter().any(|line| line.contains(&b':')) {
            true => Err(self.malformed("headers within")),
            false => Ok(()),
        }
    }

    fn malformed(&self, what: &'static str) -> KeyError {
        KeyError::PemMalformed { label: self.shown_label(), what }
    }

    fn shown_label(&self) -> String {
        let shown = &self.label[..self.label.len().min(MAX_LABEL_LEN)];
        shown.escape_ascii().to_string()
    }
}
