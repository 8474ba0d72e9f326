//! Records that take keys, inputs and IVs from earlier ones.

use oarlock_core::{DigestAlg, KeyWrap, MacAlg, WrapAlg};

use super::super::{EntryInput, EntryOutput};
use super::*;
use crate::table::{IvRule, KeyAlgorithm, KeyOperation};

fn through(builder: &mut BatchBuilder, entry: BatchEntry<'_>, len: u32) -> u32 {
    let slot = builder.slot(len);
    builder.add(entry.output(EntryOutput::Slot(slot))).unwrap();
    slot
}

#[test]
fn decrypting_into_a_slot_and_encrypting_again_is_a_translation() {
    let (table, indices) = open_table();
    let sealed = encrypt_outside(BlockCipher::Des, &secret(KeyType::Des, 1), &[2; 8], &[7; 32]);
    let mut builder = BatchBuilder::new();
    let decrypt =
        BatchEntry::new(BatchTask::decrypt(BlockCipher::Des)).key(indices[0]).iv(EntryIv::Bytes(&[2; 8]));
    let slot = through(&mut builder, decrypt.input(&sealed), 32);
    let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Aes128)).key(indices[3]).iv(EntryIv::Zero);
    let again = builder.add(encrypt.input_from(EntryInput::Slot(slot))).unwrap();
    let outcome = run(&table, &builder);
    assert!(outcome.is_all_done());
    let expected = encrypt_outside(BlockCipher::Aes128, &secret(KeyType::Aes128, 1), &[0; 16], &[7; 32]);
    assert_eq!(outcome.result(&builder.batch(), again).unwrap(), expected);
    assert_eq!(outcome.output().len(), 32, "nothing of the plaintext is in the output");
}

#[test]
fn long_chains_run_in_order() {
    let (table, indices) = open_table();
    let mut builder = BatchBuilder::new();
    let iv = EntryIv::Zero;
    let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Des)).key(indices[0]).iv(iv);
    let mut slot = through(&mut builder, encrypt.input(&[3; 16]), 16);
    for _ in 0..20 {
        slot = through(&mut builder, encrypt.input_from(EntryInput::Slot(slot)), 16);
    }
    builder.add(encrypt.input_from(EntryInput::Slot(slot))).unwrap();
    let outcome = run(&table, &builder);
    let mut expected = vec![3; 16];
    for _ in 0..22 {
        expected = encrypt_outside(BlockCipher::Des, &secret(KeyType::Des, 1), &[0; 8], &expected);
    }
    assert_eq!(outcome.result(&builder.batch(), 21).unwrap(), expected);
}

#[test]
fn a_failed_record_fails_what_depends_on_it_all_the_way_down_and_nothing_else() {
    let (table, indices) = open_table();
    let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Des)).key(indices[0]).iv(EntryIv::Zero);
    // One fails at the policy, one at the engine.
    for (bad, reason) in
        [(encrypt.key(99).input(&[1; 8]), Status::UnknownKey), (encrypt.input(&[1; 7]), Status::BadLength)]
    {
        let mut builder = BatchBuilder::new();
        let slot = through(&mut builder, bad, 8);
        let second = through(&mut builder, encrypt.input_from(EntryInput::Slot(slot)), 8);
        let third = through(&mut builder, encrypt.input(&[1; 8]).iv(EntryIv::Slot(second)), 8);
        builder.add(encrypt.input_from(EntryInput::Slot(third))).unwrap();
        builder
            .add(BatchEntry::new(BatchTask::digest(DigestAlg::Sha256)).input_from(EntryInput::Slot(third)))
            .unwrap();
        builder.add(encrypt.input(&[1; 8])).unwrap();
        let outcome = run(&table, &builder);
        use Status::{DependencyFailed, Done};
        let failed = DependencyFailed;
        assert_eq!(outcome.statuses(), [reason, failed, failed, failed, failed, Done]);
    }
}

