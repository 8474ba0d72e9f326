//! AES key wrap. RFC 3394 and RFC 5649.

use oarlock_core::{Direction, EngineFault, ResolvedRecord, Status, WrapAlg};
use zeroize::Zeroize;

use crate::batch::{RecordBatch, RecordTarget};
use crate::ffi::{AesDecrypt, AesEncrypt};
use crate::op_error::OpError;
use crate::prepare::prepared_key;

/// Wraps or unwraps every record of the batch.
pub(crate) fn run(alg: WrapAlg, direction: Direction, batch: RecordBatch<'_, '_>) -> Result<(), EngineFault> {
    match (alg, direction) {
        (WrapAlg::Aes128Kw | WrapAlg::Aes256Kw, Direction::Encrypt) => batch.each(wrap),
        (WrapAlg::Aes128Kw | WrapAlg::Aes256Kw, Direction::Decrypt) => batch.each(unwrap),
        (WrapAlg::Aes128Kwp | WrapAlg::Aes256Kwp, Direction::Encrypt) => batch.each(wrap_padded),
        (WrapAlg::Aes128Kwp | WrapAlg::Aes256Kwp, Direction::Decrypt) => batch.each(unwrap_padded),
        _ => Err(batch.refused()),
    }
}

fn wrap(record: &ResolvedRecord<'_>, target: &mut RecordTarget<'_>) -> Result<(), OpError> {
    let mut own = None;
    let key = prepared_key::<AesEncrypt>(record.key, record.key_bytes, &mut own)?;
    let place = target.place(record.output, record.input.len() + 8)?;
    key.wrap(record.input, place).map_err(OpError::from_length_error)
}

fn wrap_padded(record: &ResolvedRecord<'_>, target: &mut RecordTarget<'_>) -> Result<(), OpError> {
    let mut own = None;
    let key = prepared_key::<AesEncrypt>(record.key, record.key_bytes, &mut own)?;
    let place = target.place(record.output, record.input.len().next_multiple_of(8) + 8)?;
    key.wrap_padded(record.input, place).map_err(OpError::from_length_error)
}

fn unwrap(record: &ResolvedRecord<'_>, target: &mut RecordTarget<'_>) -> Result<(), OpError> {
    let mut own = None;
    let key = prepared_key::<AesDecrypt>(record.key, record.key_bytes, &mut own)?;
    let place = target.place(record.output, unwrapped_len(record)?)?;
    if key.unwrap(record.input, place) { Ok(()) } else { Err(Status::Rejected.into()) }
}

fn unwrap_padded(record: &ResolvedRecord<'_>, target: &mut RecordTarget<'_>) -> Result<(), OpError> {
    let mut own = None;
    let key = prepared_key::<AesDecrypt>(record.key, record.key_bytes, &mut own)?;
    let place = target.place(record.output, unwrapped_len(record)?)?;
    let len = key.unwrap_padded(record.input, place).ok_or(Status::Rejected)?;
    // The output is longer than the secret. The bytes behind the secret are defined as zero.
    place[len..].zeroize();
    target.shorten(record.output, len)
}

fn unwrapped_len(record: &ResolvedRecord<'_>) -> Result<usize, Status> {
    record.input.len().checked_sub(8).ok_or(Status::BadLength)
}
