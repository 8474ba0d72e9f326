//! Keys that come wrapped, into batches and into the table.

use oarlock_core::{Blame, Direction, KeyWrap, Shape, WrapAlg};

use super::super::EntryOutput;
use super::*;
use crate::batch::WrappedKey;
use crate::table::{IvRule, KeyAlgorithm, KeyOperation, KeyWeakness, PolicyError, TableError};

const MASTER: KeyType = KeyType::Tdes3;
const ECB: KeyWrap = KeyWrap::LegacyEcb(BlockCipher::Tdes3);
const CBC: KeyWrap = KeyWrap::LegacyCbc(BlockCipher::Tdes3);

/// A table whose key 0 unwraps keys of one type, which encrypt and decrypt.
fn legacy(key_type: KeyType, weak_keys: WeakKeyRule) -> KeyTable {
    let table = KeyTable::new();
    let then = unwrapped_data(key_type).weak_keys(weak_keys);
    let policy =
        KeyPolicy::unwrapping(KeyAlgorithm::LegacyEcb, key_type, then).with([KeyAlgorithm::LegacyCbc]);
    table.insert("master", MASTER, secret(MASTER, 3), policy).unwrap();
    table
}

/// Unwraps, then encrypts a block under the key; both statuses and the block.
fn unwrap_and_use(table: &KeyTable, entry: BatchEntry<'_>, alg: BlockCipher) -> (Status, Status, Vec<u8>) {
    let mut builder = BatchBuilder::new();
    let slot = builder.slot(32);
    builder.add(entry.key(0).output(EntryOutput::Slot(slot))).unwrap();
    let zeros = vec![0; alg.block_len()];
    let encrypt = BatchEntry::new(BatchTask::encrypt(alg)).key_from(KeySource::Slot(slot)).iv(EntryIv::Zero);
    builder.add(encrypt.input(&zeros)).unwrap();
    let outcome = run(table, &builder);
    let result = outcome.result(&builder.batch(), 1).unwrap_or_default().to_vec();
    (outcome.statuses()[0], outcome.statuses()[1], result)
}

#[test]
fn legacy_keys_come_out_whole_by_both_modes() {
    for (key_type, alg) in [
        (KeyType::Des, BlockCipher::Des),
        (KeyType::Tdes2, BlockCipher::Tdes2),
        (KeyType::Tdes3, BlockCipher::Tdes3),
    ] {
        let (table, key) = (legacy(key_type, WeakKeyRule::Refuse), secret(key_type, 6));
        let by_ecb = wrap_ecb(BlockCipher::Tdes3, &secret(MASTER, 3), &key);
        let by_cbc = encrypt_outside(BlockCipher::Tdes3, &secret(MASTER, 3), &[0; 8], &key);
        assert_eq!(by_ecb == by_cbc, key.len() == 8, "from the second block on they differ");
        for (wrap, wrapped) in [(ECB, by_ecb), (CBC, by_cbc)] {
            let value = check_value(alg, &key);
            let entry = BatchEntry::new(BatchTask::unwrap_key(wrap, key_type)).input(&wrapped).tag(&value);
            let (unwrapped, used, result) = unwrap_and_use(&table, entry, alg);
            assert_eq!((unwrapped, used), (Status::Done, Status::Done), "{wrap} {key_type}");
            assert_eq!(result[..3], value, "it is the key that was wrapped");

            let wrong = [value[0], value[1], value[2] ^ 1];
            let (unwrapped, used, _) = unwrap_and_use(&table, entry.tag(&wrong), alg);
            assert_eq!((unwrapped, used), (Status::BadCheckValue, Status::DependencyFailed));
            for missing in [&value[..0], &value[..2]] {
                assert_eq!(unwrap_and_use(&table, entry.tag(missing), alg).0, Status::BadLength);
            }
        }
    }
}

/// The check values of published keys. SP 800-67 has none, so the zero block under the key of the FIPS 46 example
/// (Grabbe's key 133457799BBCDFF1) stands for DES, and the definition of PKCS#11 makes it the check value.
#[test]
fn check_values_are_the_leading_bytes_of_a_zero_block() {
    assert_eq!(check_value(BlockCipher::Des, &DES_KEY), [0x94, 0x8A, 0x43]);
    assert_eq!(check_value(BlockCipher::Aes128, &[0; 16]), [0x66, 0xE9, 0x4B]);
}

