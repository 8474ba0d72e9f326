//! The engine: what it offers, and which unit computes it.

use oarlock_core::{
    BatchSize, DEFAULT_TABLE_BYTES, Engine, EngineFault, Jobs, Operation, Outcomes, Records, Shape,
    TableUsage, VerifyTableCache,
};

use crate::aes;
use crate::curve25519;
use crate::des::{self, Des};
use crate::ecdsa;
use crate::hash;
use crate::records;
use crate::rsa;
use crate::simd::{Blocks, Portable, Simd};
#[cfg(target_arch = "x86_64")]
use crate::simd::{Ifma, Vaes};

pub(crate) const NAME: &str = "lanes";

/// Eight operations in lockstep.
#[derive(Debug)]
pub struct LaneEngine {
    unit: Unit,
    hot: VerifyTableCache,
}

#[derive(Clone, Copy, Debug)]
enum Unit {
    #[cfg(target_arch = "x86_64")]
    Ifma(Ifma, Option<Vaes>),
    Portable(Portable),
}

impl Unit {
    /// True where it has rounds of AES.
    fn has_aes(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Ifma(_, vaes) => vaes.is_some(),
            Self::Portable(_) => true,
        }
    }
}

impl LaneEngine {
    /// The engine, where the CPU has AVX-512 IFMA.
    #[must_use]
    pub fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        return Ifma::detect().map(|ifma| Self::on(Unit::Ifma(ifma, Vaes::detect(ifma))));
        #[cfg(not(target_arch = "x86_64"))]
        return None;
    }

    /// The same algorithms in plain Rust, slower than scalar: the oracle that every machine can test.
    #[must_use]
    pub fn portable() -> Self {
        Self::on(Unit::Portable(Portable))
    }

    /// The same engine with at most so many bytes of verification tables for keys that recur; 64 MiB unless told
    /// otherwise, 0 for none.
    #[must_use]
    pub fn with_table_bytes(self, bytes: usize) -> Self {
        Self { hot: self.hot.with_budget(bytes), ..self }
    }

    /// The same engine, building a key's table before its first use instead of in the background after a few: for tests.
    #[must_use]
    pub fn with_tables_at_once(self) -> Self {
        Self { hot: self.hot.at_once(), ..self }
    }

    fn on(unit: Unit) -> Self {
        Self { unit, hot: VerifyTableCache::new(DEFAULT_TABLE_BYTES) }
    }
}

impl Engine for LaneEngine {
    fn name(&self) -> &'static str {
        NAME
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        match shape {
            Shape::RsaPrivate { .. } | Shape::RsaPublic { .. } | Shape::ModExp { .. } => rsa::offers(shape),
            Shape::Ed25519Sign | Shape::Ed25519Verify | Shape::X25519 => Some(curve25519::OFFERED),
            Shape::EcdsaSign { curve } | Shape::EcdsaVerify { curve } => {
                ecdsa::has(curve).then_some(ecdsa::OFFER)
            }
            shape => match aes::offers(shape) {
                Some(lanes) => self.unit.has_aes().then_some(lanes),
                None => des::offers(shape).or_else(|| hash::offers(shape)),
            },
        }
    }

    fn confirms(&self, _shape: Shape) -> bool {
        false
    }

    fn table_usage(&self) -> TableUsage {
        self.hot.table_usage()
    }

    fn wait_for_tables(&self) {
        self.hot.wait_for_tables();
    }

    fn drop_tables(&self) {
        self.hot.drop_tables();
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        let shape = jobs.shape();
        if self.offers(shape).is_none() {
            return Err(EngineFault::NotOffered { engine: NAME, shape });
        }
        if out.len() != jobs.len() {
            return Err(failed("the outcomes were not made for these jobs"));
        }
        match self.unit {
            #[cfg(target_arch = "x86_64")]
            Unit::Ifma(_, Some(simd)) if aes::offers(shape).is_some() => run_aes(simd, jobs, out),
            Unit::Portable(simd) if aes::offers(shape).is_some() => run_aes(simd, jobs, out),
            #[cfg(target_arch = "x86_64")]
            Unit::Ifma(simd, _) => self.run_on(simd, jobs, out),
            Unit::Portable(simd) => self.run_on(simd, jobs, out),
        }
    }
}

impl LaneEngine {
    fn run_on<S: Simd>(&self, simd: S, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        match jobs {
            Jobs::Operations(shape, operations) => self.compute(simd, *shape, operations, out)?,
            Jobs::Records(shape, parts) => compute_records(simd, *shape, parts, out)?,
        }
        simd.clear_registers();
        Ok(())
    }

    fn compute<S: Simd>(
        &self,
        simd: S,
        shape: Shape,
        operations: &[Operation<'_>],
        out: &mut Outcomes,
    ) -> Result<(), EngineFault> {
        match shape {
            Shape::RsaPrivate { .. } => rsa::private(simd, shape, operations, out),
            Shape::RsaPublic { .. } => rsa::public(simd, shape, operations, out),
            Shape::ModExp { .. } => rsa::mod_exp(simd, shape, operations, out),
            Shape::Ed25519Sign => curve25519::sign::run(simd, operations, out),
            Shape::Ed25519Verify => curve25519::verify::run(simd, &self.hot, operations, out),
            Shape::X25519 => curve25519::x25519::run(simd, operations, out),
            Shape::EcdsaSign { curve } if ecdsa::has(curve) => ecdsa::sign(simd, curve, operations, out),
            Shape::EcdsaVerify { curve } if ecdsa::has(curve) => {
                ecdsa::verify(simd, &self.hot, curve, operations, out);
            }
            _ => return Err(EngineFault::NotOffered { engine: NAME, shape }),
        }
        Ok(())
    }
}

fn run_aes<S: Blocks>(simd: S, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
    let Jobs::Records(shape, parts) = jobs else {
        return Err(EngineFault::NotOffered { engine: NAME, shape: jobs.shape() });
    };
    aes::run(simd, *shape, parts, out)?;
    simd.clear_registers();
    Ok(())
}

fn compute_records<S: Simd>(
    simd: S,
    shape: Shape,
    parts: &[&Records<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    match des::offers(shape) {
        Some(_) => records::run(&mut Des::new(simd, shape), parts, out),
        None => hash::run(simd, shape, parts, out),
    }
}

/// A fault with a fixed reason.
pub(crate) fn failed(reason: &str) -> EngineFault {
    EngineFault::Failed { engine: NAME, reason: reason.into() }
}
