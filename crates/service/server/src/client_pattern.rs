//! The patterns of clients in grants.

use oarlock_network::HostName;

use crate::pattern::Pattern;

/// A pattern of one kind of client name. A `*` stands for any characters in one part of the name: a label of a DNS
/// name, a segment of a URI, the part of an e-mail address before the `@`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientPattern {
    kind: ClientNameKind,
    pattern: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientNameKind {
    Dns,
    Uri,
    Email,
    Uid,
    Gid,
    Loopback,
    /// The pattern `*`: every client that can connect.
    Everybody,
}

/// An error of a text that cannot be parsed as a pattern of clients.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientPatternError {
    /// The text has no known prefix.
    #[error("expected dns:NAME, uri:URI, email:ADDRESS, uid:N, gid:N, loopback or *, found {found:?}{hint}")]
    Prefix {
        /// The text.
        found: String,
        /// The likely meaning, or an empty text.
        hint: String,
    },
    /// No name of this kind fits the text after the prefix.
    #[error("{found:?}: expected {expected}")]
    Name {
        /// The text.
        found: String,
        /// The expected form.
        expected: &'static str,
    },
}

impl ClientPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// No client could ever have such a name.
    pub(crate) fn parse(text: &str) -> Result<Self, ClientPatternError> {
        let kind = match text.split_once(':') {
            _ if text == "*" => ClientNameKind::Everybody,
            _ if text == "loopback" => ClientNameKind::Loopback,
            Some(("dns", _)) => ClientNameKind::Dns,
            Some(("uri", _)) => ClientNameKind::Uri,
            Some(("email", _)) => ClientNameKind::Email,
            Some(("uid", _)) => ClientNameKind::Uid,
            Some(("gid", _)) => ClientNameKind::Gid,
            _ => return Err(ClientPatternError::Prefix { found: text.to_owned(), hint: hint(text) }),
        };
        let pattern = text.split_once(':').map_or("", |(_, rest)| rest);
        match expected(kind, pattern) {
            None => Ok(Self { kind, pattern: normal(kind, pattern) }),
            Some(expected) => Err(ClientPatternError::Name { found: text.to_owned(), expected }),
        }
    }

    /// Returns true if a client's name fits. Names have the form of a client's identity, such as
    /// `dns:mail.example.com`.
    pub(crate) fn fits(&self, name: &str) -> bool {
        let (prefix, rest) = name.split_once(':').unwrap_or((name, ""));
        match self.kind {
            ClientNameKind::Everybody => true,
            ClientNameKind::Loopback => name == "loopback",
            ClientNameKind::Uid => prefix == "uid" && is_number(&self.pattern, rest),
            ClientNameKind::Gid => prefix == "gid" && is_number(&self.pattern, rest),
            ClientNameKind::Dns => {
                prefix == "dns" && fits_parts(&self.pattern, HostName::new(rest).as_str(), '.')
            }
            ClientNameKind::Uri => prefix == "uri" && fits_parts(&self.pattern, rest, '/'),
            ClientNameKind::Email => prefix == "email" && fits_address(&self.pattern, rest),
        }
    }
}

/// Returns the expected form if no name of this kind can fit the pattern.
fn expected(kind: ClientNameKind, pattern: &str) -> Option<&'static str> {
    let is_dns = |text: &str| {
        let name = HostName::new(text);
        let text = name.as_str();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'*');
        !text.is_empty() && text.split('.').all(|label| !label.is_empty() && label.bytes().all(is_plain))
    };
    let (is_good, expected) = match kind {
        ClientNameKind::Dns => (is_dns(pattern), "a DNS name such as \"dns:*.example.com\" (* is one label)"),
        ClientNameKind::Uri => (
            pattern.contains(':') || pattern.starts_with('*'),
            "a URI such as \"uri:spiffe://example.com/ns/*/sa/web\" (* is one segment)",
        ),
        ClientNameKind::Email => {
            let is_good =
                // The last `@` separates the domain: a quoted local part may contain another one. RFC 5321 4.1.2.
                pattern.rsplit_once('@').is_some_and(|(local, domain)| !local.is_empty() && is_dns(domain));
            (is_good, "an address such as \"email:*@example.com\"")
        }
        ClientNameKind::Uid | ClientNameKind::Gid => {
            (pattern == "*" || pattern.parse::<u32>().is_ok(), "a number such as \"uid:1000\", or *")
        }
        ClientNameKind::Loopback | ClientNameKind::Everybody => (true, ""),
    };
    (!is_good).then_some(expected)
}

/// Returns the pattern in the form in which names are compared.
fn normal(kind: ClientNameKind, pattern: &str) -> String {
    match kind {
        ClientNameKind::Dns => HostName::new(pattern).into(),
        // The local part of an address may be case-sensitive, its domain never is. RFC 5321 2.4.
        ClientNameKind::Email => lower_domain(pattern),
        _ => pattern.to_owned(),
    }
}