#[test]
fn slots_are_written_once_and_read_later() {
    let (table, indices) = open_table();
    let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Des)).key(indices[0]).iv(EntryIv::Zero);
    let mut builder = BatchBuilder::new();
    let (first, second) = (builder.slot(8), builder.slot(8));
    let from = |slot| encrypt.input_from(EntryInput::Slot(slot));
    let records = [
        from(first),                                               // not written yet
        from(first).output(EntryOutput::Slot(first)),              // its own
        encrypt.input(&[1; 8]).output(EntryOutput::Slot(second)),  // the first to write
        encrypt.input(&[2; 8]).output(EntryOutput::Slot(second)),  // written twice
        from(second),                                              // what the first wrote
        from(9),                                                   // no such slot
        encrypt.input(&[1; 8]).output(EntryOutput::Slot(9)),       // no such slot
        encrypt.input(&[1; 8]).iv(EntryIv::GeneratedInto(second)), // written twice
        encrypt.key_from(KeySource::Slot(9)).input(&[1; 8]),       // no such slot
        from(first),                                               // its writer is refused
        encrypt.input(&[1; 8]),
    ];
    for record in records {
        builder.add(record).unwrap();
    }
    let outcome = run(&table, &builder);
    use Status::{DependencyFailed, Done, Malformed};
    let m = Malformed;
    assert_eq!(outcome.statuses(), [m, m, Done, m, Done, m, m, m, m, DependencyFailed, Done]);
    let once = outcome.result(&builder.batch(), 10).unwrap();
    let twice = encrypt_outside(BlockCipher::Des, &secret(KeyType::Des, 1), &[0; 8], once);
    assert_eq!(outcome.result(&builder.batch(), 4).unwrap(), twice);
}

#[test]
fn two_records_that_wait_for_each_other_fail_and_stop_nobody() {
    let (table, indices) = open_table();
    let mac = BatchEntry::new(BatchTask::mac(MacAlg::Aes128Cmac)).key(indices[3]);
    let mut builder = BatchBuilder::new();
    let (left, right) = (builder.slot(16), builder.slot(16));
    builder.add(mac.input_from(EntryInput::Slot(left)).output(EntryOutput::Slot(right))).unwrap();
    builder.add(mac.input_from(EntryInput::Slot(right)).output(EntryOutput::Slot(left))).unwrap();
    builder.add(mac.input(b"x")).unwrap();
    let statuses = run(&table, &builder).statuses().to_vec();
    assert_eq!(statuses, [Status::Malformed, Status::DependencyFailed, Status::Done]);
}

/// A key that translates only, one that may be translated to, and one that does all.
fn translators() -> (KeyTable, u32, u32, u32) {
    let table = KeyTable::new();
    let add = |name: &str, operations: &[KeyOperation]| {
        let policy = KeyPolicy::new().allow(operations.iter().copied()).with([KeyAlgorithm::Cbc]);
        let policy = policy.ivs([IvRule::Zero, IvRule::Callers]);
        table.insert(name, KeyType::Des, &DES_KEY[..], policy).unwrap().index
    };
    use KeyOperation::{Decrypt, Encrypt, TranslateFrom, TranslateTo};
    (table.clone(), add("from", &[TranslateFrom]), add("to", &[TranslateTo]), add("all", &[Encrypt, Decrypt]))
}

#[test]
fn plaintext_that_may_only_be_translated_is_encrypted_again_or_nothing() {
    let (table, from, to, all) = translators();
    let mut builder = BatchBuilder::new();
    let decrypt = BatchEntry::new(BatchTask::decrypt(BlockCipher::Des)).iv(EntryIv::Zero).input(&[7; 8]);
    let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Des)).iv(EntryIv::Zero);
    let slot = through(&mut builder, decrypt.key(from), 8);
    let open = through(&mut builder, decrypt.key(all), 8);
    let secret = EntryInput::Slot(slot);
    let records = [
        (encrypt.key(to).input_from(secret), Status::Done),
        (encrypt.key(all).input_from(secret), Status::Forbidden),
        (BatchEntry::new(BatchTask::digest(DigestAlg::Sha1)).input_from(secret), Status::Forbidden),
        (decrypt.key(all).input_from(secret), Status::Forbidden),
        (encrypt.key(all).input(&[0; 8]).iv(EntryIv::Slot(slot)), Status::Forbidden),
        (decrypt.key(from), Status::Forbidden),
        (encrypt.key(to).input(&[1; 8]), Status::Forbidden),
        (encrypt.key(to).input_from(EntryInput::Slot(open)), Status::Forbidden),
        (encrypt.key(all).input_from(EntryInput::Slot(open)), Status::Done),
        (encrypt.key_from(KeySource::Slot(slot)).input(&[1; 8]), Status::WrongKeyType),
        (encrypt.key_from(KeySource::Slot(open)).input(&[1; 8]), Status::WrongKeyType),
    ];
    for (record, _) in records {
        builder.add(record).unwrap();
    }
    let outcome = run(&table, &builder);
    for (at, (record, expected)) in records.iter().enumerate() {
        assert_eq!(outcome.statuses()[at + 2], *expected, "{at}: {record:?}");
    }
}

