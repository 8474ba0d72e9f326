//! The leaves whose kernels are checked, and the subjects of each.

use oarlock_core::{BatchSize, Engine, EngineFault, Jobs, Outcomes, Shape};
use oarlock_lanes::{LaneEngine, Leaf};
use oarlock_scalar::ScalarEngine;

use crate::LeakError;
use crate::subject::Subject;

/// The name that stands for every leaf of this processor.
const ALL: &str = "all";

/// The name of the scalar engine, which has no leaves.
const SCALAR: &str = "scalar";

/// An engine and the names of its subjects.
#[derive(Debug)]
pub struct CheckedLeaf {
    /// The engine: one leaf, the best leaf of each shape, or the scalar engine.
    pub engine: Box<dyn Engine>,
    /// The names of the subjects to check.
    pub subjects: Vec<String>,
}

/// Returns the leaves of these names. Without a name, it returns an engine with the best leaf of each shape, and the
/// scalar engine for the shapes that lanes lack. `select` returns the subjects of an engine.
///
/// # Errors
/// A name is unknown, or this processor lacks the leaf.
pub fn named(
    names: &[String],
    select: impl Fn(&dyn Engine) -> Vec<String>,
) -> Result<Vec<CheckedLeaf>, LeakError> {
    let engines: Vec<Box<dyn Engine>> = match names {
        [] => {
            let lanes = LaneEngine::detect().ok_or(LeakError::NoLanes)?;
            vec![Box::new(lanes), scalar()?]
        }
        [name] if name == ALL => {
            of_processor().into_iter().map(|leaf| Box::new(leaf) as Box<dyn Engine>).collect()
        }
        names => names.iter().map(|name| engine_of_name(name)).collect::<Result<_, _>>()?,
    };
    let checked = |engine: Box<dyn Engine>| CheckedLeaf { subjects: select(&*engine), engine };
    Ok(engines.into_iter().map(checked).collect())
}

fn engine_of_name(name: &str) -> Result<Box<dyn Engine>, LeakError> {
    if name == SCALAR {
        return scalar();
    }
    let leaf = of_name(name)?.ok_or(LeakError::NoLanes)?;
    Ok(Box::new(leaf))
}

fn scalar() -> Result<Box<dyn Engine>, LeakError> {
    Ok(Box::new(LatticeOnly(ScalarEngine::detect().ok_or(LeakError::NoLanes)?)))
}

/// The scalar engine with the shapes that no lanes have. AWS-LC's other functions are checked by their makers.
#[derive(Debug)]
struct LatticeOnly(ScalarEngine);

impl Engine for LatticeOnly {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        let is_lattice = matches!(shape, Shape::MlKemDecaps { .. } | Shape::MlDsaSign { .. });
        self.0.offers(shape).filter(|_| is_lattice)
    }

    fn confirms(&self, shape: Shape) -> bool {
        self.0.confirms(shape)
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        self.0.run(jobs, out)
    }
}

/// Returns each leaf of this processor as an engine of its own.
fn of_processor() -> Vec<LaneEngine> {
    Leaf::ALL.iter().copied().filter(|leaf| !leaf.is_portable()).filter_map(LaneEngine::of_leaf).collect()
}

/// Returns the engine with one leaf, or None if this processor lacks it.
///
/// # Errors
/// No leaf has the name.
pub fn of_name(name: &str) -> Result<Option<LaneEngine>, LeakError> {
    let leaf = Leaf::ALL.iter().copied().find(|leaf| leaf.name() == name);
    let leaf = leaf.ok_or_else(|| LeakError::UnknownLeaf {
        found: name.to_owned(),
        known: Leaf::ALL.iter().map(|leaf| leaf.name()).chain([SCALAR, ALL]).collect::<Vec<_>>().join(", "),
    })?;
    Ok(LaneEngine::of_leaf(leaf))
}

/// Returns the name of the leaf that computes a subject, or of the engine if it has none.
#[must_use]
pub fn name_for(engine: &dyn Engine, subject: &Subject) -> &'static str {
    engine.leaf(subject.shape()).map_or_else(|| engine.name(), |leaf| leaf.name)
}
