//! AES key wrap. RFC 3394 and RFC 5649.

use oarlock_core::{Direction, EngineFault, Status, WrapAlg};
use zeroize::Zeroize;

use crate::batch::{AcceptedRecord, RecordBatch, RecordTarget};
use crate::ffi::{AesDecrypt, AesEncrypt};
use crate::op_error::OpError;

/// Wraps or unwraps every record of the batch.
pub(crate) fn run(alg: WrapAlg, direction: Direction, batch: RecordBatch<'_, '_>) -> Result<(), EngineFault> {
    match (alg, direction) {
        (WrapAlg::Aes128Kw | WrapAlg::Aes256Kw, Direction::Encrypt) => batch.each_with_key(wrap),
        (WrapAlg::Aes128Kw | WrapAlg::Aes256Kw, Direction::Decrypt) => batch.each_with_key(unwrap),
        (WrapAlg::Aes128Kwp | WrapAlg::Aes256Kwp, Direction::Encrypt) => batch.each_with_key(wrap_padded),
        (WrapAlg::Aes128Kwp | WrapAlg::Aes256Kwp, Direction::Decrypt) => batch.each_with_key(unwrap_padded),
        _ => Err(batch.refused()),
    }
}

fn wrap(key: &AesEncrypt, record: AcceptedRecord<'_>, target: &mut RecordTarget<'_>) -> Result<(), OpError> {
    let output = target.output(record.output(), record.input().len() + 8)?;
    key.wrap(record.input(), output).map_err(OpError::from_length_error)
}

fn wrap_padded(
    key: &AesEncrypt,
    record: AcceptedRecord<'_>,
    target: &mut RecordTarget<'_>,
) -> Result<(), OpError> {
    let output = target.output(record.output(), record.input().len().next_multiple_of(8) + 8)?;
    key.wrap_padded(record.input(), output).map_err(OpError::from_length_error)
}

fn unwrap(
    key: &AesDecrypt,
    record: AcceptedRecord<'_>,
    target: &mut RecordTarget<'_>,
) -> Result<(), OpError> {
    let output = target.output(record.output(), unwrapped_len(&record)?)?;
    if key.unwrap(record.input(), output) { Ok(()) } else { Err(Status::Rejected.into()) }
}

fn unwrap_padded(
    key: &AesDecrypt,
    record: AcceptedRecord<'_>,
    target: &mut RecordTarget<'_>,
) -> Result<(), OpError> {
    let output = target.output(record.output(), unwrapped_len(&record)?)?;
    let len = key.unwrap_padded(record.input(), output).ok_or(Status::Rejected)?;
    // The output is longer than the secret. The bytes behind the secret are defined as zero.
    output[len..].zeroize();
    target.shorten(record.output(), len)
}

fn unwrapped_len(record: &AcceptedRecord<'_>) -> Result<usize, Status> {
    record.input().len().checked_sub(8).ok_or(Status::BadLength)
}
