//! AES of many records side by side: CBC both ways, GCM both ways, CMAC, with VAES.
//!
//! | module | what it holds |
//! |---|---|
//! | `run` | from columns of records to kernels and back |
//! | `kernel` | what each shape takes of a record |
//! | `keys` | prepared keys of records |
//! | `schedule` | round keys |
//! | `rounds` | the cipher on eight places side by side; `one_block` does one block |
//! | `chain` | CBC encryption and CBC-MACs: a record per place |
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

/// A place takes the next record as soon as it is done, so that larger runs only spread what a run costs.
const OFFER: BatchSize = BatchSize { preferred: rounds::PLACES, max: 1 << 16 };

/// What is computed of a shape, where it is one of these.
pub(crate) fn offers(shape: Shape) -> Option<BatchSize> {
    let is_one = match shape {
        Shape::Cipher { alg, .. } => matches!(alg, BlockCipher::Aes128 | BlockCipher::Aes256),
        Shape::Mac { alg } => matches!(alg, MacAlg::Aes128Cmac | MacAlg::Aes256Cmac),
        shape => matches!(shape, Shape::Aead { .. }),
    };
    is_one.then_some(OFFER)
}
