//! What a signature context does between initialisation and result: digest, padding, and the scheme that they make.

use aws_lc_rs::digest::Context as Hasher;
use oarlock::{Curve, KeyKind};
use oarlock::{DigestAlg, EcdsaEncoding, Input, Job, JobError, Key, NonceRule, SaltLength, Scheme};
use zeroize::Zeroizing;

use crate::der;
use crate::digest::Digest;
use crate::entry::params::{Params, Wanted, Word};
use crate::error::Failure;
use crate::key::{Family, ProviderKey};
use crate::work::Provider;

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
pub(crate) struct Signature {
    provider: Provider,
    family: Family,
    key: Option<Key>,
    digest: Option<&'static Digest>,
    hasher: Option<Hasher>,
    padding: Padding,
    mgf: Option<&'static Digest>,
    salt: Salt,
    nonce: NonceRule,
}

/// RSA signature paddings, by OpenSSL's numbers 1 and 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Padding {
    Pkcs1,
    Pss,
}

/// `RSA_PSS_SALTLEN_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Salt {
    Digest,
    Max,
    /// To sign: the longest. To verify: any.
    Auto,
    /// To sign: the digest's length, or the longest where that is shorter. To verify: any.
    AutoDigestMax,
    Exactly(u16),
}

/// What is signed.
#[derive(Clone, Copy)]
enum Given<'a> {
    Message(&'a [u8]),
    /// The digest of a message, or what a caller says to be one.
    Hash(&'a [u8]),
}

impl Signature {
    pub(crate) fn new(provider: Provider, family: Family) -> Self {
        Self {
            provider,
            family,
            key: None,
            digest: None,
            hasher: None,
            padding: Padding::Pkcs1,
            mgf: None,
            salt: Salt::AutoDigestMax,
            nonce: NonceRule::Hedged,
        }
    }

    pub(crate) fn provider(&self) -> &Provider {
        &self.provider
    }

    /// Begins to sign or verify digests.
    pub(crate) fn init(&mut self, key: Option<&ProviderKey>, params: Params<'_>) -> Result<(), Failure> {
        self.take_key(key)?;
        self.hasher = None;
        self.set(params)
    }

    /// Begins to sign or verify a message. Without a name the digest stays as it was.
    pub(crate) fn digest_init(
        &mut self,
        digest: Option<&str>,
        key: Option<&ProviderKey>,
        params: Params<'_>,
    ) -> Result<(), Failure> {
        self.take_key(key)?;
        let named = digest.filter(|name| !name.is_empty());
        if self.family == Family::Ed25519 {
            // RFC 8032 5.1: the message is not hashed before.
            if let Some(name) = named {
                return Err(Failure::Unsupported { what: format!("Ed25519 with digest {name}") });
            }
            return self.set(params);
        }
        if let Some(name) = named {
            self.digest = Some(Digest::named(name)?);
        }
        let digest = self.digest.ok_or(Failure::NotInitialised)?;
        self.set(params)?;
        self.hasher = Some(digest.hasher());
        Ok(())
    }

    /// More of the message.
    pub(crate) fn update(&mut self, data: &[u8]) -> Result<(), Failure> {
        self.hasher.as_mut().ok_or(Failure::NotInitialised)?.update(data);
        Ok(())
    }

    /// Bytes that a signature has at most.
    pub(crate) fn max_len(&self) -> Result<usize, Failure> {
        Ok(match self.key()?.kind() {
            KeyKind::RsaPrivate(bits) | KeyKind::RsaPublic(bits) => usize::from(bits).div_ceil(8),
            KeyKind::EcPrivate(Curve::P384) | KeyKind::EcPublic(Curve::P384) => 104,
            KeyKind::EcPrivate(_) | KeyKind::EcPublic(_) => 72,
            _ => 64,
        })
    }

    /// The signature of a digest.
    pub(crate) fn sign(&self, digest: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        self.sign_given(Given::Hash(digest))
    }

    /// The signature of a whole message.
    pub(crate) fn sign_message(&self, message: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        self.sign_given(Given::Message(message))
    }

    /// The signature of the message so far.
    pub(crate) fn finish(&mut self) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let digest = self.hasher.take().ok_or(Failure::NotInitialised)?.finish();
        self.sign(digest.as_ref())
    }

    /// Whether it is the signature of a digest.
    pub(crate) fn verify(&self, digest: &[u8], signature: &[u8]) -> Result<bool, Failure> {
        self.verify_given(Given::Hash(digest), signature)
    }

    /// Whether it is the signature of a whole message.
    pub(crate) fn verify_message(&self, message: &[u8], signature: &[u8]) -> Result<bool, Failure> {
        self.verify_given(Given::Message(message), signature)
    }

    /// Whether it is the signature of the message so far.
    pub(crate) fn finish_verify(&mut self, signature: &[u8]) -> Result<bool, Failure> {
        let digest = self.hasher.take().ok_or(Failure::NotInitialised)?.finish();
        self.verify(digest.as_ref(), signature)
    }

    /// What a PKCS#1 v1.5 signature was made of: the digest, or without a digest what stands behind the padding.
    /// RFC 8017 8.2.2.
    pub(crate) fn recover(&self, signature: &[u8]) -> Result<Vec<u8>, Failure> {
        if self.family != Family::Rsa || self.padding != Padding::Pkcs1 {
            return Err(Failure::Unsupported { what: "recovery from any but PKCS#1 v1.5 signatures".into() });
        }
        let encoded = self.provider.rsa_public(self.key()?, signature)?;
        let behind = unpadded(&encoded).ok_or(JobError::Rejected)?;
        let Some(digest) = self.digest else { return Ok(behind.to_vec()) };
        let hash = behind.get(behind.len().saturating_sub(digest.len())..).unwrap_or_default();
        if der::digest_info(digest, hash) != behind {
            return Err(JobError::Rejected.into());
        }
        Ok(hash.to_vec())
    }

    /// Takes settings; those that it does not know are left alone.
    pub(crate) fn set(&mut self, params: Params<'_>) -> Result<(), Failure> {
        if self.family == Family::Ed25519 {
            return plain_ed25519(params);
        }
        if let Some(name) = params.text(name::DIGEST).filter(|name| !name.is_empty()) {
            let digest = Digest::named(name)?;
            if self.hasher.is_some() && self.digest != Some(digest) {
                return Err(Failure::Parameter { what: "digest", expected: "that of initialisation".into() });
            }
            self.digest = Some(digest);
        }
        if self.family == Family::Ec {
            if let Some(number) = params.number(name::NONCE_TYPE) {
                self.nonce = if number == 1 { NonceRule::Deterministic } else { NonceRule::Hedged };
            }
            return Ok(());
        }
        if let Some(word) = params.word(name::PAD_MODE) {
            self.padding = padding(word)?;
        }
        if let Some(word) = params.word(name::SALT_LEN) {
            self.salt = salt(word)?;
        }
        if let Some(name) = params.text(name::MGF1_DIGEST).filter(|name| !name.is_empty()) {
            self.mgf = Some(Digest::named(name)?);
        }
        Ok(())
    }

    /// Fills in what is asked. False where a place is too small.
    pub(crate) fn get(&self, wanted: &mut Wanted<'_>) -> Result<bool, Failure> {
        let mut is_written = true;
        if let Some(id) = self.algorithm_id()? {
            is_written &= wanted.octets(name::ALGORITHM_ID, &id);
        }
        if let Some(digest) = self.digest {
            is_written &= wanted.text(name::DIGEST, digest.canonical);
        }
        if self.family == Family::Rsa {
            let (number, text) = match self.padding {
                Padding::Pkcs1 => (1, c"pkcs1"),
                Padding::Pss => (6, c"pss"),
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

    fn take_key(&mut self, key: Option<&ProviderKey>) -> Result<(), Failure> {
        // Without a key it is initialised again with the former.
        if let Some(given) = key {
            if given.family != self.family {
                let (expected, found) = (self.family.name(), given.family.name());
                return Err(Failure::Reference(format!(
                    "expected a key for {expected}, found one for {found}"
                )));
            }
            self.key = Some(given.get().ok_or(Failure::NoKey)?);
        }
        self.key().map(|_| ())
    }

    fn key(&self) -> Result<&Key, Failure> {
        self.key.as_ref().ok_or(Failure::NoKey)
    }

    fn sign_given(&self, given: Given<'_>) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let key = self.key()?;
        let mut kept = Vec::new();
        let (scheme, input) = self.signing(key, given, &mut kept)?;
        self.provider.run(&Job::with_scheme(scheme, key, input, &[]))
    }

    fn verify_given(&self, given: Given<'_>, signature: &[u8]) -> Result<bool, Failure> {
        let key = self.key()?;
        let mut kept = Vec::new();
        let (scheme, input) = self.signing(key, given, &mut kept)?;
        let scheme = self.verifying(scheme);
        match self.provider.run(&Job::with_scheme(scheme, key, input, signature)) {
            Ok(_) => Ok(true),
            Err(Failure::Job(JobError::Rejected)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// The scheme that signs what is given. `kept` has room for what has to be made of it.
    fn signing<'a>(
        &self,
        key: &Key,
        given: Given<'a>,
        kept: &'a mut Vec<u8>,
    ) -> Result<(Scheme, Input<'a>), Failure> {
        match (self.family, self.padding) {
            (Family::Rsa, Padding::Pkcs1) => self.pkcs1(given, kept),
            (Family::Rsa, Padding::Pss) => self.pss(key, given),
            (Family::Ec, _) => self.ecdsa(key, given, kept),
            _ => match given {
                Given::Message(message) => Ok((Scheme::Ed25519Sign, Input::Message(message))),
                Given::Hash(_) => Err(Failure::Unsupported { what: "Ed25519 of a digest".into() }),
            },
        }
    }

    fn pkcs1<'a>(&self, given: Given<'a>, kept: &'a mut Vec<u8>) -> Result<(Scheme, Input<'a>), Failure> {
        let Some(digest) = self.digest else {
            let (Given::Message(bytes) | Given::Hash(bytes)) = given;
            return Ok((Scheme::RsaPkcs1SignEncoded, Input::Message(bytes)));
        };
        match (digest.hall, given) {
            (Some(digest), given) => Ok((Scheme::RsaPkcs1Sign { digest }, given.into_input())),
            (None, given) => {
                *kept = der::digest_info(digest, &given.hashed(digest)?);
                Ok((Scheme::RsaPkcs1SignEncoded, Input::Message(kept)))
            }
        }
    }

    fn pss<'a>(&self, key: &Key, given: Given<'a>) -> Result<(Scheme, Input<'a>), Failure> {
        let (digest, mgf) = self.pss_digests()?;
        let salt_len = self.salt_len(key, digest.len());
        let scheme =
            Scheme::RsaPssSign { digest: digest.in_hall("PSS")?, mgf: mgf.in_hall("MGF1")?, salt_len };
        Ok((scheme, given.into_input()))
    }

    /// Digest and mask generation's digest; SHA-1 where none is named. RFC 8017 A.2.3.
    fn pss_digests(&self) -> Result<(&'static Digest, &'static Digest), Failure> {
        let digest = self.digest.map_or_else(|| Digest::named("SHA1"), Ok)?;
        Ok((digest, self.mgf.unwrap_or(digest)))
    }

    fn salt_len(&self, key: &Key, digest_len: usize) -> u16 {
        let bits = key.rsa_public().map_or(0, |public| public.bits()).saturating_sub(1);
        // RFC 8017 9.1.1 step 3.
        let max = usize::from(bits).div_ceil(8).saturating_sub(digest_len + 2) as u16;
        let digest_len = digest_len as u16;
        match self.salt {
            Salt::Digest => digest_len,
            Salt::Max | Salt::Auto => max,
            Salt::AutoDigestMax => digest_len.min(max),
            Salt::Exactly(len) => len,
        }
    }

    fn ecdsa<'a>(
        &self,
        key: &Key,
        given: Given<'a>,
        kept: &'a mut Vec<u8>,
    ) -> Result<(Scheme, Input<'a>), Failure> {
        let (KeyKind::EcPrivate(curve) | KeyKind::EcPublic(curve)) = key.kind() else {
            return Err(Failure::NoKey);
        };
        let scheme =
            |digest| Scheme::EcdsaSign { curve, digest, encoding: EcdsaEncoding::Der, nonce: self.nonce };
        match (self.digest, given) {
            (Some(Digest { hall: Some(alg), .. }), Given::Message(message)) => {
                Ok((scheme(*alg), Input::Message(message)))
            }
            (Some(Digest { hall: Some(alg), .. }), Given::Hash(hash)) if hash.len() == alg.output_len() => {
                Ok((scheme(*alg), Input::Digest(hash)))
            }
            (digest, given) => {
                let hash = match digest {
                    Some(digest) => given.hashed(digest)?,
                    None => given.bytes().to_vec(),
                };
                *kept = at_order_width(&hash, curve.scalar_len());
                let alg = if curve == Curve::P384 { DigestAlg::Sha384 } else { DigestAlg::Sha256 };
                Ok((scheme(alg), Input::Digest(kept)))
            }
        }
    }

    fn verifying(&self, signing: Scheme) -> Scheme {
        match signing {
            Scheme::RsaPkcs1Sign { digest } => Scheme::RsaPkcs1Verify { digest },
            Scheme::RsaPkcs1SignEncoded => Scheme::RsaPkcs1VerifyEncoded,
            Scheme::RsaPssSign { digest, mgf, salt_len } => {
                let salt = match self.salt {
                    Salt::Auto | Salt::AutoDigestMax => SaltLength::Any,
                    _ => SaltLength::Exactly(salt_len),
                };
                Scheme::RsaPssVerify { digest, mgf, salt }
            }
            Scheme::EcdsaSign { curve, digest, encoding, .. } => {
                Scheme::EcdsaVerify { curve, digest, encoding }
            }
            _ => Scheme::Ed25519Verify,
        }
    }

    /// How certificates and messages name the scheme; None before a digest is known.
    fn algorithm_id(&self) -> Result<Option<Vec<u8>>, Failure> {
        Ok(match (self.family, self.digest, &self.key) {
            (Family::Ed25519, ..) => Some(der::ed25519()),
            (Family::Ec, Some(digest), _) => Some(der::ecdsa(digest)),
            (Family::Rsa, Some(digest), Some(key)) if self.padding == Padding::Pss => {
                let (_, mgf) = self.pss_digests()?;
                Some(der::rsa_pss(digest, mgf, self.salt_len(key, digest.len())))
            }
            (Family::Rsa, Some(digest), _) => Some(der::rsa_pkcs1(digest)),
            _ => None,
        })
    }
}

impl<'a> Given<'a> {
    fn bytes(self) -> &'a [u8] {
        let (Self::Message(bytes) | Self::Hash(bytes)) = self;
        bytes
    }

    fn into_input(self) -> Input<'a> {
        match self {
            Self::Message(message) => Input::Message(message),
            Self::Hash(hash) => Input::Digest(hash),
        }
    }

    /// The digest, made or checked for its length.
    fn hashed(self, digest: &Digest) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Message(message) => {
                let mut hasher = digest.hasher();
                hasher.update(message);
                Ok(hasher.finish().as_ref().to_vec())
            }
            Self::Hash(hash) if hash.len() == digest.len() => Ok(hash.to_vec()),
            Self::Hash(hash) => {
                let expected = format!("{} bytes, found {}", digest.len(), hash.len());
                Err(Failure::Parameter { what: "digest", expected })
            }
        }
    }
}

