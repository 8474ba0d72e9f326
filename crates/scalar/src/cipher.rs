//! Block ciphers in CBC mode.

use oarlock_core::{BlockCipher, Direction, EngineFault, ResolvedRecord, Status};

use crate::batch::{RecordBatch, RecordTarget};
use crate::ffi::{AesDecrypt, AesEncrypt, DesKey, TdesKey};
use crate::op_error::OpError;
use crate::prepare::{PrepareKey, prepared_key};

/// Computes every record of the batch in one direction.
pub(crate) fn run(
    alg: BlockCipher,
    direction: Direction,
    batch: RecordBatch<'_, '_>,
) -> Result<(), EngineFault> {
    use BlockCipher::{Aes128, Aes256, Tdes2, Tdes3};
    match (alg, direction) {
        (Aes128 | Aes256, Direction::Encrypt) => batch.each(|r, target| cbc(r, target, AesEncrypt::cbc)),
        (Aes128 | Aes256, Direction::Decrypt) => batch.each(|r, target| cbc(r, target, AesDecrypt::cbc)),
        (BlockCipher::Des, Direction::Encrypt) => batch.each(|r, target| cbc(r, target, DesKey::encrypt_cbc)),
        (BlockCipher::Des, Direction::Decrypt) => batch.each(|r, target| cbc(r, target, DesKey::decrypt_cbc)),
        (Tdes2 | Tdes3, Direction::Encrypt) => batch.each(|r, target| cbc(r, target, TdesKey::encrypt_cbc)),
        (Tdes2 | Tdes3, Direction::Decrypt) => batch.each(|r, target| cbc(r, target, TdesKey::decrypt_cbc)),
        _ => Err(batch.refused()),
    }
}

fn cbc<K: PrepareKey, const N: usize>(
    record: &ResolvedRecord<'_>,
    target: &mut RecordTarget<'_>,
    run: impl Fn(&K, &mut [u8; N], &[u8], &mut [u8]),
) -> Result<(), OpError> {
    let mut own = None;
    let key = prepared_key(record.key, record.key_bytes, &mut own)?;
    let mut chain: [u8; N] = record.iv.try_into().map_err(|_| Status::BadLength)?;
    run(key, &mut chain, record.input, target.place(record.output, record.input.len())?);
    Ok(())
}
