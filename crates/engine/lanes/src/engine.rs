//! The engine: the shapes that it offers, and the run of a batch.

use oarlock_core::{
    BatchSize, Engine, EngineFault, EngineLeaf, Jobs, LeafAbsence, Outcomes, Shape, TableUsage,
};
use oarlock_engine_kit::{DEFAULT_TABLE_BYTES, VerifyTableCache};

use crate::cipher_mac;
use crate::fault::{NAME, engine_failure, not_offered};
use crate::leaves::{LeafChoice, Leaves};
use crate::simd::Leaf;

/// An engine that computes many operations in lockstep, one per lane.
#[derive(Debug)]
pub struct LaneEngine {
    leaves: Leaves,
    /// The leaves that the caller has turned off.
    turned_off: Vec<Leaf>,
    tables: VerifyTableCache,
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
        let leaves = Leaves::detect(&allows);
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
    #[must_use]
    pub fn without_secrets_on_fma(self) -> Self {
        Self { leaves: self.leaves.without_secrets_on_fma(), ..self }
    }

    fn choice(&self, shape: Shape) -> Option<LeafChoice> {
        self.leaves.choice(shape).or_else(|| cipher_mac::choice(&self.leaves, shape))
    }
}

impl Engine for LaneEngine {
    fn name(&self) -> &'static str {
        NAME
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.choice(shape).map(|choice| choice.size)
    }

    fn confirms(&self, _shape: Shape) -> bool {
        false
    }

    fn leaf(&self, shape: Shape) -> Option<EngineLeaf> {
        let LeafChoice { leaf, size, best } = self.choice(shape)?;
        let absence = match self.turned_off.contains(&best) {
            true => LeafAbsence::TurnedOff,
            false if self.leaves.prefers_narrow() && matches!(best, Leaf::Avx512 | Leaf::Vaes512) => {
                LeafAbsence::Slower
            }
            false => LeafAbsence::Processor,
        };
        let better = (best != leaf).then(|| (best.name(), absence));
        Some(EngineLeaf { name: leaf.name(), width: size.preferred, better })
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
        // Checked here, because the kernels index statuses and results by the job.
        if out.len() != jobs.len() {
            return Err(engine_failure(
                "the outcomes do not match the jobs: make them with Outcomes::for_jobs",
            ));
        }
        match *jobs {
            Jobs::Operations(shape, operations) => {
                let (_, kernels) = self.leaves.operations(shape).ok_or(not_offered(shape))?;
                kernels.run(&self.tables, shape, operations, out)
            }
            Jobs::Records(shape @ Shape::Chain { .. }, parts) => {
                cipher_mac::run(&self.leaves, shape, parts, out)
            }
            Jobs::Records(shape, parts) => {
                let (_, kernels) = self.leaves.records(shape).ok_or(not_offered(shape))?;
                kernels.run(shape, parts, out)
            }
        }
    }
}
