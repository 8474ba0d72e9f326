//! RSA decryption and encryption: what a cipher context does between initialisation and result.

use aws_lc_rs::rsa::{
    OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OAEP_SHA384_MGF1SHA384, OAEP_SHA512_MGF1SHA512,
    OaepPublicEncryptingKey, Pkcs1PublicEncryptingKey, PublicEncryptingKey,
};
use oarlock::KeyKind;
use oarlock::keys::export;
use oarlock::{DigestAlg, Input, Job, Key, Scheme};
use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use crate::digest::Digest;
use crate::entry::params::{Params, Wanted, Word};
use crate::error::Failure;
use crate::key::ProviderKey;
use crate::work::Provider;

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

/// Bytes of a premaster secret. RFC 5246 7.4.7.1.
const PREMASTER_LEN: usize = 48;

/// A cipher context.
#[derive(Clone)]
pub(crate) struct Cipher {
    provider: Provider,
    key: Option<Key>,
    padding: Padding,
    digest: Option<&'static Digest>,
    mgf: Option<&'static Digest>,
    label: Vec<u8>,
    client_version: Option<u16>,
    negotiated_version: Option<u16>,
}

/// RSA encryption paddings, by OpenSSL's numbers 1, 4 and 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Padding {
    Pkcs1,
    Oaep,
    /// PKCS#1 v1.5 around a premaster secret of TLS.
    Tls,
}

impl Cipher {
    pub(crate) fn new(provider: Provider) -> Self {
        Self {
            provider,
            key: None,
            padding: Padding::Pkcs1,
            digest: None,
            mgf: None,
            label: Vec::new(),
            client_version: None,
            negotiated_version: None,
        }
    }

    pub(crate) fn provider(&self) -> &Provider {
        &self.provider
    }

    pub(crate) fn init(&mut self, key: Option<&ProviderKey>, params: Params<'_>) -> Result<(), Failure> {
        if let Some(given) = key {
            self.key = Some(given.get().ok_or(Failure::NoKey)?);
        }
        self.key()?;
        self.set(params)
    }

    /// Bytes of a ciphertext, which no message is longer than.
    pub(crate) fn modulus_len(&self) -> Result<usize, Failure> {
        match self.key()?.kind() {
            KeyKind::RsaPrivate(bits) | KeyKind::RsaPublic(bits) => Ok(usize::from(bits).div_ceil(8)),
            _ => Err(Failure::NoKey),
        }
    }

    /// Bytes that a place for a decrypted message needs.
    pub(crate) fn max_message_len(&self) -> Result<usize, Failure> {
        let len = self.modulus_len()?;
        Ok(if self.padding == Padding::Tls { PREMASTER_LEN } else { len })
    }

    /// The message. Whether the padding of a PKCS#1 v1.5 ciphertext was good is not shown: where it was not, the message is
    /// one that depends on key and ciphertext alone.
    pub(crate) fn decrypt(&self, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let key = self.key()?;
        match self.padding {
            Padding::Pkcs1 => self.provider.run(&Job::decrypt_pkcs1(key, ciphertext)),
            Padding::Tls => {
                // RFC 5246 7.4.7.1: chosen before the ciphertext is looked at.
                let mut other = Zeroizing::new([0; PREMASTER_LEN]);
                aws_lc_rs::rand::fill(&mut *other)
                    .map_err(|_| Failure::Accelerator("no random bytes".to_owned()))?;
                let client_version = self.client_version.ok_or_else(|| Failure::Parameter {
                    what: "tls-client-version",
                    expected: "the version of the client's hello".to_owned(),
                })?;
                let message = self.provider.run(&Job::decrypt_pkcs1(key, ciphertext))?;
                Ok(premaster(&message, other, [client_version, self.negotiated_version.unwrap_or(0)]))
            }
            Padding::Oaep => {
                let (digest, mgf) = self.oaep_digests()?;
                let scheme = Scheme::RsaOaepDecrypt { digest, mgf };
                self.provider.run(&Job::with_scheme(scheme, key, Input::Message(ciphertext), &self.label))
            }
        }
    }

    /// The ciphertext of a message, by AWS-LC: keys of 2048 to 8192 bits.
    pub(crate) fn encrypt(&self, message: &[u8]) -> Result<Vec<u8>, Failure> {
        let refused = |_| Failure::Unsupported { what: format!("encryption of {} bytes", message.len()) };
        let key = self.public_key()?;
        let mut ciphertext = vec![0; self.modulus_len()?];
        let len = match self.padding {
            Padding::Pkcs1 | Padding::Tls => {
                let key = Pkcs1PublicEncryptingKey::new(key).map_err(refused)?;
                key.encrypt(message, &mut ciphertext).map_err(refused)?.len()
            }
            Padding::Oaep => {
                let algorithm = match self.oaep_digests()? {
                    (DigestAlg::Sha1, DigestAlg::Sha1) => &OAEP_SHA1_MGF1SHA1,
                    (DigestAlg::Sha256, DigestAlg::Sha256) => &OAEP_SHA256_MGF1SHA256,
                    (DigestAlg::Sha384, DigestAlg::Sha384) => &OAEP_SHA384_MGF1SHA384,
                    (DigestAlg::Sha512, DigestAlg::Sha512) => &OAEP_SHA512_MGF1SHA512,
                    (digest, mgf) => {
                        let what = format!("OAEP encryption with {digest} and MGF1 with {mgf}");
                        return Err(Failure::Unsupported { what });
                    }
                };
                let key = OaepPublicEncryptingKey::new(key).map_err(refused)?;
                let label = Some(&self.label[..]);
                key.encrypt(algorithm, message, &mut ciphertext, label).map_err(refused)?.len()
            }
        };
        ciphertext.truncate(len);
        Ok(ciphertext)
    }

