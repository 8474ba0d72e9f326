//! Certificates of clients: the authorities that issue them, and the names that are allowed.

mod constraints;
mod crls;

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use aws_lc_rs::digest::{Context, SHA256};
use oarlock::keys::import;
use oarlock_network::HostName;
use oarlock_service_kit::certificate::CertificateValidity;
use oarlock_service_kit::{ClientRule, RuledClientVerifier};
use oarlock_sockets::{BoundedVerifier, ChainLimit};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::{CertificateError, Error, OtherError, RootCertStore};
use serde::Deserialize;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

use self::constraints::{ConstrainedAuthority, check_common_name};
pub(crate) use self::crls::RevocationLists;
pub use self::crls::{CrlError, CrlWarning, ExpiredCrlRule};
use crate::config::ClientSettings;

/// An allowed name: `DNS:NAME`, `URI:TEXT` or `CN:TEXT`. `DNS:*.example.com` allows each name with one more label,
/// `URI:spiffe://example.com/*` each URI with that beginning.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct NamePattern {
    kind: NameKind,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameKind {
    Dns,
    Uri,
    CommonName,
}

/// An error for a text that is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a name of clients: expected DNS:NAME, URI:TEXT or CN:TEXT")]
pub struct NamePatternError(String);

/// The reason why the authorities of clients or backends cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum AuthorityError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The file has no certificates in PEM.
    #[error("{}: expected certificates of authorities in PEM", path.display())]
    Pem { path: PathBuf },
    /// An authority cannot be used.
    #[error("{}: {reason}", path.display())]
    Unusable { path: PathBuf, reason: String },
}

