//! Tests of the sources of IVs and of the policies about them.

use std::collections::BTreeSet;
use std::sync::Arc;

use oarlock_core::AeadAlg;

use super::*;
use crate::table::{
    CounterStore, FileCounter, IvCounter, IvRule, KeyAlgorithm, KeyOperation, MemoryCounter, PolicyError,
    TableError,
};

fn keys(rule: IvRule) -> (KeyTable, [u32; 2]) {
    let table = KeyTable::new();
    let policy = KeyPolicy::new().allow([KeyOperation::Encrypt, KeyOperation::Decrypt]).ivs([rule]);
    let des = policy.clone().with([KeyAlgorithm::Cbc]);
    let aes = policy.with([KeyAlgorithm::Gcm]);
    let des = table.insert("des", KeyType::Des, &DES_KEY[..], des).unwrap().index;
    let aes = table.insert("aes", KeyType::Aes128, secret(KeyType::Aes128, 9), aes).unwrap().index;
    (table, [des, aes])
}

const ENCRYPT: BatchTask = BatchTask::Do(oarlock_core::Shape::Cipher {
    alg: BlockCipher::Des,
    mode: oarlock_core::CipherMode::Cbc,
    direction: oarlock_core::Direction::Encrypt,
});

#[test]
fn a_policy_names_where_ivs_come_from() {
    let given = EntryIv::Bytes(&[0; 8]);
    let all = [given, EntryIv::Generated, EntryIv::Zero, EntryIv::KeyItself];
    let counter = Arc::new(IvCounter::new(Arc::new(MemoryCounter::new()), [0; 4]));
    let rules = [(IvRule::Callers, 0), (IvRule::Random, 1), (IvRule::Zero, 2), (IvRule::KeyItself, 3)];
    let table = KeyTable::new();
    for (rule, allowed) in rules.into_iter().chain([(IvRule::Counter(counter), 1)]) {
        let name = format!("{rule:?}");
        let policy = KeyPolicy::new().allow([KeyOperation::Encrypt]).with([KeyAlgorithm::Cbc]).ivs([rule]);
        let key = table.insert(name.as_str(), KeyType::Des, &DES_KEY[..], policy).unwrap().index;
        for (at, iv) in all.into_iter().enumerate() {
            let status = alone(&table, BatchEntry::new(ENCRYPT).key(key).iv(iv).input(&[1; 8])).0;
            let expected = if at == allowed { Status::Done } else { Status::IvForbidden };
            assert_eq!(status, expected, "{name}, {iv:?}");
        }
    }
}

#[test]
fn zeros_and_the_key_itself_are_what_they_say() {
    for (rule, iv, bytes) in
        [(IvRule::Zero, EntryIv::Zero, [0; 8]), (IvRule::KeyItself, EntryIv::KeyItself, DES_KEY)]
    {
        let (table, [des, _]) = keys(rule);
        let (status, result) = alone(&table, BatchEntry::new(ENCRYPT).key(des).iv(iv).input(&[1; 16]));
        assert_eq!(status, Status::Done);
        assert_eq!(result, encrypt_outside(BlockCipher::Des, &DES_KEY, &bytes, &[1; 16]));
    }
}

#[test]
fn gcm_never_has_a_fixed_iv() {
    for (rule, iv) in [(IvRule::Zero, EntryIv::Zero), (IvRule::KeyItself, EntryIv::KeyItself)] {
        let (table, [_, aes]) = keys(rule);
        let seal = BatchEntry::new(BatchTask::seal(AeadAlg::Aes128Gcm)).key(aes).input(b"x");
        assert_eq!(alone(&table, seal.iv(iv)).0, Status::IvForbidden);
    }
}

