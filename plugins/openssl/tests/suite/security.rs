//! Attacks: outputs that do not fit, and an environment of another user.

use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{self, ProgramResult, TestDirectory, program};

/// Builds `security/security.c`. Prints SKIPPED and returns None without a compiler.
fn attacker(dir: &TestDirectory) -> Option<PathBuf> {
    program("openssl")?;
    program("cc")?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/security/security.c");
    let built = dir.path("security");
    let mut build = Command::new("cc");
    build.args(["-O1", "-Wall", "-Werror", "-o"]).arg(&built).arg(source).arg("-l:libcrypto.so.3");
    ProgramResult::from_command(&mut build).ok();
    Some(built)
}

/// Returns the output of a program under this provider and under OpenSSL's own.
fn both(dir: &TestDirectory, attacker: &Path, what: &str, key: &str) -> [String; 2] {
    ["?provider=oarlock", "provider=default"].map(|properties| {
        // The program makes a context of its own, which loads the configuration that it is given.
        let mut command = dir.plain_command(attacker);
        ProgramResult::from_command(command.args([what, "openssl.cnf", key, properties])).ok()
    })
}

#[test]
fn a_buffer_shorter_than_the_modulus_reveals_nothing_of_a_plaintext() {
    let dir = TestDirectory::new("engines = scalar\nthreads = 1");
    let Some(attacker) = attacker(&dir) else { return };
    dir.key("rsa", "-algorithm RSA -pkeyopt rsa_keygen_bits:2048");
    let [ours, other] = both(&dir, &attacker, "decryption", "rsa");
    assert!(ours.contains("message 16, place 48: 0") && ours.contains("message 16, place 256: 1"), "{ours}");
    assert!(ours.contains(", 0 fit into 48 bytes"), "{ours}");
    assert_eq!(ours, other);
}

#[test]
fn rejects_buffers_that_are_a_byte_short_as_openssl_does() {
    let dir = TestDirectory::new("engines = scalar\nthreads = 1");
    let Some(attacker) = attacker(&dir) else { return };
    for (key, how) in common::KEYS.into_iter().filter(|(key, _)| *key != "ed25519") {
        dir.key(key, how);
        let [ours, other] = both(&dir, &attacker, "signatures", key);
        assert!(ours.contains(": 0 of 20 a byte short, 1 at full length"), "{ours}");
        assert_eq!(ours, other, "{key}");
    }
    dir.key("x25519", "-algorithm X25519");
    let [ours, other] = both(&dir, &attacker, "agreement", "x25519");
    assert!(ours.contains("0 a byte short, 1 at full length"), "{ours}");
    assert_eq!(ours, other);
}

/// OpenSSL cuts a secret of ECDH to a shorter buffer.
#[test]
fn cuts_secrets_of_ecdh_to_the_buffer_as_openssl_does() {
    let dir = TestDirectory::new("engines = scalar\nthreads = 1");
    let Some(attacker) = attacker(&dir) else { return };
    for (key, how) in common::KEYS.into_iter().filter(|(key, _)| ["p256", "p384"].contains(key)) {
        dir.key(key, how);
        let [ours, other] = both(&dir, &attacker, "agreement", key);
        assert!(ours.contains("1 a byte short, 1 at full length"), "{ours}");
        assert_eq!(ours, other, "{key}");
    }
}

/// The user `nobody` of every Linux.
const NOBODY: u32 = 65534;

/// Makes a directory of root that others can read, with a set-user-ID program, a key that only root can read, and a
/// configuration that loads the provider. Prints SKIPPED and returns None if this machine does not allow it.
fn raised(section: &str) -> Option<(TestDirectory, PathBuf)> {
    let skip = |why: &str| eprintln!("SKIPPED: {why}");
    if !rustix::process::geteuid().is_root() {
        skip("only root can make a set-user-ID program");
        return None;
    }
    program("setpriv")?;
    let dir = TestDirectory::new(section);
    let attacker = attacker(&dir)?;
    dir.key("root.pem", "-algorithm RSA -pkeyopt rsa_keygen_bits:2048");
    // The loader of a set-user-ID program opens the module by its path, as nobody may not.
    fs::copy(common::module(), dir.path("oarlock.so")).unwrap();
    let text = String::from_utf8(dir.read("openssl.cnf")).unwrap();
    let module = dir.path("oarlock.so");
    dir.write("openssl.cnf", text.replace(&*common::module().to_string_lossy(), &module.to_string_lossy()));
    for (name, mode) in
        [("root.pem", 0o600), ("openssl.cnf", 0o644), ("oarlock.so", 0o755), ("security", 0o4755)]
    {
        fs::set_permissions(dir.path(name), Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(&dir.directory, Permissions::from_mode(0o755)).unwrap();
    let probe = ProgramResult::from_command(as_nobody(&dir, &attacker).args([
        "privileged",
        "openssl.cnf",
        "root.pem",
        "",
    ]));
    if !probe.said().contains(&format!("uid {NOBODY}, effective 0")) {
        skip("set-user-ID programs are not honoured here (nosuid, or no new privileges)");
        return None;
    }
    Some((dir, attacker))
}

fn as_nobody(dir: &TestDirectory, program: &Path) -> Command {
    let mut command = dir.plain_command("setpriv");
    let nobody = NOBODY.to_string();
    command.args(["--reuid", &nobody, "--regid", &nobody, "--clear-groups", "--"]).arg(program);
    command
}

/// Listens in a directory of nobody, and returns everything that the first connection sends in time.
fn listener(path: &Path) -> std::thread::JoinHandle<Vec<u8>> {
    let listener = UnixListener::bind(path).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let end = path.with_extension("end");
    std::thread::spawn(move || {
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline {
            if let Ok((mut stream, _)) = listener.accept() {
                stream.set_nonblocking(false).unwrap();
                stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
                let mut bytes = Vec::new();
                let _ = stream.read_to_end(&mut bytes);
                return bytes;
            }
            if end.exists() {
                break;
            }
            std::thread::yield_now();
        }
        Vec::new()
    })
}

#[test]
fn ignores_the_environment_of_a_program_with_raised_privileges() {
    // Without a mode of its own the section would leave the choice to the environment.
    for section in ["mode = local", ""] {
        let Some((dir, attacker)) = raised(section) else { return };
        let socket = dir.path("evil.sock");
        let received = listener(&socket);
        let mut command = as_nobody(&dir, &attacker);
        command
            .env("OARLOCK_MODE", "service")
            .env("OARLOCK_SOCKET", &socket)
            .env("OARLOCK_SERVER_USER", "nobody")
            // Would be refused if it were read.
            .env("OARLOCK_THREADS", "no number")
            .env("XDG_CACHE_HOME", dir.path("cache"))
            .args(["privileged", "openssl.cnf", "root.pem", ""]);
        let said = ProgramResult::from_command(&mut command).said();
        dir.write("evil.end", "");
        assert!(said.contains("signed: 1") && !said.contains("OARLOCK_"), "{said}");
        assert!(received.join().unwrap().is_empty(), "bytes went to another user's socket");
        assert!(!dir.path("cache").exists());
        fs::remove_file(socket).unwrap();
    }
}
