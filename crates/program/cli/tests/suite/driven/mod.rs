//! The program with a key file in every argument and setting that names one.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use oarlock_key_files::objects::{ObjectStore, PinRules};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::command;
use crate::program::printed::PrintedLines;

/// Commands that read a key from the file `x.pem`, or from the variable `X`. Their results go into files.
pub(crate) const COMMANDS: [&str; 25] = [
    "-v keys import x.pem --name taken --directory taken --force",
    "keys import x.pem --name opened --directory taken --force --in-passphrase-file another",
    "keys import x.pem --name opened --directory taken --force --in-passphrase-file secret",
    "-v keys show x.pem",
    "--json keys show x.pem --passphrase-file secret",
    "keys split x.pem --threshold 2 --shares 3 --out taken --force",
    "keys list --records x.pem",
    "token list --path x.pem",
    "token init --path token --label x --so-pin-file x.pem --no-user-pin --again",
    "token import --path token --key x.pem --certificate x.pem --label x --id 01 --pin-file secret",
    "dkim sign --domain example.com --key s1=x.pem message.eml",
    "dkim sign --domain example.com --key s1=x.pem --passphrase-file secret message.eml",
    "dkim dns x.pem",
    "dkim check example.com s1 --key x.pem --keys-file records",
    "dnssec sign zone --out signed --key x.pem",
    "dnssec sign zone --out signed --key x.pem --passphrase-file secret",
    "milter --config milter.toml --check",
    "milter --config seal.toml --check",
    "milter --config remote.toml --check",
    "records encrypt cards.csv -o sealed.csv --column pan --cipher aes128-cbc --keys x.pem --key-name aes",
    "records encrypt cards.csv -o sealed.csv --column pan --cipher aes128-cbc --key-file x.pem",
    "records encrypt cards.csv -o sealed.csv --column pan --cipher aes128-cbc --key-env X",
    "records translate cards.csv -o sealed.csv --column pan --cipher aes128-cbc --iv zero --key-file key --to-cipher aes128-cbc \
     --to-key-file x.pem",
    "call --server https://127.0.0.1:1 --ca ca.pem --cert ca.pem --cert-key x.pem keys",
    "call --server https://127.0.0.1:1 --ca ca.pem --cert ca.pem --cert-key ca.pem --threshold-key x.pem sign --key k --in message.eml",
];

/// Commands whose argument is the key itself instead of the name of its file.
pub(crate) const MISTAKEN: [&str; 14] = [
    "keys import FILE --name x --directory taken",
    "keys show FILE",
    "keys split FILE --threshold 2 --shares 3 --out taken",
    "dkim sign --domain example.com --key FILE message.eml",
    "dkim sign --domain example.com --key s1=FILE message.eml",
    "dkim dns FILE",
    "dnssec sign zone --out signed --key FILE",
    "records encrypt cards.csv --column pan --cipher aes128-cbc --key-file FILE",
    "records encrypt cards.csv --column pan --cipher aes128-cbc --keys FILE --key-name aes",
    "call --server https://127.0.0.1:1 --ca ca.pem --cert ca.pem --cert-key FILE keys",
    "call --server https://127.0.0.1:1 sign --own-key FILE --in message.eml",
    "keys list --directory taken --passphrase-file FILE",
    "token import --path token --key FILE --label x --id 01",
    "token pin --path FILE --new-pin-file FILE",
];

/// A directory with every file that the commands need, except the key.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("message.eml", b"From: a@example.com\nTo: b@example.net\nSubject: hello\n\nHello\n");
        folder.write("secret", b"secret\n");
        folder.write("another", b"another\n");
        folder.write("ca.pem", include_bytes!("../../../../../engine/keys/tests/data/certificate.pem"));
        folder.write("cards.csv", b"pan\n00112233445566770011223344556677\n");
        folder.write("key", b"f0e1d2c3b4a5968778695a4b3c2d1e0f\n");
        folder.write("records", b"s1._domainkey.example.com v=DKIM1; p=\n");
        folder
            .write("zone", b"$ORIGIN example.com.\n$TTL 60\n@ SOA ns h 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n");
        folder.write("signing.table", b"example.com s1 x.pem\n");
        let milter = "authserv_id = \"mx.example\"\nlisten.sockets = [\"inet:0@127.0.0.1\"]\n\
                      listen.metrics = \"127.0.0.1:0\"\nsigning.reload_seconds = 1\n";
        let with = |more: &str| format!("{milter}{more}\n").into_bytes();
        folder.write("milter.toml", &with("signing.table = \"signing.table\""));
        folder.write(
            "seal.toml",
            &with("arc.seal = { domain = \"example.com\", selector = \"arc\", key = \"x.pem\" }"),
        );
        folder.write(
            "remote.toml",
            &with(
                "[cryptoserver]\nservers = [\"https://127.0.0.1:1\"]\nserver_ca = \"ca.pem\"\n\
                 certificate = \"ca.pem\"\nprivate_key = \"x.pem\"",
            ),
        );
        fs::create_dir(folder.path("taken")).unwrap();
        ObjectStore::create(&folder.path("token"), "x", b"so-pin", PinRules::default()).unwrap();
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        write_private(&self.path(name), bytes);
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = command(words);
        command.current_dir(self.0.path()).env("XDG_STATE_HOME", self.0.path());
        command
    }

    /// Returns the output of a command that finds a key in `x.pem` and, if a variable can hold it, in `X`.
    pub(crate) fn run(&self, words: &str, key: &[u8]) -> Vec<u8> {
        use std::os::unix::ffi::OsStrExt;
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut command = self.command(&words);
        if !key.contains(&0) {
            command.env("X", std::ffi::OsStr::from_bytes(key));
        }
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        // A command with wrong arguments would read no key, so the test would prove nothing.
        for refused in ["unexpected argument", "unrecognized", "required arguments", "cannot be used with"] {
            assert!(!stderr.contains(refused), "{words:?}: {stderr}");
        }
        said(output)
    }
}

/// Writes a file that only its owner can read, as programs demand of a key.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

pub(crate) fn said(output: Output) -> Vec<u8> {
    [output.stdout, output.stderr].concat()
}

/// A server or a milter whose log goes into a file, so that a long log cannot stop it.
pub(crate) struct Running {
    child: Child,
    log: PathBuf,
    pub(crate) said: Value,
}

impl Running {
    /// Starts a command that prints in JSON where it listens.
    pub(crate) fn start(mut command: Command, log: PathBuf) -> Self {
        let mut child =
            command.stdout(Stdio::piped()).stderr(fs::File::create(&log).unwrap()).spawn().unwrap();
        let line = PrintedLines::from_stream(child.stdout.take().unwrap()).next_or_end().unwrap_or_default();
        let said =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("{}", fs::read_to_string(&log).unwrap()));
        Self { child, log, said }
    }

    /// Waits until the log contains this, and returns the log.
    pub(crate) fn log_with(&self, wanted: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let log = fs::read_to_string(&self.log).unwrap();
            assert!(Instant::now() < deadline, "{wanted} is missing in {log}");
            if log.contains(wanted) {
                return log;
            }
            std::thread::yield_now();
        }
    }

    pub(crate) fn metrics(&self) -> String {
        let mut stream = TcpStream::connect(self.said["metrics"].as_str().unwrap()).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
