//! `oarlock dnssec verify` as operators run it, on zones that other programs have signed, unchanged and changed.

use std::fs::{self, File};

use crate::program::{code, command, oarlock, stderr};
use crate::zones::{EVERY_TYPE, ZONE, ZoneFailure, ZoneFolder, ZoneLines, failures};
use serde_json::Value;

const BIND_DENIALS: [&[&str]; 3] = [&[], &["-3", "aabb", "-H", "1"], &["-3", "-", "-A"]];
const LDNS_DENIALS: [&[&str]; 5] =
    [&[], &["-n"], &["-n", "-p"], &["-z", "1:1"], &["-n", "-p", "-t", "0", "-z", "1:2"]];
const KNOT_DENIALS: [(&str, &str); 3] = [
    ("nsec3: off", "none"),
    ("nsec3: on\n    nsec3-iterations: 1\n    nsec3-salt-length: 2", "zonemd-sha512"),
    ("nsec3: on\n    nsec3-opt-out: on\n    nsec3-iterations: 0", "zonemd-sha384"),
];

#[test]
fn accepts_zones_signed_by_bind() {
    for algorithm in ["8", "10", "13", "14", "15", "16"] {
        let folder = ZoneFolder::new();
        let Some(keys) = folder.bind_keys(algorithm) else { continue };
        for denial in BIND_DENIALS {
            if folder.sign_bind(&keys, "signed", denial).is_some() {
                folder.assert_good("signed");
                let anchor = folder.text_path("dsset-example.com.");
                let (code, answer) = folder.verify("signed", &["--anchor", &anchor]);
                assert_eq!(code, 0, "{algorithm}: {answer}");
            }
        }
    }
}

#[test]
fn accepts_a_zone_with_every_type_signed_by_bind() {
    let folder = ZoneFolder::new();
    folder.write("zone", format!("{ZONE}{EVERY_TYPE}"));
    let Some(keys) = folder.bind_keys("13") else { return };
    for denial in BIND_DENIALS {
        if folder.sign_bind(&keys, "signed", denial).is_some() {
            let answer = folder.assert_good("signed");
            assert_eq!(answer["unread_entries"], 0, "{answer}");
        }
    }
}

#[test]
fn other_verifiers_accept_our_zone_with_every_type() {
    let folder = ZoneFolder::new();
    let zone = format!("{ZONE}{EVERY_TYPE}");
    // ldns 1.8.3 misreads the data of these two types, and reports their signatures as bad.
    let is_ldns_wrong = |line: &&str| line.starts_with("nsap-ptr ") || line.starts_with("sink ");
    let without: Vec<&str> = zone.lines().filter(|line| !is_ldns_wrong(line)).collect();
    for (zone, with_ldns) in [(zone.clone(), false), (without.join("\n") + "\n", true)] {
        folder.write("zone", zone);
        // No name server loads MD and MF, which verifiers accept.
        for denial in [&["--load-rules", "warn"][..], &["--load-rules", "warn", "--nsec3"]] {
            folder.sign_here("signed", denial);
            folder.assert_good("signed");
            folder.assert_others_accept("signed", with_ldns);
        }
    }
}

#[test]
fn accepts_zones_signed_by_ldns_and_knot() {
    let folder = ZoneFolder::new();
    if let Some(keys) = folder.ldns_keys() {
        for denial in LDNS_DENIALS {
            if folder.sign_ldns(&keys, "signed", denial).is_some() {
                folder.assert_good("signed");
            }
        }
    }
    for algorithm in ["rsasha256", "ecdsap384sha384", "ed25519", "ed448"] {
        for (at, (denial, digest)) in KNOT_DENIALS.into_iter().enumerate() {
            let name = format!("{algorithm}{at}");
            if folder.sign_knot(&name, algorithm, denial, digest).is_some() {
                folder.assert_good(&name);
            }
        }
    }
}

/// A change of a signed zone, which returns the failures that must be found.
type Change = fn(&mut ZoneLines) -> Vec<ZoneFailure>;

