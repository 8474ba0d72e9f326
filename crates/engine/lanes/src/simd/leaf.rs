//! The names of the leaves.

/// A group of instructions for which kernels of this crate are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Leaf {
    /// AVX-512 with IFMA: public keys, ML-KEM, DES and hashes.
    Avx512,
    /// VAES and VPCLMULQDQ on 512 bits: AES.
    Vaes512,
    /// AVX2 with FMA: public keys, by products of doubles.
    Fma,
    /// AVX2: ML-KEM, DES and hashes.
    Avx2,
    /// VAES and VPCLMULQDQ on 256 bits: AES.
    Vaes256,
    /// AES-NI and PCLMULQDQ with AVX: AES.
    AesNi,
    /// The SHA extensions: SHA-1 and SHA-256.
    ShaNi,
    /// NEON of ARMv8: DES.
    Neon,
    /// AESE and PMULL of ARMv8: AES.
    ArmAes,
    /// Plain Rust: every shape. For tests.
    #[cfg(any(test, feature = "portable"))]
    Portable,
    /// Plain Rust with the arithmetic of [`Leaf::Fma`]. For tests.
    #[cfg(any(test, feature = "portable"))]
    PortableFma,
}

impl Leaf {
    /// Every leaf of this build. Of two leaves for one kind of shape the better one comes first.
    pub const ALL: &[Self] = &[
        Self::Avx512,
        Self::Vaes512,
        Self::Fma,
        Self::Vaes256,
        Self::AesNi,
        Self::ShaNi,
        Self::Avx2,
        Self::Neon,
        Self::ArmAes,
        #[cfg(any(test, feature = "portable"))]
        Self::Portable,
        #[cfg(any(test, feature = "portable"))]
        Self::PortableFma,
    ];

    /// Returns the name, as it is typed and printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Vaes512 => "vaes512",
            Self::Fma => "fma",
            Self::Avx2 => "avx2",
            Self::Vaes256 => "vaes256",
            Self::AesNi => "aes-ni",
            Self::ShaNi => "sha-ni",
            Self::Neon => "neon",
            Self::ArmAes => "arm-aes",
            #[cfg(any(test, feature = "portable"))]
            Self::Portable => "portable",
            #[cfg(any(test, feature = "portable"))]
            Self::PortableFma => "portable-fma",
        }
    }

    /// Returns true for the leaves of plain Rust.
    #[must_use]
    pub const fn is_portable(self) -> bool {
        match self {
            #[cfg(any(test, feature = "portable"))]
            Self::Portable | Self::PortableFma => true,
            _ => false,
        }
    }
}
