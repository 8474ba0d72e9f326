//! Batches: under any policies, all paths of `KeyTable::run` allow, count and compute the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|choices: &[u8]| oarlock_fuzz::check_batch(choices));
