//! Random batches, chosen by the fuzzer's bytes.

use std::sync::LazyLock;

use oarlock::Accelerator;
use oarlock_keytable::agreement::{ChoiceSource, RandomBatch};

use crate::Bytes;

/// The largest number of records of a batch. More records need longer inputs and find no other paths.
const MAX_RECORDS: usize = 24;

static SCALAR: LazyLock<Accelerator> = LazyLock::new(|| {
    Accelerator::builder().engines(["scalar"]).lazy().build().expect("the scalar engine is here")
});

impl ChoiceSource for Bytes<'_> {
    fn below(&mut self, bound: usize) -> usize {
        Bytes::below(self, bound)
    }
}

/// Draws a batch and its policies, and compares all paths.
pub fn check_batch(choices: &[u8]) {
    let batch = RandomBatch::draw(&mut Bytes::new(choices), MAX_RECORDS);
    if let Err(difference) = batch.compare_paths(&SCALAR) {
        panic!("{difference}\n{batch:?}");
    }
}
