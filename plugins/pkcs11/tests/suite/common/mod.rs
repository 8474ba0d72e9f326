//! A directory with settings and keys, and tests in processes of their own: the library has one state per process, and
//! its settings come from the environment.

pub mod forked;
pub mod lattice;
pub mod objects;
pub mod raw;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use oarlock::Curve;
use oarlock::keys::{export, generate};
use tempfile::TempDir;

/// Set in the process that runs a test; its value is the directory.
const DIRECTORY: &str = "OARLOCK_TEST_DIRECTORY";

/// The variable that names the settings.
pub const SETTINGS: &str = "OARLOCK_PKCS11_CONF";

pub const SO_PIN: &str = "so-pin-1";
pub const USER_PIN: &str = "user-pin";

/// A directory to run programs in.
pub struct TestDirectory {
    path: PathBuf,
    /// `None` in the process that runs the test: the directory is its parent's.
    _owned: Option<TempDir>,
}

impl TestDirectory {
    pub fn new() -> Self {
        let owned = tempfile::tempdir().unwrap();
        Self { path: owned.path().to_owned(), _owned: Some(owned) }
    }

    /// Returns the current directory, for a process that [`command`](Self::command) has started.
    pub fn current() -> Self {
        Self { path: std::env::current_dir().unwrap(), _owned: None }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a private file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// Makes a directory `keys` with a key of each kind, and certificates of the RSA and the P-256 key.
    pub fn make_keys(&self) {
        for (name, content) in KEY_FILES.iter() {
            self.write(&format!("keys/{name}"), content);
        }
    }

    /// Makes a command that finds the settings and nothing else of this test.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.path).env("XDG_CACHE_HOME", &self.path).env("HOME", &self.path);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("OARLOCK_")) {
            // A forced engine stays forced.
            if name != "OARLOCK_DISABLE" {
                command.env_remove(name);
            }
        }
        command.env(SETTINGS, self.path("pkcs11.toml"));
        command
    }

    /// Runs a program that must succeed, and returns what it printed.
    #[track_caller]
    pub fn run(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> String {
        let mut command = self.command(program);
        let shown = format!("{:?} {arguments:?}", command.get_program());
        let output = command.args(arguments).output().unwrap_or_else(|error| panic!("{shown}: {error}"));
        assert!(output.status.success(), "{shown}: {:?}\n{}", output.status, said(&output));
        said(&output)
    }
}

/// The files of [`TestDirectory::make_keys`], made once per process.
static KEY_FILES: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let pem = |key| export::private_pkcs8_pem(&key).unwrap().to_string();
    let rsa = pem(generate::rsa(2048).unwrap());
    let p256 = pem(generate::ec(Curve::P256).unwrap());
    vec![
        ("rsa.crt", self_signed(&rsa)),
        ("rsa.pem", rsa),
        ("p256.crt", self_signed(&p256)),
        ("p256.pem", p256),
        ("p384.pem", pem(generate::ec(Curve::P384).unwrap())),
        ("ed25519.pem", pem(generate::ed25519().unwrap())),
    ]
});

/// Returns a certificate of `localhost`, signed by its own key.
fn self_signed(key: &str) -> String {
    let key = rcgen::KeyPair::from_pem(key).unwrap();
    let mut about = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
    about.distinguished_name.push(rcgen::DnType::CommonName, "localhost");
    about.self_signed(&key).unwrap().pem()
}

/// Returns everything that a program printed.
pub fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Runs a test in a process of its own. `name` is the test's own name. `settings` are the lines of `pkcs11.toml`, and
/// `prepare` fills the directory.
#[track_caller]
pub fn isolated(
    name: &str,
    settings: &str,
    prepare: impl FnOnce(&TestDirectory),
    test: impl FnOnce(&TestDirectory),
) {
    if let Some(path) = std::env::var_os(DIRECTORY) {
        return test(&TestDirectory { path: path.into(), _owned: None });
    }
    let dir = TestDirectory::new();
    dir.write("pkcs11.toml", settings);
    prepare(&dir);
    let mut command = dir.command(std::env::current_exe().unwrap());
    command.env(DIRECTORY, &dir.path).args(["--exact", name, "--nocapture", "--test-threads=1"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{name}: {:?}\n{}", output.status, said(&output));
    assert!(said(&output).contains("1 passed"), "there is no test {name}\n{}", said(&output));
}

/// Makes a token with both PINs by `pkcs11-tool`, with more settings of its slot.
pub fn with_store(tool: &Path, more: &str) -> TestDirectory {
    let dir = TestDirectory::new();
    dir.write("pkcs11.toml", format!("{STORE}{more}"));
    let module = module_path();
    dir.run(tool, &["--module", &module, "--init-token", "--label", "a token", "--so-pin", SO_PIN]);
    let pin = ["--module", &module, "--init-pin", "--login", "--so-pin", SO_PIN, "--new-pin", USER_PIN];
    dir.run(tool, &[&pin[..], &["--login-type", "so"]].concat());
    dir
}

/// The settings of a directory of keys.
pub const KEYS: &str = "[[slot]]\nkind = \"keys\"\ndirectory = \"keys\"\nlabel = \"test keys\"\n";

/// The settings of a store.
pub const STORE: &str = "[[slot]]\nkind = \"store\"\npath = \"token\"\n";

/// Returns the path of the module of this build.
pub fn module() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let module = test.parent().unwrap().join("liboarlock_pkcs11.so");
    assert!(module.exists(), "cargo builds the library beside its tests: {}", module.display());
    module
}

/// Returns the path of the module as text.
pub fn module_path() -> String {
    module().to_str().unwrap().to_owned()
}

/// Finds a program of the Python packages that `.ci/setup` installs, or else one in the path. Prints SKIPPED and
/// returns None if there is none.
pub fn python_program(name: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().unwrap();
    // target/PROFILE/deps/TEST
    let installed = test.ancestors().nth(3).unwrap().join("pkcs11-python/bin").join(name);
    if installed.is_file() { Some(installed) } else { program(name) }
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
