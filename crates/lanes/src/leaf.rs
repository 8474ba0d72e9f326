//! The leaves: which of them this CPU has, and which computes a kind of shape.

use oarlock_core::Shape;

use crate::simd::Cpu;
#[cfg(any(test, feature = "portable"))]
use crate::simd::PortableSimd;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2Simd, FmaSimd, IfmaSimd, VaesSimd};

/// A group of instructions for which kernels of this crate are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Leaf {
    /// AVX-512 with IFMA: public keys, DES and hashes.
    Avx512,
    /// VAES and VPCLMULQDQ on 512 bits: AES.
    Vaes512,
    /// AVX2 with FMA: public keys, by products of doubles.
    Fma,
    /// AVX2: DES and hashes.
    Avx2,
    /// VAES and VPCLMULQDQ on 256 bits: AES.
    Vaes256,
    /// AES-NI and PCLMULQDQ with AVX: AES.
    AesNi,
    /// The SHA extensions: SHA-1 and SHA-256.
    ShaNi,
    /// Plain Rust: every shape. For tests.
    #[cfg(any(test, feature = "portable"))]
    Portable,
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
        #[cfg(any(test, feature = "portable"))]
        Self::Portable,
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
            #[cfg(any(test, feature = "portable"))]
            Self::Portable => "portable",
        }
    }
}

/// The leaf of each kind of kernel. None if the CPU lacks the instructions of all its leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaves {
    pub(crate) multiply: Option<MultiplyLeaf>,
    pub(crate) curves: Option<CurveLeaf>,
    pub(crate) vectors: Option<VectorLeaf>,
    pub(crate) blocks: Option<BlockLeaf>,
    /// True if the leaf of FMA computes with secrets.
    pub(crate) fma_secrets: bool,
}

/// A leaf of the kernels of curves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CurveLeaf {
    #[cfg(target_arch = "x86_64")]
    Avx512(IfmaSimd),
    #[cfg(target_arch = "x86_64")]
    Fma(FmaSimd),
    #[cfg(any(test, feature = "portable"))]
    Portable(PortableSimd),
}

/// A leaf of the kernels of RSA.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MultiplyLeaf {
    #[cfg(target_arch = "x86_64")]
    Avx512(IfmaSimd),
    #[cfg(any(test, feature = "portable"))]
    Portable(PortableSimd),
}

/// A leaf of the kernels of DES and hashes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum VectorLeaf {
    #[cfg(target_arch = "x86_64")]
    Avx512(IfmaSimd),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2Simd),
    #[cfg(any(test, feature = "portable"))]
    Portable(PortableSimd),
}

/// A leaf of the kernels of AES.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BlockLeaf {
    #[cfg(target_arch = "x86_64")]
    Vaes512(VaesSimd),
    #[cfg(any(test, feature = "portable"))]
    Portable(PortableSimd),
}

/// Evaluates an expression with the token of a [`MultiplyLeaf`].
macro_rules! with_multiply {
    ($leaf:expr, $simd:ident => $body:expr) => {
        match $leaf {
            #[cfg(target_arch = "x86_64")]
            $crate::leaf::MultiplyLeaf::Avx512($simd) => $body,
            #[cfg(any(test, feature = "portable"))]
            $crate::leaf::MultiplyLeaf::Portable($simd) => $body,
        }
    };
}

/// Evaluates an expression with the token of a [`CurveLeaf`].
macro_rules! with_curves {
    ($leaf:expr, $simd:ident => $body:expr) => {
        match $leaf {
            #[cfg(target_arch = "x86_64")]
            $crate::leaf::CurveLeaf::Avx512($simd) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::leaf::CurveLeaf::Fma($simd) => $body,
            #[cfg(any(test, feature = "portable"))]
            $crate::leaf::CurveLeaf::Portable($simd) => $body,
        }
    };
}

/// Evaluates an expression with the token of a [`VectorLeaf`].
macro_rules! with_vectors {
    ($leaf:expr, $simd:ident => $body:expr) => {
        match $leaf {
            #[cfg(target_arch = "x86_64")]
            $crate::leaf::VectorLeaf::Avx512($simd) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::leaf::VectorLeaf::Avx2($simd) => $body,
            #[cfg(any(test, feature = "portable"))]
            $crate::leaf::VectorLeaf::Portable($simd) => $body,
        }
    };
}

/// Evaluates an expression with the token of a [`BlockLeaf`].
macro_rules! with_blocks {
    ($leaf:expr, $simd:ident => $body:expr) => {
        match $leaf {
            #[cfg(target_arch = "x86_64")]
            $crate::leaf::BlockLeaf::Vaes512($simd) => $body,
            #[cfg(any(test, feature = "portable"))]
            $crate::leaf::BlockLeaf::Portable($simd) => $body,
        }
    };
}

pub(crate) use {with_blocks, with_curves, with_multiply, with_vectors};

/// Returns the leaf of a token.
pub(crate) fn leaf_of<C: Cpu>(_cpu: C) -> Leaf {
    C::LEAF
}

impl Leaves {
    /// Returns the best leaf of each kind of kernel among those that `allows` accepts.
    pub(crate) fn choose(allows: impl Fn(Leaf) -> bool) -> Self {
        let mut leaves =
            Self { multiply: None, curves: None, vectors: None, blocks: None, fma_secrets: true };
        // From the last resort to the best leaf: a better one replaces what was there.
        #[cfg(any(test, feature = "portable"))]
        if allows(Leaf::Portable) {
            leaves = Self {
                multiply: Some(MultiplyLeaf::Portable(PortableSimd)),
                curves: Some(CurveLeaf::Portable(PortableSimd)),
                vectors: Some(VectorLeaf::Portable(PortableSimd)),
                blocks: Some(BlockLeaf::Portable(PortableSimd)),
                ..leaves
            };
        }
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(simd) = Avx2Simd::detect().filter(|_| allows(Leaf::Avx2)) {
                leaves.vectors = Some(VectorLeaf::Avx2(simd));
            }
            if let Some(simd) = FmaSimd::detect().filter(|_| allows(Leaf::Fma)) {
                leaves.curves = Some(CurveLeaf::Fma(simd));
            }
            let ifma = IfmaSimd::detect();
            if let Some(simd) = ifma.filter(|_| allows(Leaf::Avx512)) {
                leaves.multiply = Some(MultiplyLeaf::Avx512(simd));
                leaves.curves = Some(CurveLeaf::Avx512(simd));
                leaves.vectors = Some(VectorLeaf::Avx512(simd));
            }
            if let Some(simd) = ifma.and_then(VaesSimd::detect).filter(|_| allows(Leaf::Vaes512)) {
                leaves.blocks = Some(BlockLeaf::Vaes512(simd));
            }
        }
        leaves
    }

    /// Returns true if there is no leaf for any shape.
    pub(crate) fn is_empty(&self) -> bool {
        self.multiply.is_none()
            && self.curves.is_none()
            && self.vectors.is_none()
            && self.blocks.is_none()
    }

    /// Returns the leaf of a shape of a curve, or None if the shape is of another kind or may not be computed.
    pub(crate) fn curve_leaf(&self, shape: Shape) -> Option<CurveLeaf> {
        let is_secret = match shape {
            Shape::Ed25519Sign | Shape::X25519 | Shape::EcdsaSign { .. } => true,
            Shape::Ed25519Verify | Shape::EcdsaVerify { .. } => false,
            _ => return None,
        };
        let leaf = self.curves?;
        let is_fma = with_curves!(leaf, simd => leaf_of(simd)) == Leaf::Fma;
        (!is_fma || !is_secret || self.fma_secrets).then_some(leaf)
    }
}
