//! The kinds of keys that can be generated.

use std::fmt;
use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use oarlock::keys::generate::SafePrimeProgress;
use oarlock::keys::{KeyError, generate};
use oarlock::{CompositeAlg, Curve, Key, KeyKind, MlDsaSet, MlKemSet, SlhDsaSet};
use oarlock_keytable::KeyType;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GeneratedKind {
    Rsa(u16),
    Ec(Curve),
    Ed25519,
    X25519,
    MlKem(MlKemSet),
    MlDsa(MlDsaSet),
    SlhDsa(SlhDsaSet),
    Composite(CompositeAlg),
    Symmetric(KeyType),
}

static KINDS: LazyLock<Vec<GeneratedKind>> = LazyLock::new(|| {
    let mut kinds = [1024, 2048, 3072, 4096].map(GeneratedKind::Rsa).to_vec();
    kinds.extend(Curve::ALL.map(GeneratedKind::Ec));
    kinds.extend([GeneratedKind::Ed25519, GeneratedKind::X25519]);
    kinds.extend(MlKemSet::ALL.map(GeneratedKind::MlKem));
    kinds.extend(MlDsaSet::ALL.map(GeneratedKind::MlDsa));
    kinds.extend(SlhDsaSet::ALL.map(GeneratedKind::SlhDsa));
    kinds.extend(CompositeAlg::ALL.map(GeneratedKind::Composite));
    kinds.extend(KeyType::ALL.map(GeneratedKind::Symmetric));
    kinds
});

/// The names of the kinds, in their order.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| KINDS.iter().map(ToString::to_string).collect());

/// The length of an HMAC key in bytes, that of SHA-256's output: shorter keys weaken HMAC, longer keys add nothing.
/// RFC 2104 section 3.
const HMAC_LEN: usize = 32;

impl ValueEnum for GeneratedKind {
    fn value_variants<'a>() -> &'a [Self] {
        &KINDS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let at = KINDS.iter().position(|kind| kind == self)?;
        Some(PossibleValue::new(NAMES[at].as_str()).help(self.purpose()))
    }
}

impl GeneratedKind {
    fn purpose(self) -> &'static str {
        match self {
            Self::Rsa(1024) => "RSA, too short to be safe",
            Self::Rsa(_) => "RSA",
            Self::Ec(Curve::P384) => "ECDSA on P-384",
            Self::Ec(_) => "ECDSA on P-256",
            Self::Ed25519 => "Signatures on Curve25519",
            Self::X25519 => "Key agreement on Curve25519",
            Self::MlKem(MlKemSet::MlKem512) => {
                "Post-quantum key encapsulation, with the smallest security margin"
            }
            Self::MlKem(_) => "Post-quantum key encapsulation",
            Self::MlDsa(_) => "Post-quantum signatures",
            Self::SlhDsa(set) if set.standard_name().ends_with('s') => {
                "Hash-based post-quantum signatures, small and slow"
            }
            Self::SlhDsa(_) => "Hash-based post-quantum signatures, larger and faster",
            Self::Composite(_) => "Two signatures of which both must be good",
            Self::Symmetric(KeyType::Des) => "Single DES, symmetric",
            Self::Symmetric(KeyType::Tdes2) => "Triple DES with two keys, symmetric",
            Self::Symmetric(KeyType::Tdes3) => "Triple DES with three keys, symmetric",
            Self::Symmetric(KeyType::Aes128) => "AES of 128 bits, symmetric",
            Self::Symmetric(KeyType::Aes256) => "AES of 256 bits, symmetric",
            Self::Symmetric(KeyType::Aes128Siv) => "AES-SIV with two AES keys of 128 bits, symmetric",
            Self::Symmetric(KeyType::Aes256Siv) => "AES-SIV with two AES keys of 256 bits, symmetric",
            Self::Symmetric(_) => "HMAC, 32 bytes, symmetric",
        }
    }

    /// Returns the type in a file of keys; None for kinds that have a public half.
    pub(super) fn symmetric(self) -> Option<KeyType> {
        match self {
            Self::Symmetric(key_type) => Some(key_type),
            _ => None,
        }
    }

    /// Generates an RSA key of safe primes; None for other kinds. `progress` is called for every candidate.
    pub(super) fn generate_safe(
        self,
        progress: impl FnMut(SafePrimeProgress),
    ) -> Option<Result<Key, KeyError>> {
        match self {
            Self::Rsa(bits) => Some(generate::rsa_safe(bits, progress)),
            _ => None,
        }
    }

    /// True if generating a key is so slow that a spinner is shown.
    pub(super) fn is_slow(self) -> bool {
        match self {
            Self::Rsa(_) => true,
            Self::Composite(alg) => matches!(alg.traditional_kind(), KeyKind::RsaPrivate(_)),
            _ => false,
        }
    }

    /// Generates a key.
    pub(super) fn generate(self) -> Result<Key, KeyError> {
        match self {
            Self::Rsa(bits) => generate::rsa(bits),
            Self::Ec(curve) => generate::ec(curve),
            Self::Ed25519 => generate::ed25519(),
            Self::X25519 => generate::x25519(),
            Self::MlKem(set) => generate::ml_kem(set),
            Self::MlDsa(set) => generate::ml_dsa(set),
            Self::SlhDsa(set) => generate::slh_dsa(set),
            Self::Composite(alg) => generate::composite(alg),
            Self::Symmetric(key_type) => generate::secret(key_type.key_len().unwrap_or(HMAC_LEN)),
        }
    }
}

/// Writes the kind as on the command line.
impl fmt::Display for GeneratedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rsa(bits) => write!(f, "rsa{bits}"),
            Self::Ec(curve) => curve.fmt(f),
            Self::Ed25519 => f.write_str("ed25519"),
            Self::X25519 => f.write_str("x25519"),
            Self::MlKem(set) => set.fmt(f),
            Self::MlDsa(set) => set.fmt(f),
            Self::SlhDsa(set) => set.fmt(f),
            Self::Composite(alg) => alg.fmt(f),
            Self::Symmetric(key_type) => key_type.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::summary;

    #[test]
    fn every_kind_generates_a_key_of_its_name() {
        let is_quick = |kind: &&GeneratedKind| match kind {
            GeneratedKind::Rsa(bits) => *bits < 4096,
            kind => !kind.is_slow(),
        };
        for kind in GeneratedKind::value_variants().iter().filter(is_quick) {
            let key = kind.generate().unwrap();
            assert_eq!(kind.to_possible_value().unwrap().get_name(), kind.to_string());
            match kind.symmetric() {
                None => assert_eq!(summary::kind(key.kind()), kind.to_string()),
                Some(key_type) => {
                    assert_eq!(key_type.to_string(), kind.to_string());
                    let KeyKind::Secret(len) = key.kind() else { panic!("{key:?}") };
                    assert!(key_type.takes_len(len.into()));
                }
            }
        }
    }
}
