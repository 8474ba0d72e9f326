//! `oarlock records` under keys at a cryptoserver: the same rows as under the same keys here, refusals, lost servers.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use oarlock_server::development::Development;
use tempfile::TempDir;

use crate::program::printed::PrintedLines;
use crate::program::{code, command, records_in, run_records_in, stderr};
use crate::served::Served;

const KEYS: &str = concat!(
    "{\"name\":\"siv\",\"type\":\"aes128-siv\",\"hex\":\"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\"}\n",
    "{\"name\":\"cbc\",\"type\":\"aes128\",\"hex\":\"2b7e151628aed2a6abf7158809cf4f3c\",\"algorithms\":[\"cbc\"]}\n",
    "{\"name\":\"other\",\"type\":\"aes128\",\"hex\":\"f0e0d0c0b0a090807060504030201000\",\"algorithms\":[\"cbc\"]}\n",
    "{\"name\":\"writer\",\"type\":\"aes128\",\"hex\":\"000102030405060708090a0b0c0d0e0f\",\"algorithms\":[\"cbc\"],\"operations\":[\"encrypt\"]}\n",
    "{\"name\":\"few\",\"type\":\"aes128\",\"hex\":\"00112233445566778899aabbccddeeff\",\"algorithms\":[\"cbc\"],\"max_uses\":2}\n",
    "{\"name\":\"gcm\",\"type\":\"aes128\",\"hex\":\"0f0e0d0c0b0a09080706050403020100\",\"algorithms\":[\"gcm\"]}\n",
    "{\"name\":\"tokens\",\"type\":\"aes256\",\"hex\":\"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4\",\"algorithms\":[\"ff1\"]}\n",
    "{\"name\":\"codes\",\"type\":\"hmac\",\"hex\":\"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b\"}\n",
);

/// More rows than one batch for a server takes.
const ROWS: u64 = 20_000;

/// A server, and a directory with its file of keys and the files of a test.
struct ServedFolder {
    directory: TempDir,
    served: Served,
}

impl ServedFolder {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let development = Development::at(directory.path());
        development.prepare().unwrap();
        fs::write(development.records(), KEYS).unwrap();
        let served = Served::start(directory.path());
        Self { directory, served }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file that only its owner can read, because it may be a key.
    fn put(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), Permissions::from_mode(0o600)).unwrap();
    }

    fn get(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn records(&self, words: &str) -> Output {
        records_in(self.directory.path(), words)
    }

    fn ok(&self, words: &str) {
        run_records_in(self.directory.path(), words);
    }

    /// Runs a command under keys of the server and under the same keys of its file, and returns the equal outputs.
    fn same_at_both(&self, words: &str) -> String {
        self.ok(&format!("{words} -o remote --server oarlock.sock"));
        self.ok(&format!("{words} -o local --keys records.keys"));
        let (remote, local) = (self.get("remote"), self.get("local"));
        assert!(remote == local, "{words}: at the server {remote:.300}\nhere {local:.300}");
        remote
    }
}

