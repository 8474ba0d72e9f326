//! A shell that runs the blocks of a guide in a directory of their own.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use oarlock_measure::ports::free_ports;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{GuideBlock, shell_blocks, unprinted_lines};

/// Stands before the output of a block, with the line of the block behind it.
const MARK: &str = "\n@@ block of line ";
/// The deadline of a guide. It is reached only if a command hangs.
const DEADLINE_SECONDS: &str = "300";

/// The result of a guide.
#[derive(Debug, Default)]
pub(crate) struct GuideRun {
    /// The blocks that could not run here, with the reasons.
    pub(crate) skipped: Vec<String>,
    /// The block that failed, or the shown lines that were not printed.
    pub(crate) faults: Vec<String>,
}

/// Runs the blocks of a guide in one shell, in an empty directory, until one fails.
pub(crate) fn run_guide(name: &str, markdown: &str) -> GuideRun {
    let mut run = GuideRun::default();
    let mut blocks = shell_blocks(&with_free_ports(markdown));
    blocks.retain(|block| match block.needs.iter().find_map(|need| missing(need)) {
        Some(reason) => {
            run.skipped.push(format!("SKIPPED: {name}:{}: {reason}", block.line));
            false
        }
        None => true,
    });
    let shell = GuideShell::new();
    let is_success = shell.run(&blocks);
    let outputs = shell.outputs();
    for (block, output) in blocks.iter().zip(&outputs) {
        let head = format!("{name}:{}", block.line);
        for line in unprinted_lines(&block.shown, output) {
            run.faults.push(format!("{head}: shown, but not printed: {line}\n{output}"));
        }
    }
    if !is_success {
        let (block, output) = blocks.iter().zip(&outputs).next_back().unwrap();
        run.faults = vec![format!("{name}:{}: failed:\n{}{output}", block.line, block.commands)];
    }
    run
}

/// Returns the reason why a need of a block is not met.
fn missing(need: &str) -> Option<String> {
    match need {
        "provider" => provider().is_none().then(|| "liboarlock_openssl.so is not built".to_owned()),
        program => {
            let is_here = std::env::split_paths(&search_path()).any(|path| path.join(program).is_file());
            (!is_here).then(|| format!("{program} is not installed"))
        }
    }
}

/// Returns the OpenSSL provider of this build.
fn provider() -> Option<PathBuf> {
    let directory = program_directory();
    let directories = [directory.to_owned(), directory.join("deps")];
    directories
        .map(|directory| directory.join("liboarlock_openssl.so"))
        .into_iter()
        .find(|path| path.is_file())
}

fn program_directory() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_oarlock")).parent().unwrap()
}

/// The search path with the program under test first. Debian has servers where only root's path looks.
fn search_path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let ours = std::iter::once(program_directory().to_owned());
    let paths = ours.chain(std::env::split_paths(&path)).chain([PathBuf::from("/usr/sbin")]);
    std::env::join_paths(paths).unwrap()
}

/// Replaces the ports of a guide by ports that are free at the moment.
fn with_free_ports(markdown: &str) -> String {
    let mut text = markdown.to_owned();
    let parts: Vec<&str> = markdown.split("127.0.0.1:").skip(1).collect();
    for (part, free) in parts.iter().zip(free_ports(parts.len()).unwrap()) {
        let port = part.split(|letter: char| !letter.is_ascii_digit()).next().unwrap();
        text = text.replace(port, &free.to_string());
    }
    text
}

/// A shell in an empty directory. Processes that it leaves behind end with it.
struct GuideShell {
    directory: TempDir,
}

impl GuideShell {
    fn new() -> Self {
        let shell = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir(shell.user_directory()).unwrap();
        shell
    }

    /// The directory in which the commands run. Script and output stand beside it.
    fn user_directory(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join("guide")
    }

    /// Runs all blocks. Returns false if one of them failed.
    fn run(&self, blocks: &[GuideBlock]) -> bool {
        let script = self.directory.path().join("script");
        // The mark begins with a line end, because the output of a block need not end with one.
        let block = |block: &GuideBlock| format!("echo '{MARK}{}'\n{}", block.line, block.commands);
        fs::write(&script, blocks.iter().map(block).collect::<String>()).unwrap();
        // A file and no pipe: a server that is left behind would keep a pipe open.
        let output = File::create(self.directory.path().join("output")).unwrap();
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", DEADLINE_SECONDS, "sh", "-e"]).arg(script);
        command.current_dir(self.user_directory());
        self.set_environment(&mut command);
        command.stdin(Stdio::null()).stdout(output.try_clone().unwrap()).stderr(output);
        command.status().unwrap().success()
    }

    /// Gives a command an environment in which nothing depends on the user, except for the search path.
    fn set_environment(&self, command: &mut Command) {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
        command.env_clear().env("PATH", search_path()).env("XDG_CACHE_HOME", cache);
        command.env("HOME", self.directory.path()).env("LC_ALL", "C");
        command.envs(std::env::var_os("OARLOCK_DISABLE").map(|value| ("OARLOCK_DISABLE", value)));
        command.envs(provider().map(|path| ("OARLOCK_PROVIDER", path)));
    }

    /// Returns the output of each block that was begun.
    fn outputs(&self) -> Vec<String> {
        let bytes = fs::read(self.directory.path().join("output")).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let after_line = |part: &str| part.split_once('\n').unwrap_or_default().1.to_owned();
        text.split(MARK).skip(1).map(after_line).collect()
    }
}

impl Drop for GuideShell {
    fn drop(&mut self) {
        let directory = self.user_directory();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let is_here = fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == directory);
            let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
            if let Some(pid) = number.and_then(Pid::from_raw).filter(|_| is_here) {
                // It may have ended meanwhile.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}
