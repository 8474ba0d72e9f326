//! Keys that sign, and which of them signs what.

use oarlock::KeyKind;
use oarlock::{Key, NonceRule, Scheme};

use super::ZoneSignError;
use crate::algorithm::DnssecAlgorithm;
use crate::dnskey::{Dnskey, dnskey_rdata};
use crate::rtype::RecordType;

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRole {
    /// It signs the zone's keys.
    Ksk,
    /// It signs all else.
    Zsk,
    /// It signs everything.
    Csk,
}

/// A key that signs.
#[derive(Clone, Debug)]
pub struct SignerKey {
    key: Key,
    role: KeyRole,
    dnskey: Vec<u8>,
    algorithm: DnssecAlgorithm,
    tag: u16,
}

impl SignerKey {
    /// A private key, with its DNSKEY's flags and algorithm. The public half of a key that is held elsewhere has to be known.
    ///
    /// # Errors
    /// The key is public, or not of the algorithm, or nobody signs with it here.
    pub fn new(
        key: Key,
        role: KeyRole,
        flags: u16,
        algorithm: DnssecAlgorithm,
    ) -> Result<Self, ZoneSignError> {
        if !algorithm.can_sign() {
            return Err(ZoneSignError::CannotSign(algorithm));
        }
        if matches!(key.kind(), KeyKind::RsaPublic(_) | KeyKind::EcPublic(_) | KeyKind::Ed25519Public) {
            return Err(ZoneSignError::PublicKey);
        }
        let dnskey = dnskey_rdata(flags, algorithm, &key)?;
        let tag = Dnskey::parse(&dnskey)?.key_tag();
        Ok(Self { key, role, dnskey, algorithm, tag })
    }

    /// The private key, or who holds it.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// What it is for.
    #[must_use]
    pub fn role(&self) -> KeyRole {
        self.role
    }

    /// Its DNSKEY's data.
    #[must_use]
    pub fn dnskey(&self) -> &[u8] {
        &self.dnskey
    }

    /// Its algorithm.
    #[must_use]
    pub fn algorithm(&self) -> DnssecAlgorithm {
        self.algorithm
    }

    /// Its tag.
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

/// All keys, and which of them sign what. Everything is signed with every algorithm. RFC 4035 2.2.
#[derive(Clone, Debug)]
pub(super) struct KeyRing {
    keys: Vec<SignerKey>,
    /// Those that sign the zone's keys, and those that sign all else, in the order of their signatures.
    of_keys: Vec<usize>,
    of_rest: Vec<usize>,
}

impl KeyRing {
    pub(super) fn new(mut keys: Vec<SignerKey>) -> Result<Self, ZoneSignError> {
        keys.sort_by_key(|key| (key.algorithm, key.tag));
        let same = keys.windows(2).find(|pair| pair[0].dnskey == pair[1].dnskey);
        if let Some([SignerKey { tag, algorithm, .. }, ..]) = same {
            return Err(ZoneSignError::SameKey { tag: *tag, algorithm: *algorithm });
        }
        let of_keys = signers(&keys, |key| key.role != KeyRole::Zsk, |_| true);
        let of_rest = signers(&keys, |key| key.role != KeyRole::Ksk, |key| !key.is_revoked());
        if of_rest.is_empty() {
            return Err(ZoneSignError::NoKey);
        }
        Ok(Self { keys, of_keys, of_rest })
    }

    pub(super) fn keys(&self) -> &[SignerKey] {
        &self.keys
    }

    /// The keys that sign a set at the zone's own name, or elsewhere. What speaks of keys to the parent is signed like the keys.
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

/// Of each algorithm the keys that are preferred; all of it where there are none such.
fn signers(
    keys: &[SignerKey],
    is_preferred: impl Fn(&SignerKey) -> bool,
    is_allowed: impl Fn(&SignerKey) -> bool,
) -> Vec<usize> {
    let has_preferred = |algorithm: DnssecAlgorithm| {
        keys.iter().any(|key| key.algorithm == algorithm && is_allowed(key) && is_preferred(key))
    };
    let signs = |key: &SignerKey| is_allowed(key) && (is_preferred(key) || !has_preferred(key.algorithm));
    (0..keys.len()).filter(|index| signs(&keys[*index])).collect()
}
