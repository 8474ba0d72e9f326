//! Who signs, with what, and which header fields.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use oarlock::{Curve, KeyKind};
use oarlock::{JobError, Key};

use crate::algorithm::Algorithm;
use crate::canon::Canonicalization;
use crate::domain;
use crate::message::{MessageError, name_hash};
use crate::signature::SignedName;

/// Shortest RSA modulus that may sign, in bits. RFC 8301 3.2.
const MIN_RSA_BITS: u16 = 1024;
/// Longest that verifiers must be able to take.
const MAX_RSA_BITS: u16 = 4096;

/// Why nobody can sign so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignerError {
    /// Domain, selector or the domain of an identity are no domain names.
    #[error("`{0}` is no domain name")]
    Domain(String),
    /// The identity is not of the domain.
    #[error("the identity `{identity}` is not of {domain} or a domain below it")]
    Identity {
        /// What `i=` was to be.
        identity: String,
        /// The signing domain.
        domain: String,
    },
    /// A key of another type than the algorithm's, or one that cannot sign.
    #[error(
        "{} cannot sign with {algorithm}: expected an RSA private key of 1024 to 4096 bits, or an Ed25519 private key",
        key_words(*found)
    )]
    Key {
        /// What the key is.
        found: KeyKind,
        /// What it was to sign with.
        algorithm: Algorithm,
    },
    /// A key that no verifier would take.
    #[error(
        "a key of {found} bits must not sign: expected an RSA key of 1024 to 4096 bits, 2048 advised (RFC 8301)"
    )]
    KeyBits {
        /// Bits of the modulus.
        found: u16,
    },
    /// A name that no header field can have.
    #[error("`{0}` is no name of a header field")]
    Name(String),
    /// `From` is not among the names.
    #[error("From must be signed")]
    FromNotSigned,
}

/// Why a message was not signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// The message itself is malformed.
    #[error("the message is malformed: {0}")]
    Message(#[from] MessageError),
    /// It has no `From`, or more than one, which mail programs show differently. RFC 5322 3.6.
    #[error("the message has {0} From fields, and one is due")]
    From(usize),
    /// The key could not sign.
    #[error("{0}")]
    Job(#[from] JobError),
}

/// Which fields are signed, and whether more of them may be added later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Signed wherever they are there.
    pub signed: Vec<String>,
    /// Of `signed`, those that nobody can add another of without breaking the signature. RFC 6376 5.4.2, 8.15.
    pub oversigned: Vec<String>,
}

impl Default for Coverage {
    /// What RFC 6376 5.4.1 advises to sign. What mail programs show or act upon is oversigned.
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

impl Coverage {
    /// The names checked and prepared, once for any number of signers.
    ///
    /// # Errors
    /// A name that is none, or no `From`.
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
                names.push(Name { name: name.clone(), hash: name_hash(name.as_bytes()), is_oversigned });
            }
        }
        if !seen.contains("from") {
            return Err(SignerError::FromNotSigned);
        }
        Ok(SignedFields(names.into()))
    }
}

/// A [`Coverage`] whose names were checked.
#[derive(Clone, Debug)]
pub struct SignedFields(pub(crate) Arc<[Name]>);

impl Default for SignedFields {
    /// Those of [`Coverage::default`].
    fn default() -> Self {
        #[allow(clippy::expect_used)]
        // unreachable because these are names, and From is among them
        static USUAL: LazyLock<SignedFields> =
            LazyLock::new(|| Coverage::default().fields().expect("the usual names"));
        USUAL.clone()
    }
}

/// Signs for one domain under one selector. Made once, for any number of messages.
#[derive(Clone, Debug)]
pub struct Signer {
    pub(super) domain: String,
    pub(super) selector: String,
    pub(super) key: Key,
    pub(super) algorithm: Algorithm,
    pub(super) canonicalization: Canonicalization,
    pub(super) identity: Option<String>,
    pub(super) lifetime_s: Option<u64>,
    pub(super) has_timestamp: bool,
    pub(super) has_length: bool,
    pub(super) copies_fields: bool,
    pub(crate) fields: SignedFields,
}

/// A name that is signed, prepared to be found.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) name: String,
    pub(crate) hash: u32,
    pub(crate) is_oversigned: bool,
}

impl Name {
    pub(super) fn signed(&self) -> SignedName<'_> {
        SignedName { name: self.name.as_bytes(), hash: self.hash }
    }
}

