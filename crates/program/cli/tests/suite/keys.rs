//! `oarlock keys` as its users run it: keys made, imported from OpenSSL and exported to it, listed and shown.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::program::{code, command, oarlock, stderr};
use serde_json::Value;
use tempfile::TempDir;

const ASYMMETRIC: [(&str, u64); 7] = [
    ("rsa1024", 1024),
    ("rsa2048", 2048),
    ("rsa3072", 3072),
    ("p256", 256),
    ("p384", 384),
    ("ed25519", 256),
    ("x25519", 256),
];
const SYMMETRIC: [&str; 6] = ["des", "tdes2", "tdes3", "aes128", "aes256", "hmac"];

/// A working directory with a passphrase file.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.put("secret", b"open sesame\n");
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path().join(name), bytes).unwrap();
        self.set_mode(name, 0o600);
    }

    fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap()
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path().join(name)).unwrap().permissions().mode() & 0o777
    }

    /// Returns the names in the directory, to show that no drafts are left.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs `oarlock WORDS` with this directory as the working and the state directory.
    fn run(&self, words: &str) -> Output {
        let words: Vec<&str> = words.split(' ').collect();
        command(&words).current_dir(self.path()).env("XDG_STATE_HOME", self.path()).output().unwrap()
    }

    fn ok(&self, words: &str) -> String {
        let output = self.run(words);
        assert_eq!(code(&output), 0, "{words}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, words: &str) -> Value {
        serde_json::from_str(&self.ok(&format!("--json {words}"))).unwrap()
    }

    /// Runs a command that must end with this code, and returns its stderr.
    fn fails(&self, exit_code: i32, words: &str) -> String {
        let output = self.run(words);
        assert_eq!(code(&output), exit_code, "{words}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{words}");
        stderr(&output)
    }

    /// Returns the output of `openssl WORDS`. Prints SKIPPED and returns None if OpenSSL is not installed.
    fn openssl(&self, words: &str) -> Option<String> {
        let run = Command::new("openssl")
            .args(words.split(' '))
            .current_dir(self.path())
            .stdin(Stdio::null())
            .output();
        let Ok(output) = run else {
            println!("SKIPPED: no openssl on this machine");
            return None;
        };
        assert!(output.status.success(), "openssl {words}: {}", stderr(&output));
        Some(String::from_utf8(output.stdout).unwrap())
    }
}

#[test]
fn openssl_reads_what_is_made_and_agrees_on_the_public_half() {
    let folder = Folder::new();
    for (kind, bits) in ASYMMETRIC {
        let about = folder.json(&format!("keys generate {kind} --directory ."));
        assert_eq!(
            (&about["name"], &about["kind"], &about["holds"]),
            (&kind.into(), &kind.into(), &"private".into())
        );
        assert_eq!(
            (about["bits"].as_u64(), folder.mode(&format!("{kind}.pem"))),
            (Some(bits), 0o600),
            "{kind}"
        );
        assert!(folder.get(&format!("{kind}.pem")).starts_with(b"-----BEGIN PRIVATE KEY-----\n"));
        let Some(public) = folder.openssl(&format!("pkey -in {kind}.pem -pubout")) else { return };
        assert_eq!(folder.ok(&format!("keys show {kind} --directory . --pem")), public, "{kind}");
        folder.openssl(&format!("pkey -in {kind}.pem -check -noout"));
    }
    assert!(folder.run("keys generate rsa1024 --out short.pem").stderr.ends_with(b"too short to be safe\n"));
}