#[test]
fn decryption_takes_any_iv_but_the_key_itself() {
    let (table, [des, _]) = keys(IvRule::Random);
    let decrypt = BatchEntry::new(BatchTask::decrypt(BlockCipher::Des)).key(des).input(&[1; 8]);
    assert_eq!(alone(&table, decrypt.iv(EntryIv::Bytes(&[3; 8]))).0, Status::Done);
    assert_eq!(alone(&table, decrypt.iv(EntryIv::Zero)).0, Status::Done);
    assert_eq!(alone(&table, decrypt.iv(EntryIv::KeyItself)).0, Status::IvForbidden);
    assert_eq!(alone(&table, decrypt.iv(EntryIv::Generated)).0, Status::Malformed);
    let (table, [des, _]) = keys(IvRule::KeyItself);
    assert_eq!(alone(&table, decrypt.key(des).iv(EntryIv::KeyItself)).0, Status::Done);
}

#[test]
fn random_ivs_are_returned_and_never_alike() {
    let (table, [des, aes]) = keys(IvRule::Random);
    let mut builder = BatchBuilder::new();
    let plain: Vec<u8> = (0..40).collect();
    for _ in 0..50 {
        let encrypt = BatchEntry::new(ENCRYPT).key(des).iv(EntryIv::Generated).input(&plain);
        builder.add(encrypt).unwrap();
        builder.add(encrypt.task(BatchTask::seal(AeadAlg::Aes128Gcm)).key(aes)).unwrap();
    }
    let batch = builder.batch();
    let mut seen = BTreeSet::new();
    for _ in 0..2 {
        let outcome = table.run(accelerator(), &batch).unwrap();
        assert!(outcome.is_all_done());
        for record in 0..100 {
            let iv = outcome.iv(&batch, record).unwrap();
            assert!(seen.insert(iv.to_vec()), "{iv:?} came twice");
            let sealed = outcome.result(&batch, record).unwrap();
            let undo = if record % 2 == 0 {
                BatchEntry::new(BatchTask::decrypt(BlockCipher::Des)).key(des)
            } else {
                let tag = outcome.tag(&batch, record).unwrap();
                BatchEntry::new(BatchTask::open(AeadAlg::Aes128Gcm)).key(aes).tag(tag)
            };
            let undone = alone(&table, undo.iv(EntryIv::Bytes(iv)).input(sealed));
            assert_eq!(undone, (Status::Done, plain.clone()));
        }
    }
}

