//! The effects of one use of a key on its other uses.
//!
//! Some uses show single blocks of the key's cipher. With these blocks a caller can read or forge what the same key
//! does by other algorithms, so no policy allows both. [`EFFECTS`] is the whole table. Keys that wrap have no second
//! use, and neither have algorithms that stand alone. The right to verify a code does not include the right to make
//! one, but policies know only [`KeyOperation::Mac`]. So a service that verifies for its clients compares whole codes
//! ([`KeyPolicy::verifies_mac_len`]).

use super::{IvRule, KeyAlgorithm, KeyOperation, KeyPolicy};

/// The single blocks that a use shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockOracle {
    /// The encryption of any block.
    Any,
    /// Encryptions of blocks that are known, but not chosen.
    Known,
}

/// The algorithms that each oracle breaks under the same key.
///
/// | algorithm | broken by |
/// |---|---|
/// | GCM | encrypted counter blocks, which are its key stream, and an encrypted block of zeros, which is the key of its tags |
/// | DES-MAC, retail MAC, CMAC | any encrypted block: [`KeyAlgorithm::is_block_mac`] says how |
const EFFECTS: [(BlockOracle, &[KeyAlgorithm]); 2] = [
    (
        BlockOracle::Any,
        &[KeyAlgorithm::Gcm, KeyAlgorithm::DesMac, KeyAlgorithm::RetailMac, KeyAlgorithm::Cmac],
    ),
    (BlockOracle::Known, &[KeyAlgorithm::DesMac, KeyAlgorithm::RetailMac, KeyAlgorithm::Cmac]),
];

impl BlockOracle {
    /// Returns what an operation with an algorithm shows. `foresees_ivs` is true if an IV is known before the plaintext
    /// is chosen.
    fn from_use(operation: KeyOperation, algorithm: KeyAlgorithm, foresees_ivs: bool) -> Option<Self> {
        use KeyOperation::{Decrypt, Encrypt, Mac, TranslateFrom, TranslateTo};
        match (operation, algorithm) {
            // The caller subtracts the IV, or chooses the nonce for a counter block.
            (Encrypt | TranslateTo, KeyAlgorithm::Cbc | KeyAlgorithm::Gcm) if foresees_ivs => Some(Self::Any),
            // Plaintext and ciphertext together show the input and the output of the cipher.
            (Encrypt | Decrypt | TranslateFrom | TranslateTo, KeyAlgorithm::Cbc | KeyAlgorithm::Gcm) => {
                Some(Self::Known)
            }
            // The code of a message of one block is its encryption.
            (Mac, KeyAlgorithm::DesMac | KeyAlgorithm::RetailMac) => Some(Self::Any),
            _ => None,
        }
    }
}

/// A use of a key that breaks another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyBreach {
    /// The algorithm of the use that breaks the other.
    pub breaking: KeyAlgorithm,
    /// The algorithm whose data can be read, or whose tags and codes can be forged.
    pub broken: KeyAlgorithm,
}

impl KeyPolicy {
    /// Returns an algorithm of another policy of the same key that users under this policy could break: they could read
    /// what it encrypts, or forge its tags or codes.
    #[must_use]
    pub fn breaks(&self, other: &Self) -> Option<KeyBreach> {
        let foresees_ivs = |algorithm| match algorithm {
            KeyAlgorithm::Gcm => self.ivs.iter().any(|rule| matches!(rule, IvRule::Callers)),
            _ => self.ivs.iter().any(|rule| !matches!(rule, IvRule::Random)),
        };
        for &breaking in &self.algorithms {
            for &operation in &self.operations {
                let oracle = BlockOracle::from_use(operation, breaking, foresees_ivs(breaking));
                let effects = EFFECTS.iter().filter(|(shown, _)| Some(*shown) == oracle);
                let mut broken = effects.flat_map(|(_, broken)| broken.iter().copied());
                // With its own algorithm the use does what it is allowed.
                let is_other = |broken: &KeyAlgorithm| *broken != breaking && other.protects(*broken);
                if let Some(broken) = broken.find(is_other) {
                    return Some(KeyBreach { breaking, broken });
                }
            }
        }
        None
    }

