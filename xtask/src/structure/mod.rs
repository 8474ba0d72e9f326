//! `cargo xtask structure`: the arrows between crates, and the arrows between the modules of a crate.
//!
//! | module | content |
//! |---|---|
//! | `arrows` | the rules of the layers, checked against the manifests |
//! | `audience` | published crates that are neither a library for others nor say that they are internal |
//! | `modules` | the graph of a crate's top-level modules, and its cycles |
//! | `exports` | names that a crate root re-exports, and the modules that define them |
//! | `graph` | the sets of nodes that depend on each other |

mod arrows;
mod audience;
mod exports;
mod graph;
mod modules;

use crate::checks::CheckResult;
use crate::workspace::{Workspace, WorkspaceError};

pub(crate) use modules::largest_cycle;

/// Checks the crates and the modules of a workspace.
pub(crate) fn check(workspace: &Workspace) -> Result<CheckResult, WorkspaceError> {
    let mut result = modules::check(workspace)?;
    let arrow_faults = arrows::faults(workspace).iter().map(ToString::to_string).collect();
    let module_faults = std::mem::replace(&mut result.faults, arrow_faults);
    result.faults.extend(module_faults);
    result.faults.extend(audience::faults(workspace)?);
    result.summary = format!("{}, {}", arrows::summary(workspace), result.summary);
    Ok(result)
}
