//! An engine that leaks on purpose. A check that does not find its leak proves nothing.

use oarlock_core::{
    BatchSize, Engine, EngineFault, Jobs, Key, KeyParts, LatticePrivate, LatticePrivateParts, Outcomes, Shape,
};

/// An engine that takes one more step for every set bit of a secret, as a square-and-multiply loop does.
#[derive(Debug)]
pub struct PlantedLeak<'e>(pub &'e dyn Engine);

impl Engine for PlantedLeak<'_> {
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
        // The sum is used, so that the optimiser keeps the steps.
        std::hint::black_box(keys.into_iter().map(take_steps).sum::<u64>());
        self.0.run(jobs, out)
    }
}

/// Visits the bits of a secret, and takes a step for each set bit.
fn take_steps(key: &Key) -> u64 {
    let secret = match key.parts() {
        Some(KeyParts::X25519Private(parts)) => parts.scalar.expose(),
        Some(KeyParts::Ed25519Private(parts)) => parts.seed.expose(),
        Some(KeyParts::EcPrivate(parts)) => parts.scalar.expose(),
        Some(KeyParts::ModExp(parts)) => parts.exponent.expose(),
        Some(KeyParts::RsaPrivate(parts)) => parts.dp.expose(),
        Some(KeyParts::Secret(secret)) => secret.expose(),
        Some(KeyParts::MlKemPrivate(LatticePrivateParts {
            private: LatticePrivate::Expanded(key), ..
        }))
        | Some(KeyParts::MlDsaPrivate(LatticePrivateParts {
            private: LatticePrivate::Expanded(key), ..
        })) => key.expose(),
        Some(KeyParts::SlhDsaPrivate(set, private)) => {
            private.expose().get(..set.public_len()).unwrap_or_default()
        }
        _ => &[],
    };
    // The unit of SLH-DSA is a hash, some hundred nanoseconds. A shorter step is lost in the milliseconds of a signature.
    let rounds = if matches!(key.parts(), Some(KeyParts::SlhDsaPrivate(..))) { 32 } else { 1 };
    let mut steps = 1;
    for bit in secret.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1)) {
        steps = std::hint::black_box(steps * 3 % 1_000_003);
        // A branch and not a selection: the optimiser must not make the planted leak constant-time.
        if std::hint::black_box(bit) == 1 {
            for _ in 0..rounds {
                steps = std::hint::black_box(steps * 5 % 1_000_003);
            }
        }
    }
    steps
}
