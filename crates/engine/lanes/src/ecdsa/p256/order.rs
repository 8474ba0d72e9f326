//! The integers modulo n, the order of P-256's base point. SP 800-186 3.2.1.3.

use crate::ecdsa::constants::limbs;
use crate::ecdsa::ring::OddModulus;

/// The order n of P-256.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupOrder;

impl OddModulus<5> for GroupOrder {
    const LIMBS: [u64; 5] = limbs("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
}
