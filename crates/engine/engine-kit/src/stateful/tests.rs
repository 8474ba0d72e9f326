// Miri would take hours for the thousands of hashes of one signature.
#![cfg(not(miri))]

use std::cell::Cell;

use super::*;

/// Appendix F of RFC 8554, and cases of other parameter sets, in the form of [`KNOWN_SIGNATURES`], with `xmssmt` for
/// XMSS^MT.
const MORE_SIGNATURES: &str = include_str!("tests/more.txt");

/// A case that the files contain.
#[derive(Clone)]
struct Case {
    scheme: &'static str,
    public: Vec<u8>,
    message: Vec<u8>,
    signature: Vec<u8>,
}

enum CaseKey {
    Hss(HssPublicKey),
    Xmss(XmssPublicKey),
}

fn bytes(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn cases() -> Vec<Case> {
    let lines = KNOWN_SIGNATURES.lines().chain(MORE_SIGNATURES.lines());
    let words = lines.map(|line| line.split(' ').collect::<Vec<_>>());
    words
        .map(|words| {
            let [scheme, public, message, signature] = words[..] else { panic!("{words:?}") };
            let [public, message, signature] = [public, message, signature].map(bytes);
            Case { scheme, public, message, signature }
        })
        .collect()
}

impl Case {
    fn key(&self) -> CaseKey {
        match self.scheme {
            "hss" => CaseKey::Hss(HssPublicKey::parse(&self.public).unwrap()),
            "xmss" => CaseKey::Xmss(XmssPublicKey::parse(&self.public).unwrap()),
            _ => CaseKey::Xmss(XmssPublicKey::parse_layered(&self.public).unwrap()),
        }
    }

    fn name(&self) -> String {
        match self.key() {
            CaseKey::Hss(key) => key.set().to_string(),
            CaseKey::Xmss(key) => key.set().to_string(),
        }
    }

    fn with_signature(&self, signature: Vec<u8>) -> Self {
        Self { signature, ..self.clone() }
    }

    fn is_valid(&self) -> bool {
        verify_all(&PortableHasher, std::slice::from_ref(self)) == [true]
    }
}

fn verify_all(hasher: &impl TreeHasher, cases: &[Case]) -> Vec<bool> {
    let keys: Vec<CaseKey> = cases.iter().map(Case::key).collect();
    let checks: Vec<_> = keys
        .iter()
        .zip(cases)
        .map(|(key, case)| {
            let key = match key {
                CaseKey::Hss(key) => StatefulKey::Hss(key),
                CaseKey::Xmss(key) => StatefulKey::Xmss(key),
            };
            StatefulCheck { key, message: &case.message, signature: &case.signature }
        })
        .collect();
    verify(hasher, &checks)
}

/// Counts calls, so that a test can say that nothing was hashed.
#[derive(Default)]
struct CountingHasher(Cell<usize>);

impl TreeHasher for CountingHasher {
    fn hash(&self, messages: &PaddedMessages, values: &mut [u8]) {
        self.0.set(self.0.get() + messages.count());
        PortableHasher.hash(messages, values);
    }
}

/// The smallest case of HSS with one level, of HSS with two, of XMSS, and of XMSS^MT.
fn small_cases() -> Vec<Case> {
    let is_layered = |case: &Case| case.scheme == "hss" && case.public[3] > 1;
    let group = |case: &Case| (case.scheme, is_layered(case));
    let mut cases = cases();
    cases.sort_by_key(|case| (group(case), case.signature.len()));
    cases.dedup_by_key(|case| group(case));
    cases
}

#[test]
fn published_and_foreign_signatures_verify() {
    for case in cases() {
        assert!(case.is_valid(), "{}", case.name());
    }
}

#[test]
fn signatures_of_all_sets_are_verified_side_by_side_with_bad_ones_among_them() {
    let mut cases = cases();
    for (index, case) in cases.iter_mut().enumerate() {
        match index % 3 {
            0 => {}
            1 => case.message.push(0),
            _ => *case.signature.last_mut().unwrap() ^= 1,
        }
    }
    let expected: Vec<bool> = (0..cases.len()).map(|index| index % 3 == 0).collect();
    assert_eq!(verify_all(&PortableHasher, &cases), expected);
    cases.reverse();
    assert_eq!(verify_all(&PortableHasher, &cases), expected.into_iter().rev().collect::<Vec<_>>());
    assert_eq!(verify_all(&PortableHasher, &[]), []);
}

#[test]
fn a_change_of_any_byte_of_a_signature_is_found() {
    for case in small_cases() {
        // A batch for all, which takes a fraction of the time.
        let changed: Vec<Case> = (0..case.signature.len())
            .map(|at| {
                let mut signature = case.signature.clone();
                signature[at] ^= 1 << (at % 8);
                case.with_signature(signature)
            })
            .collect();
        for (batch, changed) in changed.chunks(64).enumerate() {
            let verdicts = verify_all(&PortableHasher, changed);
            let valid = verdicts.iter().position(|verdict| *verdict);
            assert_eq!(valid, None, "{}, byte {batch} * 64 + {valid:?}", case.name());
        }
    }
}

#[test]
fn a_change_of_any_bit_of_the_fields_is_found() {
    // The number of signed keys, q and both types; the index.
    for case in small_cases() {
        let fields = match case.scheme {
            "hss" => (0..12).chain(case.signature.len() - 5 * 24 - 4..case.signature.len() - 5 * 24),
            _ => (0..4).chain(0..0),
        };
        for at in fields {
            for bit in 0..8 {
                let mut signature = case.signature.clone();
                signature[at] ^= 1 << bit;
                assert!(!case.with_signature(signature).is_valid(), "{}, byte {at}, bit {bit}", case.name());
            }
        }
    }
}

#[test]
fn signatures_of_other_lengths_are_rejected_before_a_hash() {
    for case in small_cases() {
        let len = case.signature.len();
        let counting = CountingHasher::default();
        let longer =
            (1..=8).chain([24, 32, 64, len]).map(|more| [&case.signature[..], &vec![0; more]].concat());
        let shorter =
            (0..=8).chain([12, 16, 40, len / 2, len - 32, len - 1]).map(|cut| case.signature[..cut].to_vec());
        let wrong: Vec<Case> =
            longer.chain(shorter).map(|signature| case.with_signature(signature)).collect();
        assert!(verify_all(&counting, &wrong).iter().all(|verdict| !verdict), "{}", case.name());
        assert_eq!(counting.0.get(), 0, "{}", case.name());
    }
}

#[test]
fn an_index_outside_of_the_tree_is_rejected_before_a_hash() {
    for case in small_cases() {
        let counting = CountingHasher::default();
        let mut signature = case.signature.clone();
        match case.scheme {
            // q of the highest tree of height 5.
            "hss" => signature[7] += 32,
            "xmss" => signature[2] += 4,
            // 2^20 is the bit above twenty in three bytes.
            _ => signature[0] += 0x10,
        }
        assert_eq!(verify_all(&counting, &[case.with_signature(signature)]), [false], "{}", case.name());
        assert_eq!(counting.0.get(), 0, "{}", case.name());
    }
}

#[test]
fn a_signature_with_other_types_or_levels_than_the_key_is_rejected() {
    let cases = small_cases();
    let (one, two) = (&cases[0], &cases[1]);
    assert!(one.public[3] == 1 && two.public[3] == 2, "{} {}", one.name(), two.name());
    for levels in 0..=9 {
        for case in [one, two] {
            let mut other = case.clone();
            other.public[3] = levels;
            if (1..=8).contains(&levels) && levels != case.public[3] {
                assert!(!other.is_valid());
            }
            let mut signature = case.signature.clone();
            signature[3] = levels;
            assert_eq!(case.with_signature(signature).is_valid(), levels + 1 == case.public[3]);
        }
    }
    // The lower level of the key in the signature, with a type of another hash function or of none.
    let key_at = 4 + HssPublicKey::parse(&two.public).unwrap().set().top().signature_len();
    for (lms, lm_ots) in [(0x05, 0x04), (0x0f, 0x0c), (0, 1), (0x19, 8), (0x0a, 0x11)] {
        let mut signature = two.signature.clone();
        (signature[key_at + 3], signature[key_at + 7]) = (lms, lm_ots);
        assert!(!two.with_signature(signature).is_valid());
    }
}

#[test]
fn an_operation_needs_a_signature_and_a_key_of_the_scheme() {
    use oarlock_core::{Curve, Fingerprint, Key, KeyParts, Shape};

    let public = HssPublicKey::parse(&cases()[0].public).unwrap();
    let key = Key::local(KeyParts::HssPublic(public), Fingerprint::new([1; 32]));
    let bare = Operation::new(Shape::HssVerify, &key, b"message", SecondInput::None).unwrap();
    assert_eq!(StatefulCheck::new(&bare).unwrap_err(), Status::Malformed);
    assert!(Operation::new(Shape::XmssVerify, &key, b"message", SecondInput::None).is_err());
    let other = Key::local(KeyParts::EcPublic(Curve::P256, vec![4; 65]), Fingerprint::new([2; 32]));
    let signature = SecondInput::Signature(&[0; 64]);
    let ecdsa =
        Operation::new(Shape::EcdsaVerify { curve: Curve::P256 }, &other, &[0; 32], signature).unwrap();
    assert_eq!(StatefulCheck::new(&ecdsa).unwrap_err(), Status::BadKey);
}
