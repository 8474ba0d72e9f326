//! Mixed batches answer in the caller's order, as if each record came alone.

use oarlock_core::{AeadAlg, Column, DigestAlg, MacAlg};

use super::super::by_task::TaskGroup;
use super::*;
use crate::agreement::{ChoiceSource, RandomBatch};

/// Random numbers, the same at every run. Knuth's multiplier.
struct Dice(u64);

impl ChoiceSource for Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// A record of any task, under any key, of any length.
fn roll(dice: &mut Dice, indices: [u32; KeyType::ALL.len()]) -> (BatchTask, u32, Vec<u8>, usize) {
    let tasks = [
        (BatchTask::encrypt(BlockCipher::Des), 0),
        (BatchTask::decrypt(BlockCipher::Tdes2), 1),
        (BatchTask::encrypt(BlockCipher::Tdes3), 2),
        (BatchTask::encrypt(BlockCipher::Aes128), 3),
        (BatchTask::seal(AeadAlg::Aes256Gcm), 4),
        (BatchTask::mac(MacAlg::Aes128Cmac), 3),
        (BatchTask::mac(MacAlg::HmacSha256), 5),
        (BatchTask::digest(DigestAlg::Sha512), 5),
    ];
    let (task, key) = tasks[dice.below(tasks.len())];
    let key = if dice.below(10) == 0 { dice.below(10) as u32 } else { indices[key] };
    let len = if dice.below(5) == 0 { dice.below(40) } else { 16 * dice.below(6) };
    (task, key, dice.bytes(len), task.iv_len().unwrap_or(0))
}

#[test]
fn mixed_batches_give_what_each_record_gives_alone() {
    let (table, indices) = open_table();
    let mut dice = Dice(20);
    for count in [0, 1, 2, 7, 100, 300] {
        let rows: Vec<_> = (0..count).map(|_| roll(&mut dice, indices)).collect();
        let iv: Vec<u8> = (1..17).collect();
        let entries: Vec<BatchEntry<'_>> = rows
            .iter()
            .map(|(task, key, input, iv_len)| {
                BatchEntry::new(*task).key(*key).input(input).iv(EntryIv::Bytes(&iv[..*iv_len]))
            })
            .collect();
        let mut builder = BatchBuilder::new();
        for (at, entry) in entries.iter().enumerate() {
            assert_eq!(builder.add(*entry).unwrap(), at);
        }
        let batch = builder.batch();
        let outcome = table.run(accelerator(), &batch).unwrap();
        assert_eq!(outcome.statuses().len(), count);
        for (at, entry) in entries.iter().enumerate() {
            let mut single = BatchBuilder::new();
            single.add(*entry).unwrap();
            let expected = run(&table, &single);
            assert_eq!(outcome.statuses()[at], expected.statuses()[0]);
            assert_eq!(outcome.result(&batch, at), expected.result(&single.batch(), 0));
            assert_eq!(outcome.tag(&batch, at), expected.tag(&single.batch(), 0));
        }
    }
}

#[test]
fn batches_of_plain_records_take_the_short_way_and_give_the_same() {
    let (table, indices) = open_table();
    let snapshot = table.snapshot();
    let mut dice = Dice(21);
    let mut outcome = BatchOutcome::default();
    for count in [2, 7, 100, 300] {
        let mut builder = BatchBuilder::new();
        for _ in 0..count {
            let (task, _, input, iv_len) = roll(&mut dice, indices);
            let key_type = match task {
                BatchTask::Do(oarlock_core::Shape::Cipher { alg, .. }) => KeyType::for_cipher(alg),
                BatchTask::Do(oarlock_core::Shape::Aead { alg, .. }) => KeyType::for_aead(alg),
                BatchTask::Do(oarlock_core::Shape::Mac { alg }) => Some(KeyType::for_mac(alg)),
                _ => None,
            };
            let key = key_type.map_or(0, |key_type| table.index(&key_type.to_string()).unwrap());
            let iv = dice.bytes(iv_len);
            builder.add(BatchEntry::new(task).key(key).input(&input).iv(EntryIv::Bytes(&iv))).unwrap();
        }
        let mut batch = builder.batch();
        assert!(is_by_task(&batch, &snapshot));
        table.run_into(accelerator(), &batch, &mut outcome).unwrap();
        batch.slots = vec![1].into();
        assert!(!is_by_task(&batch, &snapshot));
        let planned = table.run(accelerator(), &batch).unwrap();
        assert_eq!(outcome.statuses(), planned.statuses());
        assert_eq!(outcome.output(), planned.output());
        assert!(outcome.statuses().contains(&Status::Done) && (count < 100 || !outcome.is_all_done()));
    }
}

