//! The engine: the shapes that it offers, and the module and leaf that compute each.

use oarlock_core::{
    BatchSize, BlockCipher, Curve, DigestAlg, Engine, EngineFault, EngineLeaf, Jobs, LeafAbsence, MacAlg,
    Operation, Outcomes, Records, Shape, TableUsage,
};
use oarlock_engine_kit::{DEFAULT_TABLE_BYTES, VerifyTableCache};

use crate::aes;
use crate::chacha;
use crate::cipher_mac;
use crate::curve25519::{self, field::FieldSimd};
use crate::des::{self, DesRun};
use crate::ecdsa;
use crate::fault::{NAME, failed, not_offered};
use crate::hash::{self, streams};
use crate::leaves::{
    Leaves, leaf_of, with_blocks, with_curves, with_products, with_rsa, with_streams, with_vectors,
};
use crate::records;
use crate::rsa::{self, RsaLeaf};
use crate::simd::Leaf;
use crate::simd::{Cpu, Simd};

/// An engine that computes many operations in lockstep, one per lane.
#[derive(Debug)]
pub struct LaneEngine {
    leaves: Leaves,
    /// The leaves that the caller has turned off.
    turned_off: Vec<Leaf>,
    tables: VerifyTableCache,
}

/// The module that computes a shape.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ShapeFamily {
    RsaPrivate,
    RsaPublic,
    ModExp,
    Ed25519Sign,
    Ed25519Verify,
    X25519,
    EcdsaSign(Curve),
    EcdsaVerify(Curve),
    Aes,
    ChaCha,
    Des,
    Hash,
    HashStreams,
    /// A chain with AES.
    AesChain,
    /// A chain with triple DES.
    DesChain,
}

impl ShapeFamily {
    /// Returns the family of a shape and its batch sizes, or None if none of the leaves computes the shape.
    fn of_shape(shape: Shape, leaves: &Leaves) -> Option<(Self, BatchSize)> {
        let aes = || leaves.blocks.and_then(|_| aes::offers(shape));
        let des = || leaves.vectors.and_then(|leaf| with_vectors!(leaf, simd => des::offers(simd, shape)));
        let hash = || leaves.vectors.and_then(|leaf| with_vectors!(leaf, simd => hash::offers(simd, shape)));
        let streams = || {
            leaves
                .streams_for(shape)
                .and_then(|leaf| with_streams!(leaf, simd => streams::offers(simd, shape)))
        };
        let chacha = || {
            leaves.vectors.and_then(|leaf| with_products!(leaf, _simd => chacha::offers(shape), _ => None))
        };
        let records = || {
            aes()
                .map(|size| (Self::Aes, size))
                .or_else(|| chacha().map(|size| (Self::ChaCha, size)))
                .or_else(|| streams().map(|size| (Self::HashStreams, size)))
                .or_else(|| des().map(|size| (Self::Des, size)))
                .or_else(|| hash().map(|size| (Self::Hash, size)))
        };
        let rsa = || {
            let size = with_rsa!(leaves.rsa_for(shape)?, leaf => rsa::offers(leaf, shape)?);
            Some(match shape {
                Shape::RsaPrivate { .. } => (Self::RsaPrivate, size),
                Shape::RsaPublic { .. } => (Self::RsaPublic, size),
                _ => (Self::ModExp, size),
            })
        };
        let curve = || {
            let leaf = leaves.curve_for(shape)?;
            let has = |curve| with_curves!(leaf, simd => ecdsa::has(simd, curve));
            Some(match shape {
                Shape::Ed25519Sign => (Self::Ed25519Sign, curve25519::OFFERED),
                Shape::Ed25519Verify => (Self::Ed25519Verify, curve25519::OFFERED),
                Shape::X25519 => (Self::X25519, curve25519::OFFERED),
                Shape::EcdsaSign { curve } if has(curve) => (Self::EcdsaSign(curve), ecdsa::OFFER),
                Shape::EcdsaVerify { curve } if has(curve) => (Self::EcdsaVerify(curve), ecdsa::OFFER),
                _ => return None,
            })
        };
        let chain = || {
            let Shape::Chain { cipher, .. } = shape else { return None };
            let is_aes = matches!(cipher.alg, BlockCipher::Aes128 | BlockCipher::Aes256);
            let family = if is_aes { Self::AesChain } else { Self::DesChain };
            cipher_mac::offers(leaves, shape).map(|size| (family, size))
        };
        rsa().or_else(curve).or_else(records).or_else(chain)
    }
}

