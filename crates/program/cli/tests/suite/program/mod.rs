//! The program as its users run it.

pub(crate) mod filter;
pub(crate) mod peers;
pub(crate) mod printed;

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
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

/// Returns a command that passes a listening socket to a program, as systemd does.
pub(crate) fn passing(socket: OwnedFd, program: &Command) -> Command {
    // The shell gives the socket the number 3. LISTEN_PID is absent: no process knows its own in advance.
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec 3<&0 </dev/null; exec \"$@\"", "sh"]);
    shell.arg(program.get_program()).args(program.get_args()).env("LISTEN_FDS", "1").stdin(socket);
    for (name, value) in program.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        shell.env(name, value);
    }
    shell
}

/// Gives a program another clock, such as `+1h` or `@2020-01-01 00:00:00`. Prints SKIPPED and returns false if faketime
/// is not installed. The programs of BIND do not start with it.
pub(crate) fn set_clock(program: &mut Command, clock: &str) -> bool {
    if !peers::has("faketime") {
        return false;
    }
    // faketime itself would stay between the program and who ends it. It says which library it loads.
    let set = Command::new("faketime").args(["-f", clock, "env"]).output().unwrap();
    let set = String::from_utf8(set.stdout).unwrap();
    let library = set.lines().find_map(|line| line.strip_prefix("LD_PRELOAD=")).unwrap();
    program.env("LD_PRELOAD", library).env("FAKETIME", clock);
    true
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs `oarlock records WORDS` in a directory.
pub(crate) fn records_in(directory: &Path, words: &str) -> Output {
    let words: Vec<&str> = ["records"].into_iter().chain(words.split(' ')).collect();
    command(&words).current_dir(directory).output().unwrap()
}

/// Runs `oarlock records WORDS` in a directory, which succeeds and prints nothing.
pub(crate) fn run_records_in(directory: &Path, words: &str) {
    let output = records_in(directory, words);
    assert_eq!(code(&output), 0, "{words}: {}", stderr(&output));
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{words}: {}", stderr(&output));
}

/// Returns the stdout of a command that has succeeded.
pub(crate) fn text(output: &Output) -> String {
    assert_eq!(code(output), 0, "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}
