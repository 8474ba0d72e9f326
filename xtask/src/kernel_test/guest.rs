//! The guest: what it needs, its start and its end.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::KernelTestError;
use super::programs::GuestPrograms;

const KERNEL: &str = "linux.uml";
const MODULES: &str = "/usr/lib/uml/modules";
const INIT: &str = include_str!("init.sh");
const XSTATE: &str = include_str!("xstate.c");
/// The seconds after which the guest is killed. It takes about one minute.
const MAX_SECONDS: &str = "170";
const MEMORY: &str = "mem=512M";

/// The tools of this machine that make a guest.
#[derive(Debug)]
pub(super) struct Guest {
    kernel: PathBuf,
    busybox: PathBuf,
}

/// The files and messages that a guest left.
#[derive(Debug)]
pub(super) struct GuestResult {
    directory: tempfile::TempDir,
    /// The messages of its kernel.
    pub(super) console: String,
    pub(super) seconds: u64,
}

impl Guest {
    /// Finds the tools.
    ///
    /// # Errors
    /// The tool that is missing, with the command that installs it.
    pub(super) fn find() -> Result<Self, String> {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return Err("user-mode-linux runs on Linux on x86-64 only".to_owned());
        }
        let install = "Debian: apt-get install user-mode-linux busybox";
        let find = |name: &str| in_path(name).ok_or_else(|| format!("no {name} ({install})"));
        let (kernel, busybox) = (find(KERNEL)?, find("busybox")?);
        if !Path::new(MODULES).is_dir() {
            return Err(format!("no {MODULES} ({install})"));
        }
        for name in ["cc", "timeout"] {
            in_path(name).ok_or_else(|| format!("no {name}"))?;
        }
        Ok(Self { kernel, busybox })
    }

    pub(super) fn name(&self) -> String {
        format!("user-mode-linux ({})", self.kernel.display())
    }

    /// Boots the guest, and waits for its end.
    pub(super) fn run(&self, programs: &GuestPrograms) -> Result<GuestResult, KernelTestError> {
        let directory = tempfile::tempdir().map_err(KernelTestError::Guest)?;
        let out = directory.path().join("out");
        let init = directory.path().join("init.sh");
        fs::create_dir(&out).map_err(|source| KernelTestError::File { path: out.clone(), source })?;
        write(&init, &self.init_script(&out, programs))?;
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&init, executable)
            .map_err(|source| KernelTestError::File { path: init.clone(), source })?;
        let registers = build_registers(directory.path())?;
        let began = Instant::now();
        let mut command = Command::new("timeout");
        // At this signal the guest ends all its processes, which are in a session of their own.
        command.args(["--signal=TERM", "--kill-after=10", MAX_SECONDS]).arg(&self.kernel).arg(MEMORY);
        command.args(["rootfstype=hostfs", "rootflags=/", "ro", "quiet"]);
        command.arg(format!("init={}", init.display())).args(["con=null", "con0=null,fd:1", "ssl=null"]);
        command.env("LD_PRELOAD", registers).env("HOME", directory.path()).stdin(Stdio::null());
        let output = command.output().map_err(KernelTestError::Guest)?;
        kill_processes(&init);
        let console = [output.stdout, output.stderr].concat();
        let console = String::from_utf8_lossy(&console).into_owned();
        Ok(GuestResult { directory, console, seconds: began.elapsed().as_secs() })
    }

    /// Returns the script of the first process, with the paths in front.
    fn init_script(&self, out: &Path, programs: &GuestPrograms) -> String {
        let mut script = format!("#!{} sh\n", self.busybox.display());
        for (name, path) in [
            ("BUSYBOX", &*self.busybox),
            ("OUT", out),
            ("OARLOCK", &programs.oarlock),
            ("KERNEL_TLS_TESTS", &programs.kernel_tls_tests),
            ("PROXY_TESTS", &programs.proxy_tests),
            ("LAB", &programs.lab),
            ("LAB_TESTS", &programs.lab_tests),
            ("SERVE_FILE", &programs.serve_file),
        ] {
            let quoted = path.display().to_string().replace('\'', "'\\''");
            script += &format!("{name}='{quoted}'\n");
        }
        script + INIT
    }
}

impl GuestResult {
    /// True if the guest's first process ran.
    pub(super) fn has_booted(&self) -> bool {
        self.file("booted").is_some()
    }

    /// Returns a file that the guest wrote.
    pub(super) fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.directory.path().join("out").join(name)).ok()
    }

    /// Returns the steps that failed, and whether the guest was killed.
    pub(super) fn faults(&self) -> Vec<String> {
        let steps = self.file("steps").unwrap_or_default();
        let mut faults = failed_steps(&steps);
        if !steps.lines().any(|line| line == "end 0") {
            faults.push(format!("the guest did not end by itself within {MAX_SECONDS} s"));
        }
        faults
    }

    /// Returns the output of the steps that people want to see.
    pub(super) fn logs(&self) -> Vec<String> {
        let shown =
            ["probe.log", "tests.log", "proxy.log", "strace.log", "curl.log", "example.log", "bench.log"];
        shown.iter().filter_map(|name| self.file(name)).filter(|log| !log.trim().is_empty()).collect()
    }
}

/// Returns a fault for each line `NAME CODE` whose code is not 0.
fn failed_steps(steps: &str) -> Vec<String> {
    let failed = steps.lines().filter_map(|line| line.rsplit_once(' ')).filter(|(_, code)| *code != "0");
    failed.map(|(name, code)| format!("step {name}: exit code {code}")).collect()
}

/// Kills what is left of a guest that did not end: every process whose arguments name its script, which has a name of
/// its own.
fn kill_processes(init: &Path) {
    let name = init.as_os_str().as_encoded_bytes();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let arguments = fs::read(process.path().join("cmdline")).unwrap_or_default();
        if arguments.windows(name.len()).any(|part| part == name) {
            // It may have ended meanwhile.
            let _ = Command::new("kill").arg("-KILL").arg(process.file_name()).status();
        }
    }
}

/// Builds the library that restores all registers of a process.
fn build_registers(directory: &Path) -> Result<OsString, KernelTestError> {
    let (source, library) = (directory.join("xstate.c"), directory.join("xstate.so"));
    write(&source, XSTATE)?;
    let mut command = Command::new("cc");
    command.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    match command.status() {
        Ok(status) if status.success() => Ok(library.into()),
        Ok(status) => Err(KernelTestError::Build(format!("cc failed: {status}"))),
        Err(error) => Err(KernelTestError::Build(format!("cc: {error}"))),
    }
}

fn write(path: &Path, text: &str) -> Result<(), KernelTestError> {
    fs::write(path, text).map_err(|source| KernelTestError::File { path: path.to_owned(), source })
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_name_the_script_are_killed() {
        let directory = tempfile::tempdir().unwrap();
        let init = directory.path().join("init.sh");
        write(&init, "while true; do sleep 1; done").unwrap();
        let mut child = Command::new("sh").arg(&init).spawn().unwrap();
        // A process that has just been forked names the script only when it has become a shell.
        let ended = loop {
            kill_processes(&init);
            if let Some(ended) = child.try_wait().unwrap() {
                break ended;
            }
            std::thread::yield_now();
        };
        assert!(!ended.success());
    }

    #[test]
    fn failed_steps_are_faults() {
        assert_eq!(failed_steps("module-tls 0\ntests 0\nend 0\n"), Vec::<String>::new());
        assert_eq!(failed_steps("tests 101\nprobe 0\n"), ["step tests: exit code 101"]);
    }
}