/// The four paths of a batch (unchanged, with IVs made for all records, by task, record by record) must not differ in
/// what they allow, count or compute.
#[test]
fn all_paths_agree_under_random_policies() {
    let mut dice = Dice(22);
    let (mut plain, mut made, mut by_task, mut waves, mut refused, mut used_up) = (0, 0, 0, 0, 0, 0);
    for round in 0..3000 {
        let drawn = RandomBatch::draw(&mut dice, 12);
        let builder = drawn.to_builder().unwrap();
        // Plans reserve uses, so each is made for a table of its own.
        let snapshot = || drawn.table().unwrap().snapshot();
        match RecordBatchPlan::new(&builder.batch(), &snapshot()).unwrap() {
            RecordBatchPlan::Plain(_) => plain += 1,
            RecordBatchPlan::MadeIvs(..) => made += 1,
            RecordBatchPlan::ByTask(..) => {}
            RecordBatchPlan::Waves(..) => waves += 1,
        }
        by_task += usize::from(is_by_task(&builder.batch(), &snapshot()));
        let statuses =
            drawn.compare_paths(accelerator()).unwrap_or_else(|error| panic!("round {round}: {error}"));
        let count = |status| statuses.iter().filter(|found| **found == status).count();
        refused += count(Status::Forbidden) + count(Status::IvForbidden);
        used_up += count(Status::KeyUsedUp);
    }
    let seen = [plain, made, by_task, waves, refused, used_up];
    assert!(seen.iter().all(|count| *count > 20), "every plan and every refusal occurs: {seen:?}");
}

fn is_by_task(batch: &Batch<'_>, snapshot: &TableSnapshot) -> bool {
    TaskGroup::sort(batch, snapshot).is_some()
}

#[test]
fn records_that_have_to_be_looked_at_take_the_long_way() {
    let (table, indices) = open_table();
    let few = KeyPolicy::any_data(KeyType::Des).max_uses(3);
    let few = table.insert("few", KeyType::Des, secret(KeyType::Des, 9), few).unwrap().index;
    let snapshot = table.snapshot();
    let both = [BatchTask::encrypt(BlockCipher::Des), BatchTask::decrypt(BlockCipher::Des)];
    let admitted = |change: &dyn Fn(&mut Batch<'static>)| {
        let mut batch = Batch::new(Column::Each(both.to_vec().into()), plain_records(indices[0]));
        change(&mut batch);
        is_by_task(&batch, &snapshot)
    };
    let second = |source| Column::Each(vec![InputSource::Data(Span { start: 8, len: 8 }), source].into());
    let output = |sink| Column::Each(vec![OutputSink::Output(Span { start: 16, len: 8 }), sink].into());
    assert!(admitted(&|_| {}));
    assert!(!admitted(&|batch| batch.slots = vec![8].into()));
    assert!(!admitted(&|batch| batch.iv_from = Column::One(IvSource::Zero)));
    assert!(!admitted(&|batch| batch.records.key = Column::One(KeySource::Table(indices[1]))));
    assert!(!admitted(&|batch| batch.records.key = Column::One(Batch::outside_key(0))));
    assert!(!admitted(&|batch| batch.records.key = Column::One(KeySource::Slot(0))));
    assert!(!admitted(&|batch| batch.records.input = second(InputSource::Slot(0))));
    assert!(!admitted(&|batch| batch.records.output = output(OutputSink::Slot(0))));
    assert!(
        !admitted(&|batch| batch.records.output = output(OutputSink::Output(Span { start: 9, len: 16 })))
    );
    assert!(!admitted(&|batch| {
        let translate = BatchTask::translate(BlockCipher::Des, BlockCipher::Des);
        batch.task = Column::Each(vec![both[0], translate].into());
    }));
    let uses_left = || table.info(few).unwrap().uses_left;
    let of_few = |batch: &mut Batch<'static>| batch.records.key = Column::One(KeySource::Table(few));
    assert!(admitted(&of_few));
    assert_eq!(uses_left(), Some(1), "two of three are reserved");
    assert!(!admitted(&of_few));
    assert_eq!(uses_left(), Some(1), "all or nothing");
}

