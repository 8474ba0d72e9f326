//! Keys do what their policies and types allow, and nothing else.

use oarlock_core::{AeadAlg, BlockCipher, DigestAlg, Direction, MacAlg, MacPadding, Shape, Status, WrapAlg};

use super::*;
use crate::table::{IvRule, KeyAlgorithm, KeyOperation, PolicyError};

/// Every task with data that a key of the table can do, with what its policy must allow.
fn tasks() -> Vec<(BatchTask, KeyType, KeyOperation, KeyAlgorithm)> {
    use KeyAlgorithm::{Cbc, Cmac, DesMac, Gcm, HmacSha1, HmacSha256, Kw, Kwp, RetailMac};
    let both = |direction| match direction {
        Direction::Encrypt => KeyOperation::Encrypt,
        Direction::Decrypt => KeyOperation::Decrypt,
    };
    let found = |shape: Shape| match shape {
        Shape::Cipher { alg, direction, .. } => Some((KeyType::for_cipher(alg)?, both(direction), Cbc)),
        Shape::Aead { alg, direction } => {
            let algorithm = match alg {
                _ if alg.is_siv() => KeyAlgorithm::Siv,
                _ if alg.may_repeat_ivs() => KeyAlgorithm::GcmSiv,
                _ => Gcm,
            };
            Some((KeyType::for_aead(alg)?, both(direction), algorithm))
        }
        Shape::Fpe { alg, direction } => Some((KeyType::for_fpe(alg)?, both(direction), KeyAlgorithm::Ff1)),
        Shape::Mac { alg } => {
            let algorithm = match alg {
                MacAlg::DesMac(_) => DesMac,
                MacAlg::RetailMac(_) => RetailMac,
                MacAlg::HmacSha1 => HmacSha1,
                MacAlg::HmacSha256 => HmacSha256,
                MacAlg::HmacSha224 => KeyAlgorithm::HmacSha224,
                MacAlg::HmacSha384 => KeyAlgorithm::HmacSha384,
                MacAlg::HmacSha512 => KeyAlgorithm::HmacSha512,
                _ => Cmac,
            };
            Some((KeyType::for_mac(alg), KeyOperation::Mac, algorithm))
        }
        Shape::Wrap { alg, direction } => {
            let is_padded = matches!(alg, WrapAlg::Aes128Kwp | WrapAlg::Aes256Kwp);
            let operation = match direction {
                Direction::Encrypt => KeyOperation::WrapInClear,
                Direction::Decrypt => KeyOperation::UnwrapInClear,
            };
            Some((KeyType::for_wrap(alg), operation, if is_padded { Kwp } else { Kw }))
        }
        _ => None,
    };
    // No policy allows counter mode.
    let is_ctr = |shape: &Shape| matches!(shape, Shape::Cipher { mode: oarlock_core::CipherMode::Ctr, .. });
    let shapes = Shape::records().into_iter().filter(|shape| !is_ctr(shape));
    let all = shapes.filter_map(|shape| {
        let (key_type, operation, algorithm) = found(shape)?;
        Some((BatchTask::Do(shape), key_type, operation, algorithm))
    });
    all.collect()
}

fn status_under(task: BatchTask, key_type: KeyType, policy: KeyPolicy) -> Status {
    let table = KeyTable::new();
    let index = table.insert("key", key_type, secret(key_type, 3), policy).unwrap().index;
    let mut iv = [0; 16];
    if let Shape::Fpe { .. } = task.shape() {
        // The radix.
        iv[3] = 10;
    }
    let entry = BatchEntry::new(task)
        .key(index)
        .iv(EntryIv::Bytes(&iv[..task.iv_len().unwrap_or(0)]))
        .input(&[7; 48])
        .tag(if task.is_open() { &[0; 16] } else { &[] });
    let single = alone(&table, entry).0;
    let mut mixed = BatchBuilder::new();
    mixed.add(BatchEntry::new(BatchTask::digest(DigestAlg::Sha1)).input(b"of another shape")).unwrap();
    mixed.add(entry).unwrap();
    let statuses = run(&table, &mixed).statuses().to_vec();
    assert_eq!(statuses, [Status::Done, single], "{task}: the same alone and among others");
    single
}

