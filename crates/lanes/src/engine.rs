//! The engine: what it offers, and which unit computes it.

use oarlock_core::{Engine, EngineFault, Jobs, Lanes, Operation, Outcomes, Shape};

#[cfg(target_arch = "x86_64")]
use crate::simd::Ifma;
use crate::simd::{LANES, Portable, Simd};

pub(crate) const NAME: &str = "lanes";

/// Eight operations in lockstep.
#[derive(Debug)]
pub struct LaneEngine {
    unit: Unit,
}

#[derive(Clone, Copy, Debug)]
enum Unit {
    #[cfg(target_arch = "x86_64")]
    Ifma(Ifma),
    Portable(Portable),
}

impl LaneEngine {
    /// The engine, where the CPU has AVX-512 IFMA.
    #[must_use]
    pub fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        return Ifma::detect().map(|ifma| Self { unit: Unit::Ifma(ifma) });
        #[cfg(not(target_arch = "x86_64"))]
        return None;
    }

    /// The same algorithms in plain Rust, slower than scalar: the oracle that every machine can test.
    #[must_use]
    pub fn portable() -> Self {
        Self { unit: Unit::Portable(Portable) }
    }
}

impl Engine for LaneEngine {
    fn name(&self) -> &'static str {
        NAME
    }

    fn offers(&self, shape: Shape) -> Option<Lanes> {
        match shape {
            _ => None,
        }
    }

    fn confirms(&self, _shape: Shape) -> bool {
        false
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        let shape = jobs.shape();
        let Jobs::Operations(_, operations) = jobs else {
            return Err(EngineFault::NotOffered { engine: NAME, shape });
        };
        if self.offers(shape).is_none() {
            return Err(EngineFault::NotOffered { engine: NAME, shape });
        }
        if out.len() != operations.len() {
            return Err(failed("the outcomes were not made for these jobs"));
        }
        match self.unit {
            #[cfg(target_arch = "x86_64")]
            Unit::Ifma(simd) => self.compute(simd, shape, operations, out),
            Unit::Portable(simd) => self.compute(simd, shape, operations, out),
        }
    }
}

impl LaneEngine {
    fn compute<S: Simd>(
        &self,
        simd: S,
        shape: Shape,
        operations: &[Operation<'_>],
        out: &mut Outcomes,
    ) -> Result<(), EngineFault> {
        match shape {
            _ => return Err(EngineFault::NotOffered { engine: NAME, shape }),
        }
        simd.clear_registers();
        Ok(())
    }
}

/// A fault with a fixed reason.
fn failed(reason: &str) -> EngineFault {
    EngineFault::Failed { engine: NAME, reason: reason.into() }
}
