//! Keys and values that the tests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, FixedSizeBinaryArray, LargeBinaryArray,
    LargeStringArray, PrimitiveArray, StringArray, StringViewArray,
};
use arrow_schema::DataType;
use oarlock::Accelerator;
use oarlock::engine_api::{Completion, HeldOutcomes, Holder, OwnedJobs};
use oarlock::{
    Column, InputSource, JobError, Key, KeyHome, KeySource, Outcomes, OutputSink, Records, Span, Status,
};
use oarlock_columns::ColumnKeys;
use oarlock_keytable::{
    Batch, BatchOutcome, BatchTask, IvRule, KeyAlgorithm, KeyOperation, KeyPolicy, KeyTable, KeyType,
};

pub(crate) type Values = Vec<Option<Vec<u8>>>;

/// Keys whose policies allow everything that the tests do.
pub(crate) fn table() -> KeyTable {
    let table = KeyTable::new();
    for (name, key_type, byte) in [
        ("aes128", KeyType::Aes128, 1),
        ("aes256", KeyType::Aes256, 2),
        ("other128", KeyType::Aes128, 3),
        ("hmac", KeyType::Hmac, 4),
        ("siv128", KeyType::Aes128Siv, 8),
        ("siv256", KeyType::Aes256Siv, 9),
    ] {
        let len = key_type.key_len().unwrap_or(32);
        table.insert(name, key_type, vec![byte; len], KeyPolicy::any_data(key_type)).unwrap();
    }
    let tdes: Vec<u8> = (1..25).map(|byte| byte * 10).collect();
    table.insert("tdes3", KeyType::Tdes3, tdes, KeyPolicy::any_data(KeyType::Tdes3)).unwrap();
    for (name, key_type, algorithm, byte) in [
        ("gcm-siv128", KeyType::Aes128, KeyAlgorithm::GcmSiv, 10),
        ("gcm-siv256", KeyType::Aes256, KeyAlgorithm::GcmSiv, 11),
        ("tokens128", KeyType::Aes128, KeyAlgorithm::Ff1, 12),
        ("tokens256", KeyType::Aes256, KeyAlgorithm::Ff1, 13),
    ] {
        let policy = KeyPolicy::new()
            .allow([KeyOperation::Encrypt, KeyOperation::Decrypt])
            .with([algorithm])
            .ivs([IvRule::Random, IvRule::Zero]);
        table.insert(name, key_type, vec![byte; key_type.key_len().unwrap_or(32)], policy).unwrap();
    }
    let open_only = KeyPolicy::new().allow([KeyOperation::Decrypt]).with([KeyAlgorithm::Gcm]);
    table.insert("open-only", KeyType::Aes128, vec![1; 16], open_only).unwrap();
    let random = KeyPolicy::new()
        .allow([KeyOperation::Encrypt, KeyOperation::Decrypt])
        .with([KeyAlgorithm::Gcm])
        .ivs([IvRule::Random]);
    table.insert("random-only", KeyType::Aes128, vec![5; 16], random).unwrap();
    for (name, byte) in [("from", 6), ("to", 7)] {
        let policy = KeyPolicy::new()
            .allow([KeyOperation::TranslateFrom, KeyOperation::TranslateTo])
            .with([KeyAlgorithm::Gcm])
            .ivs([IvRule::Random]);
        table.insert(name, KeyType::Aes128, vec![byte; 16], policy).unwrap();
    }
    table
}

pub(crate) fn keys() -> ColumnKeys {
    ColumnKeys::new(Accelerator::new().unwrap(), table())
}

/// A holder of the keys of [`table`], which notes the bytes of its largest batch.
#[derive(Debug)]
pub(crate) struct WatchedHolder {
    accelerator: Accelerator,
    table: KeyTable,
    pub(crate) largest: AtomicUsize,
}

/// Returns the keys of [`table`] as a holder has them, and the holder.
pub(crate) fn held_keys() -> (ColumnKeys, Arc<WatchedHolder>) {
    let (accelerator, largest) = (Accelerator::new().unwrap(), AtomicUsize::new(0));
    let holder = Arc::new(WatchedHolder { accelerator, table: table(), largest });
    let held = KeyTable::new();
    for (_, name) in holder.table.names() {
        held.insert_held(&*name, holder.name(), &name).unwrap();
    }
    let builder = Accelerator::builder().lazy().holder(Arc::clone(&holder) as _);
    (ColumnKeys::new(builder.build().unwrap(), held), holder)
}

impl Holder for WatchedHolder {
    fn name(&self) -> &str {
        "watched"
    }

    fn start(&self, _: OwnedJobs, _: Completion) {}

    fn run_batch(&self, batch: &Batch<'_>) -> Result<HeldOutcomes, JobError> {
        self.largest.fetch_max(batch.records.data.len(), Ordering::Relaxed);
        let local = |source| match source {
            KeySource::Table(index) => match batch.records.keys.get(index as usize).map(Key::home) {
                Some(KeyHome::Held { reference, .. }) => {
                    KeySource::Table(self.table.index(reference).unwrap())
                }
                _ => source,
            },
            KeySource::Slot(_) => source,
        };
        let len = batch.records.len;
        let column =
            |keys: &Column<'_, KeySource>| Column::Each(keys.cursor().take(len).map(local).collect());
        let mut held_batch = batch.clone();
        held_batch.records.keys = Vec::new().into();
        (held_batch.records.key, held_batch.records.second_key) =
            (column(&batch.records.key), column(&batch.records.second_key));
        let outcome = self.table.run(&self.accelerator, &held_batch)?;
        let mut outcomes = Outcomes::default();
        outcomes.reset_mixed(len, batch.records.output_len);
        let part = outcomes.part_mut(0);
        part.statuses.copy_from_slice(outcome.statuses());
        part.output.copy_from_slice(outcome.output());
        Ok(HeldOutcomes { outcomes, refusals: Vec::new() })
    }
}

