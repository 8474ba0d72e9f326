//! `oarlock records` as its users run it: round trips of files, bad rows, bad files, wrong arguments.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::process::{Pid, Signal, kill_process};

use crate::program::printed::PrintedLines;
use crate::program::{code, command, oarlock, records_in, run_records_in, stderr};
use tempfile::TempDir;

const TDES: &str = "0123456789abcdeffedcba9876543210";
const KEYS: &str = concat!(
    "{\"name\":\"pins\",\"type\":\"tdes2\",\"hex\":\"0123456789abcdeffedcba9876543210\"}\n",
    "{\"type\":\"tdes2\",\"base64\":\"ASNFZ4mrze8QMlR2mLrc/g==\",\"operations\":[\"decrypt\"]}\n",
    "{\"name\":\"few\",\"type\":\"tdes2\",\"hex\":\"00112233445566770123456789abcdef\",\"max_uses\":2}\n",
    "{\"name\":\"aes\",\"type\":\"aes128\",\"hex\":\"2b7e151628aed2a6abf7158809cf4f3c\",\"algorithms\":[\"cbc\"]}\n",
);

/// A directory with a key, a file of keys and the files of a test.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.put("key", &format!("{TDES}\n"));
        folder.put("keys", KEYS);
        folder
    }

    /// Writes a file that only its owner can read, because it may be a key.
    fn put(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
        self.set_mode(name, 0o600);
    }

    fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.0.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn get(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    fn has(&self, name: &str) -> bool {
        self.0.path().join(name).exists()
    }

    /// Returns the names in the directory, to show that no drafts are left.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs `oarlock records WORDS` in the directory.
    fn records(&self, words: &str) -> Output {
        records_in(self.0.path(), words)
    }

    fn ok(&self, words: &str) {
        run_records_in(self.0.path(), words);
    }
}

