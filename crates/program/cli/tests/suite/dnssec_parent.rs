//! `oarlock dnssec sign` with records for the zones above and below it, beside BIND's dnssec-signzone.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::peers::has;
use crate::program::{code, oarlock, stderr, text};

const ZONE: &str = "\
$ORIGIN example.test.
$TTL 3600
@ SOA ns hostmaster 1 7200 3600 1209600 300
@ NS ns
ns A 192.0.2.1
sub NS ns.sub
sub DS 1 13 2 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
ns.sub A 192.0.2.2
two 600 NS ns.two
ns.two A 192.0.2.3
";
/// A delegation of which no file says anything.
const PLAIN: &str = "\
plain NS ns.elsewhere.test.
plain DS 2 13 2 BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
";

/// A directory with a zone, keys, and files of children.
struct ParentFolder(TempDir);

impl ParentFolder {
    fn new(zone: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.path("zone"), zone).unwrap();
        fs::create_dir(folder.path("ds")).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Makes a key of a zone in `keys`, and returns the answer.
    fn key(&self, zone: &str, more: &[&str]) -> Value {
        let keys = self.name("keys");
        let made = oarlock(&[&["--json", "dnssec", "keygen", zone, "--out-dir", &keys], more].concat());
        assert_eq!(code(&made), 0, "{}", stderr(&made));
        serde_json::from_slice(&made.stdout).unwrap()
    }

    /// Writes the file of a child with the DS records of a new key.
    fn child(&self, name: &str, digests: &[&str]) {
        let key = self.key(&format!("{name}.example.test"), &[]);
        let mut arguments = vec!["dnssec", "ds", key["public_file"].as_str().unwrap()];
        arguments.extend(digests.iter().flat_map(|digest| ["--digest", digest]));
        let ds = text(&oarlock(&arguments));
        fs::write(self.path(&format!("ds/dsset-{name}.example.test.")), ds).unwrap();
    }

    /// Returns the DNSKEY, CDS and CDNSKEY records of another signer's key.
    fn other_signer(&self) -> String {
        let others = self.name("others");
        let made = oarlock(&["--json", "dnssec", "keygen", "example.test", "--ksk", "--out-dir", &others]);
        let made: Value = serde_json::from_slice(&made.stdout).unwrap();
        let dnskey = made["dnskey"].as_str().unwrap();
        let cds = text(&oarlock(&["dnssec", "ds", "--cds", made["public_file"].as_str().unwrap()]));
        format!("{dnskey}\n{}\n{cds}", dnskey.replace(" DNSKEY ", " CDNSKEY "))
    }

    /// Signs the zone into `ours`.
    fn sign(&self, arguments: &[&str]) -> Output {
        let (zone, out) = (self.name("zone"), self.name("ours"));
        oarlock(&[&["dnssec", "sign", &zone, "--out", &out], arguments].concat())
    }

    fn signed(&self, arguments: &[&str]) -> (BTreeSet<String>, String) {
        let done = self.sign(arguments);
        assert_eq!(code(&done), 0, "{}", stderr(&done));
        (self.about_keys("ours"), stderr(&done))
    }

    /// Writes `bind-zone`: the zone with the DNSKEY records that dnssec-signzone without -S expects in it.
    fn write_with_keys(&self, keys: &[&Value]) {
        let keys: String = keys.iter().map(|key| format!("{}\n", key["dnskey"].as_str().unwrap())).collect();
        let zone = fs::read_to_string(self.path("zone")).unwrap();
        fs::write(self.path("bind-zone"), zone + &keys).unwrap();
    }

    /// Signs the zone into `theirs` with dnssec-signzone, in lines.
    fn signed_by_bind(&self, arguments: &[&str]) -> BTreeSet<String> {
        let done = Command::new("dnssec-signzone")
            .args(["-q", "-O", "full", "-o", "example.test", "-f"])
            .arg(self.path("theirs"))
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", stderr(&done));
        self.about_keys("theirs")
    }

