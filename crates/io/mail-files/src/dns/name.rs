//! Names in the form of the DNS.

use std::borrow::Cow;

use oarlock_network::{BadName, HostName};

/// Converts a name to the form of the DNS: in lower case, without a dot at its end. Labels beyond ASCII (U-labels)
/// become A-labels, as RFC 8616 section 4 requires for domains and selectors in header fields.
///
/// # Errors
/// The name is malformed.
pub(crate) fn ascii_name(name: &str) -> Result<String, BadName> {
    let ascii = match name.is_ascii() {
        true => Cow::Borrowed(name),
        false => idna::domain_to_ascii(name).map_err(|_| BadName::International)?.into(),
    };
    let name = HostName::new(&ascii);
    name.check()?;
    Ok(name.into())
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