#[test]
fn openssl_reads_encrypted_keys() {
    let folder = Folder::new();
    for kind in ["p256", "ed25519"] {
        folder.ok(&format!("keys generate {kind} --directory . --passphrase-file secret"));
        assert!(folder.get(&format!("{kind}.pem")).starts_with(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
        let shown = folder.ok(&format!("keys show {kind} --directory . --pem --passphrase-file secret"));
        let Some(public) = folder.openssl(&format!("pkey -in {kind}.pem -passin file:secret -pubout")) else {
            return;
        };
        assert_eq!(shown, public);
        assert!(folder.fails(2, &format!("keys show {kind}.pem")).contains("a passphrase is needed"));
        folder.put("wrong", b"close sesame\n");
        let said = folder.fails(2, &format!("keys show {kind}.pem --passphrase-file wrong"));
        assert!(said.contains(&format!("{kind}.pem: ")) && said.contains("wrong passphrase"), "{said}");
    }
}

#[test]
fn imports_keys_of_openssl_in_every_format() {
    let folder = Folder::new();
    let made = [
        "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.pem",
        "rsa -in rsa.pem -traditional -out pkcs1.key",
        "rsa -in rsa.pem -outform DER -traditional -out pkcs1-binary",
        "pkcs8 -topk8 -in rsa.pem -out encrypted.pem -passout file:secret -v2 aes-256-cbc",
        "rsa -in rsa.pem -pubout -out rsa-public.pem",
        "rsa -in rsa.pem -RSAPublicKey_out -outform DER -out rsa-public1.der",
        "ecparam -name prime256v1 -genkey -out sec1.pem",
        "genpkey -algorithm ED25519 -outform DER -out ed.der",
        "genpkey -algorithm X25519 -out x.pem",
    ];
    if made.iter().any(|words| folder.openssl(words).is_none()) {
        return;
    }
    fs::create_dir(folder.path().join("keys")).unwrap();
    let files = [
        ("rsa.pem", "rsa2048", "private"),
        ("pkcs1.key", "rsa2048", "private"),
        ("pkcs1-binary", "rsa2048", "private"),
        ("rsa-public.pem", "rsa2048", "public"),
        ("rsa-public1.der", "rsa2048", "public"),
        ("sec1.pem", "p256", "private"),
        ("ed.der", "ed25519", "private"),
        ("x.pem", "x25519", "private"),
    ];
    for (file, kind, holds) in files {
        let about = folder.json(&format!("keys import {file} --directory keys"));
        assert_eq!((&about["kind"], &about["holds"]), (&kind.into(), &holds.into()), "{file}");
        let path = about["file"].as_str().unwrap();
        assert_eq!(folder.mode(path), 0o600);
        let what = if holds == "public" { "-pubin" } else { "-pubout" };
        let public = folder.openssl(&format!("pkey -in {path} {what} -pubout")).unwrap();
        assert_eq!(folder.ok(&format!("keys show {path} --pem")), public, "{file}");
    }
    let same = |name: &str| folder.json(&format!("keys show {name} --directory keys"))["fingerprint"].clone();
    assert_eq!(
        [same("pkcs1"), same("pkcs1-binary"), same("rsa-public"), same("rsa-public1")]
            .map(|other| other == same("rsa")),
        [true; 4]
    );
    let encrypted = "keys import encrypted.pem --directory keys --in-passphrase-file secret";
    assert!(
        folder.run(encrypted).stderr.ends_with(b"is not encrypted: use --passphrase-file to encrypt it\n")
    );
    folder.ok(&format!("{encrypted} --name again --passphrase-file secret"));
    assert_eq!(folder.get("keys/encrypted.pem"), folder.get("keys/rsa.pem"));
    folder.openssl("pkey -in keys/again.pem -passin file:secret -noout");
}

const POST_QUANTUM: [&str; 8] = [
    "ml-kem-512",
    "ml-kem-768",
    "ml-kem-1024",
    "ml-dsa-44",
    "ml-dsa-65",
    "ml-dsa-87",
    "slh-dsa-sha2-128f",
    "slh-dsa-shake-128f",
];

#[test]
fn post_quantum_keys_are_made_shown_listed_and_sealed() {
    let folder = Folder::new();
    for kind in POST_QUANTUM {
        let about = folder.json(&format!("keys generate {kind} --directory ."));
        assert_eq!(
            (&about["kind"], &about["holds"], &about["bits"]),
            (&kind.into(), &"private".into(), &Value::Null)
        );
        let file = format!("{kind}.pem");
        let pem = String::from_utf8(folder.get(&file)).unwrap();
        // The seed alone, 32 or 64 bytes, and never the expanded key. Keys of SLH-DSA have 64 bytes.
        assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----\n") && pem.len() < 200, "{pem}");
        assert_eq!(folder.mode(&file), 0o600);
        let shown = folder.ok(&format!("keys show {file}"));
        assert!(
            shown.contains(&format!("kind         {kind}, private\n")) && !shown.contains("size"),
            "{shown}"
        );
        folder.put("public.pem", folder.ok(&format!("keys show {file} --pem")).as_bytes());
        let public = folder.json("keys import public.pem --directory . --name copy --force");
        assert_eq!(
            (&public["kind"], &public["holds"], &public["fingerprint"]),
            (&kind.into(), &"public".into(), &about["fingerprint"])
        );
        folder
            .ok(&format!("keys import {file} --directory . --name locked --passphrase-file secret --force"));
        let locked = folder.json("keys show locked.pem --passphrase-file secret");
        assert_eq!(locked["fingerprint"], about["fingerprint"]);
    }
    fs::remove_file(folder.path().join("public.pem")).unwrap();
    fs::remove_file(folder.path().join("copy.pem")).unwrap();
    fs::remove_file(folder.path().join("locked.pem")).unwrap();
    let listed = folder.json("keys list --directory .");
    let kinds: Vec<&str> =
        listed.as_array().unwrap().iter().map(|key| key["kind"].as_str().unwrap()).collect();
    let mut expected = POST_QUANTUM.to_vec();
    expected.sort_unstable();
    assert_eq!(kinds, expected);
    let warned = |kind: &str| stderr(&folder.run(&format!("keys generate {kind} --directory . --force")));
    assert!(warned("ml-kem-512").contains("prefer ml-kem-768") && warned("ml-kem-768").is_empty());
    let refused = folder.fails(2, "keys generate ml-dsa-65 --records k.keys");
    assert!(refused.contains("--records is for symmetric keys"), "{refused}");
}

/// Returns the public half that `keys show` prints for a file.
fn public_half(folder: &Folder, file: &str) -> oarlock::Key {
    let pem = folder.ok(&format!("keys show {file} --pem"));
    oarlock::keys::import::any(pem.as_bytes(), None).unwrap()
}

/// The private keys of RFC 9881 C.1, and how the public keys of C.2 begin: rho, then part of t1.
#[test]
fn the_public_halves_of_rfc_9881_follow_from_its_seeds() {
    let folder = Folder::new();
    for (arc, kind, published) in [
        ("R", "ml-dsa-44", "d7b2b47254aae0db45e7930d4a98d2c97d8f1397d1789dafa17024b316e9bec94fc9946d"),
        ("S", "ml-dsa-65", "48683d91978e31eb3dddb8b0473482d2b88a5f625949fd8f58a561e696bd4c27d05b38db"),
    ] {
        let pem = format!(
            "-----BEGIN PRIVATE KEY-----\nMDQCAQAwCwYJYIZIAWUDBAM{arc}BCKAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZ\n\
             GhscHR4f\n-----END PRIVATE KEY-----\n"
        );
        folder.put("rfc.pem", pem.as_bytes());
        let about = folder.json("keys import rfc.pem --directory . --name rfc9881 --force");
        assert_eq!(about["kind"], kind);
        assert_eq!(folder.get("rfc9881.pem"), pem.as_bytes(), "keys are written in the form of the RFC");
        let key = public_half(&folder, "rfc.pem");
        let start = &key.ml_dsa_public().unwrap().1[..36];
        let hex: String = start.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, published, "{kind}");
    }
}

/// The private keys of RFC 9935 C.1, whose seed is 00 to 3f. `crypto/mlkem` of Go expands the same seed.
#[test]
fn go_makes_the_same_encapsulation_keys_of_a_seed() {
    let folder = Folder::new();
    folder.put(
        "main.go",
        br#"package main

import (
	"crypto/mlkem"
	"fmt"
)

func main() {
	seed := make([]byte, mlkem.SeedSize)
	for i := range seed {
		seed[i] = byte(i)
	}
	small, _ := mlkem.NewDecapsulationKey768(seed)
	large, _ := mlkem.NewDecapsulationKey1024(seed)
	fmt.Printf("%x\n%x\n", small.EncapsulationKey().Bytes(), large.EncapsulationKey().Bytes())
}
"#,
    );
    let run = Command::new("go").args(["run", "main.go"]).current_dir(folder.path()).output();
    let Some(output) = run.ok().filter(|output| output.status.success()) else {
        println!("SKIPPED: no Go with crypto/mlkem on this machine");
        return;
    };
    let expected = String::from_utf8(output.stdout).unwrap();
    for (arc, expected) in ["C", "D"].into_iter().zip(expected.lines()) {
        let pem = format!(
            "-----BEGIN PRIVATE KEY-----\nMFQCAQAwCwYJYIZIAWUDBAQ{arc}BEKAQAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZ\n\
             GhscHR4fICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=\n-----END PRIVATE KEY-----\n"
        );
        folder.put("rfc.pem", pem.as_bytes());
        let key = public_half(&folder, "rfc.pem");
        let hex: String = key.ml_kem_public().unwrap().1.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(hex == expected, "{}", &hex[..64]);
    }
}

#[test]
fn imports_a_key_from_a_pipe() {
    let folder = Folder::new();
    folder.ok("keys generate ed25519 --out made.pem");
    let piped = |words: &[&str]| {
        let file = fs::File::open(folder.path().join("made.pem")).unwrap();
        let mut cat = Command::new("cat").stdin(file).stdout(Stdio::piped()).spawn().unwrap();
        let output =
            command(words).current_dir(folder.path()).stdin(cat.stdout.take().unwrap()).output().unwrap();
        cat.wait().unwrap();
        output
    };
    let output = piped(&["keys", "import", "-", "--name", "piped", "--directory", "."]);
    assert_eq!((code(&output), folder.get("piped.pem")), (0, folder.get("made.pem")), "{}", stderr(&output));
    let nameless = piped(&["keys", "import", "-", "--directory", "."]);
    assert!(code(&nameless) == 2 && stderr(&nameless).contains("needs --name"));
    assert_eq!(code(&piped(&["keys", "show", "-"])), 0);
}

#[test]
fn records_reads_generated_symmetric_keys() {
    let folder = Folder::new();
    for kind in SYMMETRIC {
        let about = folder.json(&format!("keys generate {kind} --records k.keys"));
        assert_eq!(
            (&about["kind"], &about["holds"], &about["fingerprint"]),
            (&kind.into(), &"secret".into(), &Value::Null)
        );
    }
    assert_eq!(
        (folder.mode("k.keys"), folder.get("k.keys").split(|byte| *byte == b'\n').count()),
        (0o600, 7)
    );
    folder.put("in.csv", b"v\n00112233445566770011223344556677\n");
    for cipher in ["des-cbc", "tdes2-cbc", "tdes3-cbc", "aes128-cbc", "aes256-cbc"] {
        let how =
            format!("--column v --cipher {cipher} --keys k.keys --key-name {}", &cipher[..cipher.len() - 4]);
        folder.ok(&format!("records encrypt in.csv -o sealed {how}"));
        folder.ok(&format!("records decrypt sealed -o back.csv {how} --drop-iv"));
        assert!(
            folder.get("back.csv") == folder.get("in.csv") && folder.get("sealed") != folder.get("in.csv")
        );
    }
    let before = folder.get("k.keys");
    assert!(folder.fails(2, "keys generate aes128 --records k.keys").contains("has a key named \"aes128\""));
    assert_eq!(folder.get("k.keys"), before);
    folder.ok("keys generate aes128 --records k.keys --force");
    folder.ok("keys generate aes128 --records k.keys --name second");
    let names: Vec<Value> = folder
        .json("keys list --records k.keys")
        .as_array()
        .unwrap()
        .iter()
        .map(|key| key["name"].clone())
        .collect();
    assert_eq!(names, [&SYMMETRIC[..], &["second"]].concat());
    assert_ne!(folder.get("k.keys")[..before.len()], before);
}

#[test]
fn rejects_a_passphrase_file_that_others_can_read() {
    let folder = Folder::new();
    let words = "keys generate ed25519 --directory . --passphrase-file secret --force";
    folder.ok(words);
    folder.set_mode("secret", 0o640);
    assert!(folder.fails(2, words).contains("others may read this private file (mode 0640)"));
}

#[test]
fn overwrites_files_only_with_force() {
    let folder = Folder::new();
    folder.ok("keys generate p256 --directory . --name mail");
    let before = folder.get("mail.pem");
    for words in [
        "keys generate ed25519 --directory . --name mail",
        "keys generate ed25519 --out mail.pem",
        "keys import mail.pem --directory .",
    ] {
        assert!(folder.fails(2, words).contains("mail.pem exists: --force replaces it"), "{words}");
        assert_eq!(folder.get("mail.pem"), before);
    }
    folder.ok("keys import mail.pem --directory . --force");
    assert_eq!(folder.get("mail.pem"), before);
    fs::set_permissions(folder.path().join("mail.pem"), fs::Permissions::from_mode(0o644)).unwrap();
    folder.ok("keys generate ed25519 --directory . --name mail --force");
    assert!(folder.get("mail.pem") != before && folder.mode("mail.pem") == 0o600);
    // A server would use the other file of the name.
    folder.put("zone.der", b"");
    assert!(
        folder
            .fails(2, "keys generate p256 --directory . --name zone --force")
            .contains("zone.der has the same name")
    );
    assert_eq!(folder.names(), ["mail.pem", "secret", "zone.der"]);
}

#[test]
fn errors_name_paths_that_cannot_be_written() {
    let folder = Folder::new();
    folder.put("file", b"");
    let cases = [
        ("keys generate p256 --directory gone", "cannot write gone/p256.pem: "),
        ("keys generate p256 --directory file", "cannot write file/p256.pem: "),
        ("keys generate p256 --directory /proc", "cannot write /proc/p256.pem: "),
        ("keys generate p256 --out /dev/null", "cannot write /dev/null: expected a file"),
        ("keys generate p256 --out /dev/null --force", "cannot write /dev/null: expected a file"),
        ("keys generate p256 --out . --force", "cannot write .: "),
        ("keys generate des --records gone/k.keys", "cannot write gone/k.keys: "),
    ];
    for (words, said) in cases {
        let output = folder.fails(2, words);
        assert!(output.starts_with("oarlock: keys: ") && output.contains(said), "{words}: {output}");
    }
    assert_eq!(folder.names(), ["file", "secret"]);
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    match fs::write(closed.join("probe"), "") {
        Ok(()) => println!("SKIPPED: this user may write everywhere"),
        Err(_) => {
            let said = folder.fails(2, "keys generate p256 --directory closed");
            assert!(said.contains("cannot write closed/p256.pem: permission denied"), "{said}");
        }
    }
}

#[test]
fn list_names_broken_files_and_shows_the_others() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("keys")).unwrap();
    for words in ["p384 --name a", "ed25519 --name b --passphrase-file secret", "x25519 --name c"] {
        folder.ok(&format!("keys generate {words} --directory keys"));
    }
    folder.put("keys/cut.pem", &folder.get("keys/a.pem")[..90]);
    folder.put("keys/no name.pem", b"");
    folder.put("keys/notes.txt", b"no key");
    folder.put("keys/certificate.pem", b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n");
    folder.put("k.keys", b"{\"name\":\"r\",\"type\":\"hmac\",\"hex\":\"0b\"}\n");
    let output = folder.run("--json keys list --directory keys --records k.keys --passphrase-file secret");
    let keys: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let named: Vec<(&str, &str)> =
        keys.iter().map(|key| (key["name"].as_str().unwrap(), key["kind"].as_str().unwrap())).collect();
    assert_eq!(named, [("a", "p384"), ("b", "ed25519"), ("c", "x25519"), ("r", "hmac")]);
    let said = stderr(&output);
    for reason in [
        "keys/cut.pem: malformed PEM",
        "keys/no name.pem: expected a name",
        "keys/certificate.pem: found an X.509",
    ] {
        assert!(said.contains(&format!("oarlock: {reason}")), "{said}");
    }
    assert!(code(&output) == 2 && said.ends_with("oarlock: keys: 3 files could not be used\n"), "{said}");
    let output = folder.run("keys list --directory keys");
    assert!(stderr(&output).contains("keys/b.pem: the private key is encrypted: a passphrase is needed"));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.lines().count() == 4 && table.starts_with("name  kind    holds    fingerprint"), "{table}");
    folder.put("k.keys", b"{\"name\":\"r\",\"type\":\"hmac\",\"hex\":\"0b\"}\n{}\n");
    for (words, said) in
        [("--records k.keys", "oarlock: k.keys: line 2: "), ("--directory gone", "oarlock: gone: ")]
    {
        let output = folder.run(&format!("keys list {words}"));
        assert!(code(&output) == 2 && stderr(&output).starts_with(said), "{}", stderr(&output));
    }
}