    /// Returns the DS, CDS and CDNSKEY records of a signed zone, in one form.
    fn about_keys(&self, name: &str) -> BTreeSet<String> {
        let text = fs::read_to_string(self.path(name)).unwrap();
        let line = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let rtype = words.get(3).filter(|rtype| ["DS", "CDS", "CDNSKEY"].contains(rtype))?;
            let data = words[7..].concat();
            let data = if *rtype == "CDNSKEY" { data } else { data.to_lowercase() };
            Some(format!("{} {data}", words[..7].join(" ")))
        };
        text.lines().filter_map(line).collect()
    }

    /// Asserts that every verifier accepts the zone in `ours`.
    fn assert_good(&self) {
        let path = self.name("ours");
        let said = oarlock(&["dnssec", "verify", &path]);
        assert_eq!(code(&said), 0, "{}", String::from_utf8_lossy(&said.stdout));
        for (program, arguments) in [
            ("dnssec-verify", &["-q", "-o", "example.test"][..]),
            ("ldns-verify-zone", &[]),
            ("kzonecheck", &["-o", "example.test", "-d", "on"]),
            ("named-checkzone", &["-q", "example.test"]),
        ] {
            if has(program) {
                let said = Command::new(program).args(arguments).arg(&path).output().unwrap();
                let out = String::from_utf8_lossy(&said.stdout).into_owned() + &stderr(&said);
                assert!(said.status.success(), "{program}: {out}");
            }
        }
    }
}

fn of_type<'l>(lines: &'l BTreeSet<String>, rtype: &str) -> Vec<&'l String> {
    lines.iter().filter(|line| line.split(' ').nth(3) == Some(rtype)).collect()
}

#[test]
fn takes_the_ds_records_of_children_as_dnssec_signzone_does() {
    let folder = ParentFolder::new(ZONE);
    folder.child("sub", &["sha256", "sha384"]);
    folder.child("two", &[]);
    let (ksk, zsk) = (folder.key("example.test", &["--ksk"]), folder.key("example.test", &["--zsk"]));
    folder.write_with_keys(&[&ksk, &zsk]);
    let file = |key: &Value| key["private_file"].as_str().unwrap().to_owned();
    let (ksk, zsk, ds) = (file(&ksk), file(&zsk), folder.name("ds"));
    let (ours, _) = folder.signed(&["--ksk", &ksk, "--zsk", &zsk, "--dsset", &ds]);
    assert_eq!(of_type(&ours, "DS").len(), 3, "{ours:?}");
    assert!(ours.iter().any(|line| line.starts_with("two.example.test. 600 IN DS ")), "{ours:?}");
    folder.assert_good();
    if has("dnssec-signzone") {
        let keys = [ksk, zsk].map(|key| key.strip_suffix(".private").unwrap().to_owned());
        let theirs = folder.signed_by_bind(&["-g", "-d", &ds, "bind-zone", &keys[0], &keys[1]]);
        assert_eq!(ours, theirs);
    }
}

/// dnssec-signzone removes the DS records of a delegation without a file, which makes the child insecure.
#[test]
fn names_files_without_delegation_and_keeps_ds_records_without_file() {
    let folder = ParentFolder::new(&format!("{ZONE}{PLAIN}"));
    folder.child("sub", &[]);
    folder.child("extra", &[]);
    fs::write(folder.path("ds/dsset-example.test."), "garbage that is not read: it is for the parent")
        .unwrap();
    fs::write(folder.path("ds/dsset-other.test."), "garbage of another zone").unwrap();
    fs::write(folder.path("ds/keyset-sub.example.test."), "another file").unwrap();
    let (ksk, zsk) = (folder.key("example.test", &["--ksk"]), folder.key("example.test", &["--zsk"]));
    let file = |key: &Value| key["private_file"].as_str().unwrap().to_owned();
    let (ksk, zsk) = (file(&ksk), file(&zsk));
    let (lines, said) = folder.signed(&["--ksk", &ksk, "--zsk", &zsk, "--dsset", &folder.name("ds")]);
    assert!(
        said.contains(
            "2 files without a delegation in example.test.: dsset-extra.example.test., dsset-other.test."
        ),
        "{said}"
    );
    assert!(said.contains("1 delegation without a file: the DS records in the zone stay"), "{said}");
    let ds = of_type(&lines, "DS");
    assert_eq!(ds.len(), 2, "{ds:?}");
    assert!(ds[0].starts_with("plain.example.test. 3600 IN DS 2 13 2 bbbb"), "{ds:?}");
    folder.assert_good();
}

