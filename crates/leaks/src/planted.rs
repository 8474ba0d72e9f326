//! An engine that leaks on purpose: a check that does not notice it proves nothing.

use oarlock_core::{BatchSize, Engine, EngineFault, Jobs, Key, KeyParts, Outcomes, Shape};

/// Another engine, slower by one step for every bit that is set in a secret: a square-and-multiply loop's leak.
#[derive(Debug)]
pub struct Planted<E>(pub E);

impl<E: Engine> Engine for Planted<E> {
    fn name(&self) -> &'static str {
        "planted"
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.0.offers(shape)
    }

    fn confirms(&self, shape: Shape) -> bool {
        self.0.confirms(shape)
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        let keys: Vec<&Key> = match jobs {
            Jobs::Operations(_, operations) => operations.iter().map(|operation| operation.key).collect(),
            Jobs::Records(_, parts) => parts.iter().flat_map(|records| records.keys.iter()).collect(),
        };
        std::hint::black_box(keys.into_iter().map(steps).sum::<u64>());
        self.0.run(jobs, out)
    }
}

/// Walks over the bits of a secret and does more for those that are set.
fn steps(key: &Key) -> u64 {
    let secret = match key.parts() {
        Some(KeyParts::X25519Private(parts)) => parts.scalar.expose(),
        Some(KeyParts::Ed25519Private(parts)) => parts.seed.expose(),
        Some(KeyParts::EcPrivate(parts)) => parts.scalar.expose(),
        Some(KeyParts::ModExp(parts)) => parts.exponent.expose(),
        Some(KeyParts::RsaPrivate(parts)) => parts.dp.expose(),
        Some(KeyParts::Secret(secret)) => secret.expose(),
        _ => &[],
    };
    let mut steps = 1;
    for bit in secret.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1)) {
        steps = std::hint::black_box(steps * 3 % 1_000_003);
        if std::hint::black_box(bit) == 1 {
            steps = std::hint::black_box(steps * 5 % 1_000_003);
        }
    }
    steps
}
