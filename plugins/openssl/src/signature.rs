//! Signature contexts: digest and padding between initialisation and result.

mod message;
mod scheme;

use std::ffi::{CString, c_int};
use std::sync::Arc;

use aws_lc_rs::digest::Context as Hasher;
use oarlock::{Curve, Job, JobError, Key, KeyKind, MlDsaSet, NonceRule};
use zeroize::Zeroizing;

use self::message::MessageSettings;
use self::scheme::SignInput;
use crate::der;
use crate::digest::NamedDigest;
use crate::error::ProviderError;
use crate::ffi::libcrypto::abi::signature;
use crate::ffi::libcrypto::fallback::{FallbackContext, FallbackKey, SIGNATURE};
use crate::ffi::libcrypto::params::{ParamList, ParamReader, ParamWord, ParamWriter};
use crate::handover::OwnContext;
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
    pub(crate) const DETERMINISTIC: &CStr = c"deterministic";
    pub(crate) const MU: &CStr = c"mu";
    pub(crate) const MESSAGE_ENCODING: &CStr = c"message-encoding";
    pub(crate) const TEST_ENTROPY: &CStr = c"test-entropy";
    /// The signature that the verification of a message in parts compares with. OpenSSL 3.4.
    pub(crate) const SIGNATURE: &CStr = c"signature";
    /// 1 asks for RFC 6979. OpenSSL 3.2.
    pub(crate) const NONCE_TYPE: &CStr = c"nonce-type";
}

/// A signature context.
#[derive(Clone)]
pub(crate) struct SignatureContext {
    provider: LoadedProvider,
    family: KeyFamily,
    /// The property query for the digests of the fallback.
    properties: Option<CString>,
    /// The number of the function that began the operation.
    operation: c_int,
    key: Option<Key>,
    hasher: Option<Hasher>,
    /// The parts of a message of ML-DSA or SLH-DSA so far, whose scheme hashes it.
    message: Option<Zeroizing<Vec<u8>>>,
    /// True after the first part of a message.
    is_hashing: bool,
    settings: SignatureSettings,
    message_settings: MessageSettings,
}

/// The parameters of a signature context.
#[derive(Clone, Copy)]
struct SignatureSettings {
    digest: Option<&'static NamedDigest>,
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
    pub(crate) fn new(provider: LoadedProvider, family: KeyFamily, properties: Option<CString>) -> Self {
        Self {
            provider,
            family,
            properties,
            operation: signature::SIGN_INIT,
            key: None,
            hasher: None,
            message: None,
            is_hashing: false,
            message_settings: MessageSettings::default(),
            settings: SignatureSettings {
                digest: None,
                padding: SignaturePadding::Pkcs1,
                mgf: None,
                // The default of OpenSSL since 3.1: FIPS 186-5 5.4 forbids longer salts.
                salt: PssSalt::AutoDigestMax,
                nonce: NonceRule::Hedged,
            },
        }
    }

    /// Begins the operation of this initialisation function, which signs or verifies a digest; for ML-DSA and SLH-DSA,
    /// a message.
    pub(crate) fn init(
        &mut self,
        operation: c_int,
        key: Option<&ProviderKey>,
        params: ParamReader<'_>,
    ) -> Result<(), ProviderError> {
        if self.family.signs_messages() && matches!(operation, signature::SIGN_INIT | signature::VERIFY_INIT)
        {
            let expected = "a message: EVP_DigestSign, EVP_PKEY_sign_message_init".to_owned();
            return Err(ProviderError::Parameter { what: self.family.name(), expected });
        }
        self.set_key(key)?;
        self.operation = operation;
        self.reset();
        self.set(params)
    }

