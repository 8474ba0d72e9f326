//! The checks as a user runs them: on this workspace, and on workspaces with planted faults.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

fn xtask(check: &str, manifest: &Path) -> Output {
    let program = env!("CARGO_BIN_EXE_xtask");
    Command::new(program).arg(check).arg("--manifest-path").arg(manifest).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A workspace of (package, dependency section) pairs, each with an empty library.
fn planted(packages: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let manifest = folder.path().join("Cargo.toml");
    fs::write(&manifest, "[workspace]\nresolver = \"3\"\nmembers = [\"*-crate\"]\n").unwrap();
    for (name, dependencies) in packages {
        let package_folder = folder.path().join(format!("{name}-crate"));
        fs::create_dir_all(package_folder.join("src")).unwrap();
        fs::write(package_folder.join("src/lib.rs"), "").unwrap();
        let package = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        fs::write(package_folder.join("Cargo.toml"), package + dependencies).unwrap();
    }
    (folder, manifest)
}

#[test]
fn this_workspace_keeps_its_own_rules() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let output = xtask("check", &manifest);
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn reports_forbidden_arrows_between_crates() {
    let (_folder, manifest) = planted(&[
        ("oarlock-core", ""),
        ("oarlock-scalar", "[dependencies]\noarlock-core = { path = \"../oarlock-core-crate\" }\n"),
        // Hidden behind a target, a feature and another name: still an arrow.
        (
            "oarlock-lanes",
            "[target.'cfg(windows)'.dependencies]\n\
             other = { package = \"oarlock-scalar\", path = \"../oarlock-scalar-crate\", optional = true }\n",
        ),
        ("oarlock-dkim", "[build-dependencies]\noarlock-core = { path = \"../oarlock-core-crate\" }\n"),
        ("oarlock-keys", "[dev-dependencies]\noarlock-scalar = { path = \"../oarlock-scalar-crate\" }\n"),
    ]);
    let output = xtask("structure", &manifest);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(
        shown.contains("oarlock-lanes -> oarlock-scalar: a crate of layer 1 depends on the contract only"),
        "{shown}"
    );
    assert!(
        shown.contains(
            "oarlock-dkim -> oarlock-core: the row of this crate in xtask/src/plan.rs does not allow it"
        ),
        "{shown}"
    );
    assert!(!shown.contains("oarlock-keys"), "{shown}");
    assert!(shown.contains("2 broken"), "{shown}");
}

#[test]
fn reports_a_crate_that_the_plan_does_not_have() {
    let (_folder, manifest) = planted(&[("oarlock-stranger", "")]);
    let output = xtask("structure", &manifest);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("oarlock-stranger: the plan has no row for this crate"));
}

#[test]
fn reports_unsafe_code_and_long_files() {
    let (folder, manifest) = planted(&[("oarlock-core", ""), ("oarlock-scalar", "")]);
    let sources = |name: &str| folder.path().join(format!("{name}-crate/src"));
    fs::write(sources("oarlock-core").join("lib.rs"), "pub unsafe fn f() {}\n").unwrap();
    fs::write(sources("oarlock-core").join("tables.rs"), "//\n".repeat(900)).unwrap();
    fs::write(sources("oarlock-scalar").join("lib.rs"), "//\n".repeat(900)).unwrap();

    let output = xtask("unsafe", &manifest);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("oarlock-core/src/lib.rs:1: `unsafe` outside"), "{}", text(&output));

    let output = xtask("files", &manifest);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("1 broken") && text(&output).contains("900 lines"), "{}", text(&output));
}

#[test]
fn reports_a_cycle_of_modules_with_the_lines_that_close_it() {
    let (folder, manifest) = planted(&[("oarlock-records", "")]);
    let sources = folder.path().join("oarlock-records-crate/src");
    let names = ["a", "b", "c", "d", "e"];
    fs::write(sources.join("lib.rs"), names.map(|name| format!("mod {name};\n")).concat()).unwrap();
    for (from, to) in names.iter().zip(names.iter().cycle().skip(1)) {
        fs::write(sources.join(format!("{from}.rs")), format!("use crate::{to};\n")).unwrap();
    }
    let output = xtask("structure", &manifest);
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output);
    assert!(shown.contains("5 modules depend on each other, at most 4: a, b, c, d, e"), "{shown}");
    assert!(shown.contains("e -> a: src/e.rs:1"), "{shown}");
}