#[test]
fn every_task_needs_its_type_operation_and_algorithm() {
    let tasks = tasks();
    assert_eq!(tasks.len(), 2 * (5 + 6 + 2 + 4) + 13);
    for (task, key_type, operation, algorithm) in tasks {
        let policy = KeyPolicy::new().ivs([IvRule::Callers]).weak_keys(WeakKeyRule::Allow);
        let allowed = policy.clone().allow([operation]).with([algorithm]);
        let status = status_under(task, key_type, allowed);
        let is_undoing = task.is_open() || operation == KeyOperation::UnwrapInClear;
        assert_eq!(status, if is_undoing { Status::Rejected } else { Status::Done }, "{task}");
        assert_eq!(status_under(task, key_type, policy.clone().with([algorithm])), Status::Forbidden);
        assert_eq!(status_under(task, key_type, policy.clone().allow([operation])), Status::Forbidden);
        let other =
            if operation == KeyOperation::Encrypt { KeyOperation::Decrypt } else { KeyOperation::Encrypt };
        let other = policy.clone().allow([other]).with([algorithm]);
        assert_eq!(status_under(task, key_type, other), Status::Forbidden, "{task}");
    }
}

#[test]
fn a_key_for_formats_or_gcm_siv_does_nothing_else() {
    for alone in [KeyAlgorithm::Ff1, KeyAlgorithm::GcmSiv] {
        let policy = KeyPolicy::new().allow([KeyOperation::Encrypt]).ivs([IvRule::Random]);
        assert_eq!(policy.clone().with([alone]).check(KeyType::Aes128), Ok(()));
        let error = policy.with([KeyAlgorithm::Cmac, alone]).check(KeyType::Aes128).unwrap_err();
        assert!(error.to_string().contains("may do nothing else, found Cmac"), "{error}");
    }
}

/// The reasons why no policy has these beside each other. SP 800-38B 6.1.
#[test]
fn retail_macs_forge_cmac_and_random_ivs_forge_des_macs() {
    let (table, [des, tdes2, ..]) = open_table();
    let mac = |alg, key, message: &[u8]| {
        alone(&table, BatchEntry::new(BatchTask::mac(alg)).key(key).input(message)).1
    };
    let retail = MacAlg::RetailMac(MacPadding::Zeros);
    let encrypted_zeros = u64::from_be_bytes(mac(retail, tdes2, &[0; 8]).try_into().unwrap());
    let subkey = (encrypted_zeros << 1) ^ if encrypted_zeros >> 63 == 1 { 0x1b } else { 0 };
    let message = 0x1122_3344_5566_7788_u64;
    let forged = mac(retail, tdes2, &(message ^ subkey).to_be_bytes());
    assert_eq!(forged, mac(MacAlg::Tdes2Cmac, tdes2, &message.to_be_bytes()));

    let mut builder = BatchBuilder::new();
    let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Des)).key(des).input(&[7; 24]);
    builder.add(encrypt.iv(EntryIv::Generated)).unwrap();
    let (outcome, batch) = (run(&table, &builder), builder.batch());
    let first = outcome.iv(&batch, 0).unwrap().iter().map(|byte| byte ^ 7);
    let message: Vec<u8> = first.chain([7; 16]).collect();
    let forged = &outcome.result(&batch, 0).unwrap()[16..];
    assert_eq!(forged, mac(MacAlg::DesMac(MacPadding::Zeros), des, &message));
}

#[test]
fn a_key_for_codes_of_blocks_does_nothing_that_forges_them() {
    use KeyAlgorithm::{Cbc, Cmac, DesMac, Gcm, RetailMac};
    use KeyOperation::{Decrypt, Encrypt, Mac, TranslateFrom, TranslateTo};
    for (key_type, mac, other) in [
        (KeyType::Aes128, Cmac, Cbc),
        (KeyType::Aes256, Cmac, Gcm),
        (KeyType::Tdes3, Cmac, Cbc),
        (KeyType::Tdes2, RetailMac, Cbc),
        (KeyType::Des, DesMac, Cbc),
    ] {
        let policy = || KeyPolicy::new().ivs([IvRule::Random]);
        let refused = Err(PolicyError::BlockOracleBesideMac { mac, other });
        for operation in [Encrypt, Decrypt, TranslateFrom, TranslateTo] {
            let both = policy().allow([Mac, operation]);
            assert_eq!(both.clone().with([other, mac]).check(key_type), refused, "{operation:?} {other:?}");
            assert_eq!(both.with([mac]).check(key_type), Ok(()), "{operation:?} by no algorithm");
            let cipher = policy().allow([operation]).with([other, mac]);
            assert_eq!(cipher.check(key_type), Ok(()), "{operation:?} without codes");
        }
        assert_eq!(policy().allow([Mac]).with([other, mac]).check(key_type), Ok(()));
    }
    let two = KeyPolicy::new().allow([Mac]).with([Cmac, RetailMac]).check(KeyType::Tdes2);
    assert_eq!(two, Err(PolicyError::BlockOracleBesideMac { mac: Cmac, other: RetailMac }));
}

