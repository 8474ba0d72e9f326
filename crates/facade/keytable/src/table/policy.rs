//! Policies: the permitted uses of a key.

use std::fmt;
use std::sync::Arc;

use oarlock_core::{BlockCipher, KeyType};

use super::{IvCounter, KeyBreach, PolicyError, WeakKeyRule};

/// An operation with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyOperation {
    /// Encrypt the input of the caller or of an earlier record.
    Encrypt,
    /// Decrypt, for any caller.
    Decrypt,
    /// Make message authentication codes.
    Mac,
    /// Wrap keys from slots, if they may leave ([`KeyOperation::Export`]). Keys of the caller cannot do this.
    Wrap,
    /// Wrap the caller's bytes. A caller who may also unwrap them as a key then knows that key.
    WrapInClear,
    /// Unwrap keys into slots, for the uses that [`KeyPolicy::unwraps`] states.
    Unwrap,
    /// Unwrap bytes and return them to the caller.
    UnwrapInClear,
    /// Decrypt data that another key of the table encrypts in the same record or batch. The plaintext is never output.
    TranslateFrom,
    /// Encrypt the plaintext of a translation.
    TranslateTo,
    /// Leave the table, wrapped under a key that may wrap.
    Export,
}

/// The algorithm of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyAlgorithm {
    /// A block cipher in CBC mode.
    Cbc,
    /// AES-GCM.
    Gcm,
    /// AES-GCM-SIV. RFC 8452.
    GcmSiv,
    /// AES-SIV, under any IV or none. RFC 5297.
    Siv,
    /// FF1. NIST SP 800-38G.
    Ff1,
    /// ISO/IEC 9797-1 algorithm 1 with DES.
    DesMac,
    /// ISO/IEC 9797-1 algorithm 3 with DES.
    RetailMac,
    /// CMAC. NIST SP 800-38B.
    Cmac,
    /// HMAC with SHA-1.
    HmacSha1,
    /// HMAC with SHA-224.
    HmacSha224,
    /// HMAC with SHA-256.
    HmacSha256,
    /// HMAC with SHA-384.
    HmacSha384,
    /// HMAC with SHA-512.
    HmacSha512,
    /// AES key wrap. RFC 3394.
    Kw,
    /// AES key wrap with padding. RFC 5649.
    Kwp,
    /// Keys of the DES family, wrapped by triple DES block by block. ANSI X9.17 had it; nothing protects its integrity.
    LegacyEcb,
    /// Keys of the DES family, wrapped by triple DES in CBC mode with a zero IV; nothing protects its integrity.
    LegacyCbc,
}

/// The source of the IV of an encryption.
///
/// The IV of a decryption always comes from the caller. Only a key as its own IV must be allowed for decryption too,
/// because a chosen ciphertext then reveals the key.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum IvRule {
    /// The caller, who is responsible for it: fresh for CBC, never repeated for GCM.
    ///
    /// Under GCM, a caller who chooses nonces can decrypt and forge, because an encryption of zeros under the nonce
    /// of a record reveals its key stream. So under GCM no other source stands beside this one.
    Callers,
    /// The caller for CBC, and nobody for GCM.
    ///
    /// A key has this source for CBC only or for GCM only, because CBC under a chosen IV reveals the key stream of
    /// GCM.
    CallersForCbc,
    /// Drawn at random for each record and returned. Under GCM a key then encrypts at most 2^32 times. SP 800-38D 8.3.
    Random,
    /// Counted, and returned. Under GCM the counter must be one that outlives crashes.
    Counter(Arc<IvCounter>),
    /// Zeros. Never for GCM.
    Zero,
    /// The leading bytes of the key. Never for GCM.
    KeyItself,
}

