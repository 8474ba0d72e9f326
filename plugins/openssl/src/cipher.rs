//! Cipher contexts: RSA decryption and encryption.

use std::ffi::c_int;
use std::sync::Arc;

use aws_lc_rs::rsa::{
    OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OAEP_SHA384_MGF1SHA384, OAEP_SHA512_MGF1SHA512,
    OaepPublicEncryptingKey, Pkcs1PublicEncryptingKey, PublicEncryptingKey,
};
use oarlock::KeyKind;
use oarlock::keys::export;
use oarlock::{DigestAlg, Input, Job, Key, Scheme};
use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use crate::digest::NamedDigest;
use crate::error::ProviderError;
use crate::ffi::libcrypto::abi::asym_cipher;
use crate::ffi::libcrypto::fallback::{ASYM_CIPHER, FallbackContext, FallbackKey};
use crate::ffi::libcrypto::params::{ParamList, ParamReader, ParamWord, ParamWriter};
use crate::handover::OwnContext;
use crate::key::{KeyFamily, ProviderKey};
use crate::provider::LoadedProvider;

/// Names of parameters: `core_names.h`.
pub(crate) mod name {
    use std::ffi::CStr;
    pub(crate) const PAD_MODE: &CStr = c"pad-mode";
    pub(crate) const OAEP_DIGEST: &CStr = c"digest";
    pub(crate) const MGF1_DIGEST: &CStr = c"mgf1-digest";
    pub(crate) const OAEP_LABEL: &CStr = c"oaep-label";
    pub(crate) const TLS_CLIENT_VERSION: &CStr = c"tls-client-version";
    pub(crate) const TLS_NEGOTIATED_VERSION: &CStr = c"tls-negotiated-version";
    /// OpenSSL 3.2.
    pub(crate) const IMPLICIT_REJECTION: &CStr = c"implicit-rejection";
}

/// The length of a premaster secret in bytes. RFC 5246 7.4.7.1.
const PREMASTER_LEN: usize = 48;

/// A cipher context.
#[derive(Clone)]
pub(crate) struct CipherContext {
    provider: LoadedProvider,
    /// The number of the function that began the operation.
    operation: c_int,
    key: Option<Key>,
    settings: CipherSettings,
}

/// The parameters of a cipher context.
#[derive(Clone)]
struct CipherSettings {
    padding: CipherPadding,
    digest: Option<&'static NamedDigest>,
    mgf: Option<&'static NamedDigest>,
    label: Vec<u8>,
    client_version: Option<u16>,
    negotiated_version: Option<u16>,
}

/// RSA encryption paddings, by OpenSSL's numbers 1, 4 and 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CipherPadding {
    Pkcs1,
    Oaep,
    /// PKCS#1 v1.5 around a premaster secret of TLS.
    Tls,
}

impl CipherContext {
    pub(crate) fn new(provider: LoadedProvider) -> Self {
        Self {
            provider,
            operation: asym_cipher::ENCRYPT_INIT,
            key: None,
            settings: CipherSettings {
                padding: CipherPadding::Pkcs1,
                digest: None,
                mgf: None,
                label: Vec::new(),
                client_version: None,
                negotiated_version: None,
            },
        }
    }

    /// Begins the operation of this initialisation function.
    pub(crate) fn init(
        &mut self,
        operation: c_int,
        key: Option<&ProviderKey>,
        params: ParamReader<'_>,
    ) -> Result<(), ProviderError> {
        if let Some(given) = key {
            self.key = Some(given.get().ok_or(ProviderError::NoKey)?);
        }
        self.operation = operation;
        self.key_or_error()?;
        self.set(params)
    }

    /// Returns the length of a ciphertext in bytes. No message is longer.
    pub(crate) fn modulus_len(&self) -> Result<usize, ProviderError> {
        match self.key_or_error()?.kind() {
            KeyKind::RsaPrivate(bits) | KeyKind::RsaPublic(bits) => Ok(usize::from(bits).div_ceil(8)),
            _ => Err(ProviderError::NoKey),
        }
    }

