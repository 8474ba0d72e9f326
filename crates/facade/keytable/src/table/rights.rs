//! A policy as one word of bits, so that a record costs one comparison.
//!
//! The word of a key has a bit for everything it may do. The word of a record has a bit for everything it needs. The
//! words of all keys lie side by side in the order of their indices, and a batch of one shape reads nothing else.

use oarlock_core::{
    AeadAlg, BatchTask, CipherMode, Direction, IvSource, KeyType, KeyWrap, MacAlg, Shape, Status, WrapAlg,
};

use super::policy::{IvRule, KeyAlgorithm, KeyOperation, KeyPolicy};

/// The rights of a key, or the needs of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RightSet(u64);

const TYPES: u32 = 0;
const OPERATIONS: u32 = 10;
const ALGORITHMS: u32 = 22;

const IV_CALLERS: u64 = 1 << 42;
const IV_ZERO: u64 = 1 << 43;
const IV_KEY: u64 = 1 << 44;
const IV_GENERATED: u64 = 1 << 45;
const IV_GENERATED_GCM: u64 = 1 << 46;
const IV_CALLERS_GCM: u64 = 1 << 47;
const IVS: u64 = IV_CALLERS | IV_CALLERS_GCM | IV_ZERO | IV_KEY | IV_GENERATED | IV_GENERATED_GCM | NEVER_IV;
const UNCOUNTED: u64 = 1 << 48;
const UNCOUNTED_GCM: u64 = 1 << 49;
const EXISTS: u64 = 1 << 50;
/// No key has these two.
const NEVER_IV: u64 = 1 << 62;
const NEVER: u64 = 1 << 63;

impl RightSet {
    /// Those of a key that is not there; what needs nothing, needs no key.
    pub(crate) const NONE: Self = Self(0);
    /// The need that no key satisfies.
    const IMPOSSIBLE: Self = Self(NEVER);
    /// The rights of a key that the caller brings along. Its type is the caller's concern. IVs for GCM are not made,
    /// because nobody counts the uses of such a key.
    pub(crate) const CALLERS: Self = Self(!(NEVER | NEVER_IV | IV_GENERATED_GCM));

    /// Those of a key of a type that was unwrapped under a key that the caller brings along.
    pub(crate) fn callers_of(key_type: KeyType) -> Self {
        let types = (1 << OPERATIONS) - 1;
        Self(Self::CALLERS.0 & !types | type_bit(key_type))
    }

    /// The word of a key of a type under a policy.
    pub(crate) fn compile(key_type: KeyType, policy: &KeyPolicy) -> Self {
        let mut bits = EXISTS | type_bit(key_type);
        for operation in &policy.operations {
            bits |= operation_bit(*operation);
        }
        for algorithm in policy.algorithms.iter().filter(|algorithm| algorithm.suits(key_type)) {
            bits |= algorithm_bit(*algorithm);
        }
        for rule in &policy.ivs {
            bits |= match rule {
                IvRule::Callers => IV_CALLERS | IV_CALLERS_GCM,
                IvRule::CallersForCbc => IV_CALLERS,
                IvRule::Random => IV_GENERATED | IV_GENERATED_GCM,
                IvRule::Counter(counter) if counter.is_persistent() => IV_GENERATED | IV_GENERATED_GCM,
                // SP 800-38D 8.2: a GCM nonce must never repeat, and this counter starts again after a crash.
                IvRule::Counter(_) => IV_GENERATED,
                IvRule::Zero => IV_ZERO,
                IvRule::KeyItself => IV_KEY,
            };
        }
        // The bits say `uncounted`, because `common` keeps a bit only if all keys have it.
        if policy.max_uses.is_none() {
            bits |= UNCOUNTED;
        }
        if !policy.has_random_ivs() {
            bits |= UNCOUNTED_GCM;
        }
        Self(bits)
    }

