//! A directory with keys and an openssl.cnf that loads the provider, and programs that run in it.

pub mod server;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A directory to run programs in.
pub struct TestDirectory {
    pub directory: TempDir,
    /// The program `openssl`.
    pub openssl: PathBuf,
    pub libraries: Option<PathBuf>,
}

impl TestDirectory {
    /// Makes a directory for Debian's OpenSSL, with these lines in the provider's section.
    pub fn new(section: &str) -> Self {
        Self::with("openssl".into(), None, section)
    }

    pub fn with(openssl: PathBuf, libraries: Option<PathBuf>, section: &str) -> Self {
        let dir = Self { directory: tempfile::tempdir().unwrap(), openssl, libraries };
        dir.write("openssl.cnf", configuration(section));
        dir.write("plain.cnf", "");
        dir
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Makes a command that loads the provider.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.plain_command(program);
        command.env("OPENSSL_CONF", self.path("openssl.cnf"));
        command
    }

    /// Makes a command without the provider.
    pub fn plain_command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.directory).env("OPENSSL_CONF", self.path("plain.cnf"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("OARLOCK_")) {
            // A forced engine stays forced; what sets the provider up is the test's.
            if name != "OARLOCK_DISABLE" {
                command.env_remove(name);
            }
        }
        command.env("XDG_CACHE_HOME", self.directory.path());
        if let Some(libraries) = &self.libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        command
    }

    /// Runs `openssl` with the provider. Spaces separate the arguments.
    pub fn openssl(&self, arguments: &str) -> ProgramResult {
        self.openssl_with(arguments, |_| {})
    }

    /// Runs `openssl` with the provider, after changes to the command.
    pub fn openssl_with(&self, arguments: &str, change: impl FnOnce(&mut Command)) -> ProgramResult {
        let mut command = self.command(&self.openssl);
        command.args(arguments.split_whitespace());
        change(&mut command);
        ProgramResult::from_command(&mut command)
    }

    /// Runs `openssl` without the provider.
    pub fn plain(&self, arguments: &str) -> ProgramResult {
        ProgramResult::from_command(self.plain_command(&self.openssl).args(arguments.split_whitespace()))
    }

    /// Makes a key with plain OpenSSL, and its public half as `NAME.pub`.
    pub fn key(&self, name: &str, how: &str) {
        self.plain(&format!("genpkey {how} -out {name}")).ok();
        self.plain(&format!("pkey -in {name} -pubout -out {name}.pub")).ok();
    }

    /// Makes a certificate of a key with plain OpenSSL, as `NAME.crt`.
    pub fn certificate(&self, name: &str) {
        let arguments = format!("req -x509 -new -key {name} -subj /CN=localhost -days 2 -out {name}.crt");
        let mut command = self.plain_command(&self.openssl);
        // This needs only the empty section, for every build of the program.
        self.write("req.cnf", "[req]\ndistinguished_name = name\n[name]\n");
        command.env("OPENSSL_CONF", self.path("req.cnf")).args(arguments.split_whitespace());
        command.args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]);
        ProgramResult::from_command(&mut command).ok();
    }

    /// Makes a key of every supported type, with certificates.
    pub fn keys(&self) {
        for (name, how) in KEYS {
            self.key(name, how);
            self.certificate(name);
        }
    }
}

/// The names of keys, and the options that make them.
pub const KEYS: [(&str, &str); 4] = [
    ("rsa", "-algorithm RSA -pkeyopt rsa_keygen_bits:2048"),
    ("p256", "-algorithm EC -pkeyopt ec_paramgen_curve:P-256"),
    ("p384", "-algorithm EC -pkeyopt ec_paramgen_curve:P-384"),
    ("ed25519", "-algorithm ED25519"),
];

/// The result of a program.
#[derive(Debug)]
pub struct ProgramResult {
    pub command: String,
    pub output: Output,
}

impl ProgramResult {
    pub fn from_command(command: &mut Command) -> Self {
        let shown = format!("{command:?}");
        let output = command.output().unwrap_or_else(|error| panic!("{shown}: {error}"));
        Self { command: shown, output }
    }

    /// Returns the standard output. The program must have succeeded.
    #[track_caller]
    pub fn ok(self) -> String {
        assert!(self.output.status.success(), "{}\n{}", self.command, self.said());
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    /// Returns the output and the errors. The program must have failed.
    #[track_caller]
    pub fn failed(self) -> String {
        let code = self.output.status.code();
        assert!(code.is_some_and(|code| code != 0), "{}\n{}", self.command, self.said());
        self.said()
    }

    pub fn said(&self) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&self.output.stdout) + &text(&self.output.stderr)
    }
}

/// Returns the path of the provider of this build.
pub fn module() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let beside = test.parent().unwrap();
    let module = beside.join("liboarlock_openssl.so");
    assert!(module.exists(), "cargo builds the library beside its tests: {}", module.display());
    module
}

/// Returns an openssl.cnf that prefers the provider, with these lines in its section.
pub fn configuration(section: &str) -> String {
    let mut text = String::from(
        "openssl_conf = openssl_init\n\
         [openssl_init]\nproviders = provider_section\nalg_section = algorithm_section\n\
         [provider_section]\ndefault = default_section\noarlock = oarlock_section\n\
         [default_section]\nactivate = 1\n\
         [algorithm_section]\ndefault_properties = ?provider=oarlock\n\
         [req]\ndistinguished_name = name\n[name]\n",
    );
    write!(text, "[oarlock_section]\nmodule = {}\nactivate = 1\n{section}\n", module().display()).unwrap();
    text
}

/// Finds a program. Prints SKIPPED and returns None if it is not installed.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .chain([Path::new("/usr/sbin").to_path_buf()])
        .map(|directory| directory.join(name))
        .find(|path| path.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: {name} is not installed");
    }
    found
}
