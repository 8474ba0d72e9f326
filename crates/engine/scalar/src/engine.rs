//! The engine: the shapes that it offers and the results that it confirms.

use std::sync::Arc;

use oarlock_core::{BatchSize, Engine, EngineFault, Jobs, Outcomes, Shape, TableUsage};
use oarlock_engine_kit::{DEFAULT_TABLE_BYTES, VerifyTableCache};

use crate::fault::{NAME, engine_failure, not_offered};
use crate::{operations, records, tables};

/// An engine that computes with AWS-LC, one job at a time. On request it verifies with tables of keys that recur.
#[derive(Clone, Debug)]
pub struct ScalarEngine {
    /// The verification tables of keys that recur. None in a referee, because the engine that checks others must be
    /// AWS-LC alone.
    cache: Option<Arc<VerifyTableCache>>,
}

impl ScalarEngine {
    /// Returns the engine. AWS-LC runs on every CPU, so this is never None.
    #[must_use]
    pub fn detect() -> Option<Self> {
        Some(Self { cache: None })
    }

    /// Adds tables for P-256 and Ed25519 verification under keys that recur, for CPUs without a lane engine.
    /// Verification with a table is 2.5 to 6 times as fast as AWS-LC. `bytes` bounds all tables together; 0 switches
    /// them off.
    #[must_use]
    pub fn with_table_bytes(self, bytes: usize) -> Self {
        Self { cache: (bytes > 0).then(|| Arc::new(VerifyTableCache::new(bytes))) }
    }

    /// Builds each table before its key's first use, and not in the background after a few uses. An engine without
    /// tables gets 64 MiB of them. For tests.
    #[must_use]
    pub fn with_tables_at_once(self) -> Self {
        let bytes = self.cache.map_or(DEFAULT_TABLE_BYTES, |cache| cache.table_usage().max_bytes);
        Self { cache: Some(Arc::new(VerifyTableCache::new(bytes).at_once())) }
    }
}

/// Batch sizes of operations. An operation takes microseconds to milliseconds; 64 keep a run short enough for other
/// queues.
const OPERATIONS: BatchSize = BatchSize { preferred: 1, max: 64 };

/// The longest exponent in bits. Shares of a threshold key are longer than their modulus. Shoup 2000, section 3.
const MAX_EXPONENT_BITS: u16 = 16_384;

/// Batch sizes of records, which take tens of nanoseconds to microseconds each.
const RECORDS: BatchSize = BatchSize { preferred: 1, max: 65_536 };

impl Engine for ScalarEngine {
    fn name(&self) -> &'static str {
        NAME
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        match shape {
            Shape::RsaPrivate { bits } | Shape::RsaPublic { bits, .. } => {
                is_modulus(bits).then_some(OPERATIONS)
            }
            Shape::ModExp { bits, exponent_bits } => {
                (is_modulus(bits) && (1..=MAX_EXPONENT_BITS).contains(&exponent_bits)).then_some(OPERATIONS)
            }
            Shape::EcdsaSign { .. }
            | Shape::EcdsaVerify { .. }
            | Shape::Ed25519Sign
            | Shape::Ed25519Verify
            | Shape::X25519
            | Shape::Ecdh { .. }
            | Shape::MlKemKeygen { .. }
            | Shape::MlKemEncaps { .. }
            | Shape::MlKemDecaps { .. }
            | Shape::MlDsaSign { .. }
            | Shape::MlDsaVerify { .. }
            | Shape::SlhDsaKeygen { .. }
            | Shape::SlhDsaSign { .. }
            | Shape::SlhDsaVerify { .. }
            | Shape::HssVerify
            | Shape::XmssVerify => Some(OPERATIONS),
            _ if !shape.is_possible() => None,
            Shape::Cipher { .. }
            | Shape::Chain { .. }
            | Shape::Aead { .. }
            | Shape::Fpe { .. }
            | Shape::Mac { .. }
            | Shape::Digest { .. }
            | Shape::DigestPart { .. }
            | Shape::Wrap { .. }
            | Shape::Translate { .. } => Some(RECORDS),
            _ => None,
        }
    }

    /// Returns true for RSA private operations. AWS-LC raises every such result to e and compares it with the input
    /// before it unblinds and returns the result, with CRT and without (`rsa_default_private_transform` in
    /// crypto/fipsmodule/rsa/rsa_impl.c: "Verify the result to protect against fault attacks"). It does so if e is
    /// known, and keys of this contract always have e. AWS-LC refuses three inputs, which `rsa` answers itself: each
    /// is its own e-th power.
    fn confirms(&self, shape: Shape) -> bool {
        matches!(shape, Shape::RsaPrivate { .. })
    }

    fn table_usage(&self) -> TableUsage {
        self.cache.as_ref().map_or_else(TableUsage::default, |cache| cache.table_usage())
    }

    fn wait_for_tables(&self) {
        self.cache.iter().for_each(|cache| cache.wait_for_tables());
    }

    fn drop_tables(&self) {
        self.cache.iter().for_each(|cache| cache.drop_tables());
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        let shape = jobs.shape();
        if self.offers(shape).is_none() {
            return Err(not_offered(shape));
        }
        if out.len() != jobs.len() {
            return Err(engine_failure(
                "the outcomes do not match the jobs: make them with Outcomes::for_jobs",
            ));
        }
        match jobs {
            Jobs::Operations(_, operations) if !shape.is_record() => {
                // Tables run first and for the whole run at once, because their signatures share inversions.
                let verdicts = self.cache.as_ref().map(|cache| tables::verdicts(cache, shape, operations));
                operations::run(shape, operations, &verdicts.unwrap_or_default(), out)
            }
            Jobs::Records(_, parts) if shape.is_record() => records::run(shape, parts, out),
            _ => Err(engine_failure(
                "the shape and the jobs differ: one is of records, the other of operations",
            )),
        }
    }
}

fn is_modulus(bits: u16) -> bool {
    (512..=8192).contains(&bits)
}
