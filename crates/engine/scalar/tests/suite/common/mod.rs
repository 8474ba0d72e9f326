//! Helpers of the test files: keys from bytes, runs, data files.

use oarlock_core::*;
use oarlock_scalar::ScalarEngine;

/// Returns the bytes of a hexadecimal string. White space is skipped.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    assert!(digits.len().is_multiple_of(2), "half a byte in {text}");
    assert!(text.chars().all(|c| c.is_ascii_hexdigit() || c.is_whitespace()), "not hexadecimal: {text}");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Returns the lines of a data file as fields, without comments and empty lines.
pub(crate) fn lines(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with('#') && !line.trim().is_empty())
        .map(|line| line.split_whitespace().collect())
}

/// Parses a field of a data file: hexadecimal, `-` for nothing, or `"text"` without spaces.
pub(crate) fn field(text: &str) -> Vec<u8> {
    match text {
        "-" => vec![],
        _ => hex(text),
    }
}

pub(crate) fn key(parts: KeyParts) -> Key {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut fingerprint = [0; 32];
    fingerprint[..4].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    Key::local(parts, Fingerprint::new(fingerprint))
}

pub(crate) fn secret(bytes: &[u8]) -> Key {
    key(KeyParts::Secret(bytes.into()))
}

pub(crate) fn scalar() -> ScalarEngine {
    ScalarEngine::detect().unwrap()
}

/// Runs operations of one shape.
pub(crate) fn run(shape: Shape, operations: &[Operation<'_>]) -> Outcomes {
    let jobs = Jobs::Operations(shape, operations);
    let mut out = Outcomes::for_jobs(&jobs);
    scalar().run(&jobs, &mut out).unwrap();
    assert!(out.is_complete());
    out
}

/// Runs one operation and returns its result, or its status if it is not done or does not fit the shape.
pub(crate) fn run_one(
    shape: Shape,
    key: &Key,
    input: &[u8],
    extra: SecondInput<'_>,
) -> Result<Vec<u8>, Status> {
    let operation = Operation::new(shape, key, input, extra).map_err(|error| match error {
        JobError::KeyType { .. } => Status::BadKey,
        _ => Status::BadLength,
    })?;
    let out = run(shape, &[operation]);
    match out.statuses()[0] {
        Status::Done => Ok(out.result(0).to_vec()),
        status => {
            assert!(out.bytes().iter().all(|byte| *byte == 0), "a failed job left something behind");
            Err(status)
        }
    }
}

/// Runs batches of records of one shape.
pub(crate) fn run_records(shape: Shape, parts: &[&Records<'_>]) -> Outcomes {
    let jobs = Jobs::Records(shape, parts);
    let mut out = Outcomes::for_jobs(&jobs);
    scalar().run(&jobs, &mut out).unwrap();
    assert!(out.is_complete());
    out
}

/// One record, given by its bytes.
#[derive(Clone, Default)]
pub(crate) struct One<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) second_key: &'a [u8],
    pub(crate) iv: &'a [u8],
    pub(crate) second_iv: &'a [u8],
    pub(crate) aad: &'a [u8],
    pub(crate) input: &'a [u8],
    /// The tag to open with, or bytes of the length to seal with.
    pub(crate) tag: &'a [u8],
    pub(crate) tag_len: usize,
    pub(crate) output_len: usize,
}

/// Builds a batch of one record. For sealing, the tag is placed after the output.
pub(crate) fn records(one: &One<'_>) -> Records<'static> {
    let mut data = Vec::new();
    let mut put = |bytes: &[u8]| {
        let span = Span::new(data.len(), bytes.len()).unwrap();
        data.extend_from_slice(bytes);
        span
    };
    let (iv, second_iv, aad, input, tag) =
        (put(one.iv), put(one.second_iv), put(one.aad), put(one.input), put(one.tag));
    let sealed_tag = Span::new(one.output_len, one.tag_len).unwrap();
    Records {
        len: 1,
        keys: vec![secret(one.key), secret(one.second_key)].into(),
        data: data.into(),
        output_len: one.output_len + one.tag_len,
        key: Column::One(KeySource::Table(0)),
        second_key: Column::One(KeySource::Table(1)),
        iv: Column::One(iv),
        second_iv: Column::One(second_iv),
        aad: Column::One(aad),
        input: Column::One(InputSource::Data(input)),
        output: Column::One(OutputSink::Output(Span::new(0, one.output_len).unwrap())),
        tag: Column::One(if one.tag.is_empty() { sealed_tag } else { tag }),
        ..Records::default()
    }
}

/// Runs one record and returns its output buffer, or its status if it is not done.
pub(crate) fn record(shape: Shape, one: &One<'_>) -> Result<Vec<u8>, Status> {
    let out = run_records(shape, &[&records(one)]);
    match out.statuses()[0] {
        Status::Done => Ok(out.bytes().to_vec()),
        status => {
            assert!(out.bytes().iter().all(|byte| *byte == 0), "a failed record left something behind");
            Err(status)
        }
    }
}
