//! The whole suite on every leaf, with and without verification tables. The scalar engine is the referee.

use oarlock_core::{Engine, Shape};
use oarlock_lanes::{LaneEngine, Leaf};
use oarlock_scalar::ScalarEngine;

use crate::common::VerificationOnly;

/// Runs the suite on all shapes that the engine offers.
fn check(engine: &dyn Engine) {
    let shapes = [Shape::public_key(), Shape::records()].concat();
    if shapes.into_iter().all(|shape| engine.offers(shape).is_none()) {
        return;
    }
    oarlock_vectors::stamp(engine, &ScalarEngine::detect().unwrap()).assert_clean();
}

/// Returns an engine for each leaf of this processor, with that leaf alone.
fn detected() -> impl Iterator<Item = LaneEngine> {
    let leaves = Leaf::ALL.iter().filter(|leaf| !leaf.is_portable());
    leaves.filter_map(|leaf| {
        let engine = LaneEngine::of_leaf(*leaf);
        if engine.is_none() {
            eprintln!("SKIPPED: this processor has no leaf {}", leaf.name());
        }
        engine
    })
}

#[test]
fn each_leaf_of_this_processor_passes_without_tables() {
    detected().for_each(|engine| check(&engine.with_table_bytes(0)));
}

#[test]
fn each_leaf_of_this_processor_passes_with_tables() {
    detected().for_each(|engine| check(&VerificationOnly(engine.with_tables_at_once())));
    // Tables come and go while the suite runs.
    let narrow = detected().map(|engine| engine.with_table_bytes(512 << 10));
    narrow.for_each(|engine| check(&VerificationOnly(engine)));
}

#[test]
#[ignore = "takes minutes: make long runs it"]
fn a_million_lattice_operations_agree_with_aws_lc() {
    let shapes: Vec<Shape> = Shape::public_key().into_iter().filter(|shape| is_lattice(*shape)).collect();
    let (lanes, scalar) = (LaneEngine::detect().unwrap(), ScalarEngine::detect().unwrap());
    let offered: Vec<Shape> = shapes.iter().copied().filter(|shape| lanes.offers(*shape).is_some()).collect();
    for shape in &offered {
        oarlock_vectors::compare_random_operations(&lanes, &scalar, *shape, 1_000_000 / offered.len() + 1)
            .unwrap_or_else(|difference| panic!("{shape}: {difference}"));
    }
    assert!(!offered.is_empty());
}

fn is_lattice(shape: Shape) -> bool {
    matches!(
        shape,
        Shape::MlKemKeygen { .. }
            | Shape::MlKemEncaps { .. }
            | Shape::MlKemDecaps { .. }
            | Shape::MlDsaSign { .. }
            | Shape::MlDsaVerify { .. }
    )
}

#[cfg(feature = "portable")]
mod portable {
    use super::*;

    /// The leaves of plain Rust, which no machine uses: they are what the others are compared with. Their suites take
    /// minutes, so `make long` runs them. The tests of `lanes` compare them with the scalar engine in `make test-all`.
    const PORTABLE: [Leaf; 2] = [Leaf::Portable, Leaf::PortableFma];

    #[test]
    fn each_portable_leaf_has_tests_below() {
        let all: Vec<Leaf> = Leaf::ALL.iter().copied().filter(|leaf| leaf.is_portable()).collect();
        assert_eq!(all, PORTABLE);
    }

    fn check_without_tables(leaf: Leaf) {
        check(&LaneEngine::of_leaf(leaf).unwrap().with_table_bytes(0));
    }

    fn check_with_tables(leaf: Leaf) {
        check(&VerificationOnly(LaneEngine::of_leaf(leaf).unwrap().with_tables_at_once()));
    }

    #[test]
    #[ignore = "takes minutes: make long runs it"]
    fn portable_fma_passes_without_tables() {
        check_without_tables(Leaf::PortableFma);
    }

    #[test]
    #[ignore = "takes minutes: make long runs it"]
    fn portable_fma_passes_with_tables() {
        check_with_tables(Leaf::PortableFma);
    }

    #[test]
    #[ignore = "takes minutes: make long runs it"]
    fn portable_passes_without_tables() {
        check_without_tables(Leaf::Portable);
    }

    #[test]
    #[ignore = "takes minutes: make long runs it"]
    fn portable_passes_with_tables() {
        check_with_tables(Leaf::Portable);
    }
}
