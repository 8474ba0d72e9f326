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

/// A workspace of (folder, dependency section) pairs, each with an empty library.
fn planted(packages: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let root = TempDir::new().unwrap();
    let manifest = root.path().join("Cargo.toml");
    let members: Vec<&str> = packages.iter().map(|(folder, _)| *folder).collect();
    fs::write(&manifest, format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n")).unwrap();
    for (folder, dependencies) in packages {
        let package_folder = root.path().join(folder);
        fs::create_dir_all(package_folder.join("src")).unwrap();
        fs::write(package_folder.join("src/lib.rs"), "").unwrap();
        let name = folder.rsplit('/').next().unwrap();
        // Unpublished crates need not say whom they are for.
        let package = format!(
            "[package]\nname = \"oarlock-{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n"
        );
        fs::write(package_folder.join("Cargo.toml"), package + dependencies).unwrap();
    }
    (root, manifest)
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
        ("crates/core/core", ""),
        ("crates/engine/scalar", "[dependencies]\noarlock-core = { path = \"../../core/core\" }\n"),
        // Hidden behind a target, a feature and another name: still an arrow.
        (
            "crates/engine/lanes",
            "[target.'cfg(windows)'.dependencies]\n\
             other = { package = \"oarlock-scalar\", path = \"../scalar\", optional = true }\n",
        ),
        ("crates/format/dkim", "[build-dependencies]\noarlock-core = { path = \"../../core/core\" }\n"),
        ("crates/engine/keys", "[dev-dependencies]\noarlock-scalar = { path = \"../scalar\" }\n"),
    ]);
    let output = xtask("structure", &manifest);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(shown.contains("oarlock-lanes -> oarlock-scalar: an arrow never goes sideways"), "{shown}");
    assert!(
        shown.contains("oarlock-dkim -> oarlock-core: only the facade names what is below it"),
        "{shown}"
    );
    assert!(!shown.contains("oarlock-keys"), "{shown}");
    assert!(shown.contains("2 broken"), "{shown}");
}

#[test]
fn reports_a_crate_outside_of_the_layers() {
    let (_folder, manifest) = planted(&[("crates/stranger", "")]);
    let output = xtask("structure", &manifest);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("oarlock-stranger: no layer has the folder of this crate"));
}

#[test]
fn reports_unsafe_code_and_long_files() {
    let (folder, manifest) = planted(&[("crates/core/core", ""), ("crates/engine/scalar", "")]);
    let (core, scalar) =
        (folder.path().join("crates/core/core/src"), folder.path().join("crates/engine/scalar/src"));
    fs::write(core.join("lib.rs"), "pub unsafe fn f() {}\n").unwrap();
    fs::write(core.join("tables.rs"), "//\n".repeat(900)).unwrap();
    fs::write(scalar.join("lib.rs"), "//\n".repeat(900)).unwrap();

    let output = xtask("unsafe", &manifest);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("oarlock-core/src/lib.rs:1: `unsafe` outside"), "{}", text(&output));

    let output = xtask("files", &manifest);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("1 broken") && text(&output).contains("900 lines"), "{}", text(&output));
}

#[test]
fn reports_a_cycle_of_modules_with_the_lines_that_close_it() {
    let (folder, manifest) = planted(&[("crates/format/records", "")]);
    let sources = folder.path().join("crates/format/records/src");
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
    let (folder, manifest) = planted(&[("crates/engine/keys", ""), ("crates/engine/scalar", "")]);
    let sources = folder.path().join("crates/engine/keys/src");
    let twin = folder.path().join("crates/engine/scalar/src/lib.rs");
    // The words are put together here, because this file is checked too.
    let (word, name) = (["ha", "ll"].concat(), ["Pla", "ce"].concat());
    let lines = [
        format!("/// {} the {word} is.", ["Whe", "re"].concat()),
        format!("pub struct {name};"),
        format!("/// A {}", "x".repeat(120)),
        format!("pub const {}: u8 = 1;", ["MOST", "_KEYS"].concat()),
        "pub enum KeyUse {}".to_owned(),
        format!("pub struct KeyPart {{\n    /// The {0}.\n    pub {0}: u8,\n}}", "name"),
        format!("pub fn {}() {{}}", name.to_lowercase()),
    ];
    fs::write(sources.join("lib.rs"), lines.join("\n")).unwrap();
    fs::write(&twin, "pub enum KeyUse {}\n").unwrap();

    let output = xtask("language", &manifest);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    let file = "crates/engine/keys/src/lib.rs";
    for (rule, site) in [
        ("word", format!("{file}:1:")),
        ("type-name", format!("{file}:2:")),
        ("vague-name", format!("{file}:10:")),
        ("max-min", format!("{file}:4:")),
        ("doc-opening", format!("{file}:1:")),
        ("doc-width", format!("{file}:3:")),
        ("doc-noise", format!("{file}:7:")),
        ("duplicate-type", "crates/engine/scalar/src/lib.rs:1:".to_owned()),
    ] {
        assert!(shown.contains(&format!("of the rule `{rule}`")) && shown.contains(&site), "{rule}: {shown}");
    }
    assert!(shown.contains("8 broken"), "{shown}");

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
    let (_folder, manifest) = planted(&[("crates/core/core", ""), ("crates/engine/scalar", "")]);
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
