//! Names of hosts and mailboxes as name servers check them. RFC 952, RFC 1123 2.1.

use crate::name::DomainName;

/// Returns true if every label has letters, digits and inner hyphens only. The root is such a name.
pub(super) fn is_host_name(name: DomainName<'_>) -> bool {
    name.labels().all(is_host_label)
}

/// Returns true if the name may own addresses: a host name, or a wildcard at one.
pub(super) fn is_host_owner(name: DomainName<'_>) -> bool {
    is_host_name(if name.is_wildcard() { name.parent().unwrap_or(name) } else { name })
}

/// Returns true for `gc._msdcs` at a host name, which holds the addresses of a directory's global catalogue.
pub(super) fn is_global_catalogue(name: DomainName<'_>) -> bool {
    let mut labels = name.labels();
    let is_next =
        |label: Option<&[u8]>, text: &[u8]| label.is_some_and(|label| label.eq_ignore_ascii_case(text));
    is_next(labels.next(), b"gc") && is_next(labels.next(), b"_msdcs") && labels.all(is_host_label)
}

/// Returns true if the first label has visible characters only and the others are a host name.
pub(super) fn is_mailbox(name: DomainName<'_>) -> bool {
    let mut labels = name.labels();
    labels.next().is_none_or(|label| label.iter().all(u8::is_ascii_graphic)) && labels.all(is_host_label)
}

fn is_host_label(label: &[u8]) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    is_end(label.first()) && is_end(label.last()) && label.iter().all(is_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::{DomainNameBuf, LetterCase};

    fn name(text: &str) -> DomainNameBuf {
        DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, LetterCase::Kept).unwrap()
    }

    #[test]
    fn host_names_have_letters_digits_and_inner_hyphens() {
        for good in [".", "a.", "A-1.b--c.9.", "xn--bcher-kva.example."] {
            assert!(is_host_name(name(good).name()), "{good}");
        }
        for bad in ["_a.", "a_b.", "-a.", "a-.", "a.*.", "*.a.", "a\\032b.", "b\\195\\188cher.", "a\\.b."] {
            assert!(!is_host_name(name(bad).name()), "{bad}");
        }
    }

    #[test]
    fn owners_may_be_wildcards_and_mailboxes_have_a_free_first_label() {
        assert!(is_host_owner(name("*.a.").name()) && is_host_owner(name("*.").name()));
        assert!(!is_host_owner(name("*._a.").name()) && !is_host_owner(name("x.*.a.").name()));
        assert!(is_global_catalogue(name("GC._MSDCS.a.").name()));
        assert!(!is_global_catalogue(name("_gc._msdcs.a.").name()));
        assert!(is_mailbox(name("first\\.l_ast.a.").name()) && is_mailbox(DomainName::ROOT));
        for bad in ["a.b_c.", "a\\032b.c.", "b\\195.c."] {
            assert!(!is_mailbox(name(bad).name()), "{bad}");
        }
    }
}
