//! No byte of a private key appears in any text: messages, logs, audit entries, metrics, whatever is wrong with the key's file.
//!
//! Keys of every kind are cut, folded, doubled, mislabelled, damaged and encrypted under another passphrase. All parsers get all of
//! these files in this process; the program and a server get a selection.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod damage;
mod program;
mod sentinel;

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use damage::{damaged, essential};
use oarlock::Key;
use oarlock::keys::reference::Reference;
use oarlock::keys::threshold::{Share, ThresholdKey};
use oarlock::keys::{KeyError, Passphrase, WorkLimits, bind, import};
use oarlock_io::{KeyDirectory, Material};
use oarlock_server::development::Development;
use program::{command, oarlock};
use sentinel::{Kind, Sentinels, all};
use serde_json::Value;
use tempfile::TempDir;

/// Passphrases that are right and wrong, cheap to try.
fn passphrases() -> [Passphrase; 2] {
    let limits =
        WorkLimits { pbkdf2_iterations: 2048, scrypt_memory_bytes: 1 << 16, scrypt_work_bytes: 1 << 16 };
    [&b"secret"[..], b"another"].map(|bytes| Passphrase::new(bytes).with_limits(limits))
}

type Parser = fn(&[u8]) -> Result<Key, KeyError>;

/// What every parser says of a file, as people and as debuggers see it.
fn said_by_parsers(bytes: &[u8]) -> String {
    let mut said = String::new();
    let mut add = |text: String| said.push_str(&(text + "\n"));
    fn show<T: std::fmt::Debug>(result: Result<T, KeyError>) -> String {
        match result {
            Ok(value) => format!("{value:?}"),
            Err(error) => format!("{error} {error:?}"),
        }
    }
    for passphrase in [None].into_iter().chain(passphrases().iter().map(Some)) {
        add(show(Material::import(bytes, passphrase)));
        add(show(import::pem(bytes, passphrase)));
        add(show(import::der(bytes, passphrase)));
        add(show(Share::from_pem(bytes, passphrase)));
    }
    let [right, _] = passphrases();
    let named: [Parser; 10] = [
        import::pkcs8_der,
        import::pkcs8_pem,
        import::pkcs1_private_der,
        import::pkcs1_private_pem,
        import::pkcs1_public_der,
        import::sec1_der,
        import::sec1_pem,
        import::spki_der,
        import::spki_pem,
        import::pkcs1_public_pem,
    ];
    named.into_iter().for_each(|parse| add(show(parse(bytes))));
    add(show(import::encrypted_pkcs8_der(bytes, &right)));
    add(show(import::encrypted_pkcs8_pem(bytes, &right)));
    add(show(bind::import(bytes)));
    add(show(Share::from_der(bytes)));
    add(show(ThresholdKey::from_pem(bytes)));
    add(show(Reference::parse_pem(bytes)));
    add(format!("{:?}", import::private_key_format(bytes)));
    let open = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    match oarlock_records::load_keys(bytes, open) {
        Ok(keys) => add(format!("{keys:?}")),
        Err(error) => add(format!("{error} {error:?}")),
    }
    said
}

#[test]
fn no_parser_says_anything_of_a_key() {
    let sentinels = Sentinels::of_all();
    let (mut files, mut seen) = (0, HashSet::new());
    for key in all() {
        for (what, bytes) in damaged(&key) {
            files += 1;
            // Most files are refused in words that others were refused in before.
            for line in said_by_parsers(&bytes).lines().filter(|line| seen.insert((*line).to_owned())) {
                sentinels.assert_absent(&format!("{} {what}", key.name), line.as_bytes());
            }
        }
    }
    assert!(files > 1000 && seen.len() > 100, "{files} files, {} texts", seen.len());
}

/// A folder with every file that commands need beside a key.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("message.eml", b"From: a@example.com\nTo: b@example.net\nSubject: hello\n\nHello\n");
        folder.write("secret", b"secret\n");
        folder.write("another", b"another\n");
        let certificate = include_bytes!("../../keys/tests/data/certificate.pem");
        folder.write("ca.pem", certificate);
        folder.write("cards.csv", b"pan\n00112233445566770011223344556677\n");
        folder
            .write("zone", b"$ORIGIN example.com.\n$TTL 60\n@ SOA ns h 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n");
        folder.write("signing.table", b"example.com s1 x.pem\n");
        folder.write("milter.toml", b"signing.table = \"signing.table\"\nauthserv_id = \"mx.example\"\n");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        write_private(&self.path(name), bytes);
    }

    /// What a command says with `FILE`, here `x.pem`, in its words.
    fn run(&self, words: &str) -> Vec<u8> {
        let words: Vec<&str> = words.split(' ').collect();
        said(
            command(&words).current_dir(self.0.path()).env("XDG_STATE_HOME", self.0.path()).output().unwrap(),
        )
    }
}

