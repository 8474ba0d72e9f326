//! The suite's verifications by the scalar engine as it serves where there are no lanes, by tables; AWS-LC alone is the referee.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use common::Verifying;
use oarlock_core::Engine;
use oarlock_scalar::ScalarEngine;

fn check(engine: ScalarEngine) {
    let engine = Verifying(engine);
    oarlock_vectors::stamp(&engine, &ScalarEngine::detect().unwrap()).assert_clean();
    engine.0.wait_for_tables();
    assert!(engine.0.table_usage().bytes > 0, "no key had a table");
}

#[test]
fn every_key_has_its_table() {
    check(ScalarEngine::detect().unwrap().with_tables_at_once());
}

#[test]
fn tables_come_and_go() {
    check(ScalarEngine::detect().unwrap().with_table_bytes(512 << 10));
    check(ScalarEngine::detect().unwrap().with_table_bytes(512 << 10).with_tables_at_once());
}
