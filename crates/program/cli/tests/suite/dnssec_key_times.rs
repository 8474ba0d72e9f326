//! Times of keys: `dnssec sign --keys`, `settime` and `keygen --successor` beside dnssec-signzone, dnssec-settime and
//! dnssec-keygen of BIND.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{code, command, oarlock, set_clock, stderr, text};

const ZONE: &str = "$ORIGIN example.com.\n$TTL 3600\n@ SOA ns1 hostmaster 1 7200 3600 1209600 900\n@ NS ns1\n\
                    ns1 A 192.0.2.1\nwww A 192.0.2.2\n";

/// The options of dnssec-settime, ours, and the fields of `--json`, in the order of BIND's files.
const TIMES: [(&[&str], &str, &str); 7] = [
    (&["-P"], "--publish", "publish"),
    (&["-A"], "--activate", "activate"),
    (&["-R"], "--revoke", "revoke"),
    (&["-I"], "--inactive", "inactive"),
    (&["-D"], "--delete", "delete"),
    (&["-P", "sync"], "--sync-publish", "sync_publish"),
    (&["-D", "sync"], "--sync-delete", "sync_delete"),
];

/// A directory with a zone, and a directory of its keys.
struct KeyFolder(TempDir);

/// The DNSKEYs of a signed zone, as flags and tags, and the tags of the keys that sign its keys and its SOA record.
#[derive(Debug, PartialEq, Eq)]
struct KeyUses {
    published: BTreeSet<(u64, u64)>,
    sign_keys: BTreeSet<String>,
    sign_soa: BTreeSet<String>,
}

impl KeyFolder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.path("zone"), ZONE).unwrap();
        fs::create_dir(folder.path("keys")).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text_path(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn keys(&self) -> String {
        self.text_path("keys")
    }

    /// Makes a key here and returns its name without ending.
    fn keygen(&self, arguments: &[&str]) -> String {
        let keys = self.keys();
        let made = json(&oarlock(
            &[&["--json", "dnssec", "keygen", "example.com", "--out-dir", &keys], arguments].concat(),
        ));
        let file = PathBuf::from(made["private_file"].as_str().unwrap());
        file.file_name().unwrap().to_str().unwrap().rsplit_once('.').unwrap().0.to_owned()
    }

    /// Makes a key with these times and that of its creation alone.
    fn timed(&self, arguments: &[&str], times: &[&str]) -> String {
        let key = self.keygen(&[&["--publish", "none", "--activate", "none"], arguments].concat());
        if !times.is_empty() {
            self.set(&key, times);
        }
        key
    }

    fn settime(&self, key: &str, arguments: &[&str]) -> Output {
        let key = format!("{}/{key}", self.keys());
        oarlock(&[&["--json", "dnssec", "settime", &key], arguments].concat())
    }

    /// Runs a program in the directory of the keys. Prints SKIPPED and returns None if it is not installed.
    fn peer(&self, program: &str, arguments: &[&str]) -> Option<Output> {
        let mut run = Command::new(program);
        run.args(arguments).current_dir(self.path("keys")).stdin(Stdio::null());
        match run.output() {
            Ok(output) => Some(output),
            Err(error) => {
                println!("SKIPPED: {program}: {error}");
                None
            }
        }
    }

    fn sign(&self, arguments: &[&str]) -> Output {
        let (zone, out, keys) = (self.text_path("zone"), self.text_path("signed"), self.keys());
        let _ = fs::remove_file(&out);
        let fixed = ["--json", "dnssec", "sign", &zone, "--out", &out, "--keys", &keys];
        oarlock(&[&fixed, arguments].concat())
    }

    fn refused(&self, arguments: &[&str]) -> String {
        let done = self.sign(arguments);
        assert_eq!((code(&done), self.path("signed").exists()), (2, false), "{}", stderr(&done));
        stderr(&done)
    }

    /// Signs the zone here, and lets the verifiers of others check it.
    fn signed(&self, verify: &[&str]) -> Option<KeyUses> {
        let done = self.sign(&[]);
        if code(&done) != 0 {
            assert!(stderr(&done).contains("no active key of"), "{}", stderr(&done));
            return None;
        }
        let signed = self.text_path("signed");
        let bind = [verify, &["-q", "-o", "example.com", &signed]].concat();
        for (program, arguments) in [
            ("dnssec-verify", &bind[..]),
            ("ldns-verify-zone", &[&signed]),
            ("named-checkzone", &["-q", "example.com", &signed]),
        ] {
            if let Some(said) = self.peer(program, arguments) {
                let text = String::from_utf8_lossy(&said.stdout).into_owned() + &stderr(&said);
                assert!(said.status.success(), "{program}: {text}");
            }
        }
        Some(self.uses("signed"))
    }

    /// Signs the zone with dnssec-signzone. Returns None if it is not installed, and Some(None) if it fails.
    fn signed_by_bind(&self, options: &[&str]) -> Option<Option<KeyUses>> {
        let (zone, out) = (self.text_path("zone"), self.text_path("bind"));
        let _ = fs::remove_file(&out);
        let fixed = ["-S", "-K", ".", "-o", "example.com", "-O", "full", "-f", &out];
        let done = self.peer("dnssec-signzone", &[&fixed, options, &[&zone]].concat())?;
        Some(done.status.success().then(|| self.uses("bind")))
    }

    fn uses(&self, zone: &str) -> KeyUses {
        let keys = json(&oarlock(&["--json", "dnssec", "ds", "--dnskey", "--all", &self.text_path(zone)]));
        let numbers = |key: &Value| (key["flags"].as_u64().unwrap(), key["key_tag"].as_u64().unwrap());
        let text = fs::read_to_string(self.path(zone)).unwrap();
        let signers = |rtype: &str| {
            let of_type = |line: &&str| {
                let words: Vec<&str> = line.split_whitespace().collect();
                words.get(3..5) == Some(&["RRSIG", rtype])
            };
            let tag = |line: &str| line.split_whitespace().nth(10).unwrap().to_owned();
            text.lines().filter(of_type).map(tag).collect()
        };
        KeyUses {
            published: keys.as_array().unwrap().iter().map(numbers).collect(),
            sign_keys: signers("DNSKEY"),
            sign_soa: signers("SOA"),
        }
    }

    /// Gives times to a key with our settime.
    fn set(&self, key: &str, times: &[&str]) {
        let done = self.settime(key, times);
        assert_eq!(code(&done), 0, "{}", stderr(&done));
    }

    /// Writes a file that only its owner may read.
    fn write_private(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o600)).unwrap();
        self.text_path(name)
    }

    fn remove(&self, key: &str) {
        for ending in ["key", "private"] {
            fs::remove_file(self.path(&format!("keys/{key}.{ending}"))).unwrap();
        }
    }
}

