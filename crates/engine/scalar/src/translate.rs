//! Translation: decryption under one key and encryption under another.

use oarlock_core::{BlockCipher, EngineFault};
use zeroize::Zeroizing;

use crate::batch::RecordBatch;
use crate::ffi::{AesDecrypt, AesEncrypt, DesKey, TdesKey};
use crate::prepare::PrepareKey;

/// Computes every record of the batch.
pub(crate) fn run(from: BlockCipher, to: BlockCipher, batch: RecordBatch<'_, '_>) -> Result<(), EngineFault> {
    match from {
        BlockCipher::Aes128 | BlockCipher::Aes256 => run_to(to, batch, AesDecrypt::cbc),
        BlockCipher::Des => run_to(to, batch, DesKey::decrypt_cbc),
        BlockCipher::Tdes2 | BlockCipher::Tdes3 => run_to(to, batch, TdesKey::decrypt_cbc),
        _ => Err(batch.refused()),
    }
}

fn run_to<D: PrepareKey, const M: usize>(
    to: BlockCipher,
    batch: RecordBatch<'_, '_>,
    decrypt: impl CbcFunction<D, M>,
) -> Result<(), EngineFault> {
    // The plaintext exists in this buffer only, which is zeroized when the run ends.
    let mut plain = Zeroizing::new([0; SCRATCH]);
    match to {
        BlockCipher::Aes128 | BlockCipher::Aes256 => translate(batch, &mut plain, decrypt, AesEncrypt::cbc),
        BlockCipher::Des => translate(batch, &mut plain, decrypt, DesKey::encrypt_cbc),
        BlockCipher::Tdes2 | BlockCipher::Tdes3 => {
            translate(batch, &mut plain, decrypt, TdesKey::encrypt_cbc)
        }
        _ => Err(batch.refused()),
    }
}

/// The size of the plaintext buffer: a whole number of blocks of every cipher, and small enough for the stack.
const SCRATCH: usize = 1024;

/// A function that runs CBC over whole blocks under a prepared key and updates the chaining value.
trait CbcFunction<K, const N: usize>: Fn(&K, &mut [u8; N], &[u8], &mut [u8]) {}

impl<K, const N: usize, F: Fn(&K, &mut [u8; N], &[u8], &mut [u8])> CbcFunction<K, N> for F {}

fn translate<D: PrepareKey, E: PrepareKey, const M: usize, const N: usize>(
    batch: RecordBatch<'_, '_>,
    plain: &mut [u8; SCRATCH],
    decrypt: impl CbcFunction<D, M>,
    encrypt: impl CbcFunction<E, N>,
) -> Result<(), EngineFault> {
    batch.each_with_two_keys(|key, second_key, record, target| {
        let (mut chain, mut second_chain) = (*record.start()?, *record.second_start()?);
        let output = target.output_like_input(&record);
        // Both chains are carried across the pieces, so the result does not depend on the size of the buffer.
        for (input, out) in record.input().chunks(SCRATCH).zip(output.chunks_mut(SCRATCH)) {
            let plain = &mut plain[..input.len()];
            decrypt(key, &mut chain, input, plain);
            encrypt(second_key, &mut second_chain, plain, out);
        }
        Ok(())
    })
}
