//! Names in the form of the DNS.

/// An error of a malformed name.
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
}

/// Converts a name to the form of the DNS: in lower case, without a dot at its end. Labels beyond ASCII (U-labels)
/// become A-labels, as RFC 8616 section 4 requires for domains and selectors in header fields.
///
/// # Errors
/// The name is malformed.
pub fn ascii_name(name: &str) -> Result<String, BadName> {
    let mut ascii = match name.is_ascii() {
        true => name.to_ascii_lowercase(),
        false => idna::domain_to_ascii(name).map_err(|_| BadName::International)?,
    };
    if ascii.ends_with('.') {
        ascii.pop();
    }
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    if let Some(other) = ascii.chars().find(|character| !is_plain(*character)) {
        return Err(BadName::Character(other));
    }
    match ascii.split('.').map(str::len).find(|len| !(1..=63).contains(len)) {
        Some(0) => Err(BadName::EmptyLabel),
        Some(len) => Err(BadName::LongLabel(len)),
        None if ascii.len() > 253 => Err(BadName::Long(ascii.len())),
        None => Ok(ascii),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_ascii() {
        for (name, ascii) in [
            ("Sel._DomainKey.Example.COM.", "sel._domainkey.example.com"),
            ("brisbane._domainkey.bücher.example", "brisbane._domainkey.xn--bcher-kva.example"),
            ("σελ._domainkey.例え.テスト", "xn--qxamw._domainkey.xn--r8jz45g.xn--zckzah"),
            ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ] {
            assert_eq!(ascii_name(name).as_deref(), Ok(ascii), "{name}");
        }
    }

    #[test]
    fn rejects_malformed_names() {
        let long = ["a".repeat(63), "b".repeat(63), "c".repeat(63), "d".repeat(62)].join(".");
        assert_eq!(long.len(), 254);
        for (name, fault) in [
            ("", BadName::EmptyLabel),
            (".", BadName::EmptyLabel),
            ("a..b", BadName::EmptyLabel),
            (".a", BadName::EmptyLabel),
            ("a b", BadName::Character(' ')),
            ("a\\.b", BadName::Character('\\')),
            ("*.a", BadName::Character('*')),
            ("a\0", BadName::Character('\0')),
            (&"x".repeat(64), BadName::LongLabel(64)),
            (&long, BadName::Long(254)),
            ("xn--ü", BadName::International),
            ("\u{200d}ü.example", BadName::International),
        ] {
            assert_eq!(ascii_name(name), Err(fault), "{name}");
        }
        assert!(ascii_name(&format!("{}.", &long[1..])).is_ok());
    }
}