/// The permitted uses of a key. Everything is forbidden until it is allowed.
///
/// ```
/// use oarlock_keytable::{KeyAlgorithm, IvRule, KeyOperation, KeyPolicy};
///
/// let policy = KeyPolicy::new()
///     .allow([KeyOperation::Encrypt, KeyOperation::Decrypt])
///     .with([KeyAlgorithm::Cbc])
///     .ivs([IvRule::Random])
///     .max_uses(1_000_000);
/// ```
#[derive(Clone, Debug, Default)]
pub struct KeyPolicy {
    pub(crate) operations: Vec<KeyOperation>,
    pub(crate) algorithms: Vec<KeyAlgorithm>,
    pub(crate) ivs: Vec<IvRule>,
    pub(crate) max_uses: Option<u64>,
    pub(crate) max_random_gcm: Option<u64>,
    pub(crate) weak_keys: WeakKeyRule,
    mac_len: Option<usize>,
    pub(crate) unwraps: Vec<(KeyType, Arc<KeyPolicy>)>,
    /// True if every user of the key has its bytes anyway, so that no rule can hide anything from them.
    is_callers_own: bool,
}

/// The length of the shortest code in bytes, as in ANSI X9.9. NIST SP 800-38B appendix A advises at least 8.
pub const MIN_MAC_LEN: usize = 4;

/// Encryptions under one key if any has a random IV. NIST SP 800-38D 8.3.
pub(crate) const MAX_RANDOM_GCM: u64 = 1 << 32;

impl KeyPolicy {
    /// Nothing is allowed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows everything that a key of this type can do with data, under the caller's, random or zero IVs. It does
    /// not allow wrapping.
    ///
    /// This is for callers who have the key itself. A key that several clients share needs a policy that states the
    /// rights of each. So does a key that is [unwrapped](Self::unwraps): its user does not have it, and encryption
    /// under chosen IVs would reveal the key stream of GCM and forge codes of blocks.
    #[must_use]
    pub fn any_data(key_type: KeyType) -> Self {
        use KeyOperation::{Decrypt, Encrypt, Mac, TranslateFrom, TranslateTo};
        let is_wrap = |algorithm: &KeyAlgorithm| algorithm.is_wrap();
        let policy = Self { is_callers_own: true, ..Self::new() };
        policy
            .allow([Encrypt, Decrypt, Mac, TranslateFrom, TranslateTo])
            .with(
                KeyAlgorithm::ALL
                    .into_iter()
                    .filter(|algorithm| algorithm.suits(key_type) && !is_wrap(algorithm)),
            )
            .ivs([IvRule::Callers, IvRule::Random, IvRule::Zero])
    }

    /// Returns a policy that unwraps keys of `key_type` by `algorithm`. The policy of such a key is `then`.
    #[must_use]
    pub fn unwrapping(algorithm: KeyAlgorithm, key_type: KeyType, then: Self) -> Self {
        Self::new().allow([KeyOperation::Unwrap]).with([algorithm]).unwraps(key_type, then)
    }

    /// Allows operations, in addition to those allowed before.
    #[must_use]
    pub fn allow(mut self, operations: impl IntoIterator<Item = KeyOperation>) -> Self {
        self.operations.extend(operations);
        self
    }

    /// Allows algorithms, in addition to those allowed before.
    #[must_use]
    pub fn with(mut self, algorithms: impl IntoIterator<Item = KeyAlgorithm>) -> Self {
        self.algorithms.extend(algorithms);
        self
    }

    /// Allows sources of IVs, in addition to those allowed before.
    #[must_use]
    pub fn ivs(mut self, rules: impl IntoIterator<Item = IvRule>) -> Self {
        self.ivs.extend(rules);
        self
    }

    /// Limits the key to a number of records.
    ///
    /// Each record is counted once, before it is computed, even if a failing engine makes it be computed again. A
    /// refused record is not counted.
    #[must_use]
    pub fn max_uses(mut self, records: u64) -> Self {
        self.max_uses = Some(records);
        self
    }