    /// Begins the operation of this initialisation function, which signs or verifies a message. Without a name the
    /// former digest stays.
    pub(crate) fn digest_init(
        &mut self,
        operation: c_int,
        digest: Option<&str>,
        key: Option<&ProviderKey>,
        params: ParamReader<'_>,
    ) -> Result<(), ProviderError> {
        self.set_key(key)?;
        self.operation = operation;
        self.reset();
        let named = digest.filter(|name| !name.is_empty());
        if self.family == KeyFamily::Ed25519 || self.family.signs_messages() {
            // RFC 8032 5.1, RFC 9881 section 3, RFC 9909 section 3: they sign the message itself.
            if let Some(name) = named {
                let what = format!("{} with digest {name}", self.family.name());
                return Err(ProviderError::Unsupported { what });
            }
            return self.set(params);
        }
        if let Some(name) = named {
            self.settings.digest = Some(NamedDigest::named(name)?);
        }
        let digest = self.settings.digest.ok_or(ProviderError::NotInitialised)?;
        self.hasher = Some(digest.hasher());
        self.set(params)
    }

    /// Hashes the next part of the message.
    pub(crate) fn update(&mut self, data: &[u8]) -> Result<(), ProviderError> {
        match (self.family, &mut self.hasher) {
            // One mu cannot come in parts.
            (family, _) if family.signs_messages() && self.message_settings.takes_mu() => {
                let expected = "the whole in one call".to_owned();
                return Err(ProviderError::Parameter { what: "mu", expected });
            }
            (family, _) if family.signs_messages() => append(self.message.get_or_insert_default(), data),
            (_, Some(hasher)) => hasher.update(data),
            (_, None) => return Err(ProviderError::NotInitialised),
        }
        self.is_hashing = true;
        Ok(())
    }

