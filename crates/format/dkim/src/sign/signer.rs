//! Signers: the domain, the key and the header fields of signatures.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use oarlock::{Curve, KeyKind};
use oarlock::{JobError, Key};

use crate::algorithm::SignatureAlgorithm;
use crate::canon::Canonicalization;
use crate::domain;
use crate::message::{MailParseError, name_hash};
use crate::signature::SignedName;

/// The minimum RSA modulus for signing, in bits. RFC 8301 3.2.
const MIN_RSA_BITS: u16 = 1024;
/// The maximum RSA modulus that every verifier must support. RFC 8301 3.2.
const MAX_RSA_BITS: u16 = 4096;

/// An error of making a signer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignerError {
    /// The domain, the selector or the domain of an identity is not a domain name.
    #[error("`{0}` is not a domain name")]
    Domain(String),
    /// The identity is outside the domain.
    #[error("the identity `{identity}` is not of {domain} or a domain below it")]
    Identity {
        /// The requested value of `i=`.
        identity: String,
        /// The signing domain.
        domain: String,
    },
    /// The key has the wrong type for the algorithm or cannot sign.
    #[error(
        "{} cannot sign with {algorithm}: expected an RSA private key of 1024 to 4096 bits, or an Ed25519 private key",
        key_words(*found)
    )]
    Key {
        /// The kind of the key.
        found: KeyKind,
        /// The algorithm to sign with.
        algorithm: SignatureAlgorithm,
    },
    /// Verifiers would reject a key of this length.
    #[error(
        "a key of {found} bits must not sign: expected an RSA key of 1024 to 4096 bits, 2048 advised (RFC 8301)"
    )]
    KeyBits {
        /// The bits of the modulus.
        found: u16,
    },
    /// The name is not a valid header field name.
    #[error("`{0}` is not a header field name")]
    Name(String),
    /// `From` is not among the names.
    #[error("From must be signed")]
    FromNotSigned,
}

/// The reason why a message was not signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MailSignError {
    /// The message itself is malformed.
    #[error("the message is malformed: {0}")]
    Message(#[from] MailParseError),
    /// The message does not have exactly one `From`. Mail programs differ in which one they show. RFC 5322 3.6.
    #[error("the message has {0} From fields: expected exactly one")]
    From(usize),
    /// The key could not sign.
    #[error("{0}")]
    Job(#[from] JobError),
}

/// The fields to sign, and the fields that nobody may add later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderCoverage {
    /// The fields to sign if they are present.
    pub signed: Vec<String>,
    /// The fields of `signed` that nobody can add again without breaking the signature. RFC 6376 5.4.2, 8.15.
    pub oversigned: Vec<String>,
}

impl Default for HeaderCoverage {
    /// Signs the fields that RFC 6376 5.4.1 recommends. Oversigns the fields that mail programs show or interpret.
    fn default() -> Self {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            signed: list(&[
                "From",
                "To",
                "Cc",
                "Subject",
                "Date",
                "Reply-To",
                "Message-ID",
                "In-Reply-To",
                "References",
                "MIME-Version",
                "Content-Type",
                "Content-Transfer-Encoding",
                "Resent-From",
                "Resent-To",
                "Resent-Cc",
                "Resent-Date",
                "Resent-Message-ID",
                "List-Id",
                "List-Help",
                "List-Unsubscribe",
                "List-Unsubscribe-Post",
                "List-Subscribe",
                "List-Post",
                "List-Owner",
                "List-Archive",
            ]),
            oversigned: list(&[
                "From",
                "To",
                "Cc",
                "Subject",
                "Date",
                "Reply-To",
                "Message-ID",
                "MIME-Version",
                "Content-Type",
                "Content-Transfer-Encoding",
            ]),
        }
    }
}

impl HeaderCoverage {
    /// Checks the names and prepares them for any number of signers.
    ///
    /// # Errors
    /// A name is not valid, or `From` is missing.
    pub fn fields(&self) -> Result<SignedFields, SignerError> {
        let over: HashSet<String> = self.oversigned.iter().map(|name| name.to_ascii_lowercase()).collect();
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        for name in self.signed.iter().chain(&self.oversigned) {
            let is_name = !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b':' | b';'));
            if !is_name {
                return Err(SignerError::Name(name.clone()));
            }
            let lower = name.to_ascii_lowercase();
            let is_oversigned = over.contains(&lower);
            if seen.insert(lower) {
                names.push(FieldName { name: name.clone(), hash: name_hash(name.as_bytes()), is_oversigned });
            }
        }
        if !seen.contains("from") {
            return Err(SignerError::FromNotSigned);
        }
        Ok(SignedFields(names.into()))
    }
}

/// The checked names of a [`HeaderCoverage`].
#[derive(Clone, Debug)]
pub struct SignedFields(pub(crate) Arc<[FieldName]>);