#[test]
fn half_a_triple_des_key_never_becomes_a_des_key() {
    let table = legacy(KeyType::Tdes2, WeakKeyRule::Allow);
    let key = secret(KeyType::Tdes2, 6);
    let wrapped = wrap_ecb(BlockCipher::Tdes3, &secret(MASTER, 3), &key);
    let halves = [&wrapped[..8], &wrapped[8..]];
    for (half, key) in halves.into_iter().zip(key.chunks(8)) {
        let value = check_value(BlockCipher::Des, key);
        for wrap in [ECB, CBC] {
            let as_des = BatchEntry::new(BatchTask::unwrap_key(wrap, KeyType::Des)).input(half).tag(&value);
            assert_eq!(unwrap_and_use(&table, as_des, BlockCipher::Des).0, Status::Forbidden);
            let short = BatchEntry::new(BatchTask::unwrap_key(wrap, KeyType::Tdes2)).input(half).tag(&value);
            assert_eq!(unwrap_and_use(&table, short, BlockCipher::Des).0, Status::BadLength);
        }
        // One half twice over is single DES under another name, and its check value is that of the half.
        let doubled = [half, half].concat();
        let entry = BatchEntry::new(BatchTask::unwrap_key(ECB, KeyType::Tdes2)).input(&doubled).tag(&value);
        let (status, used, _) = unwrap_and_use(&table, entry, BlockCipher::Tdes2);
        assert_eq!((status, used), (Status::WeakKey, Status::DependencyFailed), "under every policy");
        let taken = table.unwrap_key(
            accelerator(),
            "master",
            "half",
            WrappedKey { wrap: ECB, key_type: KeyType::Tdes2, bytes: &doubled, check_value: &value },
        );
        assert!(matches!(taken, Err(TableError::NotUnwrapped { reason: Status::WeakKey })));
    }
    let whole = BatchEntry::new(BatchTask::unwrap_key(ECB, KeyType::Tdes2)).input(&wrapped);
    let value = check_value(BlockCipher::Tdes2, &key);
    assert_eq!(unwrap_and_use(&table, whole.tag(&value), BlockCipher::Des).1, Status::WrongKeyType);
    assert_eq!(unwrap_and_use(&table, whole.tag(&value), BlockCipher::Tdes2).1, Status::Done);
}

#[test]
fn policies_that_would_let_wrapped_keys_be_taken_apart_are_refused() {
    let data = unwrapped_data;
    let two = KeyPolicy::unwrapping(KeyAlgorithm::LegacyEcb, KeyType::Tdes2, data(KeyType::Tdes2));
    let mixed = two.clone().unwraps(KeyType::Des, data(KeyType::Des));
    assert!(matches!(mixed.check(MASTER), Err(PolicyError::LegacyTypes { .. })));
    let aes = KeyPolicy::unwrapping(KeyAlgorithm::LegacyCbc, KeyType::Aes128, data(KeyType::Aes128));
    assert!(matches!(aes.check(MASTER), Err(PolicyError::LegacyTypes { .. })));
    for operation in
        [KeyOperation::Decrypt, KeyOperation::Encrypt, KeyOperation::TranslateFrom, KeyOperation::Mac]
    {
        let both = two.clone().allow([operation]);
        assert_eq!(both.check(MASTER), Err(PolicyError::WrapsAndMore { operation }));
    }
    assert_eq!(
        KeyPolicy::new().allow([KeyOperation::Unwrap]).check(MASTER),
        Err(PolicyError::NothingToUnwrap)
    );
    assert!(matches!(two.check(KeyType::Aes128), Err(PolicyError::Algorithm { .. })));
    let kw = KeyPolicy::unwrapping(KeyAlgorithm::Kw, KeyType::Aes128, data(KeyType::Aes128));
    let (first, second) = (KeyType::Aes128, KeyType::Tdes2);
    let alike = kw.clone().unwraps(second, data(second));
    assert_eq!(alike.check(KeyType::Aes256), Err(PolicyError::AmbiguousTypes { first, second }));
    let second = KeyType::Hmac;
    let any = kw.clone().unwraps(second, data(second));
    assert_eq!(any.check(KeyType::Aes256), Err(PolicyError::AmbiguousTypes { first, second }));
    assert_eq!(kw.clone().unwraps(KeyType::Tdes3, data(KeyType::Tdes3)).check(KeyType::Aes256), Ok(()));
    let clear = kw.allow([KeyOperation::Wrap, KeyOperation::UnwrapInClear]);
    assert_eq!(clear.check(KeyType::Aes256), Err(PolicyError::WrapsAndUnwrapsInClear));
    let inner = KeyPolicy::new().with([KeyAlgorithm::Gcm]);
    let nested = KeyPolicy::unwrapping(KeyAlgorithm::LegacyEcb, KeyType::Tdes2, inner);
    assert!(matches!(nested.check(MASTER), Err(PolicyError::Unwrapped { .. })));
}

