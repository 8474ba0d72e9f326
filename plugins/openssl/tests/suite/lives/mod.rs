//! A program that uses libcrypto as libraries and servers do.

use std::path::Path;
use std::process::Command;

use crate::common::{ProgramResult, TestDirectory, program};

const WHAT: [&str; 3] = ["loading", "contexts", "forks"];

/// Runs everything that such a program does, with these keys.
pub fn lead(dir: &TestDirectory, keys: &[&str]) {
    if program("cc").is_none() {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/lives/lives.c");
    let built = dir.path("lives");
    let mut build = Command::new("cc");
    // Debian has the library in one package, and what programs are usually linked by in another.
    build
        .args(["-O1", "-Wall", "-Werror", "-o"])
        .arg(&built)
        .arg(source)
        .args(["-l:libcrypto.so.3", "-pthread"]);
    ProgramResult::of(&mut build).ok();
    for key in keys {
        for what in WHAT {
            // Its contexts load the provider; the one that libcrypto makes by itself does not.
            let mut command = dir.plain_command(&built);
            command.args([what, "openssl.cnf", key]);
            ProgramResult::of(&mut command).ok();
        }
    }
}
