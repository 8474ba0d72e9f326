//! `oarlock dnssec sign` as operators run it, checked by the verifiers of others.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::hsm::Tokens;
use crate::program::{code, oarlock, stderr};
use crate::served::Served;
use serde_json::Value;
use tempfile::TempDir;

const ZONE: &str = r#"$ORIGIN example.com.
$TTL 3600
@ SOA ns1 hostmaster 2024010100 7200 3600 1209600 900
@ NS ns1
@ NS ns2.example.net.
@ MX 10 mail
@ TXT "v=spf1 -all" "semi;colon \"quoted\""
@ CAA 0 issue "ca.example.net"
ns1 A 192.0.2.1
ns1 AAAA 2001:db8::1
mail A 192.0.2.2
www CNAME mail
*.wild TXT "anything"
deep.er.empty A 192.0.2.3
_sip._tcp SRV 0 5 5060 mail
old DNAME new
un\.usual TXT "dots"
generic TYPE65280 \# 4 c0a80001
secure NS ns.secure
secure DS 12345 13 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
ns.secure A 192.0.2.10
insecure NS ns.insecure
insecure NS ns.elsewhere.net.
ns.insecure AAAA 2001:db8::10
cut.between NS ns.elsewhere.net.
"#;

const DENIALS: [&[&str]; 3] =
    [&[], &["--nsec3", "--salt", "aabb", "--iterations", "1"], &["--nsec3", "--opt-out"]];

/// A directory with a zone.
struct SigningFolder(TempDir);

impl SigningFolder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.path("zone"), ZONE).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Makes a key and returns the path of its file.
    fn key(&self, algorithm: &str, more: &[&str]) -> String {
        let folder = self.0.path().to_str().unwrap();
        let made = oarlock(
            &[
                &["--json", "dnssec", "keygen", "example.com", "--out-dir", folder, "--algorithm", algorithm],
                more,
            ]
            .concat(),
        );
        assert_eq!(code(&made), 0, "{}", stderr(&made));
        let made: Value = serde_json::from_slice(&made.stdout).unwrap();
        made["private_file"].as_str().unwrap().to_owned()
    }

    /// Signs `zone` into `out`, and returns the output of the command.
    fn sign(&self, zone: &str, out: &str, arguments: &[&str]) -> Output {
        let (zone, out) = (self.path(zone), self.path(out));
        let fixed = ["--json", "dnssec", "sign", zone.to_str().unwrap(), "--out", out.to_str().unwrap()];
        oarlock(&[&fixed, arguments].concat())
    }

    fn signed(&self, zone: &str, out: &str, arguments: &[&str]) -> Value {
        let done = self.sign(zone, out, arguments);
        assert_eq!(code(&done), 0, "{}", stderr(&done));
        serde_json::from_slice(&done.stdout).unwrap()
    }

    fn refused(&self, text: &str, arguments: &[&str]) -> String {
        fs::write(self.path("bad"), text).unwrap();
        let done = self.sign("bad", "never", arguments);
        assert_eq!((code(&done), self.path("never").exists()), (2, false), "{}", stderr(&done));
        stderr(&done)
    }
}

/// The features of a signed zone that other verifiers must be told, or do not support.
#[derive(Clone, Copy, Default)]
struct ZoneFeatures {
    digest: bool,
    /// One key signs everything.
    csk: bool,
    hashes: bool,
    algorithms: bool,
}

/// Asserts that our verifier accepts a file, and the verifiers of others that are installed.
fn assert_good(path: &Path, has: ZoneFeatures) {
    let ours = oarlock(&["dnssec", "verify", path.to_str().unwrap()]);
    assert_eq!(code(&ours), 0, "{}{}", String::from_utf8_lossy(&ours.stdout), stderr(&ours));
    let bind: &[&str] =
        if has.csk { &["-z", "-q", "-o", "example.com"] } else { &["-q", "-o", "example.com"] };
    let ldns: &[&str] = if has.digest { &["-Z"] } else { &[] };
    let knot: &[&str] = &["-o", "example.com", "-d", "on"];
    for (program, arguments) in [("dnssec-verify", bind), ("ldns-verify-zone", ldns), ("kzonecheck", knot)] {
        // ldns 1.8.3 never ends on a zone that has both a digest and certain NSEC3 chains.
        if program == "ldns-verify-zone" && has.digest && has.hashes {
            continue;
        }
        match Command::new(program).args(arguments).arg(path).output() {
            // kzonecheck 3.2.6 refuses SRV records with two algorithms, also those that dnssec-signzone has signed.
            Ok(_) if has.algorithms && program == "kzonecheck" => {}
            Ok(said) => {
                let text = String::from_utf8_lossy(&said.stdout).into_owned() + &stderr(&said);
                assert!(said.status.success(), "{program}: {text}");
            }
            Err(_) => println!("SKIPPED: {program} is not installed"),
        }
    }
}

