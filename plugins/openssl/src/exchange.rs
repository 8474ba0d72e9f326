//! Exchange contexts: X25519 and ECDH.

use std::ffi::CStr;
use std::sync::Arc;

use oarlock::{Job, Key};
use zeroize::Zeroizing;

use crate::digest::NamedDigest;
use crate::error::ProviderError;
use crate::ffi::libcrypto::abi::keyexch;
use crate::ffi::libcrypto::fallback::{FallbackContext, FallbackKey, KEYEXCH};
use crate::ffi::libcrypto::params::{ParamList, ParamReader, ParamWriter};
use crate::handover::OwnContext;
use crate::key::{KeyFamily, ProviderKey};
use crate::provider::LoadedProvider;

/// Names of parameters: `core_names.h`.
pub(crate) mod name {
    use std::ffi::CStr;
    pub(crate) const COFACTOR_MODE: &CStr = c"ecdh-cofactor-mode";
    pub(crate) const KDF_TYPE: &CStr = c"kdf-type";
    pub(crate) const KDF_DIGEST: &CStr = c"kdf-digest";
    pub(crate) const KDF_LEN: &CStr = c"kdf-outlen";
    pub(crate) const KDF_UKM: &CStr = c"kdf-ukm";
}

/// The name of the key derivation of ANSI X9.63 in OpenSSL.
const X963: &CStr = c"X963KDF";

/// The number of bytes in a shared secret of X25519. RFC 7748 6.1.
const X25519_SECRET_LEN: usize = 32;

/// The longest output of a key derivation. OpenSSL has the same limit, `ECDH_KDF_MAX`.
const MAX_DERIVED: usize = 1 << 30;

/// A context of a key exchange.
#[derive(Clone)]
pub(crate) struct ExchangeContext {
    provider: LoadedProvider,
    family: KeyFamily,
    key: Option<Key>,
    peer: Option<ExchangePeer>,
    kdf: SecretDerivation,
}

/// The peer's public key.
#[derive(Clone)]
struct ExchangePeer {
    key: Key,
    /// As the job takes it: a u-coordinate or an uncompressed point.
    encoded: Vec<u8>,
}

/// The derivation of a key from a shared secret by ANSI X9.63, which CMS uses (RFC 5753 7.2).
#[derive(Clone, Default)]
struct SecretDerivation {
    /// False if the shared secret itself is the output.
    is_wanted: bool,
    digest: Option<&'static NamedDigest>,
    len: usize,
    /// The shared information, which OpenSSL calls the user keying material.
    info: Vec<u8>,
}

impl ExchangeContext {
    pub(crate) fn new(provider: LoadedProvider, family: KeyFamily) -> Self {
        Self { provider, family, key: None, peer: None, kdf: SecretDerivation::default() }
    }

    /// Begins an exchange with an own key.
    pub(crate) fn init(
        &mut self,
        key: Option<&ProviderKey>,
        params: ParamReader<'_>,
    ) -> Result<(), ProviderError> {
        self.key = self.key_of_family(key);
        (self.peer, self.kdf) = (None, SecretDerivation::default());
        if self.key.is_none() {
            return Err(ProviderError::NoKey);
        }
        self.set(params)
    }

    /// Sets the peer's public key.
    pub(crate) fn set_peer(&mut self, key: Option<&ProviderKey>) -> Result<(), ProviderError> {
        self.peer = None;
        let private = self.key.as_ref().ok_or(ProviderError::NoKey)?;
        if key.is_some_and(|key| key.foreign().is_some()) {
            return Err(ProviderError::Unsupported { what: "agreement with this kind of key".to_owned() });
        }
        let peer = self.key_of_family(key).ok_or(ProviderError::NoKey)?;
        let public = match (private.ec_public(), peer.ec_public()) {
            (Some((key_curve, _)), Some((curve, point))) if key_curve == curve => Some(point),
            (Some((key_curve, _)), Some((curve, _))) => {
                let expected = format!("a key on {key_curve}, found one on {curve}");
                return Err(ProviderError::Parameter { what: "peer", expected });
            }
            _ => peer.x25519_public().map(|public| &public[..]),
        };
        let encoded = public.ok_or(ProviderError::NoKey)?.to_vec();
        self.peer = Some(ExchangePeer { key: peer, encoded });
        Ok(())
    }

    /// Returns the length of the output in a buffer of `size` bytes. Without a buffer the caller asks for the length.
    pub(crate) fn output_len(&self, size: Option<usize>) -> Result<usize, ProviderError> {
        if self.kdf.is_wanted {
            return Ok(self.kdf.len);
        }
        let key = self.key.as_ref().ok_or(ProviderError::NoKey)?;
        Ok(match (key.ec_public(), size) {
            (None, _) => X25519_SECRET_LEN,
            (Some((curve, _)), None) => curve.scalar_len(),
            // OpenSSL cuts a secret of ECDH that is longer than the buffer (ecdh_exch.c), and programs may rely on it.
            (Some((curve, _)), Some(size)) => curve.scalar_len().min(size),
        })
    }

    /// Computes `len` bytes of the output.
    pub(crate) fn derive(&self, len: usize) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let (Some(key), Some(peer)) = (&self.key, &self.peer) else { return Err(ProviderError::NoKey) };
        // A peer of small order (RFC 7748 6.1) or off the curve (NIST SP 800-56A 5.6.2.3) is an error of the engine.
        let mut secret = self.provider.run(&Job::agree(key, &peer.encoded))?;
        if self.kdf.is_wanted {
            return self.kdf.derive(&secret, len);
        }
        secret.truncate(len);
        Ok(secret)
    }

    fn key_of_family(&self, key: Option<&ProviderKey>) -> Option<Key> {
        key.filter(|key| key.family == self.family)?.get()
    }
}

