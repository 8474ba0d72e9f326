//! The capacity of a resolver that also does other work than the verification of signatures.

/// The CPU time of a validation beyond the bare verification, in microseconds. It was measured with Unbound 1.17. A
/// query that missed the cache cost 104 µs with P-256 and 27 µs without validation. About 40 µs of the difference were
/// cryptography.
pub const OVERHEAD_US: f64 = 37.0;

/// The CPU time that validation may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuBudget {
    /// The number of cores.
    pub cores: f64,
    /// The share of their time that validation may take, above 0 and at most 1.
    pub cpu_share: f64,
    /// The microseconds of a validation beyond the bare verification.
    pub overhead_us: f64,
}

impl CpuBudget {
    /// Returns the validations per second of a core that does nothing else, from its bare verifications per second.
    #[must_use]
    pub fn validations_per_s(&self, verifications_per_s: f64) -> f64 {
        1.0 / (1.0 / verifications_per_s + self.overhead_us * 1e-6)
    }

    /// Returns the validations per second within the budget.
    #[must_use]
    pub fn capacity_per_s(&self, verifications_per_s: f64) -> f64 {
        self.validations_per_s(verifications_per_s) * self.cores * self.cpu_share
    }
}
