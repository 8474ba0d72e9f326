//! The whole suite on both leaves, with and without verification tables. The scalar engine is the referee.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use common::VerificationOnly;
use oarlock_core::{Engine, Shape};
use oarlock_lanes::LaneEngine;
use oarlock_scalar::ScalarEngine;

/// Runs the suite on all shapes that the engine offers.
fn check(engine: &dyn Engine) {
    if Shape::public_key().into_iter().all(|shape| engine.offers(shape).is_none()) {
        return;
    }
    oarlock_vectors::stamp(engine, &ScalarEngine::detect().unwrap()).assert_clean();
}

/// Returns the engine of this processor, or None if it lacks AVX-512 IFMA.
fn detected() -> Option<LaneEngine> {
    let engine = LaneEngine::detect();
    if engine.is_none() {
        eprintln!("SKIPPED: this processor has no AVX-512 IFMA");
    }
    engine
}

#[test]
fn the_leaf_of_this_processor_passes_without_tables() {
    detected().into_iter().for_each(|engine| check(&engine.with_table_bytes(0)));
}

#[test]
fn the_leaf_of_this_processor_passes_with_tables() {
    let Some(engine) = detected() else { return };
    check(&VerificationOnly(engine.with_tables_at_once()));
    // Tables come and go while the suite runs.
    let narrow = LaneEngine::detect().into_iter().map(|engine| engine.with_table_bytes(512 << 10));
    narrow.for_each(|engine| check(&VerificationOnly(engine)));
}

#[test]
fn the_portable_leaf_passes_without_tables() {
    check(&LaneEngine::portable().with_table_bytes(0));
}

#[test]
fn the_portable_leaf_passes_with_tables() {
    check(&VerificationOnly(LaneEngine::portable().with_tables_at_once()));
}
