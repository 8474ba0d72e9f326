//! The program as its users run it.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "each test file uses some of it")]

pub(crate) mod filter;
pub(crate) mod peers;
pub(crate) mod printed;

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

pub(crate) fn oarlock(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// Returns the program with a cost cache of its own, so that tests do not change that of the user. `OARLOCK_DISABLE`
/// is passed on: these tests hold with and without the lanes.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oarlock"));
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cache");
    command.args(arguments).env("XDG_CACHE_HOME", cache).stdin(Stdio::null());
    for name in ["OARLOCK_SERVER", "OARLOCK_CA", "OARLOCK_CERT", "OARLOCK_KEY", "COLUMNS"] {
        command.env_remove(name);
    }
    command
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns the stdout of a command that has succeeded.
pub(crate) fn text(output: &Output) -> String {
    assert_eq!(code(output), 0, "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}