    /// Returns the size of a buffer for any decrypted message.
    pub(crate) fn max_message_len(&self) -> Result<usize, ProviderError> {
        let len = self.modulus_len()?;
        Ok(if self.settings.padding == CipherPadding::Tls { PREMASTER_LEN } else { len })
    }

    /// Decrypts a message. The result does not reveal whether the padding of a PKCS#1 v1.5 ciphertext was valid: an
    /// invalid padding yields a message that depends only on key and ciphertext.
    pub(crate) fn decrypt(&self, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let key = self.key_or_error()?;
        // Some writers leave out leading zeros. OpenSSL reads what they write.
        let mut whole = vec![0; self.modulus_len()?.saturating_sub(ciphertext.len())];
        whole.extend_from_slice(ciphertext);
        let ciphertext = &whole[..];
        match self.settings.padding {
            CipherPadding::Pkcs1 => self.provider.run(&Job::decrypt_pkcs1(key, ciphertext)),
            CipherPadding::Tls => {
                // RFC 5246 7.4.7.1: the random secret is chosen before the ciphertext is read.
                let mut other = Zeroizing::new([0; PREMASTER_LEN]);
                aws_lc_rs::rand::fill(&mut *other)
                    .map_err(|_| ProviderError::Accelerator("no random bytes".to_owned()))?;
                let client_version =
                    self.settings.client_version.ok_or_else(|| ProviderError::Parameter {
                        what: "tls-client-version",
                        expected: "the version of the client's hello".to_owned(),
                    })?;
                let message = self.provider.run(&Job::decrypt_pkcs1(key, ciphertext))?;
                Ok(select_premaster(
                    &message,
                    other,
                    [client_version, self.settings.negotiated_version.unwrap_or(0)],
                ))
            }
            CipherPadding::Oaep => {
                let (digest, mgf) = self.oaep_digests()?;
                let scheme = Scheme::RsaOaepDecrypt { digest, mgf };
                self.provider.run(&Job::with_scheme(
                    scheme,
                    key,
                    Input::Message(ciphertext),
                    &self.settings.label,
                ))
            }
        }
    }

    /// Encrypts a message with AWS-LC, which accepts keys of 2048 to 8192 bits.
    pub(crate) fn encrypt(&self, message: &[u8]) -> Result<Vec<u8>, ProviderError> {
        let refused =
            |_| ProviderError::Unsupported { what: format!("encryption of {} bytes", message.len()) };
        let key = self.public_key()?;
        let mut ciphertext = vec![0; self.modulus_len()?];
        let len = match self.settings.padding {
            CipherPadding::Pkcs1 | CipherPadding::Tls => {
                let key = Pkcs1PublicEncryptingKey::new(key).map_err(refused)?;
                key.encrypt(message, &mut ciphertext).map_err(refused)?.len()
            }
            CipherPadding::Oaep => {
                let algorithm = match self.oaep_digests()? {
                    (DigestAlg::Sha1, DigestAlg::Sha1) => &OAEP_SHA1_MGF1SHA1,
                    (DigestAlg::Sha256, DigestAlg::Sha256) => &OAEP_SHA256_MGF1SHA256,
                    (DigestAlg::Sha384, DigestAlg::Sha384) => &OAEP_SHA384_MGF1SHA384,
                    (DigestAlg::Sha512, DigestAlg::Sha512) => &OAEP_SHA512_MGF1SHA512,
                    (digest, mgf) => {
                        let what = format!("OAEP encryption with {digest} and MGF1 with {mgf}");
                        return Err(ProviderError::Unsupported { what });
                    }
                };
                let key = OaepPublicEncryptingKey::new(key).map_err(refused)?;
                let label = Some(&self.settings.label[..]);
                key.encrypt(algorithm, message, &mut ciphertext, label).map_err(refused)?.len()
            }
        };
        ciphertext.truncate(len);
        Ok(ciphertext)
    }

