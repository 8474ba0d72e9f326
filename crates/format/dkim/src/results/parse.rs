//! Parsing of `Authentication-Results` that other hosts have written. RFC 8601 2.2.

use crate::domain;

/// The maximum length of a word. It fits into a line of a message with some indentation. RFC 5322 2.1.1.
const MAX_WORD_BYTES: usize = 900;

/// Returns true if a field's value can be read and comes from `authserv_id`.
#[must_use]
pub fn is_from_authserv_id(value: &[u8], authserv_id: &str) -> bool {
    authserv_id_of(value).is_some_and(|claimed| is_same_id(&claimed, authserv_id))
}

/// Returns the results in a field's value with normalized white space. ARC results are left out, because each new set
/// states its own result of the chain. Returns an empty list if the field cannot be read.
#[must_use]
pub fn parse_results(value: &[u8]) -> Vec<String> {
    split_id(value).and_then(|(_, rest)| split_results(rest)).unwrap_or_default()
}

pub(super) fn is_same_id(claimed: &str, authserv_id: &str) -> bool {
    let form = |name: &str| domain::host_form(name).map(String::from);
    // Some software writes a version behind a slash, and readers may ignore it.
    let name = claimed.split_once('/').map_or(claimed, |(name, _)| name);
    claimed.eq_ignore_ascii_case(authserv_id)
        || name.eq_ignore_ascii_case(authserv_id)
        || form(name).is_some_and(|name| Some(name) == form(authserv_id))
}

/// Splits the text at semicolons that are neither quoted nor in comments. The first part is the version after the
/// name, which is skipped.
fn split_results(text: &[u8]) -> Option<Vec<String>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut parts = vec![String::new()];
    let (mut depth, mut is_quoted) = (0_usize, false);
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        let char = if char.is_ascii_whitespace() { ' ' } else { char };
        if char.is_control() {
            return None;
        }
        match char {
            // RFC 8601 2.2: only this semicolon separates results.
            ';' if depth == 0 && !is_quoted => {
                parts.push(String::new());
                continue;
            }
            '"' if depth == 0 => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth = depth.checked_sub(1)?,
            _ => {}
        }
        let part = parts.last_mut()?;
        part.push(char);
        if char == '\\' && (depth > 0 || is_quoted) {
            part.push(chars.next().filter(|next| !next.is_control())?);
        }
    }
    let is_closed = depth == 0 && !is_quoted;
    is_closed.then(|| parts.iter().skip(1).filter_map(|part| result_of(part)).collect())
}

/// Returns one result with single spaces. Returns None for other text and for ARC results. The word `none` is not a
/// result.
fn result_of(part: &str) -> Option<String> {
    let words: Vec<&str> = part.split(' ').filter(|word| !word.is_empty()).collect();
    let text = words.join(" ");
    let method = &text[..text.find(['=', '/', ' ', '(']).unwrap_or(0)];
    let is_method = method.starts_with(|first: char| first.is_ascii_alphabetic())
        && method.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let fits = words.iter().all(|word| word.len() <= MAX_WORD_BYTES);
    let behind =
        text[method.len()..].trim_start_matches(['/', ' ', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    let is_result = is_method && behind.starts_with('=') && fits;
    (is_result && !method.eq_ignore_ascii_case("arc")).then_some(text)
}

/// Returns the name after comments and white space, or None if no name can be read.
pub(super) fn authserv_id_of(value: &[u8]) -> Option<String> {
    split_id(value).map(|(name, _)| name)
}

/// Returns the name and the text after it.
fn split_id(value: &[u8]) -> Option<(String, &[u8])> {
    let rest = behind_comments(value)?;
    let (name, rest) = match rest {
        [b'"', rest @ ..] => unquoted(rest)?,
        _ => {
            let is_end = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b';' | b'(' | b'"');
            let (name, rest) = rest.split_at(rest.iter().position(is_end).unwrap_or(rest.len()));
            (name.to_vec(), rest)
        }
    };
    let name = String::from_utf8(name).ok()?;
    (!name.is_empty() && !name.contains(char::is_control)).then_some((name, rest))
}

/// Skips white space and comments, which nest. RFC 5322 3.2.2.
fn behind_comments(mut text: &[u8]) -> Option<&[u8]> {
    let mut depth = 0_usize;
    loop {
        match text {
            [b'(', rest @ ..] => {
                depth += 1;
                text = rest;
            }
            [b'\\', _, rest @ ..] if depth > 0 => text = rest,
            [b')', rest @ ..] if depth > 0 => {
                depth -= 1;
                text = rest;
            }
            [b' ' | b'\t' | b'\r' | b'\n', rest @ ..] => text = rest,
            [_, rest @ ..] if depth > 0 => text = rest,
            [] if depth > 0 => return None,
            _ => return Some(text),
        }
    }
}

fn unquoted(mut text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut out = Vec::new();
    loop {
        match text {
            [b'"', rest @ ..] => return Some((out, rest)),
            [b'\\', byte, rest @ ..] | [byte, rest @ ..] => {
                out.push(*byte);
                text = rest;
            }
            [] => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_results_as_they_are_written() {
        let value = b" (x) mx.example 1 ;\r\n\tspf=pass (a; b) smtp.mailfrom=\"a;b\"@example.org;\n dmarc = pass\r\n\
                      header.from=example.org ; arc=pass; none; auth/1=pass; dkim=pass reason=\"x \\\" ; y\";";
        assert_eq!(
            parse_results(value),
            [
                "spf=pass (a; b) smtp.mailfrom=\"a;b\"@example.org",
                "dmarc = pass header.from=example.org",
                "auth/1=pass",
                "dkim=pass reason=\"x \\\" ; y\"",
            ]
        );
        assert!(is_from_authserv_id(value, "MX.example") && !is_from_authserv_id(value, "example"));
    }

    #[test]
    fn returns_no_results_of_a_malformed_field() {
        let long = format!("mx; spf=pass smtp.mailfrom={}", "x".repeat(1000));
        for value in [
            "",
            "mx.example",
            "mx; none",
            "mx; ;; ",
            "mx; =pass",
            "mx; spf",
            "mx; s pf=pass",
            "mx; (spf=pass",
            "mx; spf=pass)",
            "mx; spf=\"pass",
            "mx; spf=pass \u{7}",
            "mx; spf=pass (a\\",
            &long,
        ] {
            assert!(parse_results(value.as_bytes()).is_empty(), "{value}");
        }
        assert!(parse_results(b"mx; spf=\xff").is_empty());
        assert!(!is_from_authserv_id(b"(never closed", "mx"));
    }
}
