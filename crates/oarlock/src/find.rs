//! Finding the engines of this machine. Only the hall names them.

use std::collections::HashMap;
use std::sync::Arc;

use oarlock_core::{
    BlockCipher, CipherMode, CipherSpec, Engine, EngineFault, Jobs, Lanes, Outcomes, Reach, Shape,
};
use oarlock_scalar::Scalar;

use crate::selftest::{Failure, Proof, prove, representative};

/// The environment variable that turns engines off: names separated by commas, `OARLOCK_DISABLE=lanes`. The scalar engine
/// cannot be turned off, since it is the referee.
pub const DISABLE_VARIABLE: &str = "OARLOCK_DISABLE";

/// Engines that this build knows, best first.
pub const KNOWN_ENGINES: [&str; 1] = ["scalar"];

/// The referee, and the other engines that this machine has and `is_allowed` lets in.
pub(crate) fn find(_is_allowed: impl Fn(&str) -> bool) -> Option<(Scalar, Vec<Arc<dyn Engine>>)> {
    Some((Scalar::detect()?, Vec::new()))
}

/// Engines named in [`DISABLE_VARIABLE`].
pub(crate) fn disabled_by_environment() -> Vec<String> {
    let value = std::env::var(DISABLE_VARIABLE).unwrap_or_default();
    value.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Every shape that is proved at detection: the named ones and one translation. RSA of unusual sizes is vouched for by
/// the [`representative`] of its size.
#[must_use]
pub fn proved_shapes() -> Vec<Shape> {
    let cbc = |alg| CipherSpec { alg, mode: CipherMode::Cbc };
    let translate = Shape::Translate { from: cbc(BlockCipher::Tdes2), to: cbc(BlockCipher::Aes256) };
    [Shape::public_key(), Shape::records(), vec![translate]].concat()
}

/// An engine with the verdicts of its self test: it offers only what it has proved.
#[derive(Debug)]
pub(crate) struct Proved {
    engine: Arc<dyn Engine>,
    verdicts: HashMap<Shape, Result<Proof, Failure>>,
}

impl Proved {
    /// Runs the self test of every shape that the engine offers.
    pub(crate) fn new(engine: Arc<dyn Engine>, referee: &dyn Engine) -> Self {
        let offered = proved_shapes().into_iter().filter(|shape| engine.offers(*shape).is_some());
        let verdicts = offered.map(|shape| (shape, prove(&*engine, referee, shape))).collect();
        Self { engine, verdicts }
    }

    pub(crate) fn verdict(&self, shape: Shape) -> Option<&Result<Proof, Failure>> {
        self.verdicts.get(&shape)
    }

    /// What it would offer had it passed every test.
    pub(crate) fn claims(&self, shape: Shape) -> Option<Lanes> {
        self.engine.offers(shape)
    }

    fn is_proved(&self, shape: Shape) -> bool {
        let vouching = match shape {
            Shape::Translate { .. } => {
                proved_shapes().into_iter().find(|own| matches!(own, Shape::Translate { .. }))
            }
            shape => Some(representative(shape)),
        };
        vouching.and_then(|shape| self.verdicts.get(&shape)).is_some_and(Result::is_ok)
    }
}

impl Engine for Proved {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn offers(&self, shape: Shape) -> Option<Lanes> {
        self.engine.offers(shape).filter(|_| self.is_proved(shape))
    }

    fn confirms(&self, shape: Shape) -> bool {
        self.engine.confirms(shape)
    }

    fn reach(&self) -> Reach {
        self.engine.reach()
    }

    fn prepared_bytes(&self) -> usize {
        self.engine.prepared_bytes()
    }

    fn settle(&self) {
        self.engine.settle();
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        self.engine.run(jobs, out)
    }
}

/// The test that an engine put aside must pass: the shape it lost, or all that it offers.
pub(crate) fn probe(engine: &dyn Engine, referee: &dyn Engine, shape: Option<Shape>) -> bool {
    let shapes = match shape {
        Some(shape) => vec![representative(shape)],
        None => proved_shapes(),
    };
    let mut offered = shapes.into_iter().filter(|shape| engine.offers(*shape).is_some()).peekable();
    offered.peek().is_some() && offered.all(|shape| prove(engine, referee, shape).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selftest::Corrupt;

    #[test]
    fn an_engine_offers_only_what_it_has_proved() {
        let scalar = Scalar::detect().unwrap();
        let corrupt: Arc<dyn Engine> =
            Arc::new(Corrupt::new(Scalar::detect().unwrap(), Shape::Ed25519Sign, 0));
        let proved = Proved::new(corrupt, &scalar);
        assert!(proved.claims(Shape::Ed25519Sign).is_some() && proved.offers(Shape::Ed25519Sign).is_none());
        assert!(proved.verdict(Shape::Ed25519Sign).is_some_and(Result::is_err));
        assert!(proved.offers(Shape::Ed25519Verify).is_some());
        assert!(!probe(&*proved.engine, &scalar, Some(Shape::Ed25519Sign)));
        assert!(probe(&*proved.engine, &scalar, Some(Shape::Ed25519Verify)));
    }

    #[test]
    fn a_failed_size_withdraws_the_sizes_it_vouches_for() {
        let shape = Shape::RsaPrivate { bits: 2048 };
        let scalar = Scalar::detect().unwrap();
        let proved = Proved::new(Arc::new(Corrupt::new(Scalar::detect().unwrap(), shape, 0)), &scalar);
        assert!(proved.offers(shape).is_none() && proved.offers(Shape::RsaPrivate { bits: 2000 }).is_none());
        assert!(proved.offers(Shape::RsaPrivate { bits: 3072 }).is_some());
    }
}
