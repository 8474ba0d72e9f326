//! The parameter sets of ML-KEM (FIPS 203) and ML-DSA (FIPS 204).

use std::fmt;

/// A parameter set of ML-KEM. FIPS 203 section 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum MlKemSet {
    /// ML-KEM-512, security category 1.
    MlKem512,
    /// ML-KEM-768, security category 3.
    MlKem768,
    /// ML-KEM-1024, security category 5.
    MlKem1024,
}

/// A parameter set of ML-DSA. FIPS 204 section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum MlDsaSet {
    /// ML-DSA-44, security category 2.
    MlDsa44,
    /// ML-DSA-65, security category 3.
    MlDsa65,
    /// ML-DSA-87, security category 5.
    MlDsa87,
}

impl MlKemSet {
    /// Every parameter set.
    pub const ALL: [Self; 3] = [Self::MlKem512, Self::MlKem768, Self::MlKem1024];

    /// The number of bytes of the seed d || z of a key. FIPS 203 section 6.1.
    pub const SEED_LEN: usize = 64;

    /// The number of random bytes m of an encapsulation. FIPS 203 section 6.2.
    pub const RANDOM_LEN: usize = 32;

    /// The number of bytes of a shared secret.
    pub const SECRET_LEN: usize = 32;

    /// Returns the number of bytes of an encapsulation key, the public key. FIPS 203 table 3.
    #[must_use]
    pub fn public_len(self) -> usize {
        match self {
            Self::MlKem512 => 800,
            Self::MlKem768 => 1_184,
            Self::MlKem1024 => 1_568,
        }
    }

    /// Returns the number of bytes of a decapsulation key in expanded form. FIPS 203 table 3.
    #[must_use]
    pub fn expanded_len(self) -> usize {
        match self {
            Self::MlKem512 => 1_632,
            Self::MlKem768 => 2_400,
            Self::MlKem1024 => 3_168,
        }
    }

    /// Returns the number of bytes of a ciphertext. FIPS 203 table 3.
    #[must_use]
    pub fn ciphertext_len(self) -> usize {
        match self {
            Self::MlKem512 => 768,
            Self::MlKem768 => 1_088,
            Self::MlKem1024 => 1_568,
        }
    }
}

impl MlDsaSet {
    /// Every parameter set.
    pub const ALL: [Self; 3] = [Self::MlDsa44, Self::MlDsa65, Self::MlDsa87];

    /// The number of bytes of the seed xi of a key. FIPS 204 algorithm 1.
    pub const SEED_LEN: usize = 32;

    /// The number of bytes of the message representative mu. FIPS 204 algorithm 7, step 6.
    pub const MU_LEN: usize = 64;

    /// The maximum number of bytes of a context. FIPS 204 algorithm 2, step 1.
    pub const MAX_CONTEXT_LEN: usize = 255;

    /// Returns the number of bytes of a public key. FIPS 204 table 2.
    #[must_use]
    pub fn public_len(self) -> usize {
        match self {
            Self::MlDsa44 => 1_312,
            Self::MlDsa65 => 1_952,
            Self::MlDsa87 => 2_592,
        }
    }

    /// Returns the number of bytes of a private key in expanded form. FIPS 204 table 2.
    #[must_use]
    pub fn expanded_len(self) -> usize {
        match self {
            Self::MlDsa44 => 2_560,
            Self::MlDsa65 => 4_032,
            Self::MlDsa87 => 4_896,
        }
    }

    /// Returns the number of bytes of a signature. FIPS 204 table 2.
    #[must_use]
    pub fn signature_len(self) -> usize {
        match self {
            Self::MlDsa44 => 2_420,
            Self::MlDsa65 => 3_309,
            Self::MlDsa87 => 4_627,
        }
    }
}

/// Writes short stable names: `ml-kem-768`.
impl fmt::Display for MlKemSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MlKem512 => "ml-kem-512",
            Self::MlKem768 => "ml-kem-768",
            Self::MlKem1024 => "ml-kem-1024",
        })
    }
}

/// Writes short stable names: `ml-dsa-44`.
impl fmt::Display for MlDsaSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MlDsa44 => "ml-dsa-44",
            Self::MlDsa65 => "ml-dsa-65",
            Self::MlDsa87 => "ml-dsa-87",
        })
    }
}
