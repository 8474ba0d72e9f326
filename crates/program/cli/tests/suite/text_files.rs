//! Every reader of text with every end of lines that other systems write. A file is read as the same file with LF is,
//! or it is refused and nothing is written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;

use crate::program::{code, command, stderr};
use crate::zones::ZONE;
use tempfile::TempDir;

/// A text as other systems and editors write it.
struct TextForm {
    name: &'static str,
    bytes: Vec<u8>,
}

/// The forms that every reader must read.
const USUAL: [&str; 4] = ["LF", "CRLF", "no last end", "LF and CRLF"];

/// Returns the forms of a text whose lines end with LF.
fn forms(text: &str) -> Vec<TextForm> {
    let last = text.trim_end_matches('\n');
    let first = text.find('\n').unwrap();
    let with_first = |end: &str| format!("{}{end}{}", &text[..first], &text[first + 1..]);
    let utf16 = |to_bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(to_bytes).collect::<Vec<_>>();
    let form = |name, bytes: Vec<u8>| TextForm { name, bytes };
    let bytes = |text: String| text.into_bytes();
    vec![
        form("LF", bytes(text.to_owned())),
        form("CRLF", bytes(text.replace('\n', "\r\n"))),
        form("no last end", bytes(last.to_owned())),
        form("LF and CRLF", bytes(with_first("\r\n"))),
        form("BOM", bytes(format!("\u{feff}{text}"))),
        form("CR", bytes(text.replace('\n', "\r"))),
        form("U+0085", bytes(text.replace('\n', "\u{85}"))),
        form("CR and LF", bytes(with_first("\r"))),
        form("U+0085 and LF", bytes(with_first("\u{85}"))),
        form("LF and CR", bytes(format!("{}\r", last.replace('\n', "\n\r")))),
        form("CR CR LF", bytes(text.replace('\n', "\r\r\n"))),
        form("UTF-16", [vec![0xFF, 0xFE], utf16(u16::to_le_bytes)].concat()),
        form("UTF-16 without a mark", utf16(u16::to_be_bytes)),
        form("NUL", bytes(text.replacen(|letter: char| letter.is_ascii_alphabetic(), "\0", 1))),
    ]
}

/// A directory in which commands run.
struct TextFolder(TempDir);

