//! `cargo xtask fields`: the kernels of the fields of the curves, in limbs of doubles.
//!
//! | module | content |
//! |---|---|
//! | `kernels` | the kernels as operations on vectors |
//! | `program` | their registers, and the assembly |

mod kernels;
mod program;

use std::path::PathBuf;

use kernels::Products;

use crate::checks::CheckResult;
use crate::workspace::{Workspace, WorkspaceError, read, write};

/// Returns every kernel with its name.
fn all() -> Vec<(&'static str, String)> {
    let kernels = [
        ("multiply_25519", kernels::of_25519(false)),
        ("square_25519", kernels::of_25519(true)),
        ("multiply_p256", kernels::of_p256(Products::One)),
        ("square_p256", kernels::of_p256(Products::Square)),
        ("sum_p256", kernels::of_p256(Products::Two)),
    ];
    kernels.into_iter().map(|(name, program)| (name, program.assembly(name))).collect()
}

/// Writes the kernels.
pub(crate) fn update(workspace: &Workspace) -> Result<(), WorkspaceError> {
    let Some(folder) = folder(workspace) else { return Ok(()) };
    for (name, text) in all() {
        write(&folder.join(format!("{name}.s")), &text)?;
    }
    Ok(())
}

/// Checks that the kernels are those that [`update`] would write.
pub(crate) fn check(workspace: &Workspace) -> Result<CheckResult, WorkspaceError> {
    let Some(folder) = folder(workspace) else {
        return Ok(CheckResult::new(Vec::new(), "no field kernels here".into()));
    };
    let (mut faults, mut lines) = (Vec::new(), 0);
    for (name, text) in all() {
        let path = folder.join(format!("{name}.s"));
        if read(&path)? != text {
            faults.push(format!("{}: not what `cargo xtask fields` makes", path.display()));
        }
        lines += text.lines().count();
    }
    Ok(CheckResult::new(faults, format!("{lines} lines of field kernels")))
}

fn folder(workspace: &Workspace) -> Option<PathBuf> {
    let member = workspace.packages.iter().find(|member| member.name == "oarlock-lanes")?;
    let folder = member.folder.join("src/simd/fma");
    folder.is_dir().then_some(folder)
}