/// Returns rows with a value of 16 bytes and an IV.
fn rows(count: u64, is_json: bool) -> String {
    let mut text = if is_json { String::new() } else { "id,pan,iv,note\n".to_owned() };
    for id in 0..count {
        let pan = u128::from(id + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        let iv = (id + 1).wrapping_mul(0x2545_F491_4F6C_DD1D);
        let line = match is_json {
            true => format!(
                "{{\"id\": {id}, \"pan\":\"{pan:032x}\",\"iv\":\"{iv:016x}\", \"note\":[1, \"é\"]}}\n"
            ),
            false => format!("{id},{pan:032x},{iv:016x},\"a, \"\"b\"\"\"\n"),
        };
        write!(text, "{line}").unwrap();
    }
    text
}

#[test]
fn files_are_restored_byte_for_byte_on_any_number_of_threads() {
    let folder = Folder::new();
    for (name, is_json) in [("in.csv", false), ("in.ndjson", true)] {
        let text = rows(40_000, is_json);
        folder.put(name, &text);
        let mut sealed = Vec::new();
        for threads in [1, 3] {
            let how = "--column pan --key-file key --cipher tdes2-cbc --iv column";
            let format = if is_json { "--format ndjson" } else { "--format csv" };
            folder.ok(&format!("encrypt {name} -o sealed {how} --threads {threads}"));
            sealed.push(folder.get("sealed"));
            assert_eq!(sealed[0].lines().count(), text.lines().count());
            assert_ne!(sealed[0], text);
            folder.ok(&format!("decrypt sealed -o back {format} {how} --threads {threads}"));
            assert!(folder.get("back") == text, "{name} on {threads} threads");
        }
        assert!(sealed[0] == sealed[1], "order does not depend on threads");
    }
}

#[test]
fn every_cipher_decrypts_what_it_encrypts() {
    let folder = Folder::new();
    let keys = [
        ("des-cbc", "0123456789abcdef"),
        ("tdes2-cbc", TDES),
        ("tdes3-cbc", "0123456789abcdeffedcba98765432101122334455667788"),
        ("aes128-cbc", TDES),
        ("aes256-cbc", "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"),
        ("aes128-gcm", TDES),
        ("aes256-gcm", "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"),
        ("aes128-gcm-siv", TDES),
        ("aes128-siv", "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"),
    ];
    folder.put("in", "v,note\n,x\nAA==,y\nABEiM0RVZneImaq7zN3u/w==,z\n");
    for (cipher, key) in keys {
        folder.put("own", key);
        let how = format!("--column v --encoding base64 --key-file own --cipher {cipher}");
        let padding = if cipher.ends_with("cbc") { "--padding pkcs7" } else { "--aad-column note2" };
        folder.put("in", "v,note,note2\n,x,AAAA\nAA==,y,AAAA\nABEiM0RVZneImaq7zN3u/w==,z,\n");
        folder.ok(&format!("encrypt in -o sealed {how} {padding}"));
        folder.ok(&format!("decrypt sealed -o back {how} {padding}"));
        let leading = |text: String| -> Vec<String> {
            text.lines().map(|line| line.splitn(4, ',').take(3).collect::<Vec<_>>().join(",")).collect()
        };
        assert_eq!(leading(folder.get("back")), leading(folder.get("in")), "{cipher}");
        let head = folder.get("sealed").lines().next().unwrap().to_owned();
        let added = match cipher {
            "aes128-siv" => ",tag",
            _ if cipher.ends_with("cbc") => ",iv",
            _ => ",iv,tag",
        };
        assert_eq!(head, format!("v,note,note2{added}"));
    }
}

/// The values are those of pyca with `None` and with `[b""]`; builds before 0.1.0 wrote the latter in both cases.
#[test]
fn aes_siv_tells_no_associated_data_from_an_empty_string() {
    let folder = Folder::new();
    folder.put("own", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
    folder.put("in", "v,a\nhello,\n");
    let how = "--column v --encoding text --key-file own --cipher aes128-siv";
    let absent = "v,a,tag\n3b1d694cde,,f0635bf3f0bed61b5245be6c6cd9e7a1\n";
    let empty = "v,a,tag\n1447769b1c,,1f9d2ee836dd30ce312ef988c2d73ec3\n";
    for (aad, expected) in [("", absent), (" --aad-column a", empty)] {
        folder.ok(&format!("encrypt in -o sealed {how}{aad}"));
        assert_eq!(folder.get("sealed"), expected);
        folder.ok(&format!("decrypt sealed -o back {how}{aad} --drop-iv"));
        assert_eq!(folder.get("back"), folder.get("in"));
    }
    folder.put("sealed", empty);
    folder.ok(&format!("decrypt sealed -o back {how} --drop-iv"));
    assert_eq!(folder.get("back"), folder.get("in"));
    folder.put("sealed", absent);
    let output = folder.records(&format!("decrypt sealed -o back {how} --aad-column a"));
    assert!(code(&output) == 1 && stderr(&output).contains("verification failed"), "{}", stderr(&output));
}

/// The second sample of NIST for FF1, and card numbers.
#[test]
fn tokens_keep_their_format_and_come_back() {
    let folder = Folder::new();
    folder.put("own", "2b7e151628aed2a6abf7158809cf4f3c");
    folder.put("in", "id,v\n1,0123456789\n");
    folder.ok("tokenise in -o out --column v --cipher aes128-ff1 --key-file own --tweak 9876543210");
    assert_eq!(folder.get("out"), "id,v\n1,6124200773\n");
    folder
        .put("cards", "v,t\n4111111111111111,a\n5555555555554444,a\n4111111111111111,b\n378282246310005,a\n");
    let how =
        "--column v --cipher aes128-ff1 --key-file own --keep-first 5 --keep-last 2 --luhn --tweak-column t";
    folder.ok(&format!("tokenise cards -o tokens {how}"));
    let tokens = folder.get("tokens");
    let of: Vec<&str> = tokens.lines().skip(1).collect();
    assert!(of[0].starts_with("41111") && of[0].ends_with("11,a"), "{tokens}");
    assert_ne!(of[0][..16], of[2][..16], "another tweak");
    folder.ok(&format!("detokenise tokens -o back {how}"));
    assert_eq!(folder.get("back"), folder.get("cards"));
    // Under a key of a file, FF1 must be allowed by name.
    let line = |more: &str| {
        format!(
            "{{\"name\":\"pan\",\"type\":\"aes128\",\"hex\":\"2b7e151628aed2a6abf7158809cf4f3c\"{more}}}\n"
        )
    };
    for (more, expected) in [(",\"algorithms\":[\"ff1\"]", 0), ("", 1)] {
        folder.put("keys", &line(more));
        folder.set_mode("keys", 0o600);
        let output = folder
            .records("tokenise cards -o named --column v --cipher aes128-ff1 --keys keys --key-name pan");
        assert_eq!(code(&output), expected, "{}", stderr(&output));
    }
    folder.put("keys", &line(",\"algorithms\":[\"ff1\",\"gcm\"]"));
    folder.set_mode("keys", 0o600);
    let output =
        folder.records("tokenise cards -o named --column v --cipher aes128-ff1 --keys keys --key-name pan");
    assert!(stderr(&output).contains("may do nothing else"), "{}", stderr(&output));
    assert_eq!(code(&output), 2);
}

/// An argument of Linux has at most 128 KiB, so a large alphabet comes from a file.
#[test]
fn an_alphabet_of_65535_characters_comes_from_a_file() {
    let folder = Folder::new();
    folder.put("own", "2b7e151628aed2a6abf7158809cf4f3c");
    let letters: String = (0x100..0x11000)
        .filter_map(char::from_u32)
        .filter(|letter| !letter.is_control())
        .take(65_535)
        .collect();
    let value: String = letters.chars().step_by(9_001).collect();
    folder.put("in", &format!("v\n{value}\n"));
    let how = "--column v --cipher aes128-ff1 --key-file own --alphabet file:letters";
    for end in ["", "\n", "\r\n"] {
        folder.put("letters", &format!("\u{feff}{letters}{end}"));
        folder.ok(&format!("tokenise in -o out {how}"));
        let token = folder.get("out");
        assert!(token != folder.get("in") && token.chars().count() == value.chars().count() + 3, "{token}");
        folder.ok(&format!("detokenise out -o back {how}"));
        assert_eq!(folder.get("back"), folder.get("in"));
    }
    for (text, expected) in [("aa", "letters: "), ("a\rb", "letters: line 1 ends with a carriage return")] {
        folder.put("letters", text);
        let output = folder.records(&format!("tokenise in -o none {how}"));
        assert!(code(&output) == 2 && stderr(&output).contains(expected), "{}", stderr(&output));
    }
    let output =
        folder.records(&how.replace("file:letters", "file:gone").replace("--column", "tokenise in --column"));
    assert!(stderr(&output).contains("gone: No such file"), "{}", stderr(&output));
}

/// FIPS 81 appendix B (one block of ECB is CBC under a zero IV), RFC 4231 4.2.
#[test]
fn published_vectors_come_out() {
    let folder = Folder::new();
    folder.put("in", "v\n4e6f772069732074\n");
    let output =
        command(&["records", "encrypt", "in", "--column", "v", "--cipher", "des-cbc", "--iv", "zero"])
            .args(["--key-env", "DES_KEY"])
            .env("DES_KEY", "0123456789abcdef")
            .current_dir(folder.0.path())
            .output()
            .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "v\n3fa40e8a984d4815\n");
    folder.put("hmac", &"0b".repeat(20));
    folder.put("in.jsonl", "{\"v\":\"4869205468657265\"}\n");
    folder.ok("mac in.jsonl -o out --column v --mac hmac-sha256 --key-file hmac --length 8");
    assert_eq!(folder.get("out"), "{\"v\":\"4869205468657265\",\"mac\":\"b0344c61d8db3853\"}\n");
}

#[test]
fn translated_values_decrypt_under_the_new_key() {
    let folder = Folder::new();
    folder.put("in", "v\n00112233445566778899aabbccddeeff\n");
    folder.ok("encrypt in -o one --column v --cipher tdes2-cbc --keys keys --key-name pins");
    folder.ok("translate one -o two --column v --cipher tdes2-cbc --to-cipher aes128-cbc --keys keys --key-name pins --to-key-name aes");
    folder.ok("decrypt two -o back --column v --cipher aes128-cbc --keys keys --key-name aes");
    let value = |name: &str| folder.get(name).lines().nth(1).unwrap()[..32].to_owned();
    assert_eq!(value("back"), value("in"));
    assert!(value("one") != value("two") && value("two") != value("in"));
}

#[test]
fn rejects_bad_rows_and_handles_the_others() {
    let folder = Folder::new();
    let secret = "00112233445566778899aabbccddeeff";
    let lines = [
        format!("1,{secret},pins"),
        format!("2,{secret},nobody"),
        format!("3,{secret},1"),
        format!("4,{secret},few"),
        format!("5,{secret},few"),
        format!("6,{secret},few"),
        format!("7,{secret},aes"),
        format!("8,{secret}00,pins"),
        format!("9,{secret}zz,pins"),
        "10".into(),
        format!("11,{secret},\"pins\"x"),
        format!("12,{secret},\"pins\""),
    ];
    folder.put("in", &format!("id,v,k\n{}\n", lines.join("\n")));
    let words = "encrypt in -o out --column v --cipher tdes2-cbc --iv zero --keys keys --key-column k";
    let output = folder.records(&format!("{words} --rejects bad"));
    assert_eq!((code(&output), stderr(&output).as_str()), (1, "oarlock: 8 of 12 rows rejected\n"));
    let ids: Vec<String> =
        folder.get("out").lines().map(|line| line.split(',').next().unwrap().into()).collect();
    assert_eq!(ids, ["id", "1", "4", "5", "12"]);
    assert!(!folder.get("out").contains(secret), "no plaintext is left");
    let bad = folder.get("bad");
    let expected = [
        "line,reason",
        "3,\"the table has no such key\"",
        "4,\"the key's policy forbids the operation\"",
        "7,\"the key has reached its maximum number of uses\"",
        "8,\"the key is of another type than the operation needs\"",
        "9,\"a length does not fit: input, IV, tag or place of the output; expected a multiple of 8 bytes, an IV of 8\"",
        "10,\"\"\"v\"\" is not in the encoding of the file\"",
        "11,\"expected 3 columns, found 1\"",
        "12,\"something follows a closing quote\"",
    ];
    assert_eq!(bad.lines().collect::<Vec<_>>(), expected);

    let output = folder.records(&format!("{words} --rejects bad --reject-rows"));
    assert_eq!(code(&output), 1);
    assert!(folder.get("bad").lines().nth(1).unwrap().ends_with(&format!(",\"2,{secret},nobody\"")));
    let output = folder.records(words);
    let told = stderr(&output);
    assert_eq!((code(&output), told.lines().count()), (1, 6), "{told}");
    assert!(
        told.starts_with("oarlock: line 3: the table has no such key\n") && !told.contains(secret),
        "{told}"
    );
}

#[test]
fn rejects_wrong_tags_and_paddings() {
    let folder = Folder::new();
    folder.put("in.ndjson", "{\"v\":\"0011\"}\n{\"v\":\"2233\"}\n");
    folder.ok("encrypt in.ndjson -o sealed.ndjson --column v --cipher aes128-gcm --key-file key");
    let sealed = folder.get("sealed.ndjson");
    let tag = sealed.rfind("\"tag\":\"").unwrap() + 7;
    let other = if sealed.as_bytes()[tag] == b'0' { "1" } else { "0" };
    folder.put("sealed.ndjson", &format!("{}{other}{}", &sealed[..tag], &sealed[tag + 1..]));
    let output = folder.records(
        "decrypt sealed.ndjson -o back.ndjson --column v --cipher aes128-gcm --key-file key --rejects bad",
    );
    assert_eq!(code(&output), 1);
    // Its IV and tag are random, and may look like anything.
    let back = folder.get("back.ndjson");
    assert!(back.starts_with("{\"v\":\"0011\",") && back.lines().count() == 1, "{back}");
    assert_eq!(folder.get("bad"), "{\"line\":2,\"reason\":\"verification failed\"}\n");

    folder.put("in", "v\n00112233445566778899aabbccddeeff\n");
    folder.ok("encrypt in -o sealed --column v --cipher aes128-cbc --iv zero --key-file key");
    let output = folder.records(
        "decrypt sealed -o back --column v --cipher aes128-cbc --iv zero --padding pkcs7 --key-file key",
    );
    assert_eq!((code(&output), folder.get("back").as_str()), (1, "v\n"));
    assert!(stderr(&output).contains("line 2: no padding"), "{}", stderr(&output));
}

#[test]
fn a_failed_run_leaves_the_old_output() {
    let folder = Folder::new();
    folder.put("out", "old");
    folder.put("cut.csv", "id,v\n1,00112233445566778899aabbccddeeff\n2,0011223344");
    folder.put("open.csv", "id,v\n1,00112233445566778899aabbccddeeff\n2,\"001122334455\n3,00\n");
    folder.put("cut.ndjson", "{\"v\":\"0011223344556677\"}\n{\"v\":\"00112233");
    folder.put("empty.csv", "");
    let before = folder.names();
    let cases = [
        ("cut.csv", "cut.csv is truncated: its last row, on line 3, is not whole"),
        ("open.csv", "a quoted field does not end"),
        ("cut.ndjson", "cut.ndjson is truncated: its last row, on line 2"),
        ("empty.csv", "the file is empty"),
        ("gone.csv", "cannot read gone.csv"),
        (".", "cannot read ."),
    ];
    for (name, said) in cases {
        let output = folder.records(&format!(
            "encrypt {name} -o out --column v --cipher tdes2-cbc --iv zero --key-file key --rejects bad"
        ));
        assert_eq!(code(&output), 2, "{name}");
        assert!(stderr(&output).contains(said), "{name}: {}", stderr(&output));
        assert_eq!(folder.names(), before, "{name}");
    }
    assert_eq!(folder.get("out"), "old");
}

#[test]
fn the_input_is_never_overwritten() {
    let folder = Folder::new();
    folder.put("in", "v\n00\n");
    std::os::unix::fs::symlink("in", folder.0.path().join("link")).unwrap();
    let how = "--column v --cipher tdes2-cbc --padding pkcs7 --key-file key";
    for words in ["in -o in", "in -o ./in", "in -o link", "link -o in", "in -o out --rejects in"] {
        let output = folder.records(&format!("encrypt {words} {how}"));
        assert_eq!(code(&output), 2, "{words}");
        assert!(stderr(&output).contains("is the input and would be overwritten"), "{}", stderr(&output));
    }
    assert_eq!(folder.get("in"), "v\n00\n");
    let output = folder.records(&format!("encrypt in -o out --rejects out {how}"));
    assert_eq!((code(&output), folder.has("out")), (2, false));
}

#[test]
fn reads_stdin_writes_stdout_and_prints_a_summary() {
    let folder = Folder::new();
    let pipe = |words: &str, input: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        let mut child = command(&words)
            .current_dir(folder.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let how = "--column 2 --no-header --delimiter ; --cipher tdes2-cbc --iv zero --key-file key";
    let sealed = pipe(&format!("records encrypt {how}"), "x;0011223344556677\n");
    let back = pipe(&format!("records decrypt - {how}"), std::str::from_utf8(&sealed.stdout).unwrap());
    assert_eq!(String::from_utf8(back.stdout).unwrap(), "x;0011223344556677\n");
    let output =
        pipe(&format!("--json --threads 2 records encrypt -o out {how}"), "x;0011223344556677\ny;00\n");
    assert_eq!(code(&output), 1);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let counted =
        ["rows", "done", "rejected", "bytes_in", "bytes_out", "threads"].map(|name| summary[name].as_u64());
    assert_eq!(counted, [2, 1, 1, 24, 19, 2].map(Some), "{summary}");
    assert!(summary["rows_per_s"].as_f64().unwrap() > 0.0 && summary["seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn policies_decide_the_source_of_ivs() {
    let folder = Folder::new();
    let key = |more: &str| {
        folder.put("own", &format!("{{\"name\":\"k\",\"type\":\"aes128\",\"hex\":\"{TDES}\"{more}}}"));
    };
    folder.put("in", "v,iv\n00112233445566778899aabbccddeeff,00000000000000000000000000000001\n");
    let run = |words: &str| {
        let how = "--column v --keys own --key-name k --rejects bad";
        let output = folder.records(&format!("encrypt in -o out {how} {words}"));
        (code(&output), folder.get("bad").lines().nth(1).unwrap_or_default().to_owned())
    };
    let forbidden = (1, "2,\"the key's policy forbids an IV from this source\"".to_owned());
    key(",\"ivs\":[\"random\"]");
    assert_eq!(run("--cipher aes128-cbc --iv column"), forbidden);
    assert_eq!(run("--cipher aes128-cbc --iv zero"), forbidden);
    assert_eq!(run("--cipher aes128-cbc --iv key"), forbidden);
    assert_eq!(run("--cipher aes128-cbc --iv new").0, 0);
    key(",\"ivs\":[\"key\"],\"algorithms\":[\"cbc\"]");
    assert_eq!(run("--cipher aes128-cbc --iv key").0, 0);
    assert_eq!(run("--cipher aes128-cbc"), forbidden);
    key(",\"counter\":\"ivs\",\"nonce_field\":\"00000000\",\"algorithms\":[\"gcm\"]");
    for _ in 0..2 {
        let before = folder.has("ivs").then(|| folder.get("ivs"));
        assert_eq!(run("--cipher aes128-gcm").0, 0);
        assert_ne!(Some(folder.get("ivs")), before, "a counter is on disk before its values are used");
    }
    assert!(folder.get("out").lines().nth(1).unwrap().contains(",000000000000000000010000,"));
    // Under CBC, too, counted IVs would reveal the key stream of GCM.
    key(",\"counter\":\"ivs\",\"nonce_field\":\"00000000\"");
    let refused = folder.records("encrypt in -o out --column v --cipher aes128-gcm --keys own --key-name k");
    assert_eq!(code(&refused), 2);
    assert!(stderr(&refused).contains("takes random IVs only"), "{}", stderr(&refused));
    key("");
    assert_eq!(run("--cipher aes128-cbc --iv column"), forbidden);
    assert_eq!(run("--cipher aes128-cbc").0, 0);
    assert_eq!(run("--cipher aes128-gcm").0, 0);
}

#[test]
fn rejects_a_key_that_others_can_read() {
    let folder = Folder::new();
    folder.put("in", "v\n00112233445566770011223344556677\n");
    let one = "--to-cipher aes128-cbc --to-key-file other";
    folder.put("other", TDES);
    for (file, words) in [
        ("key", "encrypt in -o out --column v --cipher tdes2-cbc --key-file key".to_owned()),
        ("keys", "encrypt in -o out --column v --cipher tdes2-cbc --keys keys --key-name pins".to_owned()),
        (
            "other",
            format!("translate in -o out --column v --cipher tdes2-cbc --iv zero --key-file key {one}"),
        ),
    ] {
        folder.ok(&words);
        folder.set_mode(file, 0o644);
        let refused = folder.records(&words);
        let said = stderr(&refused);
        assert!(
            code(&refused) == 2 && said.contains("others may read this private file (mode 0644)"),
            "{said}"
        );
        folder.set_mode(file, 0o600);
    }
    // A key in a pipe or a variable has no permissions to check.
    let words = [
        "records",
        "encrypt",
        "in",
        "-o",
        "out",
        "--column",
        "v",
        "--cipher",
        "tdes2-cbc",
        "--key-file",
        "/dev/stdin",
    ];
    let file = fs::File::open(folder.0.path().join("key")).unwrap();
    folder.set_mode("key", 0o644);
    let output = command(&words).current_dir(folder.0.path()).stdin(file).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

#[test]
fn warns_about_weak_and_visible_keys() {
    let folder = Folder::new();
    folder.put("weak", "0101010101010101");
    folder.put("in", "v\n0011223344556677\n");
    let how = "encrypt in -o out --column v --cipher des-cbc --iv zero";
    let refused = folder.records(&format!("{how} --key-file weak"));
    assert_eq!((code(&refused), stderr(&refused).contains("a weak DES key")), (2, true));
    let warned = folder.records(&format!("{how} --key-file weak --weak-keys warn"));
    assert_eq!((code(&warned), stderr(&warned).contains("a weak DES key")), (0, true));
    folder.ok(&format!("{how} --key-file weak --weak-keys allow"));
    let seen = folder.records(&format!("{how} --key 0123456789abcdef"));
    assert_eq!(code(&seen), 0);
    assert!(stderr(&seen).contains("every user of this machine can see the key"));
    assert!(!stderr(&seen).contains("0123456789abcdef"));
}

#[test]
fn errors_of_usage_exit_with_2_and_name_what_was_expected() {
    let folder = Folder::new();
    folder.put("in", "v,iv\n00,00\n");
    folder.put("short", "0011");
    folder.put("nohex", "xyz");
    folder.put("long", &TDES.repeat(2));
    let one = "encrypt in -o out --column v --cipher tdes2-cbc";
    let cases = [
        (one.to_owned(), "expected one of --key-file"),
        (format!("{one} --key-file key --key-env X"), "cannot be used with"),
        (format!("{one} --key-env OARLOCK_TEST_NO_SUCH"), "the environment has no OARLOCK_TEST_NO_SUCH"),
        (format!("{one} --key-file gone"), "cannot read gone"),
        (format!("{one} --key-file short"), "a tdes2 key has 16 bytes, found 2"),
        (format!("{one} --key-file nohex"), "nohex: expected a key in hexadecimal digits"),
        (format!("{one} --key-name x"), "--keys"),
        (format!("{one} --keys keys --key-name x"), "keys has no key named \"x\""),
        (format!("{one} --keys in --key-name x"), "in: line 1: byte 1: expected an object"),
        (format!("{one} --keys keys --key-column k"), "no column \"k\": the file has \"v\", \"iv\""),
        (format!("{one} --key-file key --reject-rows"), "--rejects"),
        (format!("{one} --key-file key --delimiter a"), "expected one character"),
        (format!("{one} --key-file key --encoding hexx"), "possible values: hex, base64, text"),
        (format!("{one} --key-file key --padding zeros"), "possible values: none, pkcs7"),
        (format!("{one} --key-file key --into iv"), "two results would go to the column \"iv\""),
        ("encrypt in --column v --cipher rc4".into(), "possible values: des-cbc, tdes2-cbc"),
        (
            "encrypt in --column v --cipher aes128-gcm --iv zero --key-file key".into(),
            "another IV for each value",
        ),
        (
            "translate in --column v --cipher aes128-gcm --key-file key --to-key-file key".into(),
            "others cannot be translated",
        ),
        ("encrypt in --column v --cipher aes128-siv --iv new --key-file long".into(), "AES-SIV makes no IVs"),
        ("tokenise in --column v --key-file long --alphabet decimal".into(), "expected one of digits, hex"),
        ("tokenise in --column v --key-file long --alphabet chars:aa".into(), "is there twice"),
        (
            "tokenise in --column v --cipher aes128-ff1 --key-file key --alphabet hex --luhn".into(),
            "--luhn: expected",
        ),
        ("tokenise in --column v --key-file key --cipher aes128-gcm".into(), "possible values: aes128-ff1"),
        (
            "translate in --column v --cipher aes128-cbc --key-file key".into(),
            "expected one of --to-key-file",
        ),
        ("mac in --column v --mac md5 --key-file key".into(), "possible values: des-mac, des-mac-pad2"),
        (
            "mac in --column v --mac aes128-cmac --length 17 --key-file key".into(),
            "a MAC of aes128-cmac has 4 to 16 bytes, found 17",
        ),
        (
            "decrypt in --column v --cipher aes128-cbc --iv new --key-file key".into(),
            "possible values: column",
        ),
        (format!("{one} --key-file key -o absent/x"), "cannot be used multiple times"),
        (
            "encrypt in -o absent/x --column v --cipher tdes2-cbc --key-file key".into(),
            "cannot write absent/x",
        ),
        ("hash in".into(), "unrecognized subcommand 'hash'"),
    ];
    for (words, expected) in cases {
        let output = folder.records(&words);
        assert_eq!(code(&output), 2, "{words}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{words}: {}", stderr(&output));
        assert!(output.stdout.is_empty() && !folder.has("out"), "{words}");
    }
    let output = command(&["--json", "records", "encrypt", "in", "--column", "v", "--cipher", "tdes2-cbc"])
        .args(["--key-file", "key"])
        .current_dir(folder.0.path())
        .output()
        .unwrap();
    assert_eq!((code(&output), stderr(&output).contains("expected --out FILE for the rows")), (2, true));
}

#[test]
fn every_command_has_help() {
    for command in ["encrypt", "decrypt", "translate", "tokenise", "detokenise", "mac"] {
        let output = oarlock(&["records", command, "--help"]);
        assert_eq!((code(&output), output.stdout.is_empty()), (0, false));
    }
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/records.md").exists());
}

/// Makes a named pipe, as an input that stays open until the test closes it.
fn pipe(folder: &Folder) -> std::path::PathBuf {
    let pipe = folder.0.path().join("pipe.csv");
    let _ = fs::remove_file(&pipe);
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    pipe
}

/// Opens a pipe for writing as soon as the child reads it. Fails if the child ends before, so that the test does not
/// wait forever.
fn open_to(child: &mut Child, pipe: &Path) -> fs::File {
    loop {
        match open(pipe, OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()) {
            Ok(file) => {
                // Later writes may fill the pipe, and must then wait for the reader.
                rustix::io::ioctl_fionbio(&file, false).unwrap();
                return file.into();
            }
            // No process has opened the pipe for reading yet.
            Err(rustix::io::Errno::NXIO) => {}
            Err(error) => panic!("{}: {error}", pipe.display()),
        }
        assert!(child.try_wait().unwrap().is_none(), "the program ended before it read its input");
        std::thread::yield_now();
    }
}

const DECRYPT: &str =
    "records decrypt pipe.csv -o out.csv --column pan --cipher tdes2-cbc --key-file key --threads 1";

fn decrypt(folder: &Folder) -> Command {
    let mut command = command(&DECRYPT.split(' ').collect::<Vec<_>>());
    command.current_dir(folder.0.path());
    command
}

/// Returns more than two chunks of encrypted rows. The second is read after the first is written.
fn sealed(folder: &Folder) -> String {
    folder.put("plain.csv", &rows(60_000, false));
    folder.ok("encrypt plain.csv -o sealed.csv --column pan --cipher tdes2-cbc --key-file key --iv column");
    let sealed = folder.get("sealed.csv");
    assert!(sealed.len() > 3 << 20, "{}", sealed.len());
    sealed
}

/// True if this process ignores a signal. Its children then ignore it too, because a shell without job control starts
/// background commands so. proc(5), `SigIgn`.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
}

/// The input stays open: the program has written a part of the plaintext, and waits for more, when the signal comes.
#[test]
fn an_interrupted_decryption_leaves_no_plaintext() {
    let folder = Folder::new();
    let sealed = sealed(&folder);
    pipe(&folder);
    let before = folder.names();
    let (ignored, signals): (Vec<Signal>, _) =
        [Signal::INT, Signal::TERM, Signal::HUP].into_iter().partition(|signal| is_ignored(*signal));
    if !ignored.is_empty() {
        println!("SKIPPED: {ignored:?}: this process was started with these signals ignored");
    }
    let signals: &[Signal] = &signals;
    // With a draft that has no name until the end, and with one that a signal has to remove.
    for has_name in [false, true] {
        for &signal in signals {
            let mut command = decrypt(&folder);
            if has_name {
                command.env("OARLOCK_NAMED_DRAFTS", "1");
            }
            let pipe = pipe(&folder);
            let mut child = command.spawn().unwrap();
            let mut input = open_to(&mut child, &pipe);
            // When this returns, the program has read everything except the content of the pipe.
            input.write_all(sealed.as_bytes()).unwrap();
            // In both cases the output has no name before the end.
            let drafts = folder.names().len() - before.len();
            assert!(drafts <= 1 && (drafts == 1 || !has_name), "{:?}", folder.names());
            assert!(!folder.has("out.csv"));
            kill_process(Pid::from_child(&child), signal).unwrap();
            let status = child.wait().unwrap();
            assert!(!status.success());
            if has_name {
                assert_eq!(status.code(), Some(128 + signal.as_raw()), "{signal:?}");
            }
            assert_eq!(folder.names(), before, "{signal:?}");
        }
    }
}

#[test]
fn prints_progress_in_lines_if_stderr_is_not_a_terminal() {
    let folder = Folder::new();
    let sealed = sealed(&folder);
    let run = |seconds: &str| {
        let pipe = pipe(&folder);
        let mut child =
            decrypt(&folder).env("OARLOCK_PROGRESS_SECONDS", seconds).stderr(Stdio::piped()).spawn().unwrap();
        let mut input = open_to(&mut child, &pipe);
        input.write_all(sealed.as_bytes()).unwrap();
        (child, input)
    };
    let (mut child, input) = run("0.05");
    // The input stays open, so lines come until the first is read.
    let mut lines = PrintedLines::from_stream(child.stderr.take().unwrap());
    let line = lines.wait_for("oarlock: ");
    assert!(line.starts_with("oarlock: ") && line.ends_with('B'), "{line}");
    drop(input);
    let all = lines.all();
    assert!(all.lines().all(|line| line.starts_with("oarlock: ") && !line.contains('\u{1b}')), "{all}");
    assert!(child.wait().unwrap().success());
    let (child, input) = run("0");
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
}

/// Returns the arguments of the commands `oarlock records` in a document.
fn documented(document: &str) -> Vec<String> {
    let lines = document.lines().filter_map(|line| line.trim().strip_prefix("$ oarlock records "));
    lines.filter(|line| line.contains("cards.csv")).map(str::to_owned).collect()
}

/// Card numbers with 15 (American Express) and 16 digits, and names with quotes, commas and letters beyond ASCII.
const CARDS: &str = "id,name,pan,note\r\n\
    1,Ada Lovelace,378282246310005,\r\n\
    2,\"Müller, Jörg\",4111111111111111,\"a \"\"b\"\"\"\r\n\
    3,O'Neill,5555555555554444, spaces \r\n\
    4,鈴木,,empty\r\n\
    5,Zoë,30569309025904,fourteen\r\n";

#[test]
fn documented_commands_restore_card_numbers_and_names() {
    let folder = Folder::new();
    folder.put("pan.key", TDES);
    let readme = documented(include_str!("../../../../../README.md"));
    let guide = documented(include_str!("../../../../../docs/records.md"));
    let [encrypt, decrypt, tokenise, detokenise] = &guide[..] else { panic!("{guide:?}") };
    assert_eq!(readme, std::slice::from_ref(encrypt), "the README shows the first command of the guide");
    for column in ["pan", "name"] {
        let of = |command: &str| command.replace("--column pan", &format!("--column {column}"));
        folder.put("cards.csv", CARDS);
        folder.ok(&of(encrypt));
        let sealed = folder.get("sealed.csv");
        for secret in ["378282246310005", "4111111111111111", "30569309025904"] {
            assert_eq!(sealed.contains(secret), column == "name", "{sealed}");
        }
        assert_eq!(sealed.contains("Lovelace") || sealed.contains("鈴木"), column == "pan", "{sealed}");
        fs::remove_file(folder.0.path().join("cards.csv")).unwrap();
        folder.ok(&of(decrypt));
        assert_eq!(folder.get("cards.csv"), CARDS);
    }
    // An empty value has no token.
    let cards: String =
        CARDS.lines().filter(|line| !line.contains("empty")).map(|line| format!("{line}\n")).collect();
    folder.put("cards.csv", &cards);
    folder.put("tokens.key", &TDES.repeat(2));
    folder.ok(tokenise);
    assert!(!folder.get("tokens.csv").contains("4111111111111111"));
    fs::remove_file(folder.0.path().join("cards.csv")).unwrap();
    folder.ok(detokenise);
    assert_eq!(folder.get("cards.csv"), cards);
    // Without --encoding text, 15 digits are rejected, because they are not whole bytes in hex.
    folder.put("cards.csv", CARDS);
    let output = folder.records(&encrypt.replace(" --encoding text", ""));
    assert_eq!(code(&output), 1, "{}", stderr(&output));
}