#[test]
fn a_faulty_file_of_a_child_is_named_with_its_line_and_nothing_is_written() {
    let folder = ParentFolder::new(ZONE);
    folder.child("sub", &[]);
    let csk = folder.key("example.test", &[]);
    let csk = csk["private_file"].as_str().unwrap().to_owned();
    let path = folder.path("ds/dsset-sub.example.test.");
    let good = fs::read_to_string(&path).unwrap();
    for (text, line, expected) in [
        (format!("{good}two.example.test. IN DS 1 13 2 AABB\n"), 2, ""),
        (format!("{good}{}", good.replace("sub.", "two.")), 2, "a record of two.example.test."),
        (String::new(), 1, "without a DS record"),
        ("\u{0}\u{ff}".into(), 1, ""),
        (format!("{good}$INCLUDE /etc/passwd\n"), 2, "must not contain $INCLUDE"),
    ] {
        fs::write(&path, &text).unwrap();
        let done = folder.sign(&["--csk", &csk, "--dsset", &folder.name("ds")]);
        let said = stderr(&done);
        assert_eq!((code(&done), folder.path("ours").exists()), (2, false), "{said}");
        assert!(said.contains(&format!("dsset-sub.example.test., line {line}: ")), "{said}");
        assert!(said.contains(expected), "{said}");
    }
    let done = folder.sign(&["--csk", &csk, "--dsset", &folder.name("missing")]);
    assert!(code(&done) == 2 && stderr(&done).contains("missing"), "{}", stderr(&done));
}

#[test]
fn writes_the_ds_records_for_the_parent_as_dnssec_signzone_does() {
    let folder = ParentFolder::new(ZONE);
    let (ksk, zsk) = (folder.key("example.test", &["--ksk"]), folder.key("example.test", &["--zsk"]));
    let second = folder.key("example.test", &["--ksk"]);
    folder.write_with_keys(&[&ksk, &second, &zsk]);
    let file = |key: &Value| key["private_file"].as_str().unwrap().to_owned();
    let (ksk, second, zsk) = (file(&ksk), file(&second), file(&zsk));
    fs::create_dir(folder.path("up")).unwrap();
    folder.signed(&["--ksk", &ksk, "--ksk", &second, "--zsk", &zsk, "--write-dsset", &folder.name("up")]);
    let read = |path: &str| -> BTreeSet<String> {
        fs::read_to_string(folder.path(path)).unwrap().lines().map(str::to_owned).collect()
    };
    let ours = read("up/dsset-example.test.");
    assert_eq!(ours.len(), 2, "{ours:?}");
    if has("dnssec-signzone") {
        let keys = [ksk, second, zsk].map(|key| key.strip_suffix(".private").unwrap().to_owned());
        folder.signed_by_bind(&["-d", &folder.name("ds"), "bind-zone", &keys[0], &keys[1], &keys[2]]);
        assert_eq!(ours, read("ds/dsset-example.test."));
    }
}

