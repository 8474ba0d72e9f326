//! The register of dependencies: a row for each crate of others, and no row for anything else.

use std::collections::BTreeSet;

use crate::workspace::{Workspace, WorkspaceError, read};

const REGISTER: &str = "docs/dependencies.md";

/// Compares the register with the manifests. Returns the number of dependencies.
pub(super) fn check(workspace: &Workspace, faults: &mut Vec<String>) -> Result<usize, WorkspaceError> {
    let registered = registered(&read(&workspace.root.join(REGISTER))?);
    let used: BTreeSet<String> =
        workspace.packages.iter().flat_map(|member| member.dependencies.iter().cloned()).collect();
    faults.extend(
        used.difference(&registered).map(|name| format!("{REGISTER}: the reason for `{name}` is missing")),
    );
    faults.extend(registered.difference(&used).map(|name| format!("{REGISTER}: no manifest names `{name}`")));
    Ok(used.len())
}

/// Returns the names in the first column of the register.
fn registered(text: &str) -> BTreeSet<String> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    let names = rows.flat_map(|(names, _)| names.split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_several_crates() {
        let text = "| crate | used by |\n|---|---|\n| `a`, `b-c`; tests: `d` | x (feature `y`) |\n";
        assert_eq!(registered(text).into_iter().collect::<Vec<_>>(), ["a", "b-c", "d"]);
    }
}
