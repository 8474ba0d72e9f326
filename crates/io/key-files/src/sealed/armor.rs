//! The armor of a sealed file: strict PEM, so that each content has one text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::fault::SealFault;

const BEGIN: &[u8] = b"-----BEGIN AGE ENCRYPTED FILE-----";
const END: &[u8] = b"-----END AGE ENCRYPTED FILE-----";

/// The letters of a full line.
const COLUMNS: usize = 64;

/// The bytes of a full line.
const LINE_BYTES: usize = COLUMNS / 4 * 3;

/// Returns true if the text begins as an armored file, maybe after white space.
pub(super) fn is_armored(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(BEGIN)
}

/// Decodes an armored file.
pub(super) fn decode(text: &[u8]) -> Result<Vec<u8>, SealFault> {
    let mut lines = (1..).zip(text.split(|byte| *byte == b'\n'));
    match lines.find(|(_, line)| !line.trim_ascii().is_empty()) {
        Some((_, line)) if without_return(line) == BEGIN => {}
        found => {
            let line = found.map_or(1, |(line, _)| line);
            return Err(SealFault::Armor { line, expected: "BEGIN AGE ENCRYPTED FILE alone" });
        }
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut is_last = false;
    while let Some((number, line)) = lines.next() {
        let fault = |expected| SealFault::Armor { line: number, expected };
        let line = without_return(line);
        if line == END {
            check_end(lines)?;
            return Ok(bytes);
        }
        if is_last {
            return Err(fault("END AGE ENCRYPTED FILE alone, because the line before is the last one"));
        }
        if line.is_empty() || line.len() > COLUMNS {
            return Err(fault("64 letters of base64, or fewer but not none in the last line"));
        }
        let decoded =
            STANDARD.decode(line).map_err(|_| fault("base64 with padding and without other letters"))?;
        // A full line with padding is the last one, too.
        is_last = decoded.len() < LINE_BYTES;
        bytes.extend(decoded);
    }
    Err(SealFault::Cut { part: "armor" })
}

/// Checks that only white space follows the END line.
fn check_end<'t>(mut rest: impl Iterator<Item = (usize, &'t [u8])>) -> Result<(), SealFault> {
    match rest.find(|(_, line)| !line.trim_ascii().is_empty()) {
        None => Ok(()),
        Some((line, _)) => Err(SealFault::Armor { line, expected: "nothing behind END AGE ENCRYPTED FILE" }),
    }
}

/// Returns a line without the carriage return of Windows.
fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns the armored form of a file.
pub(super) fn encode(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(max_encoded_len(bytes.len()));
    text.extend_from_slice(BEGIN);
    text.push(b'\n');
    for line in bytes.chunks(LINE_BYTES) {
        text.extend_from_slice(STANDARD.encode(line).as_bytes());
        text.push(b'\n');
    }
    text.extend_from_slice(END);
    text.push(b'\n');
    text
}

/// Returns the maximum length of an armored file, with two bytes for the end of each line.
pub(super) fn max_encoded_len(len: usize) -> usize {
    let lines = len.div_ceil(LINE_BYTES).saturating_add(2);
    lines.saturating_mul(COLUMNS + 2)
}