/// Computes one record on the scalar engine, under a key of [`table`].
pub(crate) struct SingleRecord {
    accelerator: Accelerator,
    table: KeyTable,
}

impl SingleRecord {
    pub(crate) fn new() -> Self {
        let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
        Self { accelerator, table: table() }
    }

    /// Returns the output of a task over parts of the input, or `None` if it is rejected.
    pub(crate) fn run(&self, task: BatchTask, key: &str, parts: &RecordParts<'_>) -> Option<Vec<u8>> {
        let data = [parts.iv, parts.aad, parts.input, parts.tag].concat();
        let mut at = 0;
        let mut span = |len: usize| {
            at += len;
            Span::new(at - len, len).unwrap()
        };
        let [iv, aad, input, tag] =
            [parts.iv, parts.aad, parts.input, parts.tag].map(|part| span(part.len()));
        let records = Records {
            len: 1,
            data: data.into(),
            output_len: parts.output_len,
            key: Column::One(KeySource::Table(self.table.index(key).unwrap())),
            iv: Column::One(iv),
            aad: Column::One(if parts.aad.is_empty() { Span::ABSENT } else { aad }),
            tag: Column::One(tag),
            input: Column::One(InputSource::Data(input)),
            output: Column::One(OutputSink::Output(Span::new(0, parts.output_len).unwrap())),
            ..Records::default()
        };
        let mut outcome = BatchOutcome::default();
        self.table.run_into(&self.accelerator, &Batch::uniform(task, records), &mut outcome).unwrap();
        match outcome.statuses() {
            [Status::Done] => Some(outcome.output().to_vec()),
            [Status::Rejected] => None,
            other => panic!("{other:?}"),
        }
    }
}

/// The parts of a record.
#[derive(Default)]
pub(crate) struct RecordParts<'a> {
    pub(crate) iv: &'a [u8],
    pub(crate) aad: &'a [u8],
    pub(crate) input: &'a [u8],
    pub(crate) tag: &'a [u8],
    pub(crate) output_len: usize,
}

/// Returns random values, a tenth of them null, which are text so that string arrays can hold them.
pub(crate) fn random_values(seed: u64, rows: usize, max_len: usize) -> Values {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut value = |_| {
        let len = random.usize(0..=max_len);
        (random.u8(..) >= 25).then(|| (0..len).map(|_| random.u8(b' '..b'~')).collect())
    };
    (0..rows).map(&mut value).collect()
}

/// Returns the values as an array of every type that can hold them.
pub(crate) fn every_type(values: &Values) -> Vec<ArrayRef> {
    let bytes = || values.iter().map(Option::as_deref);
    let text = || bytes().map(|value| value.map(|value| std::str::from_utf8(value).unwrap()));
    let mut arrays: Vec<ArrayRef> = vec![
        Arc::new(bytes().collect::<BinaryArray>()),
        Arc::new(bytes().collect::<LargeBinaryArray>()),
        Arc::new(bytes().collect::<BinaryViewArray>()),
        Arc::new(text().collect::<StringArray>()),
        Arc::new(text().collect::<LargeStringArray>()),
        Arc::new(text().collect::<StringViewArray>()),
    ];
    let width = values.iter().flatten().next().map_or(0, Vec::len);
    if values.iter().flatten().all(|value| value.len() == width) {
        let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes(), width as i32);
        arrays.push(Arc::new(fixed.unwrap()));
    }
    arrays.extend(arrays.clone().into_iter().map(|values| dictionary(values) as ArrayRef));
    arrays
}

/// Returns a dictionary that names the values in their order. Its second half has the nulls among its keys, and its
/// first half has them among its values.
fn dictionary(values: ArrayRef) -> Arc<DictionaryArray<UInt32Type>> {
    let key = |row: usize| (row < values.len() / 2 || values.is_valid(row)).then_some(row as u32);
    let keys: PrimitiveArray<UInt32Type> = (0..values.len()).map(key).collect();
    Arc::new(DictionaryArray::new(keys, values))
}

/// Returns a dictionary with few entries and keys of one byte.
pub(crate) fn small_dictionary(entries: ArrayRef, keys: Vec<Option<i8>>) -> DictionaryArray<Int8Type> {
    DictionaryArray::new(keys.into_iter().collect(), entries)
}

/// Returns the bytes of an array.
pub(crate) fn values_of(array: &dyn Array) -> Values {
    let owned = |value: Option<&[u8]>| value.map(<[u8]>::to_vec);
    match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().iter().map(owned).collect(),
        DataType::LargeBinary => array.as_binary::<i64>().iter().map(owned).collect(),
        other => panic!("expected bytes, found {other}"),
    }
}