    /// Limits the GCM encryptions of a key with random IVs. The limit is at most 2^32 (SP 800-38D 8.3), the default.
    #[must_use]
    pub fn max_random_gcm(mut self, records: u64) -> Self {
        self.max_random_gcm = Some(records.min(MAX_RANDOM_GCM));
        self
    }

    /// Sets the rule for weak keys of the DES family. By default they are refused.
    #[must_use]
    pub fn weak_keys(mut self, rule: WeakKeyRule) -> Self {
        self.weak_keys = rule;
        self
    }

    /// Lets codes of this length, at least [`MIN_MAC_LEN`] bytes, pass for whole ones where codes of others are
    /// compared ([`verifies_mac_len`](Self::verifies_mac_len)).
    ///
    /// There is one such length. If codes could be cut anywhere, a short one that was guessed or seen would grow to a
    /// whole one, with 256 guesses for each byte.
    #[must_use]
    pub fn mac_len(mut self, bytes: usize) -> Self {
        self.mac_len = Some(bytes);
        self
    }

    /// True if codes of `found` bytes may be compared that have `whole` bytes when they are not cut.
    #[must_use]
    pub fn verifies_mac_len(&self, whole: usize, found: usize) -> bool {
        found == whole || found < whole && self.mac_len == Some(found)
    }

    /// True if the policy allows an operation with an algorithm.
    #[must_use]
    pub fn allows(&self, operation: KeyOperation, algorithm: KeyAlgorithm) -> bool {
        self.may(operation) && self.does(algorithm)
    }

    /// Allows this wrapping key to unwrap keys of `key_type`. The policy of such a key is `policy`.
    #[must_use]
    pub fn unwraps(mut self, key_type: KeyType, mut policy: Self) -> Self {
        // A caller who has a key unwrapped does not have its bytes, under a policy of any author.
        policy.is_callers_own = false;
        self.unwraps.push((key_type, Arc::new(policy)));
        self
    }

    /// Checks that the policy suits keys of a type.
    ///
    /// # Errors
    /// The flaw.
    pub fn check(&self, key_type: KeyType) -> Result<(), PolicyError> {
        let unsuited = self.algorithms.iter().find(|algorithm| !algorithm.suits(key_type));
        if let Some(algorithm) = unsuited {
            return Err(PolicyError::Algorithm { algorithm: *algorithm, key_type });
        }
        let alone = self.algorithms.iter().find(|algorithm| algorithm.stands_alone());
        if let Some(algorithm) = alone
            && let Some(other) = self.algorithms.iter().find(|other| *other != algorithm)
            && !self.is_callers_own
        {
            return Err(PolicyError::NotAlone { algorithm: *algorithm, other: *other });
        }
        self.check_mac_len(key_type)?;
        self.check_ivs()?;
        self.check_effects()?;
        self.check_wrapping()?;
        for (inner_type, policy) in &self.unwraps {
            policy.check(*inner_type).map_err(|reason| PolicyError::Unwrapped {
                key_type: *inner_type,
                reason: Box::new(reason),
            })?;
        }
        Ok(())
    }

    fn check_mac_len(&self, key_type: KeyType) -> Result<(), PolicyError> {
        let Some(found) = self.mac_len else { return Ok(()) };
        let lens = self.algorithms.iter().filter_map(|algorithm| algorithm.mac_len(key_type));
        let max = lens.max().filter(|_| self.may(KeyOperation::Mac));
        match max {
            Some(max) if (MIN_MAC_LEN..=max).contains(&found) => Ok(()),
            Some(max) => Err(PolicyError::MacLength { found, max }),
            None => Err(PolicyError::LengthWithoutMac),
        }
    }

    /// Checks that no use of the key breaks another.
    fn check_effects(&self) -> Result<(), PolicyError> {
        match self.breaks(self).filter(|_| !self.is_callers_own) {
            Some(KeyBreach { broken: KeyAlgorithm::Gcm, .. }) => Err(PolicyError::BlockOracleBesideGcm),
            Some(KeyBreach { broken: mac, breaking: other }) => {
                Err(PolicyError::BlockOracleBesideMac { mac, other })
            }
            None => Ok(()),
        }
    }