#[test]
fn a_key_that_the_caller_knows_takes_nothing_out_that_policies_keep_in() {
    let (table, from, to, all) = translators();
    let mut builder = BatchBuilder::new();
    let known = builder.outside_key(&outside(&DES_KEY));
    let zero = |task| BatchEntry::new(task).iv(EntryIv::Zero).second_iv(EntryIv::Zero).input(&[7; 8]);
    let translate = zero(BatchTask::translate(BlockCipher::Des, BlockCipher::Des));
    let only = zero(BatchTask::decrypt(BlockCipher::Des)).second_iv(EntryIv::Bytes(&[]));
    let encrypt = zero(BatchTask::encrypt(BlockCipher::Des)).second_iv(EntryIv::Bytes(&[]));
    let closed = through(&mut builder, only.key(from), 8);
    let chosen = through(&mut builder, only.key_from(known), 8);
    let records = [
        (translate.key(from).second_key_from(known), Status::Forbidden),
        (translate.key(all).second_key_from(known), Status::Done),
        (translate.key_from(known).second_key(to), Status::Forbidden),
        (translate.key_from(known).second_key(all), Status::Done),
        (translate.key(from).second_key(to), Status::Done),
        (encrypt.key_from(known).input_from(EntryInput::Slot(closed)), Status::Forbidden),
        (encrypt.key(to).input_from(EntryInput::Slot(chosen)), Status::Forbidden),
        (encrypt.key(all).input_from(EntryInput::Slot(chosen)), Status::Done),
    ];
    for (record, _) in records {
        builder.add(record).unwrap();
    }
    let outcome = run(&table, &builder);
    for (at, (record, expected)) in records.iter().enumerate() {
        assert_eq!(outcome.statuses()[at + 2], *expected, "{at}: {record:?}");
    }
}

/// A caller who wraps bytes and unwraps them as a key knows that key.
#[test]
fn a_key_that_the_caller_could_choose_takes_nothing_out_either() {
    let kw = WrapAlg::Aes128Kw;
    for (more, expected) in [(None, Status::Done), (Some(KeyOperation::WrapInClear), Status::Forbidden)] {
        let (table, from, ..) = translators();
        let then = KeyPolicy::new().allow([KeyOperation::TranslateTo]).with([KeyAlgorithm::Cbc]);
        let then = then.ivs([IvRule::Zero]);
        let policy = KeyPolicy::unwrapping(KeyAlgorithm::Kw, KeyType::Tdes2, then).allow(more);
        let master = secret(KeyType::Aes128, 8);
        let index = table.insert("master", KeyType::Aes128, &master[..], policy).unwrap().index;
        let mut builder = BatchBuilder::new();
        let known = builder.outside_key(&outside(&master));
        let key = secret(KeyType::Tdes2, 6);
        builder.add(BatchEntry::new(BatchTask::wrap(kw)).key_from(known).input(&key)).unwrap();
        let wrapped = run(&table, &builder).output().to_vec();
        let mut builder = BatchBuilder::new();
        let unwrap = BatchTask::unwrap_key(KeyWrap::Aes(kw), KeyType::Tdes2);
        let slot = through(&mut builder, BatchEntry::new(unwrap).key(index).input(&wrapped), 16);
        let translate = BatchEntry::new(BatchTask::translate(BlockCipher::Des, BlockCipher::Tdes2));
        let translate = translate.key(from).second_key_from(KeySource::Slot(slot)).input(&[7; 8]);
        builder.add(translate.iv(EntryIv::Zero).second_iv(EntryIv::Zero)).unwrap();
        assert_eq!(run(&table, &builder).statuses(), [Status::Done, expected], "{more:?}");
    }
}