#[test]
fn aes_wraps_carry_keys_of_every_type_their_policy_names() {
    for key_type in KeyType::ALL {
        let table = KeyTable::new();
        let policy = KeyPolicy::new()
            .allow([KeyOperation::Unwrap, KeyOperation::WrapInClear])
            .with([KeyAlgorithm::Kw, KeyAlgorithm::Kwp])
            .unwraps(key_type, unwrapped_data(key_type));
        table.insert("master", KeyType::Aes256, secret(KeyType::Aes256, 3), policy).unwrap();
        let key = secret(key_type, 6);
        for alg in [WrapAlg::Aes256Kw, WrapAlg::Aes256Kwp] {
            if alg == WrapAlg::Aes256Kw && (key.len() < 16 || !key.len().is_multiple_of(8)) {
                continue;
            }
            let wrapped = alone(&table, BatchEntry::new(BatchTask::wrap(alg)).key(0).input(&key)).1;
            let name = format!("{key_type} by {alg}");
            let value = key_type.cipher().map_or(Vec::new(), |cipher| check_value(cipher, &key));
            let mut given =
                WrappedKey { wrap: KeyWrap::Aes(alg), key_type, bytes: &wrapped, check_value: &value };
            let index = table.unwrap_key(accelerator(), "master", name.as_str(), given).unwrap().index;
            let imported = table.snapshot().keys[index as usize].secret().unwrap().expose().to_vec();
            assert_eq!((imported, table.info(index).unwrap().key_type), (key.clone(), key_type));

            let refused = |given| match table.unwrap_key(accelerator(), "master", "other", given) {
                Err(TableError::NotUnwrapped { reason }) => reason,
                other => panic!("{other:?}"),
            };
            let mut broken = wrapped.clone();
            broken[9] ^= 1;
            assert_eq!(refused(WrappedKey { bytes: &broken, ..given }), Status::Rejected);
            let cut = refused(WrappedKey { bytes: &wrapped[..wrapped.len() - 8], ..given });
            assert!(matches!(cut, Status::Rejected | Status::BadLength), "{name}: {cut}");
            given.check_value = &[0xAA, 0xBB, 0xCC];
            // Only keys of one block cipher have a check value.
            let expected =
                if key_type.cipher().is_none() { Status::Malformed } else { Status::BadCheckValue };
            assert_eq!(refused(given), expected);
            given.key_type = if key_type == KeyType::Des { KeyType::Tdes2 } else { KeyType::Des };
            assert_eq!(
                refused(WrappedKey { check_value: &[], ..given }),
                Status::Forbidden,
                "{name} as another"
            );
        }
    }
}

#[test]
fn table_unwrapping_says_what_was_wrong() {
    let table = legacy(KeyType::Tdes2, WeakKeyRule::Refuse);
    let key = secret(KeyType::Tdes2, 6);
    let bytes = wrap_ecb(BlockCipher::Tdes3, &secret(MASTER, 3), &key);
    let value = check_value(BlockCipher::Tdes2, &key);
    let wrapped = WrappedKey { wrap: ECB, key_type: KeyType::Tdes2, bytes: &bytes, check_value: &value };
    let unwrap = |master: &str, name: &str, wrapped| table.unwrap_key(accelerator(), master, name, wrapped);
    assert!(unwrap("master", "new", wrapped).is_ok());
    assert!(matches!(unwrap("master", "new", wrapped), Err(TableError::NameTaken { .. })));
    assert!(matches!(unwrap("nobody", "other", wrapped), Err(TableError::UnknownKey { .. })));
    let bad = unwrap("master", "other", WrappedKey { check_value: &[1, 2, 3], ..wrapped }).unwrap_err();
    assert_eq!(bad.blame(), Blame::Peer);
    assert_eq!(bad.to_string(), "not unwrapped: the unwrapped key does not match its check value");
    assert_eq!(table.len(), 2);
}

