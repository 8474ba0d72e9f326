//! The whole suite on both leaves, the scalar engine as referee, with tables for keys that recur and without.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use common::Verifying;
use oarlock_core::{Engine, Shape};
use oarlock_lanes::LaneEngine;
use oarlock_scalar::ScalarEngine;

/// The suite grows by itself with what the engine offers.
fn check(engine: &dyn Engine) {
    if Shape::public_key().into_iter().all(|shape| engine.offers(shape).is_none()) {
        return;
    }
    oarlock_vectors::stamp(engine, &ScalarEngine::detect().unwrap()).assert_clean();
}

/// The engine of this processor, where it has what the engine is made of.
fn detected() -> Option<LaneEngine> {
    let engine = LaneEngine::detect();
    if engine.is_none() {
        eprintln!("SKIPPED: this processor has no AVX-512 IFMA");
    }
    engine
}

#[test]
fn this_processor_without_tables() {
    detected().into_iter().for_each(|engine| check(&engine.with_table_bytes(0)));
}

#[test]
fn this_processor_with_tables() {
    let Some(engine) = detected() else { return };
    check(&Verifying(engine.with_tables_at_once()));
    // Tables come and go while the suite runs.
    let narrow = LaneEngine::detect().into_iter().map(|engine| engine.with_table_bytes(512 << 10));
    narrow.for_each(|engine| check(&Verifying(engine)));
}

#[test]
fn the_portable_twin_without_tables() {
    check(&LaneEngine::portable().with_table_bytes(0));
}

#[test]
fn the_portable_twin_with_tables() {
    check(&Verifying(LaneEngine::portable().with_tables_at_once()));
}