/// The attack that the rule is for: CBC encryption under random IVs, and one known code.
#[test]
fn one_known_block_forges_a_code() {
    let (table, indices) = open_table();
    let key = indices[3];
    let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Aes128)).key(key).input(&[7; 16]);
    let mut builder = BatchBuilder::new();
    builder.add(encrypt.iv(EntryIv::Generated)).unwrap();
    let (outcome, batch) = (run(&table, &builder), builder.batch());
    let (iv, encrypted) = (outcome.iv(&batch, 0).unwrap(), outcome.result(&batch, 0).unwrap());
    let code = |message: &[u8]| {
        alone(&table, BatchEntry::new(BatchTask::mac(MacAlg::Aes128Cmac)).key(key).input(message)).1
    };
    let known = [3; 16];
    let block = iv.iter().map(|byte| byte ^ 7);
    let forged: Vec<u8> = block.chain(encrypted.iter().map(|byte| byte ^ 3)).collect();
    assert_eq!(code(&forged), code(&known));
}

#[test]
fn siv_takes_any_iv_and_makes_none() {
    let table = KeyTable::new();
    let policy = KeyPolicy::new().allow([KeyOperation::Encrypt]).with([KeyAlgorithm::Siv]);
    let policy = policy.ivs([IvRule::Random, IvRule::KeyItself]);
    let key = table.insert("key", KeyType::Aes128Siv, secret(KeyType::Aes128Siv, 3), policy).unwrap().index;
    let seal = BatchEntry::new(BatchTask::seal(AeadAlg::Aes128Siv)).key(key).input(b"value");
    let under = |iv| {
        let mut builder = BatchBuilder::new();
        builder.add(seal.iv(iv)).unwrap();
        run(&table, &builder).statuses()[0]
    };
    for iv in [EntryIv::Zero, EntryIv::Bytes(b""), EntryIv::Bytes(b"any length")] {
        assert_eq!(under(iv), Status::Done);
    }
    for iv in [EntryIv::Generated, EntryIv::KeyItself] {
        assert_eq!(under(iv), Status::IvForbidden);
    }
}

#[test]
fn formats_need_a_million_texts_on_each_path_of_a_batch() {
    let table = KeyTable::new();
    let policy = KeyPolicy::new().allow([KeyOperation::Encrypt]).with([KeyAlgorithm::Ff1]);
    let key = table.insert("key", KeyType::Aes128, secret(KeyType::Aes128, 3), policy).unwrap().index;
    let radix = 10_u32.to_be_bytes();
    let of = |input: &'static [u8]| {
        let task = BatchTask::encrypt_format(oarlock_core::FpeAlg::Aes128Ff1);
        BatchEntry::new(task).key(key).iv(EntryIv::Bytes(&radix)).input(input)
    };
    let statuses = |inputs: &[&'static [u8]], has_other_task: bool| {
        let mut builder = BatchBuilder::new();
        for input in inputs {
            builder.add(of(input)).unwrap();
        }
        if has_other_task {
            builder.add(BatchEntry::new(BatchTask::digest(DigestAlg::Sha1)).input(b"x")).unwrap();
        }
        run(&table, &builder).statuses()[..inputs.len()].to_vec()
    };
    for has_other_task in [false, true] {
        assert_eq!(statuses(&[&[1; 6], &[2; 6]], has_other_task), [Status::Done; 2]);
        let mixed = statuses(&[&[1; 6], &[2; 5], &[10; 6], &[3; 7]], has_other_task);
        assert_eq!(mixed, [Status::Done, Status::BadLength, Status::OutOfRange, Status::Done]);
    }
}

/// A key stream under the caller's IV would reveal what the key encrypts in another mode.
#[test]
fn no_policy_allows_counter_mode() {
    let direction = Direction::Encrypt;
    let shape = Shape::Cipher { alg: BlockCipher::Aes128, mode: oarlock_core::CipherMode::Ctr, direction };
    let all = KeyPolicy::any_data(KeyType::Aes128);
    assert_eq!(status_under(BatchTask::Do(shape), KeyType::Aes128, all), Status::Forbidden);
}

#[test]
fn keys_of_one_type_are_never_used_as_another_of_any_length() {
    for (task, key_type, ..) in tasks() {
        for other in KeyType::ALL.into_iter().filter(|other| *other != key_type) {
            let all = KeyPolicy::any_data(other).weak_keys(WeakKeyRule::Allow);
            assert_eq!(status_under(task, other, all), Status::WrongKeyType, "{task} with {other}");
        }
    }
}

