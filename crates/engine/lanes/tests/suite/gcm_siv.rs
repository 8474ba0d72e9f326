//! Tests of GCM-SIV on every leaf: cases of RFC 8452 among other records, and each length beside the scalar engine.

use oarlock_core::*;
use oarlock_scalar::ScalarEngine;

use crate::common::{Builder, leaves_for, run};

/// A record. `text` is the input: a plaintext or a ciphertext.
#[derive(Clone)]
struct Case {
    key: Vec<u8>,
    iv: Vec<u8>,
    aad: Vec<u8>,
    text: Vec<u8>,
    tag: Vec<u8>,
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Returns plaintexts of RFC 8452 appendix C.3 with their tags, and the ciphertexts. The counters wrap after one block.
fn wrapping() -> [(Case, Vec<u8>); 2] {
    let case = |plain: &str, sealed: &str| {
        let tag = hex("ffffffff000000000000000000000000");
        (Case { key: vec![0; 32], iv: vec![0; 12], aad: Vec::new(), text: hex(plain), tag }, hex(sealed))
    };
    [
        case(
            "000000000000000000000000000000004db923dc793ee6497c76dcc03a98e108",
            "f3f80f2cf0cb2dd9c5984fcda908456cc537703b5ba70324a6793a7bf218d3ea",
        ),
        case(
            "eb3640277c7ffd1303c7a542d02d3e4c0000000000000000",
            "18ce4f0b8cb4d0cac65fea8f79257b20888e53e72299e56d",
        ),
    ]
}

fn shape(key_len: usize, direction: Direction) -> Shape {
    let alg = if key_len == 16 { AeadAlg::Aes128GcmSiv } else { AeadAlg::Aes256GcmSiv };
    Shape::Aead { alg, direction }
}

fn records(cases: &[Case], direction: Direction) -> Records<'static> {
    let mut builder = Builder::default();
    for case in cases {
        let key = builder.key(case.key.clone());
        builder.key.push(key);
        let [iv, aad, input] = [&case.iv, &case.aad, &case.text].map(|bytes| builder.data(bytes));
        builder.iv.push(iv);
        builder.aad.push(aad);
        builder.input.push(InputSource::Data(input));
        let output = builder.reserve(case.text.len());
        builder.output.push(OutputSink::Output(output));
        let tag = match direction {
            Direction::Encrypt => builder.reserve(case.tag.len()),
            Direction::Decrypt => builder.data(&case.tag),
        };
        builder.tag.push(tag);
    }
    builder.records()
}

/// Returns a record whose bytes depend on its index.
fn case(index: usize, key_len: usize, len: usize, aad_len: usize) -> Case {
    let bytes = |len: usize, salt: usize| (0..len).map(|at| (at * 7 + index * 31 + salt) as u8).collect();
    Case {
        key: bytes(key_len, 1),
        iv: bytes(12, 2),
        aad: bytes(aad_len, 3),
        text: bytes(len, 4),
        tag: vec![0; 16],
    }
}

/// Seals with the scalar engine, and returns the ciphertexts with their tags.
fn sealed(cases: &[Case], key_len: usize) -> Vec<Case> {
    let shape = shape(key_len, Direction::Encrypt);
    let records = records(cases, Direction::Encrypt);
    let out = run(&ScalarEngine::detect().unwrap(), shape, &records);
    let mut rest = out.bytes();
    let take = |case: &Case| {
        let (text, after) = rest.split_at(case.text.len());
        let (tag, others) = after.split_at(16);
        rest = others;
        Case { text: text.to_vec(), tag: tag.to_vec(), ..case.clone() }
    };
    cases.iter().map(take).collect()
}

#[test]
fn counters_wrap_as_in_rfc_8452_among_records_that_do_not() {
    for engine in leaves_for(shape(32, Direction::Encrypt)) {
        for before in [0, 1, 5, 15, 16] {
            let others = (0..before).map(|at| case(at, 32, 40, 0));
            let plain: Vec<Case> = others.chain(wrapping().map(|(case, _)| case)).collect();
            let known = wrapping().map(|(case, text)| Case { text, ..case });
            let closed = sealed(&plain, 32);
            assert!(closed[before..].iter().zip(&known).all(|(found, known)| found.text == known.text));
            let made = run(&engine, shape(32, Direction::Encrypt), &records(&plain, Direction::Encrypt));
            let expected: Vec<u8> =
                closed.iter().flat_map(|case| [&case.text[..], &case.tag].concat()).collect();
            assert_eq!(made.bytes(), expected);
            let opened = run(&engine, shape(32, Direction::Decrypt), &records(&closed, Direction::Decrypt));
            assert!(opened.statuses().iter().all(|status| *status == Status::Done));
            let expected: Vec<u8> = plain.iter().flat_map(|case| case.text.clone()).collect();
            assert_eq!(opened.bytes(), expected);
        }
    }
}

