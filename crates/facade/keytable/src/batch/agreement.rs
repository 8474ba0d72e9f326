//! Random batches under random policies, for tests and fuzz targets.
//!
//! A batch has four paths: unchanged, with IVs made for all records at once, task by task, and record by record. They
//! must allow, count and compute the same.
//! [`RandomBatch::compare_paths`] runs one batch on every path that takes it, and each of its records alone.

use std::fmt;
use std::sync::Arc;

use oarlock::Accelerator;
use oarlock_core::{Batch, BatchTask, BlockCipher, Column, IvSource, JobError, KeyType, Shape, Status};

use super::{BatchBuilder, BatchEntry, BatchOutcome, EntryIv};
use crate::table::{IvRule, KeyAlgorithm, KeyOperation, KeyPolicy, KeyTable, TableError, WeakKeyRule};

/// A source of choices, such as a random generator or the input of a fuzzer.
pub trait ChoiceSource {
    /// Returns a number below `bound`, which is not zero.
    fn below(&mut self, bound: usize) -> usize;

    /// Returns `len` bytes.
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }
}

/// A random batch, with a policy for one key of every type.
#[derive(Debug)]
pub struct RandomBatch {
    policies: [(KeyType, Arc<KeyPolicy>); KeyType::ALL.len()],
    records: Vec<RandomRecord>,
}

/// One record of a random batch.
#[derive(Clone)]
struct RandomRecord {
    task: BatchTask,
    key: u32,
    second_key: u32,
    iv_from: RandomIv,
    iv: Vec<u8>,
    second_iv: Vec<u8>,
    aad: Vec<u8>,
    input: Vec<u8>,
    tag: Vec<u8>,
}

/// The source of the first IV of a random record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RandomIv {
    Given,
    Zero,
    Generated,
}

/// The reason why the paths of a batch could not be compared or do not agree.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgreementError {
    /// A key was not added to the table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A batch could not be run.
    #[error(transparent)]
    Job(#[from] JobError),
    /// A record has another status, result or tag.
    #[error("record {record}, {task}: {found:?} {path}, {expected:?} as the batch is")]
    Record {
        /// The index of the record.
        record: usize,
        /// The task of the record.
        task: BatchTask,
        /// The path that differs.
        path: BatchPath,
        /// The status of the record in the batch as it is.
        expected: Status,
        /// The status of the record on the other path.
        found: Status,
    },
    /// A key has other uses left.
    #[error("the {key_type} key has other uses left {path} than if the batch runs as it is")]
    Uses {
        /// The type of the key.
        key_type: KeyType,
        /// The path that differs.
        path: BatchPath,
    },
}

/// A path that a batch is forced to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchPath {
    /// Task by task, if its records are plain.
    ByTask,
    /// Record by record.
    ByRecord,
    /// Each record in a batch of its own.
    Alone,
}

/// The visible effects of a batch.
#[derive(Default)]
struct BatchEffects {
    records: Vec<RecordEffect>,
    /// The uses that each key has left.
    uses_left: Vec<(Option<u64>, u64)>,
}

#[derive(PartialEq, Eq)]
struct RecordEffect {
    status: Status,
    result: Option<Vec<u8>>,
    tag: Option<Vec<u8>>,
}

impl RandomBatch {
    /// Draws policies, and 1 to `max_records` records.
    pub fn draw(choices: &mut impl ChoiceSource, max_records: usize) -> Self {
        let policies = KeyType::ALL.map(|key_type| (key_type, Arc::new(draw_policy(choices, key_type))));
        let len = 1 + choices.below(max_records.max(1));
        let mut records: Vec<RandomRecord> = (0..len).map(|_| RandomRecord::draw(choices)).collect();
        if choices.below(2) == 0 {
            // Only a batch of one task may go to the engines unchanged.
            let first = records[0].clone();
            for record in &mut records {
                *record = RandomRecord { input: std::mem::take(&mut record.input), ..first.clone() };
            }
        }
        Self { policies, records }
    }