/// Returns rows with a value of digits and an IV.
fn rows(is_json: bool) -> String {
    let mut text = if is_json { String::new() } else { "pan,iv,note\n".to_owned() };
    for row in 0..ROWS {
        let (pan, iv) = (4_111_111_111_000_000 + row * 37, row.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        match is_json {
            true => writeln!(text, "{{\"pan\":\"{pan}\",\"iv\":\"{iv:032x}\",\"note\":[1]}}").unwrap(),
            false => writeln!(text, "{pan},{iv:032x},\"a, b\"").unwrap(),
        }
    }
    text
}

#[test]
fn a_server_gives_the_same_rows_as_the_same_key_here() {
    let folder = ServedFolder::new();
    for (format, is_json) in [("csv", false), ("ndjson", true)] {
        let text = rows(is_json);
        folder.put("in", &text);
        let how = format!("--format {format} --column pan --encoding text");
        for (seal, open) in [
            ("--key-name siv --cipher aes128-siv", "--drop-iv"),
            ("--key-name cbc --cipher aes128-cbc --iv column", ""),
        ] {
            let sealed = folder.same_at_both(&format!("encrypt in {how} {seal}"));
            assert!(sealed != text && sealed.lines().count() == text.lines().count(), "{seal}");
            folder.put("sealed", &sealed);
            let opened = folder.same_at_both(format!("decrypt sealed {how} {seal} {open}").trim_end());
            assert!(opened == text, "{seal}: {opened:.300}");
        }
        let how = format!("--format {format} --column pan");
        folder.same_at_both(&format!("mac in {how} --encoding text --key-name codes --mac hmac-sha256"));
        let tokens = folder.same_at_both(&format!("tokenise in {how} --key-name tokens --keep-last 4"));
        folder.put("tokens", &tokens);
        assert!(
            folder.same_at_both(&format!("detokenise tokens {how} --key-name tokens --keep-last 4")) == text
        );
    }
}

#[test]
fn a_server_makes_ivs_and_translates_to_another_of_its_keys() {
    let folder = ServedFolder::new();
    let text = rows(false);
    folder.put("in.csv", &text.replace("pan,iv,", "pan,old,"));
    let how = "--column pan --encoding text --cipher aes128-gcm --key-name gcm";
    folder.ok(&format!("encrypt in.csv -o one.csv {how} --server oarlock.sock"));
    folder.ok(&format!("decrypt one.csv -o two.csv {how} --drop-iv --keys records.keys"));
    assert!(folder.get("two.csv") == folder.get("in.csv"));

    let how = "--column pan --cipher aes128-cbc";
    let text_too = "--encoding text --padding pkcs7";
    folder.ok(&format!("encrypt in.csv -o one.csv {how} {text_too} --key-name cbc --server oarlock.sock"));
    let keys = "--key-name cbc --to-key-name other --server oarlock.sock";
    folder.ok(&format!("translate one.csv -o two.csv {how} {keys}"));
    let keys = "--key-name other --keys records.keys";
    folder.ok(&format!("decrypt two.csv -o back.csv {how} {text_too} --drop-iv {keys}"));
    assert!(folder.get("back.csv") == folder.get("in.csv"));
}

#[test]
fn refused_rows_have_the_reasons_of_the_server() {
    let folder = ServedFolder::new();
    let iv = "00".repeat(16);
    let mut text = "v,iv,k\n".to_owned();
    for key in ["cbc", "writer", "nobody", "siv", "cbc"] {
        writeln!(text, "{iv},{iv},{key}").unwrap();
    }
    folder.put("in.csv", &text);
    let how = "--column v --cipher aes128-cbc --server oarlock.sock";
    let output = folder.records(&format!("decrypt in.csv -o out.csv {how} --key-column k --rejects bad"));
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert_eq!(folder.get("out.csv").lines().count(), 3, "{}", folder.get("out.csv"));
    let bad = folder.get("bad");
    let bad: Vec<&str> = bad.lines().collect();
    assert_eq!(bad.len(), 4, "{bad:?}");
    for (line, reason) in bad[1..].iter().zip([
        "3,\"the key's policy forbids",
        "4,\"the table has no such key",
        "5,\"the key is of another type",
    ]) {
        assert!(line.starts_with(reason), "{bad:?}");
    }

    // All rows under one key.
    let output = folder.records(&format!("decrypt in.csv -o out.csv {how} --key-name writer --rejects bad"));
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert_eq!(folder.get("out.csv"), "v,iv,k\n");
    assert_eq!(folder.get("bad").matches("forbids").count(), 5, "{}", folder.get("bad"));
    let output =
        folder.records(&format!("encrypt in.csv -o out.csv {how} --iv column --key-name few --rejects bad"));
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert_eq!(folder.get("bad").lines().count(), 4, "{}", folder.get("bad"));
}

#[test]
fn a_row_that_fits_into_no_request_is_rejected_alone() {
    let folder = ServedFolder::new();
    let text = format!("v\na\n{}\nb\n{}\nc\n", "d".repeat(6 << 20), "e".repeat(8 << 20));
    folder.put("in.csv", &text);
    let how = "--column v --encoding text --mac hmac-sha256 --key-name codes --server oarlock.sock";
    let output = folder.records(&format!("mac in.csv -o out.csv {how}"));
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let reason = "line 5: the values of the row have more than 7340032 bytes, too many for a server";
    assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    assert_eq!(folder.get("out.csv").lines().count(), 5);
}

#[test]
fn a_server_that_is_gone_is_a_fault_of_the_machine() {
    let mut folder = ServedFolder::new();
    folder.put("in.csv", "v,iv\n");
    let words =
        "encrypt in.csv -o out.csv --column v --cipher aes128-cbc --key-name cbc --server oarlock.sock";
    folder.served.signal("-KILL");
    folder.served.child.wait().unwrap();
    let output = folder.records(words);
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    assert!(stderr(&output).contains("no server listed its keys: oarlock.sock"), "{}", stderr(&output));
    assert!(!folder.path("out.csv").exists());
}

/// The server dies while it lists its keys, or between the list and the rows.
#[test]
fn a_server_that_dies_during_a_run_leaves_no_output() {
    let mut folder = ServedFolder::new();
    let mut child =
        command(&["records", "encrypt", "-o", "out.csv", "--column", "v", "--cipher", "aes128-cbc"])
            .args([
                "--format",
                "csv",
                "--iv",
                "zero",
                "--key-name",
                "cbc",
                "--server",
                "oarlock.sock",
                "--verbose",
            ])
            .current_dir(folder.directory.path())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    let mut log = PrintedLines::from_stream(child.stderr.take().unwrap());
    log.wait_for("requests to");
    folder.served.signal("-KILL");
    folder.served.child.wait().unwrap();
    let mut rows = child.stdin.take().unwrap();
    // Fails if the server died before it had listed its keys: then the program has ended and reads no rows.
    let _ = rows.write_all(format!("v\n{}\n", "00".repeat(16)).as_bytes());
    drop(rows);
    log.wait_for("oarlock.sock: ");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert!(!folder.path("out.csv").exists());
}

#[test]
fn keys_that_no_server_and_no_file_can_have_are_wrong_usage() {
    let folder = ServedFolder::new();
    folder.put("in.csv", "v,iv\n");
    folder.put("key", "2b7e151628aed2a6abf7158809cf4f3c");
    let one = "encrypt in.csv -o out.csv --column v --cipher aes128-cbc";
    let two = "translate in.csv -o out.csv --column v --cipher aes128-cbc";
    for (words, reason) in [
        (format!("{one} --key-name cbc"), "--keys FILE, or --server ADDRESS"),
        (format!("{one} --key-column k"), "--keys FILE, or --server ADDRESS"),
        (format!("{one} --key-name nobody --server oarlock.sock"), "no symmetric key named \"nobody\""),
        (format!("{one} --key-name rsa2048 --server oarlock.sock"), "no symmetric key named \"rsa2048\""),
        (format!("{one} --key-name cbc --server localhost:7443"), "localhost:7443"),
        (format!("{two} --key-name cbc --to-key-file key --server oarlock.sock"), "one key is here"),
        (format!("{two} --key-file key --to-key-name cbc --server oarlock.sock"), "one key is here"),
    ] {
        let output = folder.records(&words);
        assert!(code(&output) == 2 && stderr(&output).contains(reason), "{words}: {}", stderr(&output));
        assert!(!folder.path("out.csv").exists(), "{words}");
    }
}