#[test]
fn other_verifiers_accept_every_algorithm_and_chain() {
    let folder = SigningFolder::new();
    for algorithm in ["8", "10", "13", "14", "15"] {
        let (ksk, zsk) = (folder.key(algorithm, &["--ksk"]), folder.key(algorithm, &["--zsk"]));
        for denial in DENIALS {
            for digest in [&[][..], &["--zonemd", "sha384,sha512"]] {
                let keys = ["--ksk", &ksk, "--zsk", &zsk];
                folder.signed("zone", "signed", &[&keys, denial, digest].concat());
                let has = ZoneFeatures {
                    digest: !digest.is_empty(),
                    hashes: !denial.is_empty(),
                    ..ZoneFeatures::default()
                };
                assert_good(&folder.path("signed"), has);
            }
        }
    }
}

#[test]
fn one_key_or_several_algorithms_sign_everything() {
    let folder = SigningFolder::new();
    let (one, other) = (folder.key("13", &["--csk"]), folder.key("15", &["--csk"]));
    let pem = folder.key("8", &["--csk", "--format", "pem"]);
    for keys in [&["--key", one.as_str()][..], &["--csk", &one, "--key", &other], &["--key", &pem]] {
        let done = folder.signed("zone", "signed", keys);
        assert_eq!(done["keys"].as_array().unwrap().len(), keys.len() / 2);
        let has = ZoneFeatures { csk: true, algorithms: keys.len() > 2, ..ZoneFeatures::default() };
        assert_good(&folder.path("signed"), has);
    }
}

#[test]
fn unchanged_sets_keep_their_signatures() {
    let folder = SigningFolder::new();
    let key = folder.key("13", &["--csk"]);
    let first = folder.signed("zone", "first", &["--key", &key, "--zonemd", "sha384"]);
    assert_eq!((&first["reused"], &first["made"]), (&0.into(), &first["signatures"]));
    let previous = folder.path("first");
    let again = |zone: &str, more: &[&str]| {
        let options = ["--key", &key, "--zonemd", "sha384", "--previous", previous.to_str().unwrap()];
        let done = folder.signed(zone, "again", &[&options, more].concat());
        assert_good(
            &folder.path("again"),
            ZoneFeatures { digest: true, csk: true, ..ZoneFeatures::default() },
        );
        done["made"].as_u64().unwrap()
    };
    assert_eq!(again("zone", &[]), 0);
    assert_eq!(folder.text("again"), folder.text("first"));
    // A signed zone can be signed again.
    assert_eq!(again("first", &[]), 0);
    fs::write(folder.path("changed"), ZONE.replace("192.0.2.2", "192.0.2.22")).unwrap();
    // The changed set and the digest get new signatures; with a new serial number the SOA does too.
    assert_eq!(again("changed", &[]), 2);
    assert_eq!(again("changed", &["--serial", "increment"]), 3);
    assert!(folder.text("again").contains(" 2024010101 "));
    assert_eq!(Some(again("zone", &["--refresh", "60d"])), first["signatures"].as_u64());
}

#[test]
fn deterministic_signing_repeats_its_output() {
    let folder = SigningFolder::new();
    for algorithm in ["8", "13", "15"] {
        let key = folder.key(algorithm, &["--csk"]);
        let options = ["--key", &key, "--jitter", "3d", "--now", "20240101000000", "--zonemd", "sha384"];
        // The key is active from now on.
        let options = [&options[..], &["--deterministic", "--ignore-key-times"]].concat();
        folder.signed("zone", "one", &options);
        folder.signed("zone", "two", &[&options[..], &["--threads", "3"]].concat());
        folder.signed("zone", "three", &[&options[..], &["--engines", "scalar"]].concat());
        assert_eq!(folder.text("one"), folder.text("two"));
        assert_eq!(folder.text("one"), folder.text("three"));
    }
    let key = folder.key("13", &["--csk"]);
    let options = ["--key", &key, "--now", "20240101000000", "--ignore-key-times"];
    folder.signed("zone", "one", &options);
    folder.signed("zone", "two", &options);
    assert_ne!(folder.text("one"), folder.text("two"));
}

