use oarlock_core::{Engine, Fingerprint, Jobs, Key, KeyParts, Outcomes, Status};

use super::comb::digits;
use super::*;
use crate::ScalarEngine;

/// Returns scalars of equal bytes, of single bits, of runs of ones, and mixed ones.
fn scalars() -> impl Iterator<Item = [u8; 32]> {
    let bits =
        (0..256).map(|bit| std::array::from_fn(|byte| if byte == bit / 8 { 1 << (bit % 8) } else { 0 }));
    let runs = (0..32).map(|zeros| std::array::from_fn(|byte| if byte < zeros { 0 } else { 0xFF }));
    let mixed = (0_u8..=255).map(|start| std::array::from_fn(|byte| start.wrapping_mul(byte as u8 * 2 + 37)));
    bits.chain(runs).chain(mixed)
}

/// Returns the sum of digits times powers of 2^W, computed from the highest digit in 64-bit words.
fn value<const W: usize>(scalar: &[u8; 32]) -> [u8; 32] {
    let digits: Vec<i32> = digits::<W>(scalar).collect();
    let mut words = [0_u64; 5];
    for digit in digits.into_iter().rev() {
        assert!((-(1 << (W - 1)) + 1..=1 << (W - 1)).contains(&digit), "{digit} of {W} bits");
        let mut carry = i128::from(digit);
        for word in &mut words {
            carry += i128::from(*word) << W;
            *word = carry as u64;
            carry >>= 64;
        }
    }
    assert_eq!(words[4], 0);
    std::array::from_fn(|byte| words[byte / 8].to_le_bytes()[byte % 8])
}

