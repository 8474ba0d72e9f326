//! Key files sealed with age: by us and by the program age, opened by either, and used by a running server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use crate::program::printed::{PrintedLines, announcement};
use crate::program::{code, command, peers, stderr};
use serde_json::Value;
use tempfile::TempDir;

/// Two identities and their recipients: that of the server, and that of somebody else.
const IDENTITY: &str = "AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33";
const RECIPIENT: &str = "age1t7rxyev2z3rw82stdlrrepyc39nvn86l5078zqkf5uasdy86jp6svpy7pa";
const OTHER_IDENTITY: &str = "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0";
const OTHER_RECIPIENT: &str = "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef";

/// A directory with an identity file, in which commands run.
struct SealFolder(TempDir);

impl SealFolder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.put("identity.txt", format!("# public key: {RECIPIENT}\n{IDENTITY}\n"));
        fs::create_dir(folder.path("keys")).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Puts a file in its place at once, readable by its owner only.
    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let new = self.path("new");
        fs::write(&new, bytes).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(new, self.path(name)).unwrap();
    }

    fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o777
    }

    fn run(&self, words: &str) -> Output {
        let words: Vec<&str> = words.split(' ').collect();
        command(&words).current_dir(self.0.path()).output().unwrap()
    }

    #[track_caller]
    fn ok(&self, words: &str) -> Vec<u8> {
        let output = self.run(words);
        assert_eq!(code(&output), 0, "{words}: {}", stderr(&output));
        output.stdout
    }

    #[track_caller]
    fn refused(&self, words: &str, reason: &str) {
        let output = self.run(words);
        let said = stderr(&output);
        assert!(code(&output) == 2 && said.contains(reason), "{words}: {said}");
        assert!(!said.contains("AGE-SECRET-KEY-1GQ") && !said.contains("GQ9778"), "{said}");
    }

    /// Runs the program age or age-keygen.
    #[track_caller]
    fn age(&self, words: &str) -> Vec<u8> {
        let words: Vec<&str> = words.split(' ').collect();
        let output = Command::new(words[0]).args(&words[1..]).current_dir(self.0.path()).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        output.stdout
    }
}

