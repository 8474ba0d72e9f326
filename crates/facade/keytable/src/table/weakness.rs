//! The recognition of DES keys that must not be used.

use oarlock_core::KeyType;
use std::fmt;

use subtle::{Choice, ConstantTimeEq};

use super::weak_keys::{SEMI_WEAK, WEAK};

/// The weakness of a key of the DES family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyWeakness {
    /// One of the four keys that are their own inverse. FIPS 74 section 3.6.
    Weak,
    /// One of the twelve keys that have an inverse. FIPS 74 section 3.6.
    SemiWeak,
    /// A triple-DES key whose first and second part are equal, or its second and third. It is single DES. SP 800-67
    /// Rev. 2 3.3.
    EqualParts,
}

/// The rule of a policy for weak, semi-weak and degenerate keys of the DES family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WeakKeyRule {
    /// Refuse them.
    #[default]
    Refuse,
    /// Accept them, with a warning to the caller.
    Warn,
    /// Accept them without a warning.
    Allow,
}

/// Every bit but the parity of each byte.
const NO_PARITY: u64 = 0xFEFE_FEFE_FEFE_FEFE;

/// The weakness of a key; what is found decides branches, the key's bits do not. Parity bits count for nothing.
pub(crate) fn weakness(key_type: KeyType, key: &[u8]) -> Option<KeyWeakness> {
    if !key_type.is_des_family() {
        return None;
    }
    let mut parts = [None; 3];
    for (part, bytes) in parts.iter_mut().zip(key.as_chunks().0) {
        *part = Some(u64::from_be_bytes(*bytes) & NO_PARITY);
    }
    // Parts one and three may be equal: that is two-key triple DES. Only neighbours cancel each other.
    let pairs = parts.iter().zip(&parts[1..]);
    let equal = pairs.fold(Choice::from(0), |found, pair| match pair {
        (Some(left), Some(right)) => found | left.ct_eq(right),
        _ => found,
    });
    let is_listed = |list: &[u64]| {
        let parts = parts.iter().flatten();
        parts.fold(Choice::from(0), |found, part| found | is_one_of(*part, list))
    };
    let (weak, semi_weak) = (is_listed(&WEAK), is_listed(SEMI_WEAK.as_flattened()));
    match (bool::from(equal), bool::from(weak), bool::from(semi_weak)) {
        (true, ..) => Some(KeyWeakness::EqualParts),
        (_, true, _) => Some(KeyWeakness::Weak),
        (_, _, true) => Some(KeyWeakness::SemiWeak),
        _ => None,
    }
}

fn is_one_of(part: u64, list: &[u64]) -> Choice {
    list.iter().fold(Choice::from(0), |found, listed| found | part.ct_eq(&(listed & NO_PARITY)))
}

impl WeakKeyRule {
    /// Decides whether a key may come in, and returns the warning.
    pub(crate) fn judge(self, found: Option<KeyWeakness>) -> Result<Option<KeyWeakness>, KeyWeakness> {
        match (self, found) {
            (Self::Refuse, Some(weakness)) => Err(weakness),
            (Self::Warn, found) => Ok(found),
            _ => Ok(None),
        }
    }
}

impl fmt::Display for KeyWeakness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Weak => "a weak DES key",
            Self::SemiWeak => "a semi-weak DES key",
            Self::EqualParts => "a triple-DES key with two equal parts",
        })
    }
}

#[cfg(test)]
mod tests {
    use oarlock_core::{BlockCipher, CipherMode, Direction, Engine, Jobs, Outcomes, Records, Shape};
    use oarlock_core::{Column, InputSource, KeySource, OutputSink, Span};
    use oarlock_scalar::ScalarEngine;

    use super::*;

