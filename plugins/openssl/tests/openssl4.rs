//! The whole suite for the newest OpenSSL, built here from its sources: what has changed since 3.0 is found by running
//! it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod common;
mod suite;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use common::{ProgramResult, TestDirectory, program};

/// What no test here touches.
const LEFT_OUT: [&str; 37] = [
    "no-afalgeng",
    "no-argon2",
    "no-aria",
    "no-bf",
    "no-camellia",
    "no-cast",
    "no-cmp",
    "no-cms",
    "no-ct",
    "no-docs",
    "no-dtls",
    "no-gost",
    "no-idea",
    "no-legacy",
    "no-lms",
    "no-md4",
    "no-mdc2",
    "no-ml-dsa",
    "no-ml-kem",
    "no-ocb",
    "no-ocsp",
    "no-quic",
    "no-rc2",
    "no-rc4",
    "no-rfc3779",
    "no-rmd160",
    "no-scrypt",
    "no-seed",
    "no-slh-dsa",
    "no-sm2",
    "no-sm3",
    "no-sm4",
    "no-srp",
    "no-tests",
    "no-ts",
    "no-whirlpool",
    "no-zlib",
];

#[test]
fn it_is_the_version_that_is_meant() {
    let Some(dir) = test_directory() else { return };
    let (_, meant) = openssl_src::version().split_once('+').unwrap();
    let said = dir.openssl("version -a").ok();
    assert!(said.starts_with(&format!("OpenSSL {meant} ")), "{said}");
    let said = dir.openssl("list -providers -verbose").ok();
    assert!(said.contains("name: Oarlock") && said.contains("status: active"), "{said}");
}

#[test]
fn signatures_of_either_side_verify_at_the_other() {
    test_directory().iter().for_each(suite::signatures);
}

#[test]
fn decryption_takes_what_plain_openssl_encrypted() {
    test_directory().iter().for_each(suite::encryption);
}

#[test]
fn x25519_agrees_with_plain_openssl() {
    test_directory().iter().for_each(suite::agreement);
}

#[test]
fn certificates_and_requests_are_signed() {
    test_directory().iter().for_each(suite::certificates);
}

#[test]
fn handshakes_with_every_key_succeed_in_both_versions_of_tls() {
    let Some(dir) = test_directory() else { return };
    dir.keys();
    suite::handshakes(&dir);
}

#[test]
fn every_group_of_tls_is_there() {
    let Some(dir) = test_directory() else { return };
    dir.keys();
    suite::groups(&dir);
}

#[test]
fn keys_are_made_by_either_key_manager() {
    test_directory().iter().for_each(suite::generation);
}

#[test]
fn what_is_not_offered_is_left_to_the_default_provider() {
    test_directory().iter().for_each(suite::left_alone);
}

#[test]
fn jobs_pause_and_their_signatures_are_right() {
    test_directory().iter().for_each(suite::async_jobs);
}

#[test]
fn bad_input_is_said_on_the_error_queue() {
    test_directory().iter().for_each(suite::bad_input);
}

/// None, and said so, where it cannot be built.
fn test_directory() -> Option<TestDirectory> {
    // Where it fails, it is not tried again by every test.
    static BUILT: OnceLock<Result<Option<PathBuf>, String>> = OnceLock::new();
    let openssl = BUILT.get_or_init(build).clone().unwrap()?;
    Some(TestDirectory::with(openssl, None, "mode = local"))
}

/// Built once, and kept with what cargo builds: one program with its libraries within, which exports their functions.
fn build() -> Result<Option<PathBuf>, String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        eprintln!("SKIPPED: OpenSSL is built for x86-64 Linux only");
        return Ok(None);
    }
    if ["perl", "make", "cc"].iter().any(|name| program(name).is_none()) {
        return Ok(None);
    }
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let built = kept.join(format!("openssl-{}", openssl_src::version()));
    if built.is_file() {
        return Ok(Some(built));
    }
    let sources = tempfile::tempdir_in(kept).unwrap();
    copy(&openssl_src::source_dir(), sources.path());
    let how = ["Configure", "linux-x86_64", "no-shared", "no-module", "-O0", "-Wl,--export-dynamic"];
    step(Command::new("perl").args(how).args(LEFT_OUT), sources.path())?;
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let what = ["-s", &format!("-j{jobs}"), "build_generated", "apps/openssl"];
    step(Command::new("make").args(what), sources.path())?;
    // Whole or not at all: another process may look for it meanwhile.
    fs::rename(sources.path().join("apps/openssl"), &built).unwrap();
    Ok(Some(built))
}

fn step(command: &mut Command, directory: &Path) -> Result<(), String> {
    command.current_dir(directory).stdin(Stdio::null());
    // What cargo tells its own makes is not for this one.
    for name in ["MAKEFLAGS", "MFLAGS", "CARGO_MAKEFLAGS"] {
        command.env_remove(name);
    }
    let ran = ProgramResult::of(command);
    if ran.output.status.success() { Ok(()) } else { Err(format!("{}\n{}", ran.command, ran.said())) }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}
