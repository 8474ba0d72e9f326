//! The leaves of each family of kernels: one table, from which offers, choices and reports derive.

use std::fmt::Debug;

use oarlock_core::{BatchSize, DigestAlg, Shape};

use crate::curve25519::field::FieldSimd;
use crate::ecdsa::CurvesSimd;
use crate::hash::{self, streams};
use crate::kernels::{
    AesKernels, ChaChaKernels, CipherKernels, DesKernels, EllipticKernels, HashKernels, HashTreeKernels,
    LaneHashes, LatticeKernels, OperationKernels, RecordKernels, RsaKernels, StreamHashes,
};
use crate::rsa::{self, RsaLeaf};
#[cfg(any(target_arch = "x86_64", feature = "portable"))]
use crate::simd::doubles::DoubleLeaf;
#[cfg(target_arch = "x86_64")]
use crate::simd::{AesSimd, Avx2Simd, FmaSimd, IfmaSimd, ShaNiSimd, VaesSimd, VaesYmmSimd};
#[cfg(target_arch = "aarch64")]
use crate::simd::{ArmAesSimd, NeonSimd};
use crate::simd::{BlockSimd, Cpu, Leaf, ShaSimd, ShortSimd, Simd, UnzipSimd};
#[cfg(feature = "portable")]
use crate::simd::{PortableFma, PortableSimd};
use crate::slh_dsa::{LaneSteps, StreamSteps};
use crate::{aes, chacha, des};

