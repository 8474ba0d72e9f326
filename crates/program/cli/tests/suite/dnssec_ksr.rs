//! Key-signing keys that stay offline: `oarlock dnssec ksr` and `sign --skr`, beside dnssec-ksr of BIND 9.20.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::peers::has;
use crate::program::{code, oarlock, stderr};

const ZONE: &str = "\
$ORIGIN example.test.
$TTL 3600
@ SOA ns hostmaster 1 7200 3600 1209600 300
@ NS ns
@ CDS 4711 13 2 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
ns A 192.0.2.1
";
const ZONE_NAME: &str = "example.test";
/// Times of two zone-signing keys, of which the second follows the first.
const FIRST: [&str; 4] = ["20270101000000", "20270101000000", "20270201000000", "20270210000000"];
const SECOND: [&str; 4] = ["20270125000000", "20270201000000", "20270401000000", "20270410000000"];
const INTERVAL: [&str; 2] = ["20270101000000", "20270305000000"];

/// The directories of an online and of an offline machine.
struct Machines(TempDir);

impl Machines {
    /// Makes the keys of both machines, and a zone.
    fn new(algorithm: &str) -> Self {
        let machines = Self(tempfile::tempdir().unwrap());
        fs::write(machines.path("zone"), ZONE).unwrap();
        machines.key("offline", algorithm, "--ksk", ["20260101000000", "20260101000000", "none", "none"]);
        machines.key("online", algorithm, "--zsk", FIRST);
        machines.key("online", algorithm, "--zsk", SECOND);
        machines
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn key(&self, directory: &str, algorithm: &str, role: &str, times: [&str; 4]) -> String {
        let directory = self.name(directory);
        let [publish, activate, inactive, delete] = times;
        let made = oarlock(&[
            "--json",
            "dnssec",
            "keygen",
            ZONE_NAME,
            "--out-dir",
            &directory,
            "--algorithm",
            algorithm,
            role,
            "--publish",
            publish,
            "--activate",
            activate,
            "--inactive",
            inactive,
            "--delete",
            delete,
        ]);
        assert_eq!(code(&made), 0, "{}", stderr(&made));
        let made: Value = serde_json::from_slice(&made.stdout).unwrap();
        made["private_file"].as_str().unwrap().to_owned()
    }

    /// Runs `oarlock dnssec ARGUMENTS` in the directory of both machines.
    fn run(&self, arguments: &[&str]) -> Output {
        let all = [&["dnssec"], arguments].concat();
        crate::program::command(&all).current_dir(self.0.path()).output().unwrap()
    }

    fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
        stderr(&output)
    }

    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        stderr(&output)
    }

    /// Makes the request `ksr` and the response `skr`.
    fn respond(&self) {
        let [from, until] = INTERVAL;
        self.done(&[
            "ksr", "request", ZONE_NAME, "--keys", "online", "--from", from, "--until", until, "--out", "ksr",
        ]);
        self.done(&[
            "ksr", "sign", "ksr", "--zone", ZONE_NAME, "--keys", "offline", "--until", until, "--out", "skr",
        ]);
    }

    /// Signs the zone at a time with the keys of the online machine and a response.
    fn sign(&self, now: &str, response: &str) -> Output {
        self.run(&["sign", "zone", "--keys", "online", "--skr", response, "--now", now, "--out", "signed"])
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Asserts that verifiers accept the signed zone at a time, and returns its DNSKEY records and their signatures.
    fn assert_good(&self, now: &str) -> (usize, usize) {
        let said = self.run(&["verify", "--now", now, "signed"]);
        assert_eq!(code(&said), 0, "{}", String::from_utf8_lossy(&said.stdout));
        let seconds = oarlock_dnssec::rdata::parse_time(now.as_bytes()).unwrap().to_string();
        for (program, arguments) in [
            ("ldns-verify-zone", &["-t", now][..]),
            ("kzonecheck", &["-o", ZONE_NAME, "-d", "on", "-t", &seconds]),
        ] {
            if has(program) {
                let said = Command::new(program).args(arguments).arg(self.path("signed")).output().unwrap();
                let text = String::from_utf8_lossy(&said.stdout).into_owned() + &stderr(&said);
                assert!(said.status.success(), "{program}: {text}");
            }
        }
        let text = self.text("signed");
        let count = |part: &str| text.lines().filter(|line| line.contains(part)).count();
        (count(" IN DNSKEY "), count(" IN RRSIG DNSKEY "))
    }
}

/// Returns the lines of a file with one space between words, without the last line and the groups of base64.
fn plain(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let split = match words.get(3) {
            Some(&"RRSIG") => 12,
            Some(&"DNSKEY" | &"CDNSKEY" | &"CDS") => 7,
            _ => words.len(),
        };
        let data = words[split..].concat();
        let data = if words.get(3) == Some(&"CDS") { data.to_lowercase() } else { data };
        format!("{} {data}", words[..split].join(" "))
    };
    text.lines().filter(|line| !line.is_empty() && !line.contains("generated")).map(line).collect()
}