#[test]
fn keys_in_slots_are_used_and_wrapped_but_never_read() {
    let table = KeyTable::new();
    let data = unwrapped_data(KeyType::Aes128);
    let master = |name: &str, then: KeyPolicy| {
        let policy = KeyPolicy::unwrapping(KeyAlgorithm::Kw, KeyType::Aes128, then);
        let policy = policy.allow([KeyOperation::Wrap, KeyOperation::WrapInClear]);
        table.insert(name, KeyType::Aes128, secret(KeyType::Aes128, 8), policy).unwrap().index
    };
    let (stays, leaves) =
        (master("stays", data.clone()), master("leaves", data.clone().allow([KeyOperation::Export])));
    let alike = KeyPolicy::unwrapping(KeyAlgorithm::Kw, KeyType::Tdes2, unwrapped_data(KeyType::Tdes2));
    let alike = table.insert("alike", KeyType::Aes128, secret(KeyType::Aes128, 8), alike).unwrap().index;
    let all = table.insert("all", KeyType::Aes128, secret(KeyType::Aes128, 2), data).unwrap().index;
    let codes = KeyPolicy::new().allow([KeyOperation::Mac]).with([KeyAlgorithm::Cmac]);
    let codes = table.insert("codes", KeyType::Aes128, secret(KeyType::Aes128, 3), codes).unwrap().index;
    let wrap = BatchEntry::new(BatchTask::wrap(WrapAlg::Aes128Kw));
    let wrapped = alone(&table, wrap.key(stays).input(&secret(KeyType::Aes128, 7))).1;

    let unwrap = |key_type| {
        BatchEntry::new(BatchTask::unwrap_key(KeyWrap::Aes(WrapAlg::Aes128Kw), key_type)).input(&wrapped)
    };
    let mut builder = BatchBuilder::new();
    let slot = through(&mut builder, unwrap(KeyType::Aes128).key(stays), 16);
    let exported = through(&mut builder, unwrap(KeyType::Aes128).key(leaves), 16);
    let other = through(&mut builder, unwrap(KeyType::Tdes2).key(alike), 16);
    let known = builder.outside_key(&outside(&[1; 16]));
    let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Aes128)).iv(EntryIv::Zero);
    let read = EntryInput::Slot(slot);
    let records = [
        (encrypt.key_from(KeySource::Slot(slot)).input(&[1; 16]), Status::Done),
        (encrypt.key_from(KeySource::Slot(other)).input(&[1; 16]), Status::WrongKeyType),
        (encrypt.key(all).input_from(read), Status::Forbidden),
        (BatchEntry::new(BatchTask::digest(DigestAlg::Sha256)).input_from(read), Status::Forbidden),
        (BatchEntry::new(BatchTask::mac(MacAlg::Aes128Cmac)).key(codes).input_from(read), Status::Forbidden),
        (encrypt.key(all).input(&[1; 16]).iv(EntryIv::Slot(slot)), Status::Forbidden),
        (wrap.key(stays).input_from(read), Status::Forbidden),
        (wrap.key(stays).input_from(EntryInput::Slot(exported)), Status::Done),
        (wrap.key_from(known).input_from(EntryInput::Slot(exported)), Status::Forbidden),
        (unwrap(KeyType::Aes256).key(stays).output(EntryOutput::Slot(3)), Status::Forbidden),
        (unwrap(KeyType::Aes128).key(stays), Status::Malformed),
    ];
    assert_eq!(builder.slot(32), 3);
    for (record, _) in records {
        builder.add(record).unwrap();
    }
    let outcome = run(&table, &builder);
    for (at, (record, expected)) in records.iter().enumerate() {
        assert_eq!(outcome.statuses()[at + 3], *expected, "{at}: {record:?}");
    }
    let expected = encrypt_outside(BlockCipher::Aes128, &secret(KeyType::Aes128, 7), &[0; 16], &[1; 16]);
    assert_eq!(outcome.result(&builder.batch(), 3).unwrap(), expected);
    assert_eq!(outcome.result(&builder.batch(), 10).unwrap(), wrapped);
}
