//! Signing keys, and the choice of keys for each set.

use oarlock::{Key, NonceRule, Scheme};

use super::{SignedPart, ZoneSignError};
use crate::algorithm::DnssecAlgorithm;
use crate::dnskey::{Dnskey, REVOKE, ZonePublicKey, dnskey_rdata};
use crate::key_times::KeyPhase;
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

/// A key of a zone with its DNSKEY record: a private key, or a public one that does not sign now.
#[derive(Clone, Debug)]
pub struct SignerKey {
    key: Key,
    role: KeyRole,
    dnskey: Vec<u8>,
    algorithm: DnssecAlgorithm,
    tag: u16,
    phase: KeyPhase,
}

impl SignerKey {
    /// Makes an active or revoked key from a private key and its DNSKEY's flags and algorithm. The public half must be
    /// known, even if a holder has the private half.
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
        let phase = if flags & REVOKE == 0 { KeyPhase::Active } else { KeyPhase::Revoked };
        Ok(Self { key, role, dnskey, algorithm, tag, phase })
    }

    /// Makes a key that does not sign from the data of its DNSKEY, for phases that need no private key.
    ///
    /// # Errors
    /// The DNSKEY holds no usable key, this crate does not sign with its algorithm, or keys sign in the phase.
    pub fn public(dnskey: &[u8], role: KeyRole, phase: KeyPhase) -> Result<Self, ZoneSignError> {
        let parsed = Dnskey::parse(dnskey)?;
        let (algorithm, tag) = (parsed.algorithm, parsed.key_tag());
        match parsed.public_key()? {
            ZonePublicKey::Accelerated(_) if phase.signs() => Err(ZoneSignError::PublicKey),
            ZonePublicKey::Accelerated(key) => {
                Ok(Self { key, role, dnskey: dnskey.to_vec(), algorithm, tag, phase })
            }
            ZonePublicKey::Ed448(_) => Err(ZoneSignError::CannotSign(algorithm)),
        }
    }

    /// Puts the key into a phase, which decides whether it is in the zone and whether it signs. A key that is not in
    /// the zone is removed if the given zone has it. The flags are not changed: those of a revoked key have
    /// [`REVOKE`](crate::REVOKE).
    #[must_use]
    pub fn with_phase(mut self, phase: KeyPhase) -> Self {
        self.phase = phase;
        self
    }

    /// Returns the phase of the key.
    #[must_use]
    pub fn phase(&self) -> KeyPhase {
        self.phase
    }

    /// Returns the private key, the reference to its holder, or the public key of a key that does not sign now.
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

    pub(crate) fn scheme(&self, nonce: NonceRule) -> Result<Scheme, ZoneSignError> {
        self.algorithm.sign_scheme(nonce).ok_or(ZoneSignError::CannotSign(self.algorithm))
    }

    /// Returns true if the key is in the zone or signs.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        self.phase.is_published() || self.phase.signs()
    }

    /// Returns true if the DNSKEY has the revoke bit.
    pub(crate) fn is_revoked(&self) -> bool {
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
        keys.sort_by(|one, two| {
            (one.algorithm, one.tag, &one.dnskey).cmp(&(two.algorithm, two.tag, &two.dnskey))
        });
        check_tags(&keys)?;
        if keys.is_empty() {
            return Err(ZoneSignError::NoKey);
        }
        let of_keys = signers(&keys, SignedPart::Keys)?;
        let of_rest = signers(&keys, SignedPart::Rest)?;
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

    /// Returns the keys that are in the zone or sign.
    pub(super) fn in_use(&self) -> impl Iterator<Item = &SignerKey> {
        self.keys.iter().filter(|key| key.is_in_use())
    }

    /// Returns true for a DNSKEY of the given zone that one of the keys replaces: the key is not in the zone now, or it
    /// is revoked and the DNSKEY is not.
    pub(super) fn replaces(&self, dnskey: &[u8]) -> bool {
        let Ok(old) = Dnskey::parse(dnskey) else { return false };
        self.keys.iter().any(|key| {
            let is_same = Dnskey::parse(&key.dnskey).is_ok_and(|new| new.has_same_key(&old));
            is_same && (!key.phase.is_published() || key.is_revoked() && !old.is_revoked())
        })
    }

    pub(super) fn has_algorithm(&self, algorithm: DnssecAlgorithm) -> bool {
        self.in_use().any(|key| key.algorithm == algorithm)
    }
}

