//! AES of many records side by side: CBC, CTR, GCM, GCM-SIV, SIV, CMAC and FF1.
//!
//! | module | contents |
//! |---|---|
//! | `run` | the path from columns of records to kernels and back |
//! | `kernel` | the kernel of each shape |
//! | `fields` | the fields of records that kernels read |
//! | `keys` | prepared keys of records |
//! | `schedule` | round keys |
//! | `rounds` | the cipher on blocks side by side; `one_block` does one block |
//! | `chunk` | records in chunks, which are read first and then computed |
//! | `chain` | CBC encryption and CBC-MACs: a block of each of eight records; `chained` is such a record |
//! | `wide` | the same for long records of equal length: a block of each of sixteen records, four in a register |
//! | `cbc` | CBC decryption: pieces of any records |
//! | `ctr` | counter mode: pieces of any records |
//! | `cmac` | subkeys and last blocks of CMAC |
//! | `ff1`, `half` | FF1: a block of each of eight records, and the arithmetic of its halves |
//! | `gcm`, `ghash` | GCM: counters and hash together |
//! | `gcm_siv` | GCM-SIV: a block of each of four records in a register |
//! | `siv` | SIV: passes of MACs and of key streams over a chunk of records |
//! | `joined` | round keys of four records side by side |
//! | `tag` | the tags of records that are sealed or opened |

mod cbc;
mod chain;
mod chained;
mod chunk;
mod cmac;
mod ctr;
mod ff1;
mod fields;
mod gcm;
mod gcm_siv;
mod ghash;
mod half;
mod joined;
mod kernel;
mod keys;
mod one_block;
mod rounds;
mod run;
mod schedule;
mod siv;
mod tag;
mod wide;

use oarlock_core::{AeadAlg, BatchSize, BlockCipher, FpeAlg, MacAlg, Shape};

pub(crate) use run::{crypt, run};

/// Eight records fill the slots, which refill one by one. Larger runs only spread the fixed cost of a run.
const OFFER: BatchSize = BatchSize { preferred: chain::PLACES, max: 1 << 16 };

/// Returns the batch sizes of a shape, or None if it is not one of AES.
pub(crate) fn offers(shape: Shape) -> Option<BatchSize> {
    let is_one = match shape {
        Shape::Cipher { alg, .. } => matches!(alg, BlockCipher::Aes128 | BlockCipher::Aes256),
        Shape::Mac { alg } => matches!(alg, MacAlg::Aes128Cmac | MacAlg::Aes256Cmac),
        Shape::Aead { alg, .. } => matches!(
            alg,
            AeadAlg::Aes128Gcm
                | AeadAlg::Aes256Gcm
                | AeadAlg::Aes128GcmSiv
                | AeadAlg::Aes256GcmSiv
                | AeadAlg::Aes128Siv
                | AeadAlg::Aes256Siv
        ),
        Shape::Fpe { alg, .. } => matches!(alg, FpeAlg::Aes128Ff1 | FpeAlg::Aes256Ff1),
        _ => false,
    };
    is_one.then_some(OFFER)
}
