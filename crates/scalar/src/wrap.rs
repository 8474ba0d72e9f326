//! AES key wrap. RFC 3394 and RFC 5649.

use oarlock_core::{Direction, EngineFault, ResolvedRecord, Status, WrapAlg};
use zeroize::Zeroize;

use crate::batch::{Batch, Target};
use crate::ffi::{AesDecrypt, AesEncrypt};
use crate::op_error::OpError;
use crate::prepare::prepared;

/// Wraps or unwraps every record of the batch.
pub(crate) fn run(alg: WrapAlg, direction: Direction, batch: Batch<'_, '_>) -> Result<(), EngineFault> {
    match (alg, direction) {
        (WrapAlg::Aes128Kw | WrapAlg::Aes256Kw, Direction::Encrypt) => batch.each(wrap),
        (WrapAlg::Aes128Kw | WrapAlg::Aes256Kw, Direction::Decrypt) => batch.each(unwrap),
        (WrapAlg::Aes128Kwp | WrapAlg::Aes256Kwp, Direction::Encrypt) => batch.each(wrap_padded),
        (WrapAlg::Aes128Kwp | WrapAlg::Aes256Kwp, Direction::Decrypt) => batch.each(unwrap_padded),
        _ => Err(batch.refused()),
    }
}

fn wrap(record: &ResolvedRecord<'_>, target: &mut Target<'_>) -> Result<(), OpError> {
    let mut own = None;
    let key = prepared::<AesEncrypt>(record.key, record.key_bytes, &mut own)?;
    let place = target.place(record.output, record.input.len() + 8)?;
    key.wrap(record.input, place).map_err(OpError::of_length)
}

fn wrap_padded(record: &ResolvedRecord<'_>, target: &mut Target<'_>) -> Result<(), OpError> {
    let mut own = None;
    let key = prepared::<AesEncrypt>(record.key, record.key_bytes, &mut own)?;
    let place = target.place(record.output, record.input.len().next_multiple_of(8) + 8)?;
    key.wrap_padded(record.input, place).map_err(OpError::of_length)
}

fn unwrap(record: &ResolvedRecord<'_>, target: &mut Target<'_>) -> Result<(), OpError> {
    let mut own = None;
    let key = prepared::<AesDecrypt>(record.key, record.key_bytes, &mut own)?;
    let place = target.place(record.output, unwrapped_len(record)?)?;
    if key.unwrap(record.input, place) { Ok(()) } else { Err(Status::Rejected.into()) }
}

fn unwrap_padded(record: &ResolvedRecord<'_>, target: &mut Target<'_>) -> Result<(), OpError> {
    let mut own = None;
    let key = prepared::<AesDecrypt>(record.key, record.key_bytes, &mut own)?;
    let place = target.place(record.output, unwrapped_len(record)?)?;
    let len = key.unwrap_padded(record.input, place).ok_or(Status::Rejected)?;
    place[len..].zeroize();
    target.shorten(record.output, len)
}

fn unwrapped_len(record: &ResolvedRecord<'_>) -> Result<usize, Status> {
    record.input.len().checked_sub(8).ok_or(Status::BadLength)
}
