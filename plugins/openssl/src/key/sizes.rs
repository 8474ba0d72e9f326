//! The sizes that OpenSSL asks of keys.

use oarlock::{Curve, KeyKind, MlDsaSet, MlKemSet, SlhDsaSet};

use super::name;
use crate::ffi::libcrypto::params::ParamWriter;

/// The sizes of keys of one kind.
pub(super) struct KeySizes {
    bits: i64,
    security_bits: i64,
    /// The maximum output of an operation, in bytes.
    max_len: i64,
    /// The category of NIST, which ML-KEM, ML-DSA and SLH-DSA have. FIPS 203 section 8, FIPS 204 section 4, FIPS 205
    /// section 11.
    category: Option<i64>,
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
            KeyKind::MlKemPrivate(set) | KeyKind::MlKemPublic(set) => return Self::of_ml_kem(set),
            KeyKind::MlDsaPrivate(set) | KeyKind::MlDsaPublic(set) => return Self::of_ml_dsa(set),
            KeyKind::SlhDsaPrivate(set) | KeyKind::SlhDsaPublic(set) => return Self::of_slh_dsa(set),
            _ => (253, 128, 32),
        };
        Self { bits, security_bits, max_len, category: None }
    }

    fn of_ml_kem(set: MlKemSet) -> Self {
        let (bits, security_bits, category) = match set {
            MlKemSet::MlKem512 => (512, 128, 1),
            MlKemSet::MlKem768 => (768, 192, 3),
            _ => (1024, 256, 5),
        };
        Self { bits, security_bits, max_len: number(set.ciphertext_len()), category: Some(category) }
    }

    fn of_ml_dsa(set: MlDsaSet) -> Self {
        let (security_bits, category) = match set {
            MlDsaSet::MlDsa44 => (128, 2),
            MlDsaSet::MlDsa65 => (192, 3),
            _ => (256, 5),
        };
        let (bits, max_len) = (8 * number(set.public_len()), number(set.signature_len()));
        Self { bits, security_bits, max_len, category: Some(category) }
    }

    fn of_slh_dsa(set: SlhDsaSet) -> Self {
        Self {
            bits: 8 * number(set.public_len()),
            security_bits: 8 * number(set.n()),
            max_len: number(set.signature_len()),
            category: Some(set.category().into()),
        }
    }

    /// Writes the sizes that are asked for. False if a buffer is too small.
    pub(super) fn describe(&self, wanted: &mut ParamWriter<'_>) -> bool {
        wanted.number(name::BITS, self.bits)
            & wanted.number(name::SECURITY_BITS, self.security_bits)
            & wanted.number(name::MAX_SIZE, self.max_len)
            & self.category.is_none_or(|category| wanted.number(name::SECURITY_CATEGORY, category))
    }
}

fn number(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
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
