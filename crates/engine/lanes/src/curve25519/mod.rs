//! Ed25519 and X25519 in eight lanes; `docs/math/curve25519.md` has representations, bounds and counts.
//!
//! | module | contents |
//! |---|---|
//! | `sign`, `verify`, `x25519` | the three shapes |
//! | `key_table`, `multiples` | `[S]B - [h]A` with a table of the key, and without |
//! | `comb`, `comb_check` | multiples of known points, by public and by secret digits, and their check |
//! | `encoding` | points as bytes, and back |
//! | `point` | the group law |
//! | `scalar` | integers modulo L and their digits |
//! | `field`, `power` | integers modulo p, inversion and square roots |
//! | `words`, `constants` | bytes and limbs, and constants |

mod comb;
mod comb_check;
mod constants;
mod encoding;
pub(crate) mod field;
#[cfg(feature = "measure")]
pub(crate) mod kernels;
mod key_table;
mod multiples;
mod point;
mod power;
pub(crate) mod scalar;
pub(crate) mod sign;
#[cfg(test)]
mod tests;
pub(crate) mod verify;
pub(crate) mod words;
pub(crate) mod x25519;

use oarlock_core::{BatchSize, ForkSafeCell};

use self::comb::{CombColumns, CombRows};
use self::field::FieldSimd;
use crate::simd::LANES;

/// Eight groups fill one inversion, whose chain of squarings otherwise waits for itself.
pub(crate) const OFFERED: BatchSize = BatchSize { preferred: LANES, max: 8 * LANES };

/// The multiples of the base point in three forms: 98, 64 and 512 KiB.
struct BaseTables {
    /// The table for secret digits: signing, X25519 public keys.
    columns: CombColumns,
    /// The table for public digits between doublings.
    window: CombRows<{ multiples::BASE_WIDTH }>,
    /// The table for public digits without doublings.
    comb: CombRows<{ key_table::BASE_WIDTH }>,
}

/// Returns the tables, which the first caller builds. Every leaf builds the same tables.
fn base<S: FieldSimd>(simd: S) -> &'static BaseTables {
    // Tables are plain words, so they do not depend on the leaf and one static serves all.
    static BASE: ForkSafeCell<BaseTables> = ForkSafeCell::new();
    BASE.get_or_make(|| {
        let (columns, window, comb) =
            (CombColumns::base(simd), CombRows::base_window(simd), CombRows::base_comb(simd));
        BaseTables { columns, window, comb }
    })
}
