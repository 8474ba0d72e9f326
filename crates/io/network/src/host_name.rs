//! Host names in the form in which they are compared.

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

use serde::Deserialize;

/// A host name in the form in which names are compared: with ASCII letters in lower case, and without the one dot at
/// the end that marks an absolute name (RFC 1034 3.1).
///
/// ```
/// # use oarlock_network::HostName;
///
/// assert_eq!(HostName::new("WWW.example.com."), HostName::new("www.example.com"));
/// assert_ne!(HostName::new("www.example.com.."), HostName::new("www.example.com"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostName<'a>(Cow<'a, str>);

/// A pattern of host names in settings: a name, or `*.` and a name. The star stands for one label. RFC 9525 6.3.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct HostNamePattern {
    name: String,
    is_wildcard: bool,
}

/// The fault of a malformed name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadName {
    /// The name is empty, or nothing stands between two dots.
    #[error("expected labels of 1 to 63 bytes, found an empty one")]
    EmptyLabel,
    /// A label is too long.
    #[error("expected labels of 1 to 63 bytes, found one of {0}")]
    LongLabel(usize),
    /// The name is too long.
    #[error("expected a name of at most 253 bytes, found {0}")]
    Long(usize),
    /// The name has a character that names of hosts, keys and policies do not have.
    #[error("expected letters, digits, '-' and '_', found {0:?}")]
    Character(char),
    /// Characters beyond ASCII are not a valid internationalised name (UTS 46).
    #[error("expected a valid internationalised name")]
    International,
    /// An IP address is not a name. TLS clients do not ask for addresses (RFC 6066 3).
    #[error("expected a host name, found an IP address")]
    Address,
}

/// An error for a text that is not a pattern of host names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is neither a host name nor *. and a host name: {fault}")]
pub struct HostNamePatternError {
    found: String,
    fault: BadName,
}

impl<'a> HostName<'a> {
    /// Takes a name that a peer or a certificate states. Text that is not a name is kept, and equals no name.
    #[must_use]
    pub fn new(name: &'a str) -> Self {
        let name = name.strip_suffix('.').unwrap_or(name);
        Self(match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => name.to_ascii_lowercase().into(),
            false => name.into(),
        })
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks that the name can be one of the DNS: its characters and the lengths of its labels.
    ///
    /// # Errors
    /// The name is malformed.
    pub fn check(&self) -> Result<(), BadName> {
        check_name(&self.0)
    }

    /// Returns the name without its first label; None if it has only one.
    #[must_use]
    pub fn parent(&self) -> Option<&str> {
        self.0.split_once('.').filter(|(label, _)| !label.is_empty()).map(|(_, parent)| parent)
    }
}

impl fmt::Display for HostNamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_wildcard { "*." } else { "" }, self.name)
    }
}

impl HostNamePattern {
    /// Returns true if the pattern fits a name.
    #[must_use]
    pub fn fits(&self, name: &HostName<'_>) -> bool {
        let base = if self.is_wildcard { name.parent() } else { Some(name.as_str()) };
        base == Some(&*self.name)
    }

    /// Returns true if the pattern fits each name that another one fits.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self == other || (!other.is_wildcard && self.fits(&HostName::new(&other.name)))
    }
}

impl FromStr for HostNamePattern {
    type Err = HostNamePatternError;

    fn from_str(text: &str) -> Result<Self, HostNamePatternError> {
        let (is_wildcard, name) = text.strip_prefix("*.").map_or((false, text), |rest| (true, rest));
        let name = HostName::new(name);
        let fault = match name.as_str().parse::<Ipv4Addr>() {
            Ok(_) => Some(BadName::Address),
            Err(_) => name.check().err(),
        };
        match fault {
            None => Ok(Self { name: name.0.into_owned(), is_wildcard }),
            Some(fault) => Err(HostNamePatternError { found: text.to_owned(), fault }),
        }
    }
}

impl TryFrom<String> for HostNamePattern {
    type Error = HostNamePatternError;