#[test]
fn weak_keys_are_refused_warned_of_or_allowed() {
    let weak = [0x01; 8];
    let wrapped = wrap_ecb(BlockCipher::Tdes3, &secret(MASTER, 3), &weak);
    let value = check_value(BlockCipher::Des, &weak);
    let entry = BatchEntry::new(BatchTask::unwrap_key(ECB, KeyType::Des)).key(0).input(&wrapped).tag(&value);
    for (rule, status, warnings) in [
        (WeakKeyRule::Refuse, Status::WeakKey, 0),
        (WeakKeyRule::Warn, Status::Done, 1),
        (WeakKeyRule::Allow, Status::Done, 0),
    ] {
        let table = legacy(KeyType::Des, rule);
        let mut builder = BatchBuilder::new();
        builder.slot(8);
        builder.add(entry.output(EntryOutput::Slot(0))).unwrap();
        let outcome = run(&table, &builder);
        assert_eq!(outcome.statuses(), [status]);
        assert_eq!(outcome.warnings().len(), warnings);
        assert!(outcome.warnings().iter().all(|warning| *warning == (0, KeyWeakness::Weak)));
        assert_eq!(table.weak_keys_met(), warnings as u64);
        let policy = KeyPolicy::any_data(KeyType::Des).weak_keys(rule);
        let added = table.insert("weak", KeyType::Des, &weak[..], policy);
        match rule {
            WeakKeyRule::Refuse => {
                assert!(matches!(added, Err(TableError::WeakKey { weakness: KeyWeakness::Weak })));
            }
            WeakKeyRule::Warn => assert_eq!(added.unwrap().warning, Some(KeyWeakness::Weak)),
            WeakKeyRule::Allow => assert_eq!(added.unwrap().warning, None),
        }
    }
}

#[test]
fn unwrapped_keys_serve_as_often_as_their_policy_says_and_share_the_limit_of_gcm() {
    let table = KeyTable::new();
    let seals =
        KeyPolicy::new().allow([KeyOperation::Encrypt]).with([KeyAlgorithm::Gcm]).ivs([IvRule::Random]);
    let then = seals.max_uses(2);
    let policy =
        KeyPolicy::unwrapping(KeyAlgorithm::Kw, KeyType::Aes128, then).allow([KeyOperation::WrapInClear]);
    table.insert("master", KeyType::Aes128, secret(KeyType::Aes128, 8), policy).unwrap();
    let wrapped = alone(&table, BatchEntry::new(BatchTask::wrap(WrapAlg::Aes128Kw)).key(0).input(&[5; 16])).1;
    let mut builder = BatchBuilder::new();
    let slot = builder.slot(16);
    let unwrap =
        BatchEntry::new(BatchTask::unwrap_key(KeyWrap::Aes(WrapAlg::Aes128Kw), KeyType::Aes128)).key(0);
    builder.add(unwrap.input(&wrapped).output(EntryOutput::Slot(slot))).unwrap();
    let seal =
        BatchEntry::new(BatchTask::seal(oarlock_core::AeadAlg::Aes128Gcm)).key_from(KeySource::Slot(slot));
    for _ in 0..3 {
        builder.add(seal.iv(EntryIv::Generated).input(b"x")).unwrap();
    }
    let before = table.snapshot().entry(0).unwrap().uses.gcm_of_unwrapped.left();
    let outcome = run(&table, &builder);
    assert_eq!(outcome.statuses(), [Status::Done, Status::Done, Status::Done, Status::KeyUsedUp]);
    assert_eq!(before - table.snapshot().entry(0).unwrap().uses.gcm_of_unwrapped.left(), 2);
}

#[test]
fn unwrapping_in_clear_is_a_right_of_its_own() {
    let table = KeyTable::new();
    let add = |name: &str, operation| {
        let policy = KeyPolicy::new().allow([operation, KeyOperation::WrapInClear]).with([KeyAlgorithm::Kw]);
        let policy = policy.unwraps(KeyType::Aes128, unwrapped_data(KeyType::Aes128)).ivs([IvRule::Callers]);
        table.insert(name, KeyType::Aes128, secret(KeyType::Aes128, 8), policy).unwrap().index
    };
    let (inside, clear) = (add("inside", KeyOperation::Unwrap), add("clear", KeyOperation::UnwrapInClear));
    let wrapped =
        alone(&table, BatchEntry::new(BatchTask::wrap(WrapAlg::Aes128Kw)).key(inside).input(&[5; 16])).1;
    let shape = Shape::Wrap { alg: WrapAlg::Aes128Kw, direction: Direction::Decrypt };
    let unwrap = BatchEntry::new(BatchTask::Do(shape)).input(&wrapped);
    assert_eq!(alone(&table, unwrap.key(inside)).0, Status::Forbidden);
    assert_eq!(alone(&table, unwrap.key(clear)), (Status::Done, vec![5; 16]));
}
