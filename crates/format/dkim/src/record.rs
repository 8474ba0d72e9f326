//! Key records in DNS. RFC 6376 3.6.1, RFC 8301, RFC 8463 4.

use std::fmt::Write as _;

use oarlock::Key;
use oarlock::keys::{self, KeyError, export};

use crate::algorithm::SignatureAlgorithm;
use crate::base64;
use crate::tags::{TagError, TagList, printable, trimmed};

/// The reason why a record holds no key for a signature. RFC 6376 6.1.2.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyRecordError {
    /// The record is not a tag list.
    #[error("the key record is malformed: {0}")]
    Tags(#[from] TagError),
    /// The version is not DKIM1, or `v=` is not the first tag.
    #[error("the key record is not of version DKIM1")]
    Version,
    /// The record has no `p=`.
    #[error("the key record has no `p=`")]
    NoKey,
    /// `p=` is empty: the key was revoked.
    #[error("the key has been revoked")]
    Revoked,
    /// The key type is unknown.
    #[error("key type `{0}` is not known")]
    KeyType(String),
    /// `p=` is not base64.
    #[error("the value of `p=` is not base64")]
    Base64,
    /// `p=` is not exactly one public key, for this reason.
    #[error("the value of `p=` is not a public key: {0}")]
    Key(String),
    /// The type in `k=` is not the type of the key.
    #[error("the key is not of type {0}")]
    OtherType(&'static str),
    /// `s=` names neither mail nor all services.
    #[error("the key is not for mail, but for `{0}`")]
    Service(String),
    /// The record holds no key and has `t=y`: the domain only tests. Its mail counts as unsigned.
    #[error("{0} (t=y: the domain only tests)")]
    Testing(Box<Self>),
}

impl KeyRecordError {
    /// Returns true if the record says that its domain only tests.
    #[must_use]
    pub fn is_testing(&self) -> bool {
        matches!(self, Self::Testing(_))
    }
}

/// A public key and the rules of its record.
#[derive(Clone, Debug)]
pub struct KeyRecord {
    /// The public key.
    pub key: Key,
    /// True for `t=y`: the domain only tests. Its mail counts as unsigned.
    pub is_testing: bool,
    /// True for `t=s`: an identity must be of the domain itself, not of a subdomain.
    pub is_strict: bool,
    /// `h=`: the allowed hashes. None allows all.
    pub hashes: Option<Vec<String>>,
    /// `n=`: notes for people.
    pub notes: Option<String>,
}

impl KeyRecord {
    /// Parses one record. The strings that DNS sends for it must be joined without anything between them.
    ///
    /// # Errors
    /// The first rule that the record breaks.
    pub fn parse(record: &[u8]) -> Result<Self, KeyRecordError> {
        let tags = TagList::parse(record)?;
        Self::from_tags(&tags).map_err(|error| match has_flag(&tags, b"y") {
            true => KeyRecordError::Testing(Box::new(error)),
            false => error,
        })
    }

    fn from_tags(tags: &TagList<'_>) -> Result<Self, KeyRecordError> {
        if tags.get("v").is_some_and(|version| version != b"DKIM1" || !tags.begins_with("v")) {
            return Err(KeyRecordError::Version);
        }
        let public = tags.get("p").ok_or(KeyRecordError::NoKey)?;
        if let Some(mut services) = split_value(tags, "s")
            && !services.any(|service| matches!(service, b"*" | b"email"))
        {
            return Err(KeyRecordError::Service(printable(tags.get("s").unwrap_or_default())));
        }
        // RFC 6376 3.6.1: an empty value means that the key has been revoked.
        if public.is_empty() {
            return Err(KeyRecordError::Revoked);
        }
        let key = parse_key(tags.get("k").unwrap_or(b"rsa"), public)?;
        Ok(Self {
            key,
            is_testing: has_flag(tags, b"y"),
            is_strict: has_flag(tags, b"s"),
            hashes: split_value(tags, "h")
                .map(|hashes| hashes.map(|hash| String::from_utf8_lossy(hash).into()).collect()),
            notes: tags.get("n").map(|notes| String::from_utf8_lossy(notes).into()),
        })
    }

    /// Returns the bits of an RSA modulus, or 256 for Ed25519.
    #[must_use]
    pub fn key_bits(&self) -> u32 {
        let of_modulus = |n: &[u8]| {
            let leading = n.iter().take_while(|byte| **byte == 0).count();
            let first = n.get(leading).map_or(0, |byte| byte.leading_zeros());
            8 * (n.len() - leading) as u32 - first
        };
        self.key.rsa_public().map_or(256, |public| of_modulus(&public.n))
    }

    /// Returns true if the record allows `algorithm` and its key is of that type.
    #[must_use]
    pub fn serves(&self, algorithm: SignatureAlgorithm) -> bool {
        let is_type = SignatureAlgorithm::for_key(&self.key)
            .is_some_and(|key_algorithm| key_algorithm.key_type() == algorithm.key_type());
        is_type && self.allows_hash(algorithm)
    }

    pub(crate) fn allows_hash(&self, algorithm: SignatureAlgorithm) -> bool {
        self.hashes.as_ref().is_none_or(|hashes| hashes.iter().any(|hash| hash == algorithm.hash()))
    }
}

/// Splits a value at its colons.
fn split_value<'a>(tags: &TagList<'a>, name: &str) -> Option<impl Iterator<Item = &'a [u8]>> {
    tags.get(name).map(|value| value.split(|byte| *byte == b':').map(trimmed))
}

