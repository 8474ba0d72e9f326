//! Engines pass the whole suite before anything is built on them, and so do engines behind the dispatcher.

use oarlock::Accelerator;
use oarlock_scalar::ScalarEngine;
use oarlock_vectors::{QueueRunner, official, stamp};

#[test]
fn scalar_passes_the_suite() {
    let scalar = ScalarEngine::detect().unwrap();
    stamp(&scalar, &scalar).assert_clean();
}

#[test]
fn the_accelerator_passes_the_official_cases_with_and_without_its_queue() {
    let accelerator = Accelerator::builder().cost_cache(None).lazy().build().unwrap();
    official::run(&accelerator).assert_clean();
    official::run(&QueueRunner(&accelerator)).assert_clean();
}