#[test]
fn digits_add_up_to_their_scalar() {
    for scalar in scalars() {
        assert_eq!(value::<6>(&scalar), scalar);
        assert_eq!(value::<7>(&scalar), scalar);
        assert_eq!(value::<8>(&scalar), scalar);
    }
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// Returns the vector of RFC 6979 A.2.5 for "sample" with SHA-256: shape, public key, input and signature.
fn p256() -> (Shape, Key, Vec<u8>, Vec<u8>) {
    let lines = include_str!("../../tests/data/rfc6979.txt").lines();
    let line =
        lines.clone().find(|line| line.starts_with("p256 ") && line.contains(" sample sha256 ")).unwrap();
    let fields: Vec<&str> = line.split(' ').collect();
    let parts = KeyParts::EcPublic(Curve::P256, hex(fields[2]));
    let key = Key::local(parts, Fingerprint::new([1; 32]));
    (Shape::EcdsaVerify { curve: Curve::P256 }, key, hex(fields[5]), hex(fields[6]))
}

/// Returns the last test of RFC 8032 7.1: shape, public key, message and signature.
fn ed25519() -> (Shape, Key, Vec<u8>, Vec<u8>) {
    let line = include_str!("../../tests/data/ed25519-rfc8032.txt").lines().last().unwrap();
    let fields: Vec<Vec<u8>> = line.split(' ').skip(1).map(hex).collect();
    let [_, public, message, signature] = fields.try_into().unwrap();
    let key = Key::local(KeyParts::Ed25519Public(public.try_into().unwrap()), Fingerprint::new([2; 32]));
    (Shape::Ed25519Verify, key, message, signature)
}

/// Every job gets its verdict from a table, and a changed bit anywhere changes the verdict.
#[test]
fn tables_verify_signatures_and_notice_every_changed_bit() {
    for (shape, key, input, signature) in [p256(), ed25519()] {
        let cache = VerifyTableCache::new(1 << 20).at_once();
        let verdict = |input: &[u8], signature: &[u8]| {
            let operation = Operation::new(shape, &key, input, SecondInput::Signature(signature)).unwrap();
            verdicts(&cache, shape, &[operation])
        };
        assert_eq!(verdict(&input, &signature), [Some(true)]);
        for bit in 0..8 * signature.len() {
            let mut changed = signature.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(verdict(&input, &changed), [Some(false)], "bit {bit} of the signature");
        }
        for bit in 0..8 * 32 {
            let mut changed = input.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(verdict(&changed, &signature), [Some(false)], "bit {bit} of what is signed");
        }
    }
}

/// A change to the multiples of a table.
type Edit<'a, E> = &'a mut dyn FnMut(&mut Vec<E>);

/// Asserts that a wrong or misplaced multiple is found in every position.
fn is_checked<T: VerifyTable, E: Clone>(
    key: &Key,
    build: fn(&[u8]) -> Option<T>,
    change: fn(&T, Edit<'_, E>) -> T,
    negate: fn(&mut E),
) {
    let public = T::public(key).unwrap();
    let table = build(public).unwrap();
    let count = T::BYTES / size_of::<E>();
    let is_right = |edit: Edit<'_, E>| change(&table, edit).is_right(public);
    assert!(table.is_right(public) && is_right(&mut |_| ()));
    for at in (0..count).step_by(97).chain([count - 1]) {
        assert!(!is_right(&mut |multiples| negate(&mut multiples[at])), "multiple {at} negated");
        assert!(!is_right(&mut |multiples| multiples.swap(at, (at + 1) % count)), "multiple {at} swapped");
        assert!(
            !is_right(&mut |multiples| multiples[at] = multiples[(at + 5) % count].clone()),
            "multiple {at}"
        );
    }
    assert!(!is_right(&mut |multiples| multiples.rotate_left(1)));
}

#[test]
fn the_check_finds_every_wrong_entry_of_a_table() {
    is_checked::<p256::P256KeyTable, p256::FinitePoint>(
        &p256().1,
        p256::P256KeyTable::new,
        |table, edit| table.changed(edit),
        |multiple| *multiple = multiple.negated_if(true),
    );
    is_checked::<ed25519::EdwardsKeyTable, ed25519::EdwardsSummand>(
        &ed25519().1,
        ed25519::EdwardsKeyTable::new,
        |table, edit| table.changed(edit),
        |multiple| *multiple = multiple.negated_if(true),
    );
}

#[test]
fn bytes_that_are_not_a_point_get_no_table() {
    let mut off_the_curve = vec![4; 65];
    for public in [&off_the_curve[..], &[], &[0], &[4; 64]] {
        assert!(p256::P256KeyTable::new(public).is_none());
    }
    off_the_curve.truncate(32);
    // x^2 is not a square; y = p; x = 0 with its sign bit set (RFC 8032 5.1.3, steps 1 to 4).
    let y_is_p: Vec<u8> = [[0xED].as_slice(), &[0xFF; 30], &[0x7F]].concat();
    let no_x_to_negate: Vec<u8> = [[1].as_slice(), &[0; 30], &[0x80]].concat();
    let no_square: Vec<u8> = [[2].as_slice(), &[0; 31]].concat();
    for public in [&y_is_p[..], &no_x_to_negate, &no_square, &[1; 31]] {
        assert!(ed25519::EdwardsKeyTable::new(public).is_none(), "{public:?}");
    }
}

/// Covers runs of all lengths up to the largest, with good and bad jobs and jobs of another shape mixed.
#[test]
fn runs_agree_with_the_engine_without_tables() {
    for ((shape, key, input, signature), other) in [(p256(), ed25519()), (ed25519(), p256())] {
        let (other_shape, other_key, other_input, other_signature) = &other;
        let wrong = [&signature[..63], &[signature[63] ^ 1]].concat();
        let job = |at: usize| match at % 5 {
            3 => Operation::new(shape, &key, &input, SecondInput::Signature(&wrong)).unwrap(),
            4 => {
                let extra = SecondInput::Signature(other_signature);
                Operation::new(*other_shape, other_key, other_input, extra).unwrap()
            }
            _ => Operation::new(shape, &key, &input, SecondInput::Signature(&signature)).unwrap(),
        };
        let engine = ScalarEngine::detect().unwrap().with_tables_at_once();
        for count in [0, 1, 2, 63, 64] {
            let operations: Vec<Operation<'_>> = (0..count).map(job).collect();
            let jobs = Jobs::Operations(shape, &operations);
            let run = |engine: &ScalarEngine| {
                let mut out = Outcomes::for_jobs(&jobs);
                engine.run(&jobs, &mut out).unwrap();
                out.statuses().to_vec()
            };
            let found = run(&engine);
            assert_eq!(found, run(&ScalarEngine::detect().unwrap()), "{count} jobs");
            assert!(count == 0 || found.contains(&Status::Done));
            let of_other_shape = found.iter().skip(4).step_by(5);
            assert!(of_other_shape.clone().all(|status| *status == Status::BadKey), "{found:?}");
        }
        assert!(engine.table_usage().bytes > 0);
        engine.drop_tables();
        assert_eq!(engine.table_usage().bytes, 0);
    }
}

/// The background thread counts uses and builds a table, which then verifies.
#[test]
fn a_table_is_built_after_enough_uses_of_a_key() {
    for (shape, key, input, signature) in [p256(), ed25519()] {
        let cache = VerifyTableCache::new(1 << 20);
        let operation = Operation::new(shape, &key, &input, SecondInput::Signature(&signature)).unwrap();
        assert_eq!(verdicts(&cache, shape, &[operation]), []);
        verdicts(&cache, shape, &[operation; 64]);
        cache.wait_for_tables();
        assert_eq!(verdicts(&cache, shape, &[operation; 2]), [Some(true); 2]);
    }
}