#[test]
fn reports_findings_of_every_language_rule_beyond_the_baseline() {
    let (folder, manifest) = planted(&[("oarlock-keys", ""), ("oarlock-scalar", "")]);
    let sources = folder.path().join("oarlock-keys-crate/src");
    let twin = folder.path().join("oarlock-scalar-crate/src/lib.rs");
    // The words are put together here, because this file is checked too.
    let (word, name) = (["ha", "ll"].concat(), ["Pla", "ce"].concat());
    let lines = [
        format!("/// {} the {word} is.", ["Whe", "re"].concat()),
        format!("pub struct {name};"),
        format!("/// A {}", "x".repeat(120)),
        format!("pub const {}: u8 = 1;", ["MOST", "_KEYS"].concat()),
        "pub enum KeyUse {}".to_owned(),
    ];
    fs::write(sources.join("lib.rs"), lines.join("\n")).unwrap();
    fs::write(&twin, "pub enum KeyUse {}\n").unwrap();

    let output = xtask("language", &manifest);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    let file = "oarlock-keys-crate/src/lib.rs";
    for (rule, site) in [
        ("word", format!("{file}:1:")),
        ("type-name", format!("{file}:2:")),
        ("max-min", format!("{file}:4:")),
        ("doc-opening", format!("{file}:1:")),
        ("doc-width", format!("{file}:3:")),
        ("duplicate-type", "oarlock-scalar-crate/src/lib.rs:1:".to_owned()),
    ] {
        assert!(shown.contains(&format!("of the rule `{rule}`")) && shown.contains(&site), "{rule}: {shown}");
    }
    assert!(shown.contains("6 broken"), "{shown}");

    fs::create_dir(folder.path().join("xtask")).unwrap();
    assert!(update(&manifest).status.success());
    let output = xtask("language", &manifest);
    assert!(output.status.success(), "{}", text(&output));

    // Generated files have the language of their source.
    fs::create_dir(sources.join("generated")).unwrap();
    fs::write(sources.join("generated/code.rs"), lines.join("\n")).unwrap();
    assert!(xtask("language", &manifest).status.success());

    // Findings may become fewer, and never more.
    fs::write(&twin, format!("pub enum KeyUse {{}}\npub struct {name};\n")).unwrap();
    assert_eq!(xtask("language", &manifest).status.code(), Some(1));
    assert_eq!(update(&manifest).status.code(), Some(1));
    fs::write(&twin, "").unwrap();
    let output = xtask("language", &manifest);
    assert!(output.status.success() && text(&output).contains("Shrink it"), "{}", text(&output));
    assert!(update(&manifest).status.success());
    assert!(!text(&xtask("language", &manifest)).contains("Shrink it"));
}

fn update(manifest: &Path) -> Output {
    let program = env!("CARGO_BIN_EXE_xtask");
    Command::new(program).args(["language", "--update", "--manifest-path"]).arg(manifest).output().unwrap()
}

#[test]
fn counts_has_a_row_for_each_crate_and_their_sum() {
    let (_folder, manifest) = planted(&[("oarlock-core", ""), ("oarlock-scalar", "")]);
    let output = xtask("counts", &manifest);
    assert!(output.status.success());
    let shown = text(&output);
    for name in ["| oarlock-core |", "| oarlock-scalar |", "| all |"] {
        assert!(shown.contains(name), "{shown}");
    }
}

#[test]
fn wrong_usage_and_a_missing_workspace_have_exit_codes_of_their_own() {
    assert_eq!(Command::new(env!("CARGO_BIN_EXE_xtask")).output().unwrap().status.code(), Some(2));
    let folder = tempfile::tempdir().unwrap();
    let output = xtask("structure", &folder.path().join("absent/Cargo.toml"));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
}