#[test]
fn the_zone_goes_to_standard_output_sorted() {
    let folder = SigningFolder::new();
    let key = folder.key("15", &["--csk"]);
    let zone = folder.path("zone");
    let done = oarlock(&["dnssec", "sign", zone.to_str().unwrap(), "--key", &key]);
    assert_eq!(code(&done), 0, "{}", stderr(&done));
    assert!(stderr(&done).contains("example.com. serial 2024010100: "), "{}", stderr(&done));
    let text = String::from_utf8(done.stdout).unwrap();
    let owners: Vec<&str> = text.lines().map(|line| line.split(' ').next().unwrap()).collect();
    let mut names = owners.clone();
    names.dedup();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(
        (names.len(), owners[0], owners[owners.len() - 1]),
        (count, "example.com.", "www.example.com.")
    );
    assert!(text.starts_with("example.com. 3600 IN SOA "));
    let json = oarlock(&["--json", "dnssec", "sign", zone.to_str().unwrap(), "--key", &key]);
    assert_eq!(code(&json), 2);
    assert!(json.stdout.is_empty() && stderr(&json).contains("expected --out"), "{}", stderr(&json));
}

#[test]
fn rejects_a_bad_zone_with_the_line() {
    let folder = SigningFolder::new();
    let key = folder.key("13", &["--csk"]);
    let options = ["--key", &key];
    for (text, said) in [
        (format!("{ZONE}bad A 192.0.2.256\n"), "bad:26: "),
        (format!("{ZONE}open TXT \"x\n"), "bad:26: "),
        (format!("{ZONE}mail CNAME www\n"), "line 26: mail.example.com. CNAME: a CNAME stands alone"),
        ("example.com. 60 NS ns.\n".into(), "no SOA record"),
        (String::new(), "no SOA record"),
    ] {
        let found = folder.refused(&text, &options);
        assert!(found.contains(said), "{found}");
    }
    let other_zone = ZONE.replace("example.com.", "example.org.");
    let found = folder.refused(&other_zone, &options);
    assert!(found.contains("has no DNSKEY of example.org."), "{found}");
    let absent = folder.path("absent").to_str().unwrap().to_owned();
    for (more, said) in [
        (&["--expiry", "-30m"][..], "expired already"),
        (&["--inception", "+31d"], "before they become valid"),
        (&["--jitter", "30d"], "a jitter of 2592000 s"),
        (&["--nsec3", "--iterations", "151"], "151"),
        (&["--salt", "aa"], "--nsec3"),
        (&["--nsec3", "--salt", "a"], "hexadecimal"),
        (&["--previous", &absent], &absent),
        (&["--key", &key], "given twice"),
        (&["--algorithm", "15"], "expected algorithm ED25519"),
    ] {
        let found = folder.refused(ZONE, &[&options[..], more].concat());
        assert!(found.contains(said), "{more:?}: {found}");
    }
    assert!(folder.refused(ZONE, &[]).contains("--key"));
    let found = folder.refused(ZONE, &["--key", &absent]);
    assert!(found.contains(&absent), "{found}");
}

/// The programs by which BIND, Knot DNS and NSD check a zone before they load it, with BIND's defaults of a primary
/// server.
const LOADERS: [(&str, &[&str]); 3] = [
    ("named-checkzone", &["-k", "fail", "-i", "local", "example.com"]),
    ("kzonecheck", &["-o", "example.com"]),
    ("nsd-checkzone", &["example.com"]),
];

/// Returns what the name servers that are installed say about a zone, and whether one of them refuses it.
fn said_by_loaders(path: &Path) -> (String, bool) {
    let (mut all, mut is_refused) = (String::new(), false);
    for (program, arguments) in LOADERS {
        let Ok(said) = Command::new(program).args(arguments).arg(path).output() else {
            println!("SKIPPED: {program} is not installed");
            continue;
        };
        is_refused |= !said.status.success();
        let is_silence = |line: &&str| {
            line.is_empty()
                || *line == "OK"
                || *line == "No semantic error found"
                || line.contains("loaded serial")
        };
        let text = String::from_utf8_lossy(&said.stdout).into_owned() + &stderr(&said);
        let words = text.lines().filter(|line| !is_silence(line) && !line.ends_with("(DNSSEC signed)"));
        words.for_each(|line| all += &format!("{program}: {line}\n"));
    }
    (all, is_refused)
}