#[test]
fn what_is_sealed_is_unsealed() {
    let folder = SealFolder::new();
    folder.ok("keys generate ed25519 --out mail.pem");
    let plain = folder.get("mail.pem");
    for armor in ["", " --armor"] {
        folder.ok(&format!("keys seal mail.pem --to {RECIPIENT} --force{armor}"));
        assert_eq!(folder.mode("mail.pem.age"), 0o644, "everybody may read a sealed file");
        folder.ok("keys unseal mail.pem.age --identity identity.txt --force --out again.pem");
        assert_eq!((folder.get("again.pem"), folder.mode("again.pem")), (plain.clone(), 0o600));
    }
    assert!(folder.get("mail.pem.age").starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----\n"));
    folder.put("servers.txt", format!("# servers\n{OTHER_RECIPIENT}\n{RECIPIENT}\n"));
    let report = folder.ok("--json keys seal mail.pem --to-file servers.txt --out - --armor");
    folder.put("both.age", report);
    assert_eq!(folder.ok("keys unseal both.age --identity identity.txt --out -"), plain);
    let shown = folder.ok("--json keys show both.age --identity identity.txt");
    let plain: Value = serde_json::from_slice(&folder.ok("--json keys show mail.pem")).unwrap();
    let shown: Value = serde_json::from_slice(&shown).unwrap();
    assert_eq!((&shown["fingerprint"], &shown["name"]), (&plain["fingerprint"], &"both".into()));
}

#[test]
fn each_mistake_of_sealing_is_named_and_nothing_is_written() {
    let folder = SealFolder::new();
    folder.ok("keys generate ed25519 --out mail.pem");
    folder.put("nobody.txt", "# nobody\n");
    folder.put("wrong.txt", format!("{RECIPIENT}\n{}\n", RECIPIENT.replace("7rxy", "7rxz")));
    for (words, reason) in [
        ("keys seal mail.pem".to_owned(), "expected at least one recipient"),
        (format!("keys seal mail.pem --to {IDENTITY}"), "--to, number 1: found an identity"),
        ("keys seal mail.pem --to-file nobody.txt".to_owned(), "nobody.txt: expected a recipient"),
        ("keys seal mail.pem --to-file wrong.txt".to_owned(), "wrong.txt, line 2: the recipient is damaged"),
        (format!("keys seal absent.pem --to {RECIPIENT}"), "cannot read absent.pem"),
        (format!("keys seal - --to {RECIPIENT}"), "needs --out"),
        ("keys unseal mail.pem --identity identity.txt".to_owned(), "does not end in .age"),
        ("keys unseal mail.pem --identity identity.txt --out x".to_owned(), "mail.pem is not sealed"),
    ] {
        folder.refused(&words, reason);
    }
    let entries = fs::read_dir(folder.0.path()).unwrap().count();
    assert_eq!(entries, 5, "identity.txt, keys, mail.pem and the two files of recipients");
    folder.ok(&format!("keys seal mail.pem --to {OTHER_RECIPIENT}"));
    folder.refused(&format!("keys seal mail.pem --to {RECIPIENT}"), "--force replaces it");
    folder.refused(&format!("keys seal mail.pem.age --to {RECIPIENT}"), "is sealed already");
    folder.refused(
        "keys unseal mail.pem.age --identity identity.txt --force",
        "sealed to others: 1 X25519 recipient",
    );
    folder.refused("keys unseal mail.pem.age --identity mail.pem --force", "line 1: found a key in PEM");
    // Other programs that read keys name the way out.
    for words in ["keys show mail.pem.age", "keys list --directory ."] {
        folder.refused(
            words,
            if words.contains("show") { "expected an identity that opens it" } else { "could not be used" },
        );
    }
    folder.refused("dkim dns mail.pem.age", "oarlock keys unseal");
    folder.ok(&format!("keys generate aes128 --records all.keys.age --name a --to {RECIPIENT}"));
    folder.put("in.csv", "v\n00\n");
    folder.refused(
        "records encrypt in.csv --column v --keys all.keys.age --key-name a --cipher aes128-cbc",
        "sealed with age",
    );
}

#[test]
fn a_sealed_file_of_symmetric_keys_is_changed_and_sealed_again() {
    let folder = SealFolder::new();
    let open = format!("--identity identity.txt --to {RECIPIENT}");
    folder.refused("keys generate aes128 --records a.keys.age --name a", "expected the recipients with --to");
    folder.ok(&format!("keys generate aes128 --records a.keys.age --name a --to {RECIPIENT}"));
    folder.refused(
        &format!("keys generate aes128 --records a.keys.age --name b --to {RECIPIENT}"),
        "expected an identity",
    );
    folder.ok(&format!("keys generate aes128 --records a.keys.age --name b {open}"));
    folder.refused("keys rotate a --records a.keys.age", "expected an identity that opens it");
    folder.refused(
        "keys rotate a --records a.keys.age --identity identity.txt",
        "expected the recipients with --to",
    );
    let report = folder.ok(&format!("--json keys rotate a --records a.keys.age {open}"));
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!((&report["version"], folder.mode("a.keys.age")), (&2.into(), 0o644));
    let list = folder.ok("--json keys list --records a.keys.age --identity identity.txt");
    let list: Value = serde_json::from_slice(&list).unwrap();
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a@1", "a", "b"]);
    // The form stays: text stays text.
    folder.ok("keys unseal a.keys.age --identity identity.txt");
    folder.ok(&format!("keys seal a.keys --to {RECIPIENT} --armor --force"));
    folder.ok(&format!("keys rotate a --records a.keys.age {open}"));
    assert!(folder.get("a.keys.age").starts_with(b"-----BEGIN AGE"));
    folder.refused(&format!("keys rotate a --records a.keys {open}"), "is not sealed: `oarlock keys seal`");
}

#[test]
fn a_key_is_made_and_imported_without_being_on_the_disk() {
    let folder = SealFolder::new();
    let seal = format!("--directory keys --to {RECIPIENT}");
    folder.ok(&format!("keys generate p256 --name www {seal}"));
    assert_eq!(fs::read_dir(folder.path("keys")).unwrap().count(), 1);
    folder.refused("keys generate p256 --name www --directory keys", "same name with another ending");
    folder.ok("keys generate ed25519 --out old.pem");
    folder.ok(&format!("keys import old.pem --name mail {seal}"));
    folder.ok(&format!("keys import keys/mail.pem.age --name again --identity identity.txt {seal}"));
    let list: Value =
        serde_json::from_slice(&folder.ok("--json keys list --directory keys --identity identity.txt"))
            .unwrap();
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["again", "mail", "www"]);
    let shown = folder.ok("keys show www --directory keys --identity identity.txt --pem");
    assert!(shown.starts_with(b"-----BEGIN PUBLIC KEY-----"));
}