    fn key_or_error(&self) -> Result<&Key, ProviderError> {
        self.key.as_ref().ok_or(ProviderError::NoKey)
    }

    fn public_key(&self) -> Result<PublicEncryptingKey, ProviderError> {
        let key = self.key_or_error()?;
        PublicEncryptingKey::from_der(&export::spki_der(key)?)
            .map_err(|_| ProviderError::Unsupported { what: format!("encryption with {:?}", key.kind()) })
    }

    /// Returns the digests of OAEP. The default is SHA-1. RFC 8017 A.2.1.
    fn oaep_digests(&self) -> Result<(DigestAlg, DigestAlg), ProviderError> {
        let digest = self.settings.digest.map_or_else(|| NamedDigest::named("SHA1"), Ok)?;
        let mgf = self.settings.mgf.unwrap_or(digest);
        Ok((digest.accelerated_for("OAEP")?, mgf.accelerated_for("MGF1")?))
    }
}

impl CipherSettings {
    fn set(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        if let Some(word) = params.word(name::PAD_MODE) {
            self.padding = parse_padding(word)?;
        }
        if let Some(name) = params.text(name::OAEP_DIGEST) {
            self.digest = Some(NamedDigest::named(name)?);
        }
        if let Some(name) = params.text(name::MGF1_DIGEST) {
            self.mgf = Some(NamedDigest::named(name)?);
        }
        if let Some(label) = params.octets(name::OAEP_LABEL) {
            self.label = label.to_vec();
        }
        // Without implicit rejection a program would see whether a padding is valid, which reveals plaintexts to an
        // attacker who sends many ciphertexts (Bleichenbacher 1998). So this is refused and not passed on.
        if params.number(name::IMPLICIT_REJECTION) == Some(0) {
            let expected = "1: decryption without implicit rejection is refused".to_owned();
            return Err(ProviderError::Parameter { what: "implicit-rejection", expected });
        }
        let version = |name| params.number(name).and_then(|number| u16::try_from(number).ok());
        self.client_version = version(name::TLS_CLIENT_VERSION).or(self.client_version);
        self.negotiated_version = version(name::TLS_NEGOTIATED_VERSION).or(self.negotiated_version);
        Ok(())
    }

    /// Returns the parameters that make another context the same.
    fn to_params(&self) -> ParamList {
        let mut params = ParamList::default();
        params.number(name::PAD_MODE, self.padding.number());
        let digests = [(name::OAEP_DIGEST, self.digest), (name::MGF1_DIGEST, self.mgf)];
        for (name, digest) in digests {
            if let Some(digest) = digest {
                params.text(name, digest.canonical.to_str().unwrap_or_default());
            }
        }
        if !self.label.is_empty() {
            params.octets(name::OAEP_LABEL, &self.label);
        }
        let versions = [
            (name::TLS_CLIENT_VERSION, self.client_version),
            (name::TLS_NEGOTIATED_VERSION, self.negotiated_version),
        ];
        for (name, version) in versions {
            if let Some(version) = version {
                params.integer(name, &version.to_be_bytes());
            }
        }
        params
    }
}

impl CipherPadding {
    /// Returns OpenSSL's number.
    fn number(self) -> c_int {
        match self {
            Self::Pkcs1 => 1,
            Self::Oaep => 4,
            Self::Tls => 7,
        }
    }
}

impl OwnContext for CipherContext {
    fn provider(&self) -> &LoadedProvider {
        &self.provider
    }

    fn family(&self) -> KeyFamily {
        KeyFamily::Rsa
    }

    fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    fn needs_private(&self) -> bool {
        self.operation == asym_cipher::DECRYPT_INIT
    }

    fn set(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        let mut settings = self.settings.clone();
        settings.set(params)?;
        self.settings = settings;
        Ok(())
    }

