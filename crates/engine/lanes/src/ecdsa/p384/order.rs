//! The integers modulo n, the order of P-384's base point. SP 800-186 3.2.1.4.

use crate::ecdsa::constants::limbs;
use crate::ecdsa::ring::OddModulus;

/// The order n of P-384.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupOrder;

impl OddModulus<8> for GroupOrder {
    const LIMBS: [u64; 8] = limbs(
        "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973",
    );
}
