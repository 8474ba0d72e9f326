//! Block ciphers in CBC mode.

use oarlock_core::{BlockCipher, Direction, EngineFault, ResolvedRecord, Status};

use crate::batch::{Batch, Target};
use crate::ffi::{AesDecrypt, AesEncrypt, Des, Tdes};
use crate::op_error::OpError;
use crate::prepare::{Prepare, prepared};

/// Computes every record of the batch in one direction.
pub(crate) fn run(alg: BlockCipher, direction: Direction, batch: Batch<'_, '_>) -> Result<(), EngineFault> {
    use BlockCipher::{Aes128, Aes256, Tdes2, Tdes3};
    match (alg, direction) {
        (Aes128 | Aes256, Direction::Encrypt) => batch.each(|r, target| cbc(r, target, AesEncrypt::cbc)),
        (Aes128 | Aes256, Direction::Decrypt) => batch.each(|r, target| cbc(r, target, AesDecrypt::cbc)),
        (BlockCipher::Des, Direction::Encrypt) => batch.each(|r, target| cbc(r, target, Des::encrypt_cbc)),
        (BlockCipher::Des, Direction::Decrypt) => batch.each(|r, target| cbc(r, target, Des::decrypt_cbc)),
        (Tdes2 | Tdes3, Direction::Encrypt) => batch.each(|r, target| cbc(r, target, Tdes::encrypt_cbc)),
        (Tdes2 | Tdes3, Direction::Decrypt) => batch.each(|r, target| cbc(r, target, Tdes::decrypt_cbc)),
        _ => Err(batch.refused()),
    }
}

fn cbc<K: Prepare, const N: usize>(
    record: &ResolvedRecord<'_>,
    target: &mut Target<'_>,
    run: impl Fn(&K, &mut [u8; N], &[u8], &mut [u8]),
) -> Result<(), OpError> {
    let mut own = None;
    let key = prepared(record.key, record.key_bytes, &mut own)?;
    let mut chain: [u8; N] = record.iv.try_into().map_err(|_| Status::BadLength)?;
    run(key, &mut chain, record.input, target.place(record.output, record.input.len())?);
    Ok(())
}
