//! The two programs as their users run them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The laboratory.
pub(crate) const LAB: &str = env!("CARGO_BIN_EXE_oarlock-lab");

pub(crate) fn lab(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// Returns the laboratory with a cost cache of its own, so that tests do not change that of the user.
/// `OARLOCK_DISABLE` is passed on: these tests hold with and without the lanes.
pub(crate) fn command(arguments: &[&str]) -> Command {
    // Most commands start it, and fail with the same words without it.
    oarlock_path();
    start(Path::new(LAB), arguments)
}

/// Returns the program `oarlock`.
pub(crate) fn oarlock(arguments: &[&str]) -> Command {
    start(&oarlock_path(), arguments)
}

/// Returns the path of the program `oarlock`, which another package builds.
pub(crate) fn oarlock_path() -> PathBuf {
    let path = Path::new(LAB).with_file_name("oarlock");
    assert!(path.is_file(), "{} is not built: run `cargo build -p oarlock-cli`", path.display());
    path
}

fn start(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
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

/// Returns the rows that a command has printed as JSON.
pub(crate) fn rows(output: &Output) -> Vec<Value> {
    serde_json::from_str(&text(output)).unwrap()
}