#[test]
fn list_warns_about_private_keys_that_others_can_read() {
    let folder = Folder::new();
    folder.ok("keys generate p256 --directory .");
    fs::set_permissions(folder.path().join("p256.pem"), fs::Permissions::from_mode(0o644)).unwrap();
    let output = folder.run("keys list --directory .");
    assert!(code(&output) == 0 && stderr(&output).contains("p256.pem: every user can read this private key"));
}

#[test]
fn keys_are_in_the_development_set_up_by_default() {
    let folder = Folder::new();
    let output = folder.run("keys list");
    assert!(code(&output) == 0 && stderr(&output).contains("no keys yet"), "{}", stderr(&output));
    folder.ok("keys generate ed25519 --name own");
    folder.ok("keys generate tdes2");
    let keys = folder.json("keys list");
    let files: Vec<&str> = keys.as_array().unwrap().iter().map(|key| key["file"].as_str().unwrap()).collect();
    assert!(
        files[0].ends_with("oarlock/keys/own.pem") && files[1].ends_with("oarlock/records.keys"),
        "{files:?}"
    );
    assert_eq!(
        [folder.mode("oarlock"), folder.mode("oarlock/keys"), folder.mode("oarlock/records.keys")],
        [0o700, 0o700, 0o600]
    );
    assert!(folder.ok("keys show own").contains("kind         ed25519, private\n"));
    let homeless =
        command(&["keys", "list"]).env_remove("XDG_STATE_HOME").env_remove("HOME").output().unwrap();
    assert!(code(&homeless) == 2 && stderr(&homeless).contains("neither XDG_STATE_HOME nor HOME"));
}

