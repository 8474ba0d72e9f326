//! RSA and plain modular exponentiation, eight keys at a time. Mathematics, bounds and counts: `docs/math/rsa.md`.
//!
//! | module | contents |
//! |---|---|
//! | `private` | `input^d mod n` by the Chinese remainder theorem |
//! | `public` | `input^e mod n` |
//! | `mod_exp` | `input^x mod n` with a secret x and no primes |
//! | `exponent` | powers with a secret exponent |
//! | `factor` | factors of products: a number, a secret entry of a table, or the multiplicand itself |
//! | `streams` | eight moduli each, and values that products and squares under them replace |
//! | `single`, `rows`, `tile` | products of as many limbs as a window has, and of more |
//! | `window` | columns in registers, to which rows of products are added |
//! | `carry` | sums, differences and plain products, with carries |
//! | `convert` | conversion between one number per lane and vectors of limbs |
//! | `memory` | the memory of a run, each number at its offset |
//! | `number` | integers of one key |

mod carry;
mod convert;
mod exponent;
pub(crate) mod factor;
pub(crate) mod memory;
mod mod_exp;
mod number;
mod private;
mod public;
mod rows;
mod single;
pub(crate) mod streams;
mod tile;
mod window;

use oarlock_core::{BatchSize, Outcomes, Shape, Status};

pub(crate) use mod_exp::mod_exp;
pub(crate) use private::private;
pub(crate) use public::public;

use crate::batch::LaneJob;
use crate::simd::{LANES, MulSimd};

/// The longest modulus in bits.
const MAX_BITS: u16 = 4096;

/// The shortest modulus in bits.
const MIN_BITS: u16 = 512;

/// The longest secret exponent in bits. Shoup 2000, section 3.
// The random number of a proof is longer than the share that it hides: docs/math/threshold-rsa.md.
const MAX_EXPONENT_BITS: u16 = 16_384;

/// Returns the batch sizes of `shape`, or None if it is not one of RSA. A run of private operations takes 1 to 4 ms,
/// so that other queues do not wait long: 64 operations up to 2048 bits, 16 up to 3072, 8 above. A long exponent
/// without CRT runs in one group alone.
pub(crate) fn offers(shape: Shape) -> Option<BatchSize> {
    let (bits, max) = match shape {
        // Public operations take microseconds, so 64 of them never hold a worker for long.
        Shape::RsaPublic { bits, .. } => (bits, 64),
        Shape::RsaPrivate { bits } if bits <= 2048 => (bits, 64),
        Shape::RsaPrivate { bits } => (bits, if bits <= 3072 { 16 } else { LANES }),
        // Two groups of 2048 bits with an exponent of 2048 bits take as long as one group of private operations of 4096
        // bits, which has two such powers per key.
        Shape::ModExp { bits, exponent_bits } if (1..=MAX_EXPONENT_BITS).contains(&exponent_bits) => {
            (bits, if u32::from(bits) * u32::from(exponent_bits) <= 1 << 22 { 16 } else { LANES })
        }
        _ => return None,
    };
    (MIN_BITS..=MAX_BITS).contains(&bits).then_some(BatchSize { preferred: LANES, max })
}

/// Checks that an input of the modulus's length is in [0, n-1]. RFC 8017 5.1. The comparison is not constant time:
/// an encoded message begins with a zero byte, so the position of the first difference reveals nothing.
fn check_range(input: &[u8], n: &[u8]) -> Result<(), Status> {
    if input < n { Ok(()) } else { Err(Status::OutOfRange) }
}

/// Writes the results of a group, one number of carried limbs per lane.
fn write_results<S: MulSimd, T>(
    group: &[LaneJob<T>],
    limbs: &[S::V],
    staging: &mut convert::Staging<S>,
    out: &mut Outcomes,
) {
    staging.take(limbs);
    for (lane, job) in group.iter().enumerate() {
        staging.write(lane, out.result_mut(job.index));
        out.set(job.index, Status::Done);
    }
}
