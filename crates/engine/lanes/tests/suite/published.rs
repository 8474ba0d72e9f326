//! Published vectors of every record shape of the engine, on every leaf. All cases of a shape run side by side.

use oarlock_core::*;

use crate::common::{Builder, leaves, run};

/// A record and its expected result.
#[derive(Clone)]
struct Case {
    shape: String,
    key: Vec<u8>,
    iv: Vec<u8>,
    input: Vec<u8>,
    result: Vec<u8>,
}

/// Returns the fields of a data file's lines. A field `-` is empty.
fn lines(text: &'static str) -> impl Iterator<Item = (&'static str, Vec<Vec<u8>>)> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| {
        let mut fields = line.split_whitespace();
        let name = fields.next().unwrap();
        (name, fields.map(|field| hex(field.trim_matches('-'))).collect())
    })
}

fn hex(text: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal digits");
    (0..text.len()).step_by(2).map(digit).collect()
}

/// Returns both directions of a cipher.
fn both(alg: &str, key: &[u8], iv: &[u8], plain: &[u8], sealed: &[u8]) -> [Case; 2] {
    [("encrypt", plain, sealed), ("decrypt", sealed, plain)].map(|(direction, input, result)| Case {
        shape: format!("{alg}-cbc-{direction}"),
        key: key.into(),
        iv: iv.into(),
        input: input.into(),
        result: result.into(),
    })
}

fn cbc() -> Vec<Case> {
    let cases = lines(include_str!("../../../scalar/tests/data/cbc.txt"));
    cases.flat_map(|(alg, fields)| both(alg, &fields[0], &fields[1], &fields[2], &fields[3])).collect()
}

/// Returns SP 800-17 for DES and SP 800-20 for triple DES with equal keys, with parity bits set and clear.
fn des_tables() -> Vec<Case> {
    let mut cases = Vec::new();
    for (key, fields) in lines(include_str!("../../../scalar/tests/data/des-sp800-17.txt")) {
        for (alg, copies) in [("des", 1), ("tdes2", 2), ("tdes3", 3)] {
            let key = hex(key).repeat(copies);
            let other_parity: Vec<u8> = key.iter().map(|byte| byte ^ 1).collect();
            for key in [key, other_parity] {
                cases.extend(both(alg, &key, &[0; 8], &fields[0], &fields[1]));
            }
        }
    }
    cases
}

fn macs_and_their_truncations() -> Vec<Case> {
    let cases = lines(include_str!("../../../scalar/tests/data/mac.txt"));
    let truncated = |(alg, fields): (&str, Vec<Vec<u8>>)| {
        let [key, input, tag] = <[Vec<u8>; 3]>::try_from(fields).unwrap();
        let shape = alg.to_owned();
        (4..=tag.len()).map(move |len| Case {
            shape: shape.clone(),
            key: key.clone(),
            iv: Vec::new(),
            input: input.clone(),
            result: tag[..len].into(),
        })
    };
    cases.flat_map(truncated).collect()
}

fn digests() -> Vec<Case> {
    let cases = lines(include_str!("../../../scalar/tests/data/digest.txt"));
    let case = |(alg, fields): (&str, Vec<Vec<u8>>)| {
        let [input, result] = <[Vec<u8>; 2]>::try_from(fields).unwrap();
        Case { shape: alg.into(), key: Vec::new(), iv: Vec::new(), input, result }
    };
    cases.map(case).collect()
}

fn check(engine: &dyn Engine, shape: Shape, cases: &[Case]) {
    let mut builder = Builder::default();
    for case in cases {
        let key = builder.key(case.key.clone());
        let (iv, input) = (builder.data(&case.iv), builder.data(&case.input));
        let output = builder.reserve(case.result.len());
        builder.key.push(key);
        builder.iv.push(iv);
        builder.input.push(InputSource::Data(input));
        builder.output.push(OutputSink::Output(output));
    }
    let records = builder.records();
    let out = run(engine, shape, &records);
    let mut results = out.bytes();
    for (case, status) in cases.iter().zip(out.statuses()) {
        let (result, rest) = results.split_at(case.result.len());
        assert_eq!((*status, result), (Status::Done, &case.result[..]), "{shape}");
        results = rest;
    }
}

#[test]
fn every_shape_matches_its_published_vectors_side_by_side() {
    let cases = [cbc(), des_tables(), macs_and_their_truncations(), digests()].concat();
    for engine in leaves() {
        for shape in Shape::records().into_iter().filter(|shape| engine.offers(*shape).is_some()) {
            let name = shape.to_string();
            let of_shape: Vec<Case> = cases.iter().filter(|case| case.shape == name).cloned().collect();
            // Chains, counter mode and FF1 have their known answers in the self tests.
            let is_published = !matches!(
                shape,
                Shape::Aead { .. }
                    | Shape::Wrap { .. }
                    | Shape::DigestPart { .. }
                    | Shape::Fpe { .. }
                    | Shape::Chain { .. }
                    | Shape::Cipher { mode: CipherMode::Ctr, .. }
            );
            assert_eq!(of_shape.is_empty(), !is_published, "{name}");
            check(&engine, shape, &of_shape);
        }
    }
}
