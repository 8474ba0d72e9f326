//! A program that uses libcrypto as libraries and servers do.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{ProgramResult, TestDirectory, program};

const WHAT: [&str; 4] = ["loading", "contexts", "forks", "groups"];

/// Runs everything that such a program does, with these keys.
pub fn lead(dir: &TestDirectory, keys: &[&str]) {
    let Some(built) = build(dir) else { return };
    for key in keys {
        WHAT.iter().for_each(|what| run(dir, &built, what, "openssl.cnf", key));
    }
}

/// Uses what only the default provider has, under each of these configurations, with an RSA key.
pub fn use_others(dir: &TestDirectory, configurations: &[&str], key: &str) {
    let Some(built) = build(dir) else { return };
    configurations.iter().for_each(|configuration| run(dir, &built, "others", configuration, key));
}

fn run(dir: &TestDirectory, built: &Path, what: &str, configuration: &str, key: &str) {
    // Its contexts load the provider; the one that libcrypto makes by itself does not.
    let mut command = dir.plain_command(built);
    command.args([what, configuration, key]);
    ProgramResult::from_command(&mut command).ok();
}

/// Builds the program. Prints SKIPPED and returns None without a compiler.
fn build(dir: &TestDirectory) -> Option<PathBuf> {
    program("cc")?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/lives/lives.c");
    let built = dir.path("lives");
    let mut build = Command::new("cc");
    // Debian has the library in one package, and what programs are usually linked by in another.
    build
        .args(["-O1", "-Wall", "-Werror", "-o"])
        .arg(&built)
        .arg(source)
        .args(["-l:libcrypto.so.3", "-pthread"]);
    ProgramResult::from_command(&mut build).ok();
    Some(built)
}
