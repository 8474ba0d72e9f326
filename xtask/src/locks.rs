//! The lock file of the fuzz targets, which are a workspace of their own: a new dependency of a crate belongs in it
//! too.

use cargo_metadata::{Error, MetadataCommand};

use crate::checks::CheckResult;
use crate::workspace::{Workspace, WorkspaceError};

/// The words of cargo if the manifests have changed and the lock file has not.
const IS_STALE: &str = "because --locked was passed";

/// Finds out whether the lock file is that of the manifests, without a registry.
pub(crate) fn check(workspace: &Workspace) -> Result<CheckResult, WorkspaceError> {
    let manifest = workspace.root.join("fuzz/Cargo.toml");
    if !manifest.exists() {
        return Ok(CheckResult::new(Vec::new(), "no fuzz targets".into()));
    }
    let mut command = MetadataCommand::new();
    command.manifest_path(manifest).other_options(["--locked".into(), "--offline".into()]);
    let mut result = CheckResult::new(Vec::new(), "fuzz/Cargo.lock".into());
    match command.exec() {
        Ok(_) => {}
        Err(Error::CargoMetadata { stderr }) if stderr.contains(IS_STALE) => {
            result
                .faults
                .push("fuzz/Cargo.lock: cargo update --workspace --manifest-path fuzz/Cargo.toml".into());
        }
        // A machine that has never built the targets does not have their dependencies.
        Err(error) => result.notes.push(format!("SKIPPED: {error}")),
    }
    Ok(result)
}