fn lower_domain(address: &str) -> String {
    match address.rsplit_once('@') {
        Some((local, domain)) => format!("{local}@{}", HostName::new(domain)),
        None => address.to_owned(),
    }
}

fn is_number(pattern: &str, number: &str) -> bool {
    pattern == "*" || pattern == number
}

/// Returns true if both have the same number of parts and each part fits.
fn fits_parts(pattern: &str, text: &str, separator: char) -> bool {
    // Part by part, so that a star never crosses a dot or a slash: `*.example.com` must not match `a.b.example.com`.
    let (mut patterns, mut parts) = (pattern.split(separator), text.split(separator));
    loop {
        match (patterns.next(), parts.next()) {
            (None, None) => return true,
            (Some(pattern), Some(part)) if Pattern::from(pattern).fits(part) => {}
            _ => return false,
        }
    }
}

fn fits_address(pattern: &str, address: &str) -> bool {
    let address = lower_domain(address);
    match (pattern.rsplit_once('@'), address.rsplit_once('@')) {
        (Some((local_pattern, domain_pattern)), Some((local, domain))) => {
            Pattern::from(local_pattern).fits(local) && fits_parts(domain_pattern, domain, '.')
        }
        _ => false,
    }
}

/// Returns a hint about the likely meaning of a text without a known prefix.
fn hint(text: &str) -> String {
    // Earlier versions had one prefix for every kind of name, `san:`.
    let name = text.strip_prefix("san:").unwrap_or(text);
    let kind = match name {
        name if name.contains("://") => "uri",
        name if name.contains('@') => "email",
        name if name.contains(':') || name.is_empty() => return String::new(),
        name if name.bytes().all(|byte| byte.is_ascii_digit()) => "uid",
        _ => "dns",
    };
    format!("; write {:?}", format!("{kind}:{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, name: &str) -> bool {
        ClientPattern::parse(pattern).unwrap().fits(name)
    }

    #[test]
    fn matches_one_label_with_a_star() {
        assert!(fits("dns:*.example.com", "dns:mail.example.com"));
        assert!(
            !fits("dns:*.example.com", "dns:a.b.example.com")
                && !fits("dns:*.example.com", "dns:example.com")
        );
        assert!(fits("dns:mail-*.example.com", "dns:mail-1.example.com") && fits("dns:*", "dns:localhost"));
        assert!(!fits("dns:*", "dns:example.com") && fits("dns:A.Example.com", "dns:a.exaMple.COM"));
        assert!(fits("dns:*.example.com.", "dns:mail.example.com") && fits("dns:a.test", "dns:A.test."));
        assert!(fits("email:*@example.com.", "email:a@Example.com") && !fits("dns:*", "dns:a.."));
    }

    #[test]
    fn matches_only_names_of_its_own_kind() {
        let evil = ["uri:x://mail.example.com", "email:x@mail.example.com", "dns:mail.example.com.evil.test"];
        assert!(evil.iter().all(|name| !fits("dns:*.example.com", name)));
        assert!(
            !fits("dns:*.*.com", "uri:x.example.com") && !fits("uid:*", "gid:0") && !fits("gid:0", "uid:0")
        );
        assert!(fits("uri:spiffe://a.test/ns/*/sa/web", "uri:spiffe://a.test/ns/shop/sa/web"));
        assert!(!fits("uri:spiffe://a.test/ns/*", "uri:spiffe://a.test/ns/shop/sa/web"));
        assert!(fits("email:*@example.com", "email:a.b@Example.com"));
        assert!(!fits("email:*@example.com", "email:a@b@evil.test") && !fits("email:*@example.com", "dns:x"));
        assert!(
            !fits("email:*@example.com", "email:a@x.example.com")
                && !fits("email:a@e.test", "email:A@e.test")
        );
        assert!(
            fits("uid:1000", "uid:1000") && !fits("uid:1000", "uid:10000") && fits("loopback", "loopback")
        );
        assert!(fits("*", "loopback") && fits("*", "dns:x") && !fits("loopback", "uid:0"));
    }

    #[test]
    fn rejects_patterns_that_never_match_with_a_hint() {
        for (text, expected) in [
            ("relay.mail.example.com", "write \"dns:relay.mail.example.com\""),
            ("san:*.example.com", "write \"dns:*.example.com\""),
            ("san:a@example.com", "write \"email:a@example.com\""),
            ("san:spiffe://a.test/x", "write \"uri:spiffe://a.test/x\""),
            ("1000", "write \"uid:1000\""),
            ("sna:foo", "found \"sna:foo\""),
            ("uid:abc", "expected a number"),
            ("uid:10*", "expected a number"),
            ("dns:", "expected a DNS name"),
            ("dns:a..", "expected a DNS name"),
            ("dns:a@b", "expected a DNS name"),
            ("email:example.com", "expected an address"),
            ("uri:example", "expected a URI"),
            ("", "expected dns:NAME"),
        ] {
            let error = ClientPattern::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
