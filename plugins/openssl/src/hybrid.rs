//! Keys of the TLS 1.3 groups that join ML-KEM with an elliptic curve: one share, one ciphertext and one secret of
//! both. RFC 10024.
//!
//! A group is a KEM for libssl. The client generates a key, and its public half is the share. The server encapsulates
//! for that share: the ciphertext is the server's share, with a new key of the curve in it.

use std::sync::{PoisonError, RwLock};

use oarlock::MlKemSet;
use oarlock::tls_groups::{ClientKey, ClientShare, Group, ServerKey};
use zeroize::Zeroizing;

use crate::error::ProviderError;
use crate::ffi::libcrypto::params::{ParamList, ParamReader, ParamWriter};
use crate::parameters::{KeySelection, name};
use crate::provider::LoadedProvider;

/// The results of an encapsulation.
pub(crate) struct EncapsulatedSecret {
    pub(crate) ciphertext: Vec<u8>,
    pub(crate) secret: Zeroizing<Vec<u8>>,
}

/// A key of the group's key manager. It starts empty; libssl fills it with the peer's share, or generates it.
pub(crate) struct HybridKey {
    provider: LoadedProvider,
    pub(crate) group: Group,
    // OpenSSL lends a key to several threads at once.
    pair: RwLock<Option<HybridPair>>,
}

/// The keys of both schemes.
#[derive(Clone)]
pub(crate) struct HybridPair {
    keys: HybridKeys,
    /// The share of this pair.
    public: Vec<u8>,
}

#[derive(Clone)]
enum HybridKeys {
    Own(ClientKey),
    OfPeer(ClientShare),
}

impl HybridKey {
    pub(crate) fn new(provider: &LoadedProvider, group: Group) -> Self {
        Self { provider: provider.clone(), group, pair: RwLock::new(None) }
    }

    /// Generates the client's key. Both public halves are computed together.
    pub(crate) fn generate(provider: &LoadedProvider, group: Group) -> Result<Self, ProviderError> {
        let pair = HybridPair::generate(provider, group)?;
        Ok(Self { provider: provider.clone(), group, pair: RwLock::new(Some(pair)) })
    }

    pub(crate) fn provider(&self) -> &LoadedProvider {
        &self.provider
    }

    pub(crate) fn pair(&self) -> Option<HybridPair> {
        self.pair.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn has(&self, selection: KeySelection) -> bool {
        match self.pair() {
            Some(pair) => pair.has_private() || !selection.private(),
            None => !selection.keypair(),
        }
    }

    pub(crate) fn matches(&self, other: &Self, selection: KeySelection) -> bool {
        let public = |key: &Self| key.pair().map(|pair| pair.public);
        self.group == other.group && (!selection.keypair() || public(self) == public(other))
    }

    /// Copies the selected parts. An ephemeral pair without its private half becomes a public one.
    pub(crate) fn copy_selected(&self, selection: KeySelection) -> Result<Self, ProviderError> {
        let copy = Self::new(&self.provider, self.group);
        match self.pair() {
            Some(pair) if selection.private() || !pair.has_private() && selection.keypair() => {
                *copy.pair.write().unwrap_or_else(PoisonError::into_inner) = Some(pair);
            }
            Some(pair) if selection.keypair() => copy.set_public(&pair.public)?,
            _ => {}
        }
        Ok(copy)
    }

    /// Sets the peer's share.
    pub(crate) fn set(&self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        params.octets(name::ENCODED_PUBLIC).map_or(Ok(()), |share| self.set_public(share))
    }

    /// Imports a public key. Private halves are ephemeral here and come from the generation alone.
    pub(crate) fn import(
        &self,
        params: ParamReader<'_>,
        selection: KeySelection,
    ) -> Result<(), ProviderError> {
        if selection.private() && params.has(name::PRIVATE) {
            let what = format!("the import of a private key of {}", self.group.name());
            return Err(ProviderError::Unsupported { what });
        }
        self.set_public(params.octets(name::PUBLIC).ok_or(ProviderError::NoKey)?)
    }

    /// Exports the public key. None if there is none, or if the private half is asked for.
    pub(crate) fn export(&self, selection: KeySelection) -> Option<ParamList> {
        let mut made = ParamList::default();
        if selection.keypair() {
            let pair = self.pair()?;
            if selection.private() && pair.has_private() {
                return None;
            }
            made.octets(name::PUBLIC, &pair.public);
        }
        Some(made)
    }

    fn set_public(&self, share: &[u8]) -> Result<(), ProviderError> {
        // Everything that is wrong with a share is found here: libssl answers it with the alert illegal_parameter, and
        // a failure of the encapsulation with internal_error.
        let pair = HybridPair::of_peer(self.group, share)?;
        *self.pair.write().unwrap_or_else(PoisonError::into_inner) = Some(pair);
        Ok(())
    }

    /// Writes the parameters that are asked for. False if a buffer is too small.
    pub(crate) fn describe(&self, wanted: &mut ParamWriter<'_>) -> bool {
        let len = |len: usize| i64::try_from(len).unwrap_or(i64::MAX);
        let is_written = wanted.number(name::BITS, 8 * len(self.group.client_share_len()))
            & wanted.number(name::SECURITY_BITS, security_bits(self.group).into())
            & wanted.number(name::MAX_SIZE, len(self.group.server_share_len()));
        let Some(pair) = self.pair() else { return is_written };
        is_written
            & wanted.octets(name::PUBLIC, &pair.public)
            & wanted.octets(name::ENCODED_PUBLIC, &pair.public)
    }
}

impl HybridPair {
    fn generate(provider: &LoadedProvider, group: Group) -> Result<Self, ProviderError> {
        let key = ClientKey::generate(group)?;
        let public = key.share(&provider.run_together(&key.share_jobs())?)?;
        Ok(Self { keys: HybridKeys::Own(key), public })
    }

