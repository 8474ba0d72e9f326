//! The kinds of keys that can be generated.

use std::fmt;

use clap::ValueEnum;
use oarlock::Key;
use oarlock::keys::generate::SafePrimeProgress;
use oarlock::keys::{KeyError, generate};
use oarlock::{Curve, MlDsaSet, MlKemSet, SlhDsaSet};
use oarlock_keytable::KeyType;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum GeneratedKind {
    /// RSA, too short to be safe
    Rsa1024,
    /// RSA
    Rsa2048,
    /// RSA
    Rsa3072,
    /// RSA
    Rsa4096,
    /// ECDSA on P-256
    P256,
    /// ECDSA on P-384
    P384,
    /// Signatures on Curve25519
    Ed25519,
    /// Key agreement on Curve25519
    X25519,
    /// Post-quantum key encapsulation, with the smallest security margin
    #[value(name = "ml-kem-512")]
    MlKem512,
    /// Post-quantum key encapsulation
    #[value(name = "ml-kem-768")]
    MlKem768,
    /// Post-quantum key encapsulation
    #[value(name = "ml-kem-1024")]
    MlKem1024,
    /// Post-quantum signatures
    #[value(name = "ml-dsa-44")]
    MlDsa44,
    /// Post-quantum signatures
    #[value(name = "ml-dsa-65")]
    MlDsa65,
    /// Post-quantum signatures
    #[value(name = "ml-dsa-87")]
    MlDsa87,
    /// Hash-based post-quantum signatures, small and slow
    #[value(name = "slh-dsa-sha2-128s")]
    SlhDsaSha2128s,
    /// Hash-based post-quantum signatures, larger and faster
    #[value(name = "slh-dsa-sha2-128f")]
    SlhDsaSha2128f,
    /// Hash-based post-quantum signatures, small and slow
    #[value(name = "slh-dsa-sha2-192s")]
    SlhDsaSha2192s,
    /// Hash-based post-quantum signatures, larger and faster
    #[value(name = "slh-dsa-sha2-192f")]
    SlhDsaSha2192f,
    /// Hash-based post-quantum signatures, small and slow
    #[value(name = "slh-dsa-sha2-256s")]
    SlhDsaSha2256s,
    /// Hash-based post-quantum signatures, larger and faster
    #[value(name = "slh-dsa-sha2-256f")]
    SlhDsaSha2256f,
    /// Hash-based post-quantum signatures, small and slow
    #[value(name = "slh-dsa-shake-128s")]
    SlhDsaShake128s,
    /// Hash-based post-quantum signatures, larger and faster
    #[value(name = "slh-dsa-shake-128f")]
    SlhDsaShake128f,
    /// Hash-based post-quantum signatures, small and slow
    #[value(name = "slh-dsa-shake-192s")]
    SlhDsaShake192s,
    /// Hash-based post-quantum signatures, larger and faster
    #[value(name = "slh-dsa-shake-192f")]
    SlhDsaShake192f,
    /// Hash-based post-quantum signatures, small and slow
    #[value(name = "slh-dsa-shake-256s")]
    SlhDsaShake256s,
    /// Hash-based post-quantum signatures, larger and faster
    #[value(name = "slh-dsa-shake-256f")]
    SlhDsaShake256f,
    /// Single DES, symmetric
    Des,
    /// Triple DES with two keys, symmetric
    Tdes2,
    /// Triple DES with three keys, symmetric
    Tdes3,
    /// AES of 128 bits, symmetric
    Aes128,
    /// AES of 256 bits, symmetric
    Aes256,
    /// HMAC, 32 bytes, symmetric
    Hmac,
    /// AES-SIV with two AES keys of 128 bits, symmetric
    Aes128Siv,
    /// AES-SIV with two AES keys of 256 bits, symmetric
    Aes256Siv,
}

/// The length of an HMAC key in bytes, that of SHA-256's output: shorter keys weaken HMAC, longer keys add nothing.
/// RFC 2104 section 3.
const HMAC_LEN: usize = 32;