/// Checks that keys, in the order of their tags, are different, and that no two in use have one tag. Signatures name
/// their key by its tag, so a validator would try both, and some try only one. dnssec-signzone signs with one of them.
fn check_tags(keys: &[SignerKey]) -> Result<(), ZoneSignError> {
    if let Some([SignerKey { tag, algorithm, .. }, ..]) =
        keys.windows(2).find(|pair| pair[0].dnskey == pair[1].dnskey)
    {
        return Err(ZoneSignError::SameKey { tag: *tag, algorithm: *algorithm });
    }
    let in_use: Vec<&SignerKey> = keys.iter().filter(|key| key.is_in_use()).collect();
    let has_one_tag =
        |pair: &&[&SignerKey]| (pair[0].algorithm, pair[0].tag) == (pair[1].algorithm, pair[1].tag);
    match in_use.windows(2).find(has_one_tag) {
        Some([SignerKey { tag, algorithm, .. }, ..]) => {
            Err(ZoneSignError::SameTag { tag: *tag, algorithm: *algorithm })
        }
        _ => Ok(()),
    }
}

/// Returns the keys that sign a part of the zone: of each algorithm the active keys of the part's role. If an
/// algorithm has no keys of that role, its other active keys sign, because every set needs every algorithm.
fn signers(keys: &[SignerKey], part: SignedPart) -> Result<Vec<usize>, ZoneSignError> {
    let is_preferred = |key: &SignerKey| match part {
        SignedPart::Keys => key.role != KeyRole::Zsk,
        SignedPart::Rest => key.role != KeyRole::Ksk,
    };
    // A key of the role that does not sign now still claims the role. Otherwise a KSK would sign the whole zone between
    // two ZSKs, or a ZSK the keys, which no DS record covers. dnssec-signzone fails then too.
    let has_preferred = |algorithm: DnssecAlgorithm| {
        let claims = |key: &SignerKey| key.is_in_use() && !key.is_revoked() && is_preferred(key);
        keys.iter().any(|key| key.algorithm == algorithm && claims(key))
    };
    let signs = |key: &SignerKey| match key.is_revoked() {
        // RFC 5011 2.1: a revoked key signs the keys, to prove its revocation, and nothing else.
        true => part == SignedPart::Keys && key.phase.signs(),
        false => key.phase.signs() && (is_preferred(key) || !has_preferred(key.algorithm)),
    };
    let signers: Vec<usize> = (0..keys.len()).filter(|index| signs(&keys[*index])).collect();
    check_signers(keys, &signers, part)?;
    Ok(signers)
}

/// Checks that a published key of each published algorithm signs.
fn check_signers(keys: &[SignerKey], signers: &[usize], part: SignedPart) -> Result<(), ZoneSignError> {
    let is_valid = |key: &SignerKey| key.phase.is_published() && !key.is_revoked();
    let is_signed = |algorithm: DnssecAlgorithm| {
        let mut signers = signers.iter().map(|index| &keys[*index]);
        signers.any(|key| key.algorithm == algorithm && is_valid(key))
    };
    let mut published = keys.iter().filter(|key| is_valid(key)).map(|key| key.algorithm).peekable();
    let unsigned = match published.peek() {
        Some(_) => published.find(|algorithm| !is_signed(*algorithm)),
        // The algorithm of the first key stands for all.
        None => keys.first().map(|key| key.algorithm),
    };
    let Some(algorithm) = unsigned else { return Ok(()) };
    let keys = keys.iter().filter(|key| key.algorithm == algorithm).map(|key| (key.tag, key.phase));
    Err(ZoneSignError::NoActiveKey { part, algorithm, keys: keys.collect() })
}
