//! The search for circuits of three-input gates.
//!
//! | module | content |
//! |---|---|
//! | `build` | a first circuit, output by output; `fit` and `pair` are its smallest steps |
//! | `walk` | a random walk to smaller circuits |

pub(super) mod build;
mod fit;
mod pair;
pub(super) mod walk;

use super::circuit::{Circuit, OUTPUTS, Truth};
use super::random::SearchRandom;
use build::FULL;

/// The number of steps of the walk from each circuit that is built.
const STEPS: usize = 1000;

/// Builds a circuit for these outputs, and walks to a smaller one.
pub(super) fn circuit(truths: &[Truth; OUTPUTS], random: &mut SearchRandom) -> Circuit {
    let mut circuit = build::build(truths, FULL, random);
    (0..STEPS).for_each(|_| walk::step(&mut circuit, random));
    circuit
}
