//! FF1 over the numerals of a record. NIST SP 800-38G.

use oarlock_core::{Direction, EngineFault, Ff1Radix, Status};
use oarlock_engine_kit::ff1::{self, Ff1Sizes};

use crate::batch::RecordBatch;
use crate::ffi::AesEncrypt;

/// Computes every record of the batch. All key sizes share this code, because AWS-LC reads the size from the key.
pub(crate) fn run(direction: Direction, batch: RecordBatch<'_, '_>) -> Result<(), EngineFault> {
    batch.each_with_key(|key: &AesEncrypt, record, target| {
        let radix = Ff1Radix::from_iv(record.iv()).ok_or(Status::BadLength)?;
        let sizes =
            Ff1Sizes::new(radix, record.input().len(), record.aad().len()).ok_or(Status::BadLength)?;
        let output = target.output_like_input(&record);
        ff1::crypt(&sizes, direction, record.aad(), record.input(), output, |block| key.block(block))?;
        Ok(())
    })
}