#[test]
fn ivs_of_one_task_are_those_of_their_records() {
    let policy = |rules: Vec<IvRule>| {
        KeyPolicy::new().allow([KeyOperation::Encrypt, KeyOperation::Decrypt]).ivs(rules)
    };
    let both = policy(vec![IvRule::Random, IvRule::Zero]);
    let table = KeyTable::new();
    let cbc = both.clone().with([KeyAlgorithm::Cbc]);
    let siv = both.with([KeyAlgorithm::GcmSiv]);
    let gcm = policy(vec![IvRule::Random]).with([KeyAlgorithm::Gcm]).max_uses(150);
    let cbc = table.insert("cbc", KeyType::Aes128, secret(KeyType::Aes128, 1), cbc).unwrap().index;
    let siv = table.insert("siv", KeyType::Aes128, secret(KeyType::Aes128, 2), siv).unwrap().index;
    let gcm = table.insert("gcm", KeyType::Aes128, secret(KeyType::Aes128, 3), gcm).unwrap().index;
    for (key, task, undo, iv) in [
        (
            cbc,
            BatchTask::encrypt(BlockCipher::Aes128),
            BatchTask::decrypt(BlockCipher::Aes128),
            EntryIv::Zero,
        ),
        (
            cbc,
            BatchTask::encrypt(BlockCipher::Aes128),
            BatchTask::decrypt(BlockCipher::Aes128),
            EntryIv::Generated,
        ),
        (siv, BatchTask::seal(AeadAlg::Aes128GcmSiv), BatchTask::open(AeadAlg::Aes128GcmSiv), EntryIv::Zero),
        (
            siv,
            BatchTask::seal(AeadAlg::Aes128GcmSiv),
            BatchTask::open(AeadAlg::Aes128GcmSiv),
            EntryIv::Generated,
        ),
        (gcm, BatchTask::seal(AeadAlg::Aes128Gcm), BatchTask::open(AeadAlg::Aes128Gcm), EntryIv::Generated),
    ] {
        let mut builder = BatchBuilder::new();
        let inputs: Vec<Vec<u8>> = (0..100_u8).map(|at| vec![at; 16 + 16 * usize::from(at % 3)]).collect();
        for input in &inputs {
            builder
                .add(BatchEntry::new(task).key(key).iv(iv).input(input).aad(if task.is_seal() {
                    b"aad"
                } else {
                    b""
                }))
                .unwrap();
        }
        let batch = builder.batch();
        let outcome = table.run(accelerator(), &batch).unwrap();
        assert!(outcome.is_all_done(), "{task}, {iv:?}");
        let mut seen = BTreeSet::new();
        for (record, input) in inputs.iter().enumerate() {
            let made = match iv {
                EntryIv::Generated => outcome.iv(&batch, record).unwrap().to_vec(),
                _ => vec![0; task.iv_len().unwrap()],
            };
            assert!(seen.insert(made.clone()) || iv == EntryIv::Zero, "{made:?} came twice");
            let tag = outcome.tag(&batch, record).unwrap_or_default();
            let back = BatchEntry::new(undo).key(key).iv(EntryIv::Bytes(&made)).tag(tag);
            let back = back.aad(if task.is_seal() { b"aad" } else { b"" });
            // A key of few uses is undone under a copy.
            let (copy, key) = if key == gcm {
                let copy = KeyTable::new();
                let policy = KeyPolicy::any_data(KeyType::Aes128);
                let index =
                    copy.insert("gcm", KeyType::Aes128, secret(KeyType::Aes128, 3), policy).unwrap().index;
                (copy, index)
            } else {
                (table.clone(), key)
            };
            let result = outcome.result(&batch, record).unwrap();
            assert_eq!(alone(&copy, back.key(key).input(result)), (Status::Done, input.clone()));
        }
    }
    // The general path finds out which records are too many.
    let mut builder = BatchBuilder::new();
    let seal = BatchEntry::new(BatchTask::seal(AeadAlg::Aes128Gcm)).key(gcm).iv(EntryIv::Generated);
    for _ in 0..60 {
        builder.add(seal.input(b"x")).unwrap();
    }
    let statuses = table.run(accelerator(), &builder.batch()).unwrap().statuses().to_vec();
    assert_eq!((statuses[49], statuses[50]), (Status::Done, Status::KeyUsedUp));
}

#[test]
fn one_task_with_random_ivs_keeps_refused_records_in_their_places() {
    let (table, [des, aes]) = keys(IvRule::Random);
    let mut builder = BatchBuilder::new();
    let encrypt = BatchEntry::new(ENCRYPT).iv(EntryIv::Generated).input(&[6; 8]);
    for key in [aes, des, 9, des] {
        builder.add(encrypt.key(key)).unwrap();
    }
    let (batch, outcome) = (builder.batch(), run(&table, &builder));
    use Status::{Done, UnknownKey, WrongKeyType};
    assert_eq!(outcome.statuses(), [WrongKeyType, Done, UnknownKey, Done]);
    assert!(outcome.iv(&batch, 0).is_none() && outcome.iv(&batch, 1) != outcome.iv(&batch, 3));
    let filled = outcome.output().chunks(16).map(|iv| iv.iter().any(|byte| *byte != 0));
    assert!(filled.eq([false, true, false, true]), "what is refused gets no IV either");
}