/// The reason why the rules for clients cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientRuleError {
    /// The authorities cannot be used.
    #[error("[clients] authorities: {0}")]
    Authorities(#[from] AuthorityError),
    /// The revocation lists cannot be used.
    #[error("[clients] crl_files: {0}")]
    Lists(#[from] CrlError),
}

/// A verifier of clients by the authorities and the names of the settings.
pub(crate) type ClientNameVerifier = RuledClientVerifier<ClientNameRule>;

/// The rule for the names of clients.
#[derive(Debug)]
pub(crate) struct ClientNameRule {
    authorities: Vec<ConstrainedAuthority>,
    /// The allowed names. If the list is empty, each client of the authorities is allowed.
    allowed: Vec<NamePattern>,
    pub(crate) lists: RevocationLists,
    /// The digest of everything that is asked of a client.
    pub(crate) digest: [u8; 32],
}

/// Reads the authorities and the revocation lists.
pub(crate) fn read_client_verifier(
    settings: &ClientSettings,
    provider: &Arc<CryptoProvider>,
) -> Result<ClientNameVerifier, ClientRuleError> {
    let path = &settings.authorities;
    let (roots, certificates) = read_authorities(path)?;
    let roots = Arc::new(roots);
    let lists = RevocationLists::read(&settings.crl_files, settings.expired_crls, (path, &certificates))?;
    let chains = build_chain_verifier(settings, &roots, &lists, provider)?;
    let chains = BoundedVerifier::new(chains, ChainLimit::new(settings.max_chain_certificates));
    let mut rule = ClientNameRule {
        authorities: certificates
            .iter()
            .filter_map(|authority| ConstrainedAuthority::read(authority))
            .collect(),
        allowed: settings.allowed_names.clone(),
        digest: policy_digest(settings, &certificates, &lists),
        lists,
    };
    rule.lists.forget_ders();
    Ok(ClientNameVerifier::new(chains, rule))
}

fn build_chain_verifier(
    settings: &ClientSettings,
    roots: &Arc<RootCertStore>,
    lists: &RevocationLists,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, ClientRuleError> {
    let builder = || WebPkiClientVerifier::builder_with_provider(Arc::clone(roots), Arc::clone(provider));
    // rustls does not say which list it cannot use.
    for (path, list) in lists.paths().zip(lists.ders()) {
        let unusable = |error: VerifierBuilderError| CrlError::unusable(path, &error);
        builder().with_crls([list.clone()]).build().map_err(unusable)?;
    }
    let builder = builder().with_crls(lists.ders().cloned());
    let builder = if settings.required { builder } else { builder.allow_unauthenticated() };
    let builder = match settings.expired_crls {
        ExpiredCrlRule::Refuse => builder.enforce_revocation_expiration(),
        ExpiredCrlRule::Use => builder,
    };
    let unusable = |error: VerifierBuilderError| AuthorityError::Unusable {
        path: settings.authorities.clone(),
        reason: error.to_string(),
    };
    Ok(builder.build().map_err(unusable)?)
}

/// Returns true if a full handshake would accept a client now that an earlier one with these rules has accepted. An
/// empty chain is a client without a certificate.
pub(crate) fn accepts_again(
    verifier: &ClientNameVerifier,
    chain: &[CertificateDer<'_>],
    now: UnixTime,
) -> bool {
    match chain.split_first() {
        None => !verifier.client_auth_mandatory(),
        // The rules are the same, and no certificate or revocation list has ended. So nothing can have changed.
        Some(_) if are_valid_at(chain, now) && verifier.rule.lists.are_good_at(now) => true,
        Some((leaf, others)) => verifier.verify_client_cert(leaf, others, now).is_ok(),
    }
}

impl ClientRule for ClientNameRule {
    fn check(&self, certificate: &CertificateDer<'_>, others: &[CertificateDer<'_>]) -> Result<(), Error> {
        check_common_name(certificate, others, &self.authorities)
            .map_err(|error| CertificateError::Other(OtherError(Arc::new(error))))?;
        let has_name = |names: ClientNames| self.allowed.iter().any(|pattern| names.matches(pattern));
        match self.allowed.is_empty() || ClientNames::read(certificate).is_some_and(has_name) {
            true => Ok(()),
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }
}

/// Reads certificates of authorities.
pub(crate) fn read_authorities(
    path: &Path,
) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), AuthorityError> {
    let bytes = std::fs::read(path).map_err(|error| AuthorityError::Read { path: path.to_owned(), error })?;
    let found = import::certificates(&bytes).ok().filter(|all| !all.is_empty());
    let found = found.ok_or_else(|| AuthorityError::Pem { path: path.to_owned() })?;
    let certificates: Vec<CertificateDer<'static>> = found.into_iter().map(CertificateDer::from).collect();
    let mut roots = RootCertStore::empty();
    for certificate in &certificates {
        roots
            .add(certificate.clone())
            .map_err(|error| AuthorityError::Unusable { path: path.to_owned(), reason: error.to_string() })?;
    }
    Ok((roots, certificates))
}

/// Returns the digest of the rules for clients, to which tickets are bound.
fn policy_digest(
    settings: &ClientSettings,
    authorities: &[CertificateDer<'_>],
    lists: &RevocationLists,
) -> [u8; 32] {
    let mut digest = Context::new(&SHA256);
    let mut add = |bytes: &[u8]| {
        // With its length each part has one meaning only.
        digest.update(&(bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    };
    add(&[u8::from(settings.required)]);
    add(&(settings.max_chain_certificates as u64).to_be_bytes());
    add(&(authorities.len() as u64).to_be_bytes());
    authorities.iter().for_each(|certificate| add(certificate));
    add(&[settings.expired_crls as u8]);
    add(&(lists.ders().count() as u64).to_be_bytes());
    lists.ders().for_each(|list| add(list));
    for pattern in &settings.allowed_names {
        add(&[pattern.kind as u8]);
        add(pattern.text.as_bytes());
    }
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest.finish().as_ref());
    bytes
}

/// Returns true if every certificate of a chain is within its validity. Both ends count as valid. RFC 5280 4.1.2.5.
pub(crate) fn are_valid_at(chain: &[CertificateDer<'_>], now: UnixTime) -> bool {
    let now_s = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let is_valid = |validity: CertificateValidity| validity.contains(now_s);
    chain.iter().all(|certificate| CertificateValidity::read(certificate).is_some_and(is_valid))
}

/// The names in a client's certificate.
#[derive(Debug, Default)]
pub(crate) struct ClientNames {
    dns: Vec<String>,
    uris: Vec<String>,
    pub(crate) common_name: Option<String>,
}

impl ClientNames {
    /// Reads the names. Returns None if the certificate cannot be read.
    pub(crate) fn read(certificate: &[u8]) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
        let mut names = Self::default();
        if let Some(alternatives) = certificate.subject_alternative_name().ok()? {
            for name in &alternatives.value.general_names {
                match name {
                    GeneralName::DNSName(name) => names.dns.push(HostName::new(name).into()),
                    GeneralName::URI(uri) => names.uris.push((*uri).to_owned()),
                    _ => {}
                }
            }
        }
        let name = certificate.subject().iter_common_name().next().and_then(|name| name.as_str().ok());
        names.common_name = name.map(str::to_owned);
        Some(names)
    }

    /// Returns the first name, as `[clients] allowed_names` writes it.
    pub(crate) fn first(&self) -> Option<String> {
        let dns = self.dns.first().map(|name| format!("DNS:{name}"));
        let uri = || self.uris.first().map(|uri| format!("URI:{uri}"));
        dns.or_else(uri).or_else(|| self.common_name.as_ref().map(|name| format!("CN:{name}")))
    }

    fn matches(&self, pattern: &NamePattern) -> bool {
        let wanted = &*pattern.text;
        match pattern.kind {
            NameKind::Dns => self.dns.iter().any(|name| match wanted.strip_prefix("*.") {
                Some(rest) => {
                    name.split_once('.').is_some_and(|(first, parent)| !first.is_empty() && parent == rest)
                }
                None => name == wanted,
            }),
            NameKind::Uri => self.uris.iter().any(|uri| match wanted.strip_suffix('*') {
                Some(start) => uri.starts_with(start),
                None => uri == wanted,
            }),
            NameKind::CommonName => self.common_name.as_deref() == Some(wanted),
        }
    }
}

impl FromStr for NamePattern {
    type Err = NamePatternError;

    fn from_str(text: &str) -> Result<Self, NamePatternError> {
        let wrong = || NamePatternError(text.to_owned());
        let (kind, name) = text.split_once(':').filter(|(_, name)| !name.is_empty()).ok_or_else(wrong)?;
        let (kind, text) = match kind {
            "DNS" => (NameKind::Dns, HostName::new(name).into()),
            "URI" => (NameKind::Uri, name.to_owned()),
            "CN" => (NameKind::CommonName, name.to_owned()),
            _ => return Err(wrong()),
        };
        Ok(Self { kind, text })
    }
}

impl TryFrom<String> for NamePattern {
    type Error = NamePatternError;

    fn try_from(text: String) -> Result<Self, NamePatternError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair, SanType};

    use super::*;

    fn allows(patterns: &[&str], certificate: &[u8]) -> bool {
        let names = ClientNames::read(certificate).unwrap();
        patterns.iter().any(|pattern| names.matches(&pattern.parse().unwrap()))
    }

    #[test]
    fn names_match_patterns_of_their_kind() {
        let mut params = CertificateParams::new(vec!["db.Example.com".to_owned()]).unwrap();
        params.subject_alt_names.push(SanType::URI("spiffe://example.com/web".try_into().unwrap()));
        params.distinguished_name.push(DnType::CommonName, "backup");
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let allows = |pattern: &str| allows(&[pattern], certificate.der());
        for pattern in [
            "DNS:db.example.com",
            "DNS:DB.example.com",
            "DNS:db.example.com.",
            "DNS:*.example.com",
            "URI:spiffe://example.com/web",
            "URI:spiffe://example.com/*",
            "CN:backup",
        ] {
            assert!(allows(pattern), "{pattern}");
        }
        for pattern in [
            "DNS:example.com",
            "DNS:*.com",
            "DNS:backup",
            "CN:db.example.com",
            "CN:back*",
            "URI:spiffe://example.com/",
            "URI:spiffe://example.org/*",
        ] {
            assert!(!allows(pattern), "{pattern}");
        }
    }

    #[test]
    fn patterns_without_a_kind_are_rejected() {
        for text in ["db.example.com", "dns:db", "DNS:", ":x", "", "EMAIL:x"] {
            assert_eq!(text.parse::<NamePattern>(), Err(NamePatternError(text.into())));
        }
    }
}
