//! The module in Python: pytest runs the files of this folder.
//!
//! The packages come from PyPI into `target/python`, once per interpreter. Without an interpreter or without PyPI, the
//! tests print SKIPPED and why.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use oarlock::keys::{export, generate};
use oarlock::{Accelerator, Curve, MlDsaSet};
use oarlock_server::development::Development;
use oarlock_server::{BoundServer, CryptoserverConfig};

/// The environment variable that makes a test process a child; its value is the task.
const TASK: &str = "OARLOCK_TEST_TASK";
/// The environment variable with the directory of a server.
const DIRECTORY: &str = "OARLOCK_TEST_DIRECTORY";

/// The packages of most tests. They are what the module works with, and what its results are compared with.
const PACKAGES: [&str; 10] = [
    "pyarrow",
    "polars",
    "duckdb",
    "pandas",
    "datafusion",
    "nanoarrow",
    "cryptography",
    "pycryptodome",
    "hypothesis",
    "pytest",
];

#[test]
fn columns_of_every_library() {
    pytest(
        "venv",
        &PACKAGES,
        &[
            "test_columns.py",
            "test_producers.py",
            "test_interop.py",
            "test_tokens.py",
            "test_dkim.py",
            "test_bad_input.py",
        ],
    );
}

#[test]
fn keys_of_files_and_servers() {
    pytest("venv", &PACKAGES, &["test_keys.py", "test_server.py"]);
}

#[test]
fn memory_and_releases() {
    pytest("venv", &PACKAGES, &["test_memory.py"]);
}

#[test]
fn examples_of_the_manual() {
    pytest("venv", &PACKAGES, &["test_manual.py"]);
}

#[test]
fn a_world_without_pyarrow() {
    pytest("bare", &["pytest", "polars"], &["test_without_pyarrow.py"]);
}

/// One library serves every version, by the stable interface of the interpreter.
#[test]
fn every_version_of_python_loads_the_module() {
    let directory = tempfile::tempdir().unwrap();
    prepare(directory.path());
    let code = "import oarlock, pickle, sys\n\
                keys = oarlock.Keys.file(sys.argv[1])\n\
                assert pickle.loads(pickle.dumps(keys)).reference() == keys.reference()\n\
                try: keys.hash(7)\n\
                except oarlock.ColumnTypeError: print('loaded')";
    let interpreters = interpreters();
    if interpreters.is_empty() {
        eprintln!("SKIPPED: no Python of version 3.10 or later");
    }
    for python in interpreters {
        let mut command = Command::new(&python);
        command.args(["-c", code]).arg(directory.path().join("keys.ndjson")).env("PYTHONPATH", package());
        let output = command.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert_eq!(said.trim(), "loaded", "{}", python.display());
    }
}

#[test]
#[ignore = "takes minutes: make long runs it"]
fn spark() {
    if !has_java() {
        eprintln!("SKIPPED: no Java of version 17 or later, which Spark needs");
        return;
    }
    pytest("spark", &["pyspark==4.3.0", "pyarrow", "pandas", "cryptography", "pytest"], &["test_spark.py"]);
}

