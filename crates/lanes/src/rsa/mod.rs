//! RSA and plain modular exponentiation, eight keys at a time. Mathematics, bounds and counts: `docs/math/rsa.md`.
//!
//! | module | what it holds |
//! |---|---|
//! | `private` | `input^d mod n` by the Chinese remainder theorem |
//! | `public` | `input^e mod n` |
//! | `mod_exp` | `input^x mod n` with a secret x and no primes |
//! | `exponent` | powers with a secret exponent |
//! | `factor` | what multiplies: a number, a secret entry of a table, or the multiplicand itself |
//! | `streams` | eight moduli each, and values that products and squares under them replace |
//! | `single`, `rows`, `tile` | products of as many limbs as a window has, and of more |
//! | `window` | columns in registers, to which rows of products are added |
//! | `carry` | sums, differences and plain products, carried |
//! | `convert` | between one number per lane and vectors of limbs |
//! | `memory` | the memory of a run, each number at its place |
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
use crate::simd::{LANES, Simd};

/// Longest modulus in bits.
const MAX_BITS: u16 = 4096;

/// Shortest modulus in bits.
const MIN_BITS: u16 = 512;

/// Longest secret exponent in bits. Shoup 2000, section 3.
const MAX_EXPONENT_BITS: u16 = 16_384;

/// What is offered of `shape`. A run of private operations takes 1 to 4 ms, so that others get their turn: 64 operations up
/// to 2048 bits, 16 up to 3072, 8 above. A long exponent without CRT runs one group alone.
pub(crate) fn offers(shape: Shape) -> Option<BatchSize> {
    let (bits, max) = match shape {
        Shape::RsaPublic { bits, .. } => (bits, 64),
        Shape::RsaPrivate { bits } if bits <= 2048 => (bits, 64),
        Shape::RsaPrivate { bits } => (bits, if bits <= 3072 { 16 } else { LANES }),
        Shape::ModExp { bits, exponent_bits } if (1..=MAX_EXPONENT_BITS).contains(&exponent_bits) => {
            (bits, if u32::from(bits) * u32::from(exponent_bits) <= 1 << 22 { 16 } else { LANES })
        }
        _ => return None,
    };
    (MIN_BITS..=MAX_BITS).contains(&bits).then_some(BatchSize { preferred: LANES, max: max })
}

/// True where an input of the modulus's length is below it. RFC 8017 5.1: representatives lie in [0, n-1]. An encoded
/// message begins with a zero byte, so that where the comparison ends says nothing about it.
fn check_range(input: &[u8], n: &[u8]) -> Result<(), Status> {
    if input < n { Ok(()) } else { Err(Status::OutOfRange) }
}

/// Writes the results of a group, a number of carried limbs per lane.
fn release<S: Simd, T>(
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
