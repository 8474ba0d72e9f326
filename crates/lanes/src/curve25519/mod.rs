//! Ed25519 and X25519 in eight lanes; `docs/math/curve25519.md` has representations, bounds and counts.
//!
//! | module | what it holds |
//! |---|---|
//! | `sign`, `verify`, `x25519` | the three shapes |
//! | `key_table`, `multiples` | [S]B - [h]A with a table of the key, and without |
//! | `comb`, `comb_check` | multiples of known points, by public and by secret digits; whether they are right |
//! | `encoding` | points as bytes, and back |
//! | `point` | the group law |
//! | `scalar` | integers modulo L and their digits |
//! | `field`, `power` | integers modulo p; inversion and square roots |
//! | `words`, `constants` | bytes and limbs; numbers |

mod comb;
mod comb_check;
mod constants;
mod encoding;
mod field;
#[cfg(feature = "measure")]
pub(crate) mod kernels;
mod key_table;
mod multiples;
mod point;
mod power;
mod scalar;
pub(crate) mod sign;
#[cfg(test)]
mod tests;
pub(crate) mod verify;
mod words;
pub(crate) mod x25519;

use std::sync::OnceLock;

use oarlock_core::BatchSize;

use self::comb::{CombColumns, CombRows};
use crate::simd::{LANES, Simd};

/// Eight groups share one inversion, whose chain of squarings waits for itself.
pub(crate) const OFFERED: BatchSize = BatchSize { preferred: LANES, max: 8 * LANES };

/// Multiples of the base point, in the three forms that are looked up: 98, 64 and 512 KiB.
struct BaseTables {
    /// For secret digits: signing, X25519 public keys.
    columns: CombColumns,
    /// For public digits between doublings.
    window: CombRows<{ multiples::BASE_WIDTH }>,
    /// For public digits without doublings.
    comb: CombRows<{ key_table::BASE_WIDTH }>,
}

/// Built by the first unit that needs it; every unit builds the same.
fn base<S: Simd>(simd: S) -> &'static BaseTables {
    static BASE: OnceLock<BaseTables> = OnceLock::new();
    BASE.get_or_init(|| {
        let (columns, window, comb) =
            (CombColumns::base(simd), CombRows::base_window(simd), CombRows::base_comb(simd));
        BaseTables { columns, window, comb }
    })
}
