//! The sizes that OpenSSL asks of keys.

use oarlock::{Curve, KeyKind};

use super::name;
use crate::ffi::libcrypto::params::ParamWriter;

/// The sizes of keys of one kind.
pub(super) struct KeySizes {
    bits: i64,
    security_bits: i64,
    /// The maximum output of an operation, in bytes.
    max_len: i64,
}

impl KeySizes {
    pub(super) fn of_kind(kind: KeyKind) -> Self {
        let (bits, security_bits, max_len) = match kind {
            KeyKind::RsaPrivate(bits) | KeyKind::RsaPublic(bits) => {
                (bits.into(), rsa_security_bits(bits), i64::from(bits.div_ceil(8)))
            }
            KeyKind::EcPrivate(Curve::P384) | KeyKind::EcPublic(Curve::P384) => (384, 192, 104),
            KeyKind::EcPrivate(_) | KeyKind::EcPublic(_) => (256, 128, 72),
            KeyKind::Ed25519Private | KeyKind::Ed25519Public => (256, 128, 64),
            _ => (253, 128, 32),
        };
        Self { bits, security_bits, max_len }
    }

    /// Writes the sizes that are asked for. False if a buffer is too small.
    pub(super) fn describe(&self, wanted: &mut ParamWriter<'_>) -> bool {
        wanted.number(name::BITS, self.bits)
            & wanted.number(name::SECURITY_BITS, self.security_bits)
            & wanted.number(name::MAX_SIZE, self.max_len)
    }
}

/// Returns the security strength of NIST SP 800-57 part 1, table 2.
fn rsa_security_bits(bits: u16) -> i64 {
    match bits {
        ..1024 => 0,
        1024..2048 => 80,
        2048..3072 => 112,
        3072..7680 => 128,
        _ => 192,
    }
}