#[test]
fn columns_read_the_same_in_every_form() {
    let (table, indices) = open_table();
    let records = plain_records(indices[0]);
    let tasks = [BatchTask::encrypt(BlockCipher::Des), BatchTask::decrypt(BlockCipher::Des)];
    let each = Batch::new(Column::Each(tasks.to_vec().into()), records.clone());
    let runs = Batch::new(Column::Runs(tasks.map(|task| (1, task)).to_vec().into()), records);
    let [each, runs] = [each, runs].map(|batch| table.run(accelerator(), &batch).unwrap());
    assert!(each.is_all_done());
    assert_eq!((each.statuses(), each.output()), (runs.statuses(), runs.output()));
}

#[test]
fn builders_forget_and_begin_again() {
    let (table, indices) = open_table();
    let mut builder = BatchBuilder::new();
    let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Des)).iv(EntryIv::Zero).input(&[1; 8]);
    builder.add(encrypt.key(indices[0])).unwrap();
    let first = run(&table, &builder).output().to_vec();
    builder.slot(9);
    builder.add(encrypt.key(indices[1])).unwrap();
    builder.clear();
    assert!(builder.is_empty());
    builder.add(encrypt.key(indices[0])).unwrap();
    assert!(matches!(builder.batch().task, Column::One(_)), "one task is one value");
    assert_eq!(run(&table, &builder).output(), first);
}

#[test]
fn places_and_spans_that_do_not_exist_are_that_records_error() {
    let (table, indices) = open_table();
    let statuses = |change: &dyn Fn(&mut Records<'static>)| {
        let mut records = plain_records(indices[0]);
        change(&mut records);
        let mut batch = Batch::uniform(BatchTask::encrypt(BlockCipher::Des), records);
        let plain = table.run(accelerator(), &batch).unwrap().statuses().to_vec();
        batch.iv_from = Column::Each(vec![IvSource::Given; 2].into());
        batch.slots = vec![8].into();
        let planned = table.run(accelerator(), &batch).unwrap().statuses().to_vec();
        assert_eq!(plain, planned);
        plain
    };
    let span = |start, len| Span { start, len };
    let second = |sink| Column::Each(vec![OutputSink::Output(span(16, 8)), sink].into());
    let input = |source| Column::Each(vec![InputSource::Data(span(8, 8)), source].into());
    use Status::{BadLength, Done, Malformed};
    assert_eq!(statuses(&|_| {}), [Done, Done]);
    assert_eq!(statuses(&|r| r.output = second(OutputSink::Output(span(9, 16)))), [Done, Malformed]);
    assert_eq!(statuses(&|r| r.output = second(OutputSink::Output(span(0, 8)))), [Done, BadLength]);
    assert_eq!(statuses(&|r| r.output = second(OutputSink::Slot(5))), [Done, Malformed]);
    assert_eq!(statuses(&|r| r.input = input(InputSource::Data(span(17, 16)))), [Done, Malformed]);
    assert_eq!(statuses(&|r| r.input = input(InputSource::Data(span(17, 15)))), [Done, BadLength]);
    assert_eq!(statuses(&|r| r.input = input(InputSource::Slot(5))), [Done, Malformed]);
    assert_eq!(statuses(&|r| r.iv = Column::One(span(25, 8))), [Malformed, Malformed]);
    assert_eq!(statuses(&|r| r.iv = Column::One(span(0, 7))), [BadLength, BadLength]);
}