/// Lists the rows of a family.
macro_rules! rows {
    ($(x86_64: $($x86:expr),+;)? $(aarch64: $($arm:expr),+;)? $(portable: $($plain:expr),+;)?) => {
        &[
            $($(#[cfg(target_arch = "x86_64")] $x86,)+)?
            $($(#[cfg(target_arch = "aarch64")] $arm,)+)?
            $($(#[cfg(feature = "portable")] $plain,)+)?
        ]
    };
}

// The table: the leaves of each family, the best first. `LeafExceptions` names the CPUs that differ.
const RSA: LeafRows<dyn OperationKernels> = rows! {
    x86_64: rsa::<IfmaSimd, _>(), rsa::<DoubleLeaf<FmaSimd>, _>();
    portable: rsa::<PortableSimd, _>(), rsa::<DoubleLeaf<PortableFma>, _>();
};
const CURVES: LeafRows<dyn OperationKernels> = rows! {
    x86_64: curves::<IfmaSimd>(), curves::<FmaSimd>();
    portable: curves::<PortableSimd>(), curves::<PortableFma>();
};
const LATTICES: LeafRows<dyn OperationKernels> = rows! {
    x86_64: lattices::<IfmaSimd>(), lattices::<Avx2Simd>();
    portable: lattices::<PortableSimd>();
};
const HASH_TREES: LeafRows<dyn OperationKernels> = rows! {
    x86_64: lane_trees::<IfmaSimd>(), stream_trees::<ShaNiSimd, Avx2Simd>(), lane_trees::<Avx2Simd>();
    portable: lane_trees::<PortableSimd>();
};
const AES: LeafRows<dyn CipherKernels> = rows! {
    x86_64: aes::<VaesSimd>(), aes::<VaesYmmSimd>(), aes::<AesSimd>();
    aarch64: aes::<ArmAesSimd>();
    portable: aes::<PortableSimd>();
};
const DES: LeafRows<dyn CipherKernels> = rows! {
    x86_64: des::<IfmaSimd>(), des::<Avx2Simd>();
    aarch64: des::<NeonSimd>();
    portable: des::<PortableSimd>();
};
const CHACHA: LeafRows<dyn RecordKernels> = rows! {
    x86_64: chacha::<IfmaSimd>();
    portable: chacha::<PortableSimd>();
};
const HASHES: LeafRows<dyn HashKernels> = rows! {
    x86_64: lane_hashes::<IfmaSimd>(), stream_hashes::<ShaNiSimd>(), lane_hashes::<Avx2Simd>();
    portable: lane_hashes::<PortableSimd>();
};

/// The rows of a family.
type LeafRows<K> = &'static [LeafRow<K>];

/// The kernels of a family on one leaf.
#[derive(Debug)]
struct LeafRow<K: ?Sized> {
    leaf: Leaf,
    /// Returns the batch sizes of a shape, or None if the kernels do not compute it.
    offers: fn(Shape) -> Option<BatchSize>,
    /// Returns the kernels if this CPU has the leaf.
    detect: fn() -> Option<Box<K>>,
}

impl<K: ?Sized> LeafRow<K> {
    const fn new(leaf: Leaf, offers: fn(Shape) -> Option<BatchSize>, detect: fn() -> Option<Box<K>>) -> Self {
        Self { leaf, offers, detect }
    }
}

const fn rsa<L: RsaLeaf<N>, const N: usize>() -> LeafRow<dyn OperationKernels> {
    LeafRow::new(L::LEAF, rsa::offers::<L, N>, || Some(Box::new(RsaKernels(L::detect()?))))
}

const fn curves<S: FieldSimd + CurvesSimd>() -> LeafRow<dyn OperationKernels> {
    LeafRow::new(S::LEAF, EllipticKernels::<S>::offers, || Some(Box::new(EllipticKernels(S::detect()?))))
}

const fn lattices<S: ShortSimd>() -> LeafRow<dyn OperationKernels> {
    LeafRow::new(S::LEAF, LatticeKernels::<S>::offers, || Some(Box::new(LatticeKernels(S::detect()?))))
}

const fn lane_trees<S: ShortSimd>() -> LeafRow<dyn OperationKernels> {
    LeafRow::new(S::LEAF, HashTreeKernels::<LaneSteps<S>>::offers, || {
        Some(Box::new(HashTreeKernels(LaneSteps(S::detect()?))))
    })
}

const fn stream_trees<S: ShaSimd, L: ShortSimd>() -> LeafRow<dyn OperationKernels> {
    LeafRow::new(S::LEAF, HashTreeKernels::<StreamSteps<S, L>>::offers, || {
        let (streams, lanes) = (S::detect()?, LaneSteps(L::detect()?));
        Some(Box::new(HashTreeKernels(StreamSteps { streams, lanes })))
    })
}

const fn aes<S: BlockSimd>() -> LeafRow<dyn CipherKernels> {
    LeafRow::new(S::LEAF, aes::offers, || Some(Box::new(AesKernels(S::detect()?))))
}

const fn des<S: Simd>() -> LeafRow<dyn CipherKernels> {
    LeafRow::new(S::LEAF, des::offers::<S>, || Some(Box::new(DesKernels(S::detect()?))))
}

const fn chacha<S: UnzipSimd>() -> LeafRow<dyn RecordKernels> {
    LeafRow::new(S::LEAF, chacha::offers, || Some(Box::new(ChaChaKernels(S::detect()?))))
}

const fn lane_hashes<S: Simd>() -> LeafRow<dyn HashKernels> {
    LeafRow::new(S::LEAF, hash::offers::<S>, || Some(Box::new(LaneHashes(S::detect()?))))
}

const fn stream_hashes<S: ShaSimd>() -> LeafRow<dyn HashKernels> {
    LeafRow::new(S::LEAF, streams::offers, || Some(Box::new(StreamHashes(S::detect()?))))
}

/// The leaf that computes a shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeafChoice {
    pub(crate) leaf: Leaf,
    pub(crate) size: BatchSize,
    /// The first leaf of the table that computes the shape, whether this CPU has it or not.
    pub(crate) best: Leaf,
}

/// The leaves that this CPU has and the caller allows.
#[derive(Debug)]
pub(crate) struct Leaves {
    rsa: LeafFamily<dyn OperationKernels>,
    curves: LeafFamily<dyn OperationKernels>,
    lattices: LeafFamily<dyn OperationKernels>,
    hash_trees: LeafFamily<dyn OperationKernels>,
    aes: LeafFamily<dyn CipherKernels>,
    des: LeafFamily<dyn CipherKernels>,
    chacha: LeafFamily<dyn RecordKernels>,
    hashes: LeafFamily<dyn HashKernels>,
    exceptions: LeafExceptions,
}

impl Leaves {
    /// Returns the leaves of this CPU that `allows` accepts.
    pub(crate) fn detect(allows: impl Fn(Leaf) -> bool) -> Self {
        let (aes, hashes) = (LeafFamily::detect(AES, &allows), LeafFamily::detect(HASHES, &allows));
        Self {
            exceptions: LeafExceptions::new(&aes, &hashes),
            rsa: LeafFamily::detect(RSA, &allows),
            curves: LeafFamily::detect(CURVES, &allows),
            lattices: LeafFamily::detect(LATTICES, &allows),
            hash_trees: LeafFamily::detect(HASH_TREES, &allows),
            aes,
            des: LeafFamily::detect(DES, &allows),
            chacha: LeafFamily::detect(CHACHA, &allows),
            hashes,
        }
    }

    /// Removes the shapes with secrets from the leaf of FMA.
    pub(crate) fn without_secrets_on_fma(self) -> Self {
        Self { exceptions: LeafExceptions { fma_secrets: false, ..self.exceptions }, ..self }
    }

    /// Returns true if there is no leaf for any shape.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { rsa, curves, lattices, hash_trees, aes, des, chacha, hashes, .. } = self;
        rsa.is_empty()
            && curves.is_empty()
            && lattices.is_empty()
            && hash_trees.is_empty()
            && aes.is_empty()
            && des.is_empty()
            && chacha.is_empty()
            && hashes.is_empty()
    }

    /// True if this CPU computes vectors of 512 bits in halves, so that narrower leaves are faster for some shapes.
    pub(crate) fn prefers_narrow(&self) -> bool {
        self.exceptions.prefers_narrow
    }

    /// Returns the leaf of a shape, or None if there is none or if the shape is a chain.
    pub(crate) fn choice(&self, shape: Shape) -> Option<LeafChoice> {
        let operations = self.operations(shape).map(|(choice, _)| choice);
        operations.or_else(|| self.records(shape).map(|(choice, _)| choice))
    }

    /// Returns the leaf and the kernels of a shape of public-key operations.
    pub(crate) fn operations(&self, shape: Shape) -> Option<(LeafChoice, &dyn OperationKernels)> {
        let families = [&self.rsa, &self.curves, &self.lattices, &self.hash_trees];
        families.into_iter().find_map(|family| family.find(shape, &self.exceptions))
    }

    /// Returns the leaf and the kernels of a shape of records that is not a chain.
    pub(crate) fn records(&self, shape: Shape) -> Option<(LeafChoice, &dyn RecordKernels)> {
        let cipher = self.cipher(shape).map(|(choice, kernels)| (choice, kernels as &dyn RecordKernels));
        let hash = || self.hash(shape).map(|(choice, kernels)| (choice, kernels as &dyn RecordKernels));
        cipher.or_else(|| self.chacha.find(shape, &self.exceptions)).or_else(hash)
    }

    /// Returns the leaf and the kernels of a shape of AES or DES.
    pub(crate) fn cipher(&self, shape: Shape) -> Option<(LeafChoice, &dyn CipherKernels)> {
        self.aes.find(shape, &self.exceptions).or_else(|| self.des.find(shape, &self.exceptions))
    }

    /// Returns the leaf and the kernels of a hash or an HMAC.
    pub(crate) fn hash(&self, shape: Shape) -> Option<(LeafChoice, &dyn HashKernels)> {
        self.hashes.find(shape, &self.exceptions)
    }

    /// Returns the largest preferred number of messages of a hash or an HMAC on any of the leaves.
    pub(crate) fn widest_hash(&self, shape: Shape) -> Option<usize> {
        self.hashes.found.iter().filter_map(|(row, _)| (row.offers)(shape)).map(|size| size.preferred).max()
    }
}

/// The leaves of a family, and those of them that can be used.
#[derive(Debug)]
struct LeafFamily<K: ?Sized + 'static> {
    rows: LeafRows<K>,
    found: Vec<(&'static LeafRow<K>, Box<K>)>,
}

impl<K: ?Sized> LeafFamily<K> {
    fn detect(rows: LeafRows<K>, allows: impl Fn(Leaf) -> bool) -> Self {
        let allowed = rows.iter().filter(|row| allows(row.leaf));
        Self { rows, found: allowed.filter_map(|row| Some((row, (row.detect)()?))).collect() }
    }

    fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    fn has(&self, leaf: Leaf) -> bool {
        self.found.iter().any(|(row, _)| row.leaf == leaf)
    }

    /// Returns the first leaf that computes a shape and that the exceptions allow.
    fn find(&self, shape: Shape, exceptions: &LeafExceptions) -> Option<(LeafChoice, &K)> {
        let best = self.rows.iter().find(|row| (row.offers)(shape).is_some())?.leaf;
        self.found.iter().find_map(|(row, kernels)| {
            let size = (row.offers)(shape).filter(|_| exceptions.allow(row.leaf, shape))?;
            Some((LeafChoice { leaf: row.leaf, size, best }, &**kernels))
        })
    }
}

/// The reasons to pass over a leaf that this CPU has.
#[derive(Clone, Copy, Debug)]
struct LeafExceptions {
    /// True if the leaf of FMA computes with secrets.
    fma_secrets: bool,
    /// True if this CPU computes vectors of 512 bits in halves.
    prefers_narrow: bool,
    has_vaes256: bool,
    has_sha_ni: bool,
    /// True if lanes are faster for SHA-1 than its own instructions.
    has_sha1_lanes: bool,
}

impl LeafExceptions {
    fn new(aes: &LeafFamily<dyn CipherKernels>, hashes: &LeafFamily<dyn HashKernels>) -> Self {
        Self {
            fma_secrets: true,
            prefers_narrow: computes_halves(),
            has_vaes256: aes.has(Leaf::Vaes256),
            has_sha_ni: hashes.has(Leaf::ShaNi),
            // Lanes of 512 bits are faster even in halves, and those of AVX2 on CPUs whose streams of SHA-1 are slow.
            has_sha1_lanes: hashes.has(Leaf::Avx512) || hashes.has(Leaf::Avx2) && !has_fast_sha1(),
        }
    }

    /// Returns false if a leaf may not compute a shape, or if a later leaf of its family is faster.
    fn allow(&self, leaf: Leaf, shape: Shape) -> bool {
        match leaf {
            // No vendor's list of instructions with data-independent timing names floating point: SECURITY.md.
            Leaf::Fma => self.fma_secrets || is_public(shape),
            // Halves are as fast as two vectors of 256 bits, and GHASH of 256 bits has fewer products.
            Leaf::Vaes512 => !(self.prefers_narrow && self.has_vaes256),
            // Streams are faster than sixteen lanes that are computed in halves.
            Leaf::Avx512 => !(self.prefers_narrow && self.has_sha_ni && is_sha256(shape)),
            Leaf::ShaNi => !(self.has_sha1_lanes && hash_of(shape) == Some(DigestAlg::Sha1)),
            _ => true,
        }
    }
}

fn is_public(shape: Shape) -> bool {
    matches!(shape, Shape::RsaPublic { .. } | Shape::Ed25519Verify | Shape::EcdsaVerify { .. })
}

fn is_sha256(shape: Shape) -> bool {
    match shape {
        Shape::SlhDsaKeygen { set } | Shape::SlhDsaSign { set } | Shape::SlhDsaVerify { set } => {
            !set.is_shake()
        }
        // Most of their signatures.
        Shape::HssVerify | Shape::XmssVerify => true,
        _ => matches!(hash_of(shape), Some(DigestAlg::Sha224 | DigestAlg::Sha256)),
    }
}

/// Returns the hash of a digest, a part of one, or an HMAC.
fn hash_of(shape: Shape) -> Option<DigestAlg> {
    match shape {
        Shape::Digest { alg } | Shape::DigestPart { alg } => Some(alg),
        Shape::Mac { alg } => alg.hmac_digest(),
        _ => None,
    }
}

#[cfg(target_arch = "x86_64")]
fn computes_halves() -> bool {
    IfmaSimd::detect().is_some_and(IfmaSimd::computes_halves)
}

#[cfg(target_arch = "x86_64")]
fn has_fast_sha1() -> bool {
    ShaNiSimd::detect().is_some_and(ShaNiSimd::has_fast_sha1)
}

#[cfg(not(target_arch = "x86_64"))]
fn computes_halves() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_fast_sha1() -> bool {
    false
}