fn has_flag(tags: &TagList<'_>, flag: &[u8]) -> bool {
    split_value(tags, "t").is_some_and(|mut flags| flags.any(|present| present == flag))
}

/// Parses the value of `p=`: an RSA key in DER, or the 32 bytes of an Ed25519 key.
fn parse_key(key_type: &[u8], public: &[u8]) -> Result<Key, KeyRecordError> {
    let reason = |error: KeyError| KeyRecordError::Key(error.to_string());
    let bytes = || base64::decode(public).ok_or(KeyRecordError::Base64);
    match key_type {
        b"rsa" => {
            // The grammar of RFC 6376 3.6.1 says RSAPublicKey, but signers publish SubjectPublicKeyInfo. So that is
            // tried first, and its error is reported.
            let der = bytes()?;
            let key = keys::import::spki_der(&der)
                .or_else(|error| keys::import::pkcs1_public_der(&der).map_err(|_| error));
            let key = key.map_err(reason)?;
            if key.rsa_public().is_some() { Ok(key) } else { Err(KeyRecordError::OtherType("rsa")) }
        }
        b"ed25519" => keys::raw::ed25519_public(&bytes()?).map_err(reason),
        other => Err(KeyRecordError::KeyType(printable(other))),
    }
}

/// The optional tags of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordOptions {
    /// True writes `t=y`.
    pub is_testing: bool,
    /// True writes `t=s`.
    pub is_strict: bool,
    /// `n=`. Semicolons are left out.
    pub notes: Option<String>,
}

/// Returns the record of the public half of a key, in one piece.
///
/// # Errors
/// The key is neither RSA nor Ed25519.
pub fn record_text(key: &Key, options: &RecordOptions) -> Result<String, KeyError> {
    let (name, public) = match (key.ed25519_public(), key.rsa_public()) {
        (Some(public), _) => ("ed25519", public.to_vec()),
        (None, Some(_)) => ("rsa", export::spki_der(key)?),
        (None, None) => {
            return Err(KeyError::Structure {
                expected: "an RSA or Ed25519 key",
                found: "a key of another type",
            });
        }
    };
    let mut text = format!("v=DKIM1; k={name}; ");
    let flags = [(options.is_testing, "y"), (options.is_strict, "s")];
    let flags: Vec<&str> = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| *flag).collect();
    if !flags.is_empty() {
        // Writing to a String cannot fail.
        let _ = write!(text, "t={}; ", flags.join(":"));
    }
    if let Some(notes) = &options.notes {
        let notes: String = notes.chars().filter(|char| *char != ';' && !char.is_control()).collect();
        let _ = write!(text, "n={}; ", notes.trim());
    }
    Ok(text + "p=" + &base64::encode(&public))
}

/// Splits a record into strings of at most 255 bytes. RFC 1035 3.3.14.
pub fn record_strings(record: &str) -> impl Iterator<Item = &str> {
    let mut rest = record;
    std::iter::from_fn(move || {
        let mut len = rest.len().min(255);
        while !rest.is_char_boundary(len) {
            len -= 1;
        }
        let (string, others) = rest.split_at(len);
        rest = others;
        (!string.is_empty()).then_some(string)
    })
}

