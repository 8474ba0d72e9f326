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
    fs::write(&manifest, "[workspace]\nresolver = \"3\"\nmembers = [\"*-room\"]\n").unwrap();
    for (name, dependencies) in packages {
        let room = folder.path().join(format!("{name}-room"));
        fs::create_dir_all(room.join("src")).unwrap();
        fs::write(room.join("src/lib.rs"), "").unwrap();
        let package = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        fs::write(room.join("Cargo.toml"), package + dependencies).unwrap();
    }
    (folder, manifest)
}

#[test]
fn this_workspace_keeps_the_house_rules() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let output = xtask("check", &manifest);
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn planted_arrows_fail_by_name() {
    let (_folder, manifest) = planted(&[
        ("oarlock-core", ""),
        ("oarlock-scalar", "[dependencies]\noarlock-core = { path = \"../oarlock-core-room\" }\n"),
        // Hidden behind a target, a feature and another name: still an arrow.
        (
            "oarlock-lanes",
            "[target.'cfg(windows)'.dependencies]\n\
             other = { package = \"oarlock-scalar\", path = \"../oarlock-scalar-room\", optional = true }\n",
        ),
        ("oarlock-dkim", "[build-dependencies]\noarlock-core = { path = \"../oarlock-core-room\" }\n"),
        ("oarlock-keys", "[dev-dependencies]\noarlock-scalar = { path = \"../oarlock-scalar-room\" }\n"),
    ]);
    let output = xtask("structure", &manifest);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(
        shown.contains("oarlock-lanes -> oarlock-scalar: a room on floor 1 knows only the ground"),
        "{shown}"
    );
    assert!(shown.contains("oarlock-dkim -> oarlock-core: the table of rooms does not grant it"), "{shown}");
    assert!(!shown.contains("oarlock-keys"), "{shown}");
    assert!(shown.contains("2 broken"), "{shown}");
}

#[test]
fn planted_stranger_fails() {
    let (_folder, manifest) = planted(&[("oarlock-attic", "")]);
    let output = xtask("structure", &manifest);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("oarlock-attic: the plan knows no such room"));
}

#[test]
fn planted_unsafe_and_long_files_fail() {
    let (folder, manifest) = planted(&[("oarlock-core", ""), ("oarlock-scalar", "")]);
    let sources = |room: &str| folder.path().join(format!("{room}-room/src"));
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
fn wrong_usage_is_told_apart() {
    assert_eq!(Command::new(env!("CARGO_BIN_EXE_xtask")).output().unwrap().status.code(), Some(2));
    let folder = tempfile::tempdir().unwrap();
    let output = xtask("structure", &folder.path().join("absent/Cargo.toml"));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
}
