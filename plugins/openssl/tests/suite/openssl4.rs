//! The whole suite for the newest OpenSSL, which is built here from its sources, because its interface may differ from
//! 3.0.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::common::{ProgramResult, TestDirectory, program};
use crate::post_quantum::keys;
use crate::{comparison, conformance};

/// Features that no test uses.
const LEFT_OUT: [&str; 33] = [
    "no-afalgeng",
    "no-argon2",
    "no-aria",
    "no-bf",
    "no-camellia",
    "no-cast",
    "no-cmp",
    "no-ct",
    "no-docs",
    "no-dtls",
    "no-gost",
    "no-idea",
    "no-legacy",
    "no-lms",
    "no-md4",
    "no-mdc2",
    "no-ocb",
    "no-ocsp",
    "no-quic",
    "no-rc2",
    "no-rc4",
    "no-rfc3779",
    "no-rmd160",
    "no-scrypt",
    "no-seed",
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
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn the_library_has_the_expected_version() {
    let Some(dir) = test_directory() else { return };
    let (_, meant) = openssl_src::version().split_once('+').unwrap();
    let said = dir.openssl("version -a").ok();
    assert!(said.starts_with(&format!("OpenSSL {meant} ")), "{said}");
    let said = dir.openssl("list -providers -verbose").ok();
    assert!(said.contains("name: Oarlock") && said.contains("status: active"), "{said}");
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn verifies_signatures_of_plain_openssl_and_the_opposite() {
    test_directory().iter().for_each(conformance::signatures);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn decrypts_messages_of_plain_openssl() {
    test_directory().iter().for_each(conformance::encryption);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn agrees_on_secrets_with_plain_openssl() {
    test_directory().iter().for_each(conformance::agreement);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn derives_keys_of_tls_as_plain_openssl() {
    test_directory().iter().for_each(conformance::derivations);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn encrypts_and_decrypts_mail_for_ec_keys() {
    test_directory().iter().for_each(conformance::enveloped_mail);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn signs_certificates_and_requests() {
    test_directory().iter().for_each(conformance::certificates);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn handshakes_with_every_key_succeed_in_both_versions_of_tls() {
    let Some(dir) = test_directory() else { return };
    dir.keys();
    conformance::handshakes(&dir);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn offers_every_tls_group() {
    let Some(dir) = test_directory() else { return };
    dir.keys();
    conformance::groups(&dir);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn keys_of_both_key_managers_work() {
    test_directory().iter().for_each(conformance::generation);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn leaves_unsupported_operations_to_the_default_provider() {
    test_directory().iter().for_each(conformance::left_alone);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn takes_no_operation_away() {
    test_directory().iter().for_each(comparison::operations);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn takes_no_version_of_tls_away() {
    test_directory().iter().for_each(comparison::handshakes);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn jobs_pause_and_make_valid_signatures() {
    test_directory().iter().for_each(conformance::async_jobs);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn reports_bad_input_on_the_error_queue() {
    test_directory().iter().for_each(conformance::bad_input);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn lattice_keys_go_to_files_and_sign() {
    let Some(dir) = test_directory() else { return };
    keys::files(&dir);
    keys::signatures(&dir);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn lattice_keys_and_results_are_those_of_plain_openssl() {
    test_directory().iter().for_each(keys::both_ways);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn hybrid_groups_are_those_of_plain_openssl() {
    let Some(dir) = test_directory() else { return };
    dir.keys();
    conformance::hybrids(&dir);
}

#[test]
#[ignore = "builds OpenSSL, which takes minutes: make long runs it"]
fn handshakes_with_ml_dsa_certificates_succeed() {
    let Some(dir) = test_directory() else { return };
    for algorithm in ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"] {
        dir.key(algorithm, &format!("-algorithm {algorithm}"));
        dir.certificate(algorithm);
        conformance::connect(&dir, algorithm, "-tls1_3", "");
    }
}

/// Makes a test directory. Prints SKIPPED and returns None if OpenSSL cannot be built.
fn test_directory() -> Option<TestDirectory> {
    // Where it fails, it is not tried again by every test.
    static BUILT: OnceLock<Result<Option<PathBuf>, String>> = OnceLock::new();
    let openssl = BUILT.get_or_init(build).clone().unwrap()?;
    Some(TestDirectory::with(openssl, None, "mode = local"))
}

/// Builds OpenSSL once, beside the output of cargo: a program that contains its libraries and exports their functions.
fn build() -> Result<Option<PathBuf>, String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        eprintln!("SKIPPED: OpenSSL is built for x86-64 Linux only");
        return Ok(None);
    }
    if ["perl", "make", "cc"].iter().any(|name| program(name).is_none()) {
        return Ok(None);
    }
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // A build with other features is another one.
    let built = kept.join(format!("openssl-{}-without-{}", openssl_src::version(), LEFT_OUT.len()));
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
    let ran = ProgramResult::from_command(command);
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