#[test]
fn the_program_age_opens_what_we_seal_and_seals_what_we_open() {
    if !(peers::has("age") && peers::has("age-keygen")) {
        return;
    }
    let folder = SealFolder::new();
    folder.age("age-keygen -o made.txt");
    let made = String::from_utf8(folder.age("age-keygen -y made.txt")).unwrap();
    folder.put("both.txt", format!("{made}{RECIPIENT}\n"));
    folder.ok("keys generate rsa2048 --out mail.pem");
    let plain = folder.get("mail.pem");
    for (ours, theirs) in [("", ""), (" --armor", " -a")] {
        folder.ok(&format!("keys seal mail.pem --to-file both.txt --out ours.age --force{ours}"));
        for identity in ["made.txt", "identity.txt"] {
            assert_eq!(folder.age(&format!("age -d -i {identity} ours.age")), plain, "{identity}{ours}");
        }
        folder.age(&format!("age -R both.txt -o theirs.age{theirs} mail.pem"));
        for identity in ["made.txt", "identity.txt"] {
            let opened = folder.ok(&format!("keys unseal theirs.age --identity {identity} --out -"));
            assert_eq!(opened, plain, "{identity}{theirs}");
        }
    }
    // A key of SSH is a recipient for age, and is named here.
    if peers::has("ssh-keygen") {
        folder.age("ssh-keygen -q -t ed25519 -f ssh -N  -C test");
        folder.age("age -R ssh.pub -o ssh.age mail.pem");
        folder.refused(
            "keys unseal ssh.age --identity identity.txt --out opened",
            "recipients of type ssh-ed25519 are not supported",
        );
    }
}

/// A server whose keys are sealed.
struct SealedServer {
    child: Child,
    log: PrintedLines,
}