    fn protects(&self, algorithm: KeyAlgorithm) -> bool {
        self.does(algorithm) && (!algorithm.is_block_mac() || self.may(KeyOperation::Mac))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use oarlock_core::KeyType;

    use super::*;

    const OPERATIONS: [KeyOperation; 5] = [
        KeyOperation::Encrypt,
        KeyOperation::Decrypt,
        KeyOperation::Mac,
        KeyOperation::TranslateFrom,
        KeyOperation::TranslateTo,
    ];

    /// Policies with one operation, one algorithm and one source of IVs, by their names.
    fn uses() -> Vec<(String, KeyAlgorithm, KeyPolicy)> {
        let ivs = [("callers", IvRule::Callers), ("zero", IvRule::Zero), ("random", IvRule::Random)];
        let mut uses = Vec::new();
        for operation in OPERATIONS {
            for algorithm in KeyAlgorithm::ALL {
                for (name, rule) in ivs.clone() {
                    let policy = KeyPolicy::new().allow([operation]).with([algorithm]).ivs([rule]);
                    uses.push((format!("{operation} {algorithm:?} {name}"), algorithm, policy));
                }
            }
        }
        uses
    }

    /// Every pair that must not meet under one key: the use, and what its user could read or forge.
    fn expected() -> HashSet<(String, KeyAlgorithm)> {
        use KeyAlgorithm::{Cmac, DesMac, Gcm, RetailMac};
        let mut pairs = HashSet::new();
        let mut add = |name: String, broken: &[KeyAlgorithm]| {
            pairs.extend(broken.iter().map(|algorithm| (name.clone(), *algorithm)));
        };
        for iv in ["callers", "zero", "random"] {
            for verb in ["encrypt", "decrypt", "translate from", "translate to"] {
                add(format!("{verb} Cbc {iv}"), &[DesMac, RetailMac, Cmac]);
                add(format!("{verb} Gcm {iv}"), &[DesMac, RetailMac, Cmac]);
            }
            add(format!("mac DesMac {iv}"), &[Gcm, RetailMac, Cmac]);
            add(format!("mac RetailMac {iv}"), &[Gcm, DesMac, Cmac]);
        }
        for verb in ["encrypt", "translate to"] {
            add(format!("{verb} Cbc callers"), &[Gcm]);
            add(format!("{verb} Cbc zero"), &[Gcm]);
        }
        pairs
    }

    #[test]
    fn each_pair_of_uses_is_in_the_table_or_harmless() {
        let uses = uses();
        let mut found = HashSet::new();
        for (name, algorithm, policy) in &uses {
            for (_, other, victim) in &uses {
                if let Some(breach) = policy.breaks(victim) {
                    assert_eq!(breach, KeyBreach { breaking: *algorithm, broken: *other }, "{name}");
                    found.insert((name.clone(), *other));
                }
            }
        }
        assert_eq!(found, expected());
    }

    #[test]
    fn no_policy_has_a_pair_of_the_table() {
        for (name, algorithm, policy) in uses() {
            for (_, other, victim) in uses() {
                let is_broken = policy.breaks(&victim).is_some() || victim.breaks(&policy).is_some();
                let both = policy.clone().allow(victim.operations.clone()).with([other]);
                let both = both.ivs(victim.ivs.clone());
                let fitting = KeyType::ALL
                    .into_iter()
                    .filter(|key_type| algorithm.suits(*key_type) && other.suits(*key_type));
                for key_type in fitting.filter(|_| is_broken) {
                    assert!(both.check(key_type).is_err(), "{name} beside {other:?} under {key_type}");
                }
            }
        }
    }
}