    /// Checks the share of a peer.
    fn of_peer(group: Group, share: &[u8]) -> Result<Self, ProviderError> {
        let keys = HybridKeys::OfPeer(ClientShare::read(group, share)?);
        Ok(Self { keys, public: share.to_vec() })
    }

    pub(crate) fn group(&self) -> Group {
        match &self.keys {
            HybridKeys::Own(key) => key.group(),
            HybridKeys::OfPeer(share) => share.group(),
        }
    }

    pub(crate) fn has_private(&self) -> bool {
        matches!(self.keys, HybridKeys::Own(_))
    }

    /// Makes the server's share and the secret for this peer. Both schemes are computed together.
    pub(crate) fn encapsulate(&self, provider: &LoadedProvider) -> Result<EncapsulatedSecret, ProviderError> {
        let HybridKeys::OfPeer(client) = &self.keys else {
            // An ephemeral ML-KEM key is without its public half.
            return Self::of_peer(self.group(), &self.public)?.encapsulate(provider);
        };
        let key = ServerKey::generate(client)?;
        let answer = key.finish(&provider.run_together(&key.jobs())?)?;
        Ok(EncapsulatedSecret { ciphertext: answer.share, secret: answer.secret })
    }

    /// Returns the secret of the server's share. Both schemes are computed together.
    pub(crate) fn decapsulate(
        &self,
        provider: &LoadedProvider,
        share: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let HybridKeys::Own(key) = &self.keys else { return Err(ProviderError::NoKey) };
        Ok(key.secret(&provider.run_together(&key.secret_jobs(share)?)?)?)
    }
}

/// The security strength in bits, which is that of ML-KEM: SP 800-57 part 1, and FIPS 203 table 2.
pub(crate) const fn security_bits(group: Group) -> u16 {
    if matches!(group.ml_kem(), Some(MlKemSet::MlKem1024)) { 256 } else { 192 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUPS: [Group; 3] = [Group::X25519MlKem768, Group::SecP256r1MlKem768, Group::SecP384r1MlKem1024];

    #[test]
    fn a_secret_is_made_for_a_peer_and_for_an_own_pair() {
        let provider = LoadedProvider::detached();
        for group in GROUPS {
            let client = HybridPair::generate(&provider, group).unwrap();
            let peer = HybridPair::of_peer(group, &client.public).unwrap();
            assert!(matches!(peer.decapsulate(&provider, &[]), Err(ProviderError::NoKey)));
            for made_for in [peer, client.clone()] {
                let made = made_for.encapsulate(&provider).unwrap();
                assert_eq!(made.ciphertext.len(), group.server_share_len());
                let secret = client.decapsulate(&provider, &made.ciphertext).unwrap();
                assert_eq!(secret, made.secret, "{group:?}");
                let error = client.decapsulate(&provider, &made.ciphertext[1..]).unwrap_err();
                assert!(error.to_string().contains(group.name()), "{error}");
            }
        }
    }
}
