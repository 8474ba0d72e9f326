//! Addresses of a message: the author, the first address of its `From`, and others. RFC 5322 3.4.

use oarlock_dkim::host_form;

/// An address in the form in which it is looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AuthorAddress {
    /// `local@domain`, in lower case and with A-labels.
    pub(crate) address: String,
    at: usize,
}

impl AuthorAddress {
    /// Returns the first address of a `From` field's value, or None if it has no domain.
    pub(crate) fn parse(value: &[u8]) -> Option<Self> {
        Self::from_text(&FirstAddress::find(&String::from_utf8_lossy(value))?.text)
    }

    /// Returns the address of a field's value that is one mailbox. Returns None for a list and for a group, of which
    /// readers may show another address than the first. RFC 5322 3.6.2.
    pub(crate) fn parse_only(value: &[u8]) -> Option<Self> {
        let first = FirstAddress::find(&String::from_utf8_lossy(value))?;
        first.is_only.then(|| Self::from_text(&first.text)).flatten()
    }

    /// Returns the address of MAIL FROM as a client wrote it. Returns None for the null sender and for an address
    /// without a domain.
    pub(crate) fn parse_envelope(address: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(address).ok()?.trim();
        let bare = text.strip_prefix('<').map_or(Some(text), |rest| rest.strip_suffix('>'))?;
        Self::from_text(bare)
    }

    fn from_text(address: &str) -> Option<Self> {
        let (local, domain) = split(address)?;
        let domain = host_form(&domain)?.into_owned();
        Some(Self { at: local.len(), address: format!("{local}@{domain}") })
    }

    pub(crate) fn domain(&self) -> &str {
        &self.address[self.at + 1..]
    }
}

/// The first address of a value: the text in angle brackets or the bare address, without comments and white space.
struct FirstAddress {
    text: String,
    /// True if the value is this mailbox and nothing else.
    is_only: bool,
}

impl FirstAddress {
    fn find(value: &str) -> Option<Self> {
        let mut text = String::new();
        let mut chars = value.chars();
        let (mut is_in_brackets, mut is_only, mut has_at) = (false, true, false);
        while let Some(char) = chars.next() {
            match char {
                '(' => skip_comment(&mut chars),
                '"' => quoted(&mut chars, &mut text),
                '<' => {
                    text.clear();
                    (is_in_brackets, has_at) = (true, false);
                }
                '>' if is_in_brackets => {
                    return Some(Self { text, is_only: is_only && is_blank(&mut chars) });
                }
                ',' | ';' if !is_in_brackets && text.contains('@') => {
                    return Some(Self { text, is_only: false });
                }
                // This was the name of a group, an empty member of a list, or an obsolete route.
                ':' | ',' | ';' => {
                    text.clear();
                    has_at = false;
                    is_only &= is_in_brackets;
                }
                // Two addresses without a comma between them.
                '@' if has_at => {
                    text.push(char);
                    is_only = false;
                }
                _ if char.is_whitespace() => {}
                _ => {
                    text.push(char);
                    has_at |= char == '@';
                }
            }
        }
        (!is_in_brackets && !text.is_empty()).then_some(Self { text, is_only })
    }
}

/// Skips a comment to its end. Comments can be nested.
fn skip_comment(chars: &mut std::str::Chars<'_>) {
    let mut depth = 1_usize;
    while depth > 0 {
        match chars.next() {
            Some('\\') => drop(chars.next()),
            Some('(') => depth += 1,
            Some(')') => depth -= 1,
            Some(_) => {}
            None => return,
        }
    }
}

/// Returns true if only comments and white space are left.
fn is_blank(chars: &mut std::str::Chars<'_>) -> bool {
    while let Some(char) = chars.next() {
        match char {
            '(' => skip_comment(chars),
            _ if char.is_whitespace() => {}
            _ => return false,
        }
    }
    true
}

/// Copies a quoted string with its quotes. Its characters have no special meaning.
fn quoted(chars: &mut std::str::Chars<'_>, out: &mut String) {
    out.push('"');
    while let Some(char) = chars.next() {
        match char {
            '"' => break,
            '\\' => out.extend(chars.next()),
            _ => out.push(char),
        }
    }
    out.push('"');
}

/// Splits an address at its last `@`, because a domain has none. Quotes around the local part are removed.
fn split(address: &str) -> Option<(String, String)> {
    let (local, domain) = address.rsplit_once('@')?;
    let bare = local.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(local);
    (!bare.is_empty()).then(|| (bare.to_lowercase(), domain.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(value: &str) -> Option<String> {
        AuthorAddress::parse(value.as_bytes()).map(|author| author.address)
    }

    #[test]
    fn finds_the_first_address_in_every_form() {
        for value in [
            " joe@example.com",
            "Joe <Joe@Example.COM>",
            "\"Doe, Joe <x@evil.example>\" <joe@example.com>",
            "(a <x@evil.example> (b\\)) c) joe@example.com (d)",
            "\r\n joe@example.com, other@example.net",
            "<@relay.example,@b.example:joe@example.com>",
            "Team: joe@example.com, b@example.net;",
            "\"joe\"@example.com",
            "joe (x) @ example.com",
            "Joe <joe@Example.com.>",
            "\"x@evil.example\" <joe@example.com>",
        ] {
            assert_eq!(address(value).as_deref(), Some("joe@example.com"), "{value}");
        }
        assert_eq!(address("<j@b\u{fc}cher.example>").as_deref(), Some("j@xn--bcher-kva.example"));
        assert_eq!(address("\"a@b\"@example.com").as_deref(), Some("a@b@example.com"));
        assert_eq!(AuthorAddress::parse(b"\"a@b\"@example.com").unwrap().domain(), "example.com");
    }

    #[test]
    fn one_mailbox_is_told_from_lists_and_groups() {
        let only = |value: &str| AuthorAddress::parse_only(value.as_bytes()).map(|found| found.address);
        for value in [
            " joe@example.com",
            "\"Doe, Joe: <x@evil.example>\" <joe@example.com> (home, \\) sweet) ",
            "<@relay.example,@b.example:joe@example.com>",
        ] {
            assert_eq!(only(value).as_deref(), Some("joe@example.com"), "{value}");
        }
        for value in [
            "joe@example.com, jane@example.net",
            "Joe <joe@example.com>, <jane@example.net>",
            "Joe <joe@example.com> jane@example.net",
            "joe@example.com jane@example.net",
            "joe@example.com@example.net",
            ", joe@example.com",
            "Team: joe@example.com;",
            "Team: Joe <joe@example.com>;",
            "undisclosed:;",
            "joe",
            "",
        ] {
            assert_eq!(only(value), None, "{value}");
        }
    }

    #[test]
    fn parses_envelope_senders() {
        let of = |text: &str| AuthorAddress::parse_envelope(text.as_bytes()).map(|sender| sender.address);
        for text in ["<Joe@Example.COM>", "<joe@example.com.>", "joe@example.com", " <\"joe\"@example.com> "]
        {
            assert_eq!(of(text).as_deref(), Some("joe@example.com"), "{text}");
        }
        for text in ["<>", "", "<joe>", "<joe@example.com", "<joe@[192.0.2.1]>"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn finds_no_author_without_a_domain() {
        for value in [
            "",
            "joe",
            "undisclosed:;",
            "<>",
            "<joe@example.com",
            "joe@",
            "@example.com",
            "joe@[192.0.2.1]",
            "joe@example.com..",
        ] {
            assert_eq!(address(value), None, "{value}");
        }
    }
}