    /// Runs the batch on every path and compares the effects. Returns the statuses of the records.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare_paths(&self, accelerator: &Accelerator) -> Result<Vec<Status>, AgreementError> {
        let builder = self.to_builder()?;
        let as_it_is = self.run(accelerator, &builder.batch())?;
        let mut by_task = builder.batch();
        by_task.task = Column::Each(self.records.iter().map(|record| record.task).collect());
        self.compare(BatchPath::ByTask, &as_it_is, &self.run(accelerator, &by_task)?)?;
        let mut by_record = builder.batch();
        // No record names the slot, but a batch with slots is planned record by record.
        by_record.slots = vec![1].into();
        self.compare(BatchPath::ByRecord, &as_it_is, &self.run(accelerator, &by_record)?)?;
        self.compare(BatchPath::Alone, &as_it_is, &self.run_alone(accelerator)?)?;
        Ok(as_it_is.records.iter().map(|record| record.status).collect())
    }

    /// Returns a new table of the keys, whose uses are all left. The key of a type has the type's place as its index.
    ///
    /// # Errors
    /// A key was not added. [`draw`](Self::draw) makes only keys and policies that are valid.
    pub fn table(&self) -> Result<KeyTable, TableError> {
        let table = KeyTable::new();
        for (key_type, policy) in &self.policies {
            table.insert(key_type.to_string(), *key_type, key_bytes(*key_type), Arc::clone(policy))?;
        }
        Ok(table)
    }

    /// Returns the records in a builder.
    ///
    /// # Errors
    /// The records exceed 4 GiB.
    pub fn to_builder(&self) -> Result<BatchBuilder, JobError> {
        builder_of(&self.records)
    }

    fn run(&self, accelerator: &Accelerator, batch: &Batch<'_>) -> Result<BatchEffects, AgreementError> {
        let table = self.table()?;
        let mut effects = BatchEffects::default();
        effects.add(&table.run(accelerator, batch)?, batch);
        effects.count_uses(&table);
        Ok(effects)
    }

    fn run_alone(&self, accelerator: &Accelerator) -> Result<BatchEffects, AgreementError> {
        let table = self.table()?;
        let mut effects = BatchEffects::default();
        for record in &self.records {
            let builder = builder_of(std::slice::from_ref(record))?;
            let batch = builder.batch();
            effects.add(&table.run(accelerator, &batch)?, &batch);
        }
        effects.count_uses(&table);
        Ok(effects)
    }

    fn compare(
        &self,
        path: BatchPath,
        expected: &BatchEffects,
        found: &BatchEffects,
    ) -> Result<(), AgreementError> {
        let pairs = expected.records.iter().zip(&found.records);
        if let Some((record, (expected, found))) = pairs.enumerate().find(|(_, (left, right))| left != right)
        {
            let (expected, found) = (expected.status, found.status);
            return Err(AgreementError::Record {
                record,
                task: self.records[record].task,
                path,
                expected,
                found,
            });
        }
        let mut uses = expected.uses_left.iter().zip(&found.uses_left).zip(KeyType::ALL);
        match uses.find(|((expected, found), _)| expected != found) {
            Some((_, key_type)) => Err(AgreementError::Uses { key_type, path }),
            None => Ok(()),
        }
    }
}

impl BatchEffects {
    fn add(&mut self, outcome: &BatchOutcome, batch: &Batch<'_>) {
        for (record, status) in outcome.statuses().iter().enumerate() {
            // Results under random IVs differ from run to run, but not in their lengths.
            let is_random = matches!(batch.iv_from.get(record), Some(IvSource::Generated(_)));
            let shown = |bytes: &[u8]| if is_random { vec![0; bytes.len()] } else { bytes.to_vec() };
            let result = outcome.result(batch, record).map(shown);
            let tag = outcome.tag(batch, record).map(shown);
            self.records.push(RecordEffect { status: *status, result, tag });
        }
    }

    fn count_uses(&mut self, table: &KeyTable) {
        let infos = (0..).map_while(|index| table.info(index));
        self.uses_left = infos.map(|info| (info.uses_left, info.random_gcm_left)).collect();
    }
}

impl RandomRecord {
    fn draw(choices: &mut impl ChoiceSource) -> Self {
        let task = draw_task(choices);
        let (key_type, second_key_type) = key_types(task);
        let whole_blocks = 8 * choices.below(12);
        let len = if choices.below(5) == 0 { choices.below(40) } else { whole_blocks };
        let mut iv = draw_iv(choices, task.iv_len());
        let mut input = choices.bytes(len);
        if let (BatchTask::Do(Shape::Fpe { .. }), Ok(radix)) = (task, <&mut [u8; 4]>::try_from(&mut iv[..])) {
            // Nearly all other bytes are no radix.
            *radix = [0, 0, 0, 10];
            input
                .iter_mut()
                .take(len - usize::from(choices.below(8) == 0 && len > 0))
                .for_each(|byte| *byte %= 10);
        }
        let has_aad = task.is_seal() || task.is_open() || matches!(task, BatchTask::Do(Shape::Fpe { .. }));
        Self {
            task,
            key: draw_key(choices, key_type),
            second_key: draw_key(choices, second_key_type),
            iv_from: match choices.below(8) {
                0 => RandomIv::Zero,
                1 | 2 => RandomIv::Generated,
                _ => RandomIv::Given,
            },
            iv,
            second_iv: draw_iv(choices, task.second_iv_len()),
            aad: choices.bytes(if has_aad { len % 7 } else { 0 }),
            input,
            tag: if task.is_open() { choices.bytes(16) } else { Vec::new() },
        }
    }

    fn entry(&self) -> BatchEntry<'_> {
        BatchEntry::new(self.task)
            .key(self.key)
            .second_key(self.second_key)
            .iv(match self.iv_from {
                RandomIv::Given => EntryIv::Bytes(&self.iv),
                RandomIv::Zero => EntryIv::Zero,
                RandomIv::Generated => EntryIv::Generated,
            })
            .second_iv(EntryIv::Bytes(&self.second_iv))
            .aad(&self.aad)
            .input(&self.input)
            .tag(&self.tag)
    }
}

