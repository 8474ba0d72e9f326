//! The engine: the shapes that it offers, and the module that computes each.

use oarlock_core::{
    BatchSize, Curve, DEFAULT_TABLE_BYTES, Engine, EngineFault, Jobs, Operation, Outcomes, Records, Shape,
    TableUsage, VerifyTableCache,
};

use crate::aes;
use crate::curve25519;
use crate::des::{self, DesRun};
use crate::ecdsa;
use crate::fault::{NAME, failed, not_offered};
use crate::hash;
use crate::records;
use crate::rsa;
#[cfg(any(test, feature = "portable"))]
use crate::simd::PortableSimd;
use crate::simd::{BlockSimd, Simd};
#[cfg(target_arch = "x86_64")]
use crate::simd::{IfmaSimd, VaesSimd};

/// An engine that computes eight operations in lockstep, one per 64-bit lane.
#[derive(Debug)]
pub struct LaneEngine {
    leaf: CpuLeaf,
    tables: VerifyTableCache,
}

/// The leaf that computes vectors on this CPU.
#[derive(Clone, Copy, Debug)]
enum CpuLeaf {
    #[cfg(target_arch = "x86_64")]
    Ifma(IfmaSimd, Option<VaesSimd>),
    #[cfg(any(test, feature = "portable"))]
    Portable(PortableSimd),
}

impl CpuLeaf {
    /// True if the leaf computes rounds of AES.
    fn has_aes(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Ifma(_, vaes) => vaes.is_some(),
            #[cfg(any(test, feature = "portable"))]
            Self::Portable(_) => true,
        }
    }
}

/// The module that computes a shape.
#[derive(Clone, Copy, Debug)]
enum ShapeFamily {
    RsaPrivate,
    RsaPublic,
    ModExp,
    Ed25519Sign,
    Ed25519Verify,
    X25519,
    EcdsaSign(Curve),
    EcdsaVerify(Curve),
    Aes,
    Des,
    Hash,
}

impl ShapeFamily {
    /// Returns the family of a shape and its batch sizes, or None if no module computes the shape.
    fn of_shape(shape: Shape) -> Option<(Self, BatchSize)> {
        Some(match shape {
            Shape::RsaPrivate { .. } => (Self::RsaPrivate, rsa::offers(shape)?),
            Shape::RsaPublic { .. } => (Self::RsaPublic, rsa::offers(shape)?),
            Shape::ModExp { .. } => (Self::ModExp, rsa::offers(shape)?),
            Shape::Ed25519Sign => (Self::Ed25519Sign, curve25519::OFFERED),
            Shape::Ed25519Verify => (Self::Ed25519Verify, curve25519::OFFERED),
            Shape::X25519 => (Self::X25519, curve25519::OFFERED),
            Shape::EcdsaSign { curve } if ecdsa::has(curve) => (Self::EcdsaSign(curve), ecdsa::OFFER),
            Shape::EcdsaVerify { curve } if ecdsa::has(curve) => (Self::EcdsaVerify(curve), ecdsa::OFFER),
            shape => {
                let aes = || aes::offers(shape).map(|size| (Self::Aes, size));
                let des = || des::offers(shape).map(|size| (Self::Des, size));
                let hash = || hash::offers(shape).map(|size| (Self::Hash, size));
                aes().or_else(des).or_else(hash)?
            }
        })
    }
}

impl LaneEngine {
    /// Returns the engine if this CPU has AVX-512 IFMA.
    #[must_use]
    pub fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        return IfmaSimd::detect().map(|ifma| Self::on(CpuLeaf::Ifma(ifma, VaesSimd::detect(ifma))));
        #[cfg(not(target_arch = "x86_64"))]
        return None;
    }

    /// Returns the same algorithms in plain Rust. They are slower than the scalar engine and run on every machine,
    /// so tests take them as the oracle.
    #[cfg(any(test, feature = "portable"))]
    #[must_use]
    pub fn portable() -> Self {
        Self::on(CpuLeaf::Portable(PortableSimd))
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

    #[cfg(any(target_arch = "x86_64", test, feature = "portable"))]
    fn on(leaf: CpuLeaf) -> Self {
        Self { leaf, tables: VerifyTableCache::new(DEFAULT_TABLE_BYTES) }
    }

    /// Returns the family of a shape and its batch sizes, or None if this CPU does not compute the shape.
    fn plan(&self, shape: Shape) -> Option<(ShapeFamily, BatchSize)> {
        // AES needs VAES too, which some CPUs with IFMA lack.
        ShapeFamily::of_shape(shape)
            .filter(|(family, _)| !matches!(family, ShapeFamily::Aes) || self.leaf.has_aes())
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
        match self.leaf {
            #[cfg(target_arch = "x86_64")]
            CpuLeaf::Ifma(simd, blocks) => self.run_on(simd, blocks, family, jobs, out),
            #[cfg(any(test, feature = "portable"))]
            CpuLeaf::Portable(simd) => self.run_on(simd, Some(simd), family, jobs, out),
        }
    }
}

impl LaneEngine {
    /// Computes jobs on a leaf. `blocks` is the same leaf, if it computes rounds of AES.
    fn run_on<S: Simd, B: BlockSimd>(
        &self,
        simd: S,
        blocks: Option<B>,
        family: ShapeFamily,
        jobs: &Jobs<'_>,
        out: &mut Outcomes,
    ) -> Result<(), EngineFault> {
        match *jobs {
            Jobs::Operations(shape, operations) => self.compute(simd, family, shape, operations, out)?,
            Jobs::Records(shape, parts) => compute_records(simd, blocks, family, shape, parts, out)?,
        }
        // Kernels leave keys and intermediate values in vector registers, which the caller's code may spill.
        simd.clear_registers();
        Ok(())
    }

    fn compute<S: Simd>(
        &self,
        simd: S,
        family: ShapeFamily,
        shape: Shape,
        operations: &[Operation<'_>],
        out: &mut Outcomes,
    ) -> Result<(), EngineFault> {
        match family {
            ShapeFamily::RsaPrivate => rsa::private(simd, shape, operations, out),
            ShapeFamily::RsaPublic => rsa::public(simd, shape, operations, out),
            ShapeFamily::ModExp => rsa::mod_exp(simd, shape, operations, out),
            ShapeFamily::Ed25519Sign => curve25519::sign::run(simd, operations, out),
            ShapeFamily::Ed25519Verify => curve25519::verify::run(simd, &self.tables, operations, out),
            ShapeFamily::X25519 => curve25519::x25519::run(simd, operations, out),
            ShapeFamily::EcdsaSign(curve) => ecdsa::sign(simd, curve, operations, out),
            ShapeFamily::EcdsaVerify(curve) => ecdsa::verify(simd, &self.tables, curve, operations, out),
            ShapeFamily::Aes | ShapeFamily::Des | ShapeFamily::Hash => return Err(not_offered(shape)),
        }
        Ok(())
    }
}

fn compute_records<S: Simd, B: BlockSimd>(
    simd: S,
    blocks: Option<B>,
    family: ShapeFamily,
    shape: Shape,
    parts: &[&Records<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    match (family, blocks) {
        (ShapeFamily::Aes, Some(blocks)) => aes::run(blocks, shape, parts, out),
        (ShapeFamily::Des, _) => records::run(&mut DesRun::new(simd, shape), parts, out),
        (ShapeFamily::Hash, _) => hash::run(simd, shape, parts, out),
        _ => Err(not_offered(shape)),
    }
}
