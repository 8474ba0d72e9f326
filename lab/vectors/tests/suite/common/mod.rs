//! An engine for verifications alone.

use oarlock_core::{BatchSize, Engine, EngineFault, Jobs, Outcomes, Shape};

/// Offers only verifications, which are all that verification tables serve.
#[derive(Debug)]
pub(crate) struct VerificationOnly<E>(pub(crate) E);

impl<E: Engine> Engine for VerificationOnly<E> {
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