#[test]
fn the_times_of_keys_decide_cds_records_as_in_dnssec_signzone() {
    if !(has("dnssec-keygen") && has("dnssec-signzone")) {
        return;
    }
    let folder = ParentFolder::new("");
    fs::create_dir(folder.path("keys")).unwrap();
    let keygen = |arguments: &[&str]| {
        let made = Command::new("dnssec-keygen")
            .args(["-q", "-a", "13", "-K", "keys"])
            .args(arguments)
            .arg("example.test")
            .current_dir(folder.0.path())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", stderr(&made));
        let stem = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        fs::read_to_string(folder.path(&format!("keys/{stem}.key"))).unwrap()
    };
    for times in [
        &["-P", "sync", "now"][..],
        &["-P", "sync", "now", "-D", "sync", "now+30d"],
        &["-P", "sync", "now+30d"],
        &[],
    ] {
        keygen(&[&["-f", "KSK"], times].concat());
    }
    let withdrawn = keygen(&["-f", "KSK", "-P", "sync", "now-30d", "-D", "sync", "now-1d"]);
    keygen(&[]);
    // Records of the key that is withdrawn, and of the key of another signer.
    let dnskey = withdrawn.lines().find(|line| !line.starts_with(';')).unwrap();
    let tag = withdrawn.split("keyid ").nth(1).unwrap().split(',').next().unwrap();
    let key = format!("keys/Kexample.test.+013+{:05}.key", tag.parse::<u16>().unwrap());
    let cds = text(&oarlock(&["dnssec", "ds", "--cds", &folder.name(&key)]));
    let cdnskey = dnskey.replace(" DNSKEY ", " CDNSKEY ");
    let other = folder.other_signer();
    for existing in [String::new(), format!("{cds}\n{cdnskey}\n{other}")] {
        fs::write(folder.path("zone"), format!("{ZONE}{existing}")).unwrap();
        let (ours, _) = folder.signed(&["--keys", &folder.name("keys")]);
        let foreign = usize::from(!existing.is_empty());
        assert_eq!(of_type(&ours, "CDS").len(), 2 + foreign, "{ours:?}");
        assert_eq!(of_type(&ours, "CDNSKEY").len(), 2 + foreign, "{ours:?}");
        folder.assert_good();
        let theirs = folder.signed_by_bind(&["-S", "-K", "keys", "zone"]);
        assert_eq!(ours, theirs);
    }
}

#[test]
fn cds_records_follow_the_rule_that_is_given() {
    let folder = ParentFolder::new(&format!("{ZONE}@ CDS 0 0 0 00\n@ CDNSKEY 0 3 0 AA==\n"));
    let (ksk, zsk) = (folder.key("example.test", &["--ksk"]), folder.key("example.test", &["--zsk"]));
    let ds = ksk["ds"].as_str().unwrap().to_lowercase();
    let file = |key: &Value| key["private_file"].as_str().unwrap().to_owned();
    let (ksk, zsk) = (file(&ksk), file(&zsk));
    let cds = |rule: &[&str]| {
        let (lines, _) = folder.signed(&[&["--ksk", &ksk, "--zsk", &zsk], rule].concat());
        folder.assert_good();
        let plain = |line: &&String| line.split(' ').skip(4).collect::<Vec<_>>().join(" ");
        let of = |rtype| of_type(&lines, rtype).iter().map(plain).collect::<Vec<_>>();
        (of("CDS"), of("CDNSKEY").len())
    };
    let ds = ds.split(' ').skip(3).collect::<Vec<_>>().join(" ");
    let deletion = (vec!["0 0 0 00".to_owned()], 1);
    assert_eq!(cds(&[]), deletion);
    assert_eq!(cds(&["--cds", "keep"]), deletion);
    assert_eq!(cds(&["--cds", "delete"]), deletion);
    assert_eq!(cds(&["--cds", "keys"]), (vec![ds], 1));
    let (found, keys) = cds(&["--cds", "keys", "--digest", "sha256,sha384"]);
    assert_eq!((found.len(), keys), (2, 1));
    let done = folder.sign(&["--ksk", &ksk, "--zsk", &zsk, "--cds", "times"]);
    assert!(code(&done) == 2 && stderr(&done).contains("expected --keys"), "{}", stderr(&done));
}