/// The changes. Each of them removes one good signature.
const CHANGES: [(&str, Change); 7] = [
    ("an address", |zone| {
        zone.replace(zone.line("www", "A"), "192.0.2.2", "192.0.2.99");
        vec![zone.found("bad-signature", "www", "A", "RRSIG A")]
    }),
    ("a signature's end", |zone| {
        zone.break_end(zone.line("ns1", "RRSIG A"), 4);
        vec![zone.found("bad-signature", "ns1", "A", "RRSIG A")]
    }),
    ("a DS record's digest", |zone| {
        zone.break_end(zone.line("secure", "DS"), 1);
        vec![zone.found("bad-signature", "secure", "DS", "RRSIG DS")]
    }),
    ("no signature", |zone| {
        zone.drop(zone.line("*.wild", "RRSIG TXT"));
        vec![zone.found("missing", "*.wild", "TXT", "TXT")]
    }),
    ("no signature of the keys", |zone| {
        zone.drop(zone.line("", "RRSIG DNSKEY"));
        vec![zone.found("missing", "", "DNSKEY", "DNSKEY")]
    }),
    ("a record of the chain less", |zone| {
        let (line, chain) = (zone.denial("DNAME"), zone.chain());
        let mut found = vec![ZoneFailure::without_line("denial-missing", "old", chain)];
        // The name exists, but its hash does not.
        if chain == "NSEC3" {
            found.push(zone.found_at("gap", zone.denial_before(line), chain));
        }
        zone.drop(zone.signature_of_denial(line));
        zone.drop(line);
        found
    }),
    ("another owner", |zone| {
        let (line, chain) = (zone.denial("DNAME"), zone.chain());
        zone.replace(zone.line("old", "DNAME"), "old.", "olx.");
        let mut found = vec![
            zone.found("nothing-signed", "old", "DNAME", "RRSIG DNAME"),
            zone.found("missing", "olx", "DNAME", "DNAME"),
            ZoneFailure::without_line("denial-missing", "olx", chain),
            ZoneFailure { owner: "old.example.com.".into(), ..zone.found_at("types", line, chain) },
        ];
        if chain == "NSEC" {
            found.push(zone.found_at("gap", line, chain));
        }
        found
    }),
];

/// Signs with all programs, and returns the names of the files.
fn signed_by_others(folder: &ZoneFolder) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(keys) = folder.bind_keys("13") {
        for (at, denial) in BIND_DENIALS.into_iter().enumerate() {
            let name = format!("bind{at}");
            names.extend(folder.sign_bind(&keys, &name, denial).map(|()| name));
        }
    }
    if let Some(keys) = folder.ldns_keys() {
        for (at, denial) in LDNS_DENIALS.into_iter().enumerate().skip(2) {
            let name = format!("ldns{at}");
            names.extend(folder.sign_ldns(&keys, &name, denial).map(|()| name));
        }
    }
    for (at, (denial, digest)) in KNOT_DENIALS.into_iter().enumerate().skip(1) {
        let name = format!("knot{at}");
        names.extend(folder.sign_knot(&name, "ecdsap256sha256", denial, digest).map(|()| name));
    }
    names
}

#[test]
fn one_change_gives_one_finding_and_other_verifiers_reject_it_too() {
    let folder = ZoneFolder::new();
    let mut names = signed_by_others(&folder);
    folder.sign_here("here", &["--nsec3", "--zonemd", "sha384"]);
    names.push("here".into());
    for name in names {
        let good = folder.assert_good(&name)["good_signatures"].as_u64().unwrap();
        for (what, change) in CHANGES {
            let mut zone = ZoneLines::from_folder(&folder, &name);
            let mut expected = change(&mut zone);
            expected.extend(zone.has_digest().then(|| zone.found("zonemd", "", "ZONEMD", "ZONEMD")));
            expected.sort();
            folder.write("bad", zone.text());
            let (code, answer) = folder.verify("bad", &[]);
            assert_eq!(failures(&answer), expected, "{name}, {what}: {answer}");
            assert_eq!((code, &answer["verdict"]), (1, &"bad".into()), "{name}, {what}");
            // The DNSKEY set is unchanged, so the keys are known and verify the rest.
            assert_eq!(answer["good_signatures"].as_u64(), Some(good - 1), "{name}, {what}");
            folder.assert_others_refuse("bad", !(zone.has_digest() && zone.chain() == "NSEC3"));
        }
    }
}

#[test]
fn only_the_digest_protects_glue() {
    let folder = ZoneFolder::new();
    for (digest, expected) in [(&[][..], 0), (&["--zonemd", "sha512"], 1)] {
        folder.sign_here("signed", digest);
        let good = folder.assert_good("signed")["good_signatures"].clone();
        let mut zone = ZoneLines::from_folder(&folder, "signed");
        zone.replace(zone.line("ns.secure", "A"), "192.0.2.10", "192.0.2.11");
        folder.write("glue", zone.text());
        let (code, answer) = folder.verify("glue", &[]);
        let found: Vec<ZoneFailure> =
            (0..expected).map(|_| zone.found("zonemd", "", "ZONEMD", "ZONEMD")).collect();
        assert_eq!((code, failures(&answer), &answer["good_signatures"]), (expected, found, &good));
    }
}

