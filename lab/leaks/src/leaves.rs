//! The leaves whose kernels are checked, and the subjects of each.

use oarlock_core::Engine;
use oarlock_lanes::{LaneEngine, Leaf};

use crate::LeakError;
use crate::subject::Subject;

/// The name that stands for every leaf of this processor.
const ALL: &str = "all";

/// An engine and the names of its subjects.
#[derive(Debug)]
pub struct CheckedLeaf {
    /// The engine: one leaf, or the best leaf of each shape.
    pub engine: LaneEngine,
    /// The names of the subjects to check.
    pub subjects: Vec<String>,
}

/// Returns the leaves of these names, or one engine with the best leaf of each shape if there is no name. `select`
/// returns the subjects of an engine.
///
/// # Errors
/// A name is unknown, or this processor lacks the leaf.
pub fn named(
    names: &[String],
    select: impl Fn(&LaneEngine) -> Vec<String>,
) -> Result<Vec<CheckedLeaf>, LeakError> {
    let engines = match names {
        [] => vec![LaneEngine::detect().ok_or(LeakError::NoLanes)?],
        [name] if name == ALL => of_processor(),
        names => {
            let of_name = |name: &String| of_name(name)?.ok_or(LeakError::NoLanes);
            names.iter().map(of_name).collect::<Result<_, _>>()?
        }
    };
    let checked = |engine| CheckedLeaf { subjects: select(&engine), engine };
    Ok(engines.into_iter().map(checked).collect())
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
        known: Leaf::ALL.iter().map(|leaf| leaf.name()).chain([ALL]).collect::<Vec<_>>().join(", "),
    })?;
    Ok(LaneEngine::of_leaf(leaf))
}

/// Returns the name of the leaf that computes a subject, or of the engine if it has none.
#[must_use]
pub fn name_for(engine: &dyn Engine, subject: &Subject) -> &'static str {
    engine.leaf(subject.shape()).map_or_else(|| engine.name(), |leaf| leaf.name)
}