impl GeneratedKind {
    /// Returns the type in a file of keys; None for kinds that have a public half.
    pub(super) fn symmetric(self) -> Option<KeyType> {
        Some(match self {
            Self::Des => KeyType::Des,
            Self::Tdes2 => KeyType::Tdes2,
            Self::Tdes3 => KeyType::Tdes3,
            Self::Aes128 => KeyType::Aes128,
            Self::Aes256 => KeyType::Aes256,
            Self::Hmac => KeyType::Hmac,
            Self::Aes128Siv => KeyType::Aes128Siv,
            Self::Aes256Siv => KeyType::Aes256Siv,
            _ => return None,
        })
    }

    /// Returns the length of an RSA key's modulus in bits.
    fn rsa_bits(self) -> Option<u16> {
        match self {
            Self::Rsa1024 => Some(1024),
            Self::Rsa2048 => Some(2048),
            Self::Rsa3072 => Some(3072),
            Self::Rsa4096 => Some(4096),
            _ => None,
        }
    }

    /// Returns the parameter set of an SLH-DSA key.
    fn slh_dsa_set(self) -> Option<SlhDsaSet> {
        Some(match self {
            Self::SlhDsaSha2128s => SlhDsaSet::Sha2_128s,
            Self::SlhDsaSha2128f => SlhDsaSet::Sha2_128f,
            Self::SlhDsaSha2192s => SlhDsaSet::Sha2_192s,
            Self::SlhDsaSha2192f => SlhDsaSet::Sha2_192f,
            Self::SlhDsaSha2256s => SlhDsaSet::Sha2_256s,
            Self::SlhDsaSha2256f => SlhDsaSet::Sha2_256f,
            Self::SlhDsaShake128s => SlhDsaSet::Shake128s,
            Self::SlhDsaShake128f => SlhDsaSet::Shake128f,
            Self::SlhDsaShake192s => SlhDsaSet::Shake192s,
            Self::SlhDsaShake192f => SlhDsaSet::Shake192f,
            Self::SlhDsaShake256s => SlhDsaSet::Shake256s,
            Self::SlhDsaShake256f => SlhDsaSet::Shake256f,
            _ => return None,
        })
    }

    /// Generates an RSA key of safe primes; None for other kinds. `progress` is called for every candidate.
    pub(super) fn generate_safe(
        self,
        progress: impl FnMut(SafePrimeProgress),
    ) -> Option<Result<Key, KeyError>> {
        Some(generate::rsa_safe(self.rsa_bits()?, progress))
    }

    /// True if generating a key is so slow that a spinner is shown.
    pub(super) fn is_slow(self) -> bool {
        self.rsa_bits().is_some()
    }

    /// Generates a key.
    pub(super) fn generate(self) -> Result<Key, KeyError> {
        if let Some(bits) = self.rsa_bits() {
            return generate::rsa(bits);
        }
        if let Some(set) = self.slh_dsa_set() {
            return generate::slh_dsa(set);
        }
        match self {
            Self::P256 => generate::ec(Curve::P256),
            Self::P384 => generate::ec(Curve::P384),
            Self::Ed25519 => generate::ed25519(),
            Self::X25519 => generate::x25519(),
            Self::MlKem512 => generate::ml_kem(MlKemSet::MlKem512),
            Self::MlKem768 => generate::ml_kem(MlKemSet::MlKem768),
            Self::MlKem1024 => generate::ml_kem(MlKemSet::MlKem1024),
            Self::MlDsa44 => generate::ml_dsa(MlDsaSet::MlDsa44),
            Self::MlDsa65 => generate::ml_dsa(MlDsaSet::MlDsa65),
            Self::MlDsa87 => generate::ml_dsa(MlDsaSet::MlDsa87),
            _ => generate::secret(self.symmetric().and_then(KeyType::key_len).unwrap_or(HMAC_LEN)),
        }
    }
}

/// Writes the kind as on the command line.
impl fmt::Display for GeneratedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_possible_value() {
            Some(value) => f.write_str(value.get_name()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use oarlock::KeyKind;

    use super::*;
    use crate::keys::summary;

    #[test]
    fn every_kind_generates_a_key_of_its_name() {
        for kind in GeneratedKind::value_variants().iter().filter(|kind| **kind != GeneratedKind::Rsa4096) {
            let key = kind.generate().unwrap();
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
