//! The leaves of this CPU, and the choice of one for each kind of kernel.

use oarlock_core::{DigestAlg, MacAlg, Shape};

#[cfg(any(target_arch = "x86_64", feature = "portable"))]
use crate::simd::doubles::DoubleLeaf;
#[cfg(target_arch = "x86_64")]
use crate::simd::{AesSimd, Avx2Simd, FmaSimd, IfmaSimd, ShaNiSimd, VaesSimd, VaesYmmSimd};
#[cfg(target_arch = "aarch64")]
use crate::simd::{ArmAesSimd, NeonSimd};
use crate::simd::{Cpu, Leaf};
#[cfg(feature = "portable")]
use crate::simd::{PortableFma, PortableSimd};

/// The leaf of each kind of kernel. None if the CPU lacks the instructions of all its leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaves {
    pub(crate) curves: Option<CurveLeaf>,
    pub(crate) vectors: Option<VectorLeaf>,
    pub(crate) blocks: Option<BlockLeaf>,
    pub(crate) rsa: Option<RsaKernels>,
    /// True if the leaf of FMA computes with secrets.
    pub(crate) fma_secrets: bool,
    pub(crate) streams: Option<StreamLeaf>,
    /// True if this CPU computes vectors of 512 bits in halves. Narrower leaves are chosen where they are faster.
    pub(crate) prefers_narrow: bool,
}

/// A leaf of the kernels of curves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CurveLeaf {
    #[cfg(target_arch = "x86_64")]
    Avx512(IfmaSimd),
    #[cfg(target_arch = "x86_64")]
    Fma(FmaSimd),
    #[cfg(feature = "portable")]
    Portable(PortableSimd),
    #[cfg(feature = "portable")]
    PortableFma(PortableFma),
}

/// A leaf of the RSA kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RsaKernels {
    #[cfg(target_arch = "x86_64")]
    Avx512(IfmaSimd),
    #[cfg(target_arch = "x86_64")]
    Fma(DoubleLeaf<FmaSimd>),
    #[cfg(feature = "portable")]
    Portable(PortableSimd),
    #[cfg(feature = "portable")]
    PortableFma(DoubleLeaf<PortableFma>),
}

/// A leaf of the kernels of DES and hashes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum VectorLeaf {
    #[cfg(target_arch = "x86_64")]
    Avx512(IfmaSimd),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2Simd),
    #[cfg(target_arch = "aarch64")]
    Neon(NeonSimd),
    #[cfg(feature = "portable")]
    Portable(PortableSimd),
}

/// A leaf of the kernels of AES.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BlockLeaf {
    #[cfg(target_arch = "x86_64")]
    AesNi(AesSimd),
    #[cfg(target_arch = "x86_64")]
    Vaes256(VaesYmmSimd),
    #[cfg(target_arch = "x86_64")]
    Vaes512(VaesSimd),
    #[cfg(target_arch = "aarch64")]
    ArmAes(ArmAesSimd),
    #[cfg(feature = "portable")]
    Portable(PortableSimd),
}

/// A leaf of the kernels of SHA-1 and SHA-256 by instructions of their own. Tests run the portable one directly, since
/// [`VectorLeaf::Portable`] has the same shapes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StreamLeaf {
    #[cfg(target_arch = "x86_64")]
    ShaNi(ShaNiSimd),
}

/// Evaluates an expression with the token of a [`CurveLeaf`].
macro_rules! with_curves {
    ($leaf:expr, $simd:ident => $body:expr) => {
        match $leaf {
            #[cfg(target_arch = "x86_64")]
            $crate::leaves::CurveLeaf::Avx512($simd) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::leaves::CurveLeaf::Fma($simd) => $body,
            #[cfg(feature = "portable")]
            $crate::leaves::CurveLeaf::Portable($simd) => $body,
            #[cfg(feature = "portable")]
            $crate::leaves::CurveLeaf::PortableFma($simd) => $body,
        }
    };
}

/// Evaluates an expression with the token of a [`RsaKernels`].
macro_rules! with_rsa {
    ($leaf:expr, $simd:ident => $body:expr) => {
        match $leaf {
            #[cfg(target_arch = "x86_64")]
            $crate::leaves::RsaKernels::Avx512($simd) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::leaves::RsaKernels::Fma($simd) => $body,
            #[cfg(feature = "portable")]
            $crate::leaves::RsaKernels::Portable($simd) => $body,
            #[cfg(feature = "portable")]
            $crate::leaves::RsaKernels::PortableFma($simd) => $body,
        }
    };
}

