//! `cargo xtask fma`: the kernels of numbers in limbs of doubles.
//!
//! | module | content |
//! |---|---|
//! | `shapes` | the sizes of numbers, which the kernels share with their twin in Rust |
//! | `emit` | the assembly, `crates/engine/lanes/src/simd/fma/rsa_kernels.s` |

mod emit;
#[path = "../../../crates/engine/lanes/src/simd/doubles/shapes.rs"]
mod shapes;

use std::path::PathBuf;

use crate::checks::CheckResult;
use crate::workspace::{Workspace, WorkspaceError, read, write};

/// Writes the kernels.
pub(crate) fn update(workspace: &Workspace) -> Result<(), WorkspaceError> {
    match kernel_path(workspace) {
        Some(path) => write(&path, &emit::kernels()),
        None => Ok(()),
    }
}

/// Checks that the kernels are those that [`update`] would write.
pub(crate) fn check(workspace: &Workspace) -> Result<CheckResult, WorkspaceError> {
    let Some(path) = kernel_path(workspace) else {
        return Ok(CheckResult::new(Vec::new(), "no kernels here".into()));
    };
    let expected = emit::kernels();
    let faults = if read(&path)? == expected {
        Vec::new()
    } else {
        vec![format!("{}: not what `cargo xtask fma` makes", path.display())]
    };
    Ok(CheckResult::new(faults, format!("{} lines of kernels", expected.lines().count())))
}

fn kernel_path(workspace: &Workspace) -> Option<PathBuf> {
    let member = workspace.packages.iter().find(|member| member.name == "oarlock-lanes")?;
    Some(member.folder.join("src/simd/fma/rsa_kernels.s"))
}