    /// Returns the maximum length of a signature in bytes.
    pub(crate) fn max_len(&self) -> Result<usize, ProviderError> {
        Ok(match self.key_or_error()?.kind() {
            KeyKind::RsaPrivate(bits) | KeyKind::RsaPublic(bits) => usize::from(bits).div_ceil(8),
            // DER of two integers, each with a byte for the sign: RFC 3279 2.2.3.
            KeyKind::EcPrivate(Curve::P384) | KeyKind::EcPublic(Curve::P384) => 104,
            KeyKind::EcPrivate(_) | KeyKind::EcPublic(_) => 72,
            KeyKind::MlDsaPrivate(set) | KeyKind::MlDsaPublic(set) => MlDsaSet::signature_len(set),
            KeyKind::SlhDsaPrivate(set) | KeyKind::SlhDsaPublic(set) => set.signature_len(),
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
        if self.family.signs_messages() {
            let message = self.message.take().ok_or(ProviderError::NotInitialised)?;
            return self.sign_message(&message);
        }
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
        if self.family.signs_messages() {
            let message = self.message.take().ok_or(ProviderError::NotInitialised)?;
            return self.verify_message(&message, signature);
        }
        let digest = self.hasher.take().ok_or(ProviderError::NotInitialised)?.finish();
        self.verify(digest.as_ref(), signature)
    }

    /// Verifies the signature that was set as a parameter.
    pub(crate) fn finish_verify_set(&mut self) -> Result<bool, ProviderError> {
        let signature = std::mem::take(&mut self.message_settings.signature);
        self.finish_verify(&signature)
    }

    /// Recovers the content of a PKCS#1 v1.5 signature: the hash, or everything behind the padding if no digest is set.
    /// RFC 8017 8.2.2.
    pub(crate) fn recover(&self, signature: &[u8]) -> Result<Vec<u8>, ProviderError> {
        if self.family != KeyFamily::Rsa || self.settings.padding != SignaturePadding::Pkcs1 {
            return Err(ProviderError::Unsupported {
                what: "recovery from any but PKCS#1 v1.5 signatures".into(),
            });
        }
        // Everything here is public, so the checks may end early.
        let encoded = self.provider.rsa_public(self.key_or_error()?, signature)?;
        let behind = strip_padding(&encoded).ok_or(JobError::Rejected)?;
        let Some(digest) = self.settings.digest else { return Ok(behind.to_vec()) };
        let hash = behind.get(behind.len().saturating_sub(digest.len())..).unwrap_or_default();
        if der::digest_info(digest, hash) != behind {
            return Err(JobError::Rejected.into());
        }
        Ok(hash.to_vec())
    }

    fn reset(&mut self) {
        (self.hasher, self.message, self.is_hashing) = (None, None, false);
        self.message_settings.begin();
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
        self.key_or_error().map(|_| ())
    }

    /// Returns the context of ML-DSA or SLH-DSA, which no other scheme has.
    fn context(&self) -> &[u8] {
        if self.family.signs_messages() { self.message_settings.context() } else { &[] }
    }

    fn key_or_error(&self) -> Result<&Key, ProviderError> {
        self.key.as_ref().ok_or(ProviderError::NoKey)
    }

    fn sign_input(&self, input: SignInput<'_>) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let key = self.key_or_error()?;
        let mut encoded = Vec::new();
        let (scheme, input) = self.signing_scheme(key, input, &mut encoded)?;
        self.provider.run(&Job::with_scheme(scheme, key, input, &[]).context(self.context()))
    }

    fn verify_input(&self, input: SignInput<'_>, signature: &[u8]) -> Result<bool, ProviderError> {
        let key = self.key_or_error()?;
        let mut encoded = Vec::new();
        let (scheme, input) = self.signing_scheme(key, input, &mut encoded)?;
        let scheme = self.verifying_scheme(scheme);
        let job = Job::with_scheme(scheme, key, input, signature).context(self.context());
        match self.provider.run(&job) {
            Ok(_) => Ok(true),
            Err(ProviderError::Job(JobError::Rejected)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }
}

impl OwnContext for SignatureContext {
    fn provider(&self) -> &LoadedProvider {
        &self.provider
    }

    fn family(&self) -> KeyFamily {
        self.family
    }

    fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    fn needs_private(&self) -> bool {
        matches!(
            self.operation,
            signature::SIGN_INIT | signature::DIGEST_SIGN_INIT | signature::SIGN_MESSAGE_INIT
        )
    }

    fn set(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        match self.family {
            KeyFamily::Ed25519 => return check_plain_ed25519(params),
            family if family.signs_messages() => return self.message_settings.set(params),
            _ => {}
        }
        let mut settings = self.settings;
        settings.set(self.family, params)?;
        // Part of the message may be hashed already.
        if self.hasher.is_some() && settings.digest != self.settings.digest {
            let expected = "that of initialisation".to_owned();
            return Err(ProviderError::Parameter { what: "digest", expected });
        }
        self.settings = settings;
        Ok(())
    }

    fn get(&self, wanted: &mut ParamWriter<'_>) -> Result<bool, ProviderError> {
        let mut is_written = true;
        if let Some(id) = self.algorithm_id()? {
            is_written &= wanted.octets(name::ALGORITHM_ID, &id);
        }
        if let Some(digest) = self.settings.digest {
            is_written &= wanted.text(name::DIGEST, digest.canonical);
        }
        if self.family == KeyFamily::Rsa {
            let text = match self.settings.padding {
                SignaturePadding::Pkcs1 => c"pkcs1",
                SignaturePadding::Pss => c"pss",
            };
            is_written &= match wanted.wants_text(name::PAD_MODE) {
                Some(true) => wanted.text(name::PAD_MODE, text),
                _ => wanted.number(name::PAD_MODE, self.settings.padding.number().into()),
            };
            let (number, text) = self.settings.salt.as_openssl();
            is_written &= match wanted.wants_text(name::SALT_LEN) {
                Some(true) => text.is_some_and(|text| wanted.text(name::SALT_LEN, text)),
                _ => wanted.number(name::SALT_LEN, number.into()),
            };
            if let Some(mgf) = self.settings.mgf.or(self.settings.digest) {
                is_written &= wanted.text(name::MGF1_DIGEST, mgf.canonical);
            }
        }
        Ok(is_written)
    }

    fn new_fallback(&self, key: Arc<FallbackKey>) -> Option<FallbackContext> {
        let name = if self.family == KeyFamily::Ec { "ECDSA" } else { self.family.name() };
        FallbackContext::new(&SIGNATURE, name, key, self.properties.as_deref())
    }

    fn replay(&self, fallback: &mut FallbackContext) -> bool {
        // What is hashed here cannot go on there.
        if self.is_hashing {
            return false;
        }
        let digest = self.settings.digest.and_then(|digest| digest.canonical.to_str().ok());
        let mut params = match self.family {
            family if family.signs_messages() => self.message_settings.to_params(),
            family => self.settings.to_params(family),
        };
        let begun = if matches!(self.operation, signature::DIGEST_SIGN_INIT | signature::DIGEST_VERIFY_INIT) {
            params.with(|params| fallback.digest_init(self.operation, digest, params))
        } else {
            if let Some(name) = digest {
                params.text(name::DIGEST, name);
            }
            params.with(|params| fallback.init(self.operation, params))
        };
        begun == 1
    }
}

impl SignatureSettings {
    fn set(&mut self, family: KeyFamily, params: ParamReader<'_>) -> Result<(), ProviderError> {
        if let Some(name) = params.text(name::DIGEST).filter(|name| !name.is_empty()) {
            self.digest = Some(NamedDigest::named(name)?);
        }
        if family == KeyFamily::Ec {
            if let Some(number) = params.number(name::NONCE_TYPE) {
                self.nonce = if number == 1 { NonceRule::Deterministic } else { NonceRule::Hedged };
            }
            return Ok(());
        }
        if let Some(word) = params.word(name::PAD_MODE) {
            self.padding = parse_padding(word)?;
        }
        let is_pss = self.padding == SignaturePadding::Pss;
        let misplaced =
            |what| ProviderError::Parameter { what, expected: "the padding PSS before it".to_owned() };
        if let Some(word) = params.word(name::SALT_LEN) {
            self.salt = parse_salt(word)?;
            if !is_pss {
                return Err(misplaced("saltlen"));
            }
        }
        if let Some(name) = params.text(name::MGF1_DIGEST).filter(|name| !name.is_empty()) {
            if !is_pss {
                return Err(misplaced("mgf1-digest"));
            }
            self.mgf = Some(NamedDigest::named(name)?);
        }
        if is_pss {
            let (digest, mgf) = self.pss_digests()?;
            digest.accelerated_for("PSS")?;
            mgf.accelerated_for("MGF1")?;
        }
        Ok(())
    }

    /// Returns the parameters, except the digest, that make another context the same.
    fn to_params(self, family: KeyFamily) -> ParamList {
        let mut params = ParamList::default();
        match family {
            KeyFamily::Rsa => {
                params.number(name::PAD_MODE, self.padding.number());
                if self.padding == SignaturePadding::Pss {
                    // OpenSSL 3.0 does not know the usual salt.
                    if self.salt != PssSalt::AutoDigestMax {
                        params.number(name::SALT_LEN, self.salt.as_openssl().0);
                    }
                    if let Some(mgf) = self.mgf {
                        params.text(name::MGF1_DIGEST, mgf.canonical.to_str().unwrap_or_default());
                    }
                }
            }
            KeyFamily::Ec if self.nonce == NonceRule::Deterministic => {
                params.integer(name::NONCE_TYPE, &[0, 0, 0, 1]);
            }
            _ => {}
        }
        params
    }
}

/// Appends to a message, which may be secret, without copies in freed memory.
fn append(message: &mut Zeroizing<Vec<u8>>, data: &[u8]) {
    let needed = message.len() + data.len();
    if needed > message.capacity() {
        let mut larger = Zeroizing::new(Vec::with_capacity(needed.next_power_of_two()));
        larger.extend_from_slice(message);
        *message = larger;
    }
    message.extend_from_slice(data);
}

impl SignaturePadding {
    /// Returns OpenSSL's number.
    fn number(self) -> c_int {
        match self {
            Self::Pkcs1 => 1,
            Self::Pss => 6,
        }
    }
}

impl PssSalt {
    /// Returns the number of `RSA_PSS_SALTLEN_*`, and OpenSSL's name if there is one.
    fn as_openssl(self) -> (c_int, Option<&'static std::ffi::CStr>) {
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
