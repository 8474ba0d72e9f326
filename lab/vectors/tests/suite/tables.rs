//! The suite's verifications on the scalar engine with verification tables, as it serves without lanes. AWS-LC alone is
//! the referee.

use oarlock_core::Engine;
use oarlock_scalar::ScalarEngine;

use crate::common::VerificationOnly;

fn check(engine: ScalarEngine) {
    let engine = VerificationOnly(engine);
    oarlock_vectors::stamp(&engine, &ScalarEngine::detect().unwrap()).assert_clean();
    engine.0.wait_for_tables();
    assert!(engine.0.table_usage().bytes > 0, "no key had a table");
}

#[test]
fn verifies_with_a_table_for_every_key() {
    check(ScalarEngine::detect().unwrap().with_tables_at_once());
}

#[test]
fn verifies_while_tables_are_evicted_and_rebuilt() {
    check(ScalarEngine::detect().unwrap().with_table_bytes(512 << 10));
    check(ScalarEngine::detect().unwrap().with_table_bytes(512 << 10).with_tables_at_once());
}