impl Default for SignedFields {
    /// Returns the names of [`HeaderCoverage::default`].
    fn default() -> Self {
        #[allow(clippy::expect_used)]
        // unreachable because all default names are valid and include From
        static USUAL: LazyLock<SignedFields> = LazyLock::new(|| {
            HeaderCoverage::default().fields().expect("the default names are valid and include From")
        });
        USUAL.clone()
    }
}

/// A signer for one domain and one selector. One signer serves any number of messages.
#[derive(Clone, Debug)]
pub struct DkimSigner {
    pub(super) domain: String,
    pub(super) selector: String,
    pub(super) key: Key,
    pub(super) algorithm: SignatureAlgorithm,
    pub(super) canonicalization: Canonicalization,
    pub(super) identity: Option<String>,
    pub(super) lifetime_s: Option<u64>,
    pub(super) has_timestamp: bool,
    pub(super) has_length: bool,
    pub(super) copies_fields: bool,
    pub(crate) fields: SignedFields,
}

/// A field name that is signed, with its hash.
#[derive(Clone, Debug)]
pub(crate) struct FieldName {
    pub(crate) name: String,
    pub(crate) hash: u32,
    pub(crate) is_oversigned: bool,
}

impl FieldName {
    pub(super) fn signed(&self) -> SignedName<'_> {
        SignedName { name: self.name.as_bytes(), hash: self.hash }
    }
}

impl DkimSigner {
    /// Makes a signer with the defaults: rsa-sha256 or ed25519-sha256 by the key, relaxed/relaxed, `t=` without `x=`,
    /// and the fields of [`HeaderCoverage::default`].
    ///
    /// # Errors
    /// A name is not valid, or the key must not sign.
    pub fn new(domain: &str, selector: &str, key: Key) -> Result<Self, SignerError> {
        let name = |name: &str| {
            domain::ascii_form(name).map(String::from).ok_or_else(|| SignerError::Domain(name.into()))
        };
        let (domain, selector) = (name(domain)?, name(selector)?);
        let algorithm = SignatureAlgorithm::for_key(&key).unwrap_or(SignatureAlgorithm::RsaSha256);
        check_key(&key, algorithm)?;
        Ok(Self {
            domain,
            selector,
            key,
            algorithm,
            canonicalization: Canonicalization::default(),
            identity: None,
            lifetime_s: None,
            has_timestamp: true,
            has_length: false,
            copies_fields: false,
            fields: SignedFields::default(),
        })
    }

    /// Checks that a key can sign mail.
    ///
    /// # Errors
    /// The key is public, its type is not part of DKIM, or verifiers would reject its length.
    pub fn check_key(key: &Key) -> Result<(), SignerError> {
        check_key(key, SignatureAlgorithm::for_key(key).unwrap_or(SignatureAlgorithm::RsaSha256))
    }

    /// Signs with another algorithm of the key's type. The only one is rsa-sha1, which is for benchmarks.
    ///
    /// # Errors
    /// The key is of another type.
    pub fn with_algorithm(self, algorithm: SignatureAlgorithm) -> Result<Self, SignerError> {
        check_key(&self.key, algorithm)?;
        Ok(Self { algorithm, ..self })
    }

    /// Sets `c=`.
    #[must_use]
    pub fn with_canonicalization(self, canonicalization: Canonicalization) -> Self {
        Self { canonicalization, ..self }
    }

    /// Sets `i=`, the identity that the domain signs for: `user@domain` or `@sub.domain`.
    ///
    /// # Errors
    /// The identity is outside the domain.
    pub fn with_identity(self, identity: &str) -> Result<Self, SignerError> {
        let wrong = || SignerError::Identity { identity: identity.into(), domain: self.domain.clone() };
        let (local, host) = identity.rsplit_once('@').ok_or_else(wrong)?;
        // A semicolon would end the tag, and the writer encodes only `=`.
        let is_plain = local.chars().all(|char| !char.is_whitespace() && !char.is_control() && char != ';');
        let host = domain::ascii_form(host).ok_or_else(wrong)?;
        if !is_plain || !domain::is_same_or_below(&host, &self.domain) {
            return Err(wrong());
        }
        Ok(Self { identity: Some(identity.into()), ..self })
    }

    /// Sets `x=`: signatures expire after `lifetime_s` seconds, which limits replays.
    #[must_use]
    pub fn with_lifetime_s(self, lifetime_s: Option<u64>) -> Self {
        Self { lifetime_s: lifetime_s.filter(|seconds| *seconds > 0), ..self }
    }

    /// Leaves out `t=`.
    #[must_use]
    pub fn without_timestamp(self) -> Self {
        Self { has_timestamp: false, ..self }
    }

    /// Writes `l=` with the length of the body. Anyone can then append to the body, as some mailing lists do. RFC 6376
    /// 8.2.
    #[must_use]
    pub fn with_body_length(self) -> Self {
        Self { has_length: true, ..self }
    }

