//! Helpers of the test files: engines, records built one by one, and runs.

use oarlock_core::*;
use oarlock_lanes::{LaneEngine, Leaf};
use oarlock_scalar::ScalarEngine;

/// Returns an engine for every leaf of this machine, with that leaf alone. An engine offers the shapes of its leaf.
pub(crate) fn leaves() -> impl Iterator<Item = LaneEngine> {
    Leaf::ALL.iter().filter_map(|leaf| {
        let engine = LaneEngine::of_leaf(*leaf);
        if engine.is_none() {
            eprintln!("SKIPPED: this processor has no leaf {}", leaf.name());
        }
        engine
    })
}

/// Returns an engine for every leaf of this machine that computes a shape.
pub(crate) fn leaves_for(shape: Shape) -> impl Iterator<Item = LaneEngine> {
    leaves().filter(move |engine| engine.offers(shape).is_some())
}

/// Returns every leaf that computes a shape, without and with tables, and the scalar engine with its tables.
pub(crate) fn verifiers(shape: Shape) -> Vec<Box<dyn Engine>> {
    let cold = leaves_for(shape).map(|engine| engine.with_table_bytes(0));
    let lanes = cold.chain(leaves_for(shape).map(LaneEngine::with_tables_at_once));
    let lanes = lanes.map(|engine| Box::new(engine) as Box<dyn Engine>);
    lanes.chain([Box::new(ScalarEngine::detect().unwrap().with_tables_at_once()) as _]).collect()
}

/// Returns bytes that depend on the seed alone.
pub(crate) fn bytes(seed: usize, len: usize) -> Vec<u8> {
    let mut state = seed as u64 + 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..64 + len).map(|_| next()).skip(64).collect()
}

/// Runs a batch of operations, and returns their results.
pub(crate) fn run_operations(
    engine: &dyn Engine,
    shape: Shape,
    operations: &[Operation<'_>],
) -> Vec<Result<Vec<u8>, Status>> {
    let jobs = Jobs::Operations(shape, operations);
    let mut out = Outcomes::for_jobs(&jobs);
    engine.run(&jobs, &mut out).unwrap();
    let result = |at: usize| match out.statuses()[at] {
        Status::Done => Ok(out.result(at).to_vec()),
        status => Err(status),
    };
    (0..operations.len()).map(result).collect()
}

/// Runs one batch of records.
pub(crate) fn run(engine: &dyn Engine, shape: Shape, records: &Records<'_>) -> Outcomes {
    let parts = [records];
    let jobs = Jobs::Records(shape, &parts);
    let mut out = Outcomes::for_jobs(&jobs);
    // Results of an earlier run, of which nothing may stay.
    out.part_mut(0).output.fill(0xEE);
    out.reset(&jobs);
    engine.run(&jobs, &mut out).unwrap();
    out
}

/// A batch of records under construction.
#[derive(Default)]
pub(crate) struct Builder {
    pub(crate) data: Vec<u8>,
    pub(crate) output_len: usize,
    pub(crate) keys: Vec<Key>,
    pub(crate) key: Vec<KeySource>,
    pub(crate) second_key: Vec<KeySource>,
    pub(crate) iv: Vec<Span>,
    pub(crate) second_iv: Vec<Span>,
    pub(crate) aad: Vec<Span>,
    pub(crate) input: Vec<InputSource>,
    pub(crate) output: Vec<OutputSink>,
    pub(crate) tag: Vec<Span>,
}

impl Builder {
    pub(crate) fn data(&mut self, bytes: &[u8]) -> Span {
        self.data.extend_from_slice(bytes);
        Span::new(self.data.len() - bytes.len(), bytes.len()).unwrap()
    }

    pub(crate) fn reserve(&mut self, len: usize) -> Span {
        self.output_len += len;
        Span::new(self.output_len - len, len).unwrap()
    }

    pub(crate) fn key(&mut self, bytes: Vec<u8>) -> KeySource {
        let key = Key::local(KeyParts::Secret(SecretBytes::new(bytes)), Fingerprint::new([0; 32]));
        self.keys.push(key);
        KeySource::Table(self.keys.len() as u32 - 1)
    }

    pub(crate) fn records(self) -> Records<'static> {
        Records {
            len: self.key.len(),
            keys: self.keys.into(),
            data: self.data.into(),
            output_len: self.output_len,
            key: self.key.into(),
            second_key: column(self.second_key, KeySource::Table(0)),
            iv: column(self.iv, Span::default()),
            second_iv: column(self.second_iv, Span::default()),
            aad: column(self.aad, Span::default()),
            input: self.input.into(),
            output: self.output.into(),
            tag: column(self.tag, Span::default()),
            ..Records::default()
        }
    }
}

/// Returns a column. A column without values has one empty value.
fn column<T: ColumnValue + PartialEq>(values: Vec<T>, empty: T) -> Column<'static, T> {
    if values.is_empty() { Column::One(empty) } else { values.into() }
}
