//! The runs of tests: each test program belongs to one, and each name in their lists stands for something.

use std::collections::BTreeSet;

use crate::checks::CheckResult;
use crate::workspace::{Workspace, WorkspaceError, WorkspaceMember, read};

/// The file whose alias `suite` has the packages that `make test` leaves out.
const ALIASES: &str = ".cargo/config.toml";
/// The script of the runs, which names packages after `--package`.
const SCRIPT: &str = ".ci/tests";
/// The tests that `make test` leaves to `make test-all`.
const SLOW_TESTS: &str = ".ci/slow-tests";

/// Finds tests that are in no run, and slow tests that do not exist.
pub(crate) fn check(workspace: &Workspace) -> Result<CheckResult, WorkspaceError> {
    let excluded = words_after("--exclude", &read(&workspace.root.join(ALIASES))?);
    let named = words_after("--package", &read(&workspace.root.join(SCRIPT))?);
    let slow = read(&workspace.root.join(SLOW_TESTS))?;
    let mut faults = Vec::new();
    for member in &workspace.packages {
        if excluded.contains(&member.name) && !named.contains(&member.name) {
            faults.push(format!("{}: {ALIASES} excludes it, and no run of {SCRIPT} names it", member.name));
        }
        faults.extend(unbuilt_tests(workspace, member));
    }
    let entries: Vec<&str> = slow.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    faults.extend(entries.iter().filter(|entry| !exists(workspace, entry)).map(|entry| {
        format!(
            "{SLOW_TESTS}: \"{entry}\": expected a package, and a module of its tests (a::) or a test (a::b)"
        )
    }));
    let summary = format!("{} packages, {} entries of slow tests", workspace.packages.len(), entries.len());
    Ok(CheckResult::new(faults, summary))
}

/// Returns the words that follow an option. Quotes and commas are those of TOML.
fn words_after(option: &str, text: &str) -> BTreeSet<String> {
    let words = || text.split(|letter: char| letter.is_whitespace() || "\",".contains(letter));
    let mut words = words().filter(|word| !word.is_empty());
    let mut found = BTreeSet::new();
    while let Some(word) = words.next() {
        if word == option {
            found.extend(words.next().map(str::to_owned));
        }
    }
    found
}

/// Returns a fault for each test program that needs a feature which no package of the workspace turns on: cargo passes
/// over it in silence.
fn unbuilt_tests(workspace: &Workspace, member: &WorkspaceMember) -> Vec<String> {
    let is_on = |feature: &String| {
        let on = (member.name.clone(), feature.clone());
        workspace.packages.iter().any(|user| user.features_on.contains(&on))
    };
    let needs = member.test_features.iter().filter(|(_, feature)| !is_on(feature));
    let fault = |(test, feature): &(String, String)| {
        format!("{}: the tests `{test}` need `{feature}`, which no package turns on", member.name)
    };
    needs.map(fault).collect()
}

/// True if the line names a package, and a module that has tests or one of its tests.
fn exists(workspace: &Workspace, line: &str) -> bool {
    let [package, name] = line.split_whitespace().collect::<Vec<_>>()[..] else { return false };
    let member = workspace.packages.iter().find(|member| member.name == package);
    let (Some(member), Some((module, test))) = (member, name.rsplit_once("::")) else { return false };
    let texts = ["tests/suite", "src"].iter().filter_map(|folder| {
        let path = module.split("::").fold(member.folder.join(folder), |path, name| path.join(name));
        read(&path.with_extension("rs")).or_else(|_| read(&path.join("mod.rs"))).ok()
    });
    texts.into_iter().any(|text| test.is_empty() || text.contains(&format!("fn {test}(")))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn reads_options_of_scripts_and_settings() {
        let both = [
            "a --package one --package two \\\n--lib",
            r#"["test", "--package", "one", "--package", "two"]"#,
        ];
        for text in both {
            let words: Vec<String> = words_after("--package", text).into_iter().collect();
            assert_eq!(words, ["one", "two"], "{text}");
        }
    }

    fn member(name: &str) -> WorkspaceMember {
        WorkspaceMember {
            name: name.to_owned(),
            folder: Path::new(env!("CARGO_MANIFEST_DIR")).to_owned(),
            ..WorkspaceMember::default()
        }
    }

    #[test]
    fn finds_tests_that_are_never_built() {
        let (mut tested, mut user) = (member("io"), member("user"));
        tested.test_features.push(("kernel_tls".to_owned(), "kernel-tls".to_owned()));
        let workspace = |packages| Workspace { root: Path::new("").to_owned(), packages };
        let alone = workspace(vec![tested]);
        assert_eq!(unbuilt_tests(&alone, &alone.packages[0]).len(), 1);
        user.features_on.push(("io".to_owned(), "kernel-tls".to_owned()));
        let both = workspace(alone.packages.into_iter().chain([user]).collect());
        assert!(unbuilt_tests(&both, &both.packages[0]).is_empty());
    }

    #[test]
    fn finds_slow_tests_that_do_not_exist() {
        let workspace = Workspace { root: Path::new("").to_owned(), packages: vec![member("xtask")] };
        let test = "xtask runs::finds_slow_tests_that_do_not_exist";
        assert!(
            exists(&workspace, "xtask runs::")
                && exists(&workspace, "xtask language::")
                && exists(&workspace, test)
        );
        for line in [
            "xtask",
            "xtask runs",
            "xtask no_such::",
            "other runs::",
            "xtask runs:: more",
            "xtask runs::other",
        ] {
            assert!(!exists(&workspace, line), "{line}");
        }
    }
}