impl SealedServer {
    fn start(folder: &SealFolder) -> Self {
        let mut child = command(&["--json", "serve", "--log", "json", "--config", "oarlock.toml"])
            .current_dir(folder.0.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = PrintedLines::from_stream(child.stderr.take().unwrap());
        announcement(&mut child);
        log.wait_for("symmetric keys were read");
        Self { child, log }
    }
}

impl Drop for SealedServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const CONFIG: &str = "[listen]\nunix = \"socket\"\n[keys]\ndirectory = \"keys\"\nrecords = \"all.keys.age\"\nidentity = \"identity.txt\"\n\
                      [audit]\nfile = \"audit.jsonl\"\n[[grant]]\nkeys = [\"*\"]\nclients = [\"uid:*\"]\n";

/// Makes a folder with a sealed key, a sealed file of symmetric keys, and a configuration.
fn served_folder() -> SealFolder {
    let folder = SealFolder::new();
    folder.put("oarlock.toml", CONFIG);
    folder.ok(&format!("keys generate ed25519 --name mail --directory keys --to {RECIPIENT}"));
    folder.ok(&format!("keys generate aes128 --name cards --records all.keys.age --to {RECIPIENT}"));
    folder
}

#[test]
fn a_server_uses_sealed_keys_and_refuses_an_older_version() {
    let folder = served_folder();
    folder.put("value", "4111111111111111");
    let server = &mut SealedServer::start(&folder);
    let call = "call --server ./socket";
    let sign = |name: &str| folder.ok(&format!("{call} sign --key mail --in value --out {name}"));
    let verify = || folder.ok(&format!("{call} verify --key mail --in value --signature signature"));
    let version = || {
        let json = folder.ok(&format!("{call} encrypt --key cards --in value --json"));
        serde_json::from_slice::<Value>(&json).unwrap()["key_version"].as_u64()
    };
    sign("signature");
    verify();
    assert_eq!(version(), Some(1));
    folder.ok(&format!("{call} encrypt --key cards --in value --out first"));

    // Both are replaced by other sealed files, one of them by the program age if it is here.
    let old = folder.get("all.keys.age");
    folder.ok(&format!("keys rotate cards --records all.keys.age --identity identity.txt --to {RECIPIENT}"));
    server.log.wait_for("symmetric keys were read");
    assert_eq!(version(), Some(2));
    assert_eq!(folder.ok(&format!("{call} decrypt --key cards@1 --in first")), b"4111111111111111");
    folder.ok("keys generate ed25519 --out new.pem");
    if peers::has("age") {
        folder.age(&format!("age -a -r {RECIPIENT} -o keys/.new new.pem"));
        fs::rename(folder.path("keys/.new"), folder.path("keys/mail.pem.age")).unwrap();
    } else {
        folder.ok(&format!("keys seal new.pem --to {RECIPIENT} --out keys/mail.pem.age --force"));
    }
    server.log.wait_for(r#""replaced":"[\"mail\"]""#);
    folder.refused_signature(call);
    sign("signature");
    verify();

    // An older file is put back.
    folder.put("all.keys.age", &old);
    server.log.wait_for("an old file was put back");
    assert_eq!(version(), Some(2));

    // Sealed to somebody else: the last key stays. With his identity, the file opens.
    folder.ok(&format!("keys seal new.pem --to {OTHER_RECIPIENT} --out keys/www.pem.age"));
    server.log.wait_for("sealed to others");
    folder.put("identity.txt", "not an identity");
    server.log.wait_for("[keys] identity: ");
    folder.put("identity.txt", format!("{IDENTITY}\n{OTHER_IDENTITY}\n"));
    server.log.wait_for(r#""added":"[\"www\"]""#);
    sign("signature");

    let audit = String::from_utf8(folder.get("audit.jsonl")).unwrap();
    for (key, detail) in [("mail", "added"), ("mail", "replaced"), ("www", "added")] {
        let entry = format!("\"key\":\"{key}\",\"detail\":\"{detail}\"");
        assert!(audit.contains(&entry), "{entry}: {audit}");
    }
}

impl SealFolder {
    /// The signature of the key before does not verify any more.
    #[track_caller]
    fn refused_signature(&self, call: &str) {
        let output = self.run(&format!("{call} verify --key mail --in value --signature signature"));
        assert_eq!(code(&output), 1, "{}", stderr(&output));
    }
}

#[test]
fn a_configuration_with_sealed_keys_is_checked() {
    let folder = served_folder();
    let check = || folder.run("serve --config oarlock.toml --check");
    let said = |expected_code: i32, words: &str| {
        let output = check();
        assert_eq!(code(&output), expected_code, "{words}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{words}: {}", stderr(&output));
    };
    let fine = check();
    assert_eq!((code(&fine), &*stderr(&fine)), (0, ""), "sealed files may be read by everybody");
    let (keys, records) = (folder.get("keys/mail.pem.age"), folder.get("all.keys.age"));

    folder.put("oarlock.toml", CONFIG.replace("identity = \"identity.txt\"\n", ""));
    said(2, "all.keys.age: this file is sealed with age: expected an identity");
    folder.put("oarlock.toml", CONFIG.replace("identity.txt", "absent.txt"));
    said(2, "[keys] identity: ");
    folder.put("oarlock.toml", CONFIG.replace("identity.txt", "keys"));
    said(2, "[keys] identity: ");
    folder.put("oarlock.toml", CONFIG.replace("\"identity.txt\"", &format!("'''{IDENTITY}\n'''")));
    said(2, "[keys] identity: expected the name of a file, found what looks like a key itself");
    folder.put("oarlock.toml", CONFIG);
    fs::set_permissions(folder.path("identity.txt"), fs::Permissions::from_mode(0o644)).unwrap();
    said(2, "[keys] identity: ");
    said(2, "chmod 600");
    folder.put("identity.txt", format!("{}\n", IDENTITY.replace("2Y5J33", "2Y5J34")));
    said(2, "identity.txt: line 1: the identity is damaged");
    folder.put("identity.txt", format!("{OTHER_IDENTITY}\n"));
    said(2, "all.keys.age: this file is sealed to others");
    folder.put("identity.txt", format!("{IDENTITY}\n"));

    // A sealed file that is cut, changed or has data behind it, and one that is not sealed.
    let changed = |bytes: &[u8]| {
        let mut changed = bytes.to_vec();
        *changed.last_mut().unwrap() ^= 1;
        changed
    };
    folder.put("all.keys.age", &records[..100]);
    said(2, "all.keys.age: this file is sealed with age, and it ends within its header");
    folder.put("all.keys.age", changed(&records));
    said(2, "all.keys.age: this file is sealed with age, and chunk 1 of 1 was changed or cut");
    let huge = fs::File::options().write(true).open(folder.path("all.keys.age")).unwrap();
    huge.set_len(1 << 40).unwrap();
    said(
        2,
        "all.keys.age: the content of this file, sealed with age, is too long: expected at most 67108864 bytes",
    );
    folder.put("all.keys.age", "{}");
    said(2, "all.keys.age: the name ends in .age, but the content is not sealed");
    folder.put("all.keys.age", &records);
    folder.put("keys/mail.pem.age", [&keys[..], b"\n"].concat());
    said(0, "mail.pem.age: this file is sealed with age, and chunk 1 of 1 was changed or cut");
    folder.put("keys/mail.pem.age", &keys);

    // Both forms of a key: the first name counts, and the other one is named.
    folder.ok("keys unseal keys/mail.pem.age --identity identity.txt");
    said(0, "mail.pem has the same name with another ending, and is used");
    fs::remove_file(folder.path("keys/mail.pem")).unwrap();
    // A sealed file under a name that no server reads.
    folder.put("keys/mail.age", &keys);
    said(0, "mail.age: it holds a file sealed with age, but only files that end in .pem or .der");
    // Symmetric keys may lie in the directory.
    fs::remove_file(folder.path("keys/mail.age")).unwrap();
    folder.put("keys/all.keys.age", &records);
    let fine = check();
    assert_eq!((code(&fine), &*stderr(&fine)), (0, ""));
}

#[test]
fn the_mail_filter_names_the_way_out() {
    let folder = served_folder();
    let settings =
        "authserv_id = \"mx.example\"\nsigning.table = \"table\"\nlisten.sockets = [\"inet:0@127.0.0.1\"]\n";
    folder.put("milter.toml", settings);
    folder.put("table", "example.com s1 keys/mail.pem.age\n");
    folder
        .refused("milter --config milter.toml --check", "found a file sealed with age; `oarlock keys unseal");
}
