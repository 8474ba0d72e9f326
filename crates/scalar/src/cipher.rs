//! Block ciphers in CBC mode.

use oarlock_core::{BlockCipher, Direction, EngineFault};

use crate::batch::RecordBatch;
use crate::ffi::{AesDecrypt, AesEncrypt, DesKey, TdesKey};
use crate::prepare::PrepareKey;

/// Computes every record of the batch in one direction.
pub(crate) fn run(
    alg: BlockCipher,
    direction: Direction,
    batch: RecordBatch<'_, '_>,
) -> Result<(), EngineFault> {
    use BlockCipher::{Aes128, Aes256, Tdes2, Tdes3};
    match (alg, direction) {
        (Aes128 | Aes256, Direction::Encrypt) => cbc(batch, AesEncrypt::cbc),
        (Aes128 | Aes256, Direction::Decrypt) => cbc(batch, AesDecrypt::cbc),
        (BlockCipher::Des, Direction::Encrypt) => cbc(batch, DesKey::encrypt_cbc),
        (BlockCipher::Des, Direction::Decrypt) => cbc(batch, DesKey::decrypt_cbc),
        (Tdes2 | Tdes3, Direction::Encrypt) => cbc(batch, TdesKey::encrypt_cbc),
        (Tdes2 | Tdes3, Direction::Decrypt) => cbc(batch, TdesKey::decrypt_cbc),
        _ => Err(batch.refused()),
    }
}

fn cbc<K: PrepareKey, const N: usize>(
    batch: RecordBatch<'_, '_>,
    run: impl Fn(&K, &mut [u8; N], &[u8], &mut [u8]),
) -> Result<(), EngineFault> {
    batch.each_with_key(
        #[inline(always)]
        |key, record, target| {
            let mut chain = *record.start()?;
            run(key, &mut chain, record.input(), target.place_like_input(&record));
            Ok(())
        },
    )
}