/// Name servers load in silence what is signed without a warning, and what they refuse is not signed.
#[test]
fn a_signed_zone_loads_in_name_servers() {
    let folder = SigningFolder::new();
    let key = folder.key("13", &[]);
    let digest = "00".repeat(32);
    for (more, is_refused) in [
        ("", false),
        ("x AMTRELAY \\# 2 0004\n", false),
        ("gc._msdcs A 192.0.2.1\n", false),
        ("x SVCB 1 mail docpath tls-supported-groups=29\n", false),
        ("_x TXT a\n_y CNAME mail\np PTR a_b\n", false),
        ("@ CDS 0 0 0 00\n@ CDNSKEY 0 3 0 AA==\n", false),
        ("@ NS away\n", true),
        ("@ NS www\n", true),
        ("_a A 192.0.2.1\n", true),
        ("a_b MX 10 mail\n", true),
        ("@ MX 10 a_b.example.net.\n", true),
        ("x RP a.b_c. .\n", true),
        ("x MD mail\n", true),
        ("*.w NS ns1\n", true),
        ("x.old TXT a\n", true),
        ("old NS ns1\n", true),
        (&format!("@ CDS 1 8 2 {digest}\n"), true),
        ("x IPSECKEY 10 0 0 .\n", true),
    ] {
        fs::write(folder.path("more"), format!("{ZONE}{more}")).unwrap();
        let done = folder.sign("more", "signed", &["--key", &key]);
        assert_eq!(code(&done), if is_refused { 2 } else { 0 }, "{more}: {}", stderr(&done));
        if is_refused {
            assert!(stderr(&done).contains(": "), "{}", stderr(&done));
            folder.signed("more", "signed", &["--key", &key, "--load-rules", "warn"]);
            let (said, is_others_refusal) = said_by_loaders(&folder.path("signed"));
            let is_one_here = LOADERS.iter().any(|(program, _)| Command::new(program).output().is_ok());
            assert!(is_others_refusal || !is_one_here, "{more}: {said}");
        } else {
            assert!(!stderr(&done).contains("warning"), "{}", stderr(&done));
            let (said, _) = said_by_loaders(&folder.path("signed"));
            assert_eq!(said, "", "{more}");
        }
    }
}

#[test]
fn warns_about_dropped_and_changed_records() {
    let folder = SigningFolder::new();
    let key = folder.key("13", &["--csk"]);
    fs::write(folder.path("odd"), format!("{ZONE}other.org. A 192.0.2.1\nmail 60 A 192.0.2.3\n")).unwrap();
    let done = folder.sign("odd", "signed", &["--key", &key]);
    assert_eq!(code(&done), 0);
    let said = stderr(&done);
    assert!(said.contains("warning: line 26: other.org. A: out of zone: dropped"), "{said}");
    assert!(said.contains("mail.example.com. A: times to live differ"), "{said}");
    let done: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(done["changes"].as_array().unwrap().len(), 2);
    assert_good(&folder.path("signed"), ZoneFeatures { csk: true, ..ZoneFeatures::default() });
}

#[test]
fn a_failed_write_leaves_no_file() {
    let folder = SigningFolder::new();
    let key = folder.key("13", &["--csk"]);
    let done = folder.sign("zone", "nowhere/signed", &["--key", &key]);
    assert_eq!(code(&done), 2, "{}", stderr(&done));
    fs::write(folder.path("signed"), "before").unwrap();
    let bad = folder.sign("nothing", "signed", &["--key", &key]);
    assert_eq!((code(&bad), folder.text("signed")), (2, "before".into()));
}