#[test]
fn show_prints_no_private_half() {
    let folder = Folder::new();
    folder.ok("keys generate rsa2048 --directory .");
    let shown = folder.ok("keys show rsa2048.pem");
    let about = folder.json("keys show rsa2048 --directory .");
    let lines = [
        "name         rsa2048",
        "kind         rsa2048, private",
        "size         2048 bits",
        "-----BEGIN PUBLIC KEY-----",
    ];
    assert!(lines.iter().all(|line| shown.lines().any(|line_shown| line_shown == *line)), "{shown}");
    assert!(
        shown.contains(about["fingerprint"].as_str().unwrap())
            && shown.ends_with(about["public_key"].as_str().unwrap())
    );
    let private = String::from_utf8(folder.get("rsa2048.pem")).unwrap();
    for printed in [shown, about.to_string(), folder.ok("keys list --directory .")] {
        assert!(
            !printed.contains("PRIVATE")
                && private.lines().filter(|line| line.len() == 64).all(|line| !printed.contains(line))
        );
    }
    // A directory of that name is not a key.
    fs::create_dir(folder.path().join("rsa2048")).unwrap();
    fs::create_dir_all(folder.path().join("oarlock/keys")).unwrap();
    folder.put("oarlock/keys/rsa2048.pem", private.as_bytes());
    assert_eq!(folder.json("keys show rsa2048")["fingerprint"], about["fingerprint"]);
    let pem = folder.ok("keys show rsa2048.pem --pem");
    folder.put("public.pem", pem.as_bytes());
    let public = folder.json("keys show public.pem");
    assert_eq!((&public["holds"], &public["fingerprint"]), (&"public".into(), &about["fingerprint"]));
}

