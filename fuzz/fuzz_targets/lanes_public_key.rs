//! The lanes engine, and the scalar engine with tables, against the scalar engine without tables. Bytes choose a shape,
//! and for each job a key, an input and a signature among boundary values, valid or invalid. Every leaf runs, with and
//! without verification tables.
#![no_main]

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use libfuzzer_sys::fuzz_target;
use oarlock_core::{Engine, Jobs, Operation, Outcomes, Shape, SlhDsaSet, Status};
use oarlock_fuzz::Bytes;
use oarlock_lanes::{LaneEngine, Leaf};
use oarlock_scalar::ScalarEngine;
use oarlock_vectors::OperationCase;
use oarlock_vectors::edges::EdgeCases;

/// A group of lanes and a part of the next.
const MAX_JOBS: usize = 19;

struct World {
    engines: Vec<Box<dyn Engine>>,
    scalar: ScalarEngine,
    shapes: Vec<Shape>,
    edges: Mutex<HashMap<Shape, &'static EdgeCases>>,
}

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let leaves = || Leaf::ALL.iter().copied().filter_map(LaneEngine::of_leaf);
    let lanes = leaves()
        .map(|engine| engine.with_table_bytes(0))
        .chain(leaves().map(|engine| engine.with_table_bytes(1 << 20).with_tables_at_once()));
    let tables = ScalarEngine::detect().map(|scalar| scalar.with_table_bytes(1 << 20).with_tables_at_once());
    let engines: Vec<Box<dyn Engine>> =
        lanes.map(|engine| Box::new(engine) as _).chain(tables.map(|engine| Box::new(engine) as _)).collect();
    // Longer RSA is the same code over more limbs, and would take most of the time.
    let is_short = |shape: &Shape| match shape {
        Shape::RsaPrivate { bits } | Shape::ModExp { bits, .. } => *bits <= 1024,
        Shape::RsaPublic { bits, .. } => *bits <= 2048,
        // The other sets are the same steps with other numbers.
        Shape::SlhDsaKeygen { set } | Shape::SlhDsaSign { set } | Shape::SlhDsaVerify { set } => {
            matches!(set, SlhDsaSet::Sha2_128f | SlhDsaSet::Sha2_192f | SlhDsaSet::Shake128f)
        }
        _ => true,
    };
    let shapes = Shape::public_key().into_iter().filter(is_short).collect();
    World {
        engines,
        scalar: ScalarEngine::detect().expect("AWS-LC is everywhere"),
        shapes,
        edges: Mutex::default(),
    }
});

impl World {
    fn edges(&self, shape: Shape) -> &'static EdgeCases {
        let mut known = self.edges.lock().expect("nothing panics under it");
        known
            .entry(shape)
            .or_insert_with(|| Box::leak(Box::new(EdgeCases::of_shape(shape).expect("known answers"))))
    }
}

fuzz_target!(|bytes: &[u8]| {
    let world = &*WORLD;
    let mut bytes = Bytes::new(bytes);
    let shape = *bytes.choose(&world.shapes);
    let mut cases = Vec::new();
    // One job of SLH-DSA fills the lanes, for milliseconds.
    let max = if shape.is_long() { 1 } else { MAX_JOBS };
    while !bytes.is_empty() && cases.len() < max {
        cases.push(case(world, shape, &mut bytes));
    }
    let jobs = OperationCase::operations(&cases, shape).expect("every case has the lengths of the shape");
    let expected = run(&world.scalar, shape, &jobs);
    for engine in world.engines.iter().filter(|engine| engine.offers(shape).is_some()) {
        assert_eq!(expected, run(&**engine, shape, &jobs), "{shape} on {engine:?}");
    }
});

fn case(world: &World, shape: Shape, bytes: &mut Bytes<'_>) -> OperationCase {
    let signing = match shape {
        Shape::EcdsaVerify { curve } => Some(Shape::EcdsaSign { curve }),
        Shape::Ed25519Verify => Some(Shape::Ed25519Sign),
        Shape::MlDsaVerify { set } => Some(Shape::MlDsaSign { set }),
        Shape::SlhDsaVerify { set } => Some(Shape::SlhDsaSign { set }),
        _ => None,
    };
    let how = bytes.next();
    let signed = signing.filter(|_| how & 1 == 0);
    let shape_here = signed.unwrap_or(shape);
    let edges = world.edges(shape_here);
    let key = bytes.below(edges.keys.len());
    let mut input = bytes.choose(edges.inputs_of(key)).clone();
    if how & 2 == 2 {
        bytes.overwrite(&mut input);
    }
    let mut case =
        OperationCase { key: edges.keys[key].clone(), input, signature: Vec::new(), nonce: [0; 32] };
    match signed {
        Some(signing) => {
            let job = case.operation(signing).expect("every case has the lengths of the shape");
            case.signature = run(&world.scalar, signing, &[job]).remove(0).1;
        }
        None => {
            let halves = edges.halves.each_ref().map(|half| half.get(bytes.below(half.len())).cloned());
            case.signature = halves.into_iter().flatten().flatten().collect();
        }
    }
    // Where signing was refused there is nothing of the right length.
    case.signature.resize(shape.signature_len().unwrap_or(case.signature.len()), 0);
    match how >> 2 & 3 {
        1 => bytes.overwrite(&mut case.signature),
        2 => bytes.flip(&mut case.signature),
        3 => bytes.flip(&mut case.input),
        _ => {}
    }
    case
}

fn run(engine: &dyn Engine, shape: Shape, operations: &[Operation<'_>]) -> Vec<(Status, Vec<u8>)> {
    let jobs = Jobs::Operations(shape, operations);
    let mut out = Outcomes::for_jobs(&jobs);
    engine.run(&jobs, &mut out).expect("no engine fails");
    out.statuses().iter().enumerate().map(|(at, status)| (*status, out.result(at).to_vec())).collect()
}