    /// Takes settings; those that it does not know are left alone.
    pub(crate) fn set(&mut self, params: Params<'_>) -> Result<(), Failure> {
        if let Some(word) = params.word(name::PAD_MODE) {
            self.padding = padding(word)?;
        }
        if let Some(name) = params.text(name::OAEP_DIGEST) {
            self.digest = Some(Digest::named(name)?);
        }
        if let Some(name) = params.text(name::MGF1_DIGEST) {
            self.mgf = Some(Digest::named(name)?);
        }
        if let Some(label) = params.octets(name::OAEP_LABEL) {
            self.label = label.to_vec();
        }
        if params.number(name::IMPLICIT_REJECTION) == Some(0) {
            return Err(Failure::Unsupported { what: "decryption that shows a bad padding".to_owned() });
        }
        let version = |name| params.number(name).and_then(|number| u16::try_from(number).ok());
        self.client_version = version(name::TLS_CLIENT_VERSION).or(self.client_version);
        self.negotiated_version = version(name::TLS_NEGOTIATED_VERSION).or(self.negotiated_version);
        Ok(())
    }

    /// Fills in what is asked. False where a place is too small.
    pub(crate) fn get(&self, wanted: &mut Wanted<'_>) -> bool {
        let (number, text) = match self.padding {
            Padding::Pkcs1 => (1, c"pkcs1"),
            Padding::Oaep => (4, c"oaep"),
            Padding::Tls => (7, c"tls"),
        };
        let mut is_written = match wanted.wants_text(name::PAD_MODE) {
            Some(true) => wanted.text(name::PAD_MODE, text),
            _ => wanted.number(name::PAD_MODE, number),
        };
        if let Some(digest) = self.digest {
            is_written &= wanted.text(name::OAEP_DIGEST, digest.canonical);
        }
        if let Some(mgf) = self.mgf.or(self.digest) {
            is_written &= wanted.text(name::MGF1_DIGEST, mgf.canonical);
        }
        is_written & wanted.octets(name::OAEP_LABEL, &self.label)
    }

    fn key(&self) -> Result<&Key, Failure> {
        self.key.as_ref().ok_or(Failure::NoKey)
    }

    fn public_key(&self) -> Result<PublicEncryptingKey, Failure> {
        let key = self.key()?;
        PublicEncryptingKey::from_der(&export::spki_der(key)?)
            .map_err(|_| Failure::Unsupported { what: format!("encryption with {:?}", key.kind()) })
    }

    /// SHA-1 where none is named. RFC 8017 A.2.1.
    fn oaep_digests(&self) -> Result<(DigestAlg, DigestAlg), Failure> {
        let digest = self.digest.map_or_else(|| Digest::named("SHA1"), Ok)?;
        let mgf = self.mgf.unwrap_or(digest);
        Ok((digest.in_hall("OAEP")?, mgf.in_hall("MGF1")?))
    }
}

fn padding(word: Word<'_>) -> Result<Padding, Failure> {
    match word {
        Word::Number(1) | Word::Text("pkcs1") => Ok(Padding::Pkcs1),
        Word::Number(4) | Word::Text("oaep" | "oeap") => Ok(Padding::Oaep),
        Word::Number(7) => Ok(Padding::Tls),
        other => Err(Failure::Unsupported { what: format!("RSA encryption padding {other}") }),
    }
}

/// The message where it is a premaster secret of one of the two versions, else the other secret. RFC 5246 7.4.7.1.
///
/// That a message has 48 bytes may be seen: one that implicit rejection made has any length, whatever was encrypted. Which of
/// the two secrets is returned may not: the steps are the same.
fn premaster(
    message: &[u8],
    other: Zeroizing<[u8; PREMASTER_LEN]>,
    versions: [u16; 2],
) -> Zeroizing<Vec<u8>> {
    let Ok(message) = <&[u8; PREMASTER_LEN]>::try_from(message) else {
        return Zeroizing::new(other.to_vec());
    };
    let found = u16::from_be_bytes([message[0], message[1]]);
    let [client, negotiated] = versions;
    // Clients before SSL 3.0's rollback protection send the negotiated one; 0 stands for none.
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
    fn only_a_secret_of_the_right_version_is_taken() {
        let other = || Zeroizing::new([9; PREMASTER_LEN]);
        for (message, versions, is_taken) in [
            (&secret(0x0303)[..], [0x0303, 0], true),
            (&secret(0x0301), [0x0303, 0x0301], true),
            (&secret(0x0301), [0x0303, 0], false),
            (&secret(0), [0x0303, 0], false),
            (&secret(0x0303)[..47], [0x0303, 0], false),
            (&[], [0x0303, 0], false),
        ] {
            let found = premaster(message, other(), versions);
            assert_eq!(found[..], *(if is_taken { message } else { &[9; PREMASTER_LEN] }));
        }
    }
}
