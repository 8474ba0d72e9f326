//! The author of a message: the first address of its `From`. RFC 5322 3.4.

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
        let text = String::from_utf8_lossy(value);
        let (local, domain) = split(&first_address(&text)?)?;
        let domain = host_form(&domain)?.into_owned();
        Some(Self { at: local.len(), address: format!("{local}@{domain}") })
    }

    /// Returns the address of MAIL FROM as a client wrote it. Returns None for the null sender and for an address
    /// without a domain.
    pub(crate) fn parse_envelope(address: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(address).ok()?.trim();
        let bare = text.strip_prefix('<').map_or(Some(text), |rest| rest.strip_suffix('>'))?;
        let (local, domain) = split(bare)?;
        let domain = host_form(&domain)?.into_owned();
        Some(Self { at: local.len(), address: format!("{local}@{domain}") })
    }

    pub(crate) fn domain(&self) -> &str {
        &self.address[self.at + 1..]
    }
}

/// Returns the text in angle brackets, or the bare address, without comments and white space.
fn first_address(text: &str) -> Option<String> {
    let mut found = String::new();
    let mut chars = text.chars();
    let (mut depth, mut is_in_brackets) = (0_usize, false);
    while let Some(char) = chars.next() {
        match char {
            '\\' if depth > 0 => drop(chars.next()),
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            '"' => quoted(&mut chars, &mut found),
            '<' => {
                found.clear();
                is_in_brackets = true;
            }
            '>' if is_in_brackets => return Some(found),
            // This was the name of a group or an obsolete route.
            ':' => found.clear(),
            ',' | ';' if !is_in_brackets && found.contains('@') => return Some(found),
            ',' | ';' => found.clear(),
            _ if char.is_whitespace() => {}
            _ => found.push(char),
        }
    }
    (!is_in_brackets && !found.is_empty()).then_some(found)
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
