//! Completions, manual pages, the version, and `make install`, which packages need.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod program;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use program::{code, oarlock, stderr};

fn text(output: &Output) -> String {
    assert_eq!(code(output), 0, "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// True if a program is installed; prints SKIPPED if not.
fn has(program: &str, arguments: &[&str]) -> bool {
    let run = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    run.map_err(|error| println!("SKIPPED: what {program} says: {error}")).is_ok()
}

#[test]
fn shells_can_read_their_completions() {
    let place = tempfile::tempdir().unwrap();
    for (shell, checked) in
        [("bash", true), ("zsh", true), ("fish", true), ("elvish", false), ("powershell", false)]
    {
        let script = text(&oarlock(&["completions", shell]));
        for word in ["capacity", "seal", "translate", "encoding"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        let path = place.path().join(shell);
        fs::write(&path, script).unwrap();
        if checked && has(shell, &["--version"]) {
            let read = Command::new(shell).arg("-n").arg(&path).output().unwrap();
            assert!(read.status.success() && read.stderr.is_empty(), "{shell}: {}", stderr(&read));
        }
    }
    let unknown = oarlock(&["completions", "tcsh"]);
    assert_eq!(code(&unknown), 2);
    assert!(stderr(&unknown).contains("bash, elvish, fish"), "{}", stderr(&unknown));
}

#[test]
fn bash_completes_commands_and_options() {
    if !has("bash", &["--version"]) {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let script = place.path().join("oarlock");
    fs::write(&script, text(&oarlock(&["completions", "bash"]))).unwrap();
    let complete = |words: &str, last: usize| {
        let script = format!(
            ". {}\nCOMP_WORDS=({words}); COMP_CWORD={last}\n_oarlock oarlock \"${{COMP_WORDS[{last}]}}\"\n\
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let output = Command::new("bash").args(["--norc", "-c", &script]).output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    assert_eq!(complete("oarlock mil", 1), BTreeSet::from(["milter".to_owned()]));
    assert!(complete("oarlock call se", 2).contains("seal"));
    assert!(complete("oarlock records decrypt --dr", 3).contains("--drop-iv"));
}

/// Returns the commands that help lists, with the words before them.
fn commands(words: &[&str]) -> Vec<String> {
    let help = text(&oarlock(&[words, &["--help"]].concat()));
    let Some((_, list)) = help.split_once("Commands:\n") else { return Vec::new() };
    let names = list.lines().take_while(|line| !line.is_empty()).filter(|line| line.starts_with("  "));
    names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_command_has_a_manual_page() {
    let place = tempfile::tempdir().unwrap();
    let pages = place.path().join("man1");
    text(&oarlock(&["man", pages.to_str().unwrap()]));
    let mut expected = BTreeSet::from(["oarlock.1".to_owned()]);
    for command in commands(&[]) {
        expected.insert(format!("oarlock-{command}.1"));
        expected.extend(commands(&[&command]).iter().map(|own| format!("oarlock-{command}-{own}.1")));
    }
    assert!(expected.contains("oarlock-records-encrypt.1"), "{expected:?}");
    assert_eq!(names(&pages), expected);
    let page = fs::read_to_string(pages.join("oarlock-records-decrypt.1")).unwrap();
    assert!(page.contains("drop\\-iv") && page.contains(".TH oarlock-records-decrypt 1"), "{page}");
    // The page of a command lacks options without effect, as its help does.
    let keys = fs::read_to_string(pages.join("oarlock-keys-list.1")).unwrap();
    assert!(!keys.contains("engines") && keys.contains("json"), "{keys}");
    if has("mandoc", &["-T", "lint", pages.join("oarlock.1").to_str().unwrap()]) {
        let paths: Vec<PathBuf> = expected.iter().map(|name| pages.join(name)).collect();
        let lint = Command::new("mandoc").args(["-T", "lint", "-W", "error"]).args(paths).output().unwrap();
        assert!(lint.status.success(), "{}", String::from_utf8_lossy(&lint.stdout));
    }
    let refused = oarlock(&["man", "/dev/null/man1"]);
    assert_eq!(code(&refused), 2, "{}", stderr(&refused));
    assert!(stderr(&refused).contains("cannot write /dev/null/man1"), "{}", stderr(&refused));
}

#[test]
fn the_version_names_the_commit() {
    let version = text(&oarlock(&["--version"]));
    let expected = concat!("oarlock ", env!("CARGO_PKG_VERSION"));
    let rest = version.trim_end().strip_prefix(expected).unwrap_or_else(|| panic!("{version}"));
    let head = Command::new("git")
        .args(["-C", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."), "rev-parse", "HEAD"])
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success());
    match head {
        // The program may have been built before the last commit, so its commit is not compared.
        Some(_) if !rest.is_empty() => {
            let commit = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')')).unwrap();
            assert!(commit.len() == 12 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{version}");
        }
        _ => println!("SKIPPED: the commit in the version: these sources are in no repository"),
    }
    assert_eq!(
        text(&oarlock(&["records", "--version"])).trim_end(),
        version.replace("oarlock ", "oarlock-records ").trim_end()
    );
}

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Runs `make GOAL` in this workspace, with the tested program instead of a new build.
fn make(goal: &str, destination: &Path) -> Option<Output> {
    let run = Command::new("make")
        .args(["--silent", "--old-file=build", goal, "PREFIX=/usr"])
        .arg(format!("BINARY={}", env!("CARGO_BIN_EXE_oarlock")))
        .arg(format!("DESTDIR={}", destination.display()))
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .output();
    run.map_err(|error| println!("SKIPPED: make {goal}: {error}")).ok()
}

fn files(directory: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path);
        }
    }
    found
}

#[test]
fn make_install_is_complete_and_make_uninstall_removes_it() {
    let place = tempfile::tempdir().unwrap();
    let Some(installed) = make("install", place.path()) else { return };
    assert_eq!(code(&installed), 0, "{}", stderr(&installed));
    let at = |path: &str| place.path().join("usr").join(path);
    let version = Command::new(at("bin/oarlock")).arg("--version").output().unwrap();
    assert!(version.status.success());
    for path in [
        "share/man/man1/oarlock.1",
        "share/man/man1/oarlock-call-seal.1",
        "share/bash-completion/completions/oarlock",
        "share/zsh/site-functions/_oarlock",
        "share/fish/vendor_completions.d/oarlock.fish",
        "lib/sysusers.d/oarlock.conf",
        "lib/sysusers.d/oarlock-milter.conf",
        "lib/sysusers.d/oarlock-proxy.conf",
        "lib/systemd/system/oarlock-proxy.socket",
        "share/doc/oarlock/examples/oarlock.toml",
        "share/doc/oarlock/examples/milter.toml",
        "share/doc/oarlock/examples/proxy.toml",
    ] {
        assert!(fs::metadata(at(path)).unwrap().len() > 0, "{path}");
    }
    for unit in ["oarlock.service", "oarlock-milter.service", "oarlock-proxy.service"] {
        let text = fs::read_to_string(at("lib/systemd/system").join(unit)).unwrap();
        assert!(text.contains("ExecStart=/usr/bin/oarlock "), "{unit}: {text}");
    }
    let removed = make("uninstall", place.path()).unwrap();
    assert_eq!(code(&removed), 0, "{}", stderr(&removed));
    assert_eq!(files(place.path()), BTreeSet::new());
}
