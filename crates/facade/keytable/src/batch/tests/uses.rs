//! Uses are counted once per record, and never exceeded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use oarlock_core::{AeadAlg, BatchSize, Engine, EngineFault, Jobs, Outcomes, Shape};
use oarlock_scalar::ScalarEngine;

use super::*;
use crate::table::{IvRule, KeyAlgorithm, KeyInfo, KeyOperation};

fn limited(name: &str, table: &KeyTable, policy: impl FnOnce(KeyPolicy) -> KeyPolicy) -> u32 {
    table
        .insert(
            name,
            KeyType::Aes128,
            secret(KeyType::Aes128, 5),
            policy(KeyPolicy::any_data(KeyType::Aes128)),
        )
        .unwrap()
        .index
}

fn info(table: &KeyTable, index: u32) -> KeyInfo {
    table.info(index).unwrap()
}

fn encrypt<'e>() -> BatchEntry<'e> {
    BatchEntry::new(BatchTask::encrypt(BlockCipher::Aes128)).iv(EntryIv::Bytes(&[0; 16])).input(&[1; 16])
}

use Status::{Done, KeyUsedUp};

#[test]
fn the_first_records_get_what_is_left() {
    for is_mixed in [false, true] {
        let table = KeyTable::new();
        let (few, many) = (
            limited("few", &table, |policy| policy.max_uses(5)),
            limited("many", &table, |policy| policy.max_uses(100)),
        );
        let mut builder = BatchBuilder::new();
        if is_mixed {
            builder.add(BatchEntry::new(BatchTask::mac(oarlock_core::MacAlg::Aes128Cmac)).key(many)).unwrap();
        }
        for key in [few, few, many, few] {
            builder.add(encrypt().key(key)).unwrap();
        }
        let first = builder.len() - 4;
        assert!(run(&table, &builder).is_all_done());
        assert_eq!(info(&table, few).uses_left, Some(2));
        assert_eq!(run(&table, &builder).statuses()[first..], [Done, Done, Done, KeyUsedUp]);
        assert_eq!(run(&table, &builder).statuses()[first..], [KeyUsedUp, KeyUsedUp, Done, KeyUsedUp]);
        assert_eq!(info(&table, few).uses_left, Some(0));
        assert_eq!(info(&table, many).uses_left, Some(100 - 3 * (1 + first as u64)));
    }
}

#[test]
fn a_refused_record_is_not_counted() {
    let table = KeyTable::new();
    let key = limited("key", &table, |policy| policy.max_uses(3));
    let mut builder = BatchBuilder::new();
    builder.add(encrypt().key(key).iv(EntryIv::KeyItself)).unwrap();
    builder.add(BatchEntry::new(BatchTask::encrypt(BlockCipher::Des)).key(key).iv(EntryIv::Zero)).unwrap();
    builder.add(encrypt().key(key)).unwrap();
    assert_eq!(run(&table, &builder).statuses()[2], Done);
    assert_eq!(info(&table, key).uses_left, Some(2));
}

#[test]
fn a_translation_counts_for_both_keys_or_for_none() {
    let table = KeyTable::new();
    let (from, to) = (
        limited("from", &table, |policy| policy.max_uses(9)),
        limited("to", &table, |policy| policy.max_uses(2)),
    );
    let translate = BatchEntry::new(BatchTask::translate(BlockCipher::Aes128, BlockCipher::Aes128))
        .iv(EntryIv::Bytes(&[0; 16]))
        .second_iv(EntryIv::Bytes(&[1; 16]))
        .input(&[1; 16]);
    let mut builder = BatchBuilder::new();
    for _ in 0..3 {
        builder.add(translate.key(from).second_key(to)).unwrap();
    }
    assert_eq!(run(&table, &builder).statuses(), [Done, Done, KeyUsedUp]);
    assert_eq!((info(&table, from).uses_left, info(&table, to).uses_left), (Some(7), Some(0)));
    let mut same = BatchBuilder::new();
    same.add(translate.key(from).second_key(from)).unwrap();
    assert!(run(&table, &same).is_all_done());
    assert_eq!(info(&table, from).uses_left, Some(6), "one record, one use");
}