    /// Returns the needs of a task towards its first key.
    pub(crate) fn needed(task: BatchTask) -> Self {
        use Direction::{Decrypt, Encrypt};
        let parts = match task {
            BatchTask::Do(Shape::Cipher { alg, mode: CipherMode::Cbc, direction }) => (
                KeyType::for_cipher(alg),
                if direction == Encrypt { KeyOperation::Encrypt } else { KeyOperation::Decrypt },
                Some(KeyAlgorithm::Cbc),
            ),
            BatchTask::Do(Shape::Aead { alg, direction }) => (
                KeyType::for_aead(alg),
                if direction == Encrypt { KeyOperation::Encrypt } else { KeyOperation::Decrypt },
                Some(aead_algorithm(alg)),
            ),
            BatchTask::Do(Shape::Fpe { alg, direction }) => (
                KeyType::for_fpe(alg),
                if direction == Encrypt { KeyOperation::Encrypt } else { KeyOperation::Decrypt },
                Some(KeyAlgorithm::Ff1),
            ),
            BatchTask::Do(Shape::Mac { alg }) => {
                (Some(KeyType::for_mac(alg)), KeyOperation::Mac, mac_algorithm(alg))
            }
            BatchTask::Do(Shape::Wrap { alg, direction }) => (
                Some(KeyType::for_wrap(alg)),
                if direction == Decrypt { KeyOperation::UnwrapInClear } else { KeyOperation::WrapInClear },
                wrap_algorithm(alg),
            ),
            BatchTask::Do(shape @ Shape::Translate { from, .. }) if shape.is_possible() => {
                (KeyType::for_cipher(from.alg), KeyOperation::TranslateFrom, Some(KeyAlgorithm::Cbc))
            }
            BatchTask::Do(Shape::Digest { .. } | Shape::DigestPart { .. }) => return Self::NONE,
            BatchTask::UnwrapKey { wrap, .. } => wrapping(wrap),
            // Counter mode, and chains of a cipher and a MAC. Policies have no rule for their IVs, and a key stream under
            // the caller's IV would reveal what the key encrypts in another mode.
            _ => return Self::IMPOSSIBLE,
        };
        Self::of_parts(parts)
    }

    /// Returns the needs of a task towards its second key.
    pub(crate) fn needed_second(task: BatchTask) -> Self {
        match task {
            BatchTask::Do(Shape::Translate { to, .. }) => Self::of_parts((
                KeyType::for_cipher(to.alg),
                KeyOperation::TranslateTo,
                Some(KeyAlgorithm::Cbc),
            )),
            _ => Self::NONE,
        }
    }

    fn of_parts(parts: (Option<KeyType>, KeyOperation, Option<KeyAlgorithm>)) -> Self {
        match parts {
            (Some(key_type), operation, Some(algorithm)) => {
                Self(EXISTS | type_bit(key_type) | operation_bit(operation) | algorithm_bit(algorithm))
            }
            _ => Self::IMPOSSIBLE,
        }
    }

    /// Returns the needs of an IV from this source towards the key that encrypts under it.
    pub(crate) fn needed_to_encrypt(iv: IvSource, use_of_iv: IvUse) -> Self {
        Self(match (iv, use_of_iv) {
            (IvSource::Given, IvUse::Parameter) => 0,
            (_, IvUse::Parameter) => NEVER_IV,
            (IvSource::Given | IvSource::Slot(_) | IvSource::Zero, IvUse::Extra) => 0,
            (IvSource::Given | IvSource::Slot(_), IvUse::Chain | IvUse::Repeatable) => IV_CALLERS,
            (IvSource::Given | IvSource::Slot(_), IvUse::Once) => IV_CALLERS_GCM,
            (IvSource::Generated(_), IvUse::Chain | IvUse::Repeatable) => IV_GENERATED,
            (IvSource::Generated(_), IvUse::Once) => IV_GENERATED_GCM,
            (IvSource::Zero, IvUse::Chain | IvUse::Repeatable) => IV_ZERO,
            (IvSource::KeyItself, IvUse::Chain) => IV_KEY,
            (IvSource::Zero | IvSource::KeyItself, IvUse::Once)
            | (IvSource::Generated(_) | IvSource::KeyItself, IvUse::Extra)
            | (IvSource::KeyItself, IvUse::Repeatable) => NEVER_IV,
        })
    }

    /// Returns the needs of an IV from this source towards the key that decrypts under it.
    pub(crate) fn needed_to_decrypt(iv: IvSource, use_of_iv: IvUse) -> Self {
        Self(match (iv, use_of_iv) {
            (IvSource::Given, _) => 0,
            (_, IvUse::Parameter) | (IvSource::KeyItself, IvUse::Extra | IvUse::Repeatable) => NEVER_IV,
            (IvSource::KeyItself, _) => IV_KEY,
            _ => 0,
        })
    }

    /// Returns the needs of a task towards its first key, with an IV from this source.
    pub(crate) fn needed_with_iv(task: BatchTask, iv: IvSource) -> Self {
        let of_iv = match task.encrypts() {
            true => Self::needed_to_encrypt(iv, IvUse::for_task(task)),
            false => Self::needed_to_decrypt(iv, IvUse::for_task(task)),
        };
        Self::needed(task).and(of_iv)
    }

    /// Returns the right to one operation, for any type and algorithm.
    pub(crate) fn to(operation: KeyOperation) -> Self {
        Self(operation_bit(operation))
    }

    /// Both needs together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The first need with another operation in the place of its own.
    pub(crate) fn doing_instead(self, operation: KeyOperation) -> Self {
        let operations = ((1 << (ALGORITHMS - OPERATIONS)) - 1) << OPERATIONS;
        Self(self.0 & !operations | operation_bit(operation))
    }

    /// Returns the rights that two keys have in common.
    #[inline]
    pub(crate) fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Every bit, to begin finding what is common with.
    pub(crate) const ALL: Self = Self(!0);

    #[inline]
    pub(crate) fn has(self, needed: Self) -> bool {
        self.0 & needed.0 == needed.0
    }