fn builder_of(records: &[RandomRecord]) -> Result<BatchBuilder, JobError> {
    let mut builder = BatchBuilder::new();
    records.iter().try_for_each(|record| builder.add(record.entry()).map(drop))?;
    Ok(builder)
}

fn draw_task(choices: &mut impl ChoiceSource) -> BatchTask {
    let ciphers = BlockCipher::ALL;
    if choices.below(8) == 0 {
        return BatchTask::translate(
            ciphers[choices.below(ciphers.len())],
            ciphers[choices.below(ciphers.len())],
        );
    }
    if choices.below(16) == 0 {
        // No policy allows a chain, so one of them stands for all.
        let chains = Shape::chains();
        return BatchTask::Do(chains[choices.below(chains.len())]);
    }
    let mut shapes = Shape::records();
    shapes.retain(|shape| !matches!(shape, Shape::Chain { .. }));
    BatchTask::Do(shapes[choices.below(shapes.len())])
}

/// Returns the types of the keys that a task needs.
fn key_types(task: BatchTask) -> (Option<KeyType>, Option<KeyType>) {
    match task.shape() {
        Shape::Cipher { alg, .. } => (KeyType::for_cipher(alg), None),
        Shape::Aead { alg, .. } => (KeyType::for_aead(alg), None),
        Shape::Fpe { alg, .. } => (KeyType::for_fpe(alg), None),
        Shape::Mac { alg } => (Some(KeyType::for_mac(alg)), None),
        Shape::Wrap { alg, .. } => (Some(KeyType::for_wrap(alg)), None),
        Shape::Translate { from, to } => (KeyType::for_cipher(from.alg), KeyType::for_cipher(to.alg)),
        _ => (None, None),
    }
}

/// Draws the key of a type. Now and then it is another key, or none.
fn draw_key(choices: &mut impl ChoiceSource, wanted: Option<KeyType>) -> u32 {
    let fitting = wanted.and_then(|wanted| KeyType::ALL.into_iter().position(|key_type| key_type == wanted));
    match fitting {
        Some(index) if choices.below(10) > 0 => index as u32,
        _ => choices.below(KeyType::ALL.len() + 2) as u32,
    }
}

/// Draws an IV. Now and then it has a wrong length.
fn draw_iv(choices: &mut impl ChoiceSource, len: Option<usize>) -> Vec<u8> {
    let len = len.unwrap_or(0);
    let wrong = choices.below(20) == 0;
    choices.bytes(if wrong { len.saturating_sub(1) } else { len })
}

/// Draws a policy that is valid for a type.
fn draw_policy(choices: &mut impl ChoiceSource, key_type: KeyType) -> KeyPolicy {
    // The end of a fuzzer's input repeats one choice for ever, so the attempts are bounded.
    let drawn = (0..8).map(|_| draw_rules(choices, key_type)).find(|policy| policy.check(key_type).is_ok());
    drawn.unwrap_or_else(|| KeyPolicy::any_data(key_type).weak_keys(WeakKeyRule::Allow))
}

/// Draws rules that may contradict each other.
fn draw_rules(choices: &mut impl ChoiceSource, key_type: KeyType) -> KeyPolicy {
    use KeyOperation::{Decrypt, Encrypt, Mac, TranslateFrom, TranslateTo, UnwrapInClear, WrapInClear};
    let operations: &[KeyOperation] = match choices.below(6) {
        0 => &[WrapInClear, UnwrapInClear],
        1 | 2 => &[Mac],
        _ => &[Encrypt, Decrypt, TranslateFrom, TranslateTo],
    };
    let operations: Vec<_> = operations.iter().copied().filter(|_| choices.below(4) > 0).collect();
    let suitable = KeyAlgorithm::ALL.into_iter().filter(|algorithm| algorithm.suits(key_type));
    let algorithms: Vec<_> = suitable.filter(|_| choices.below(4) > 0).collect();
    let mut policy = KeyPolicy::new().allow(operations).with(algorithms).weak_keys(WeakKeyRule::Allow);
    if choices.below(5) > 0 {
        policy = policy.ivs([IvRule::Callers]);
    }
    if choices.below(3) == 0 {
        policy = policy.max_uses(choices.below(12) as u64);
    }
    policy
}

/// Returns the bytes of the key of a type. They are not weak.
fn key_bytes(key_type: KeyType) -> Vec<u8> {
    let len = key_type.key_len().unwrap_or(20) as u8;
    (0..len).map(|at| at.wrapping_mul(37).wrapping_add(1).rotate_left(u32::from(at % 7))).collect()
}

/// Shows the task and the lengths, which are enough to follow a difference.
impl fmt::Debug for RandomRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RandomRecord({}, key {}, {} bytes)", self.task, self.key, self.input.len())
    }
}

/// Writes the end of a sentence: `task by task`.
impl fmt::Display for BatchPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByTask => "task by task",
            Self::ByRecord => "record by record",
            Self::Alone => "alone",
        })
    }
}