/// A share of the tests of `oarlock-keys`.
#[test]
fn a_share_is_shown_with_the_public_key_of_all_shares() {
    let folder = Folder::new();
    folder.put("own.pem", include_bytes!("../../../../engine/keys/tests/data/threshold/share512.pem"));
    let shown = folder.json("keys show own.pem");
    assert_eq!(
        (&shown["kind"], &shown["holds"], &shown["share"]["index"]),
        (&"rsa512".into(), &"share".into(), &1.into())
    );
    let listed = folder.json("keys list --directory .");
    assert_eq!((&listed[0]["name"], &listed[0]["fingerprint"]), (&"own".into(), &shown["fingerprint"]));
    assert!(folder.ok("keys show own.pem").contains("\nshare        1 of "));
    assert!(
        folder
            .fails(2, "keys import own.pem --directory . --name x")
            .contains("own.pem: expected a PEM block")
    );
}

#[test]
fn names_a_file_that_is_not_a_key_and_the_reason() {
    let folder = Folder::new();
    folder.put("empty.pem", b"");
    folder.put("long.pem", &[b'-'; (1 << 20) + 10]);
    folder.put("blank", b"\n");
    folder.ok("keys generate p256 --directory .");
    folder.put("public.pem", folder.ok("keys show p256.pem --pem").as_bytes());
    let cases = [
        ("keys import gone.pem --directory .", "cannot read gone.pem: "),
        (
            "keys import empty.pem --directory . --name x",
            "empty.pem: expected a key in PEM or DER, found an empty file",
        ),
        ("keys import long.pem --directory . --name x", "long.pem: input of 1048577 bytes"),
        (
            "keys import public.pem --directory . --name x --passphrase-file secret",
            "a public key is not encrypted",
        ),
        ("keys import p256.pem --directory . --name a/b", "found \"a/b\"\n"),
        ("keys generate p256 --directory . --name .hidden", "found \".hidden\"\n"),
        ("keys generate aes128 --records k.keys --name a\"b", "expected a name of letters"),
        (
            "keys generate p256 --directory . --name x --passphrase-file blank",
            "cannot read blank: expected a passphrase",
        ),
        ("keys generate p256 --directory . --name x --passphrase-file gone", "cannot read gone: "),
        ("keys show nobody --directory .", ". has no key named \"nobody\""),
        ("keys show ./gone.pem", "cannot read ./gone.pem: "),
        ("keys show secret", "secret: expected PEM or DER"),
        ("--json keys show p256.pem --pem", "--pem or --reference, and --json"),
    ];
    for (words, expected) in cases {
        let said = folder.fails(2, words);
        assert!(said.starts_with("oarlock: keys: ") && said.contains(expected), "{words}: {said}");
    }
    folder.put("bad name.pem", &folder.get("p256.pem"));
    let output = command(&["keys", "import", "bad name.pem", "--directory", "."])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(code(&output) == 2 && stderr(&output).contains("(--name gives another)"));
}