fn json(output: &Output) -> Value {
    assert_eq!(code(output), 0, "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The states of one key beside others: future, published, active before and without publication, active, inactive,
/// removed and revoked, each reached in several ways.
const STATES: [&[&str]; 22] = [
    &[],
    &["--publish", "-1d"],
    &["--publish", "+1d"],
    &["--publish", "-1d", "--activate", "+1d"],
    &["--publish", "-1d", "--activate", "-1d"],
    &["--activate", "-1d"],
    &["--activate", "+1d"],
    &["--publish", "+1d", "--activate", "-1d"],
    &["--publish", "-3d", "--activate", "-2d", "--inactive", "-1d"],
    &["--activate", "-2d", "--inactive", "-1d"],
    &["--inactive", "-1d"],
    &["--inactive", "+1d"],
    &["--publish", "-3d", "--inactive", "+1d"],
    &["--publish", "-3d", "--activate", "-2d", "--inactive", "-1d", "--delete", "-1h"],
    &["--publish", "-3d", "--activate", "-2d", "--delete", "-1h"],
    &["--delete", "+1d"],
    &["--publish", "-3d", "--activate", "-2d", "--revoke", "-1d"],
    &["--publish", "-3d", "--revoke", "-1d"],
    &["--publish", "+3d", "--revoke", "-1d"],
    &["--publish", "-3d", "--activate", "-2d", "--revoke", "-1d", "--inactive", "-1h"],
    &["--publish", "-3d", "--activate", "-2d", "--revoke", "-1d", "--delete", "-1h"],
    &["--publish", "-3d", "--activate", "-1d", "--inactive", "-2d"],
];

const ACTIVE: [&str; 4] = ["--publish", "-9d", "--activate", "-9d"];

#[test]
fn keys_of_every_state_are_used_as_by_dnssec_signzone() {
    let folder = KeyFolder::new();
    for (role, algorithm) in [("--ksk", "13"), ("--zsk", "15")] {
        let other = |role| folder.keygen(&[&ACTIVE[..], &[role, "--algorithm", algorithm]].concat());
        let others = [other("--ksk"), other("--zsk")];
        for state in STATES {
            let key = folder.timed(&[role, "--algorithm", algorithm], state);
            let ours = folder.signed(&[]).unwrap();
            let Some(theirs) = folder.signed_by_bind(&["-x"]) else { return };
            let mut theirs = theirs.unwrap();
            // With -x, dnssec-signzone leaves out the signature of a revoked ZSK, which RFC 5011 2.1 wants.
            let revoked = theirs.published.iter().filter(|(flags, _)| flags & 128 != 0);
            theirs.sign_keys.extend(revoked.map(|(_, tag)| tag.to_string()));
            assert_eq!(ours, theirs, "{role} {algorithm} {state:?}");
            folder.remove(&key);
        }
        others.iter().for_each(|key| folder.remove(key));
    }
}

/// The steps of roll-overs, RFC 6781 4.1: the times of the old key and of the new one, in days from now.
const ROLLOVER: [[&[&str]; 2]; 6] = [
    [&ACTIVE, &["--publish", "+1d", "--activate", "+9d"]],
    [
        &["--publish", "-9d", "--activate", "-9d", "--inactive", "+1d"],
        &["--publish", "-1d", "--activate", "+1d"],
    ],
    [
        &["--publish", "-9d", "--activate", "-9d", "--inactive", "-1h"],
        &["--publish", "-9d", "--activate", "-1h"],
    ],
    [&["--publish", "-9d", "--activate", "-9d", "--inactive", "-2d", "--delete", "-1h"], &ACTIVE],
    // Double signatures.
    [&ACTIVE, &ACTIVE],
    // A gap without active key, which both refuse.
    [
        &["--publish", "-9d", "--activate", "-9d", "--inactive", "-1h"],
        &["--publish", "-9d", "--activate", "+1h"],
    ],
];

#[test]
fn rollovers_of_ksk_zsk_and_csk_go_as_with_dnssec_signzone() {
    let folder = KeyFolder::new();
    for (role, other) in [("--ksk", Some("--zsk")), ("--zsk", Some("--ksk")), ("--csk", None)] {
        let other = other.map(|role| folder.keygen(&[&ACTIVE[..], &[role]].concat()));
        // dnssec-signzone ignores the flags of keys that sign everything only with -z.
        let (sign, verify): (&[&str], &[&str]) = match other {
            Some(_) => (&["-x"], &[]),
            None => (&["-z"], &["-z"]),
        };
        let (mut good, mut refused) = (0, 0);
        for times in ROLLOVER {
            let keys = times.map(|times| folder.timed(&[role], times));
            let ours = folder.signed(verify);
            *if ours.is_some() { &mut good } else { &mut refused } += 1;
            let Some(theirs) = folder.signed_by_bind(sign) else { return };
            assert_eq!(ours, theirs, "{role} {times:?}");
            keys.iter().for_each(|key| folder.remove(key));
        }
        assert_eq!((good, refused), (5, 1), "{role}");
        other.iter().for_each(|key| folder.remove(key));
    }
}

#[test]
fn a_role_without_active_key_is_refused_as_by_dnssec_signzone() {
    let folder = KeyFolder::new();
    let (ksk, zsk) = (folder.timed(&["--ksk"], &[]), folder.timed(&["--zsk"], &[]));
    let over = ["--publish", "-9d", "--activate", "-9d", "--inactive", "-1d"];
    for (one, two, part) in [
        (&ACTIVE[..], &over[..], "signs the zone's records"),
        (&over, &ACTIVE, "signs the zone's keys"),
        (&over, &over, "is inactive"),
    ] {
        for key in [&ksk, &zsk] {
            folder.set(key, &["--inactive", "none"]);
        }
        folder.set(&ksk, one);
        folder.set(&zsk, two);
        let said = folder.refused(&[]);
        assert!(said.contains(part) && said.contains("ECDSAP256SHA256"), "{said}");
        if let Some(theirs) = folder.signed_by_bind(&["-x"]) {
            assert_eq!(theirs, None, "{part}");
        }
    }
}

#[test]
fn dnssec_settime_reads_our_times_and_we_read_theirs() {
    let folder = KeyFolder::new();
    let ours = folder.timed(&["--ksk"], &[]);
    let Some(made) = folder.peer("dnssec-keygen", &["-q", "-a", "13", "-f", "KSK", "-G", "example.com"])
    else {
        return;
    };
    let theirs = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    let offsets = ["-4d", "-3d", "+7d", "+5d", "+9d", "-2d", "+8d"];
    for (key, is_ours) in [(&ours, true), (&theirs, false)] {
        for ((bind, here, _), offset) in TIMES.iter().zip(offsets) {
            if is_ours {
                folder.set(key, &[here, offset]);
            } else {
                // BIND takes no time with a sign in front after `sync`, unless the word now stands before it.
                let time = format!("now{offset}");
                let set = folder.peer("dnssec-settime", &[*bind, &[&time[..], key]].concat()).unwrap();
                assert_eq!(code(&set), 0, "{}", stderr(&set));
            }
        }
        let said = json(&folder.settime(key, &[]));
        let printed = folder.peer("dnssec-settime", &["-u", "-p", "all", key]).unwrap();
        let printed = String::from_utf8(printed.stdout).unwrap();
        for name in
            ["Created", "Publish", "Activate", "Revoke", "Inactive", "Delete", "SYNC Publish", "SYNC Delete"]
        {
            let line = printed.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).unwrap();
            let field = name.to_lowercase().replace(' ', "_");
            let here = said["times"][&field].as_str().unwrap();
            let seconds = oarlock_dnssec::rdata::parse_time(here.as_bytes()).unwrap();
            assert_eq!(seconds.to_string(), line, "{name}: {printed}");
        }
        // The comments beside the DNSKEY are those of BIND, byte for byte.
        let comments = |key: &str| {
            let text = fs::read_to_string(folder.path(&format!("keys/{key}.key"))).unwrap();
            text.lines().filter(|line| line.starts_with("; ")).skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        let before = comments(key);
        assert_eq!(before.len(), 8);
        let rewritten = folder.peer("dnssec-settime", &["-L", "300", key]).unwrap();
        assert_eq!(code(&rewritten), 0, "{}", stderr(&rewritten));
        assert_eq!(comments(key), before);
    }
    for (_, here, field) in TIMES {
        assert!(json(&folder.settime(&theirs, &[here, "none"]))["times"][field].is_null(), "{here}");
    }
    let printed = folder.peer("dnssec-settime", &["-u", "-p", "all", &theirs]).unwrap();
    assert_eq!(String::from_utf8(printed.stdout).unwrap().matches("UNSET").count(), 9);
}

#[test]
fn settime_keeps_permissions_and_the_rest_of_the_files() {
    let folder = KeyFolder::new();
    let key = folder.timed(&["--zsk"], &[]);
    let file = |ending: &str| folder.path(&format!("keys/{key}.{ending}"));
    let read = |ending: &str| fs::read_to_string(file(ending)).unwrap();
    fs::write(file("private"), read("private") + "Predecessor: 7\n").unwrap();
    for (ending, mode) in [("private", 0o400), ("key", 0o664)] {
        fs::set_permissions(file(ending), fs::Permissions::from_mode(mode)).unwrap();
    }
    let said = json(&folder.settime(&key, &["--publish", "20300101000000", "--inactive", "20310101000000"]));
    assert_eq!((&said["phase"], &said["flags"]), (&"future".into(), &256.into()));
    assert_eq!(said["times"]["publish"], "20300101000000");
    for (ending, mode) in [("private", 0o400), ("key", 0o664)] {
        assert_eq!(fs::metadata(file(ending)).unwrap().permissions().mode() & 0o777, mode, "{ending}");
    }
    assert!(read("private").contains("PrivateKey: ") && read("private").contains("Predecessor: 7\n"));
    assert!(read("key").contains("; Inactive: 20310101000000 (Wed Jan  1 00:00:00 2031)\n"));
    // Without times nothing is written, and each name of the key will do.
    let before = (read("private"), read("key"));
    for ending in ["", ".key", ".private"] {
        let path = format!("{}/{key}{ending}", folder.keys());
        let said = oarlock(&["dnssec", "settime", &path]);
        let text = String::from_utf8(said.stdout).unwrap();
        assert!(
            text.contains("Publish:     20300101000000\n") && text.contains("Delete:      none\n"),
            "{text}"
        );
    }
    assert_eq!((read("private"), read("key")), before);
    // Contradictory times are told, and stay, as with dnssec-settime.
    let said = folder.settime(&key, &["--delete", "20290101000000"]);
    assert_eq!(code(&said), 0);
    for wrong in ["warning: Delete is before Publish", "warning: Delete is before Inactive"] {
        assert!(stderr(&said).contains(wrong), "{}", stderr(&said));
    }
}

#[test]
fn settime_rejects_what_it_cannot_keep() {
    let folder = KeyFolder::new();
    let key = folder.timed(&[], &[]);
    let refused = |arguments: &[&str]| {
        let done = folder.settime(&key, arguments);
        assert_eq!(code(&done), 2, "{}", stderr(&done));
        stderr(&done)
    };
    for (time, part) in
        [("21060207062816", "YYYYMMDDHHMMSS"), ("20291301000000", "none"), ("+1y", "s, m, h, d or w")]
    {
        let said = refused(&["--delete", time]);
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_file_with_broken_times_is_named_with_its_line() {
    let folder = KeyFolder::new();
    let key = folder.keygen(&[]);
    let path = folder.path(&format!("keys/{key}.private"));
    let good = fs::read_to_string(&path).unwrap();
    for (text, part) in [
        (good.replace("Activate: 20", "Activate: x20"), "line 6: Activate: the value is not a time"),
        (good.clone() + "Inactive: 21060207062816\n", "line 7: Inactive: the value is not a time"),
        (good.clone() + "Publish: 20300101000000\n", "line 7: Publish: given twice, first in line 5"),
    ] {
        fs::write(&path, text).unwrap();
        let said = folder.refused(&[]);
        assert!(said.contains(part) && said.contains(&format!("{key}.private")), "{said}");
        let said = folder.settime(&key, &[]);
        assert!(code(&said) == 2 && stderr(&said).contains(part), "{}", stderr(&said));
    }
    // A format that has no times is not changed into one that has.
    fs::write(&path, good.replace("v1.3", "v1.2")).unwrap();
    let said = folder.settime(&key, &["--inactive", "+1d"]);
    assert!(code(&said) == 2 && stderr(&said).contains("v1.3"), "{}", stderr(&said));
    // Its key is always active.
    assert_eq!(folder.signed(&["-z"]).unwrap().published.len(), 1);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    for said in [folder.refused(&[]), stderr(&folder.settime(&key, &[]))] {
        assert!(said.contains("others may read this private file"), "{said}");
    }
}

#[test]
fn a_directory_whose_files_contradict_each_other_is_rejected() {
    let folder = KeyFolder::new();
    let said = folder.refused(&[]);
    assert!(
        said.contains("no private key of example.com.") && said.contains("Kexample.com.+*.private"),
        "{said}"
    );
    let key = folder.keygen(&[]);
    let file = |name: &str| folder.path(&format!("keys/{name}"));
    let (public, private) = (file(&format!("{key}.key")), file(&format!("{key}.private")));
    // The public half alone is told, and is not a key to sign with.
    fs::rename(&private, file("away")).unwrap();
    let said = folder.refused(&[]);
    assert!(said.contains("no private key stands beside it"), "{said}");
    fs::rename(file("away"), &private).unwrap();
    fs::rename(&public, file("away")).unwrap();
    let said = folder.refused(&[]);
    assert!(said.contains("its DNSKEY, which states its flags, is missing"), "{said}");
    fs::rename(file("away"), &public).unwrap();
    // Two private halves, of which either may be the older one.
    fs::copy(&private, file(&format!("{key}.pem"))).unwrap();
    let said = folder.refused(&[]);
    assert!(said.contains("the private key has a second file"), "{said}");
    fs::remove_file(file(&format!("{key}.pem"))).unwrap();
    // Another key under the tag of this one.
    let other = folder.keygen(&[]);
    for ending in ["key", "private"] {
        fs::rename(file(&format!("{other}.{ending}")), file(&format!("{key}.{ending}"))).unwrap();
    }
    let tag: u16 = other[other.len() - 5..].parse().unwrap();
    let said = folder.refused(&[]);
    assert!(said.contains(&format!("algorithm 13 and tag {tag:05}")), "{said}");
    let missing = folder.text_path("missing");
    let zone = folder.text_path("zone");
    let said = oarlock(&["dnssec", "sign", &zone, "--keys", &missing]);
    assert!(code(&said) == 2 && stderr(&said).contains(&missing), "{}", stderr(&said));
}

#[test]
fn a_key_that_is_named_signs_only_while_it_is_active() {
    let folder = KeyFolder::new();
    let key = folder.timed(&[], &[]);
    let file = format!("{}/{key}.private", folder.keys());
    let (zone, out) = (folder.text_path("zone"), folder.text_path("signed"));
    let sign = |more: &[&str]| {
        let done = oarlock(&[&["dnssec", "sign", &zone, "--out", &out, "--key", &file], more].concat());
        (code(&done), stderr(&done))
    };
    // A key that states only when it was made is used by its name.
    assert_eq!(sign(&[]).0, 0);
    for (times, event) in [
        (
            &["--publish", "20250101000000", "--activate", "20300101000000"][..],
            "before Activate 20300101000000",
        ),
        (&["--activate", "20250101000000", "--inactive", "20250601000000"], "since Inactive 20250601000000"),
        (&["--inactive", "none", "--delete", "20250701000000"], "since Delete 20250701000000"),
        (&["--delete", "none", "--revoke", "20250801000000"], "since Revoke 20250801000000"),
        (&["--revoke", "none", "--activate", "none"], "no time of Activate"),
    ] {
        folder.set(&key, times);
        let (exit, said) = sign(&["--now", "20260101000000"]);
        assert_eq!(exit, 2, "{said}");
        assert!(
            said.contains(event) && said.contains(&file) && said.contains("--ignore-key-times"),
            "{said}"
        );
        assert_eq!(sign(&["--now", "20260101000000", "--ignore-key-times"]).0, 0);
    }
    folder.set(&key, &["--activate", "20250101000000"]);
    assert_eq!(sign(&["--now", "20260101000000"]).0, 0);
    // The same key twice, by name and in the directory.
    let said = folder.refused(&["--key", &file]);
    assert!(said.contains("given twice"), "{said}");
}

#[test]
fn a_successor_is_that_of_dnssec_keygen() {
    let folder = KeyFolder::new();
    for (more, bits) in [(&["--ksk"][..], 512), (&["--zsk", "--algorithm", "8", "--bits", "1024"], 1024)] {
        let old = folder.timed(more, &["--activate", "-9d", "--inactive", "+40d", "--delete", "+50d"]);
        let path = format!("{}/{old}", folder.keys());
        let ours =
            json(&oarlock(&["--json", "dnssec", "keygen", "--successor", &path, "--prepublish", "7d"]));
        let Some(theirs) = folder.peer("dnssec-keygen", &["-q", "-S", &old, "-i", "7d"]) else { return };
        assert_eq!(code(&theirs), 0, "{}", stderr(&theirs));
        let theirs = String::from_utf8(theirs.stdout).unwrap().trim().to_owned();
        let theirs = json(&folder.settime(&theirs, &[]));
        for field in ["algorithm", "flags", "zone"] {
            assert_eq!(ours[field], theirs[field]);
        }
        for field in ["publish", "activate", "inactive", "delete", "revoke"] {
            assert_eq!(ours["times"][field], theirs["times"][field], "{field}");
        }
        let len = ours["dnskey"].as_str().unwrap().split(' ').next_back().unwrap().len();
        assert!((bits / 6..bits / 6 + 12).contains(&len), "{len}");
    }
}

#[test]
fn a_successor_needs_a_predecessor_that_ends() {
    let folder = KeyFolder::new();
    let old = folder.keygen(&[]);
    let path = format!("{}/{old}", folder.keys());
    let refused = |more: &[&str]| {
        let done = oarlock(&[&["dnssec", "keygen", "--successor", &path], more].concat());
        assert_eq!(code(&done), 2, "{}", stderr(&done));
        stderr(&done)
    };
    assert!(refused(&[]).contains("no time of Inactive"));
    folder.set(&old, &["--inactive", "+20d"]);
    assert!(refused(&[]).contains("sooner than a successor can be published"));
    for more in [
        &["--algorithm", "8"][..],
        &["--ksk"],
        &["--publish", "now"],
        &["--activate", "now"],
        &["example.com"],
    ] {
        assert!(refused(more).contains("cannot be used with"), "{more:?}");
    }
    let made = oarlock(&["dnssec", "keygen", "--successor", &path, "--prepublish", "19d"]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    assert!(stderr(&made).contains("warning: the key has no time of Delete"), "{}", stderr(&made));
    assert_eq!(code(&oarlock(&["dnssec", "keygen"])), 2);
}

#[test]
fn keys_in_other_formats_have_their_times_beside_the_dnskey() {
    let folder = KeyFolder::new();
    let zsk = folder.keygen(&["--zsk"]);
    let active = folder.keygen(&["--ksk", "--format", "pem"]);
    let old = folder.keygen(&["--ksk", "--format", "pem"]);
    assert_eq!(folder.signed(&[]).unwrap().sign_keys.len(), 2);
    let said = json(&folder.settime(&old, &["--inactive", "-1h"]));
    assert!(said["file"].as_str().unwrap().ends_with(".key") && said["phase"] == "inactive", "{said}");
    let tag = |key: &str| key[key.len() - 5..].trim_start_matches('0').to_owned();
    let uses = folder.signed(&[]).unwrap();
    assert_eq!(uses.published.len(), 3);
    assert_eq!((uses.sign_keys, uses.sign_soa), ([tag(&active)].into(), [tag(&zsk)].into()));
    // The file of a policy's states is not read, which is said.
    fs::write(folder.path(&format!("keys/{zsk}.state")), "GoalState: hidden\n").unwrap();
    let done = folder.sign(&[]);
    assert!(code(&done) == 0 && stderr(&done).contains("states of a dnssec-policy"), "{}", stderr(&done));
}

#[test]
fn signatures_of_an_inactive_key_go_as_with_dnssec_signzone_q_and_r() {
    let folder = KeyFolder::new();
    folder.keygen(&[&ACTIVE[..], &["--ksk"]].concat());
    let old = folder.keygen(&[&ACTIVE[..], &["--zsk"]].concat());
    let new = folder.keygen(&["--zsk", "--publish", "-1d", "--activate", "+1d"]);
    let first = folder.signed(&[]).unwrap();
    assert_eq!((first.published.len(), first.sign_soa.len()), (3, 1));
    fs::copy(folder.path("signed"), folder.path("previous")).unwrap();
    folder.set(&old, &["--inactive", "-1h"]);
    folder.set(&new, &["--activate", "-1h"]);
    let done = folder.sign(&["--previous", &folder.text_path("previous")]);
    assert_eq!(code(&done), 0, "{}", stderr(&done));
    let ours = folder.uses("signed");
    fs::copy(folder.path("previous"), folder.path("zone")).unwrap();
    let Some(theirs) = folder.signed_by_bind(&["-x", "-Q", "-R"]) else { return };
    assert_eq!(Some(&ours), theirs.as_ref());
    assert!(first.sign_soa.is_disjoint(&ours.sign_soa) && ours.published == first.published);
}

#[test]
fn ed448_is_declined_with_the_reason() {
    let folder = KeyFolder::new();
    let reason = "neither the lanes nor AWS-LC have Ed448";
    let said =
        oarlock(&["dnssec", "keygen", "example.com", "--algorithm", "ED448", "--out-dir", &folder.keys()]);
    assert!(code(&said) == 2 && stderr(&said).contains(reason), "{}", stderr(&said));
    let Some(made) = folder.peer("dnssec-keygen", &["-q", "-a", "ED448", "example.com"]) else { return };
    let key = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    assert!(folder.refused(&[]).contains(reason));
    let (zone, file) = (folder.text_path("zone"), format!("{}/{key}", folder.keys()));
    let said = oarlock(&["dnssec", "sign", &zone, "--key", &file]);
    assert!(code(&said) == 2 && stderr(&said).contains(reason), "{}", stderr(&said));
}

/// Private keys of Ed25519 whose DNSKEYs with flags 257 have one tag, in a format without times.
const ONE_TAG: [&str; 2] =
    ["AI8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "ASkAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="];
const TAG: &str = "56031";

/// dnssec-signzone takes two such keys for one, and signs with either. ldns-verify-zone rejects their zone.
#[test]
fn two_keys_of_one_tag_are_refused_with_their_files() {
    let folder = KeyFolder::new();
    let private = |key| format!("Private-key-format: v1.2\nAlgorithm: 15 (ED25519)\nPrivateKey: {key}\n");
    let [one, two] =
        [0, 1].map(|index| folder.write_private(&format!("{index}.private"), &private(ONE_TAG[index])));
    let (zone, out) = (folder.text_path("zone"), folder.text_path("signed"));
    let sign = |more: &[&str]| {
        let done = oarlock(&[&["dnssec", "sign", &zone, "--out", &out], more].concat());
        (code(&done), stderr(&done))
    };
    let has_one_tag = format!("two keys of ED25519 have tag {TAG}");
    for more in [["--csk", &one, "--csk", &two], ["--key", &two, "--key", &one]] {
        let (exit, said) = sign(&more);
        assert!(exit == 2 && said.contains(&has_one_tag), "{said}");
        assert!(said.contains(&one) && said.contains(&two), "{said}");
    }
    let (exit, said) = sign(&["--key", &one, "--csk", &one]);
    assert!(
        exit == 2 && said.contains(&format!("{one} and {one}: key {TAG} (ED25519) is given twice")),
        "{said}"
    );
    // The second one in the directory, as long as it is in the zone.
    let key = format!("Kexample.com.+015+{TAG}");
    let in_directory =
        folder.write_private(&format!("keys/{key}.private"), &private(ONE_TAG[1]).replace("v1.2", "v1.3"));
    let dnskey = text(&oarlock(&["dnssec", "ds", "--zone", "example.com", "--dnskey", &two]));
    fs::write(folder.path(&format!("keys/{key}.key")), dnskey).unwrap();
    let keys = folder.keys();
    for (times, is_in_use) in [
        (&["--publish", "-9d"][..], true),
        (&["--activate", "-9d"], true),
        (&["--inactive", "-1d"], true),
        (&["--delete", "-1h"], false),
    ] {
        folder.set(&key, times);
        let (exit, said) = sign(&["--keys", &keys, "--csk", &one]);
        assert_eq!((exit == 2, said.contains(&has_one_tag)), (is_in_use, is_in_use), "{times:?}: {said}");
        assert!(!is_in_use || said.contains(&one) && said.contains(&in_directory), "{said}");
    }
    assert_eq!(folder.uses("signed").published.len(), 1);
}

/// An Ed448 key of RFC 8080 section 6, and a key of an algorithm that nobody knows.
const UNUSABLE: [(&str, &str, &str); 2] = [
    (
        "Kexample.com.+016+09713",
        "257 3 16 3kgROaDjrh0H2iuixWBrc8g2EpBBLCdGzHmn+G2MpTPhpj/OiBVHHSfPodx1FYYUcJKm1MDpJtIA",
        "have Ed448",
    ),
    ("Kexample.com.+099+02153", "256 3 99 AQIDBA==", "99 is not supported"),
];

#[test]
fn keys_that_cannot_be_used_are_skipped_while_they_are_not_needed() {
    let folder = KeyFolder::new();
    let good = folder.keygen(&ACTIVE);
    for (key, dnskey, reason) in UNUSABLE {
        let private = format!("keys/{key}.private");
        folder.write_private(&private, "Private-key-format: v1.3\nAlgorithm: 16 (ED448)\nPrivateKey: AAAA\n");
        let record = format!("example.com. 3600 IN DNSKEY {dnskey}\n");
        fs::write(folder.path(&format!("keys/{key}.key")), &record).unwrap();
        // The zone still has the record, which goes with a key whose time is not now.
        fs::write(folder.path("zone"), format!("{ZONE}{record}")).unwrap();
        for (times, phase) in [
            (&["--publish", "+1d", "--activate", "+1d"][..], Some("future")),
            (&["--publish", "-3d"], None),
            (&["--activate", "-2d"], None),
            (&["--inactive", "-1d"], None),
            (&["--delete", "-1h"], Some("removed")),
        ] {
            folder.set(key, times);
            let Some(phase) = phase else {
                let said = folder.refused(&[]);
                assert!(said.contains(&private) && !said.contains("skipped"), "{times:?}: {said}");
                continue;
            };
            let done = folder.sign(&[]);
            assert_eq!(code(&done), 0, "{times:?}: {}", stderr(&done));
            let said = stderr(&done);
            assert!(said.contains(&format!("{private}: skipped, because the key is {phase}: ")), "{said}");
            assert!(said.contains(reason), "{said}");
            let tag = good[good.len() - 5..].parse().unwrap();
            assert_eq!(folder.uses("signed").published, [(257, tag)].into(), "{times:?}");
        }
        folder.remove(key);
    }
}

#[test]
fn a_clock_before_2024_decides_nothing() {
    let folder = KeyFolder::new();
    let key = folder.keygen(&ACTIVE);
    let without_times = folder.write_private(
        "0.private",
        &format!("Private-key-format: v1.2\nAlgorithm: 15 (ED25519)\nPrivateKey: {}\n", ONE_TAG[0]),
    );
    let (zone, out, keys) = (folder.text_path("zone"), folder.text_path("signed"), folder.keys());
    let file = format!("{keys}/{key}");
    let run = |arguments: &[&str]| {
        let mut program = command(&[&["dnssec"], arguments].concat());
        let done = set_clock(&mut program, "@2020-01-01 00:00:00").then(|| program.output().unwrap())?;
        Some((code(&done), stderr(&done)))
    };
    for arguments in [
        &["sign", &zone, "--out", &out, "--keys", &keys][..],
        &["sign", &zone, "--out", &out, "--keys", &keys, "--now", "+3000d"],
        &["sign", &zone, "--out", &out, "--key", &file],
        &["ksr", "request", "example.com", "--keys", &keys, "--until", "+9d", "--out", &out],
        &["settime", &file, "--inactive", "+9d"],
    ] {
        let Some((exit, said)) = run(arguments) else { return };
        let shown = "the clock shows 20200101";
        assert!(exit == 2 && said.contains(shown) && said.contains("before 2024"), "{arguments:?}: {said}");
        assert!(!folder.path("signed").exists());
    }
    for arguments in [
        &["sign", &zone, "--out", &out, "--keys", &keys, "--now", "20300101000000"][..],
        &["sign", &zone, "--out", &out, "--key", &file, "--ignore-key-times"],
        &["sign", &zone, "--out", &out, "--key", &without_times],
    ] {
        let (exit, said) = run(arguments).unwrap();
        assert_eq!(exit, 0, "{arguments:?}: {said}");
    }
}