    /// True if the key's uses are not counted. With `is_gcm_encryption`, its encryptions under GCM are not counted
    /// either.
    pub(crate) fn is_uncounted(self, is_gcm_encryption: bool) -> bool {
        self.0 & UNCOUNTED != 0 && !(is_gcm_encryption && self.counts_gcm())
    }

    /// True if every encryption under GCM is counted.
    pub(crate) fn counts_gcm(self) -> bool {
        self.0 & UNCOUNTED_GCM == 0
    }

    /// Returns the reason why a record that needs `needed` is refused.
    pub(crate) fn refusal(self, needed: Self) -> Status {
        let missing = needed.0 & !self.0;
        match missing {
            0 => Status::Done,
            // The most basic lack is reported first.
            _ if missing & EXISTS != 0 => Status::UnknownKey,
            _ if missing & ((1 << OPERATIONS) - 1) != 0 => Status::WrongKeyType,
            _ if missing & !IVS == 0 => Status::IvForbidden,
            _ => Status::Forbidden,
        }
    }
}

/// The use that a task makes of its IV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IvUse {
    /// It starts a chain of blocks, and should not be foreseen.
    Chain,
    /// It must never repeat: GCM.
    Once,
    /// It should not repeat; if it does, equal inputs show: GCM-SIV.
    Repeatable,
    /// It is one more input, and may be absent: SIV.
    Extra,
    /// It is no IV: the radix of FF1.
    Parameter,
}

impl IvUse {
    pub(crate) fn for_task(task: BatchTask) -> Self {
        match task {
            BatchTask::Do(Shape::Aead { alg, .. }) if alg.is_siv() => Self::Extra,
            BatchTask::Do(Shape::Aead { alg, .. }) if alg.may_repeat_ivs() => Self::Repeatable,
            BatchTask::Do(Shape::Aead { .. }) => Self::Once,
            BatchTask::Do(Shape::Fpe { .. }) => Self::Parameter,
            _ => Self::Chain,
        }
    }
}

fn aead_algorithm(alg: AeadAlg) -> KeyAlgorithm {
    match alg {
        _ if alg.is_siv() => KeyAlgorithm::Siv,
        _ if alg.may_repeat_ivs() => KeyAlgorithm::GcmSiv,
        _ => KeyAlgorithm::Gcm,
    }
}

fn type_bit(key_type: KeyType) -> u64 {
    1 << (TYPES + key_type as u32)
}

fn operation_bit(operation: KeyOperation) -> u64 {
    1 << (OPERATIONS + operation as u32)
}

fn algorithm_bit(algorithm: KeyAlgorithm) -> u64 {
    1 << (ALGORITHMS + algorithm as u32)
}

fn mac_algorithm(alg: MacAlg) -> Option<KeyAlgorithm> {
    match alg {
        MacAlg::DesMac(_) => Some(KeyAlgorithm::DesMac),
        MacAlg::RetailMac(_) => Some(KeyAlgorithm::RetailMac),
        MacAlg::Tdes2Cmac | MacAlg::Tdes3Cmac | MacAlg::Aes128Cmac | MacAlg::Aes256Cmac => {
            Some(KeyAlgorithm::Cmac)
        }
        MacAlg::HmacSha1 => Some(KeyAlgorithm::HmacSha1),
        MacAlg::HmacSha224 => Some(KeyAlgorithm::HmacSha224),
        MacAlg::HmacSha256 => Some(KeyAlgorithm::HmacSha256),
        MacAlg::HmacSha384 => Some(KeyAlgorithm::HmacSha384),
        MacAlg::HmacSha512 => Some(KeyAlgorithm::HmacSha512),
        _ => None,
    }
}

fn wrap_algorithm(alg: WrapAlg) -> Option<KeyAlgorithm> {
    match alg {
        WrapAlg::Aes128Kw | WrapAlg::Aes256Kw => Some(KeyAlgorithm::Kw),
        WrapAlg::Aes128Kwp | WrapAlg::Aes256Kwp => Some(KeyAlgorithm::Kwp),
        _ => None,
    }
}

fn wrapping(wrap: KeyWrap) -> (Option<KeyType>, KeyOperation, Option<KeyAlgorithm>) {
    match wrap {
        KeyWrap::Aes(alg) => (Some(KeyType::for_wrap(alg)), KeyOperation::Unwrap, wrap_algorithm(alg)),
        KeyWrap::LegacyEcb(alg) => {
            (KeyType::for_cipher(alg), KeyOperation::Unwrap, Some(KeyAlgorithm::LegacyEcb))
        }
        KeyWrap::LegacyCbc(alg) => {
            (KeyType::for_cipher(alg), KeyOperation::Unwrap, Some(KeyAlgorithm::LegacyCbc))
        }
        // No policy allows a wrap that is not known here.
        _ => (None, KeyOperation::Unwrap, None),
    }
}
