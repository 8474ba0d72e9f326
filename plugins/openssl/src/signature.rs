//! Signature contexts: digest and padding between initialisation and result.

mod scheme;

use aws_lc_rs::digest::Context as Hasher;
use oarlock::{Curve, Job, JobError, Key, KeyKind, NonceRule};
use zeroize::Zeroizing;

use self::scheme::SignInput;
use crate::der;
use crate::digest::NamedDigest;
use crate::error::ProviderError;
use crate::ffi::libcrypto::params::{ParamReader, ParamWord, ParamWriter};
use crate::key::{KeyFamily, ProviderKey};
use crate::provider::LoadedProvider;

/// Names of parameters: `core_names.h`.
pub(crate) mod name {
    use std::ffi::CStr;
    pub(crate) const ALGORITHM_ID: &CStr = c"algorithm-id";
    pub(crate) const PAD_MODE: &CStr = c"pad-mode";
    pub(crate) const DIGEST: &CStr = c"digest";
    pub(crate) const SALT_LEN: &CStr = c"saltlen";
    pub(crate) const MGF1_DIGEST: &CStr = c"mgf1-digest";
    /// A variant of EdDSA. OpenSSL 3.2.
    pub(crate) const INSTANCE: &CStr = c"instance";
    pub(crate) const CONTEXT_STRING: &CStr = c"context-string";
    /// 1 asks for RFC 6979. OpenSSL 3.2.
    pub(crate) const NONCE_TYPE: &CStr = c"nonce-type";
}

/// A signature context.
#[derive(Clone)]
pub(crate) struct SignatureContext {
    provider: LoadedProvider,
    family: KeyFamily,
    key: Option<Key>,
    digest: Option<&'static NamedDigest>,
    hasher: Option<Hasher>,
    padding: SignaturePadding,
    mgf: Option<&'static NamedDigest>,
    salt: PssSalt,
    nonce: NonceRule,
}

/// RSA signature paddings, by OpenSSL's numbers 1 and 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignaturePadding {
    Pkcs1,
    Pss,
}

/// `RSA_PSS_SALTLEN_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PssSalt {
    Digest,
    Max,
    /// The maximum length to sign, any length to verify.
    Auto,
    /// The digest's length or the maximum length to sign, whichever is shorter; any length to verify.
    AutoDigestMax,
    Exactly(u16),
}

impl SignatureContext {
    pub(crate) fn new(provider: LoadedProvider, family: KeyFamily) -> Self {
        Self {
            provider,
            family,
            key: None,
            digest: None,
            hasher: None,
            padding: SignaturePadding::Pkcs1,
            mgf: None,
            // The default of OpenSSL since 3.1: FIPS 186-5 5.4 forbids longer salts.
            salt: PssSalt::AutoDigestMax,
            nonce: NonceRule::Hedged,
        }
    }

    pub(crate) fn provider(&self) -> &LoadedProvider {
        &self.provider
    }

    /// Begins to sign or verify a digest.
    pub(crate) fn init(
        &mut self,
        key: Option<&ProviderKey>,
        params: ParamReader<'_>,
    ) -> Result<(), ProviderError> {
        self.set_key(key)?;
        self.hasher = None;
        self.set(params)
    }

    /// Begins to sign or verify a message. Without a name the former digest stays.
    pub(crate) fn digest_init(
        &mut self,
        digest: Option<&str>,
        key: Option<&ProviderKey>,
        params: ParamReader<'_>,
    ) -> Result<(), ProviderError> {
        self.set_key(key)?;
        let named = digest.filter(|name| !name.is_empty());
        if self.family == KeyFamily::Ed25519 {
            // RFC 8032 5.1: Ed25519 signs the message itself.
            if let Some(name) = named {
                return Err(ProviderError::Unsupported { what: format!("Ed25519 with digest {name}") });
            }
            return self.set(params);
        }
        if let Some(name) = named {
            self.digest = Some(NamedDigest::named(name)?);
        }
        let digest = self.digest.ok_or(ProviderError::NotInitialised)?;
        self.set(params)?;
        self.hasher = Some(digest.hasher());
        Ok(())
    }

