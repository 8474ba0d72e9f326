//! The rules of batches, one test each, through the accelerator as callers meet it.

mod ivs;
mod order;
mod policies;
mod unwrapping;
mod uses;
mod waves;

use std::sync::OnceLock;

use oarlock::Accelerator;
use oarlock_core::{
    Batch, BatchTask, BlockCipher, Column, InputSource, IvSource, Key, KeySource, KeyType, OutputSink,
    Records, Span, Status,
};

use super::plan::RecordBatchPlan;
use super::{BatchBuilder, BatchEntry, BatchOutcome, EntryIv};
use crate::table::{KeyPolicy, KeyTable, TableSnapshot, WeakKeyRule};

/// One accelerator for all tests, because its self tests take time.
pub(crate) fn accelerator() -> &'static Accelerator {
    static ONE: OnceLock<Accelerator> = OnceLock::new();
    ONE.get_or_init(|| {
        Accelerator::builder().engines(["scalar"]).threads(1).cost_cache(None).lazy().build().unwrap()
    })
}

pub(crate) const DES_KEY: [u8; 8] = [0x13, 0x34, 0x57, 0x79, 0x9B, 0xBC, 0xDF, 0xF1];

/// Returns the bytes of a key of a type that is not weak.
pub(crate) fn secret(key_type: KeyType, seed: u8) -> Vec<u8> {
    let len = key_type.key_len().unwrap_or(20) as u8;
    (0..len).map(|at| at.wrapping_mul(37).wrapping_add(seed).rotate_left(u32::from(at % 7))).collect()
}

fn run(table: &KeyTable, builder: &BatchBuilder) -> BatchOutcome {
    table.run(accelerator(), &builder.batch()).unwrap()
}

/// One record alone.
fn alone(table: &KeyTable, entry: BatchEntry<'_>) -> (Status, Vec<u8>) {
    let mut builder = BatchBuilder::new();
    builder.add(entry).unwrap();
    let outcome = run(table, &builder);
    let result = outcome.result(&builder.batch(), 0).unwrap_or_default().to_vec();
    (outcome.statuses()[0], result)
}

/// CBC encryption outside of any table.
fn encrypt_outside(alg: BlockCipher, key: &[u8], iv: &[u8], plain: &[u8]) -> Vec<u8> {
    let mut builder = BatchBuilder::new();
    let key = builder.outside_key(&outside(key));
    let entry = BatchEntry::new(BatchTask::encrypt(alg)).key_from(key).iv(EntryIv::Bytes(iv)).input(plain);
    builder.add(entry).unwrap();
    run(&KeyTable::new(), &builder).output().to_vec()
}

/// Wraps block by block, as legacy systems do.
fn wrap_ecb(alg: BlockCipher, master: &[u8], key: &[u8]) -> Vec<u8> {
    key.chunks(8).flat_map(|block| encrypt_outside(alg, master, &[0; 8], block)).collect()
}

fn check_value(alg: BlockCipher, key: &[u8]) -> Vec<u8> {
    let zeros = vec![0; alg.block_len()];
    encrypt_outside(alg, key, &zeros, &zeros)[..3].to_vec()
}

fn outside(bytes: &[u8]) -> Key {
    oarlock_keys::raw::secret(bytes.to_vec()).unwrap()
}

/// Returns a policy for all that an unwrapped key may do under chosen IVs. This excludes GCM and codes of blocks.
fn unwrapped_data(key_type: KeyType) -> KeyPolicy {
    use crate::table::{IvRule, KeyAlgorithm, KeyOperation};
    let algorithms = [KeyAlgorithm::Cbc, KeyAlgorithm::HmacSha1, KeyAlgorithm::HmacSha256];
    KeyPolicy::new()
        .allow([KeyOperation::Encrypt, KeyOperation::Decrypt, KeyOperation::Mac])
        .with(algorithms.into_iter().filter(|algorithm| algorithm.suits(key_type)))
        .ivs([IvRule::Callers, IvRule::Random, IvRule::Zero])
}