/// Returns a report without the fields that depend on the speed.
fn gist(answer: &Value) -> Vec<Value> {
    ["verdict", "records", "names", "good_signatures", "failures", "findings"]
        .map(|field| answer[field].clone())
        .to_vec()
}

#[test]
fn reads_compressed_files_and_standard_input() {
    let folder = ZoneFolder::new();
    folder.sign_here("signed", &[]);
    let plain = gist(&folder.assert_good("signed"));
    let mut files = vec!["signed".to_owned()];
    for (program, ending) in [("gzip", "gz"), ("xz", "xz"), ("zstd", "zst")] {
        if folder.peer_does(program, &["-q", "-k", "signed"]).is_some() {
            files.push(format!("signed.{ending}"));
            assert_eq!(gist(&folder.verify(&files[files.len() - 1], &[]).1), plain, "{program}");
        }
    }
    for file in files {
        let input = File::open(folder.path(&file)).unwrap();
        let read = command(&["--json", "dnssec", "verify", "-"]).stdin(input).output().unwrap();
        assert_eq!(code(&read), 0, "{file}: {}", stderr(&read));
        assert_eq!(gist(&serde_json::from_slice(&read.stdout).unwrap()), plain, "{file}");
    }
}

/// Less than a kilobyte of compressed text could fill the memory of the machine.
#[test]
fn reports_a_compressed_file_with_too_much_text() {
    let folder = ZoneFolder::new();
    folder.sign_here("signed", &[]);
    folder.write("bomb", fs::read_to_string(folder.path("signed")).unwrap() + &"\n".repeat(9 << 20));
    for (program, ending) in [("gzip", "gz"), ("xz", "xz"), ("zstd", "zst")] {
        if folder.peer_does(program, &["-q", "-k", "bomb"]).is_none() {
            continue;
        }
        let name = format!("bomb.{ending}");
        let path = folder.text_path(&name);
        assert_eq!(folder.verify(&name, &["--max-text", "10M"]).0, 0, "{name}");
        // The text before the limit counts, as in a truncated file.
        let (code, answer) = folder.verify(&name, &["--max-text", "6M"]);
        let said = answer.to_string();
        assert!(code == 1 && said.contains("more than the 6291456 bytes that are allowed"), "{said}");
        assert!(said.contains("--max-text allows more"), "{said}");
        let refused = oarlock(&["dnssec", "verify", &path, "--max-text", "1"]);
        let said = stderr(&refused);
        assert!(
            crate::program::code(&refused) == 2 && said.contains("allowed; --max-text allows more"),
            "{said}"
        );
        let anchors =
            oarlock(&["dnssec", "verify", &folder.text_path("signed"), "--max-text", "9", "--anchor", &path]);
        assert!(
            crate::program::code(&anchors) == 2 && stderr(&anchors).contains("9 bytes"),
            "{}",
            stderr(&anchors)
        );
        // Included files are limited too.
        folder.write("outer", format!("$INCLUDE {name}\n"));
        let (_, answer) = folder.verify("outer", &["--syntax-only", "--max-text", "6M"]);
        assert!(answer.to_string().contains("more than the 6291456 bytes"), "{answer}");
        // Included files count together: 9 MiB fit into 10 MiB, and twice that do not.
        folder.write("outer", format!("$INCLUDE {name}\n$INCLUDE {name}\n"));
        let (code, answer) = folder.verify("outer", &["--syntax-only", "--max-text", "10M"]);
        let said = answer.to_string();
        assert!(code == 1 && said.contains("outer:2") || said.contains("\"line\":2"), "{said}");
        assert!(
            said.contains("more than the 10485760 bytes") && said.contains("--max-text allows more"),
            "{said}"
        );
        assert_eq!(folder.verify("outer", &["--syntax-only", "--max-text", "20M"]).0, 0, "{name}");
    }
}

