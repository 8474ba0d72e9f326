//! HSS and XMSS: bytes as a public key with a signature behind it, and changed bytes in known signatures. Every leaf
//! and the scalar engine agree, and no changed signature verifies.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use oarlock::engine_api::selftest::sample_operations;
use oarlock_core::{Engine, Jobs, Key, Operation, OperationSet, Outcomes, SecondInput, Shape, Status};
use oarlock_fuzz::{Bytes, check_error, check_round_trip};
use oarlock_keys::raw;
use oarlock_lanes::{LaneEngine, Leaf};
use oarlock_scalar::ScalarEngine;

/// One for each hash function.
const KNOWN: usize = 4;

const SHAPES: [Shape; 2] = [Shape::HssVerify, Shape::XmssVerify];

struct World {
    engines: Vec<Box<dyn Engine>>,
    known: [OperationSet; 2],
}

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let leaves = Leaf::ALL.iter().copied().filter_map(LaneEngine::of_leaf);
    let leaves = leaves.filter(|engine| SHAPES.iter().all(|shape| engine.offers(*shape).is_some()));
    let scalar = ScalarEngine::detect().expect("AWS-LC is everywhere");
    World {
        engines: leaves.map(|engine| Box::new(engine) as _).chain([Box::new(scalar) as _]).collect(),
        known: SHAPES.map(|shape| sample_operations(shape, KNOWN).expect("known answers")),
    }
});

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes::new(bytes);
    let index = bytes.below(SHAPES.len());
    match bytes.below(2) {
        0 => parsed(&mut bytes),
        _ => changed(index, &mut bytes),
    }
});

/// Reads a key of any length, and verifies the rest under it.
fn parsed(bytes: &mut Bytes<'_>) {
    let import = *bytes.choose(&[raw::hss_public, raw::xmss_public, raw::xmss_mt_public]);
    let mut public = vec![0; bytes.below(80)];
    bytes.overwrite(&mut public);
    let Some(key) = check_error(import(&public)) else { return };
    check_round_trip(&key);
    // Up to the length of eight levels or twelve layers.
    let mut signature = vec![0; bytes.below(1 << 16)];
    bytes.overwrite(&mut signature);
    let shape = if key.hss_public().is_some() { SHAPES[0] } else { SHAPES[1] };
    verdict(shape, &key, b"message", &signature);
}

/// Changes bytes and bits of a known signature and of its message.
fn changed(index: usize, bytes: &mut Bytes<'_>) {
    let operation = WORLD.known[index].get(bytes.below(KNOWN)).expect("an index below the number");
    let SecondInput::Signature(known) = operation.extra else { return };
    let (mut signature, mut message) = (known.to_vec(), operation.input.to_vec());
    while !bytes.is_empty() {
        match bytes.below(4) {
            0 => bytes.flip(&mut message),
            1 => signature.truncate(bytes.below(known.len() + 1)),
            2 => signature.push(bytes.next()),
            _ => bytes.flip(&mut signature),
        }
    }
    let is_known = signature == known && message == operation.input;
    let expected = if is_known { Status::Done } else { Status::Rejected };
    assert_eq!(verdict(SHAPES[index], operation.key, &message, &signature), expected);
}

/// Returns the status on which all engines agree.
fn verdict(shape: Shape, key: &Key, message: &[u8], signature: &[u8]) -> Status {
    let operation =
        Operation::new(shape, key, message, SecondInput::Signature(signature)).expect("a key of the shape");
    let operations = [operation];
    let jobs = Jobs::Operations(shape, &operations);
    let statuses = WORLD.engines.iter().map(|engine| {
        let mut out = Outcomes::for_jobs(&jobs);
        engine.run(&jobs, &mut out).expect("no engine fails");
        out.statuses()[0]
    });
    let statuses: Vec<Status> = statuses.collect();
    assert!(statuses.iter().all(|status| *status == statuses[0]), "{statuses:?} of {:?}", WORLD.engines);
    statuses[0]
}
