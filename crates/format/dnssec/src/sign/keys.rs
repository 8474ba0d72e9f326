//! Signing keys, and the choice of keys for each set.

use oarlock::{Key, NonceRule, Scheme};

use super::ZoneSignError;
use crate::algorithm::DnssecAlgorithm;
use crate::dnskey::{Dnskey, dnskey_rdata};
use crate::rtype::RecordType;

/// The role of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRole {
    /// The key signs the zone's keys.
    Ksk,
    /// The key signs everything else.
    Zsk,
    /// The key signs everything.
    Csk,
}

/// A private key with its DNSKEY record.
#[derive(Clone, Debug)]
pub struct SignerKey {
    key: Key,
    role: KeyRole,
    dnskey: Vec<u8>,
    algorithm: DnssecAlgorithm,
    tag: u16,
}

impl SignerKey {
    /// Makes a signing key from a private key and its DNSKEY's flags and algorithm. The public half must be known,
    /// even if a holder has the private half.
    ///
    /// # Errors
    /// The key is public or of another algorithm, or this crate does not sign with the algorithm.
    pub fn new(
        key: Key,
        role: KeyRole,
        flags: u16,
        algorithm: DnssecAlgorithm,
    ) -> Result<Self, ZoneSignError> {
        if !algorithm.can_sign() {
            return Err(ZoneSignError::CannotSign(algorithm));
        }
        if key.kind().is_public() {
            return Err(ZoneSignError::PublicKey);
        }
        // A held key whose public half is unknown fails here: without it there is no DNSKEY and no tag.
        let dnskey = dnskey_rdata(flags, algorithm, &key)?;
        let tag = Dnskey::parse(&dnskey)?.key_tag();
        Ok(Self { key, role, dnskey, algorithm, tag })
    }

    /// Returns the private key, or the reference to its holder.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Returns the role of the key.
    #[must_use]
    pub fn role(&self) -> KeyRole {
        self.role
    }

    /// Returns the data of the DNSKEY.
    #[must_use]
    pub fn dnskey(&self) -> &[u8] {
        &self.dnskey
    }

    /// Returns the algorithm.
    #[must_use]
    pub fn algorithm(&self) -> DnssecAlgorithm {
        self.algorithm
    }

    /// Returns the key tag.
    #[must_use]
    pub fn tag(&self) -> u16 {
        self.tag
    }

    pub(super) fn scheme(&self, nonce: NonceRule) -> Result<Scheme, ZoneSignError> {
        self.algorithm.sign_scheme(nonce).ok_or(ZoneSignError::CannotSign(self.algorithm))
    }

    fn is_revoked(&self) -> bool {
        Dnskey::parse(&self.dnskey).is_ok_and(|dnskey| dnskey.is_revoked())
    }
}

/// All signing keys, and the choice of keys for each set. Every set is signed with every algorithm. RFC 4035 2.2.
#[derive(Clone, Debug)]
pub(super) struct SigningKeys {
    keys: Vec<SignerKey>,
    /// The indices of the keys that sign the zone's keys, and of the keys that sign everything else, in the order of
    /// their signatures.
    of_keys: Vec<usize>,
    of_rest: Vec<usize>,
}

impl SigningKeys {
    pub(super) fn new(mut keys: Vec<SignerKey>) -> Result<Self, ZoneSignError> {
        // A fixed order makes the output independent of the order of the arguments.
        keys.sort_by_key(|key| (key.algorithm, key.tag));
        let same = keys.windows(2).find(|pair| pair[0].dnskey == pair[1].dnskey);
        if let Some([SignerKey { tag, algorithm, .. }, ..]) = same {
            return Err(ZoneSignError::SameKey { tag: *tag, algorithm: *algorithm });
        }
        let of_keys = signers(&keys, |key| key.role != KeyRole::Zsk, |_| true);
        // RFC 5011 2.1: a revoked key signs the keys, to prove its revocation, and nothing else.
        let of_rest = signers(&keys, |key| key.role != KeyRole::Ksk, |key| !key.is_revoked());
        if of_rest.is_empty() {
            return Err(ZoneSignError::NoKey);
        }
        Ok(Self { keys, of_keys, of_rest })
    }

    pub(super) fn keys(&self) -> &[SignerKey] {
        &self.keys
    }

    /// Returns the keys that sign a set at the apex or elsewhere. CDS and CDNSKEY records are signed like the keys.
    /// RFC 7344 4.1.
    pub(super) fn signers(
        &self,
        is_apex: bool,
        rtype: RecordType,
    ) -> impl ExactSizeIterator<Item = &SignerKey> {
        let is_about_keys =
            is_apex && matches!(rtype, RecordType::DNSKEY | RecordType::CDS | RecordType::CDNSKEY);
        let indices = if is_about_keys { &self.of_keys } else { &self.of_rest };
        indices.iter().map(|index| &self.keys[*index])
    }

    pub(super) fn has_algorithm(&self, algorithm: DnssecAlgorithm) -> bool {
        self.keys.iter().any(|key| key.algorithm == algorithm)
    }
}

/// Returns the preferred keys of each algorithm, or all keys of an algorithm without preferred ones.
fn signers(
    keys: &[SignerKey],
    is_preferred: impl Fn(&SignerKey) -> bool,
    is_allowed: impl Fn(&SignerKey) -> bool,
) -> Vec<usize> {
    let has_preferred = |algorithm: DnssecAlgorithm| {
        keys.iter().any(|key| key.algorithm == algorithm && is_allowed(key) && is_preferred(key))
    };
    // An algorithm that has only a KSK must sign all sets too, because every set needs every algorithm.
    let signs = |key: &SignerKey| is_allowed(key) && (is_preferred(key) || !has_preferred(key.algorithm));
    (0..keys.len()).filter(|index| signs(&keys[*index])).collect()
}
