//! Every leaf of the lanes engine against the scalar engine, with records. Bytes choose a shape, and for each record
//! its key and the lengths of its fields, right or wrong.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use oarlock_core::{Direction, Engine, Jobs, MTE_AAD_LEN, Outcomes, Records, Shape, mte_sealed_len};
use oarlock_fuzz::Bytes;
use oarlock_lanes::{LaneEngine, Leaf};
use oarlock_scalar::ScalarEngine;
use oarlock_vectors::{RecordCase, RecordResult, read_results, to_records};

/// Two groups of the widest lanes of hashes and a part of a third.
const MAX_RECORDS: usize = 40;

/// Longer than two blocks of any hash with its padding.
const MAX_INPUT: usize = 300;

struct World {
    leaves: Vec<LaneEngine>,
    scalar: ScalarEngine,
    shapes: Vec<Shape>,
}

static WORLD: LazyLock<World> = LazyLock::new(|| World {
    leaves: Leaf::ALL.iter().copied().filter_map(LaneEngine::of_leaf).collect(),
    scalar: ScalarEngine::detect().expect("AWS-LC is everywhere"),
    shapes: Shape::records(),
});

fuzz_target!(|bytes: &[u8]| {
    let World { leaves, scalar, shapes } = &*WORLD;
    let mut bytes = Bytes::new(bytes);
    let shape = *bytes.choose(shapes);
    let mut cases = Vec::new();
    while !bytes.is_empty() && cases.len() < MAX_RECORDS {
        cases.push(case(shape, &mut bytes));
    }
    let records = to_records(&cases).expect("fields are short");
    let expected = run(scalar, shape, &records);
    for leaf in leaves.iter().filter(|leaf| leaf.offers(shape).is_some()) {
        assert!(expected == run(leaf, shape, &records), "{shape} on {leaf:?}");
    }
});

fn case(shape: Shape, bytes: &mut Bytes<'_>) -> RecordCase {
    let (how, seed) = (bytes.next(), bytes.next());
    // The first records of a batch often share a length, which is a path of its own.
    let len = if how & 1 == 0 { usize::from(how) } else { bytes.below(MAX_INPUT) };
    let (mut key, mut second_key, mut iv, mut aad, mut tag, mut output) = (0, 0, 0, 0, 0, len);
    match shape {
        Shape::Cipher { alg, .. } => (key, iv) = (alg.key_len(), alg.block_len()),
        Shape::Aead { alg, .. } => {
            (key, iv, aad, tag) = (alg.key_len(), alg.usual_iv_len(), bytes.below(40), 16)
        }
        Shape::Fpe { alg, .. } => (key, iv, aad) = (alg.key_len(), 4, bytes.below(40)),
        Shape::Mac { alg } => (key, output) = (alg.key_len().unwrap_or(usize::from(seed)), alg.tag_len()),
        Shape::Digest { alg } => output = alg.output_len(),
        Shape::DigestPart { alg } => (iv, output) = (alg.state_len(), alg.state_len()),
        Shape::Wrap { alg, direction } => {
            key = alg.key_len();
            output = match direction {
                Direction::Encrypt => len.next_multiple_of(8) + 8,
                Direction::Decrypt => len.saturating_sub(8),
            };
        }
        Shape::Chain { cipher, mac, order, direction } => {
            (key, second_key, iv) = (cipher.alg.key_len(), mac.tag_len(), cipher.alg.block_len());
            (aad, tag) =
                if order.has_detached_tag() { (bytes.below(40), mac.tag_len()) } else { (MTE_AAD_LEN, 0) };
            if !order.has_detached_tag() && direction == Direction::Encrypt {
                output = mte_sealed_len(cipher.alg, mac, len);
            }
        }
        _ => {}
    }
    match how >> 1 & 15 {
        1 => key = bytes.below(40),
        2 => iv = bytes.below(40),
        3 => tag = bytes.below(20),
        4 => output = bytes.below(MAX_INPUT),
        _ => {}
    }
    let field = |len: usize, salt: u8| -> Vec<u8> {
        (0..len).map(|at| (at as u8).wrapping_mul(31).wrapping_add(salt) ^ seed).collect()
    };
    let is_opening = shape.is_opening();
    // Few radixes exist, so random bytes are nearly always none.
    let radix = [10_u32, 62, 256, 65_536][usize::from(seed & 3)].to_be_bytes();
    RecordCase {
        key: field(key, 1),
        second_key: field(second_key, 6),
        iv: if matches!(shape, Shape::Fpe { .. }) { radix[..iv.min(4)].to_vec() } else { field(iv, 2) },
        aad: field(aad, 3),
        input: field(len, 4),
        output_len: output,
        expected_tag: field(if is_opening { tag } else { 0 }, 5),
        new_tag_len: if is_opening { 0 } else { tag },
        ..RecordCase::default()
    }
}

fn run(engine: &dyn Engine, shape: Shape, records: &Records<'_>) -> Vec<RecordResult> {
    let parts = [records];
    let jobs = Jobs::Records(shape, &parts);
    let mut out = Outcomes::for_jobs(&jobs);
    engine.run(&jobs, &mut out).expect("no engine fails");
    read_results(shape, records, out)
}