impl OwnContext for ExchangeContext {
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
        true
    }

    fn set(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        if self.family != KeyFamily::Ec {
            return Ok(());
        }
        let mut kdf = self.kdf.clone();
        kdf.set(params)?;
        self.kdf = kdf;
        Ok(())
    }

    fn get(&self, wanted: &mut ParamWriter<'_>) -> Result<bool, ProviderError> {
        let kdf = if self.kdf.is_wanted { X963 } else { c"" };
        let digest = self.kdf.digest.map_or(c"", |digest| digest.canonical);
        Ok(wanted.number(name::COFACTOR_MODE, 0)
            & wanted.text(name::KDF_TYPE, kdf)
            & wanted.text(name::KDF_DIGEST, digest)
            & wanted.number(name::KDF_LEN, i64::try_from(self.kdf.len).unwrap_or(i64::MAX)))
    }

    fn new_fallback(&self, key: Arc<FallbackKey>) -> Option<FallbackContext> {
        let name = if self.family == KeyFamily::Ec { "ECDH" } else { self.family.name() };
        FallbackContext::new(&KEYEXCH, name, key, None)
    }

    fn replay(&self, fallback: &mut FallbackContext) -> bool {
        if self.kdf.to_params().with(|params| fallback.init(keyexch::INIT, params)) != 1 {
            return false;
        }
        let Some(peer) = &self.peer else { return true };
        let peer = ProviderKey::new(&self.provider, self.family, Some(peer.key.clone())).to_fallback();
        peer.is_some_and(|peer| fallback.set_peer(&peer) == 1)
    }
}

impl SecretDerivation {
    fn set(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        if let Some(mode) = params.number(name::COFACTOR_MODE)
            && !(-1..=1).contains(&mode)
        {
            // The curves have cofactor 1, so all modes compute the same.
            let expected = "-1, 0 or 1".to_owned();
            return Err(ProviderError::Parameter { what: "ecdh-cofactor-mode", expected });
        }
        if let Some(kdf) = params.text(name::KDF_TYPE) {
            self.is_wanted = match kdf {
                "" => false,
                _ if X963.to_bytes() == kdf.as_bytes() => true,
                other => {
                    let what = format!("the key derivation {other}");
                    return Err(ProviderError::Unsupported { what });
                }
            };
        }
        if let Some(name) = params.text(name::KDF_DIGEST) {
            self.digest = Some(NamedDigest::named(name)?);
        }
        if let Some(len) = params.number(name::KDF_LEN) {
            let too_long = || ProviderError::Parameter {
                what: "kdf-outlen",
                expected: format!("at most {MAX_DERIVED}"),
            };
            let len = usize::try_from(len).ok().filter(|len| *len <= MAX_DERIVED);
            self.len = len.ok_or_else(too_long)?;
        }
        if let Some(info) = params.octets(name::KDF_UKM) {
            self.info = info.to_vec();
        }
        Ok(())
    }

    /// Returns the parameters that make another context the same.
    fn to_params(&self) -> ParamList {
        let mut params = ParamList::default();
        if !self.is_wanted {
            return params;
        }
        params.text(name::KDF_TYPE, X963.to_str().unwrap_or_default());
        if let Some(digest) = self.digest {
            params.text(name::KDF_DIGEST, digest.canonical.to_str().unwrap_or_default());
        }
        params.integer(name::KDF_LEN, &self.len.to_be_bytes());
        if !self.info.is_empty() {
            params.octets(name::KDF_UKM, &self.info);
        }
        params
    }

    /// Hashes the secret, a counter from 1 and the shared information, as often as the output needs. SEC 1 3.6.1.
    fn derive(&self, secret: &[u8], len: usize) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let digest = self.digest.ok_or(ProviderError::NotInitialised)?;
        // Reserved at once: a vector that grows leaves copies behind.
        let mut out = Zeroizing::new(Vec::with_capacity(len.next_multiple_of(digest.len())));
        for counter in 1_u32.. {
            if out.len() >= len {
                break;
            }
            let mut hasher = digest.hasher();
            hasher.update(secret);
            hasher.update(&counter.to_be_bytes());
            hasher.update(&self.info);
            out.extend_from_slice(hasher.finish().as_ref());
        }
        out.truncate(len);
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    }

    fn derive(digest: &str, secret: &str, info: &str, len: usize) -> Vec<u8> {
        let digest = Some(NamedDigest::named(digest).unwrap());
        let kdf = SecretDerivation { is_wanted: true, digest, len, info: hex(info) };
        kdf.derive(&hex(secret), len).unwrap().to_vec()
    }

    /// NIST CAVP, ANSI X9.63-2001 KDF: the first cases of SHA-1 and SHA-256.
    #[test]
    fn derives_the_keys_of_nists_examples() {
        assert_eq!(
            derive("SHA1", "1c7d7b5f0597b03d06a018466ed1a93e30ed4b04dc64ccdd", "", 16),
            hex("bf71dffd8f4d99223936beb46fee8ccc")
        );
        assert_eq!(
            derive("SHA256", "96c05619d56c328ab95fe84b18264b08725b85e33fd34f08", "", 16),
            hex("443024c3dae66b95e6f5670601558f71")
        );
    }

    #[test]
    fn a_long_key_begins_with_the_short_one_and_depends_on_the_shared_information() {
        let long = derive("SHA256", "0102", "aa", 100);
        assert_eq!((long.len(), &long[..33]), (100, &derive("SHA256", "0102", "aa", 33)[..]));
        assert_ne!(long[..32], long[32..64]);
        assert_ne!(long, derive("SHA256", "0102", "ab", 100));
        assert!(derive("SHA256", "0102", "aa", 0).is_empty());
    }
}
