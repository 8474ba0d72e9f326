//! Domain names in signatures. RFC 6376 3.5, RFC 8616 5.

use std::borrow::Cow;

/// The maximum length of a name in characters. RFC 1035 2.3.4.
const LONGEST: usize = 253;

/// Returns a domain name or a selector in the form in which it is looked up and compared: lower case and A-labels (RFC
/// 8616 5). Returns None if the text is not a domain name.
#[must_use]
pub fn ascii_form(name: &str) -> Option<Cow<'_, str>> {
    // Nearly all names are in ASCII form already and need no allocation.
    if name.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'0'..=b'9' | b'-' | b'.' | b'_'))
    {
        return is_name(name).then_some(Cow::Borrowed(name));
    }
    let form = if name.is_ascii() { name.to_ascii_lowercase() } else { idna::domain_to_ascii(name).ok()? };
    is_name(&form).then_some(Cow::Owned(form))
}

/// Returns the name of a host or of a mail domain in the form in which it is compared: that of [`ascii_form`], without
/// the one dot at the end that marks an absolute name (RFC 1034 3.1).
#[must_use]
pub fn host_form(name: &str) -> Option<Cow<'_, str>> {
    ascii_form(name.strip_suffix('.').unwrap_or(name))
}

/// Returns true if every label has 1 to 63 letters, digits, hyphens and underscores.
fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    name.len() <= LONGEST && name.split('.').all(is_label)
}

/// Returns true if `name` is `parent` or a subdomain of it. Both must be in ASCII form.
pub(crate) fn is_same_or_below(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_names_to_the_form_of_lookups() {
        assert_eq!(ascii_form("Example.COM").as_deref(), Some("example.com"));
        assert_eq!(ascii_form("bücher.example").as_deref(), Some("xn--bcher-kva.example"));
        assert_eq!(ascii_form("s1._x.example").as_deref(), Some("s1._x.example"));
        for bad in ["", ".", "a..b", "example.com.", "a b", "a;b", &"x".repeat(64), &"abc.".repeat(64)] {
            assert_eq!(ascii_form(bad), None, "{bad}");
        }
    }

    #[test]
    fn one_dot_at_the_end_of_a_host_name_does_not_count() {
        assert_eq!(host_form("Example.COM.").as_deref(), Some("example.com"));
        assert_eq!(host_form("bücher.example.").as_deref(), Some("xn--bcher-kva.example"));
        for bad in ["", ".", "example.com..", ".example.com."] {
            assert_eq!(host_form(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_subdomain_ends_at_a_dot() {
        assert!(is_same_or_below("example.com", "example.com"));
        assert!(is_same_or_below("a.example.com", "example.com"));
        assert!(!is_same_or_below("badexample.com", "example.com"));
        assert!(!is_same_or_below("com", "example.com"));
    }
}