    /// Writes `z=` with a copy of the signed fields, which helps to find changes.
    #[must_use]
    pub fn with_copied_fields(self) -> Self {
        Self { copies_fields: true, ..self }
    }

    /// Signs other fields than the default ones.
    ///
    /// # Errors
    /// The same as for [`HeaderCoverage::fields`].
    pub fn covering(self, coverage: &HeaderCoverage) -> Result<Self, SignerError> {
        Ok(self.with_fields(coverage.fields()?))
    }

    /// Signs other fields, whose names were checked before.
    #[must_use]
    pub fn with_fields(self, fields: SignedFields) -> Self {
        Self { fields, ..self }
    }

    /// Returns the signing domain in ASCII form.
    #[must_use]
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// Returns the selector in ASCII form.
    #[must_use]
    pub fn selector(&self) -> &str {
        &self.selector
    }

    /// Returns the algorithm.
    #[must_use]
    pub fn algorithm(&self) -> SignatureAlgorithm {
        self.algorithm
    }

    /// Returns the key.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }
}

/// Describes a kind of key for people.
fn key_words(kind: KeyKind) -> String {
    match kind {
        KeyKind::RsaPrivate(bits) => format!("an RSA private key of {bits} bits"),
        KeyKind::RsaPublic(bits) => format!("an RSA public key of {bits} bits"),
        KeyKind::ModExp { bits, .. } => format!("an RSA private key of {bits} bits without its primes"),
        KeyKind::EcPrivate(curve) => format!("an ECDSA private key over {}", curve_name(curve)),
        KeyKind::EcPublic(curve) => format!("an ECDSA public key over {}", curve_name(curve)),
        KeyKind::Ed25519Private => "an Ed25519 private key".to_owned(),
        KeyKind::Ed25519Public => "an Ed25519 public key".to_owned(),
        KeyKind::X25519Private => "an X25519 private key".to_owned(),
        KeyKind::X25519Public => "an X25519 public key".to_owned(),
        KeyKind::Secret(bytes) => format!("a symmetric key of {bytes} bytes"),
        _ => "a key of another kind".to_owned(),
    }
}

fn curve_name(curve: Curve) -> &'static str {
    match curve {
        Curve::P256 => "P-256",
        Curve::P384 => "P-384",
        _ => "another curve",
    }
}

fn check_key(key: &Key, algorithm: SignatureAlgorithm) -> Result<(), SignerError> {
    match (key.kind(), algorithm.key_type()) {
        // RFC 8301 3.2: verifiers must not accept shorter keys, and need not support longer ones.
        (KeyKind::RsaPrivate(bits), "rsa") if !(MIN_RSA_BITS..=MAX_RSA_BITS).contains(&bits) => {
            Err(SignerError::KeyBits { found: bits })
        }
        (KeyKind::RsaPrivate(_), "rsa") | (KeyKind::Ed25519Private, "ed25519") => Ok(()),
        (found, _) => Err(SignerError::Key { found, algorithm }),
    }
}

#[cfg(test)]
mod tests {
    use oarlock::keys::generate;

    use super::*;

    #[test]
    fn reports_the_fault_of_a_signer() {
        let ed = generate::ed25519().unwrap();
        let error = |domain, selector| DkimSigner::new(domain, selector, ed.clone()).unwrap_err();
        assert_eq!(error("exa mple.com", "s"), SignerError::Domain("exa mple.com".into()));
        assert_eq!(error("example.com", ""), SignerError::Domain(String::new()));
        let signer = DkimSigner::new("Example.com", "s1", ed.clone()).unwrap();
        assert_eq!((signer.domain(), signer.algorithm()), ("example.com", SignatureAlgorithm::Ed25519Sha256));
        assert!(matches!(
            signer.clone().with_algorithm(SignatureAlgorithm::RsaSha1),
            Err(SignerError::Key { .. })
        ));
        for identity in ["a@badexample.com", "example.com", "a b@example.com", "a;b@example.com"] {
            assert!(
                matches!(signer.clone().with_identity(identity), Err(SignerError::Identity { .. })),
                "{identity}"
            );
        }
        assert!(signer.clone().with_identity("@sub.Example.com").is_ok());
        let names = |signed: &[&str]| HeaderCoverage {
            signed: signed.iter().map(|name| (*name).into()).collect(),
            oversigned: vec![],
        };
        assert_eq!(signer.clone().covering(&names(&["To"])).unwrap_err(), SignerError::FromNotSigned);
        assert_eq!(signer.covering(&names(&["From", "a:b"])).unwrap_err(), SignerError::Name("a:b".into()));
        let short = generate::rsa(512);
        if let Ok(short) = short {
            assert_eq!(
                DkimSigner::new("a.example", "s", short).unwrap_err(),
                SignerError::KeyBits { found: 512 }
            );
        }
        let curve = generate::ec(oarlock::Curve::P256).unwrap();
        assert!(matches!(DkimSigner::new("a.example", "s", curve), Err(SignerError::Key { .. })));
    }
}