impl ShapeFamily {
    /// Returns the leaves that compute a shape of the family, the best first.
    fn leaves(self, shape: Shape) -> &'static [Leaf] {
        if cfg!(target_arch = "aarch64") {
            return self.arm_leaves();
        }
        match (self, shape) {
            (Self::Aes | Self::AesChain, _) => &[Leaf::Vaes512, Leaf::Vaes256, Leaf::AesNi],
            (Self::Des | Self::DesChain, _)
            | (
                Self::Hash,
                Shape::Digest { alg: DigestAlg::Sha384 | DigestAlg::Sha512 }
                | Shape::DigestPart { alg: DigestAlg::Sha384 | DigestAlg::Sha512 }
                | Shape::Mac { alg: MacAlg::HmacSha384 | MacAlg::HmacSha512 },
            ) => &[Leaf::Avx512, Leaf::Avx2],
            (Self::Hash | Self::HashStreams, _) => &[Leaf::Avx512, Leaf::ShaNi, Leaf::Avx2],
            (Self::RsaPrivate | Self::RsaPublic | Self::ModExp, _) => &[Leaf::Avx512, Leaf::Fma],
            (Self::EcdsaSign(Curve::P384) | Self::EcdsaVerify(Curve::P384) | Self::ChaCha, _) => {
                &[Leaf::Avx512]
            }
            _ => &[Leaf::Avx512, Leaf::Fma],
        }
    }

    /// Returns the leaves of ARMv8 that compute shapes of the family.
    fn arm_leaves(self) -> &'static [Leaf] {
        match self {
            Self::Aes => &[Leaf::ArmAes],
            Self::Des => &[Leaf::Neon],
            _ => &[],
        }
    }
}

impl LaneEngine {
    /// Returns the engine with the best leaf of this CPU for each shape, or None if the CPU has no leaf.
    #[must_use]
    pub fn detect() -> Option<Self> {
        Self::with_leaves(|leaf| !leaf.is_portable())
    }

    /// Returns the engine with the best leaf that `allows` accepts for each shape, or None if the CPU has none of them.
    #[must_use]
    pub fn with_leaves(allows: impl Fn(Leaf) -> bool) -> Option<Self> {
        let leaves = Leaves::choose(&allows);
        let turned_off = Leaf::ALL.iter().copied().filter(|leaf| !allows(*leaf)).collect();
        let tables = VerifyTableCache::new(DEFAULT_TABLE_BYTES);
        (!leaves.is_empty()).then_some(Self { leaves, turned_off, tables })
    }

    /// Returns an engine with one leaf, or None if the CPU does not have it. It offers the shapes of that leaf alone.
    #[must_use]
    pub fn of_leaf(leaf: Leaf) -> Option<Self> {
        Self::with_leaves(|other| other == leaf)
    }

    /// Returns the same algorithms in plain Rust. They are slower than the scalar engine and run on every machine,
    /// so tests take them as the oracle.
    ///
    /// # Panics
    ///
    /// Never: every CPU has this leaf.
    #[cfg(feature = "portable")]
    #[must_use]
    #[expect(clippy::expect_used, reason = "the leaf needs no instructions")]
    pub fn portable() -> Self {
        Self::of_leaf(Leaf::Portable).expect("the portable leaf needs no instructions, so every CPU has it")
    }

    /// Bounds the bytes of verification tables for keys that recur. The default is 64 MiB; 0 switches tables off.
    #[must_use]
    pub fn with_table_bytes(self, bytes: usize) -> Self {
        Self { tables: self.tables.with_budget(bytes), ..self }
    }

    /// Builds a key's table before its first use, and not in the background after a few uses. For tests.
    #[must_use]
    pub fn with_tables_at_once(self) -> Self {
        Self { tables: self.tables.at_once(), ..self }
    }

    /// Removes the shapes with secrets from the leaf of FMA, so that another engine computes them. Public operations
    /// stay.
    // No vendor's list of instructions with data-independent timing names floating point: SECURITY.md.
    #[must_use]
    pub fn without_secrets_on_fma(self) -> Self {
        Self { leaves: Leaves { fma_secrets: false, ..self.leaves }, ..self }
    }

    /// Returns the leaf that computes the shapes of a family.
    fn leaf_of_family(&self, family: ShapeFamily) -> Option<Leaf> {
        match family {
            // A chain has a leaf for its hash too.
            ShapeFamily::Aes | ShapeFamily::AesChain => {
                self.leaves.blocks.map(|leaf| with_blocks!(leaf, simd => leaf_of(simd)))
            }
            ShapeFamily::HashStreams => {
                self.leaves.streams.map(|leaf| with_streams!(leaf, simd => leaf_of(simd)))
            }
            ShapeFamily::ChaCha | ShapeFamily::Des | ShapeFamily::DesChain | ShapeFamily::Hash => {
                self.leaves.vectors.map(|leaf| with_vectors!(leaf, simd => leaf_of(simd)))
            }
            ShapeFamily::RsaPrivate | ShapeFamily::RsaPublic | ShapeFamily::ModExp => {
                self.leaves.rsa.map(|leaf| with_rsa!(leaf, leaf => leaf_of(leaf)))
            }
            _ => self.leaves.curves.map(|leaf| with_curves!(leaf, simd => leaf_of(simd))),
        }
    }

    fn plan(&self, shape: Shape) -> Option<(ShapeFamily, BatchSize)> {
        ShapeFamily::of_shape(shape, &self.leaves)
    }
}