#[test]
fn verifies_the_readable_part_of_a_truncated_file() {
    let folder = ZoneFolder::new();
    folder.sign_here("signed", &[]);
    let good = folder.assert_good("signed")["good_signatures"].as_u64().unwrap();
    if folder.peer_does("gzip", &["-k", "signed"]).is_none() {
        return;
    }
    let bytes = fs::read(folder.path("signed.gz")).unwrap();
    for sixteenths in 9..16 {
        folder.write("cut.gz", &bytes[..bytes.len() * sixteenths / 16]);
        let (code, answer) = folder.verify("cut.gz", &[]);
        let left = answer["good_signatures"].as_u64().unwrap();
        assert!(code == 1 && 0 < left && left < good, "{answer}");
        // The incomplete last line is not a record, and no signature is reported as bad.
        let mut reasons: Vec<String> = failures(&answer).into_iter().map(|found| found.reason).collect();
        reasons.retain(|reason| !["denial-missing", "gap", "missing", "types"].contains(&reason.as_str()));
        assert_eq!(reasons, ["truncated"], "{answer}");
    }
    let (code, answer) = folder.verify("cut.gz", &["--syntax-only"]);
    let reasons: Vec<String> = failures(&answer).into_iter().map(|found| found.reason).collect();
    assert!(code == 1 && reasons.contains(&"truncated".into()), "{answer}");
    // Every anchor file must exist.
    let (zone, cut) = (folder.text_path("signed"), folder.text_path("cut.gz"));
    let refused = oarlock(&["dnssec", "verify", &zone, "--anchor", &cut]);
    assert!(
        crate::program::code(&refused) == 2 && stderr(&refused).contains("cut.gz: "),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn anchors_must_match_the_keys() {
    let folder = ZoneFolder::new();
    let (first_key, other) = (folder.sign_here("other", &[]), folder.sign_here("signed", &[]));
    let key_file = |key: &str| key.replace(".private", ".key");
    let right = key_file(&other);
    let ds = oarlock(&["dnssec", "ds", &right]);
    assert_eq!(code(&ds), 0, "{}", stderr(&ds));
    folder.write("ds", ds.stdout);
    let (ds, wrong) = (folder.text_path("ds"), key_file(&first_key));
    for anchors in [&["--anchor", &right][..], &["--anchor", &ds], &["--anchor", &wrong, "--anchor", &ds]] {
        let (code, answer) = folder.verify("signed", anchors);
        assert_eq!((code, &answer["verdict"]), (0, &"good".into()), "{anchors:?}: {answer}");
    }
    let good = folder.assert_good("signed")["good_signatures"].clone();
    let (code, answer) = folder.verify("signed", &["--anchor", &wrong]);
    let reasons: Vec<String> = failures(&answer).into_iter().map(|found| found.reason).collect();
    assert_eq!((code, reasons, &answer["good_signatures"]), (1, vec!["not-anchored".into()], &good));
}

#[test]
fn rejects_signatures_before_and_after_their_time() {
    let folder = ZoneFolder::new();
    folder.sign_here("signed", &["--now", "20240101000000", "--expiry", "20240131000000"]);
    for (now, reason) in [
        ("20231231225959", Some("not-yet-valid")),
        ("20231231230000", None),
        ("20240131000000", None),
        ("1706659201", Some("expired")),
    ] {
        let (code, answer) = folder.verify("signed", &["--now", now]);
        let found = failures(&answer);
        let Some(reason) = reason else {
            assert_eq!((code, found), (0, Vec::new()), "{now}: {answer}");
            continue;
        };
        let sets = answer["signed_sets"].as_u64().unwrap();
        assert_eq!((code, &answer["good_signatures"], found.len() as u64), (1, &0.into(), sets), "{now}");
        assert!(found.iter().all(|found| found.reason == reason && found.line.is_some()), "{now}: {answer}");
    }
}

#[test]
fn accepts_times_relative_to_now() {
    let folder = ZoneFolder::new();
    folder.sign_here("signed", &["--now", "-1d", "--expiry", "+30d"]);
    let reasons = |now: &str| {
        let (_, answer) = folder.verify("signed", &["--now", now]);
        let mut reasons: Vec<String> = failures(&answer).into_iter().map(|found| found.reason).collect();
        reasons.dedup();
        (reasons, answer["now"].as_u64().unwrap())
    };
    let (present, now) = reasons("+0s");
    assert_eq!(present, [""; 0]);
    let (later, then) = reasons("+60d");
    assert_eq!(later, ["expired"]);
    assert!((60 * 86_400..60 * 86_400 + 3600).contains(&(then - now)), "{now} {then}");
    assert_eq!(reasons("-2d").0, ["not-yet-valid"]);
    assert_eq!(reasons("-1h").0, [""; 0]);
}

#[test]
fn syntax_only_reports_bad_records() {
    let folder = ZoneFolder::new();
    folder.sign_here("signed", &[]);
    let mut zone = ZoneLines::from_folder(&folder, "signed");
    zone.break_end(zone.line("www", "RRSIG A"), 4);
    folder.write("bad", zone.text());
    let (code, answer) = folder.verify("bad", &["--syntax-only"]);
    let records = answer["records"].as_u64().unwrap();
    assert_eq!((code, failures(&answer), &answer["unread_entries"]), (0, Vec::new(), &0.into()));
    let line = zone.line("www", "A");
    zone.replace(line, "192.0.2.2", "192.0.2.256");
    folder.write("bad", zone.text());
    let (code, answer) = folder.verify("bad", &["--syntax-only"]);
    let found = ZoneFailure { reason: "syntax".into(), line: Some(line), ..ZoneFailure::default() };
    assert_eq!(
        (code, failures(&answer), &answer["records"]),
        (1, vec![found.clone()], &(records - 1).into())
    );
    let (code, answer) = folder.verify("bad", &[]);
    assert!(code == 1 && failures(&answer).contains(&found), "{answer}");
}

#[test]
fn no_warnings_prints_failures_only() {
    let folder = ZoneFolder::new();
    folder.sign_here("signed", &["--nsec3", "--iterations", "1"]);
    let (code, answer) = folder.verify("signed", &[]);
    assert_eq!(
        (code, &answer["warnings"], &answer["findings"][0]["severity"]),
        (0, &1.into(), &"warning".into())
    );
    let (code, answer) = folder.verify("signed", &["--no-warnings"]);
    assert_eq!((code, &answer["findings"]), (0, &Value::Array(Vec::new())));
    let path = folder.text_path("signed");
    let text = |more: &[&str]| {
        String::from_utf8(oarlock(&[&["dnssec", "verify", &path], more].concat()).stdout).unwrap()
    };
    assert!(text(&[]).contains("1 additional iterations; RFC 9276 recommends none"), "{}", text(&[]));
    assert!(!text(&["--no-warnings"]).contains("RFC 9276"), "{}", text(&["--no-warnings"]));
}

#[test]
fn rejects_a_file_that_is_not_a_zone() {
    let zone_folder = ZoneFolder::new();
    zone_folder.sign_here("signed", &[]);
    zone_folder.write("empty", "");
    zone_folder.write("prose", "This is a letter.\nIt is not a zone.\n");
    zone_folder.write("bytes", [0xff, 0, 0x80, b'\n', 7, 0xfe].repeat(100));
    zone_folder.write("no.gz", [0x1f, 0x8b, 8, 0]);
    let at = |name: &str| zone_folder.text_path(name);
    let folder = at("");
    for (arguments, said) in [
        (&[at("none").as_str()][..], "none: No such file"),
        (&[&folder], "irectory"),
        (&[&at("empty")], "empty: no SOA record"),
        (&[&at("prose")], "prose: no SOA record"),
        (&[&at("bytes")], "bytes: no SOA record"),
        (&[&at("no.gz")], "no.gz"),
        (&[], "<ZONE>"),
        (&[&at("signed"), &at("zone")], "unexpected argument"),
        (&[&at("signed"), "--no-such-flag"], "--no-such-flag"),
        (&[&at("signed"), "--now", "yesterday"], "yesterday"),
        (&[&at("signed"), "--now", "20241301000000"], "20241301000000"),
        (&[&at("signed"), "--now", "+60y"], "a number with s, m, h, d or w"),
        (&[&at("signed"), "--max-text", "many"], "a number of bytes"),
        (&[&at("signed"), "--origin", "a..b"], "a..b"),
        (&[&at("signed"), "--anchor", &at("none")], "none: No such file"),
        (&[&at("signed"), "--anchor", &at("prose")], "prose: line 1: "),
        (&[&at("signed"), "--anchor", &at("empty")], "empty: expected DS or DNSKEY records, found none"),
        (&[&at("signed"), "--max-keys", "0"], "--max-keys"),
    ] {
        let refused = oarlock(&[&["dnssec", "verify"], arguments].concat());
        let text = stderr(&refused);
        assert_eq!((code(&refused), refused.stdout.len()), (2, 0), "{arguments:?}: {text}");
        assert!(text.contains(said) && !text.contains("panicked"), "{arguments:?}: {text}");
    }
}