    fn check_ivs(&self) -> Result<(), PolicyError> {
        let generators = self.ivs.iter().filter(|rule| matches!(rule, IvRule::Random | IvRule::Counter(_)));
        if generators.count() > 1 {
            return Err(PolicyError::TwoGenerators);
        }
        let takes_callers = self.ivs.iter().any(|rule| matches!(rule, IvRule::Callers));
        let generates = self.counter().is_some() || self.has_random_ivs();
        if self.does(KeyAlgorithm::Gcm) && takes_callers && generates && !self.is_callers_own {
            return Err(PolicyError::CallersBesideGenerated);
        }
        match self.counter() {
            Some(counter) if self.does(KeyAlgorithm::Gcm) && !counter.is_persistent() => {
                Err(PolicyError::VolatileCounter)
            }
            _ => Ok(()),
        }
    }

    fn check_wrapping(&self) -> Result<(), PolicyError> {
        use KeyOperation::{Export, Unwrap, UnwrapInClear, Wrap, WrapInClear};
        if ![Wrap, WrapInClear, Unwrap, UnwrapInClear].iter().any(|operation| self.may(*operation)) {
            return Ok(());
        }
        let wraps = [Wrap, WrapInClear, Unwrap, UnwrapInClear, Export];
        let is_other = |operation: &&KeyOperation| !wraps.contains(operation);
        if let Some(operation) = self.operations.iter().find(is_other) {
            return Err(PolicyError::WrapsAndMore { operation: *operation });
        }
        if self.may(Wrap) && self.may(UnwrapInClear) {
            return Err(PolicyError::WrapsAndUnwrapsInClear);
        }
        if self.may(Unwrap) && self.unwraps.is_empty() {
            return Err(PolicyError::NothingToUnwrap);
        }
        let is_legacy = self.does(KeyAlgorithm::LegacyEcb) || self.does(KeyAlgorithm::LegacyCbc);
        let one_type = matches!(self.unwraps[..], [(only, _)] if only.is_des_family());
        if is_legacy && self.may(Unwrap) && !one_type {
            let found: Vec<String> = self.unwraps.iter().map(|(key_type, _)| key_type.to_string()).collect();
            return Err(PolicyError::LegacyTypes { found: found.join(", ") });
        }
        if self.may(Unwrap) { self.check_types() } else { Ok(()) }
    }

    /// Checks that the length of an unwrapped key says its type.
    fn check_types(&self) -> Result<(), PolicyError> {
        for (at, (first, _)) in self.unwraps.iter().enumerate() {
            let is_alike =
                |(second, _): &&(KeyType, Arc<Self>)| second != first && may_have_one_length(*first, *second);
            if let Some((second, _)) = self.unwraps[at + 1..].iter().find(is_alike) {
                return Err(PolicyError::AmbiguousTypes { first: *first, second: *second });
            }
        }
        Ok(())
    }

    pub(crate) fn may(&self, operation: KeyOperation) -> bool {
        self.operations.contains(&operation)
    }

    pub(crate) fn does(&self, algorithm: KeyAlgorithm) -> bool {
        self.algorithms.contains(&algorithm)
    }

    /// The counter that makes IVs.
    pub(crate) fn counter(&self) -> Option<&IvCounter> {
        self.ivs.iter().find_map(|rule| match rule {
            IvRule::Counter(counter) => Some(&**counter),
            _ => None,
        })
    }

    pub(crate) fn has_random_ivs(&self) -> bool {
        self.ivs.iter().any(|rule| matches!(rule, IvRule::Random))
    }

    /// The policy of a key of `key_type` that comes out of this one.
    pub(crate) fn of_unwrapped(&self, key_type: KeyType) -> Option<&Arc<Self>> {
        self.unwraps.iter().find(|(known, _)| *known == key_type).map(|(_, policy)| policy)
    }
}

