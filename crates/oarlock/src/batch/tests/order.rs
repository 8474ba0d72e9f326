//! Mixed batches answer in the caller's order, as if each record came alone.

use oarlock_core::{AeadAlg, Column, DigestAlg, MacAlg};

use super::*;

/// Random numbers, the same at every run. Knuth's multiplier.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }
}

/// A record of any task, under any key, of any length.
fn roll(dice: &mut Dice, indices: [u32; 6]) -> (Task, u32, Vec<u8>, usize) {
    let tasks = [
        (Task::encrypt(BlockCipher::Des), 0),
        (Task::decrypt(BlockCipher::Tdes2), 1),
        (Task::encrypt(BlockCipher::Tdes3), 2),
        (Task::encrypt(BlockCipher::Aes128), 3),
        (Task::seal(AeadAlg::Aes256Gcm), 4),
        (Task::mac(MacAlg::Aes128Cmac), 3),
        (Task::mac(MacAlg::HmacSha256), 5),
        (Task::digest(DigestAlg::Sha512), 5),
    ];
    let (task, key) = tasks[dice.below(tasks.len())];
    let key = if dice.below(10) == 0 { dice.below(8) as u32 } else { indices[key] };
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
        let entries: Vec<Entry<'_>> = rows
            .iter()
            .map(|(task, key, input, iv_len)| {
                Entry::new(*task).key(*key).input(input).iv(NewIv::Bytes(&iv[..*iv_len]))
            })
            .collect();
        let mut builder = BatchBuilder::new();
        for (at, entry) in entries.iter().enumerate() {
            assert_eq!(builder.add(*entry).unwrap(), at);
        }
        let batch = builder.batch();
        let outcome = accelerator().run_batch(&table, &batch).unwrap();
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
fn columns_read_the_same_in_every_form() {
    let (table, indices) = open_table();
    let records = plain_records(indices[0]);
    let tasks = [Task::encrypt(BlockCipher::Des), Task::decrypt(BlockCipher::Des)];
    let each = Batch::new(Column::Each(tasks.to_vec().into()), records.clone());
    let runs = Batch::new(Column::Runs(tasks.map(|task| (1, task)).to_vec().into()), records);
    let [each, runs] = [each, runs].map(|batch| accelerator().run_batch(&table, &batch).unwrap());
    assert!(each.is_all_done());
    assert_eq!((each.statuses(), each.output()), (runs.statuses(), runs.output()));
}

#[test]
fn builders_forget_and_begin_again() {
    let (table, indices) = open_table();
    let mut builder = BatchBuilder::new();
    let encrypt = Entry::new(Task::encrypt(BlockCipher::Des)).iv(NewIv::Zero).input(&[1; 8]);
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
        let mut batch = Batch::of(Task::encrypt(BlockCipher::Des), records);
        let plain = accelerator().run_batch(&table, &batch).unwrap().statuses().to_vec();
        batch.iv_from = Column::Each(vec![super::super::Iv::Given; 2].into());
        batch.slots = vec![8].into();
        let planned = accelerator().run_batch(&table, &batch).unwrap().statuses().to_vec();
        assert_eq!(plain, planned);
        plain
    };
    let span = |start, len| Span { start, len };
    let second = |sink| Column::Each(vec![Sink::Output(span(16, 8)), sink].into());
    let input = |source| Column::Each(vec![Source::Data(span(8, 8)), source].into());
    use Status::{BadLength, Done, Malformed};
    assert_eq!(statuses(&|_| {}), [Done, Done]);
    assert_eq!(statuses(&|r| r.output = second(Sink::Output(span(9, 16)))), [Done, Malformed]);
    assert_eq!(statuses(&|r| r.output = second(Sink::Output(span(0, 8)))), [Done, BadLength]);
    assert_eq!(statuses(&|r| r.output = second(Sink::Slot(5))), [Done, Malformed]);
    assert_eq!(statuses(&|r| r.input = input(Source::Data(span(17, 16)))), [Done, Malformed]);
    assert_eq!(statuses(&|r| r.input = input(Source::Data(span(17, 15)))), [Done, BadLength]);
    assert_eq!(statuses(&|r| r.input = input(Source::Slot(5))), [Done, Malformed]);
    assert_eq!(statuses(&|r| r.iv = Column::One(span(25, 8))), [Malformed, Malformed]);
    assert_eq!(statuses(&|r| r.iv = Column::One(span(0, 7))), [BadLength, BadLength]);
}