impl TextFolder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file that only its owner may read.
    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn get(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn run(&self, words: &str) -> Output {
        let words: Vec<&str> = words.split(' ').collect();
        command(&words).current_dir(self.0.path()).output().unwrap()
    }

    fn ok(&self, words: &str) -> String {
        let output = self.run(words);
        assert_eq!(code(&output), 0, "{words}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Removes what a command may write, runs it, and returns the file that it wrote, or its output if it writes none.
    /// None if it refused its input and wrote nothing.
    fn result(&self, words: &str, written: Option<&str>) -> Option<String> {
        if let Some(name) = written {
            let path = self.path(name);
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
        }
        let output = self.run(words);
        let said = stderr(&output);
        assert!(!said.contains("panicked"), "{words}: {said}");
        if code(&output) == 0 {
            let text =
                written.map_or_else(|| String::from_utf8(output.stdout).unwrap(), |name| self.get(name));
            return Some(normalised(&text));
        }
        assert!(!said.is_empty() || !output.stdout.is_empty(), "{words} gives a reason");
        assert!(written.is_none_or(|name| !self.path(name).exists()), "{words} writes nothing: {said}");
        None
    }

    /// Tries every form of a text. `exempt` names forms that this format reads in its own way.
    fn try_forms(&self, reader: &str, text: &str, exempt: &[&str], read: impl Fn(&[u8]) -> Option<String>) {
        let expected =
            read(text.as_bytes()).unwrap_or_else(|| panic!("{reader}: the text itself is refused"));
        for TextForm { name, bytes } in forms(text).into_iter().filter(|form| !exempt.contains(&form.name)) {
            match read(&bytes) {
                Some(found) => assert_eq!(found, expected, "{reader}, {name}"),
                None => assert!(!USUAL.contains(&name) && name != "BOM", "{reader}, {name}: refused"),
            }
        }
    }
}

fn normalised(text: &str) -> String {
    text.trim_start_matches('\u{feff}').replace("\r\n", "\n").trim_end().to_owned()
}

const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const CSV: &str = "pan,name\n4111111111111111,Ada\n5555555555554444,Zoë\n";
const NDJSON: &str =
    "{\"pan\":\"4111111111111111\",\"name\":\"Ada\"}\n{\"pan\":\"5555555555554444\",\"name\":\"Zoë\"}\n";

/// The value column comes first: if the header swallowed the rows, their values would stay in clear.
#[test]
fn rows_of_every_command_of_records() {
    let folder = TextFolder::new();
    folder.put("wide", KEY);
    folder.put("key", &KEY[..32]);
    let siv = "--cipher aes128-siv --key-file wide --encoding text";
    let cbc = "--cipher aes128-cbc --iv zero --key-file key";
    let ff1 = "--cipher aes128-ff1 --key-file key";
    for (rows, format) in [(CSV, "csv"), (NDJSON, "ndjson")] {
        let prepared = |command: &str| {
            folder.put("in", rows);
            folder.ok(&format!("records {command} in -o made --column pan --format {format}"));
            folder.get("made")
        };
        // NUL is a character of a value or a name here.
        for (command, text) in [
            (format!("encrypt {siv}"), rows.to_owned()),
            (format!("decrypt {siv}"), prepared(&format!("encrypt {siv}"))),
            (format!("tokenise {ff1}"), rows.to_owned()),
            (format!("detokenise {ff1}"), prepared(&format!("tokenise {ff1}"))),
            ("mac --mac hmac-sha256 --key-file key --encoding text".to_owned(), rows.to_owned()),
            (
                format!("translate {cbc} --to-iv zero --to-key-file key"),
                prepared(&format!("encrypt {cbc} --encoding text")),
            ),
        ] {
            let reader = format!("records {command} of {format}");
            folder.try_forms(&reader, &text, &["NUL"], |bytes| {
                folder.put("in", bytes);
                folder.result(
                    &format!("records {command} in -o out --column pan --format {format}"),
                    Some("out"),
                )
            });
        }
    }
}

#[test]
fn a_run_that_changes_nothing_says_so() {
    let folder = TextFolder::new();
    folder.put("key", &KEY[..32]);
    for (name, text) in [("in.csv", "pan,name\n"), ("in.csv", "\npan,name\r\n\r\n"), ("in.ndjson", "\n")] {
        folder.put(name, text);
        let words = format!("records mac {name} -o out --column pan --mac hmac-sha256 --key-file key");
        let output = folder.run(&words);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert_eq!(stderr(&output), format!("oarlock: {name}: nothing was changed: the file has no rows\n"));
    }
    folder.put("in.ndjson", "");
    folder.ok("records mac in.ndjson -o out --column pan --mac hmac-sha256 --key-file key");
}

#[test]
fn files_of_symmetric_keys() {
    let folder = TextFolder::new();
    folder.put("in.csv", CSV);
    let how = "records mac in.csv -o out --column pan --encoding text --mac hmac-sha256";
    folder.try_forms("a key in hex", &format!("{KEY}\n"), &[], |bytes| {
        folder.put("key", bytes);
        folder.result(&format!("{how} --key-file key"), Some("out"))
    });
    let lines = format!(
        "{{\"name\":\"other\",\"type\":\"aes128\",\"hex\":\"{}\"}}\n{{\"name\":\"own\",\"type\":\"hmac\",\"hex\":\"{KEY}\"}}\n",
        &KEY[..32]
    );
    folder.try_forms("a file of keys", &lines, &[], |bytes| {
        folder.put("keys", bytes);
        folder.result(&format!("{how} --keys keys --key-name own"), Some("out"))
    });
    folder.try_forms("an alphabet", "0123456789\n", &[], |bytes| {
        folder.put("key", &KEY[..32]);
        folder.put("letters", bytes);
        let words = "records tokenise in.csv -o out --column pan --cipher aes128-ff1 --key-file key --alphabet file:letters";
        folder.result(words, Some("out"))
    });
}

#[test]
fn files_of_asymmetric_keys_and_passphrases() {
    let folder = TextFolder::new();
    folder.ok("keys generate p256 --out plain.pem");
    folder.put("secret", "correct horse\n");
    folder.ok("keys generate p256 --out sealed.pem --passphrase-file secret");
    folder.try_forms("PEM", &folder.get("plain.pem"), &[], |bytes| {
        folder.put("key.pem", bytes);
        folder.result("keys show key.pem --pem", None)
    });
    fs::create_dir(folder.path("bind")).unwrap();
    folder.ok("dnssec keygen example.com --algorithm ECDSAP256SHA256 --format bind --out-dir bind");
    let mut bind = fs::read_dir(folder.path("bind")).unwrap().map(|entry| entry.unwrap().path());
    let bind = bind.find(|path| path.extension().is_some_and(|ending| ending == "private")).unwrap();
    folder.try_forms("a key of BIND", &fs::read_to_string(bind).unwrap(), &[], |bytes| {
        folder.put("key.private", bytes);
        folder.result("keys show key.private --pem", None)
    });
    folder.try_forms("a passphrase", "correct horse\nignored\n", &[], |bytes| {
        folder.put("secret", bytes);
        folder.result("keys show sealed.pem --pem --passphrase-file secret", None)
    });
}

/// An identity and its recipient, and another pair.
const IDENTITY: &str = "AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33";
const RECIPIENT: &str = "age1t7rxyev2z3rw82stdlrrepyc39nvn86l5078zqkf5uasdy86jp6svpy7pa";
const OTHER: &str = "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef";

#[test]
fn lists_of_recipients_and_identities() {
    let folder = TextFolder::new();
    folder.ok("keys generate ed25519 --out mail.pem");
    folder.put("identity", IDENTITY);
    // If a comment swallowed the first recipient, the file would not open for it.
    folder.try_forms("recipients", &format!("# servers\n{RECIPIENT}\n{OTHER}\n"), &[], |bytes| {
        folder.put("list", bytes);
        folder.result("keys seal mail.pem --to-file list --out sealed.age", None)?;
        let opened =
            folder.result("keys unseal sealed.age --identity identity --out again.pem --force", None);
        fs::remove_file(folder.path("sealed.age")).unwrap();
        opened.map(|_| folder.get("again.pem"))
    });
    folder.ok(&format!("keys seal mail.pem --to {RECIPIENT} --out sealed.age"));
    folder.try_forms("identities", &format!("# created: today\n{IDENTITY}\n"), &[], |bytes| {
        folder.put("identity", bytes);
        folder.result("keys unseal sealed.age --identity identity --out again.pem --force", None)?;
        Some(folder.get("again.pem"))
    });
}

#[test]
fn zones() {
    let folder = TextFolder::new();
    let zone = format!("; first a comment\n{ZONE}");
    folder.try_forms("a zone", &zone, &[], |bytes| {
        folder.put("zone", bytes);
        let found = folder.result("--json dnssec verify zone --origin example.com. --syntax-only", None)?;
        let found: serde_json::Value = serde_json::from_str(&found).unwrap();
        Some(found["records"].to_string())
    });
    // A comment within an entry and behind it.
    for (text, is_good) in [("www A 192.0.2.7 ; a\rb A 192.0.2.8", false), ("www A 192.0.2.7 ; a\r", true)] {
        folder.put("zone", format!("{ZONE}{text}\n"));
        let output = folder.run("dnssec verify zone --origin example.com. --syntax-only");
        assert_eq!(code(&output), i32::from(!is_good), "{text:?}: {}", stderr(&output));
    }
}

#[test]
fn mails_and_mboxes() {
    let folder = TextFolder::new();
    folder.ok("keys generate ed25519 --out key.pem");
    let sign = "dkim sign --domain example.com --key s=key.pem --time 1700000000";
    let mail = "From: jo@example.com\nTo: a@example.net\nSubject: s\n\nhello\n";
    // The octets of a mail are signed as they are. A byte order mark damages its first field, and so it is refused.
    let as_it_is = ["BOM", "U+0085", "U+0085 and LF", "CR", "CR and LF", "LF and CR", "CR CR LF", "NUL"];
    folder.try_forms("a mail", mail, &as_it_is, |bytes| {
        folder.put("mail.eml", bytes);
        folder.result(&format!("{sign} mail.eml"), None)
    });
    let border = "From jo@example.com Sat Nov 28 10:00:00 2026\n";
    let mbox = format!("{border}{mail}\n{border}{mail}");
    folder.try_forms("an mbox", &mbox, &as_it_is[1..], |bytes| {
        folder.put("mail.mbox", bytes);
        folder.result(&format!("{sign} mail.mbox"), None)
    });
}

#[test]
fn borders_of_mboxes_are_found_and_reported() {
    let folder = TextFolder::new();
    folder.ok("keys generate ed25519 --out key.pem");
    let sign = "--json dkim sign --domain example.com --key s=key.pem --time 1700000000";
    let border = "From jo@example.com Sat Nov 28 10:00:00 2026\n";
    let mail = "From: jo@example.com\nTo: a@example.net\n\n";
    let messages = |text: String, warning: &str| {
        folder.put("mbox", text);
        let output = folder.run(&format!("{sign} mbox"));
        let said = stderr(&output);
        assert_eq!(code(&output), 0, "{said}");
        let warnings: Vec<&str> = said.lines().filter(|line| line.contains("`From `")).collect();
        assert_eq!(warnings.concat(), warning);
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        document["summary"]["messages"].as_u64().unwrap()
    };
    let no_empty_line =
        "oarlock: mbox: line 6: `From ` begins a message, although no empty line is before it";
    assert_eq!(messages(format!("{border}{mail}one\n{border}{mail}two\n"), no_empty_line), 2);
    let text =
        "oarlock: mbox: line 5: `From ` is text, because it has no date and no header field is behind it";
    assert_eq!(messages(format!("{border}{mail}From here on\n>From quoted\n"), text), 1);
    assert_eq!(messages(format!("\n\n{border}{mail}one\n\n{border}{mail}two\n"), ""), 2);
}

#[test]
fn settings_and_tables_of_the_mail_filter() {
    let folder = TextFolder::new();
    folder.ok("keys generate rsa2048 --out mail.pem");
    let key = folder.path("mail.pem");
    let files = [
        ("KeyTable", format!("# keys\nmail example.com:s1:{}\n", key.display())),
        ("SigningTable", "# senders\n*@example.com mail\n".to_owned()),
        (
            "opendkim.conf",
            "# settings\nAuthservID mx.example\nSocket inet:8891@localhost\nKeyTable KeyTable\n\
             SigningTable refile:SigningTable\nMode s\n"
                .replace("KeyTable KeyTable", &format!("KeyTable {}", folder.path("KeyTable").display()))
                .replace("refile:", &format!("refile:{}/", folder.0.path().display())),
        ),
    ];
    files.iter().for_each(|(name, text)| folder.put(name, text));
    for (name, text) in &files {
        folder.try_forms(name, text, &[], |bytes| {
            folder.put(name, bytes);
            let _ = fs::remove_dir_all(folder.path("out"));
            let done = folder.result("dkim import opendkim.conf --out out", None);
            assert_eq!(done.is_some(), folder.path("out/milter.toml").exists(), "{name}");
            done.map(|_| folder.get("out/milter.toml") + &folder.get("out/signing.table"))
        });
        folder.put(name, text);
    }
    folder.ok("dkim import opendkim.conf --out new");
    for name in ["new/milter.toml", "new/signing.table"] {
        let text = format!("# a comment\n{}", folder.get(name));
        folder.try_forms(name, &text, &[], |bytes| {
            folder.put(name, bytes);
            folder.result("milter --config new/milter.toml --check", None)
        });
        folder.put(name, &text);
    }
}

#[test]
fn records_of_a_keys_file() {
    let folder = TextFolder::new();
    let made: serde_json::Value =
        serde_json::from_str(&folder.ok("--json dkim keygen example.com s --type ed25519 --out key.pem"))
            .unwrap();
    folder.put("mail.eml", "From: jo@example.com\n\nhello\n");
    let signed = folder.ok("dkim sign --domain example.com --key s=key.pem mail.eml");
    folder.put("signed.eml", signed);
    let records = format!("; a comment\n{}\n", made["zone_line"].as_str().unwrap());
    folder.try_forms("TXT records", &records, &[], |bytes| {
        folder.put("records", bytes);
        folder.result("dkim verify signed.eml --keys-file records", None)
    });
}

#[test]
fn settings_of_the_services() {
    let folder = TextFolder::new();
    // No certificate is there: each check names the missing file, unless it cannot read the settings before.
    let settings = "# a comment\nlisten.unix = \"oarlock.sock\"\n[keys]\ndirectory = \"missing\"\n";
    let fault_of = |bytes: &[u8]| {
        folder.put("oarlock.toml", bytes);
        let output = folder.run("serve --config oarlock.toml --check");
        // Before it, the server may warn about the limits of the machine.
        let said = stderr(&output);
        let fault = said.lines().find(|line| line.starts_with("oarlock: ")).unwrap_or_default();
        (code(&output), fault.to_owned())
    };
    let (_, expected) = fault_of(settings.as_bytes());
    assert!(expected.contains("missing"), "{expected}");
    for TextForm { name, bytes } in forms(settings) {
        let (exit, said) = fault_of(&bytes);
        let is_read = said == expected;
        assert!(is_read || (exit == 2 && said.contains("oarlock.toml")), "{name}: {said}");
        assert!(is_read || (!USUAL.contains(&name) && name != "BOM"), "{name}: {said}");
    }
}