/// The body of a child process: not a test of its own. It serves the keys of a directory until its input ends.
#[test]
fn child_process() {
    if std::env::var_os(TASK).is_none_or(|task| task != "serve") {
        return;
    }
    let directory = PathBuf::from(std::env::var_os(DIRECTORY).unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let mut config = CryptoserverConfig::read(&directory.join("oarlock.toml")).unwrap();
    config.listen.tcp = Some("127.0.0.1:0".parse().unwrap());
    let server =
        runtime.block_on(BoundServer::bind(config, Accelerator::builder().threads(1).lazy())).unwrap();
    eprintln!("serves {}", server.addresses().tcp.unwrap());
    runtime.spawn(server.run(std::future::pending()));
    std::io::stdin().lines().for_each(drop);
}

/// Runs files of this folder by pytest, in an environment with these packages.
fn pytest(environment: &str, packages: &[&str], files: &[&str]) {
    let Some(python) = python(environment, packages) else { return };
    let directory = tempfile::tempdir().unwrap();
    prepare(directory.path());
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut command = Command::new(&python);
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no", "-rs"]);
    command.args(files.iter().map(|file| tests.join("python").join(file)));
    command.current_dir(directory.path());
    command.env("PYTHONPATH", package()).env("PYTHONDONTWRITEBYTECODE", "1").env("HOME", directory.path());
    command.env("OARLOCK_TEST_KEYS", directory.path());
    command.env("OARLOCK_TEST_SERVER", std::env::current_exe().unwrap());
    command.env("OARLOCK_TEST_MANUAL", Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/python.md"));
    // The cache of measured costs belongs to a user, and this is a test.
    command.env("XDG_CACHE_HOME", directory.path());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    eprintln!("{said}");
    assert!(output.status.success(), "{said}");
}

/// Returns the interpreter of an environment with these packages. Prints SKIPPED and returns None if there is none.
fn python(environment: &str, packages: &[&str]) -> Option<PathBuf> {
    // Two tests must not install into one environment at the same time.
    static INSTALLING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = INSTALLING.lock();
    let home = target().join("python").join(environment);
    let (python, mark) = (home.join("bin/python"), home.join("installed"));
    // The mark is written last, so an interrupted installation begins again.
    if std::fs::read_to_string(&mark).is_ok_and(|installed| installed == packages.join(" ")) {
        return Some(python);
    }
    let Some(base) = base_python() else {
        eprintln!("SKIPPED: no Python of version 3.10 or later");
        return None;
    };
    let run = |program: &Path, arguments: &[&str]| -> bool {
        let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
        output.is_ok_and(|output| output.status.success())
    };
    let home = home.to_str().unwrap();
    let installs = run(&base, &["-m", "venv", home])
        && run(&python, &[&["-m", "pip", "install", "--quiet", "--retries", "1"], packages].concat());
    if !installs {
        eprintln!("SKIPPED: pip cannot install {}", packages.join(", "));
        return None;
    }
    std::fs::write(&mark, packages.join(" ")).unwrap();
    Some(python)
}

/// Returns the newest interpreter of version 3.10 or later that has `venv`.
fn base_python() -> Option<PathBuf> {
    interpreters().into_iter().find(|python| runs(python, "import venv, ensurepip"))
}

/// Returns the interpreters of version 3.10 or later: those of pyenv, and the one in the path.
fn interpreters() -> Vec<PathBuf> {
    let versions = std::env::var_os("HOME").map(|home| Path::new(&home).join(".pyenv/versions"));
    let entries = versions.and_then(|path| std::fs::read_dir(path).ok()).into_iter().flatten();
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path().join("bin/python3")).collect();
    found.sort();
    found.reverse();
    found.push(PathBuf::from("python3"));
    found.retain(|python| runs(python, "import sys; sys.exit(sys.version_info < (3, 10))"));
    found
}

fn runs(python: &Path, code: &str) -> bool {
    let run = Command::new(python).args(["-c", code]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}

fn has_java() -> bool {
    let Ok(output) = Command::new("java").arg("-version").output() else { return false };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let version = said.split('"').nth(1).and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    version.is_some_and(|version| version >= 17)
}

/// Returns a directory with the package of this build, for `PYTHONPATH`.
///
/// No one drops a static, so the directory stays: it is among the files of the build, and holds links only.
fn package() -> &'static Path {
    static PACKAGE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = PACKAGE.get_or_init(|| {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let package = directory.path().join("oarlock");
        std::fs::create_dir(&package).unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/oarlock");
        for entry in std::fs::read_dir(sources).unwrap().flatten().filter(|entry| entry.path().is_file()) {
            symlink(entry.path(), package.join(entry.file_name())).unwrap();
        }
        let test = std::env::current_exe().unwrap();
        let library = test.parent().unwrap().join("liboarlock_python.so");
        assert!(library.exists(), "cargo builds the library beside its tests: {}", library.display());
        symlink(library, package.join("_oarlock.abi3.so")).unwrap();
        directory
    });
    made.path()
}

fn target() -> PathBuf {
    // target/PROFILE/deps/TEST
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_path_buf()
}

/// The symmetric keys of the tests, and of their server.
const KEYS: &str = r#"{"name":"pan","type":"aes128","hex":"000102030405060708090a0b0c0d0e0f"}
{"name":"pan256","type":"aes256","hex":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"}
{"name":"joined","type":"aes128","hex":"101112131415161718191a1b1c1d1e1f","algorithms":["gcm"],"ivs":["column"]}
{"name":"cbc","type":"aes128","hex":"202122232425262728292a2b2c2d2e2f","algorithms":["cbc"]}
{"name":"seal-only","type":"aes128","hex":"303132333435363738393a3b3c3d3e3f","operations":["encrypt"]}
{"name":"iv","type":"hmac","hex":"404142434445464748494a4b4c4d4e4f404142434445464748494a4b4c4d4e4f"}
{"name":"codes","type":"hmac","hex":"505152535455565758595a5b5c5d5e5f505152535455565758595a5b5c5d5e5f"}
{"name":"siv","type":"aes128-siv","hex":"707172737475767778797a7b7c7d7e7f000102030405060708090a0b0c0d0e0f"}
{"name":"customers","type":"aes128-siv","hex":"a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"}
{"name":"gcm-siv","type":"aes128","hex":"808182838485868788898a8b8c8d8e8f","algorithms":["gcm-siv"]}
{"name":"tokens","type":"aes256","hex":"909192939495969798999a9b9c9d9e9f909192939495969798999a9b9c9d9e9f","algorithms":["ff1"]}
{"name":"scarce","type":"hmac","hex":"606162636465666768696a6b6c6d6e6f","max_uses":10}
"#;

const SETTINGS: &str = r#"listen.unix = "oarlock.sock"
listen.tcp = "127.0.0.1:7443"
tls.certificate = "server.pem"
tls.private_key = "server-key.pem"
tls.client_ca = "ca.pem"
keys.records = "keys.ndjson"
keys.directory = "signing"
[[grant]]
keys = ["*"]
clients = ["*"]
"#;

/// Writes the keys of a test, and the settings of a server with the same keys.
fn prepare(directory: &Path) {
    assert!(Development::at(directory.to_path_buf()).prepare().unwrap());
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.create(true).truncate(true).write(true).mode(0o600).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    write("keys.ndjson", KEYS);
    write("oarlock.toml", SETTINGS);
    for (name, key) in [
        ("rsa", generate::rsa(2048).unwrap()),
        ("p256", generate::ec(Curve::P256).unwrap()),
        ("ed25519", generate::ed25519().unwrap()),
        ("ml-dsa", generate::ml_dsa(MlDsaSet::MlDsa44).unwrap()),
    ] {
        write(&format!("signing/{name}.pem"), &export::private_pkcs8_pem(&key).unwrap());
        write(&format!("{name}.pub"), &export::spki_pem(&key).unwrap());
    }
}