/// Readable for its owner alone, as programs demand of a key.
fn write_private(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn said(output: Output) -> Vec<u8> {
    [output.stdout, output.stderr].concat()
}

/// Commands that read a key from the file `x.pem`. What they write goes into files.
const COMMANDS: [&str; 12] = [
    "-v keys import x.pem --name taken --directory taken --force",
    "keys import x.pem --name opened --directory taken --force --in-passphrase-file another",
    "-v keys show x.pem",
    "--json keys show x.pem --passphrase-file secret",
    "dkim sign --domain example.com --key s1=x.pem message.eml",
    "dnssec sign zone --out signed --key x.pem",
    "milter --config milter.toml --check",
    "keys list --records x.pem",
    "records encrypt cards.csv -o sealed.csv --column pan --cipher aes128-cbc --keys x.pem --key-name aes",
    "records encrypt cards.csv -o sealed.csv --column pan --cipher aes128-cbc --key-file x.pem",
    "call --server https://127.0.0.1:1 --ca ca.pem --cert ca.pem --cert-key x.pem keys",
    "keys split x.pem --threshold 2 --shares 3 --directory taken",
];

#[test]
fn no_command_says_anything_of_a_key() {
    let sentinels = Sentinels::of_all();
    let folder = Folder::new();
    fs::create_dir(folder.path("taken")).unwrap();
    for key in all() {
        for (at, (what, bytes)) in essential(&key).into_iter().enumerate() {
            folder.write("x.pem", &bytes);
            let commands = COMMANDS.into_iter().filter(|words| reads(words, key.kind)).enumerate();
            // All of them get a file on one line, and each of them a part of the others.
            for (_, words) in commands.filter(|(place, _)| at == 0 || (at + place) % 4 == 0) {
                let said = folder.run(words);
                sentinels.assert_absent(&format!("{} {what}: oarlock {words}", key.name), &said);
            }
        }
    }
}

/// True if a command is for this kind of key: others only say once more that they do not know it.
fn reads(words: &str, kind: Kind) -> bool {
    let is_symmetric = words.contains("records");
    match kind {
        Kind::Symmetric => is_symmetric || words.contains("keys import"),
        Kind::Private | Kind::Bind | Kind::Share | Kind::Foreign => !is_symmetric,
    }
}

/// What is wrong with the files of a directory is listed at once.
fn fill(directory: &Path) {
    for key in all() {
        for (at, (_, bytes)) in essential(&key).into_iter().enumerate() {
            write_private(&directory.join(format!("{}-{at}.pem", key.name)), &bytes);
            write_private(&directory.join(format!("{}-{at}.other", key.name)), &bytes);
        }
    }
}

#[test]
fn no_list_of_a_directory_says_anything_of_a_key() {
    let sentinels = Sentinels::of_all();
    let place = tempfile::tempdir().unwrap();
    fill(place.path());
    for passphrase in [None].into_iter().chain(passphrases().map(Some)) {
        let mut directory = KeyDirectory::new(place.path(), passphrase);
        let changes = directory.refresh().unwrap();
        assert!(changes.refused.len() > 50, "{}", changes.refused.len());
        sentinels.assert_absent("a directory", format!("{changes:?} {directory:?}").as_bytes());
        let texts: Vec<String> = changes.refused.iter().map(|(_, fault)| fault.to_string()).collect();
        sentinels.assert_absent("a directory", texts.join("\n").as_bytes());
    }
    let listed = said(oarlock(&["keys", "list", "--directory", place.path().to_str().unwrap()]));
    sentinels.assert_absent("keys list", &listed);
}

#[test]
fn no_configuration_check_says_anything_of_a_key() {
    let sentinels = Sentinels::of_all();
    let place = tempfile::tempdir().unwrap();
    let state = place.path();
    Development::at(state).prepare().unwrap();
    let config = state.join("oarlock.toml");
    let check = || said(oarlock(&["serve", "--config", config.to_str().unwrap(), "--check"]));
    for key in all() {
        for (what, bytes) in essential(&key).into_iter().step_by(2) {
            // A TLS key of a program that lost its line ends, and a file of symmetric keys.
            let file = if key.kind == Kind::Symmetric { "records.keys" } else { "server-key.pem" };
            let whole = fs::read(state.join(file)).unwrap();
            fs::write(state.join(file), &bytes).unwrap();
            sentinels.assert_absent(&format!("{} {what}: {file}", key.name), &check());
            fs::write(state.join(file), whole).unwrap();
            // A key in the place of the settings.
            write_private(&state.join("x.toml"), &bytes);
            for service in ["serve", "milter"] {
                let said =
                    said(oarlock(&[service, "--config", state.join("x.toml").to_str().unwrap(), "--check"]));
                sentinels.assert_absent(&format!("{} {what}: {service} --config", key.name), &said);
            }
        }
    }
}

/// A server whose log goes into a file, however much it says.
struct Server {
    child: Child,
    log: PathBuf,
    said: Value,
}

impl Server {
    fn start(state: &Path) -> Self {
        let log = state.join("server.log");
        let mut child = command(&["--json", "-v", "serve", "--log", "json", "--state"])
            .arg(state)
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("{}", fs::read_to_string(&log).unwrap()));
        Self { child, log, said }
    }

    /// The log, once it has this in it.
    fn log_with(&self, wanted: &str) -> String {
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

    fn metrics(&self) -> String {
        let mut stream = TcpStream::connect(self.said["metrics"].as_str().unwrap()).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn no_server_says_anything_of_a_key() {
    let sentinels = Sentinels::of_all();
    let place = tempfile::tempdir().unwrap();
    let state = place.path();
    let development = Development::at(state);
    development.prepare().unwrap();
    fill(&development.keys());
    let text = fs::read_to_string(development.config()).unwrap();
    let text = text
        .replace("127.0.0.1:7443", "127.0.0.1:0")
        .replace("[listen]\n", "[listen]\nmetrics = \"127.0.0.1:0\"\n");
    fs::write(development.config(), text + "\n[audit]\nfile = \"audit.jsonl\"\n").unwrap();
    let server = Server::start(state);
    let (message, own) = (state.join("message"), state.join("own.pem"));
    fs::write(&message, "hello\n").unwrap();
    for key in all() {
        for (what, bytes) in essential(&key).into_iter().step_by(3) {
            write_private(&own, &bytes);
            let mut call = command(&["-v", "call", "--state"]);
            call.arg(state).args(["sign", "--hex", "--in"]).arg(&message).arg("--own-key").arg(&own);
            let said = said(call.output().unwrap());
            sentinels.assert_absent(&format!("{} {what}: call sign --own-key", key.name), &said);
        }
    }
    // One that comes while the server runs is named in the log too.
    write_private(&development.keys().join("late.pem"), &essential(&all()[0])[4].1);
    let log = server.log_with("late.pem");
    assert!(log.contains("this file is not used"), "{log}");
    sentinels.assert_absent("the server's log", log.as_bytes());
    sentinels.assert_absent("the metrics", server.metrics().as_bytes());
    sentinels.assert_absent("the audit log", &fs::read(state.join("audit.jsonl")).unwrap());
}

/// The search finds what it is to find: an error text as it once was.
#[test]
fn the_search_finds_key_bytes_in_every_form() {
    let sentinels = Sentinels::of_all();
    for key in all().iter().filter(|key| !key.secrets.is_empty()) {
        let secret = &key.secrets[0];
        let piece = &secret[3..11];
        let hex: String = piece.iter().map(|byte| format!("{byte:02X}")).collect();
        let text = String::from_utf8_lossy(&key.text);
        let quoted =
            format!("malformed PEM block {}: no END", text.chars().skip(40).take(64).collect::<String>());
        let list = format!("illegal section start: {:?}", &secret[..9]);
        for leak in [piece.to_vec(), hex.into_bytes(), list.into_bytes()] {
            assert!(sentinels.find(&leak).is_some(), "{}", key.name);
        }
        if key.name == "p256" {
            assert!(sentinels.find(quoted.as_bytes()).is_some(), "{quoted}");
            assert!(sentinels.find(format!("{:?}", quoted.as_bytes()).as_bytes()).is_some());
        }
    }
    assert!(sentinels.find(b"expected a PEM block PRIVATE KEY, found no block").is_none());
}