    /// A block encrypted under the first key and what it gives under the second.
    fn twice(first: u64, second: u64) -> u64 {
        let shape =
            Shape::Cipher { alg: BlockCipher::Des, mode: CipherMode::Cbc, direction: Direction::Encrypt };
        let encrypt = |key: u64, block: u64| {
            let records = Records {
                len: 1,
                keys: vec![oarlock_keys::raw::secret(key.to_be_bytes().to_vec()).unwrap()].into(),
                data: [[0; 8], block.to_be_bytes()].concat().into(),
                output_len: 8,
                key: Column::One(KeySource::Table(0)),
                iv: Column::One(Span { start: 0, len: 8 }),
                input: Column::One(InputSource::Data(Span { start: 8, len: 8 })),
                output: Column::One(OutputSink::Output(Span { start: 0, len: 8 })),
                ..Records::default()
            };
            let parts = [&records];
            let jobs = Jobs::Records(shape, &parts);
            let mut outcomes = Outcomes::for_jobs(&jobs);
            ScalarEngine::detect().unwrap().run(&jobs, &mut outcomes).unwrap();
            u64::from_be_bytes(outcomes.bytes().try_into().unwrap())
        };
        encrypt(second, encrypt(first, block()))
    }

    fn block() -> u64 {
        0x0123_4567_89AB_CDE7
    }

    #[test]
    fn the_listed_keys_are_what_the_lists_say() {
        assert!(WEAK.iter().all(|key| twice(*key, *key) == block()));
        for [left, right] in SEMI_WEAK {
            assert_eq!((twice(left, right), twice(right, left)), (block(), block()));
            assert_ne!(twice(left, left), block(), "only weak keys undo themselves");
        }
        let parity = |key: &u64| key.to_be_bytes().iter().all(|byte| byte.count_ones() % 2 == 1);
        assert!(WEAK.iter().chain(SEMI_WEAK.as_flattened()).all(parity));
    }

    #[test]
    fn every_listed_key_is_found_with_any_parity() {
        let flipped = 0x0101_0101_0000_0001;
        for (list, kind) in
            [(&WEAK[..], KeyWeakness::Weak), (SEMI_WEAK.as_flattened(), KeyWeakness::SemiWeak)]
        {
            for key in list {
                assert_eq!(weakness(KeyType::Des, &key.to_be_bytes()), Some(kind));
                assert_eq!(weakness(KeyType::Des, &(key ^ flipped).to_be_bytes()), Some(kind));
                assert_eq!(weakness(KeyType::Des, &(key ^ 2).to_be_bytes()), None, "a bit that counts");
                let second = [0x1112_1314_1516_1718, *key].map(u64::to_be_bytes).concat();
                assert_eq!(weakness(KeyType::Tdes2, &second), Some(kind), "a part of a longer key");
                assert_eq!(weakness(KeyType::Aes128, &second), None, "AES has no such keys");
            }
        }
    }

    #[test]
    fn equal_neighbours_make_single_des() {
        let (a, b, c) = (0x1112_1314_1516_1718_u64, 0x2122_2324_2526_2728, 0x3132_3334_3536_3738);
        let of = |parts: &[u64]| {
            let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_be_bytes()).collect();
            weakness(if parts.len() == 2 { KeyType::Tdes2 } else { KeyType::Tdes3 }, &bytes)
        };
        assert_eq!(of(&[a, a]), Some(KeyWeakness::EqualParts));
        assert_eq!(of(&[a, a ^ 0x0101]), Some(KeyWeakness::EqualParts), "parity tells no keys apart");
        assert_eq!(of(&[a, a, b]), Some(KeyWeakness::EqualParts));
        assert_eq!(of(&[a, b, b]), Some(KeyWeakness::EqualParts));
        assert_eq!((of(&[a, b]), of(&[a, b, c]), of(&[a, b, a])), (None, None, None));
    }

    #[test]
    fn policies_refuse_warn_or_allow() {
        let found = Some(KeyWeakness::Weak);
        assert_eq!(WeakKeyRule::Refuse.judge(found), Err(KeyWeakness::Weak));
        assert_eq!(WeakKeyRule::Warn.judge(found), Ok(found));
        assert_eq!(WeakKeyRule::Allow.judge(found), Ok(None));
        assert_eq!(WeakKeyRule::default().judge(None), Ok(None));
    }
}
