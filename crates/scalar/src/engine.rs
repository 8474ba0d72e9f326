//! The engine: what it offers and confirms.

use std::sync::Arc;

use oarlock_core::{
    BatchSize, CipherMode, CipherSpec, DEFAULT_TABLE_BYTES, Engine, EngineFault, Jobs, Outcomes, Shape,
    TableUsage, VerifyTableCache,
};

use crate::fault::{NAME, failed, not_offered};
use crate::{operations, records, tables};

/// AWS-LC, one job at a time; with tables where that is asked for.
#[derive(Clone, Debug)]
pub struct ScalarEngine {
    /// Verification tables of keys that recur. None in a referee: what judges other engines is AWS-LC alone.
    cache: Option<Arc<VerifyTableCache>>,
}

impl ScalarEngine {
    /// The engine; AWS-LC runs everywhere, so it is always there.
    #[must_use]
    pub fn detect() -> Option<Self> {
        Some(Self { cache: None })
    }

    /// The same engine, verifying P-256 and Ed25519 by tables under keys that recur: two and a half to six times as fast as AWS-LC, and
    /// for processors without lanes. `bytes` bounds all tables together; 0 is for none.
    #[must_use]
    pub fn with_table_bytes(self, bytes: usize) -> Self {
        Self { cache: (bytes > 0).then(|| Arc::new(VerifyTableCache::new(bytes))) }
    }

    /// The same with tables, of 64 MiB where it had none, each built before its key's first use instead of in the background after a
    /// few: for tests.
    #[must_use]
    pub fn with_tables_at_once(self) -> Self {
        let bytes = self.cache.map_or(DEFAULT_TABLE_BYTES, |cache| cache.table_usage().max_bytes);
        Self { cache: Some(Arc::new(VerifyTableCache::new(bytes).at_once())) }
    }
}

/// Operations take microseconds to milliseconds, so a run stays short enough for others to get their turn.
const OPERATIONS: BatchSize = BatchSize { preferred: 1, max: 64 };

/// Shares of a threshold key are longer than their modulus. Shoup 2000, section 3.
const MAX_EXPONENT_BITS: u16 = 16_384;

/// Records take tens of nanoseconds to microseconds.
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
            | Shape::X25519 => Some(OPERATIONS),
            Shape::Cipher { mode: CipherMode::Cbc, .. }
            | Shape::Aead { .. }
            | Shape::Mac { .. }
            | Shape::Digest { .. }
            | Shape::DigestPart { .. }
            | Shape::Wrap { .. }
            | Shape::Translate {
                from: CipherSpec { mode: CipherMode::Cbc, .. },
                to: CipherSpec { mode: CipherMode::Cbc, .. },
            } => Some(RECORDS),
            _ => None,
        }
    }

    /// AWS-LC raises every RSA private result to e and compares before it unblinds and returns it, with CRT and without
    /// (`rsa_default_private_transform` in crypto/fipsmodule/rsa/rsa_impl.c: "Verify the result to protect against fault
    /// attacks"). It does so where e is known, and keys of this contract always have e. The three inputs that AWS-LC
    /// refuses and `rsa` answers itself are their own e-th powers.
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
            return Err(failed("the outcomes were not made for these jobs"));
        }
        match jobs {
            Jobs::Operations(_, operations) if !shape.is_record() => {
                let verdicts = self.cache.as_ref().map(|cache| tables::verdicts(cache, shape, operations));
                operations::run(shape, operations, &verdicts.unwrap_or_default(), out)
            }
            Jobs::Records(_, parts) if shape.is_record() => records::run(shape, parts, out),
            _ => Err(failed("the jobs are of another kind than their shape")),
        }
    }
}

fn is_modulus(bits: u16) -> bool {
    (512..=8192).contains(&bits)
}
