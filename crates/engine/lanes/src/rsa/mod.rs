//! RSA and plain modular exponentiation, one key per lane. Mathematics, bounds and counts: `docs/math/rsa.md` and
//! `docs/math/fma.md`.
//!
//! | module | contents |
//! |---|---|
//! | `private` | `input^d mod n` by the Chinese remainder theorem |
//! | `public` | `input^e mod n` |
//! | `mod_exp` | `input^x mod n` with a secret x and no primes |
//! | `exponent` | powers with a secret exponent |
//! | `leaf` | the seam: what RSA needs of the arithmetic of a leaf |
//! | `doubles` | the leaf of four lanes of doubles |
//! | `vectors` | the leaf of eight lanes with products of 52 bits, to which all below belongs |
//! | `factor` | factors of products: a number, a secret entry of a table, or the multiplicand itself |
//! | `streams` | eight moduli each, and values that products and squares under them replace |
//! | `single`, `rows`, `tile` | products of as many limbs as a window has, and of more |
//! | `window` | columns in registers, to which rows of products are added |
//! | `carry` | sums, differences and plain products, with carries |
//! | `convert` | conversion between one number per lane and vectors of limbs |
//!
//! `convert`, `memory` (the memory of a run, each number at its offset) and `number` (integers of one key) serve both
//! leaves.

mod carry;
mod convert;
#[cfg(any(target_arch = "x86_64", test, feature = "portable"))]
mod doubles;
mod exponent;
pub(crate) mod factor;
pub(crate) mod leaf;
pub(crate) mod memory;
mod mod_exp;
mod number;
mod private;
mod public;
mod rows;
mod single;
pub(crate) mod streams;
mod tile;
mod vectors;
mod window;

use oarlock_core::{BatchSize, Outcomes, Shape, Status};

pub(crate) use leaf::RsaLeaf;
pub(crate) use mod_exp::mod_exp;
pub(crate) use private::private;
pub(crate) use public::public;

use crate::batch::LaneJob;

/// The longest modulus in bits.
const MAX_BITS: u16 = 4096;

/// The shortest modulus in bits.
const MIN_BITS: u16 = 512;

/// The longest secret exponent in bits. Shoup 2000, section 3.
// The random number of a proof is longer than the share that it hides: docs/math/threshold-rsa.md.
const MAX_EXPONENT_BITS: u16 = 16_384;

/// Returns the batch sizes of `shape` on a leaf, or None if it is not one of RSA. A run of private operations takes 1
/// to 8 ms, so that other queues do not wait long: as many groups up to 2048 bits as the leaf names, a quarter of them
/// up to 3072, one above. A long exponent without CRT runs in one group alone.
pub(crate) fn offers<L: RsaLeaf<N>, const N: usize>(shape: Shape) -> Option<BatchSize> {
    let (run, quarter) = (L::GROUPS_PER_RUN * N, (L::GROUPS_PER_RUN / 4).max(1) * N);
    let (bits, max) = match shape {
        // Public operations take microseconds, so 64 of them never hold a worker for long.
        Shape::RsaPublic { bits, .. } => (bits, 64),
        Shape::RsaPrivate { bits } if bits <= 2048 => (bits, run),
        Shape::RsaPrivate { bits } => (bits, if bits <= 3072 { quarter } else { N }),
        // Two groups of 2048 bits with an exponent of 2048 bits take as long as one group of private operations of 4096
        // bits, which has two such powers per key.
        Shape::ModExp { bits, exponent_bits } if (1..=MAX_EXPONENT_BITS).contains(&exponent_bits) => {
            (bits, if u32::from(bits) * u32::from(exponent_bits) <= 1 << 22 { quarter } else { N })
        }
        _ => return None,
    };
    (MIN_BITS..=MAX_BITS).contains(&bits).then_some(BatchSize { preferred: N, max })
}

/// Checks that an input of the modulus's length is in [0, n-1]. RFC 8017 5.1. The comparison is not constant time:
/// an encoded message begins with a zero byte, so the position of the first difference reveals nothing.
fn check_range(input: &[u8], n: &[u8]) -> Result<(), Status> {
    if input < n { Ok(()) } else { Err(Status::OutOfRange) }
}

/// Returns `field` of each job of a group of one to `N`. Lanes without a job repeat the last one, whose result is
/// written once.
fn per_lane<T, U, const N: usize>(group: &[LaneJob<T>], field: impl Fn(&T) -> U) -> [U; N] {
    std::array::from_fn(|lane| field(&group[lane.min(group.len() - 1)].job))
}

/// Writes the results of a group, one reduced number per lane.
fn write_results<L: RsaLeaf<N>, T, const N: usize>(
    group: &[LaneJob<T>],
    limbs: &[L::Limb],
    staging: &mut convert::Staging<L, N>,
    out: &mut Outcomes,
) {
    staging.take(limbs);
    for (lane, job) in group.iter().enumerate() {
        staging.write(lane, out.result_mut(job.index));
        out.set(job.index, Status::Done);
    }
}
