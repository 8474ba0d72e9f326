//! Name constraints of authorities for common names. RFC 5280 4.2.1.10.
//!
//! webpki applies constraints to subject alternative names only. Here a common name counts as a name too: settings may
//! allow it, and backends get it. So one that looks like a DNS name is held to the DNS constraints of every authority
//! above it, as OpenSSL does it.

use rustls::pki_types::CertificateDer;
use x509_parser::extensions::{GeneralName, GeneralSubtree, NameConstraints};
use x509_parser::prelude::{FromDer, X509Certificate};

/// The reason why a common name is refused. It is the fault of the authority that issued it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the common name {name:?} of the client's certificate is outside of the name constraints of its authorities"
)]
pub(crate) struct ConstraintError {
    name: String,
}

/// A certificate of an authority, with its constraints of DNS names.
#[derive(Clone, Debug)]
pub(super) struct ConstrainedAuthority {
    subject: Vec<u8>,
    issuer: Vec<u8>,
    constraints: DnsConstraints,
}

#[derive(Clone, Debug, Default)]
struct DnsConstraints {
    /// Empty if every name is permitted.
    permitted: Vec<String>,
    excluded: Vec<String>,
}

impl ConstrainedAuthority {
    /// Reads a certificate. Returns None if it cannot be read.
    pub(super) fn read(certificate: &[u8]) -> Option<Self> {
        let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
        let constraints = match parsed.name_constraints() {
            Ok(None) => Some(DnsConstraints::default()),
            Ok(Some(found)) => DnsConstraints::read(found.value),
            Err(_) => None,
        };
        Some(Self {
            subject: parsed.subject().as_raw().to_vec(),
            issuer: parsed.issuer().as_raw().to_vec(),
            constraints: constraints.unwrap_or_else(DnsConstraints::nothing),
        })
    }
}

/// Checks the common name of a client whose chain was verified. `authorities` are those of the settings.
///
/// Every authority that the client's certificate can be traced to counts, also one that is not on the verified path.
///
/// # Errors
/// The name looks like a DNS name, and an authority does not permit it.
pub(super) fn check_common_name(
    leaf: &CertificateDer<'_>,
    others: &[CertificateDer<'_>],
    authorities: &[ConstrainedAuthority],
) -> Result<(), ConstraintError> {
    let Ok((_, leaf)) = X509Certificate::from_der(leaf) else { return Ok(()) };
    let names = leaf.subject().iter_common_name().filter_map(|name| name.as_str().ok());
    let names: Vec<String> = names.filter_map(dns_name).collect();
    if names.is_empty() {
        return Ok(());
    }
    let sent: Option<Vec<_>> = others.iter().map(|other| ConstrainedAuthority::read(other)).collect();
    // A verifier may have read what this parser cannot.
    let sent = sent.ok_or_else(|| ConstraintError { name: names[0].clone() })?;
    let mut candidates: Vec<_> = sent.iter().chain(authorities).collect();
    let mut issuers = vec![leaf.issuer().as_raw()];
    while let Some(issuer) = issuers.pop() {
        let (above, rest): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|candidate| candidate.subject == issuer);
        candidates = rest;
        for authority in above {
            if let Some(name) = names.iter().find(|name| !authority.constraints.permit(name)) {
                return Err(ConstraintError { name: name.clone() });
            }
            issuers.push(&authority.issuer);
        }
    }
    Ok(())
}

/// Returns a common name in lower case if somebody could take it for a DNS name: letters, digits, hyphens, underscores
/// and stars, and a dot between them. Space and dots around it do not make it another name.
fn dns_name(text: &str) -> Option<String> {
    let name = text.trim_matches(|c: char| c.is_whitespace() || c == '.' || c == '\0');
    let is_dns =
        name.contains('.') && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '*'));
    is_dns.then(|| name.to_lowercase())
}

impl DnsConstraints {
    /// Reads the constraints. Returns None if one of them cannot be read.
    fn read(constraints: &NameConstraints<'_>) -> Option<Self> {
        let names = |subtrees: &Option<Vec<GeneralSubtree<'_>>>| -> Option<Vec<String>> {
            let names = subtrees.iter().flatten().filter_map(|subtree| match &subtree.base {
                GeneralName::DNSName(name) => Some(Some(name.to_ascii_lowercase())),
                GeneralName::Invalid(..) => Some(None),
                _ => None,
            });
            names.collect()
        };
        Some(Self {
            permitted: names(&constraints.permitted_subtrees)?,
            excluded: names(&constraints.excluded_subtrees)?,
        })
    }

    /// Returns constraints that permit no name, for those that cannot be read.
    fn nothing() -> Self {
        // Every name is below the empty one.
        Self { permitted: Vec::new(), excluded: vec![String::new()] }
    }

    fn permit(&self, name: &str) -> bool {
        let is_permitted =
            self.permitted.is_empty() || self.permitted.iter().any(|base| is_below(name, base));
        is_permitted && !self.excluded.iter().any(|base| is_below(name, base) || covers(name, base))
    }
}

/// Returns true if a name is a constraint's name or has more labels before it. A dot at the start of the constraint
/// asks for at least one.
fn is_below(name: &str, base: &str) -> bool {
    let rest = name.strip_suffix(base);
    rest.is_some_and(|rest| {
        base.is_empty()
            || (base.starts_with('.') && !rest.is_empty())
            || rest.is_empty()
            || rest.ends_with('.')
    })
}

/// Returns true if a name with a star stands for names below a constraint.
fn covers(name: &str, base: &str) -> bool {
    name.strip_prefix('*').is_some_and(|rest| base.trim_start_matches('.').ends_with(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_like_dns_names_are_found() {
        for (text, expected) in [
            ("www.Example.com", Some("www.example.com")),
            (" www.example.com. ", Some("www.example.com")),
            ("*.example.com", Some("*.example.com")),
            ("a_b.example", Some("a_b.example")),
            ("B\u{dc}cher.example", Some("b\u{fc}cher.example")),
            ("database", None),
            ("Jane Doe, Ltd.", None),
            ("user@example.com", None),
            ("", None),
        ] {
            assert_eq!(dns_name(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn constraints_permit_their_own_names_only() {
        let permits = |permitted: &[&str], excluded: &[&str], name: &str| {
            let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
            DnsConstraints { permitted: texts(permitted), excluded: texts(excluded) }.permit(name)
        };
        assert!(permits(&[], &[], "x.example"));
        assert!(permits(&["good.example"], &[], "good.example"));
        assert!(permits(&["good.example"], &[], "x.good.example"));
        assert!(permits(&[".good.example"], &[], "x.good.example"));
        assert!(permits(&["other.example", ""], &[], "x.good.example"));
        assert!(!permits(&[".good.example"], &[], "good.example"));
        assert!(!permits(&["good.example"], &[], "verygood.example"));
        assert!(!permits(&["good.example"], &[], "x.bad.example"));
        assert!(!permits(&["example"], &["bad.example"], "x.bad.example"));
        assert!(!permits(&[], &["bad.example"], "bad.example"));
        assert!(!permits(&[], &["bad.example"], "*.example"));
        assert!(permits(&[], &["bad.example"], "x.good.example"));
        assert!(!DnsConstraints::nothing().permit("x.example"));
    }
}