    /// Hashes the next part of the message.
    pub(crate) fn update(&mut self, data: &[u8]) -> Result<(), ProviderError> {
        self.hasher.as_mut().ok_or(ProviderError::NotInitialised)?.update(data);
        Ok(())
    }

    /// Returns the maximum length of a signature in bytes.
    pub(crate) fn max_len(&self) -> Result<usize, ProviderError> {
        Ok(match self.key()?.kind() {
            KeyKind::RsaPrivate(bits) | KeyKind::RsaPublic(bits) => usize::from(bits).div_ceil(8),
            // DER of two integers, each with a byte for the sign: RFC 3279 2.2.3.
            KeyKind::EcPrivate(Curve::P384) | KeyKind::EcPublic(Curve::P384) => 104,
            KeyKind::EcPrivate(_) | KeyKind::EcPublic(_) => 72,
            _ => 64,
        })
    }

    /// Signs a digest.
    pub(crate) fn sign(&self, digest: &[u8]) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        self.sign_input(SignInput::Hash(digest))
    }

    /// Signs a whole message.
    pub(crate) fn sign_message(&self, message: &[u8]) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        self.sign_input(SignInput::Message(message))
    }

    /// Signs the message that was hashed in parts.
    pub(crate) fn finish(&mut self) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let digest = self.hasher.take().ok_or(ProviderError::NotInitialised)?.finish();
        self.sign(digest.as_ref())
    }

    /// Verifies the signature of a digest.
    pub(crate) fn verify(&self, digest: &[u8], signature: &[u8]) -> Result<bool, ProviderError> {
        self.verify_input(SignInput::Hash(digest), signature)
    }

    /// Verifies the signature of a whole message.
    pub(crate) fn verify_message(&self, message: &[u8], signature: &[u8]) -> Result<bool, ProviderError> {
        self.verify_input(SignInput::Message(message), signature)
    }

    /// Verifies the signature of the message that was hashed in parts.
    pub(crate) fn finish_verify(&mut self, signature: &[u8]) -> Result<bool, ProviderError> {
        let digest = self.hasher.take().ok_or(ProviderError::NotInitialised)?.finish();
        self.verify(digest.as_ref(), signature)
    }

    /// Recovers the content of a PKCS#1 v1.5 signature: the hash, or everything behind the padding if no digest is set.
    /// RFC 8017 8.2.2.
    pub(crate) fn recover(&self, signature: &[u8]) -> Result<Vec<u8>, ProviderError> {
        if self.family != KeyFamily::Rsa || self.padding != SignaturePadding::Pkcs1 {
            return Err(ProviderError::Unsupported {
                what: "recovery from any but PKCS#1 v1.5 signatures".into(),
            });
        }
        // Everything here is public, so the checks may end early.
        let encoded = self.provider.rsa_public(self.key()?, signature)?;
        let behind = strip_padding(&encoded).ok_or(JobError::Rejected)?;
        let Some(digest) = self.digest else { return Ok(behind.to_vec()) };
        let hash = behind.get(behind.len().saturating_sub(digest.len())..).unwrap_or_default();
        if der::digest_info(digest, hash) != behind {
            return Err(JobError::Rejected.into());
        }
        Ok(hash.to_vec())
    }

    /// Sets parameters. Unknown parameters are ignored.
    pub(crate) fn set(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        if self.family == KeyFamily::Ed25519 {
            return check_plain_ed25519(params);
        }
        if let Some(name) = params.text(name::DIGEST).filter(|name| !name.is_empty()) {
            let digest = NamedDigest::named(name)?;
            // Part of the message may be hashed already.
            if self.hasher.is_some() && self.digest != Some(digest) {
                return Err(ProviderError::Parameter {
                    what: "digest",
                    expected: "that of initialisation".into(),
                });
            }
            self.digest = Some(digest);
        }
        if self.family == KeyFamily::Ec {
            if let Some(number) = params.number(name::NONCE_TYPE) {
                self.nonce = if number == 1 { NonceRule::Deterministic } else { NonceRule::Hedged };
            }
            return Ok(());
        }
        if let Some(word) = params.word(name::PAD_MODE) {
            self.padding = parse_padding(word)?;
        }
        if let Some(word) = params.word(name::SALT_LEN) {
            self.salt = parse_salt(word)?;
        }
        if let Some(name) = params.text(name::MGF1_DIGEST).filter(|name| !name.is_empty()) {
            self.mgf = Some(NamedDigest::named(name)?);
        }
        Ok(())
    }

    /// Writes the parameters that are asked for. False if a buffer is too small.
    pub(crate) fn get(&self, wanted: &mut ParamWriter<'_>) -> Result<bool, ProviderError> {
        let mut is_written = true;
        if let Some(id) = self.algorithm_id()? {
            is_written &= wanted.octets(name::ALGORITHM_ID, &id);
        }
        if let Some(digest) = self.digest {
            is_written &= wanted.text(name::DIGEST, digest.canonical);
        }
        if self.family == KeyFamily::Rsa {
            let (number, text) = match self.padding {
                SignaturePadding::Pkcs1 => (1, c"pkcs1"),
                SignaturePadding::Pss => (6, c"pss"),
            };
            is_written &= match wanted.wants_text(name::PAD_MODE) {
                Some(true) => wanted.text(name::PAD_MODE, text),
                _ => wanted.number(name::PAD_MODE, number),
            };
            let (number, text) = self.salt.as_openssl();
            is_written &= match wanted.wants_text(name::SALT_LEN) {
                Some(true) => text.is_some_and(|text| wanted.text(name::SALT_LEN, text)),
                _ => wanted.number(name::SALT_LEN, number),
            };
            if let Some(mgf) = self.mgf.or(self.digest) {
                is_written &= wanted.text(name::MGF1_DIGEST, mgf.canonical);
            }
        }
        Ok(is_written)
    }

    fn set_key(&mut self, key: Option<&ProviderKey>) -> Result<(), ProviderError> {
        // Without a key, the context is initialised again with its former key.
        if let Some(given) = key {
            if given.family != self.family {
                let (expected, found) = (self.family.name(), given.family.name());
                return Err(ProviderError::Reference(format!(
                    "expected a key for {expected}, found one for {found}"
                )));
            }
            self.key = Some(given.get().ok_or(ProviderError::NoKey)?);
        }
        self.key().map(|_| ())
    }

    fn key(&self) -> Result<&Key, ProviderError> {
        self.key.as_ref().ok_or(ProviderError::NoKey)
    }

    fn sign_input(&self, input: SignInput<'_>) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let key = self.key()?;
        let mut encoded = Vec::new();
        let (scheme, input) = self.signing_scheme(key, input, &mut encoded)?;
        self.provider.run(&Job::with_scheme(scheme, key, input, &[]))
    }

    fn verify_input(&self, input: SignInput<'_>, signature: &[u8]) -> Result<bool, ProviderError> {
        let key = self.key()?;
        let mut encoded = Vec::new();
        let (scheme, input) = self.signing_scheme(key, input, &mut encoded)?;
        let scheme = self.verifying_scheme(scheme);
        match self.provider.run(&Job::with_scheme(scheme, key, input, signature)) {
            Ok(_) => Ok(true),
            Err(ProviderError::Job(JobError::Rejected)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }
}

impl PssSalt {
    /// Returns the number of `RSA_PSS_SALTLEN_*`, and OpenSSL's name if there is one.
    fn as_openssl(self) -> (i64, Option<&'static std::ffi::CStr>) {
        match self {
            Self::Digest => (-1, Some(c"digest")),
            Self::Auto => (-2, Some(c"auto")),
            Self::Max => (-3, Some(c"max")),
            Self::AutoDigestMax => (-4, Some(c"auto-digestmax")),
            Self::Exactly(len) => (len.into(), None),
        }
    }
}

fn parse_padding(word: ParamWord<'_>) -> Result<SignaturePadding, ProviderError> {
    match word {
        ParamWord::Number(1) | ParamWord::Text("pkcs1") => Ok(SignaturePadding::Pkcs1),
        ParamWord::Number(6) | ParamWord::Text("pss") => Ok(SignaturePadding::Pss),
        other => Err(ProviderError::Unsupported { what: format!("RSA signature padding {other}") }),
    }
}

fn parse_salt(word: ParamWord<'_>) -> Result<PssSalt, ProviderError> {
    let len = |number: i64| u16::try_from(number).ok().map(PssSalt::Exactly);
    let salt = match word {
        ParamWord::Number(-1) | ParamWord::Text("digest") => Some(PssSalt::Digest),
        ParamWord::Number(-2) | ParamWord::Text("auto") => Some(PssSalt::Auto),
        ParamWord::Number(-3) | ParamWord::Text("max") => Some(PssSalt::Max),
        ParamWord::Number(-4) | ParamWord::Text("auto-digestmax") => Some(PssSalt::AutoDigestMax),
        ParamWord::Number(number) => len(number),
        ParamWord::Text(text) => text.parse().ok().and_then(len),
    };
    salt.ok_or_else(|| ProviderError::Parameter {
        what: "saltlen",
        expected: format!("0 to 65535, digest, max, auto or auto-digestmax, found {word}"),
    })
}

/// Rejects the variants of Ed25519. RFC 8032 section 5.
fn check_plain_ed25519(params: ParamReader<'_>) -> Result<(), ProviderError> {
    let instance = params.text(name::INSTANCE).filter(|name| !name.eq_ignore_ascii_case("Ed25519"));
    if let Some(name) = instance {
        return Err(ProviderError::Unsupported { what: name.to_owned() });
    }
    match params.octets(name::CONTEXT_STRING) {
        Some(context) if !context.is_empty() => {
            Err(ProviderError::Unsupported { what: "Ed25519 with a context".into() })
        }
        _ => Ok(()),
    }
}

/// Returns the content behind `00 01 FF .. FF 00`, with at least eight bytes of padding. RFC 8017 9.2.
fn strip_padding(encoded: &[u8]) -> Option<&[u8]> {
    let padding = encoded.strip_prefix(&[0, 1])?;
    let len = padding.iter().position(|byte| *byte != 0xFF).filter(|len| *len >= 8)?;
    padding[len..].strip_prefix(&[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_complete_paddings_only() {
        let padded = [&[0, 1][..], &[0xFF; 8], &[0, 7, 7]].concat();
        assert_eq!(strip_padding(&padded), Some(&[7, 7][..]));
        assert_eq!(strip_padding(&[&[0, 1][..], &[0xFF; 7], &[0, 7, 7]].concat()), None);
        assert_eq!(strip_padding(&[&[0, 2][..], &[0xFF; 8], &[0, 7]].concat()), None);
        assert_eq!(strip_padding(&[&[0, 1][..], &[0xFF; 8]].concat()), None);
        assert_eq!(strip_padding(&[]), None);
    }

    #[test]
    fn accepts_openssls_names_and_numbers_of_salts_and_paddings() {
        assert_eq!(
            parse_salt(ParamWord::Number(-1)).unwrap(),
            parse_salt(ParamWord::Text("digest")).unwrap()
        );
        assert_eq!(parse_salt(ParamWord::Text("17")).unwrap(), PssSalt::Exactly(17));
        assert!(parse_salt(ParamWord::Number(-5)).is_err() && parse_salt(ParamWord::Text("long")).is_err());
        assert_eq!(parse_padding(ParamWord::Number(6)).unwrap(), SignaturePadding::Pss);
        let said = parse_padding(ParamWord::Text("none")).unwrap_err().to_string();
        assert!(said.contains("RSA signature padding none is not offered"), "{said}");
    }
}