    fn get(&self, wanted: &mut ParamWriter<'_>) -> Result<bool, ProviderError> {
        let number = i64::from(self.settings.padding.number());
        let text = match self.settings.padding {
            CipherPadding::Pkcs1 => c"pkcs1",
            CipherPadding::Oaep => c"oaep",
            CipherPadding::Tls => c"tls",
        };
        let mut is_written = match wanted.wants_text(name::PAD_MODE) {
            Some(true) => wanted.text(name::PAD_MODE, text),
            _ => wanted.number(name::PAD_MODE, number),
        };
        if let Some(digest) = self.settings.digest {
            is_written &= wanted.text(name::OAEP_DIGEST, digest.canonical);
        }
        if let Some(mgf) = self.settings.mgf.or(self.settings.digest) {
            is_written &= wanted.text(name::MGF1_DIGEST, mgf.canonical);
        }
        Ok(is_written & wanted.octets(name::OAEP_LABEL, &self.settings.label))
    }

    fn new_fallback(&self, key: Arc<FallbackKey>) -> Option<FallbackContext> {
        FallbackContext::new(&ASYM_CIPHER, "RSA", key, None)
    }

    fn replay(&self, fallback: &mut FallbackContext) -> bool {
        self.settings.to_params().with(|params| fallback.init(self.operation, params)) == 1
    }
}

fn parse_padding(word: ParamWord<'_>) -> Result<CipherPadding, ProviderError> {
    match word {
        ParamWord::Number(1) | ParamWord::Text("pkcs1") => Ok(CipherPadding::Pkcs1),
        ParamWord::Number(4) | ParamWord::Text("oaep" | "oeap") => Ok(CipherPadding::Oaep),
        ParamWord::Number(7) => Ok(CipherPadding::Tls),
        other => Err(ProviderError::Unsupported { what: format!("RSA encryption padding {other}") }),
    }
}

/// Selects the message if it is a premaster secret of one of the two versions, and the other secret if not. RFC 5246
/// 7.4.7.1.
///
/// The length of the message is not secret: a message of implicit rejection has any length, for every plaintext. The
/// choice between the two secrets is secret, so both take the same steps.
fn select_premaster(
    message: &[u8],
    other: Zeroizing<[u8; PREMASTER_LEN]>,
    versions: [u16; 2],
) -> Zeroizing<Vec<u8>> {
    let Ok(message) = <&[u8; PREMASTER_LEN]>::try_from(message) else {
        return Zeroizing::new(other.to_vec());
    };
    let found = u16::from_be_bytes([message[0], message[1]]);
    let [client, negotiated] = versions;
    // Some old clients send the negotiated version instead of their own. 0 means that no version was negotiated.
    let is_good = found.ct_eq(&client) | (found.ct_eq(&negotiated) & !negotiated.ct_eq(&0));
    let select = |(good, bad): (&u8, &u8)| u8::conditional_select(bad, good, is_good);
    Zeroizing::new(message.iter().zip(other.iter()).map(select).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(version: u16) -> [u8; PREMASTER_LEN] {
        let mut secret = [5; PREMASTER_LEN];
        secret[..2].copy_from_slice(&version.to_be_bytes());
        secret
    }

    #[test]
    fn selects_only_a_secret_of_the_right_version() {
        let other = || Zeroizing::new([9; PREMASTER_LEN]);
        for (message, versions, is_selected) in [
            (&secret(0x0303)[..], [0x0303, 0], true),
            (&secret(0x0301), [0x0303, 0x0301], true),
            (&secret(0x0301), [0x0303, 0], false),
            (&secret(0), [0x0303, 0], false),
            (&secret(0x0303)[..47], [0x0303, 0], false),
            (&[], [0x0303, 0], false),
        ] {
            let found = select_premaster(message, other(), versions);
            assert_eq!(found[..], *(if is_selected { message } else { &[9; PREMASTER_LEN] }));
        }
    }
}
