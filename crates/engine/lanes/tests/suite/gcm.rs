//! Tests of GCM on every leaf: published vectors at every tag length side by side, damaged records among good ones,
//! and slots.

use oarlock_core::*;

use crate::common::{Builder, leaves_for, run};

/// A case of McGrew and Viega with a shortened tag.
struct Case {
    key: Vec<u8>,
    iv: Vec<u8>,
    aad: Vec<u8>,
    plain: Vec<u8>,
    sealed: Vec<u8>,
    tag: Vec<u8>,
}

fn hex(text: &str) -> Vec<u8> {
    let text = text.trim_matches('-');
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Returns the published cases with keys of `key_len` bytes, each with tags of 12 to 16 bytes.
fn cases(key_len: usize) -> Vec<Case> {
    let lines =
        include_str!("../../../scalar/tests/data/gcm.txt").lines().filter(|line| !line.starts_with('#'));
    let fields = lines.map(|line| line.split_whitespace().skip(1).map(hex).collect::<Vec<_>>());
    let cut = |fields: Vec<Vec<u8>>| {
        let [key, iv, aad, plain, sealed, tag] = <[Vec<u8>; 6]>::try_from(fields).unwrap();
        (12..=16).map(move |len| Case {
            key: key.clone(),
            iv: iv.clone(),
            aad: aad.clone(),
            plain: plain.clone(),
            sealed: sealed.clone(),
            tag: tag[..len].into(),
        })
    };
    fields.flat_map(cut).filter(|case| case.key.len() == key_len).collect()
}

fn shape(key_len: usize, direction: Direction) -> Shape {
    let alg = if key_len == 16 { AeadAlg::Aes128Gcm } else { AeadAlg::Aes256Gcm };
    Shape::Aead { alg, direction }
}

/// Returns the cases as records. `change` alters the inputs for opening.
fn records(cases: &[Case], direction: Direction, change: impl Fn(usize, &mut Case)) -> Records<'static> {
    let mut builder = Builder::default();
    for (index, case) in cases.iter().enumerate() {
        let mut case = Case {
            key: case.key.clone(),
            iv: case.iv.clone(),
            aad: case.aad.clone(),
            plain: case.plain.clone(),
            sealed: case.sealed.clone(),
            tag: case.tag.clone(),
        };
        change(index, &mut case);
        let key = builder.key(case.key);
        builder.key.push(key);
        let [iv, aad] = [&case.iv, &case.aad].map(|bytes| builder.data(bytes));
        builder.iv.push(iv);
        builder.aad.push(aad);
        let is_sealing = direction == Direction::Encrypt;
        let input = builder.data(if is_sealing { &case.plain } else { &case.sealed });
        let output = builder.reserve(case.plain.len());
        let tag = if is_sealing { builder.reserve(case.tag.len()) } else { builder.data(&case.tag) };
        builder.input.push(InputSource::Data(input));
        builder.output.push(OutputSink::Output(output));
        builder.tag.push(tag);
    }
    builder.records()
}

#[test]
fn gcm_matches_published_cases_at_every_tag_length() {
    for engine in leaves_for(shape(16, Direction::Encrypt)) {
        for key_len in [16, 32] {
            let cases = cases(key_len);
            assert_eq!(cases.len(), 30);
            let sealed = run(
                &engine,
                shape(key_len, Direction::Encrypt),
                &records(&cases, Direction::Encrypt, |_, _| ()),
            );
            let expected: Vec<u8> =
                cases.iter().flat_map(|case| [&case.sealed[..], &case.tag].concat()).collect();
            assert!(sealed.statuses().iter().all(|status| *status == Status::Done));
            assert_eq!(sealed.bytes(), expected);
            let opened = run(
                &engine,
                shape(key_len, Direction::Decrypt),
                &records(&cases, Direction::Decrypt, |_, _| ()),
            );
            let expected: Vec<u8> = cases.iter().flat_map(|case| case.plain.clone()).collect();
            assert!(opened.statuses().iter().all(|status| *status == Status::Done));
            assert_eq!(opened.bytes(), expected);
        }
    }
}

/// Every third record has one changed bit: in the tag, or in one of the values that it covers.
#[test]
fn damaged_gcm_records_are_rejected_alone_and_leave_zeros() {
    let flip = |bytes: &mut Vec<u8>, at: usize| {
        if let Some(len) = bytes.len().checked_sub(1) {
            bytes[at % (len + 1)] ^= 1 << (at % 8);
        }
    };
    let damage = |index: usize, case: &mut Case| {
        if index.is_multiple_of(3) {
            match index % 4 {
                0 => flip(&mut case.tag, 5 * index),
                1 => flip(&mut case.iv, index),
                2 if !case.aad.is_empty() => flip(&mut case.aad, index),
                _ if !case.sealed.is_empty() => flip(&mut case.sealed, 7 * index),
                _ => flip(&mut case.tag, index),
            }
        }
    };
    for engine in leaves_for(shape(16, Direction::Encrypt)) {
        for key_len in [16, 32] {
            let cases = cases(key_len);
            let records = records(&cases, Direction::Decrypt, damage);
            let out = run(&engine, shape(key_len, Direction::Decrypt), &records);
            for (index, case) in cases.iter().enumerate() {
                let Some(OutputSink::Output(span)) = records.output.get(index) else { panic!("an output") };
                let is_damaged = index.is_multiple_of(3);
                let zeros = vec![0; case.plain.len()];
                let (status, plain) =
                    if is_damaged { (Status::Rejected, &zeros) } else { (Status::Done, &case.plain) };
                assert_eq!(
                    (out.statuses()[index], span.slice(out.bytes())),
                    (status, Some(&plain[..])),
                    "{index}"
                );
            }
        }
    }
}

/// Plaintexts go into slots, with wrong and right tags; ciphertexts go into slots too, with their tags in the
/// output.
#[test]
fn gcm_results_go_to_slots_and_tags_to_the_output() {
    for engine in leaves_for(shape(16, Direction::Encrypt)) {
        let cases = cases(16);
        for direction in Direction::ALL {
            let damage = |index: usize, case: &mut Case| {
                if direction == Direction::Decrypt && index == 7 {
                    case.tag[3] ^= 1;
                }
            };
            let mut records = records(&cases, direction, damage);
            let slots = SecretSlots::with_capacities(&vec![80; cases.len()]).unwrap();
            records.slots = std::borrow::Cow::Owned(slots);
            records.output = Column::Each((0..).take(cases.len()).map(OutputSink::Slot).collect());
            let out = run(&engine, shape(16, direction), &records);
            for (index, case) in cases.iter().enumerate() {
                let secret = out.slots(0).get(index as u32);
                match direction {
                    Direction::Decrypt if index == 7 => assert_eq!(secret, None),
                    Direction::Decrypt => assert_eq!(secret, Some(&case.plain[..])),
                    Direction::Encrypt => {
                        assert_eq!(secret, Some(&case.sealed[..]));
                        let tag = records.tag.get(index).unwrap().slice(out.bytes());
                        assert_eq!(tag, Some(&case.tag[..]));
                    }
                }
            }
        }
    }
}