/// HMAC keys have any length.
fn may_have_one_length(first: KeyType, second: KeyType) -> bool {
    match (first.key_len(), second.key_len()) {
        (Some(first), Some(second)) => first == second,
        _ => true,
    }
}

impl KeyAlgorithm {
    /// Every algorithm.
    pub const ALL: [Self; 17] = [
        Self::Cbc,
        Self::Gcm,
        Self::GcmSiv,
        Self::Siv,
        Self::Ff1,
        Self::DesMac,
        Self::RetailMac,
        Self::Cmac,
        Self::HmacSha1,
        Self::HmacSha224,
        Self::HmacSha256,
        Self::HmacSha384,
        Self::HmacSha512,
        Self::Kw,
        Self::Kwp,
        Self::LegacyEcb,
        Self::LegacyCbc,
    ];

    /// True if keys of a type can do it.
    #[must_use]
    pub fn suits(self, key_type: KeyType) -> bool {
        use KeyType::{Aes128, Aes128Siv, Aes256, Aes256Siv, Des, Hmac, Tdes2, Tdes3};
        match self {
            Self::Cbc => key_type.cipher().is_some(),
            Self::Gcm | Self::GcmSiv | Self::Ff1 | Self::Kw | Self::Kwp => {
                matches!(key_type, Aes128 | Aes256)
            }
            Self::Siv => matches!(key_type, Aes128Siv | Aes256Siv),
            Self::DesMac => key_type == Des,
            Self::RetailMac => key_type == Tdes2,
            Self::Cmac => matches!(key_type, Tdes2 | Tdes3 | Aes128 | Aes256),
            Self::HmacSha1 | Self::HmacSha224 | Self::HmacSha256 | Self::HmacSha384 | Self::HmacSha512 => {
                key_type == Hmac
            }
            Self::LegacyEcb | Self::LegacyCbc => matches!(key_type, Tdes2 | Tdes3),
        }
    }

    /// True if a key that does this must do nothing else, because another algorithm would show single blocks of it.
    #[must_use]
    pub fn stands_alone(self) -> bool {
        matches!(self, Self::GcmSiv | Self::Ff1)
    }

    /// True for authentication codes that are chains of encrypted blocks: CMAC, DES-MAC and the retail MAC.
    ///
    /// One known block `x` with its encryption `E(x)` is enough to forge a code. Take a message with its code, and
    /// replace its first block `m` by the two blocks `x` and `m xor E(x)`: the code stays the same. An attacker who
    /// chooses the blocks that are encrypted gets the code of every message.
    #[must_use]
    pub fn is_block_mac(self) -> bool {
        matches!(self, Self::DesMac | Self::RetailMac | Self::Cmac)
    }

    /// Returns the length of a whole code in bytes, or None if the algorithm makes none.
    fn mac_len(self, key_type: KeyType) -> Option<usize> {
        match self {
            Self::DesMac | Self::RetailMac => Some(8),
            Self::Cmac => key_type.cipher().map(BlockCipher::block_len),
            Self::HmacSha1 => Some(20),
            Self::HmacSha224 => Some(28),
            Self::HmacSha256 => Some(32),
            Self::HmacSha384 => Some(48),
            Self::HmacSha512 => Some(64),
            _ => None,
        }
    }

    fn is_wrap(self) -> bool {
        matches!(self, Self::Kw | Self::Kwp | Self::LegacyEcb | Self::LegacyCbc)
    }
}

impl fmt::Display for KeyOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Mac => "mac",
            Self::Wrap => "wrap",
            Self::WrapInClear => "wrap in clear",
            Self::Unwrap => "unwrap",
            Self::UnwrapInClear => "unwrap in clear",
            Self::TranslateFrom => "translate from",
            Self::TranslateTo => "translate to",
            Self::Export => "export",
        })
    }
}