#[test]
fn a_key_at_the_cryptoserver_signs() {
    let folder = SigningFolder::new();
    let server = Served::start(&folder.path("server"));
    let reference = |name: &str| {
        let key = server.state.join("keys").join(name);
        let shown = oarlock(&["keys", "show", key.to_str().unwrap(), "--reference"]);
        assert_eq!(code(&shown), 0, "{}", stderr(&shown));
        let path = folder.path(&format!("{name}.ref"));
        fs::write(&path, shown.stdout).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (state, here) = (server.state.to_str().unwrap(), folder.key("8", &["--ksk"]));
    for (name, more) in [("rsa2048.pem", &["--ksk", here.as_str()][..]), ("p256.pem", &[])] {
        let key = reference(name);
        let role = if more.is_empty() { "--csk" } else { "--zsk" };
        folder.signed("zone", "signed", &[&[role, &key, "--state", state], more].concat());
        assert_good(&folder.path("signed"), ZoneFeatures { csk: more.is_empty(), ..ZoneFeatures::default() });
    }
    let key = reference("p256.pem");
    drop(server);
    let state = folder.path("server");
    let done = folder.sign("zone", "never", &["--key", &key, "--state", state.to_str().unwrap()]);
    assert_eq!((code(&done), folder.path("never").exists()), (3, false), "{}", stderr(&done));
}

#[test]
fn keys_in_a_device_sign() {
    let Some(tokens) = Tokens::with(&["zones"]) else { return };
    tokens.import("rsa2048", "ksk", &["zones"]);
    tokens.import("rsa2048", "zsk", &["zones"]);
    tokens.import("p256", "csk", &["zones"]);
    let folder = SigningFolder::new();
    let (zone, out) = (folder.path("zone"), folder.path("signed"));
    let sign = |keys: &[&str]| {
        let start = ["dnssec", "sign", zone.to_str().unwrap(), "--out", out.to_str().unwrap()];
        tokens.run(&[&start, keys].concat())
    };
    let uri = |name: &str| tokens.uri("zones", name);
    let file = folder.path("zsk.uri");
    fs::write(&file, uri("zsk")).unwrap();
    for (keys, csk) in [
        (&["--csk", &uri("csk")][..], true),
        (&["--ksk", &uri("ksk"), "--zsk", file.to_str().unwrap()], false),
        (&["--ksk", &folder.key("8", &["--ksk"]), "--zsk", &uri("zsk")], false),
    ] {
        let done = sign(keys);
        assert_eq!(code(&done), 0, "{}", stderr(&done));
        assert_good(&out, ZoneFeatures { csk, ..ZoneFeatures::default() });
        fs::remove_file(&out).unwrap();
    }
    let absent = uri("absent");
    let no_module = "pkcs11:token=zones;object=csk";
    let pin = format!("{no_module}?pin-value=4711");
    let no_pin = uri("csk").replace("/pin", "/nowhere");
    for (key, exit, fault) in [
        (&*absent, 3, "no object of token \"zones\" is pkcs11:"),
        (no_module, 2, "module-path: expected in the URI of a device without settings"),
        (&pin, 2, "attribute `pin-value` is not supported"),
        (&no_pin, 3, "pin_file: "),
    ] {
        let done = sign(&["--csk", key]);
        assert_eq!((code(&done), out.exists()), (exit, false), "{}", stderr(&done));
        assert!(stderr(&done).contains(fault) && !stderr(&done).contains("4711"), "{}", stderr(&done));
    }
}

#[test]
fn rejects_a_signing_key_that_others_can_read() {
    let folder = SigningFolder::new();
    let key = folder.key("13", &[]);
    let (zone, out) = (folder.path("zone"), folder.path("signed"));
    let words = ["dnssec", "sign", zone.to_str().unwrap(), "--out", out.to_str().unwrap(), "--key", &key];
    assert_eq!(code(&oarlock(&words)), 0);
    let private = if key.ends_with(".private") { key.clone() } else { format!("{key}.private") };
    fs::set_permissions(&private, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let refused = oarlock(&words);
    assert_eq!(code(&refused), 2);
    assert!(
        stderr(&refused).contains("others may read this private file (mode 0644)"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn experimental_keys_sign_where_they_are_allowed() {
    let folder = SigningFolder::new();
    let directory = folder.0.path().to_str().unwrap();
    let keygen = ["dnssec", "keygen", "example.com", "--out-dir", directory, "--algorithm", "ML-DSA-44"];
    for (more, said) in [(&[][..], "expected --experimental"), (&["--experimental"], "expected --format pem")]
    {
        let refused = oarlock(&[&keygen, more].concat());
        assert!(code(&refused) == 2 && stderr(&refused).contains(said), "{}", stderr(&refused));
    }
    let key = folder.key("ML-DSA-44", &["--experimental", "--format", "pem"]);
    assert!(key.contains("Kexample.com.+254+"), "{key}");
    let refused = folder.sign("zone", "signed", &["--key", &key]);
    assert!(code(&refused) == 2 && stderr(&refused).contains("expected --experimental"));
    let done = folder.sign("zone", "signed", &["--key", &key, "--experimental"]);
    // 2420 bytes and the object identifier each.
    assert!(code(&done) == 0 && stderr(&done).contains("MB together"), "{}", stderr(&done));
    let path = folder.path("signed");
    let verify = |more: &[&str]| {
        oarlock(&[&["--json", "dnssec", "verify", path.to_str().unwrap()][..], more].concat())
    };
    assert_eq!(code(&verify(&["--experimental"])), 0);
    let unsigned: Value = serde_json::from_slice(&verify(&[]).stdout).unwrap();
    assert_eq!(unsigned["verifications"], 0, "{unsigned}");
}