#[test]
fn counters_count_across_batches_and_keys_and_crashes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ivs");
    FileCounter::create(&path, 0).unwrap();
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        let store = Arc::new(FileCounter::open(&path).unwrap());
        let counter = Arc::new(IvCounter::new(store, *b"me# ").reserving(16));
        let (table, [des, aes]) = keys(IvRule::Counter(counter));
        for _ in 0..2 {
            let mut builder = BatchBuilder::new();
            for _ in 0..5 {
                let encrypt = BatchEntry::new(ENCRYPT).key(des).iv(EntryIv::Generated).input(&[0; 8]);
                builder.add(encrypt).unwrap();
                builder.add(encrypt.task(BatchTask::seal(AeadAlg::Aes128Gcm)).key(aes)).unwrap();
            }
            let (batch, outcome) = (builder.batch(), run(&table, &builder));
            for record in 0..10 {
                let iv = outcome.iv(&batch, record).unwrap();
                assert!(record % 2 == 0 || iv.starts_with(b"me# "));
                let (_, value) = iv.split_last_chunk::<8>().unwrap();
                assert!(seen.insert(*value), "{iv:?} came twice");
            }
        }
    }
}

/// A disk that is full.
#[derive(Debug)]
struct Full;

impl CounterStore for Full {
    fn reserve(&self, _: u64) -> std::io::Result<u64> {
        Err(std::io::ErrorKind::StorageFull.into())
    }

    fn is_persistent(&self) -> bool {
        true
    }
}

#[test]
fn a_counter_that_cannot_be_kept_makes_no_iv() {
    let (table, [_, aes]) = keys(IvRule::Counter(Arc::new(IvCounter::new(Arc::new(Full), [0; 4]))));
    let seal =
        BatchEntry::new(BatchTask::seal(AeadAlg::Aes128Gcm)).key(aes).iv(EntryIv::Generated).input(b"x");
    let (status, result) = alone(&table, seal);
    assert_eq!((status, result), (Status::NoIv, Vec::new()));
}

#[test]
fn gcm_takes_no_counter_that_forgets() {
    let counter = || IvRule::Counter(Arc::new(IvCounter::new(Arc::new(MemoryCounter::new()), [0; 4])));
    let policy = KeyPolicy::new().with([KeyAlgorithm::Gcm]).ivs([counter()]);
    let refused = KeyTable::new().insert("k", KeyType::Aes128, [1; 16].to_vec(), policy).unwrap_err();
    assert!(matches!(refused, TableError::Policy(PolicyError::VolatileCounter)));
    let cbc = KeyPolicy::new().with([KeyAlgorithm::Cbc]).ivs([counter()]);
    assert_eq!(cbc.check(KeyType::Aes128), Ok(()));
    let both = cbc.ivs([IvRule::Random]);
    assert_eq!(both.check(KeyType::Aes128), Err(PolicyError::TwoGenerators));
}

#[test]
fn who_may_only_seal_with_made_nonces_cannot_choose_one() {
    let gcm = || KeyPolicy::new().allow([KeyOperation::Encrypt]).with([KeyAlgorithm::Gcm, KeyAlgorithm::Cbc]);
    let beside = gcm().ivs([IvRule::Random, IvRule::Callers]);
    assert_eq!(beside.check(KeyType::Aes128), Err(PolicyError::CallersBesideGenerated));
    let counter = Arc::new(IvCounter::new(Arc::new(Full), [0; 4]));
    let counted = gcm().ivs([IvRule::Callers, IvRule::Counter(counter)]);
    assert_eq!(counted.check(KeyType::Aes128), Err(PolicyError::CallersBesideGenerated));
    let table = KeyTable::new();
    let policy = gcm().ivs([IvRule::Random]);
    let key = table.insert("k", KeyType::Aes128, [1; 16].to_vec(), policy).unwrap().index;
    let seal = BatchEntry::new(BatchTask::seal(AeadAlg::Aes128Gcm)).key(key).input(b"x");
    assert_eq!(alone(&table, seal.iv(EntryIv::Bytes(&[1; 12]))).0, Status::IvForbidden);
    assert_eq!(alone(&table, seal.iv(EntryIv::Generated)).0, Status::Done);
    let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Aes128)).key(key).input(&[0; 16]);
    assert_eq!(alone(&table, encrypt.iv(EntryIv::Bytes(&[1; 16]))).0, Status::IvForbidden);
    assert_eq!(alone(&table, encrypt.iv(EntryIv::Zero)).0, Status::IvForbidden);
    assert_eq!(alone(&table, encrypt.iv(EntryIv::Generated)).0, Status::Done);
}

