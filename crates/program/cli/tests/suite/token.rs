//! `oarlock token` as its users run it.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::program::{code, command, stderr};
use oarlock_key_files::objects::{ObjectStore, PinRole, StoredValue};
use serde_json::Value;
use tempfile::TempDir;

/// A working directory with files of PINs.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, pin) in
            [("so", "so-pin\n"), ("user", "user-pin\r\nmore"), ("new", "new-pin"), ("bad", "wrong\n")]
        {
            folder.put(name, pin.as_bytes());
        }
        folder
    }

    /// Returns a folder with a token that has both PINs.
    fn with_token() -> Self {
        let folder = Self::new();
        folder.ok("token init --path t --label test --so-pin-file so --pin-file user");
        folder
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// Runs `oarlock WORDS` in this directory, without a terminal.
    fn run(&self, words: &str) -> Output {
        let words: Vec<&str> = words.split(' ').collect();
        let mut command = Command::new("setsid");
        let inner = crate::program::command(&words);
        command.arg("--wait").arg(inner.get_program()).args(inner.get_args()).stdin(Stdio::null());
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.current_dir(self.0.path()).output().unwrap()
    }

    fn ok(&self, words: &str) -> String {
        let output = self.run(words);
        assert_eq!(code(&output), 0, "{words}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, words: &str) -> Value {
        serde_json::from_str(&self.ok(&format!("--json {words}"))).unwrap()
    }

    /// Runs a command that fails because of its input, and returns the reason.
    #[track_caller]
    fn fails(&self, words: &str) -> String {
        let output = self.run(words);
        let text = stderr(&output);
        assert_eq!((code(&output), output.stdout.len()), (2, 0), "{words}: {text}");
        assert!(text.starts_with("oarlock: token: ") || text.starts_with("oarlock: "), "{text}");
        text
    }
}

#[test]
fn a_token_is_made_once_and_listed() {
    let folder = Folder::new();
    let made = folder.json("token init --path t --label www --so-pin-file so --pin-file user");
    assert_eq!(
        (&made["label"], &made["user_pin"], &made["so_pin"]),
        (&"www".into(), &"set".into(), &"set".into())
    );
    assert_eq!(made["serial"].as_str().unwrap().len(), 16);
    assert_eq!(fs::metadata(folder.path("t")).unwrap().permissions().mode() & 0o777, 0o600);
    let again = folder.fails("token init --path t --label x --so-pin-file so --pin-file user");
    assert!(again.contains("exists already"), "{again}");
    let listed = folder.json("token list --path t");
    assert_eq!((&listed["serial"], &listed["objects"]), (&made["serial"], &Value::Array(vec![])));
    let text = folder.ok("token list --path t");
    assert!(text.contains("token     www") && text.contains("No objects. Private objects"), "{text}");
    let missing = folder.fails("token list --path absent");
    assert!(missing.contains("absent: no such file; `oarlock token init`"), "{missing}");
    let other = folder.fails("token list --path so");
    assert!(other.contains("so: not a token file"), "{other}");
}

#[test]
fn pins_that_are_not_allowed_make_no_token() {
    let folder = Folder::new();
    folder.put("short", b"123\n");
    folder.put("empty", b"");
    folder.put("long", &[b'1'; 256]);
    for pin in ["short", "empty", "long"] {
        for files in
            [format!("--so-pin-file {pin} --pin-file user"), format!("--so-pin-file so --pin-file {pin}")]
        {
            let text = folder.fails(&format!("token init --path t --label x {files}"));
            assert!(text.contains("expected 4 to 255 bytes"), "{text}");
        }
    }
    fs::set_permissions(folder.path("user"), fs::Permissions::from_mode(0o644)).unwrap();
    let text = folder.fails("token init --path t --label x --so-pin-file so --pin-file user");
    assert!(text.contains("others may read"), "{text}");
    let text = folder.fails("token init --path t --label x --so-pin-file so");
    assert!(text.contains("no terminal to ask for the user PIN; --pin-file names"), "{text}");
    assert!(!folder.path("t").exists());
    let made = folder.json("token init --path t --label x --so-pin-file so --no-user-pin");
    assert_eq!(made["user_pin"], "not set");
}

#[test]
fn pins_are_changed_locked_and_unlocked() {
    let folder = Folder::with_token();
    folder.ok("token pin --path t --pin-file user --new-pin-file new");
    let text = folder.fails("token list --path t --pin-file user");
    assert!(text.contains("the user PIN is wrong; 9 tries are left"), "{text}");
    folder.ok("token list --path t --pin-file new");
    for left in (0..10).rev() {
        let text = folder.fails("token pin --path t --pin-file bad --new-pin-file user");
        assert!(text.contains(&format!("wrong; {left} tries are left")), "{text}");
        let state = folder.json("token list --path t")["user_pin"].clone();
        let expected = match left {
            0 => "locked",
            1 => "set, one more wrong try locks it",
            _ => "set, wrong tries since the last login",
        };
        assert_eq!(state, expected);
    }
    let text = folder.fails("token list --path t --pin-file new");
    assert!(text.contains("locked") && text.contains("`oarlock token pin --unlock`"), "{text}");
    let text = folder.fails("token pin --path t --unlock --so-pin-file bad --new-pin-file user");
    assert!(text.contains("the security officer PIN is wrong"), "{text}");
    let unlocked = folder.json("token pin --path t --unlock --so-pin-file so --new-pin-file user");
    assert_eq!(unlocked["user_pin"], "set");
    folder.ok("token list --path t --pin-file user");
    folder.ok("token pin --path t --so --so-pin-file so --new-pin-file new");
    folder.fails("token pin --path t --unlock --so-pin-file so --new-pin-file user");
    folder.ok("token pin --path t --unlock --so-pin-file new --new-pin-file user");
}

#[test]
fn keys_and_certificates_are_imported_with_the_same_id() {
    let folder = Folder::with_token();
    for (position, kind) in ["rsa2048", "p256", "p384", "ed25519", "x25519"].into_iter().enumerate() {
        folder.ok(&format!("keys generate {kind} --out {kind}.pem"));
        let words =
            format!("token import --path t --key {kind}.pem --label {kind} --id 0{position} --pin-file user");
        let imported = folder.json(&words);
        assert_eq!((&imported["kind"], &imported["certificates"]), (&kind.into(), &0.into()));
        let taken = folder.fails(&words);
        assert!(taken.contains(&format!("the id 0{position} already")), "{taken}");
    }
    let signing = rcgen::KeyPair::generate().unwrap();
    let issuer = rcgen::generate_simple_self_signed(vec!["issuer".to_owned()]).unwrap();
    let certificate =
        rcgen::CertificateParams::new(vec!["example.com".to_owned()]).unwrap().self_signed(&signing).unwrap();
    folder.put("www.pem", signing.serialize_pem().as_bytes());
    folder.put("www.crt", [certificate.pem(), issuer.cert.pem()].concat().as_bytes());
    folder.put("other.crt", issuer.cert.pem().as_bytes());
    let import = "token import --path t --key www.pem --label www --id a1:b2 --pin-file user --certificate";
    let other = folder.fails(&format!("{import} other.crt"));
    assert!(other.contains("other.crt: the first certificate is not that of the key in www.pem"), "{other}");
    let imported = folder.json(&format!("{import} www.crt"));
    assert_eq!((&imported["id"], &imported["certificates"]), (&"a1b2".into(), &2.into()));

    let public = folder.json("token list --path t");
    assert_eq!(
        (public["is_complete"].as_bool(), public["objects"].as_array().unwrap().len()),
        (Some(false), 8)
    );
    let all = folder.json("token list --path t --pin-file user");
    let objects = all["objects"].as_array().unwrap();
    let rows: Vec<String> = objects
        .iter()
        .map(|object| {
            let text = |name: &str| object[name].as_str().unwrap_or("-").to_owned();
            format!(
                "{} {} {} {} {}",
                text("class"),
                text("label"),
                text("id"),
                text("kind"),
                object["private"]
            )
        })
        .collect();
    for row in [
        "private key rsa2048 00 rsa2048 true",
        "public key rsa2048 00 rsa2048 false",
        "private key x25519 04 x25519 true",
        "private key www a1b2 p256 true",
        "public key www a1b2 p256 false",
        "certificate www a1b2 - false",
        "certificate www issuer 1  - false",
    ] {
        assert!(rows.iter().any(|found| found == row), "{row}: {rows:#?}");
    }
    let private = objects.iter().filter(|object| object["class"] == "private key");
    assert!(private.clone().count() == 6 && private.clone().all(|object| object["extractable"] == false));
    let table = folder.ok("token list --path t --pin-file user");
    assert!(table.contains("private key") && table.contains("a1b2") && !table.contains("--login"), "{table}");
}

#[test]
fn a_damaged_object_is_named_and_the_others_are_listed() {
    let folder = Folder::with_token();
    for (label, id) in [("first", "01"), ("second", "02")] {
        folder.ok(&format!("keys generate p256 --out {label}.pem"));
        folder.ok(&format!(
            "token import --path t --key {label}.pem --label {label} --id {id} --pin-file user"
        ));
    }
    assert_eq!(folder.json("token list --path t")["damaged"], Value::Array(vec![]));
    // The label of the public key. That of the private key is encrypted.
    let mut bytes = fs::read(folder.path("t")).unwrap();
    let at = bytes.windows(5).position(|window| window == b"first").unwrap();
    bytes[at] ^= 1;
    folder.put("t", &bytes);
    let listed = folder.json("token list --path t --pin-file user");
    let labels: Vec<_> =
        listed["objects"].as_array().unwrap().iter().map(|object| &object["label"]).collect();
    assert_eq!(labels, ["first", "second", "second"], "the private key of the damaged one is there");
    let [damaged] = &listed["damaged"].as_array().unwrap()[..] else { panic!("{listed}") };
    assert!(
        damaged.as_str().unwrap().ends_with("does not have the attributes that were written"),
        "{listed}"
    );
    let text = folder.ok("token list --path t");
    assert!(text.contains("damaged   object ") && text.contains("second"), "{text}");
}

#[test]
fn what_is_no_private_key_is_not_imported() {
    let folder = Folder::with_token();
    folder.ok("keys generate p256 --out key.pem");
    let public = folder.ok("keys show key.pem --pem");
    folder.put("public.pem", public.as_bytes());
    folder.put("text", b"text");
    let import =
        |rest: &str| folder.fails(&format!("token import --path t --label x --pin-file user {rest}"));
    for (words, reason) in [
        ("--id 01 --key public.pem", "expected a private key"),
        ("--id 01 --key text", "text"),
        ("--id 01 --key key.pem --certificate text", "no certificate in PEM"),
        ("--id 01 --key key.pem --certificate absent", "cannot read absent"),
        ("--id 1 --key key.pem", "even number of hexadecimal digits"),
    ] {
        let text = import(words);
        assert!(text.contains(reason), "{words}: {text}");
    }
    fs::set_permissions(folder.path("key.pem"), fs::Permissions::from_mode(0o644)).unwrap();
    assert!(import("--id 01 --key key.pem").contains("others may read"));
    assert_eq!(folder.json("token list --path t --pin-file user")["objects"], Value::Array(vec![]));
}

#[test]
fn no_byte_of_a_key_or_a_pin_is_printed_or_stored_in_clear() {
    let folder = Folder::with_token();
    folder.ok("keys generate ed25519 --out key.pem");
    let pem = fs::read_to_string(folder.path("key.pem")).unwrap();
    let import = folder.ok("token import --path t --key key.pem --label k --id 01 --pin-file user");
    let list = folder.ok("--json token list --path t --pin-file user");
    let store = ObjectStore::open(&folder.path("t")).unwrap();
    let user = store.login(PinRole::User, b"user-pin").unwrap();
    let objects = store.list(Some(&user)).unwrap().objects;
    let read = objects.iter().flat_map(|object| store.read(Some(&user), object.id).unwrap().attributes);
    let secrets: Vec<Vec<u8>> = read
        .filter_map(|(_, value)| match value {
            StoredValue::Secret(bytes) => Some(bytes.to_vec()),
            _ => None,
        })
        .collect();
    assert_eq!(secrets.iter().map(Vec::len).collect::<Vec<_>>(), [32], "the seed alone is secret");
    let seed = &secrets[0];
    let hex: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
    for text in [&import, &list] {
        assert!(
            !text.contains(&hex)
                && !text.contains("user-pin")
                && !pem.lines().any(|line| text.contains(line))
        );
    }
    for file in fs::read_dir(folder.0.path()).unwrap() {
        let path = file.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with('t') {
            let bytes = fs::read(&path).unwrap();
            for wanted in [seed.as_slice(), b"user-pin", b"so-pin"] {
                assert!(!bytes.windows(wanted.len()).any(|window| window == wanted), "{}", path.display());
            }
        }
    }
}

#[test]
fn an_initialised_token_is_empty() {
    let folder = Folder::with_token();
    folder.ok("keys generate p256 --out key.pem");
    folder.ok("token import --path t --key key.pem --label k --id 01 --pin-file user");
    let before = folder.json("token list --path t --pin-file user");
    assert_eq!(before["objects"].as_array().unwrap().len(), 2);
    let text = folder.fails("token init --again --path t --label new --so-pin-file bad --pin-file user");
    assert!(text.contains("the security officer PIN is wrong"), "{text}");
    let after = folder.json("token init --again --path t --label new --so-pin-file so --pin-file new");
    assert_eq!((&after["serial"], &after["label"]), (&before["serial"], &"new".into()));
    assert_eq!(folder.json("token list --path t --pin-file new")["objects"], Value::Array(vec![]));
    folder.fails("token init --again --path absent --label new --so-pin-file so --pin-file new");
    assert!(!folder.path("absent").exists());
}

/// script(1) runs a program on a terminal of its own.
#[test]
fn pins_are_asked_on_the_terminal_and_not_shown() {
    if Command::new("script").arg("--version").output().is_err() {
        println!("SKIPPED: no script(1), which makes a terminal");
        return;
    }
    let folder = Folder::new();
    let init = command(&["token", "init", "--path", "t", "--label", "asked"]);
    let program = init.get_program().to_str().unwrap();
    let line = format!("{program} token init --path t --label asked");
    let mut child = Command::new("script")
        .args(["--quiet", "--return", "--flush", "--command", &line, "/dev/null"])
        .current_dir(folder.0.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut shown = String::new();
    for (question, answer) in [
        ("SO PIN: ", "asked-so"),
        ("SO PIN again: ", "asked-so"),
        ("user PIN: ", "asked-user"),
        ("user PIN again: ", "asked-user"),
    ] {
        read_until(&mut output, question, &mut shown);
        writeln!(input, "{answer}").unwrap();
    }
    output.read_to_string(&mut shown).unwrap();
    assert!(child.wait().unwrap().success(), "{shown}");
    assert!(!shown.contains("asked-so") && !shown.contains("asked-user"), "{shown}");
    let store = ObjectStore::open(&folder.path("t")).unwrap();
    store.login(PinRole::User, b"asked-user").unwrap();
    store.login(PinRole::SecurityOfficer, b"asked-so").unwrap();
}

/// Reads until the text ends with the question, which has no newline.
fn read_until(output: &mut impl Read, question: &str, shown: &mut String) {
    let mut byte = [0];
    while !shown.ends_with(question) {
        assert_eq!(output.read(&mut byte).unwrap(), 1, "the program ended after {shown:?}");
        shown.push(byte[0].into());
    }
}

#[test]
fn a_token_that_others_may_read_is_not_opened() {
    let folder = Folder::with_token();
    fs::set_permissions(folder.path("t"), fs::Permissions::from_mode(0o644)).unwrap();
    let text = folder.fails("token list --path t");
    assert!(text.contains("t: others may read this private file (mode 0644)"), "{text}");
    assert!(Path::new(&folder.path("t")).exists());
}
