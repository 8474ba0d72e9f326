//! The header of a sealed file: a version, a stanza for each recipient, and a code over both.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::AgeRecipient;
use super::fault::SealFault;
use super::file_key::FileKey;

/// The beginning of every version.
pub(super) const INTRO: &[u8] = b"age-encryption.org/";

const VERSION: &[u8] = b"age-encryption.org/v1";

/// The maximum length of a header: several hundred recipients.
pub(super) const MAX_LEN: usize = 64 << 10;

/// The maximum number of recipients that a header is written for. Each takes 98 bytes.
const MAX_RECIPIENTS: usize = 600;

/// The letters of a full line of a stanza's body.
const COLUMNS: usize = 64;

/// A header, of which only the structure has been checked.
pub(super) struct SealHeader<'h> {
    pub(super) stanzas: Vec<RecipientStanza<'h>>,
    /// The bytes that the code covers.
    pub(super) authenticated: &'h [u8],
    pub(super) mac: [u8; 32],
}

/// The part of a header for one recipient, of any type.
pub(super) struct RecipientStanza<'h> {
    /// The type, in printable ASCII.
    pub(super) kind: &'h [u8],
    pub(super) arguments: Vec<&'h [u8]>,
    pub(super) body: Vec<u8>,
    /// The line of the type, from 1.
    pub(super) line: usize,
}

impl<'h> SealHeader<'h> {
    /// Parses a header. Returns it and the bytes behind it.
    pub(super) fn parse(file: &'h [u8]) -> Result<(Self, &'h [u8]), SealFault> {
        if !file.starts_with(INTRO) {
            return Err(SealFault::NotSealed);
        }
        let mut lines = HeaderLines { file, at: 0, number: 0 };
        if lines.next()? != VERSION {
            return Err(SealFault::Version);
        }
        let mut stanzas = Vec::new();
        loop {
            let begin = lines.at;
            let line = lines.next()?;
            if let Some(arguments) = line.strip_prefix(b"-> ") {
                stanzas.push(RecipientStanza::parse(arguments, &mut lines)?);
                continue;
            }
            let fault = |expected| SealFault::Header { line: lines.number, expected };
            let mac = line.strip_prefix(b"--- ").and_then(decode_exact);
            let mac =
                mac.ok_or(fault("`-> ` and a recipient, or `--- ` and a code of 32 bytes in base64"))?;
            if stanzas.is_empty() {
                return Err(fault("at least one recipient before the code"));
            }
            // The code covers the hyphens, and not the space behind them.
            let authenticated = &file[..begin + 3];
            return Ok((Self { stanzas, authenticated, mac }, &file[lines.at..]));
        }
    }
}

impl<'h> RecipientStanza<'h> {
    fn parse(arguments: &'h [u8], lines: &mut HeaderLines<'h>) -> Result<Self, SealFault> {
        let line = lines.number;
        let mut words = arguments.split(|byte| *byte == b' ');
        let is_word = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_graphic);
        if !words.clone().all(is_word) {
            let expected = "words of printable ASCII with single spaces between them";
            return Err(SealFault::Header { line, expected });
        }
        let kind = words.next().unwrap_or_default();
        let arguments = words.collect();
        let mut body = Vec::new();
        loop {
            let text = lines.next()?;
            let decoded = if text.len() <= COLUMNS { STANDARD_NO_PAD.decode(text).ok() } else { None };
            let expected = "at most 64 letters of base64 without padding; a shorter line ends the body";
            body.extend(decoded.ok_or(SealFault::Header { line: lines.number, expected })?);
            if text.len() < COLUMNS {
                return Ok(Self { kind, arguments, body, line });
            }
        }
    }
}

/// Decodes an exact number of bytes from base64 without padding.
pub(super) fn decode_exact<const LEN: usize>(text: &[u8]) -> Option<[u8; LEN]> {
    // Longer than 43 letters is longer than any value, and need not be decoded.
    STANDARD_NO_PAD.decode(text.get(..text.len().min(COLUMNS))?).ok()?.try_into().ok()
}

struct HeaderLines<'h> {
    file: &'h [u8],
    at: usize,
    /// The number of the line that was read last.
    number: usize,
}

impl<'h> HeaderLines<'h> {
    /// Returns the next line without its end.
    fn next(&mut self) -> Result<&'h [u8], SealFault> {
        let limit = self.file.len().min(MAX_LEN);
        let rest = &self.file[self.at..limit];
        self.number += 1;
        let Some(len) = memchr::memchr(b'\n', rest) else {
            let expected = "the end of the header within 65536 bytes";
            let is_long = limit == MAX_LEN;
            return Err(match is_long {
                true => SealFault::Header { line: self.number, expected },
                false => SealFault::Cut { part: "header" },
            });
        };
        self.at += len + 1;
        Ok(&rest[..len])
    }
}

/// Writes a header that wraps the file key for each recipient.
pub(super) fn write_header(file_key: &FileKey, recipients: &[AgeRecipient]) -> Result<Vec<u8>, SealFault> {
    if recipients.len() > MAX_RECIPIENTS {
        return Err(SealFault::TooManyRecipients { max: MAX_RECIPIENTS, found: recipients.len() });
    }
    let mut header = VERSION.to_vec();
    header.push(b'\n');
    for (number, recipient) in (1..).zip(recipients) {
        let wrapped = file_key.wrap(recipient)?;
        let (share, body) = wrapped.ok_or(SealFault::WeakRecipient { number })?;
        let (share, body) = (STANDARD_NO_PAD.encode(share), STANDARD_NO_PAD.encode(body));
        // 32 bytes have 43 letters, so the one line of the body is a short one, which ends it.
        header.extend_from_slice(format!("-> X25519 {share}\n{body}\n").as_bytes());
    }
    header.extend_from_slice(b"---");
    let mac = STANDARD_NO_PAD.encode(file_key.header_mac(&header)?);
    header.extend_from_slice(format!(" {mac}\n").as_bytes());
    Ok(header)
}