/// Evaluates an expression with the token of a [`VectorLeaf`].
macro_rules! with_vectors {
    ($leaf:expr, $simd:ident => $body:expr) => {
        match $leaf {
            #[cfg(target_arch = "x86_64")]
            $crate::leaves::VectorLeaf::Avx512($simd) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::leaves::VectorLeaf::Avx2($simd) => $body,
            #[cfg(target_arch = "aarch64")]
            $crate::leaves::VectorLeaf::Neon($simd) => $body,
            #[cfg(feature = "portable")]
            $crate::leaves::VectorLeaf::Portable($simd) => $body,
        }
    };
}

/// Evaluates an expression with the token of a [`VectorLeaf`] that has products, and another one for the other leaves.
macro_rules! with_products {
    ($leaf:expr, $simd:ident => $body:expr, _ => $other:expr) => {
        match $leaf {
            #[cfg(target_arch = "x86_64")]
            $crate::leaves::VectorLeaf::Avx512($simd) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::leaves::VectorLeaf::Avx2(_) => $other,
            #[cfg(target_arch = "aarch64")]
            $crate::leaves::VectorLeaf::Neon(_) => $other,
            #[cfg(feature = "portable")]
            $crate::leaves::VectorLeaf::Portable($simd) => $body,
        }
    };
}

/// Evaluates an expression with the token of a [`BlockLeaf`].
macro_rules! with_blocks {
    ($leaf:expr, $simd:ident => $body:expr) => {
        match $leaf {
            #[cfg(target_arch = "x86_64")]
            $crate::leaves::BlockLeaf::AesNi($simd) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::leaves::BlockLeaf::Vaes256($simd) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::leaves::BlockLeaf::Vaes512($simd) => $body,
            #[cfg(target_arch = "aarch64")]
            $crate::leaves::BlockLeaf::ArmAes($simd) => $body,
            #[cfg(feature = "portable")]
            $crate::leaves::BlockLeaf::Portable($simd) => $body,
        }
    };
}

/// Evaluates an expression with the token of a [`StreamLeaf`].
macro_rules! with_streams {
    ($leaf:expr, $simd:ident => $body:expr) => {
        match $leaf {
            #[cfg(target_arch = "x86_64")]
            $crate::leaves::StreamLeaf::ShaNi($simd) => $body,
        }
    };
}

pub(crate) use {with_blocks, with_curves, with_products, with_rsa, with_streams, with_vectors};

/// Returns the leaf of a token.
pub(crate) fn leaf_of<C: Cpu>(_cpu: C) -> Leaf {
    C::LEAF
}