#[test]
fn names_the_command_that_converts_a_foreign_format() {
    let folder = Folder::new();
    folder.put("key.ppk", b"PuTTY-User-Key-File-3: ssh-ed25519\r\nEncryption: none\r\nComment: me\r\n");
    let said = folder.fails(2, "keys import key.ppk --directory . --name x");
    assert!(
        said.contains("key.ppk: ") && said.contains("a PuTTY private key") && said.contains("puttygen"),
        "{said}"
    );
    folder.ok("keys generate p256 --out key.pem");
    let request = "req -x509 -key key.pem -subj /CN=x -out certificate.pem";
    let export = "pkcs12 -export -inkey key.pem -in certificate.pem -passout pass:x -out key.p12";
    if folder.openssl(request).is_none() || folder.openssl(export).is_none() {
        return;
    }
    folder.openssl("base64 -in key.p12 -out key.b64");
    for (name, found) in [("key.p12", "PKCS#12"), ("key.b64", "PKCS#12 in base64")] {
        let said = folder.fails(2, &format!("keys import {name} --directory . --name x"));
        let has_remedy = said.contains("openssl pkcs12 -in") && said.contains("-legacy");
        assert!(said.contains(&format!("{name}: ")) && said.contains(found) && has_remedy, "{said}");
    }
    // The command that the message names works.
    folder.openssl("pkcs12 -in key.p12 -nodes -nocerts -passin pass:x -out converted.pem");
    folder.ok("keys import converted.pem --directory . --name taken");
}

