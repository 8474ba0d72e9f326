//! Whom a published crate is for: programs of others, or only Oarlock. Its manifest and its documentation must say so.

use crate::plan::{LIBRARIES, PROGRAM};
use crate::workspace::{Workspace, WorkspaceError, WorkspaceMember, read};

/// The start of an internal crate's description, and of a sentence in the first paragraph of its documentation.
const INTERNAL: &str = "Internal to Oarlock: ";

/// Returns a line for each published crate of `workspace` that hides whom it is for.
pub(super) fn faults(workspace: &Workspace) -> Result<Vec<String>, WorkspaceError> {
    let mut faults = Vec::new();
    for member in workspace.packages.iter().filter(|member| member.is_published && member.name != PROGRAM) {
        let lib = read(&member.folder.join("src/lib.rs"))?;
        faults.extend(fault(member, &lib).map(|fault| format!("{}: {fault}", member.name)));
    }
    Ok(faults)
}

fn fault(member: &WorkspaceMember, lib: &str) -> Option<&'static str> {
    let opening = lib.lines().map_while(|line| line.strip_prefix("//! ")).collect::<Vec<_>>().join(" ");
    let is_described = member.description.starts_with(INTERNAL);
    let is_documented = opening.contains(INTERNAL);
    match LIBRARIES.contains(&&*member.name) {
        true if is_described || is_documented => {
            Some("LIBRARIES of xtask/src/plan.rs has it: it is not internal")
        }
        false if !is_described => Some("the description in Cargo.toml starts with \"Internal to Oarlock: \""),
        false if !is_documented => {
            Some("the first paragraph of src/lib.rs says \"Internal to Oarlock: ...\"")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_faulty(name: &str, description: &str, lib: &str) -> bool {
        let member = WorkspaceMember {
            name: name.to_owned(),
            description: description.to_owned(),
            ..WorkspaceMember::default()
        };
        fault(&member, lib).is_some()
    }

    #[test]
    fn internal_crates_say_so_in_both_places() {
        let (described, documented) =
            ("Internal to Oarlock: files.", "//! Files. Internal to\n//! Oarlock: it changes.\n");
        assert!(!is_faulty("oarlock-files", described, documented));
        assert!(is_faulty("oarlock-files", "Files.", documented));
        assert!(is_faulty(
            "oarlock-files",
            described,
            "//! Files.\n//!\n//! Internal to Oarlock: it changes.\n"
        ));
        assert!(is_faulty("oarlock-files", described, "mod files;\n"));
    }

    #[test]
    fn libraries_do_not_say_that_they_are_internal() {
        assert!(!is_faulty("oarlock", "Signs.", "//! Signs.\n"));
        assert!(is_faulty("oarlock", "Internal to Oarlock: signs.", "//! Signs.\n"));
        assert!(is_faulty("oarlock", "Signs.", "//! Signs. Internal to Oarlock: it changes.\n"));
    }
}