/// Returns a line for a zone file, with the record split into strings of at most 255 bytes. RFC 1035 3.3.14.
#[must_use]
pub fn zone_line(selector: &str, domain: &str, record: &str) -> String {
    let mut line = format!("{selector}._domainkey.{domain}. IN TXT (");
    for string in record_strings(record) {
        let quoted = string.replace('\\', "\\\\").replace('"', "\\\"");
        // Writing to a String cannot fail.
        let _ = write!(line, "\n    \"{quoted}\"");
    }
    line + " )"
}

#[cfg(test)]
mod tests {
    use super::*;

    const ED: &str = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

    fn error(text: &str) -> KeyRecordError {
        KeyRecord::parse(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn parses_the_rules_of_a_record() {
        let text = format!("v=DKIM1; k=ed25519; t=y : s; h=sha256:sha1; s=email:x; n=for you; p={ED}");
        let record = KeyRecord::parse(text.as_bytes()).unwrap();
        assert!(record.is_testing && record.is_strict && record.serves(SignatureAlgorithm::Ed25519Sha256));
        assert!(!record.serves(SignatureAlgorithm::RsaSha256));
        assert_eq!(record.notes.as_deref(), Some("for you"));
        let sha1 = KeyRecord::parse(format!("k=ed25519; h=sha1; p={ED}").as_bytes()).unwrap();
        assert!(!sha1.serves(SignatureAlgorithm::Ed25519Sha256));
    }

    #[test]
    fn reports_the_fault_of_a_record_without_a_key() {
        assert_eq!(error("v=DKIM1; p="), KeyRecordError::Revoked);
        assert_eq!(error("v=DKIM2; p=x"), KeyRecordError::Version);
        assert_eq!(error("p=x; v=DKIM1"), KeyRecordError::Version);
        assert_eq!(error("v=DKIM1"), KeyRecordError::NoKey);
        assert_eq!(error("v=spf1 -all"), KeyRecordError::Version);
        assert_eq!(error("v=DKIM1; k=dsa; p=x"), KeyRecordError::KeyType("dsa".into()));
        assert_eq!(error("v=DKIM1; s=tlsrpt; p=x"), KeyRecordError::Service("tlsrpt".into()));
        assert_eq!(error("v=DKIM1; p=*"), KeyRecordError::Base64);
        assert!(matches!(error(&format!("v=DKIM1; p={ED}")), KeyRecordError::Key(_)));
        assert!(matches!(error("v=DKIM1; k=ed25519; p=AAAA"), KeyRecordError::Key(_)));
    }

    #[test]
    fn reads_back_the_record_of_a_key() {
        for key in [keys::generate::ed25519().unwrap(), keys::generate::rsa(2048).unwrap()] {
            let options = RecordOptions { is_testing: true, is_strict: true, notes: Some("a;b".into()) };
            let text = record_text(&key, &options).unwrap();
            let record = KeyRecord::parse(text.as_bytes()).unwrap();
            assert_eq!(record.key.fingerprint(), key.fingerprint());
            assert!(record.is_testing && record.is_strict && record.notes.as_deref() == Some("ab"));
            let line = zone_line("s1", "example.com", &text);
            assert!(line.starts_with("s1._domainkey.example.com. IN TXT (\n    \"v=DKIM1; k="));
            assert!(line.lines().skip(1).all(|string| string.trim().len() <= 259));
            let joined: String = line.split('"').skip(1).step_by(2).collect();
            assert_eq!(joined, text);
        }
    }

    #[test]
    fn rejects_two_keys_in_one_record_and_ignores_spaces() {
        let key = keys::generate::rsa(1024).unwrap();
        let public = base64::encode(&export::spki_der(&key).unwrap());
        let spaced = public.as_bytes().chunks(7).map(|chunk| String::from_utf8_lossy(chunk).into_owned());
        let spaced = spaced.collect::<Vec<String>>().join(" ");
        assert!(KeyRecord::parse(format!("p={spaced}").as_bytes()).is_ok());
        let double = [export::spki_der(&key).unwrap(), export::spki_der(&key).unwrap()].concat();
        assert!(matches!(error(&format!("p={}", base64::encode(&double))), KeyRecordError::Key(_)));
        let joined = error(&format!("p={public}{public}"));
        assert!(matches!(joined, KeyRecordError::Base64 | KeyRecordError::Key(_)), "{joined}");
    }
}
