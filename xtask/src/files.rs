//! The length of source files: a reader keeps a whole file in mind.

use std::path::Path;

use crate::checks::CheckResult;
use crate::workspace::{Workspace, WorkspaceError, read, rust_files};

const MAX_LINES: usize = 800;
/// A file is exempt if its own name or the name of its folder says that it is data, or that a program wrote it.
const DATA_NAMES: [&str; 4] = ["tables", "vectors", "constants", "generated"];

/// Finds the files that are too long.
pub(crate) fn check(workspace: &Workspace) -> Result<CheckResult, WorkspaceError> {
    let files = rust_files(&workspace.root)?;
    let mut faults = Vec::new();
    for path in &files {
        let lines = read(path)?.lines().count();
        let shown = path.strip_prefix(&workspace.root).unwrap_or(path);
        if is_too_long(shown, lines) {
            faults.push(format!("{}: {lines} lines, at most {MAX_LINES}", shown.display()));
        }
    }
    Ok(CheckResult::new(faults, format!("{} files", files.len())))
}

fn is_too_long(path: &Path, lines: usize) -> bool {
    lines > MAX_LINES && !is_data(path)
}

fn is_data(path: &Path) -> bool {
    let parent = path.parent().and_then(Path::file_name);
    [path.file_stem(), parent]
        .into_iter()
        .flatten()
        .any(|name| name.to_string_lossy().split('_').any(|word| DATA_NAMES.contains(&word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_data_may_be_long() {
        let long = |path: &str| is_too_long(Path::new(path), 801);
        assert!(long("crates/core/core/src/shape.rs"));
        assert!(long("crates/core/core/src/tablespoon.rs"));
        assert!(!long("crates/engine/lanes/src/p256_tables.rs"));
        assert!(!long("crates/engine/lanes/tests/vectors/des.rs"));
        assert!(!long("crates/engine/lanes/src/constants.rs"));
        assert!(!is_too_long(Path::new("crates/core/core/src/shape.rs"), 800));
    }
}
