//! Block ciphers in CBC mode, and AES in CTR mode.

use oarlock_core::{BlockCipher, CipherMode, CipherSpec, Direction, EngineFault};

use crate::batch::RecordBatch;
use crate::ffi::{AesDecrypt, AesEncrypt, DesKey, TdesKey};
use crate::prepare::PrepareKey;

/// Computes every record of the batch in one direction.
pub(crate) fn run(
    CipherSpec { alg, mode }: CipherSpec,
    direction: Direction,
    batch: RecordBatch<'_, '_>,
) -> Result<(), EngineFault> {
    use BlockCipher::{Aes128, Aes256, Tdes2, Tdes3};
    match (alg, direction) {
        // The key stream is the same in both directions.
        (Aes128 | Aes256, _) if mode == CipherMode::Ctr => each(batch, AesEncrypt::ctr),
        _ if mode != CipherMode::Cbc => Err(batch.refused()),
        (Aes128 | Aes256, Direction::Encrypt) => each(batch, AesEncrypt::cbc),
        (Aes128 | Aes256, Direction::Decrypt) => each(batch, AesDecrypt::cbc),
        (BlockCipher::Des, Direction::Encrypt) => each(batch, DesKey::encrypt_cbc),
        (BlockCipher::Des, Direction::Decrypt) => each(batch, DesKey::decrypt_cbc),
        (Tdes2 | Tdes3, Direction::Encrypt) => each(batch, TdesKey::encrypt_cbc),
        (Tdes2 | Tdes3, Direction::Decrypt) => each(batch, TdesKey::decrypt_cbc),
        _ => Err(batch.refused()),
    }
}

fn each<K: PrepareKey, const N: usize>(
    batch: RecordBatch<'_, '_>,
    run: impl Fn(&K, &mut [u8; N], &[u8], &mut [u8]),
) -> Result<(), EngineFault> {
    batch.each_with_key(
        #[inline(always)]
        |key, record, target| {
            let mut chain = *record.start()?;
            run(key, &mut chain, record.input(), target.output_like_input(&record));
            Ok(())
        },
    )
}
