//! Who wrote a message: the first address of its `From`. RFC 5322 3.4.

use oarlock_dkim::ascii_form;

/// An address in the form in which it is looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Author {
    /// `local@domain`, in lower case and with A-labels.
    pub(crate) address: String,
    at: usize,
}

impl Author {
    /// The first address of a `From` field's value, None where there is none with a domain.
    pub(crate) fn of(value: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(value);
        let (local, domain) = split(&first_address(&text)?)?;
        let domain = ascii_form(&domain)?.into_owned();
        Some(Self { at: local.len(), address: format!("{local}@{domain}") })
    }

    /// The address of MAIL FROM as a client has written it, None for the null sender and what has no domain.
    pub(crate) fn of_envelope(address: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(address).ok()?.trim();
        let bare = text.strip_prefix('<').map_or(Some(text), |rest| rest.strip_suffix('>'))?;
        let (local, domain) = split(bare)?;
        let domain = ascii_form(&domain)?.into_owned();
        Some(Self { at: local.len(), address: format!("{local}@{domain}") })
    }

    pub(crate) fn domain(&self) -> &str {
        &self.address[self.at + 1..]
    }
}

/// What stands in angle brackets, or by itself, without comments and white space.
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
            // A group's name, or the obsolete route to an address.
            ':' => found.clear(),
            ',' | ';' if !is_in_brackets && found.contains('@') => return Some(found),
            ',' | ';' => found.clear(),
            _ if char.is_whitespace() => {}
            _ => found.push(char),
        }
    }
    (!is_in_brackets && !found.is_empty()).then_some(found)
}

/// A quoted string with its quotes, so that no character in it means anything.
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

/// At the last `@`, for no domain has one. Quotes that a local part does not need are no part of it.
fn split(address: &str) -> Option<(String, String)> {
    let (local, domain) = address.rsplit_once('@')?;
    let bare = local.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(local);
    (!bare.is_empty()).then(|| (bare.to_lowercase(), domain.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: &str) -> Option<String> {
        Author::of(value.as_bytes()).map(|author| author.address)
    }

    #[test]
    fn the_first_address_counts_in_whatever_form() {
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
            "\"x@evil.example\" <joe@example.com>",
        ] {
            assert_eq!(of(value).as_deref(), Some("joe@example.com"), "{value}");
        }
        assert_eq!(of("<j@b\u{fc}cher.example>").as_deref(), Some("j@xn--bcher-kva.example"));
        assert_eq!(of("\"a@b\"@example.com").as_deref(), Some("a@b@example.com"));
        assert_eq!(Author::of(b"\"a@b\"@example.com").unwrap().domain(), "example.com");
    }

    #[test]
    fn senders_are_read_as_they_stand_in_the_envelope() {
        let of = |text: &str| Author::of_envelope(text.as_bytes()).map(|sender| sender.address);
        for text in ["<Joe@Example.COM>", "joe@example.com", " <\"joe\"@example.com> "] {
            assert_eq!(of(text).as_deref(), Some("joe@example.com"), "{text}");
        }
        for text in ["<>", "", "<joe>", "<joe@example.com", "<joe@[192.0.2.1]>"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn what_has_no_domain_has_no_author() {
        for value in
            ["", "joe", "undisclosed:;", "<>", "<joe@example.com", "joe@", "@example.com", "joe@[192.0.2.1]"]
        {
            assert_eq!(of(value), None, "{value}");
        }
    }
}