impl Leaves {
    /// Returns the best leaf of each kind of kernel among those that `allows` accepts.
    pub(crate) fn choose(allows: impl Fn(Leaf) -> bool) -> Self {
        let mut leaves = Self {
            curves: None,
            vectors: None,
            blocks: None,
            streams: None,
            rsa: None,
            fma_secrets: true,
            prefers_narrow: false,
        };
        // From the last resort to the best leaf: a better one replaces what was there.
        #[cfg(feature = "portable")]
        if allows(Leaf::PortableFma) {
            leaves.rsa = Some(RsaKernels::PortableFma(DoubleLeaf(PortableFma)));
            leaves.curves = Some(CurveLeaf::PortableFma(PortableFma));
        }
        #[cfg(feature = "portable")]
        if allows(Leaf::Portable) {
            leaves = Self {
                curves: Some(CurveLeaf::Portable(PortableSimd)),
                vectors: Some(VectorLeaf::Portable(PortableSimd)),
                blocks: Some(BlockLeaf::Portable(PortableSimd)),
                rsa: Some(RsaKernels::Portable(PortableSimd)),
                ..leaves
            };
        }
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(simd) = FmaSimd::detect().filter(|_| allows(Leaf::Fma)) {
                leaves.rsa = Some(RsaKernels::Fma(DoubleLeaf(simd)));
                leaves.curves = Some(CurveLeaf::Fma(simd));
            }
            if let Some(simd) = Avx2Simd::detect().filter(|_| allows(Leaf::Avx2)) {
                leaves.vectors = Some(VectorLeaf::Avx2(simd));
            }
            let ifma = IfmaSimd::detect();
            if let Some(simd) = ifma.filter(|_| allows(Leaf::Avx512)) {
                leaves.curves = Some(CurveLeaf::Avx512(simd));
                leaves.vectors = Some(VectorLeaf::Avx512(simd));
                leaves.rsa = Some(RsaKernels::Avx512(simd));
            }
            let aes = AesSimd::detect();
            if let Some(simd) = aes.filter(|_| allows(Leaf::AesNi)) {
                leaves.blocks = Some(BlockLeaf::AesNi(simd));
            }
            if let Some(simd) = aes.and_then(VaesYmmSimd::detect).filter(|_| allows(Leaf::Vaes256)) {
                leaves.blocks = Some(BlockLeaf::Vaes256(simd));
            }
            let vaes = ifma.zip(aes).and_then(|(ifma, aes)| VaesSimd::detect(ifma, aes));
            let computes_halves = ifma.is_some_and(IfmaSimd::computes_halves);
            // Halves are as fast as two vectors of 256 bits, and GHASH of 256 bits has fewer products.
            let has_fast_blocks = computes_halves && matches!(leaves.blocks, Some(BlockLeaf::Vaes256(_)));
            if let Some(simd) = vaes.filter(|_| allows(Leaf::Vaes512) && !has_fast_blocks) {
                leaves.blocks = Some(BlockLeaf::Vaes512(simd));
            }
            // Sixteen lanes of 512 bits are faster than streams if they are not computed in halves.
            let has_fast_lanes = matches!(leaves.vectors, Some(VectorLeaf::Avx512(_))) && !computes_halves;
            if let Some(simd) = ShaNiSimd::detect().filter(|_| allows(Leaf::ShaNi) && !has_fast_lanes) {
                leaves.streams = Some(StreamLeaf::ShaNi(simd));
            }
            leaves.prefers_narrow = computes_halves;
        }
        #[cfg(target_arch = "aarch64")]
        {
            if let Some(simd) = NeonSimd::detect().filter(|_| allows(Leaf::Neon)) {
                leaves.vectors = Some(VectorLeaf::Neon(simd));
            }
            if let Some(simd) = ArmAesSimd::detect().filter(|_| allows(Leaf::ArmAes)) {
                leaves.blocks = Some(BlockLeaf::ArmAes(simd));
            }
        }
        leaves
    }

    /// Returns true if there is no leaf for any shape.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { curves, vectors, blocks, streams, rsa, .. } = self;
        curves.is_none() && vectors.is_none() && blocks.is_none() && streams.is_none() && rsa.is_none()
    }

    /// Returns the leaf of streams for a shape. Lanes of 512 bits stay for SHA-1, where they are faster even in halves,
    /// and lanes of AVX2 on CPUs whose streams of SHA-1 are slow.
    pub(crate) fn streams_for(&self, shape: Shape) -> Option<StreamLeaf> {
        let is_sha1 = matches!(
            shape,
            Shape::Digest { alg: DigestAlg::Sha1 }
                | Shape::DigestPart { alg: DigestAlg::Sha1 }
                | Shape::Mac { alg: MacAlg::HmacSha1 }
        );
        let has_lanes = |streams: StreamLeaf| {
            let has_fast_streams: bool = with_streams!(streams, simd => simd.has_fast_sha1());
            self.vectors.is_some_and(|leaf| match with_vectors!(leaf, simd => leaf_of(simd)) {
                Leaf::Avx512 => true,
                Leaf::Avx2 => !has_fast_streams,
                _ => false,
            })
        };
        self.streams.filter(|streams| !(is_sha1 && has_lanes(*streams)))
    }

    /// Returns the leaf of a shape of RSA, or None if the shape is not one of RSA or may not be computed.
    pub(crate) fn rsa_for(&self, shape: Shape) -> Option<RsaKernels> {
        let is_secret = match shape {
            Shape::RsaPublic { .. } => false,
            Shape::RsaPrivate { .. } | Shape::ModExp { .. } => true,
            _ => return None,
        };
        let is_allowed = |kernels: &RsaKernels| {
            let leaf: Leaf = with_rsa!(*kernels, leaf => leaf_of(leaf));
            self.fma_secrets || !is_secret || leaf != Leaf::Fma
        };
        self.rsa.filter(is_allowed)
    }

    /// Returns the leaf of a shape of a curve, or None if the shape is of another kind or may not be computed.
    pub(crate) fn curve_for(&self, shape: Shape) -> Option<CurveLeaf> {
        let is_secret = match shape {
            Shape::Ed25519Verify | Shape::EcdsaVerify { .. } => false,
            Shape::Ed25519Sign | Shape::X25519 | Shape::EcdsaSign { .. } => true,
            _ => return None,
        };
        let is_allowed = |leaf: &CurveLeaf| {
            let own: Leaf = with_curves!(*leaf, simd => leaf_of(simd));
            self.fma_secrets || !is_secret || own != Leaf::Fma
        };
        self.curves.filter(is_allowed)
    }
}
