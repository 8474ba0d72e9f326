//! AES of many records side by side with VAES: CBC, GCM and CMAC.
//!
//! | module | contents |
//! |---|---|
//! | `run` | the path from columns of records to kernels and back |
//! | `kernel` | the kernel of each shape |
//! | `keys` | prepared keys of records |
//! | `schedule` | round keys |
//! | `rounds` | the cipher on eight vectors side by side; `one_block` does one block |
//! | `chain` | CBC encryption and CBC-MACs: a record per vector |
//! | `cbc` | CBC decryption: pieces of any records |
//! | `cmac` | subkeys and last blocks of CMAC |
//! | `gcm`, `ghash` | GCM: counters and hash together |

mod cbc;
mod chain;
mod cmac;
mod gcm;
mod ghash;
mod kernel;
mod keys;
mod one_block;
mod rounds;
mod run;
mod schedule;

use oarlock_core::{BatchSize, BlockCipher, MacAlg, Shape};

pub(crate) use run::run;

/// Eight records fill the slots, which refill one by one. Larger runs only spread the fixed cost of a run.
const OFFER: BatchSize = BatchSize { preferred: rounds::PLACES, max: 1 << 16 };

/// Returns the batch sizes of a shape, or None if it is not one of AES.
pub(crate) fn offers(shape: Shape) -> Option<BatchSize> {
    let is_one = match shape {
        Shape::Cipher { alg, .. } => matches!(alg, BlockCipher::Aes128 | BlockCipher::Aes256),
        Shape::Mac { alg } => matches!(alg, MacAlg::Aes128Cmac | MacAlg::Aes256Cmac),
        shape => matches!(shape, Shape::Aead { .. }),
    };
    is_one.then_some(OFFER)
}