impl Salt {
    /// `RSA_PSS_SALTLEN_*`, and the name where it has one.
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

fn padding(word: Word<'_>) -> Result<Padding, Failure> {
    match word {
        Word::Number(1) | Word::Text("pkcs1") => Ok(Padding::Pkcs1),
        Word::Number(6) | Word::Text("pss") => Ok(Padding::Pss),
        other => Err(Failure::Unsupported { what: format!("RSA signature padding {other}") }),
    }
}

fn salt(word: Word<'_>) -> Result<Salt, Failure> {
    let len = |number: i64| u16::try_from(number).ok().map(Salt::Exactly);
    let salt = match word {
        Word::Number(-1) | Word::Text("digest") => Some(Salt::Digest),
        Word::Number(-2) | Word::Text("auto") => Some(Salt::Auto),
        Word::Number(-3) | Word::Text("max") => Some(Salt::Max),
        Word::Number(-4) | Word::Text("auto-digestmax") => Some(Salt::AutoDigestMax),
        Word::Number(number) => len(number),
        Word::Text(text) => text.parse().ok().and_then(len),
    };
    salt.ok_or_else(|| Failure::Parameter {
        what: "saltlen",
        expected: format!("0 to 65535, digest, max, auto or auto-digestmax, found {word}"),
    })
}

/// Only Ed25519 itself is offered, none of its variants. RFC 8032 section 5.
fn plain_ed25519(params: Params<'_>) -> Result<(), Failure> {
    let instance = params.text(name::INSTANCE).filter(|name| !name.eq_ignore_ascii_case("Ed25519"));
    if let Some(name) = instance {
        return Err(Failure::Unsupported { what: name.to_owned() });
    }
    match params.octets(name::CONTEXT_STRING) {
        Some(context) if !context.is_empty() => {
            Err(Failure::Unsupported { what: "Ed25519 with a context".into() })
        }
        _ => Ok(()),
    }
}

/// The integer that ECDSA makes of a digest of any length, at the width of an order of whole bytes: its leftmost bytes, or
/// zeros before it. FIPS 186-5 6.4.1 step 2.
fn at_order_width(hash: &[u8], width: usize) -> Vec<u8> {
    let mut out = vec![0; width.saturating_sub(hash.len())];
    out.extend_from_slice(&hash[..hash.len().min(width)]);
    out
}

/// What stands behind `00 01 FF .. FF 00`, with at least eight bytes of padding. RFC 8017 9.2.
fn unpadded(encoded: &[u8]) -> Option<&[u8]> {
    let padding = encoded.strip_prefix(&[0, 1])?;
    let len = padding.iter().position(|byte| *byte != 0xFF).filter(|len| *len >= 8)?;
    padding[len..].strip_prefix(&[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_any_length_are_the_same_integer_for_ecdsa() {
        assert_eq!(at_order_width(&[1, 2], 4), [0, 0, 1, 2]);
        assert_eq!(at_order_width(&[1, 2, 3, 4], 4), [1, 2, 3, 4]);
        assert_eq!(at_order_width(&[1, 2, 3, 4, 5], 4), [1, 2, 3, 4]);
        assert_eq!(at_order_width(&[], 2), [0, 0]);
    }

    #[test]
    fn only_whole_paddings_are_taken_off() {
        let padded = [&[0, 1][..], &[0xFF; 8], &[0, 7, 7]].concat();
        assert_eq!(unpadded(&padded), Some(&[7, 7][..]));
        assert_eq!(unpadded(&[&[0, 1][..], &[0xFF; 7], &[0, 7, 7]].concat()), None);
        assert_eq!(unpadded(&[&[0, 2][..], &[0xFF; 8], &[0, 7]].concat()), None);
        assert_eq!(unpadded(&[&[0, 1][..], &[0xFF; 8]].concat()), None);
        assert_eq!(unpadded(&[]), None);
    }

    #[test]
    fn salts_and_paddings_have_openssls_names_and_numbers() {
        assert_eq!(salt(Word::Number(-1)).unwrap(), salt(Word::Text("digest")).unwrap());
        assert_eq!(salt(Word::Text("17")).unwrap(), Salt::Exactly(17));
        assert!(salt(Word::Number(-5)).is_err() && salt(Word::Text("long")).is_err());
        assert_eq!(padding(Word::Number(6)).unwrap(), Padding::Pss);
        let said = padding(Word::Text("none")).unwrap_err().to_string();
        assert!(said.contains("RSA signature padding none is not offered"), "{said}");
    }
}