/// A table with one key of every type that may do anything with data.
fn open_table() -> (KeyTable, [u32; KeyType::ALL.len()]) {
    let table = KeyTable::new();
    let indices = KeyType::ALL.map(|key_type| {
        let policy = KeyPolicy::any_data(key_type).weak_keys(WeakKeyRule::Allow);
        table.insert(key_type.to_string(), key_type, secret(key_type, 1), policy).unwrap().index
    });
    (table, indices)
}

#[test]
fn a_batch_of_one_shape_is_what_the_engines_compute() {
    let (table, indices) = open_table();
    let records = plain_records(indices[0]);
    let shape = BatchTask::encrypt(BlockCipher::Des).shape();
    let batch = Batch::uniform(shape, records.clone());
    assert!(is_plain(&batch, &table.snapshot()), "no column is copied");
    let outcome = table.run(accelerator(), &batch).unwrap();
    let direct = Records {
        keys: vec![outside(&secret(KeyType::Des, 1))].into(),
        key: Column::One(KeySource::Table(0)),
        ..records
    };
    let expected = accelerator().records().run(shape, &direct).unwrap();
    assert_eq!((outcome.statuses(), outcome.output()), (expected.statuses(), expected.bytes()));
}

#[test]
fn what_has_to_be_looked_at_does_not_go_as_it_is() {
    let (table, indices) = open_table();
    let snapshot = table.snapshot();
    let shape = BatchTask::encrypt(BlockCipher::Des).shape();
    let refused = |change: &dyn Fn(&mut Batch<'static>)| {
        let mut batch = Batch::uniform(shape, plain_records(indices[0]));
        change(&mut batch);
        !is_plain(&batch, &snapshot)
    };
    assert!(refused(&|batch| batch.slots = vec![8].into()));
    assert!(refused(&|batch| batch.iv_from = Column::One(IvSource::Zero)));
    assert!(refused(&|batch| batch.task = Column::Each(vec![BatchTask::Do(shape); 2].into())));
    assert!(refused(&|batch| batch.records.key = Column::One(KeySource::Table(6))));
    assert!(refused(&|batch| batch.records.key = Column::One(KeySource::Table(indices[1]))));
    assert!(refused(&|batch| batch.records.key = Column::One(Batch::outside_key(0))));
    assert!(refused(&|batch| batch.records.key = Column::One(KeySource::Slot(0))));
    let each = [KeySource::Table(indices[0]), KeySource::Table(indices[3])];
    assert!(refused(&|batch| batch.records.key = Column::Each(each.to_vec().into())));
    assert!(refused(&|batch| batch.records.key = Column::Runs(each.map(|key| (1, key)).to_vec().into())));
    table.remove("des");
    let batch = Batch::uniform(shape, plain_records(indices[0]));
    assert!(!is_plain(&batch, &table.snapshot()));
    assert!(is_plain(&batch, &snapshot), "a batch sees the table as it was");
}

fn is_plain(batch: &Batch<'_>, snapshot: &TableSnapshot) -> bool {
    matches!(RecordBatchPlan::new(batch, snapshot), Ok(RecordBatchPlan::Plain(_)))
}

#[test]
fn incomplete_columns_are_the_callers_error() {
    let (table, indices) = open_table();
    let mut batch = Batch::uniform(BatchTask::encrypt(BlockCipher::Des), plain_records(indices[0]));
    batch.iv_from = Column::Each(vec![IvSource::Given].into());
    assert!(table.run(accelerator(), &batch).is_err());
}

fn plain_records(key: u32) -> Records<'static> {
    let span = |start, len| Span { start, len };
    Records {
        len: 2,
        data: (0..32).collect::<Vec<u8>>().into(),
        output_len: 24,
        key: Column::One(KeySource::Table(key)),
        iv: Column::One(span(0, 8)),
        input: Column::Each(vec![InputSource::Data(span(8, 8)), InputSource::Data(span(16, 16))].into()),
        output: Column::Each(vec![OutputSink::Output(span(16, 8)), OutputSink::Output(span(0, 16))].into()),
        ..Records::default()
    }
}