impl Signer {
    /// A signer with the defaults: rsa-sha256 or ed25519-sha256 by the key, relaxed/relaxed, `t=` and no `x=`, and the
    /// fields of [`Coverage::default`].
    ///
    /// # Errors
    /// Names that are none, or a key that must not sign.
    pub fn new(domain: &str, selector: &str, key: Key) -> Result<Self, SignerError> {
        let name = |name: &str| {
            domain::ascii_form(name).map(String::from).ok_or_else(|| SignerError::Domain(name.into()))
        };
        let (domain, selector) = (name(domain)?, name(selector)?);
        let algorithm = Algorithm::of_key(&key).unwrap_or(Algorithm::RsaSha256);
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

    /// Tells whether a key can sign mail at all.
    ///
    /// # Errors
    /// A public key, one of a type that DKIM does not know, or an RSA key that verifiers do not take.
    pub fn check_key(key: &Key) -> Result<(), SignerError> {
        check_key(key, Algorithm::of_key(key).unwrap_or(Algorithm::RsaSha256))
    }

    /// Signs with another algorithm of the key's type: rsa-sha1, which only benchmarks should.
    ///
    /// # Errors
    /// The key is of another type.
    pub fn with_algorithm(self, algorithm: Algorithm) -> Result<Self, SignerError> {
        check_key(&self.key, algorithm)?;
        Ok(Self { algorithm, ..self })
    }

    /// `c=`
    #[must_use]
    pub fn with_canonicalization(self, canonicalization: Canonicalization) -> Self {
        Self { canonicalization, ..self }
    }

    /// `i=`: for whom the domain signs, `user@domain` or `@sub.domain`.
    ///
    /// # Errors
    /// It is not of the domain.
    pub fn with_identity(self, identity: &str) -> Result<Self, SignerError> {
        let wrong = || SignerError::Identity { identity: identity.into(), domain: self.domain.clone() };
        let (local, host) = identity.rsplit_once('@').ok_or_else(wrong)?;
        let is_plain = local.chars().all(|char| !char.is_whitespace() && !char.is_control() && char != ';');
        let host = domain::ascii_form(host).ok_or_else(wrong)?;
        if !is_plain || !domain::is_same_or_below(&host, &self.domain) {
            return Err(wrong());
        }
        Ok(Self { identity: Some(identity.into()), ..self })
    }

    /// `x=`: for how many seconds signatures hold, against replays.
    #[must_use]
    pub fn with_lifetime_s(self, lifetime_s: Option<u64>) -> Self {
        Self { lifetime_s: lifetime_s.filter(|seconds| *seconds > 0), ..self }
    }

    /// Leaves out `t=`.
    #[must_use]
    pub fn without_timestamp(self) -> Self {
        Self { has_timestamp: false, ..self }
    }

    /// `l=` with the length of the body, which lets anybody add to it: some mailing lists want that. RFC 6376 8.2.
    #[must_use]
    pub fn with_body_length(self) -> Self {
        Self { has_length: true, ..self }
    }

    /// `z=` with a copy of the signed fields, by which changes can be found.
    #[must_use]
    pub fn with_copied_fields(self) -> Self {
        Self { copies_fields: true, ..self }
    }

    /// Other fields than the default ones.
    ///
    /// # Errors
    /// As [`Coverage::fields`].
    pub fn covering(self, coverage: &Coverage) -> Result<Self, SignerError> {
        Ok(self.with_fields(coverage.fields()?))
    }

    /// The same with names that were checked before.
    #[must_use]
    pub fn with_fields(self, fields: SignedFields) -> Self {
        Self { fields, ..self }
    }

    /// The signing domain, as it is looked up.
    #[must_use]
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// The selector, as it is looked up.
    #[must_use]
    pub fn selector(&self) -> &str {
        &self.selector
    }

    /// The algorithm.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }
}

/// A kind of key for people.
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
        _ => "a key of an unknown kind".to_owned(),
    }
}

fn curve_name(curve: Curve) -> &'static str {
    match curve {
        Curve::P256 => "P-256",
        Curve::P384 => "P-384",
        _ => "another curve",
    }
}

fn check_key(key: &Key, algorithm: Algorithm) -> Result<(), SignerError> {
    match (key.kind(), algorithm.key_type()) {
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
    fn who_cannot_sign_is_told_why() {
        let ed = generate::ed25519().unwrap();
        let error = |domain, selector| Signer::new(domain, selector, ed.clone()).unwrap_err();
        assert_eq!(error("exa mple.com", "s"), SignerError::Domain("exa mple.com".into()));
        assert_eq!(error("example.com", ""), SignerError::Domain(String::new()));
        let signer = Signer::new("Example.com", "s1", ed.clone()).unwrap();
        assert_eq!((signer.domain(), signer.algorithm()), ("example.com", Algorithm::Ed25519Sha256));
        assert!(matches!(signer.clone().with_algorithm(Algorithm::RsaSha1), Err(SignerError::Key { .. })));
        for identity in ["a@badexample.com", "example.com", "a b@example.com", "a;b@example.com"] {
            assert!(
                matches!(signer.clone().with_identity(identity), Err(SignerError::Identity { .. })),
                "{identity}"
            );
        }
        assert!(signer.clone().with_identity("@sub.Example.com").is_ok());
        let names = |signed: &[&str]| Coverage {
            signed: signed.iter().map(|name| (*name).into()).collect(),
            oversigned: vec![],
        };
        assert_eq!(signer.clone().covering(&names(&["To"])).unwrap_err(), SignerError::FromNotSigned);
        assert_eq!(signer.covering(&names(&["From", "a:b"])).unwrap_err(), SignerError::Name("a:b".into()));
        let short = generate::rsa(512);
        if let Ok(short) = short {
            assert_eq!(
                Signer::new("a.example", "s", short).unwrap_err(),
                SignerError::KeyBits { found: 512 }
            );
        }
        let curve = generate::ec(oarlock::Curve::P256).unwrap();
        assert!(matches!(Signer::new("a.example", "s", curve), Err(SignerError::Key { .. })));
    }
}
