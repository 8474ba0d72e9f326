//! The length of source files: a room that does not fit a reader's head is split.

use std::path::Path;

use crate::workspace::{Workspace, WorkspaceError, read, rust_files};

const MAX_LINES: usize = 800;
/// Data is exempt where the file's own name, or its folder's, says that it is data.
const DATA_NAMES: [&str; 3] = ["tables", "vectors", "constants"];

/// The files that are too long, and one line on what was looked at.
pub(crate) fn faults(workspace: &Workspace) -> Result<(Vec<String>, String), WorkspaceError> {
    let files = rust_files(&workspace.root)?;
    let mut faults = Vec::new();
    for path in &files {
        let lines = read(path)?.lines().count();
        let shown = path.strip_prefix(&workspace.root).unwrap_or(path);
        if is_too_long(shown, lines) {
            faults.push(format!("{}: {lines} lines, at most {MAX_LINES}", shown.display()));
        }
    }
    Ok((faults, format!("{} files", files.len())))
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
        assert!(long("crates/core/src/shape.rs"));
        assert!(long("crates/core/src/tablespoon.rs"));
        assert!(!long("crates/lanes/src/p256_tables.rs"));
        assert!(!long("crates/lanes/tests/vectors/des.rs"));
        assert!(!long("crates/lanes/src/constants.rs"));
        assert!(!is_too_long(Path::new("crates/core/src/shape.rs"), 800));
    }
}
