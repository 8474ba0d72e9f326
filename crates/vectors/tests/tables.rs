//! The suite's verifications by the scalar engine as it serves where there are no lanes, by tables; AWS-LC alone is the
//! referee.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use common::Verifying;
use oarlock_core::Engine;
use oarlock_scalar::Scalar;

fn check(engine: Scalar) {
    let engine = Verifying(engine);
    oarlock_vectors::stamp(&engine, &Scalar::detect().unwrap()).assert_clean();
    engine.0.settle();
    assert!(engine.0.prepared().bytes > 0, "no key had a table");
}

#[test]
fn every_key_has_its_table() {
    check(Scalar::detect().unwrap().with_tables_at_once());
}

#[test]
fn tables_come_and_go() {
    check(Scalar::detect().unwrap().with_table_bytes(512 << 10));
    check(Scalar::detect().unwrap().with_table_bytes(512 << 10).with_tables_at_once());
}