#[test]
fn one_refused_record_fails_alone_with_its_reason_and_its_place_stays_zero() {
    let (table, indices) = open_table();
    let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Des)).iv(EntryIv::Zero).input(&[1; 8]);
    let mut builder = BatchBuilder::new();
    for key in [indices[0], 77, indices[4], indices[0]] {
        builder.add(encrypt.key(key)).unwrap();
    }
    builder.add(encrypt.key(indices[0]).input(&[1; 7])).unwrap();
    builder.add(encrypt.key(indices[0]).iv(EntryIv::KeyItself)).unwrap();
    let outcome = run(&table, &builder);
    use Status::{BadLength, Done, IvForbidden, UnknownKey, WrongKeyType};
    assert_eq!(outcome.statuses(), [Done, UnknownKey, WrongKeyType, Done, BadLength, IvForbidden]);
    assert_eq!(outcome.output()[..8], outcome.output()[24..32]);
    assert!(outcome.output()[8..24].iter().chain(&outcome.output()[32..]).all(|byte| *byte == 0));
    assert_eq!(outcome.result(&builder.batch(), 1), None);
    let messages: Vec<String> =
        outcome.errors(&table, &builder.batch()).map(|error| error.to_string()).collect();
    assert_eq!(
        messages,
        [
            "record 1, des-cbc-encrypt: the table has no such key",
            "record 2, des-cbc-encrypt under key \"aes256\": the key is of another type than the operation needs",
            "record 4, des-cbc-encrypt under key \"des\": a length does not fit: input, IV, tag or place of the \
             output; expected a multiple of 8 bytes, an IV of 8",
            "record 5, des-cbc-encrypt under key \"des\": the key's policy forbids an IV from this source",
        ]
    );
}

#[test]
fn translation_needs_both_keys_to_say_so() {
    let translate = BatchTask::translate(BlockCipher::Des, BlockCipher::Aes128);
    let under = |from: &[KeyOperation], to: &[KeyOperation]| {
        let table = KeyTable::new();
        let key = |name: &str, key_type, operations: &[KeyOperation]| {
            let policy = KeyPolicy::new().allow(operations.iter().copied()).with([KeyAlgorithm::Cbc]);
            table.insert(name, key_type, secret(key_type, 4), policy.ivs([IvRule::Random])).unwrap().index
        };
        let (from, to) = (key("from", KeyType::Des, from), key("to", KeyType::Aes128, to));
        let entry = BatchEntry::new(translate).key(from).second_key(to).iv(EntryIv::Bytes(&[9; 8]));
        alone(&table, entry.second_iv(EntryIv::Generated).input(&[5; 16])).0
    };
    use KeyOperation::{Decrypt, Encrypt, TranslateFrom, TranslateTo};
    assert_eq!(under(&[TranslateFrom], &[TranslateTo]), Status::Done);
    assert_eq!(under(&[Decrypt], &[TranslateTo]), Status::Forbidden);
    assert_eq!(under(&[TranslateFrom], &[Encrypt]), Status::Forbidden);
    assert_eq!(under(&[TranslateTo], &[TranslateFrom]), Status::Forbidden);
}

#[test]
fn removed_keys_are_unknown_and_their_index_stays_empty() {
    let (table, indices) = open_table();
    let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Des)).iv(EntryIv::Zero).input(&[1; 8]);
    assert_eq!(alone(&table, encrypt.key(indices[0])).0, Status::Done);
    assert!(table.remove("des") && !table.remove("des"));
    assert_eq!(alone(&table, encrypt.key(indices[0])).0, Status::UnknownKey);
    let policy = KeyPolicy::any_data(KeyType::Des);
    let again = table.insert("des", KeyType::Des, &DES_KEY[..], policy).unwrap().index;
    assert!(!indices.contains(&again));
    assert_eq!(alone(&table, encrypt.key(again)).0, Status::Done);
}

#[test]
fn public_key_shapes_are_no_task() {
    let (table, indices) = open_table();
    let status =
        alone(&table, BatchEntry::new(BatchTask::Do(Shape::X25519)).key(indices[0]).input(&[1; 32])).0;
    assert_eq!(status, Status::Forbidden);
}

#[test]
fn debug_shows_neither_keys_nor_data() {
    let (table, indices) = open_table();
    let mut builder = BatchBuilder::new();
    let entry = BatchEntry::new(BatchTask::seal(AeadAlg::Aes128Gcm)).key(indices[3]).input(b"plaintext");
    builder.add(entry.iv(EntryIv::Generated)).unwrap();
    let outcome = run(&table, &builder);
    let info = table.info(indices[3]).unwrap();
    let text = format!("{table:?} {builder:?} {:?} {outcome:?} {entry:?} {info:?}", builder.batch());
    assert!(!text.contains("plaintext") && !text.contains("112, 108") && !text.contains("70, 6c"), "{text}");
    assert!(text.contains("KeyTable(8 keys)") && text.contains("Entry(aes128-gcm-encrypt)"));
}
