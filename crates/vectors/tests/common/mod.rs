//! What the test files share.

use oarlock_core::{BatchSize, Engine, EngineFault, Jobs, Outcomes, Shape};

/// Verifications alone: what tables for keys that recur are for.
#[derive(Debug)]
pub(crate) struct Verifying<E>(pub(crate) E);

impl<E: Engine> Engine for Verifying<E> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.0.offers(shape).filter(|_| shape.signature_len().is_some())
    }

    fn confirms(&self, shape: Shape) -> bool {
        self.0.confirms(shape)
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        self.0.run(jobs, out)
    }
}