#[test]
fn batches_at_the_same_time_never_exceed_what_is_left() {
    let table = KeyTable::new();
    let key = limited("key", &table, |policy| policy.max_uses(1_000));
    let mut builder = BatchBuilder::new();
    for _ in 0..7 {
        builder.add(encrypt().key(key)).unwrap();
    }
    let done: usize = std::thread::scope(|scope| {
        let work = || {
            let statuses = (0..60).flat_map(|_| run(&table, &builder).statuses().to_vec());
            statuses.filter(|status| *status == Done).count()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(done <= 1_000 && done as u64 + info(&table, key).uses_left.unwrap() == 1_000, "{done}");
}

/// Computes as the scalar engine does, but fails whenever the flag is up that it shares with others, and takes it down.
#[derive(Debug)]
struct Flaky(&'static str, ScalarEngine, Arc<AtomicBool>);

impl Engine for Flaky {
    fn name(&self) -> &'static str {
        self.0
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        matches!(shape, Shape::Cipher { .. }).then_some(BatchSize { preferred: 1, max: 1_000 })
    }

    fn confirms(&self, _: Shape) -> bool {
        true
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        if self.2.swap(false, Ordering::Relaxed) {
            return Err(EngineFault::Failed { engine: self.0, reason: "as planned".into() });
        }
        self.1.run(jobs, out)
    }
}

#[test]
fn a_batch_that_is_run_again_elsewhere_is_counted_once() {
    let flag = Arc::new(AtomicBool::new(false));
    let flaky = |name| Arc::new(Flaky(name, ScalarEngine::detect().unwrap(), Arc::clone(&flag)));
    let builder = Accelerator::builder().threads(1).cost_cache(None);
    let builder = builder.engine(flaky("one")).engine(flaky("other")).engines(["one", "other"]);
    let accelerator = builder.build().unwrap();
    flag.store(true, Ordering::Relaxed);
    let table = KeyTable::new();
    let key = limited("key", &table, |policy| policy.max_uses(3));
    let mut batch = BatchBuilder::new();
    for _ in 0..3 {
        batch.add(encrypt().key(key)).unwrap();
    }
    let outcome = table.run(&accelerator, &batch.batch()).unwrap();
    assert_eq!(accelerator.counters().rerun, 3, "the first engine has failed");
    assert!(outcome.is_all_done());
    assert_eq!(info(&table, key).uses_left, Some(0));
}

#[test]
fn gcm_with_random_ivs_stops_across_batches_for_every_iv() {
    let table = KeyTable::new();
    let key = limited("key", &table, |policy| policy.max_random_gcm(3));
    let free = table
        .insert(
            "free",
            KeyType::Aes128,
            secret(KeyType::Aes128, 6),
            KeyPolicy::new()
                .allow([KeyOperation::Encrypt])
                .with([KeyAlgorithm::Gcm])
                .ivs([IvRule::Callers])
                .max_random_gcm(1),
        )
        .unwrap()
        .index;
    let seal = BatchEntry::new(BatchTask::seal(AeadAlg::Aes128Gcm)).input(b"x");
    let given = seal.iv(EntryIv::Bytes(&[1; 12]));
    assert_eq!(alone(&table, seal.key(key).iv(EntryIv::Generated)).0, Done);
    assert_eq!(alone(&table, given.key(key)).0, Done, "the caller's IVs count too");
    assert_eq!(alone(&table, encrypt().key(key)).0, Done, "other modes do not");
    assert_eq!(info(&table, key).random_gcm_left, 1);
    let mut builder = BatchBuilder::new();
    for _ in 0..2 {
        builder.add(seal.key(key).iv(EntryIv::Generated)).unwrap();
        builder.add(given.key(free)).unwrap();
    }
    assert_eq!(run(&table, &builder).statuses(), [Done, Done, KeyUsedUp, Done]);
    assert_eq!(alone(&table, given.key(key)).0, KeyUsedUp);
    assert_eq!(alone(&table, given.key(free)).0, Done, "no random IVs, no such limit");
}

#[test]
fn a_batch_of_one_key_counts_under_both_limits_or_under_none() {
    let table = KeyTable::new();
    let key = limited("key", &table, |policy| policy.max_uses(10).max_random_gcm(4));
    let seal = BatchEntry::new(BatchTask::seal(AeadAlg::Aes128Gcm)).input(b"x").key(key);
    let run_seals = |count: usize| {
        let mut builder = BatchBuilder::new();
        for _ in 0..count {
            builder.add(seal.iv(EntryIv::Generated)).unwrap();
        }
        run(&table, &builder).statuses().to_vec()
    };
    let left = || (info(&table, key).uses_left, info(&table, key).random_gcm_left);
    assert_eq!((run_seals(3), left()), (vec![Done; 3], (Some(7), 1)));
    // Two seals lack randomness that is left: their records give back what they took of the other limit.
    assert_eq!((run_seals(3), left()), (vec![Done, KeyUsedUp, KeyUsedUp], (Some(6), 0)));
    assert_eq!((alone(&table, encrypt().key(key)).0, left()), (Done, (Some(5), 0)));
}

#[test]
fn a_table_that_replaces_another_goes_on_counting() {
    let old = KeyTable::new();
    let bytes = |seed| secret(KeyType::Aes128, seed);
    let few = |max| KeyPolicy::any_data(KeyType::Aes128).max_uses(max);
    let key = old.insert("few", KeyType::Aes128, bytes(5), few(4)).unwrap().index;
    let new = KeyTable::new();
    let other = new.insert("other", KeyType::Aes128, bytes(6), few(4)).unwrap().index;
    let renamed = new.insert("renamed", KeyType::Aes128, bytes(5), few(4)).unwrap().index;
    let ran = |table: &KeyTable, key| alone(table, encrypt().key(key)).0;
    assert_eq!((ran(&old, key), ran(&old, key)), (Done, Done));
    new.continue_uses_of(&old);
    assert_eq!((info(&new, renamed).uses_left, info(&new, other).uses_left), (Some(2), Some(4)));
    // A batch that still runs with the old table counts for both.
    assert_eq!((ran(&old, key), ran(&new, renamed), ran(&new, renamed)), (Done, Done, KeyUsedUp));
    assert_eq!((ran(&old, key), ran(&new, other)), (KeyUsedUp, Done));
}