/// Four records share a register, and groups of 8 or 16 run in step: every number of records up to two groups, with
/// lengths that differ or are all the same, and with associated data of some or none.
#[test]
fn groups_of_any_lengths_agree_with_scalar() {
    let lens = [0, 1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 95, 96, 97, 112, 128, 200, 256, 1000];
    for engine in leaves_for(shape(16, Direction::Encrypt)) {
        for key_len in [16, 32] {
            for count in 1..=33 {
                for form in 0..4 {
                    let cases: Vec<Case> = (0..count)
                        .map(|at| {
                            let len = lens[if form < 2 { count } else { at + count } % lens.len()];
                            case(at, key_len, len, if form % 2 == 0 { 0 } else { at * 5 % 40 })
                        })
                        .collect();
                    let closed = sealed(&cases, key_len);
                    let made = run(
                        &engine,
                        shape(key_len, Direction::Encrypt),
                        &records(&cases, Direction::Encrypt),
                    );
                    let expected: Vec<u8> =
                        closed.iter().flat_map(|case| [&case.text[..], &case.tag].concat()).collect();
                    assert_eq!(made.bytes(), expected, "{count} records, form {form}");
                }
            }
        }
    }
}

/// One record has a changed bit, in each position of a group in turn. Only that record is rejected; it leaves zeros.
#[test]
fn a_damaged_record_is_rejected_alone_and_leaves_zeros() {
    for engine in leaves_for(shape(16, Direction::Encrypt)) {
        for key_len in [16, 32] {
            let cases: Vec<Case> = (0..19).map(|at| case(at, key_len, 13 * at, at % 3 * 9)).collect();
            let closed = sealed(&cases, key_len);
            for damaged in 0..cases.len() {
                let mut changed = closed.clone();
                let victim = &mut changed[damaged];
                let part = match damaged % 4 {
                    0 => &mut victim.tag,
                    1 => &mut victim.iv,
                    2 if !victim.aad.is_empty() => &mut victim.aad,
                    _ => &mut victim.text,
                };
                *part.last_mut().unwrap() ^= 0x80;
                let out =
                    run(&engine, shape(key_len, Direction::Decrypt), &records(&changed, Direction::Decrypt));
                let mut rest = out.bytes();
                for (at, case) in cases.iter().enumerate() {
                    let (text, others) = rest.split_at(case.text.len());
                    rest = others;
                    let zeros = vec![0; text.len()];
                    let expected = match at == damaged {
                        true => (Status::Rejected, &zeros),
                        false => (Status::Done, &case.text),
                    };
                    assert_eq!((out.statuses()[at], text), (expected.0, &expected.1[..]), "{damaged}, {at}");
                }
            }
        }
    }
}

/// Plaintexts go into slots. The slot of a record with a wrong tag stays empty.
#[test]
fn opened_texts_go_to_slots() {
    for engine in leaves_for(shape(16, Direction::Encrypt)) {
        let cases: Vec<Case> = (0..21).map(|at| case(at, 16, 3 * at, at % 2 * 20)).collect();
        let mut closed = sealed(&cases, 16);
        closed[6].tag[0] ^= 1;
        let mut records = records(&closed, Direction::Decrypt);
        let slots = SecretSlots::with_capacities(&vec![80; cases.len()]).unwrap();
        records.slots = std::borrow::Cow::Owned(slots);
        records.output = Column::Each((0..).take(cases.len()).map(OutputSink::Slot).collect());
        let out = run(&engine, shape(16, Direction::Decrypt), &records);
        for (at, case) in cases.iter().enumerate() {
            let expected = if at == 6 { None } else { Some(&case.text[..]) };
            assert_eq!(out.slots(0).get(at as u32), expected, "{at}");
        }
    }
}
