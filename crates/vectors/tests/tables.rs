//! The whole suite on the scalar engine as it serves where there are no lanes, verifying by tables; AWS-LC alone is the referee.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use oarlock_core::Engine;
use oarlock_scalar::Scalar;

#[test]
fn every_key_has_its_table() {
    let scalar = Scalar::detect().unwrap();
    let engine = scalar.clone().with_tables_at_once();
    oarlock_vectors::stamp(&engine, &scalar).assert_clean();
    assert!(engine.prepared().bytes > 0);
}

#[test]
fn tables_come_and_go() {
    let scalar = Scalar::detect().unwrap();
    oarlock_vectors::stamp(&scalar.clone().with_table_bytes(512 << 10), &scalar).assert_clean();
}