/// CBC of a counter block under an IV that the caller foresees is a block of GCM's key stream.
#[test]
fn a_key_for_gcm_encrypts_by_cbc_under_random_ivs_only() {
    let counter = || IvRule::Counter(Arc::new(IvCounter::new(Arc::new(Full), [0; 4])));
    let rules = [IvRule::CallersForCbc, IvRule::Zero, IvRule::KeyItself, counter()];
    for rule in rules {
        for (operation, is_refused) in [
            (KeyOperation::Encrypt, true),
            (KeyOperation::TranslateTo, true),
            (KeyOperation::Decrypt, false),
            (KeyOperation::Mac, false),
        ] {
            let policy = KeyPolicy::new().allow([operation]).ivs([rule.clone()]);
            let both = policy.clone().with([KeyAlgorithm::Gcm, KeyAlgorithm::Cbc]);
            let expected = if is_refused { Err(PolicyError::BlockOracleBesideGcm) } else { Ok(()) };
            assert_eq!(both.check(KeyType::Aes256), expected, "{operation:?} {rule:?}");
            for alone in [KeyAlgorithm::Gcm, KeyAlgorithm::Cbc] {
                assert_eq!(policy.clone().with([alone]).check(KeyType::Aes256), Ok(()), "{rule:?} {alone:?}");
            }
        }
    }
}

/// A caller who unwraps a key does not have its bytes, so the exception for a caller's own keys does not hold.
#[test]
fn an_unwrapped_key_is_nobody_s_own() {
    let data_policy = KeyPolicy::any_data(KeyType::Aes128);
    assert_eq!(data_policy.check(KeyType::Aes128), Ok(()));
    let wrapping = KeyPolicy::unwrapping(KeyAlgorithm::Kw, KeyType::Aes128, data_policy);
    assert!(matches!(wrapping.check(KeyType::Aes256), Err(PolicyError::Unwrapped { .. })));
    let foreseen =
        KeyPolicy::new().allow([KeyOperation::Encrypt]).with([KeyAlgorithm::Cbc, KeyAlgorithm::Gcm]);
    let wrapping = KeyPolicy::unwrapping(KeyAlgorithm::Kw, KeyType::Aes128, foreseen.ivs([IvRule::Zero]));
    let reason = Box::new(PolicyError::BlockOracleBesideGcm);
    let key_type = KeyType::Aes128;
    assert_eq!(wrapping.check(KeyType::Aes256), Err(PolicyError::Unwrapped { key_type, reason }));
}

#[test]
fn ivs_go_into_slots_and_come_out_of_them() {
    let (table, indices) = open_table();
    let mut builder = BatchBuilder::new();
    let slot = builder.slot(8);
    let encrypt = BatchEntry::new(ENCRYPT).key(indices[0]).input(&[1; 8]);
    builder.add(encrypt.iv(EntryIv::GeneratedInto(slot))).unwrap();
    builder.add(encrypt.iv(EntryIv::Slot(slot))).unwrap();
    builder.add(encrypt.iv(EntryIv::Slot(slot)).input(&[2; 8])).unwrap();
    let outcome = run(&table, &builder);
    assert!(outcome.is_all_done());
    let [first, second, other] = [0, 1, 2].map(|at| outcome.result(&builder.batch(), at).unwrap());
    assert!(first == second && first != other);
}

#[test]
fn no_iv_for_gcm_is_made_under_a_key_whose_uses_nobody_counts() {
    let mut builder = BatchBuilder::new();
    let key = builder.outside_key(&outside(&[1; 16]));
    let seal = BatchEntry::new(BatchTask::seal(AeadAlg::Aes128Gcm)).key_from(key).input(b"x");
    builder.add(seal.iv(EntryIv::Generated)).unwrap();
    builder.add(seal.iv(EntryIv::Bytes(&[1; 12]))).unwrap();
    let outcome = run(&KeyTable::new(), &builder);
    assert_eq!(outcome.statuses(), [Status::IvForbidden, Status::Done]);
}