#[test]
fn a_zone_is_signed_with_the_keys_of_each_period() {
    let machines = Machines::new("ECDSAP256SHA256");
    machines.respond();
    assert!(
        machines
            .text("ksr")
            .starts_with(";; KeySigningRequest 1.0 20270101000000 (Fri Jan  1 00:00:00 2027)\n")
    );
    for (now, keys) in
        [("20270102000000", 2), ("20270126000000", 3), ("20270215000000", 2), ("20270310000000", 2)]
    {
        let done = machines.sign(now, "skr");
        let said = stderr(&done);
        assert_eq!(code(&done), 0, "{said}");
        assert!(said.contains("; 3 signatures of DNSKEY, CDNSKEY, CDS from the response; "), "{said}");
        assert!(said.contains("skr: bundle ") && said.contains("1 record of the type CDS"), "{said}");
        assert_eq!(machines.assert_good(now), (keys, 1));
    }
    let done = machines.run(&[
        "--json",
        "sign",
        "zone",
        "--keys",
        "online",
        "--skr",
        "skr",
        "--now",
        "20270102000000",
        "--out",
        "signed",
        "--zonemd",
        "sha384",
        "--nsec3",
        "--write-dsset",
        ".",
    ]);
    assert_eq!(code(&done), 0, "{}", stderr(&done));
    machines.assert_good("20270102000000");
    let summary: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(summary["response"]["bundle"], 1);
    assert_eq!(summary["response"]["expires"], "20270115000000");
    // Those that were made elsewhere are named, and not counted as made here.
    let elsewhere = summary["response"]["signatures"].as_array().unwrap();
    let types: Vec<&str> = elsewhere.iter().map(|signature| signature["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["DNSKEY", "CDNSKEY", "CDS"]);
    let here = |signature: &Value| signature["key_tag"] == summary["keys"][0]["key_tag"];
    assert!(!elsewhere.iter().any(here) && elsewhere[0]["algorithm"] == 13, "{summary}");
    let in_zone = machines.text("signed").matches(" IN RRSIG ").count() as u64;
    assert_eq!(summary["signatures"].as_u64().unwrap() + 3, in_zone);
    // The file for the parent names the key that is offline.
    assert_eq!(machines.text("dsset-example.test.").lines().count(), 1);
}

#[test]
fn refuses_a_response_that_does_not_serve_the_time_and_the_keys() {
    let machines = Machines::new("ED25519");
    machines.respond();
    let refused = |now: &str, response: &str| {
        let output = machines.sign(now, response);
        assert_eq!((code(&output), machines.path("signed").exists()), (2, false), "{}", stderr(&output));
        stderr(&output)
    };
    // The first key signs until February, and the second one is not in the first bundle.
    machines.key("early", "ED25519", "--zsk", ["20260101000000", "20260101000000", "none", "none"]);
    let said =
        machines.refused(&["sign", "zone", "--keys", "early", "--skr", "skr", "--now", "20270102000000"]);
    assert!(said.contains("is not among the keys that were signed elsewhere"), "{said}");
    let said = refused("20270330000000", "skr");
    assert!(
        said.contains("no bundle covers 20270330000000: the last signatures ended at 20270319000000"),
        "{said}"
    );
    let said =
        machines.refused(&["sign", "zone", "--keys", "early", "--skr", "skr", "--now", "20261231000000"]);
    assert!(said.contains("the first begins at 20270101000000"), "{said}");
    let text = machines.text("skr");
    let offset = text.find("RRSIG DNSKEY").unwrap();
    let offset = offset + text[offset..].find("example.test. ").unwrap() + 24;
    let mut changed = text.clone();
    let letter = if &text[offset..=offset] == "A" { "B" } else { "A" };
    changed.replace_range(offset..=offset, letter);
    fs::write(machines.path("changed"), changed).unwrap();
    let said = refused("20270102000000", "changed");
    assert!(said.contains("changed, line 1: the signature of the DNSKEY records by key"), "{said}");
    fs::write(machines.path("cut"), &text[..text.len() / 2]).unwrap();
    assert!(refused("20270102000000", "cut").contains("cut, line "));
    fs::write(machines.path("other"), text.replace("example.test.", "example.org.")).unwrap();
    assert!(refused("20270102000000", "other").contains("a record of example.org."));
    assert!(refused("20270102000000", "ksr").contains("expected `;; SignedKeyResponse 1.0`"));
    assert!(refused("20270102000000", "missing").contains("missing"));
    let said =
        machines.refused(&["sign", "zone", "--keys", "offline", "--skr", "skr", "--now", "20270102000000"]);
    assert!(said.contains("expected zone-signing keys (flags 256) only"), "{said}");
}

#[test]
fn requests_and_responses_have_limits_and_typed_faults() {
    let machines = Machines::new("ED25519");
    machines.respond();
    let request = |from: &str, until: &str| {
        machines.refused(&[
            "ksr", "request", ZONE_NAME, "--keys", "online", "--from", from, "--until", until, "--out",
            "never",
        ])
    };
    assert!(request("20270301000000", "20270201000000").contains("not after its start"));
    assert!(
        request("20280101000000", "20280201000000")
            .contains("no zone-signing key is published at 20280101000000")
    );
    let sign = |file: &str, more: &[&str]| {
        let fixed = ["ksr", "sign", file, "--zone", ZONE_NAME, "--until", INTERVAL[1], "--out", "never"];
        machines.refused(&[&fixed, more].concat())
    };
    let keys = ["--keys", "offline"];
    assert!(sign("skr", &keys).contains("skr, line 1: found `;; SignedKeyResponse"));
    fs::write(machines.path("empty"), "").unwrap();
    assert!(sign("empty", &keys).contains("empty, line 1: the file has no bundle"));
    fs::write(machines.path("garbage"), [0xff; 999]).unwrap();
    assert!(sign("garbage", &keys).contains("garbage, line 1: text before the first bundle"));
    let with_ksk = machines.text("ksr").replacen(" DNSKEY 256 ", " DNSKEY 257 ", 1);
    fs::write(machines.path("with-ksk"), with_ksk).unwrap();
    assert!(sign("with-ksk", &keys).contains("with-ksk, line 2: key "));
    assert!(sign("ksr", &["--keys", "offline", "--refresh", "14d"]).contains("expected a shorter time"));
    let p256 = machines.key(
        "p256",
        "ECDSAP256SHA256",
        "--ksk",
        ["20260101000000", "20260101000000", "none", "none"],
    );
    assert!(sign("ksr", &["--ksk", &p256]).contains("and no key-signing key has it"));
    assert!(!machines.path("never").exists());
}

/// A key that cannot be used here has no part in the response, so its time decides.
#[test]
fn a_key_of_another_algorithm_is_skipped_while_it_is_not_published() {
    let machines = Machines::new("ED25519");
    let key = "offline/Kexample.test.+016+09713";
    let private = format!("{key}.private");
    let dnskey = "3kgROaDjrh0H2iuixWBrc8g2EpBBLCdGzHmn+G2MpTPhpj/OiBVHHSfPodx1FYYUcJKm1MDpJtIA";
    fs::write(machines.path(&format!("{key}.key")), format!("example.test. IN DNSKEY 257 3 16 {dnskey}\n"))
        .unwrap();
    fs::write(machines.path(&private), "Private-key-format: v1.3\nAlgorithm: 16 (ED448)\nPrivateKey: AAAA\n")
        .unwrap();
    fs::set_permissions(machines.path(&private), fs::Permissions::from_mode(0o600)).unwrap();
    machines.done(&["settime", key, "--publish", "20250101000000", "--delete", "20261231000000"]);
    machines.respond();
    let sign = ["ksr", "sign", "ksr", "--zone", ZONE_NAME, "--keys", "offline", "--until", INTERVAL[1]];
    let sign = [&sign[..], &["--out", "again"]].concat();
    let said = machines.done(&sign);
    assert!(said.contains(&format!("{private}: skipped, because the key is not in the zone")), "{said}");
    machines.done(&["settime", key, "--publish", "20270201000000", "--delete", "20270202000000"]);
    assert!(machines.refused(&sign).contains("have Ed448"));
}

/// Signatures of Ed25519 depend on nothing but key and message, so both programs make the same files.
#[test]
fn makes_the_files_of_dnssec_ksr_and_reads_them() {
    if !has("dnssec-ksr") {
        return;
    }
    let machines = Machines::new("ED25519");
    // dnssec-ksr takes zone-signing keys only if they have files of states, as its own have.
    fs::remove_dir_all(machines.path("online")).unwrap();
    fs::create_dir(machines.path("online")).unwrap();
    fs::write(
        machines.path("policy"),
        "dnssec-policy \"p\" { keys { ksk lifetime unlimited algorithm ed25519; zsk lifetime P30D algorithm ed25519; }; };\n",
    )
    .unwrap();
    let ksr = |arguments: &[&str], out: &str| {
        let made = Command::new("dnssec-ksr")
            .args(["-k", "p", "-l", "policy", "-i", INTERVAL[0], "-e", INTERVAL[1]])
            .args(arguments)
            .arg(ZONE_NAME)
            .current_dir(machines.0.path())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", stderr(&made));
        fs::write(machines.path(out), made.stdout).unwrap();
    };
    ksr(&["-K", "online", "keygen"], "their-names");
    machines.respond();
    ksr(&["-K", "online", "request"], "their-ksr");
    assert_eq!(plain(&machines.text("their-ksr")), plain(&machines.text("ksr")));
    // Each program signs the request of the other.
    ksr(&["-K", "offline", "-f", "ksr", "sign"], "their-skr");
    machines.done(&[
        "ksr",
        "sign",
        "their-ksr",
        "--zone",
        ZONE_NAME,
        "--keys",
        "offline",
        "--until",
        INTERVAL[1],
        "--out",
        "our-skr",
    ]);
    assert_eq!(plain(&machines.text("their-skr")), plain(&machines.text("our-skr")));
    assert_eq!(code(&machines.sign("20270131120000", "their-skr")), 0);
    assert_eq!(machines.assert_good("20270131120000"), (3, 1));
}