#[test]
fn a_full_disk_behind_stdout_is_a_failure_of_the_machine() {
    let folder = Folder::new();
    folder.ok("keys generate p256 --out key.pem");
    for words in [
        &["keys", "list", "--directory", "."][..],
        &["keys", "show", "key.pem"],
        &["keys", "show", "key.pem", "--pem"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = command(words).current_dir(folder.path()).stdout(full).output().unwrap();
        assert_eq!(
            (code(&output), stderr(&output).contains("No space left")),
            (3, true),
            "{words:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn wrong_arguments_exit_with_2() {
    let folder = Folder::new();
    let cases = [
        ("keys", "Usage: oarlock keys"),
        ("keys generate", "<KIND>"),
        (
            "keys generate p521",
            "[possible values: rsa1024, rsa2048, rsa3072, rsa4096, p256, p384, ed25519, x25519, ml-kem-512, \
             ml-kem-768, ml-kem-1024, ml-dsa-44, ml-dsa-65, ml-dsa-87, slh-dsa-sha2-128s, slh-dsa-sha2-128f,",
        ),
        ("keys generate p256 --out x.pem --directory .", "cannot be used with"),
        ("keys generate p256 --out x.pem --name x", "cannot be used with"),
        ("keys generate des --records k --directory .", "cannot be used with"),
        ("keys generate p256 --records k", "--records is for symmetric keys"),
        ("keys generate des --directory .", "use --records"),
        ("keys generate des --out x.pem", "use --records"),
        ("keys generate des --passphrase-file secret", "use --records"),
        ("keys import", "<FILE>"),
        ("keys show", "<FILE|NAME>"),
        ("keys list x", "a key directory is named by --directory"),
    ];
    for (words, expected) in cases {
        let said = folder.fails(2, words);
        assert!(said.contains(expected), "{words}: {said}");
    }
    assert_eq!(folder.names(), ["secret"]);
    for words in [&["keys", "--help"][..], &["keys", "generate", "--help"], &["keys", "list", "-h"]] {
        let output = oarlock(words);
        assert!(code(&output) == 0 && !output.stdout.is_empty(), "{words:?}");
    }
}

const SAFE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../engine/keys/tests/data/threshold/safe1024.pem");

#[test]
fn keys_of_safe_primes_are_split_among_servers() {
    let folder = Folder::new();
    let out = folder.path().to_str().unwrap();
    let split = |more: &[&str]| {
        let common =
            ["keys", "split", SAFE, "--threshold", "2", "--shares", "3", "--name", "shared", "--out", out];
        oarlock(&[&common, more].concat())
    };
    let output = split(&[]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(folder.names(), ["secret", "server-1", "server-2", "server-3", "shared.threshold.pem"]);
    assert_eq!(folder.mode("server-2/shared.pem"), 0o600);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Any 2 of these 3 sign as shared"), "{text}");
    let directory = folder.path().join("server-2");
    let list = oarlock(&["--json", "keys", "list", "--directory", directory.to_str().unwrap()]);
    let rows: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!((rows[0]["holds"].as_str(), rows[0]["share"]["index"].as_u64()), (Some("share"), Some(2)));
    let again = split(&[]);
    assert_eq!(code(&again), 2);
    assert!(stderr(&again).contains("exists"), "{}", stderr(&again));
    let secret = folder.path().join("secret");
    let forced = split(&["--force", "--passphrase-file", secret.to_str().unwrap()]);
    assert_eq!(code(&forced), 0, "{}", stderr(&forced));
    assert!(folder.get("server-1/shared.pem").starts_with(b"-----BEGIN OARLOCK ENCRYPTED RSA SHARE"));
}

#[test]
fn split_names_the_keys_that_can_be_split() {
    let folder = Folder::new();
    let key = folder.path().join("plain.pem");
    let key = key.to_str().unwrap();
    assert_eq!(code(&oarlock(&["keys", "generate", "rsa1024", "--out", key])), 0);
    let out = folder.path().to_str().unwrap();
    let plain = oarlock(&["keys", "split", key, "--threshold", "2", "--shares", "3", "--out", out]);
    assert_eq!(code(&plain), 2);
    assert!(stderr(&plain).contains("--safe-primes"), "{}", stderr(&plain));
    for (threshold, shares) in [("4", "3"), ("1", "3"), ("2", "200")] {
        let counts =
            oarlock(&["keys", "split", SAFE, "--threshold", threshold, "--shares", shares, "--out", out]);
        assert_eq!(code(&counts), 2, "{}", stderr(&counts));
    }
    assert_eq!(folder.names(), ["plain.pem", "secret"]);
    let kind = oarlock(&["keys", "generate", "p256", "--safe-primes", "--out", key, "--force"]);
    assert!(code(&kind) == 2 && stderr(&kind).contains("--safe-primes is for RSA"));
}