impl Engine for LaneEngine {
    fn name(&self) -> &'static str {
        NAME
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.plan(shape).map(|(_, size)| size)
    }

    fn confirms(&self, _shape: Shape) -> bool {
        false
    }

    fn leaf(&self, shape: Shape) -> Option<EngineLeaf> {
        let (family, size) = self.plan(shape)?;
        let leaf = self.leaf_of_family(family)?;
        // The first leaf of the family is the best. A leaf outside the list, as the portable one, has all of them above it.
        let better = family.leaves(shape).first().filter(|better| **better != leaf);
        let absence = |better: &Leaf| match self.turned_off.contains(better) {
            true => LeafAbsence::TurnedOff,
            false if self.leaves.prefers_narrow && matches!(better, Leaf::Avx512 | Leaf::Vaes512) => {
                LeafAbsence::Slower
            }
            false => LeafAbsence::Processor,
        };
        Some(EngineLeaf {
            name: leaf.name(),
            width: size.preferred,
            better: better.map(|better| (better.name(), absence(better))),
        })
    }

    fn table_usage(&self) -> TableUsage {
        self.tables.table_usage()
    }

    fn wait_for_tables(&self) {
        self.tables.wait_for_tables();
    }

    fn drop_tables(&self) {
        self.tables.drop_tables();
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        let shape = jobs.shape();
        // The same function answers `offers`, so a run cannot accept a shape that the engine does not offer.
        let (family, _) = self.plan(shape).ok_or(not_offered(shape))?;
        // Checked here, because the modules below index statuses and results by the job.
        if out.len() != jobs.len() {
            return Err(failed("the outcomes do not match the jobs: make them with Outcomes::for_jobs"));
        }
        match *jobs {
            Jobs::Operations(
                shape @ (Shape::RsaPrivate { .. } | Shape::RsaPublic { .. } | Shape::ModExp { .. }),
                operations,
            ) => {
                let leaf = self.leaves.rsa_for(shape).ok_or(not_offered(shape))?;
                with_rsa!(leaf, leaf => compute_rsa(leaf, shape, operations, out));
                Ok(())
            }
            Jobs::Operations(shape, operations) => {
                let leaf = self.leaves.curve_for(shape).ok_or(not_offered(shape))?;
                with_curves!(leaf, simd => compute_curves(simd, &self.tables, family, shape, operations, out))
            }
            Jobs::Records(shape, parts) => match (family, self.leaves) {
                (ShapeFamily::AesChain | ShapeFamily::DesChain, leaves) => {
                    cipher_mac::run(&leaves, shape, parts, out)
                }
                (ShapeFamily::Aes, Leaves { blocks: Some(leaf), .. }) => {
                    with_blocks!(leaf, simd => cleared(simd, aes::run(simd, shape, parts, out)))
                }
                (ShapeFamily::ChaCha, Leaves { vectors: Some(leaf), .. }) => {
                    with_products!(leaf, simd => cleared(simd, chacha::run(simd, shape, parts, out)),
                        _ => Err(not_offered(shape)))
                }
                (ShapeFamily::HashStreams, Leaves { streams: Some(leaf), .. }) => {
                    with_streams!(leaf, simd => cleared(simd, streams::run(simd, shape, parts, out)))
                }
                (ShapeFamily::Des | ShapeFamily::Hash, Leaves { vectors: Some(leaf), .. }) => {
                    with_vectors!(leaf, simd => compute_records(simd, family, shape, parts, out))
                }
                _ => Err(not_offered(shape)),
            },
        }
    }
}

pub(crate) fn compute_curves<S: FieldSimd + ecdsa::CurvesSimd>(
    simd: S,
    tables: &VerifyTableCache,
    family: ShapeFamily,
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    let _state = simd.run_state();
    match family {
        ShapeFamily::Ed25519Sign => curve25519::sign::run(simd, operations, out),
        ShapeFamily::Ed25519Verify => curve25519::verify::run(simd, tables, operations, out),
        ShapeFamily::X25519 => curve25519::x25519::run(simd, operations, out),
        ShapeFamily::EcdsaSign(curve) => ecdsa::sign(simd, curve, operations, out),
        ShapeFamily::EcdsaVerify(curve) => ecdsa::verify(simd, tables, curve, operations, out),
        _ => return Err(not_offered(shape)),
    }
    cleared(simd, Ok(()))
}

fn compute_rsa<L: RsaLeaf<N>, const N: usize>(
    leaf: L,
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) {
    let _state = leaf.run_state();
    match shape {
        Shape::RsaPrivate { .. } => rsa::private(leaf, shape, operations, out),
        Shape::RsaPublic { .. } => rsa::public(leaf, shape, operations, out),
        _ => rsa::mod_exp(leaf, shape, operations, out),
    }
    leaf.clear_registers();
}

fn compute_records<S: Simd>(
    simd: S,
    family: ShapeFamily,
    shape: Shape,
    parts: &[&Records<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    let result = match family {
        ShapeFamily::Des => records::run(&mut DesRun::new(simd, shape), parts, out),
        _ => hash::run(simd, shape, parts, out),
    };
    cleared(simd, result)
}

/// Clears the vector registers after a run. Kernels leave keys and intermediate values there, which the caller's code
/// may spill.
fn cleared<C: Cpu>(cpu: C, result: Result<(), EngineFault>) -> Result<(), EngineFault> {
    cpu.clear_registers();
    result
}
