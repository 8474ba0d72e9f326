//! KEM contexts: ML-KEM, and the groups that join it with a curve.

use oarlock::{Job, Key, KeyKind, MlKemSet};
use zeroize::Zeroizing;

use crate::error::ProviderError;
use crate::ffi::libcrypto::params::ParamReader;
use crate::hybrid::{EncapsulatedSecret, HybridKey, HybridPair};
use crate::provider::LoadedProvider;

/// Random bytes that a program gives an encapsulation for tests. `core_names.h`.
const IKME: &std::ffi::CStr = c"ikme";

/// A context of a KEM.
#[derive(Clone)]
pub(crate) struct KemContext {
    provider: LoadedProvider,
    key: Option<KemKey>,
}

/// The key of a KEM.
#[derive(Clone)]
pub(crate) enum KemKey {
    MlKem(Key),
    Hybrid(HybridPair),
}

/// A key of a key manager that may have a key for a KEM.
pub(crate) trait KemSource {
    fn kem_key(&self) -> Option<KemKey>;
}

impl KemSource for HybridKey {
    fn kem_key(&self) -> Option<KemKey> {
        self.pair().map(KemKey::Hybrid)
    }
}

impl KemContext {
    pub(crate) fn new(provider: LoadedProvider) -> Self {
        Self { provider, key: None }
    }

    pub(crate) fn provider(&self) -> &LoadedProvider {
        &self.provider
    }

    /// Begins to encapsulate for a public key, or to decapsulate with a private one.
    pub(crate) fn init(
        &mut self,
        key: Option<&impl KemSource>,
        params: ParamReader<'_>,
        needs_private: bool,
    ) -> Result<(), ProviderError> {
        self.key = None;
        let key = key.and_then(KemSource::kem_key).ok_or(ProviderError::NoKey)?;
        if needs_private && !key.has_private() {
            return Err(ProviderError::NoKey);
        }
        self.key = Some(key);
        self.set(params)
    }

    /// Sets parameters. Unknown parameters are ignored: OSSL_PARAM(3).
    pub(crate) fn set(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        if params.has(IKME) {
            return Err(ProviderError::Unsupported { what: "an encapsulation from given bytes".to_owned() });
        }
        Ok(())
    }

    /// Returns the number of bytes of the ciphertext and of the secret.
    pub(crate) fn output_lens(&self) -> Result<(usize, usize), ProviderError> {
        Ok(match self.key_or_error()? {
            KemKey::MlKem(key) => (ml_kem_set(key)?.ciphertext_len(), MlKemSet::SECRET_LEN),
            KemKey::Hybrid(pair) => (pair.group().server_share_len(), pair.group().secret_len()),
        })
    }

    pub(crate) fn encapsulate(&self) -> Result<EncapsulatedSecret, ProviderError> {
        match self.key_or_error()? {
            KemKey::Hybrid(pair) => pair.encapsulate(&self.provider),
            KemKey::MlKem(key) => {
                let answer = self.provider.run(&Job::encapsulate(key))?;
                let (ciphertext, secret) = answer.split_at(ml_kem_set(key)?.ciphertext_len());
                Ok(EncapsulatedSecret {
                    ciphertext: ciphertext.to_vec(),
                    secret: Zeroizing::new(secret.to_vec()),
                })
            }
        }
    }

    pub(crate) fn decapsulate(&self, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        match self.key_or_error()? {
            KemKey::Hybrid(pair) => pair.decapsulate(&self.provider, ciphertext),
            KemKey::MlKem(key) => {
                let len = ml_kem_set(key)?.ciphertext_len();
                if ciphertext.len() != len {
                    let expected = format!("{len} bytes, found {}", ciphertext.len());
                    return Err(ProviderError::Parameter { what: "ciphertext", expected });
                }
                self.provider.run(&Job::decapsulate(key, ciphertext))
            }
        }
    }

    fn key_or_error(&self) -> Result<&KemKey, ProviderError> {
        self.key.as_ref().ok_or(ProviderError::NotInitialised)
    }
}

impl KemKey {
    fn has_private(&self) -> bool {
        match self {
            Self::MlKem(key) => matches!(key.kind(), KeyKind::MlKemPrivate(_)),
            Self::Hybrid(pair) => pair.has_private(),
        }
    }
}

fn ml_kem_set(key: &Key) -> Result<MlKemSet, ProviderError> {
    match key.kind() {
        KeyKind::MlKemPrivate(set) | KeyKind::MlKemPublic(set) => Ok(set),
        _ => Err(ProviderError::NoKey),
    }
}