    fn try_from(text: String) -> Result<Self, HostNamePatternError> {
        text.parse()
    }
}

/// Checks a name in ASCII without a dot at its end.
fn check_name(name: &str) -> Result<(), BadName> {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    if let Some(other) = name.chars().find(|character| !is_plain(*character)) {
        return Err(BadName::Character(other));
    }
    match name.split('.').map(str::len).find(|len| !(1..=63).contains(len)) {
        Some(0) => Err(BadName::EmptyLabel),
        Some(len) => Err(BadName::LongLabel(len)),
        None if name.len() > 253 => Err(BadName::Long(name.len())),
        None => Ok(()),
    }
}

impl fmt::Display for HostName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<HostName<'_>> for String {
    fn from(name: HostName<'_>) -> Self {
        name.0.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_final_dot_and_the_case_do_not_count() {
        for same in ["www.example.com", "www.example.com.", "WWW.Example.COM", "WWW.Example.COM."] {
            assert_eq!(HostName::new(same).as_str(), "www.example.com", "{same}");
        }
        for other in ["www.example.com..", ".www.example.com", "www.example", "", "www example.com"] {
            assert_ne!(HostName::new(other), HostName::new("www.example.com"), "{other}");
        }
        assert_eq!(HostName::new(".").as_str(), "");
        assert_eq!(HostName::new("M\u{dc}NCHEN.example.").as_str(), "m\u{dc}nchen.example");
    }

    #[test]
    fn a_star_stands_for_one_label() {
        let fits = |pattern: &str, name: &str| {
            pattern.parse::<HostNamePattern>().unwrap().fits(&HostName::new(name))
        };
        for (pattern, name) in [
            ("example.com", "example.com"),
            ("Example.COM.", "example.com"),
            ("example.com", "EXAMPLE.com."),
            ("*.example.com", "www.example.com"),
            ("*.Example.com.", "WWW.example.com."),
            ("_sip.example.com", "_sip.example.com"),
            ("localhost", "localhost"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("example.com", "www.example.com"),
            ("*.example.com", "example.com"),
            ("*.example.com", "a.b.example.com"),
            ("*.example.com", ".example.com"),
            ("example.com", "example.com.."),
            ("example.com", ""),
        ] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn text_that_no_client_asks_for_is_no_pattern() {
        for (text, fault) in [
            ("", BadName::EmptyLabel),
            (".", BadName::EmptyLabel),
            ("a..b", BadName::EmptyLabel),
            ("a.example..", BadName::EmptyLabel),
            ("*", BadName::Character('*')),
            ("a.*.example", BadName::Character('*')),
            ("*.*.example", BadName::Character('*')),
            ("*.", BadName::EmptyLabel),
            ("a b", BadName::Character(' ')),
            ("https://a.example", BadName::Character(':')),
            ("a.example:443", BadName::Character(':')),
            ("b\u{fc}cher.example", BadName::Character('\u{fc}')),
            ("192.0.2.1", BadName::Address),
            ("192.0.2.1.", BadName::Address),
            ("[2001:db8::1]", BadName::Character('[')),
            (&"x".repeat(64), BadName::LongLabel(64)),
            (&["a"; 128].join("."), BadName::Long(255)),
        ] {
            assert_eq!(text.parse::<HostNamePattern>().map_err(|error| error.fault), Err(fault), "{text}");
        }
    }

    #[test]
    fn patterns_cover_those_that_fit_fewer_names() {
        let covers = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|text| text.parse::<HostNamePattern>().unwrap());
            one.covers(&other)
        };
        for (one, other, expected) in [
            ("www.example.com", "WWW.example.com.", true),
            ("*.example.com", "www.example.com", true),
            ("*.example.com", "*.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "a.www.example.com", false),
            ("*.example.com", "*.www.example.com", false),
            ("www.example.com", "*.example.com", false),
        ] {
            assert_eq!(covers(one, other), expected, "{one} {other}");
        }
    }
}
