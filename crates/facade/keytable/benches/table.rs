//! The cost of policies: the same records straight to the dispatcher, and through the key table.
//!
//! The engine behind both does nothing with batches of this size, so only the accelerator's and the dispatcher's own
//! work is left: 65,536 records of 40 bytes under 1,024 keys in random order. Each line is the best of its rounds, in
//! nanoseconds per record.
#![allow(missing_docs, clippy::unwrap_used, reason = "a program that may stop at the first surprise")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use oarlock::engine_api::{BatchSize, Engine, EngineFault, Jobs};
use oarlock::{Accelerator, keys};
use oarlock::{
    BlockCipher, Column, InputSource, KeySource, Outcomes, OutputSink, Records, Shape, Span, Status,
};
use oarlock_keytable::{Batch, BatchOutcome, BatchTask, IvSource, KeyPolicy, KeyTable, KeyType};
use oarlock_scalar::ScalarEngine;

const RECORDS: usize = 65_536;
const KEYS: usize = 1_024;
const LEN: usize = 40;
const ROUNDS: usize = 60;
const TASK: BatchTask = BatchTask::Do(Shape::Cipher {
    alg: BlockCipher::Des,
    mode: oarlock::CipherMode::Cbc,
    direction: oarlock::Direction::Encrypt,
});

/// Right if it is proved, and idle if it is measured.
#[derive(Debug)]
struct Idle(ScalarEngine);

impl Engine for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.0.offers(shape).filter(|_| shape.is_record())
    }

    fn confirms(&self, _: Shape) -> bool {
        true
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        if jobs.len() < RECORDS / 4 {
            return self.0.run(jobs, out);
        }
        out.part_mut(0).statuses.fill(Status::Done);
        Ok(())
    }
}

fn main() {
    let engine = Idle(ScalarEngine::detect().unwrap());
    let builder =
        Accelerator::builder().engine(Arc::new(engine)).engines(["idle"]).cost_cache(None).cross_check(0.0);
    let accelerator = builder.threads(1).build().unwrap();
    let order = random_order();
    let records = records(&order);

    let secrets: Vec<Vec<u8>> = (0..KEYS as u64)
        .map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 4).to_le_bytes().to_vec())
        .collect();
    let direct = Records {
        keys: secrets
            .iter()
            .map(|secret| keys::raw::secret(secret.clone()).unwrap())
            .collect::<Vec<_>>()
            .into(),
        ..records.clone()
    };
    let table = |policy: &dyn Fn() -> KeyPolicy| {
        let table = KeyTable::new();
        for (n, secret) in secrets.iter().enumerate() {
            table.insert(format!("key {n}"), KeyType::Des, &secret[..], policy()).unwrap();
        }
        table
    };
    let open = table(&|| KeyPolicy::any_data(KeyType::Des));
    let counted = table(&|| KeyPolicy::any_data(KeyType::Des).max_uses(1 << 60));

    let plain = Batch::uniform(TASK, records.clone());
    let mut few_refused = plain.clone();
    let mut with_unknown = order.clone();
    with_unknown[77] = KeySource::Table(9_999);
    few_refused.records.key = Column::Each(with_unknown.into());
    let mut made = Batch::uniform(TASK, records.clone());
    let iv_place = |n: usize| IvSource::Generated(OutputSink::Output(span((RECORDS * LEN) + 8 * n, 8)));
    made.iv_from = Column::Each((0..RECORDS).map(iv_place).collect());
    made.records.output_len += 8 * RECORDS;
    let both = [TASK, BatchTask::decrypt(BlockCipher::Des)];
    let mixed = Batch::new(Column::Each((0..RECORDS).map(|n| both[n % 2]).collect()), records.clone());

    let shape = TASK.shape();
    let mut outcomes = Outcomes::default();
    let direct_ns =
        best(|| accelerator.records().run_into(shape, black_box(&direct), &mut outcomes).unwrap());
    let mut outcome = BatchOutcome::default();
    println!("{:38} {direct_ns:7.2} ns", "straight to the dispatcher");
    let mut show = |name: &str, table: &KeyTable, batch: &Batch<'_>| {
        let took = best(|| table.run_into(&accelerator, black_box(batch), &mut outcome).unwrap());
        println!("{name:38} {took:7.2} ns  {:+7.2}", took - direct_ns);
    };
    show("through the table", &open, &plain);
    show("through the table, uses counted", &counted, &plain);
    show("one record refused", &open, &few_refused);
    show("random IVs", &open, &made);
    show("two shapes in turn", &open, &mixed);
}

fn best(mut run: impl FnMut()) -> f64 {
    let round = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_nanos() as f64 / RECORDS as f64
    };
    // `cargo test` runs this program too, without this argument. Then a round shows that it works.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    (0..if is_bench { ROUNDS } else { 1 }).map(round).fold(f64::INFINITY, f64::min)
}

fn random_order() -> Vec<KeySource> {
    let mut state = 1_u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        KeySource::Table((state >> 33) as u32 % KEYS as u32)
    };
    std::iter::repeat_with(next).take(RECORDS).collect()
}

fn span(start: usize, len: usize) -> Span {
    Span::new(start, len).unwrap()
}

fn records(order: &[KeySource]) -> Records<'static> {
    let iv = |n| span(RECORDS * LEN + 8 * n, 8);
    Records {
        len: RECORDS,
        data: vec![7; RECORDS * (LEN + 8)].into(),
        output_len: RECORDS * LEN,
        key: Column::Each(order.to_vec().into()),
        iv: Column::Each((0..RECORDS).map(iv).collect()),
        input: Column::Each((0..RECORDS).map(|n| InputSource::Data(span(n * LEN, LEN))).collect()),
        output: Column::Each((0..RECORDS).map(|n| OutputSink::Output(span(n * LEN, LEN))).collect()),
        ..Records::default()
    }
}
