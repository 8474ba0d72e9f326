//! Zones that somebody tampered with, or that were never right: what is said of them, where, and that the rest still counts.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::LazyLock;

use common::signer::{Denial, NSEC3, OPT_OUT, SigningKey, resigned, sign, sign_with_digest};
use common::{Found, NOW, Zone, engines, read, verify, verify_with};
use oarlock_dnssec::{
    Algorithm, Anchor, DigestType, Dnskey, DnskeyError, Reason, Rrsig, Settings, Type, ds_rdata,
};

const PLAIN: &str = "\
example. 3600 IN SOA ns.example. host.example. 7 3600 600 86400 300
example. 3600 IN NS ns.example.
ns.example. 3600 IN A 192.0.2.1
ns.example. 3600 IN AAAA 2001:db8::1
mail.example. 3600 IN A 192.0.2.2
mail.example. 3600 IN A 192.0.2.3
www.example. 3600 IN CNAME mail.example.
*.wild.example. 3600 IN TXT any
a.b.deep.example. 3600 IN TXT below
other.example. 3600 IN DNAME example.net.
hidden.other.example. 3600 IN A 192.0.2.4
secure.example. 3600 IN NS ns.secure.example.
secure.example. 3600 IN DS 4711 13 2 0000000000000000000000000000000000000000000000000000000000000001
ns.secure.example. 3600 IN A 192.0.2.5
plain.example. 3600 IN NS ns.example.net.
far.off.example. 3600 IN NS ns.example.net.
str\\.an\\007ge.example. 3600 IN TYPE65280 \\# 3 010203
";

/// Sets that have to be signed, of the zone without its chain: four of the apex's with the keys, and one of each that is its own.
const OWN_SETS: u64 = 3 + 2 + 1 + 1 + 1 + 1 + 1 + 1 + 1;
/// Names in the chain of NSEC records.
const OWN_NAMES: u64 = 11;

fn key() -> &'static [SigningKey] {
    static KEY: LazyLock<Vec<SigningKey>> =
        LazyLock::new(|| vec![SigningKey::new(Algorithm::ECDSAP256SHA256, 257)]);
    &KEY
}

fn nsec() -> &'static Zone {
    static ZONE: LazyLock<Zone> = LazyLock::new(|| sign(PLAIN, key(), Denial::Nsec));
    &ZONE
}

fn nsec3() -> &'static Zone {
    static ZONE: LazyLock<Zone> = LazyLock::new(|| sign(PLAIN, key(), NSEC3));
    &ZONE
}

fn good() -> u64 {
    OWN_SETS + OWN_NAMES
}

/// The zone is found to be exactly so, and all signatures but so many are good.
fn expect(zone: &Zone, lines: &[String], bad: u64) -> Found {
    let found = zone.verify();
    assert_eq!(found.lines, lines, "{:#?}", found.report);
    assert_eq!(found.counts.good_signatures, good() - bad);
    assert_eq!(found.faults, [""; 0]);
    found
}

/// The start of a signature's line.
fn rrsig(owner: &str, covered: &str) -> String {
    format!("{owner} {} IN RRSIG {covered} ", if covered.starts_with("NSEC") { 300 } else { 3600 })
}

/// Changes a character of the last word of a line.
fn flipped(line: &str, from_end: usize) -> String {
    let mut bytes = line.as_bytes().to_vec();
    let at = bytes.len() - from_end;
    bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_good_zone_is_good() {
    let found = expect(nsec(), &[], 0);
    assert_eq!((found.counts.names, found.counts.signed_sets), (OWN_NAMES, good()));
    assert_eq!((found.counts.delegations, found.counts.secure_delegations), (3, 1));
    assert_eq!(found.counts.verifications, good());
}

#[test]
fn a_good_hashed_zone_is_good() {
    // Eleven names, and the empty ones wild, deep, b.deep and off; the parameters are a set too.
    let found = nsec3().verify();
    assert_eq!(found.lines, [""; 0]);
    assert_eq!(found.counts.good_signatures, OWN_SETS + 1 + OWN_NAMES + 4);
    let opted_out = sign(PLAIN, key(), OPT_OUT).verify();
    assert_eq!(opted_out.lines, [""; 0]);
    // Neither plain nor far.off nor the empty name above it.
    assert_eq!(opted_out.counts.good_signatures, OWN_SETS + 1 + OWN_NAMES + 4 - 3);
}

#[test]
fn every_algorithm_verifies() {
    for algorithm in Algorithm::SUPPORTED {
        let keys = [SigningKey::new(algorithm, 257)];
        let zone = sign(PLAIN, &keys, NSEC3);
        let found = zone.verify();
        assert_eq!(
            (found.lines.len(), found.counts.good_signatures),
            (0, OWN_SETS + 1 + OWN_NAMES + 4),
            "{algorithm}"
        );
        let start = rrsig("mail.example.", "A");
        let found = zone.with(&start, |line| flipped(line, 12)).verify();
        assert_eq!(found.lines, [format!("{} mail.example. A bad-signature", zone.line(&start))]);
    }
}

#[test]
fn flipped_bits_of_a_signature_are_found() {
    let start = rrsig("mail.example.", "A");
    for from_end in [12, 40, 80] {
        let zone = nsec().with(&start, |line| flipped(line, from_end));
        let found = expect(&zone, &[format!("{} mail.example. A bad-signature", zone.line(&start))], 1);
        assert!(found.report.findings[0].key_tag == Some(key()[0].tag()));
    }
    // A signature that is too short, or none at all.
    let zone = nsec().with(&start, |line| line[..line.len() - 8].to_owned());
    expect(&zone, &[format!("{} mail.example. A bad-signature", zone.line(&start))], 1);
}

#[test]
fn flipped_bits_of_data_are_found() {
    let zone = nsec().replaced("mail.example. 3600 IN A 192.0.2.3", "192.0.2.3", "192.0.2.7");
    let at = zone.line(&rrsig("mail.example.", "A"));
    expect(&zone, &[format!("{at} mail.example. A bad-signature")], 1);
    let zone = nsec().without("mail.example. 3600 IN A 192.0.2.3");
    expect(&zone, &[format!("{at} mail.example. A bad-signature")], 1);
}

#[test]
fn a_flipped_key_makes_the_whole_zone_bad() {
    // Of a point that is none, and of another key of the zone's own.
    let line = key()[0].line("example.");
    for from_end in [1, 30] {
        let at = line.len() - from_end;
        let digit = if line.as_bytes()[at] == b'1' { '2' } else { '1' };
        let other = format!("{}{digit}{}", &line[..at], &line[at + 1..]);
        let found = nsec().with("example. 3600 IN DNSKEY", |_| other.clone()).verify();
        let failures = found.report.failures() as u64;
        assert!(found.counts.good_signatures == 0 && failures >= good(), "{:?}", found.lines);
        let owners = found.report.findings.iter().map(|finding| &finding.reason);
        let unknown = owners.filter(|reason| **reason == Reason::UnknownKey).count() as u64;
        assert_eq!(unknown, good());
    }
}

#[test]
fn a_changed_owner_is_found() {
    let zone =
        Zone(nsec().0.iter().map(|line| line.replace("mail.example. 3600", "mall.example. 3600")).collect());
    let (at, nsec_at) = (zone.line(&rrsig("mall.example.", "A")), zone.line("mail.example. 300 IN NSEC"));
    let lines = [
        "- mall.example. NSEC denial-missing".to_owned(),
        format!("{nsec_at} mail.example. NSEC types"),
        format!("{nsec_at} mail.example. NSEC gap"),
        format!("{at} mall.example. A bad-signature"),
    ];
    let found = zone.verify();
    let mut sorted = found.lines.clone();
    sorted.sort();
    let mut expected = lines.to_vec();
    expected.sort();
    assert_eq!((sorted, found.counts.good_signatures), (expected, good() - 1));
}

#[test]
fn labels_are_counted() {
    let start = rrsig("mail.example.", "A");
    for count in [1, 3, 0, 255] {
        let zone = nsec().replaced(&start, "A 13 2 ", &format!("A 13 {count} "));
        let found = expect(&zone, &[format!("{} mail.example. A wrong-labels", zone.line(&start))], 1);
        assert_eq!(found.report.findings[0].reason, Reason::WrongLabels { expected: 2, found: count });
    }
}

/// RFC 4035 2.2: what was expanded from a wildcard stands in no zone, though a resolver would believe it.
#[test]
fn expansions_of_wildcards_are_no_records_of_a_zone() {
    let (record, signature) = ("*.wild.example. 3600 IN TXT", rrsig("*.wild.example.", "TXT"));
    let copy = |start: &str| nsec().0[nsec().line(start) - 1].replacen("*.wild", "made.wild", 1);
    let zone = nsec().and(&copy(record)).and(&copy(&signature));
    let at = zone.line(&rrsig("made.wild.example.", "TXT"));
    let chain = zone.line("*.wild.example. 300 IN NSEC");
    let lines = [
        format!("{chain} *.wild.example. NSEC gap"),
        format!("- made.wild.example. NSEC denial-missing"),
        format!("{at} made.wild.example. TXT wrong-labels"),
    ];
    expect(&zone, &lines, 0);
}

#[test]
fn time_is_kept() {
    let at = |now| verify_with(&nsec().text(), Settings::at(now), &[]);
    for (now, code) in [(NOW + 1001, "expired"), (NOW - 1001, "not-yet-valid")] {
        let found = at(now);
        assert_eq!((found.report.failures() as u64, found.counts.verifications), (good(), 0));
        assert!(found.lines.iter().all(|line| line.ends_with(code)), "{:?}", found.lines);
    }
    for now in [NOW - 1000, NOW + 1000] {
        assert_eq!(at(now).lines, [""; 0]);
    }
    let expired = at(NOW + 1001);
    assert_eq!(expired.report.findings[0].reason, Reason::Expired { expiration: NOW + 1000 });
}

#[test]
fn a_second_signature_makes_up_for_an_expired_one() {
    let start = rrsig("mail.example.", "A");
    let line = nsec().0[nsec().line(&start) - 1].clone();
    let text = |at: u32| {
        let record = |line: &str| line.split(' ').nth(8).unwrap().to_owned();
        let old = record(&line);
        line.replacen(&old, &at.to_string(), 1)
    };
    let zone = nsec().and(&text(NOW - 500));
    expect(&zone, &[format!("~{} mail.example. A expired", zone.0.len())], 0);
}

#[test]
fn only_the_zone_signs_it() {
    let start = rrsig("mail.example.", "A");
    let zone = nsec().with(&start, |line| line.replacen(" example. ", " mail.example. ", 1));
    let found = expect(&zone, &[format!("{} mail.example. A wrong-signer", zone.line(&start))], 1);
    assert!(found.report.findings[0].reason.to_string().contains("mail.example."));
}

#[test]
fn tags_without_a_key_are_found() {
    let start = rrsig("mail.example.", "A");
    let tag = key()[0].tag();
    let zone = nsec().with(&start, |line| line.replacen(&format!(" {tag} "), &format!(" {} ", tag ^ 1), 1));
    expect(&zone, &[format!("{} mail.example. A unknown-key", zone.line(&start))], 1);
}

/// Keys with the tag of another one: RSA keys whose words of modulus are swapped, which sum up to the same.
fn colliding(key: &SigningKey, count: usize) -> Vec<Vec<u8>> {
    let even = key.rdata.len() & !1;
    let (first, last) = (12, even - 4);
    let swapped = |index: usize| {
        let mut rdata = key.rdata.clone();
        let at = first + 2 * (index % ((last - first) / 2));
        rdata.swap(at, last - 2);
        rdata.swap(at + 1, last - 1);
        rdata
    };
    let mut all: Vec<Vec<u8>> = (0..2 * count).map(swapped).filter(|rdata| *rdata != key.rdata).collect();
    all.sort();
    all.dedup();
    all.truncate(count);
    assert!(all.iter().all(|rdata| Dnskey::parse(rdata).unwrap().key_tag() == key.tag()));
    assert_eq!(all.len(), count);
    all
}

/// CVE-2023-50387.
#[test]
fn a_hundred_keys_of_one_tag_cost_no_more_than_a_few() {
    let keys = [SigningKey::new(Algorithm::RSASHA256, 257)];
    let mut text = PLAIN.to_owned();
    for rdata in colliding(&keys[0], 99) {
        text += &format!("example. 3600 IN DNSKEY \\# {} {}\n", rdata.len(), common::signer::hex(&rdata));
    }
    let zone = sign(&text, &keys, Denial::Nsec);
    let most = |most_keys| verify_with(&zone.text(), Settings { most_keys, ..Settings::at(NOW) }, &[]);
    for most_keys in [1, 4] {
        let found = most(most_keys);
        let usable = found.lines.iter().filter(|line| line.ends_with("unusable-key")).count();
        assert!(found.counts.verifications <= good() * most_keys as u64, "{:?}", found.counts);
        let many = found.lines.iter().filter(|line| line.ends_with("too-many-keys")).count() as u64;
        assert_eq!(many + found.counts.good_signatures, good());
        assert_eq!(found.report.failures() as u64, many + usable as u64);
    }
    let all = most(1000);
    assert_eq!(all.counts.good_signatures, good());
    // A set with a hundred bad signatures of that tag costs a few verifications each.
    let start = rrsig("mail.example.", "A");
    let mut bad = zone.clone();
    for count in 0..100 {
        let at = zone.line(&start) - 1;
        bad.0.push(flipped(&zone.0[at], 12 + count));
    }
    let found = bad.verify();
    assert!(found.counts.verifications <= (good() + 100) * 4);
}

#[test]
fn a_revoked_key_of_the_same_tag_hinders_no_other() {
    let keys = [SigningKey::new(Algorithm::RSASHA256, 257)];
    // The revoke bit is made up for in a word of the modulus.
    let mut revoked = keys[0].rdata.clone();
    revoked[1] |= 0x80;
    let at = (20..revoked.len() - 2).step_by(2).find(|at| revoked[at + 1] >= 0x80).unwrap();
    revoked[at + 1] -= 0x80;
    assert_eq!(Dnskey::parse(&revoked).unwrap().key_tag(), keys[0].tag());
    let text =
        format!("{PLAIN}example. 3600 IN DNSKEY \\# {} {}\n", revoked.len(), common::signer::hex(&revoked));
    let found = sign(&text, &keys, Denial::Nsec).verify();
    assert_eq!((found.lines, found.counts.good_signatures), (Vec::new(), good()));
}

#[test]
fn gaps_of_the_chain_are_found() {
    let next = nsec().0[nsec().line("mail.example. 300 IN NSEC ") - 1].split(' ').nth(4).unwrap().to_owned();
    // The record is not there.
    let gone = nsec().without("mail.example. 300 IN NSEC ").without(&rrsig("mail.example.", "NSEC"));
    expect(&gone, &["- mail.example. NSEC denial-missing".to_owned()], 1);
    // It leads past the next name.
    let zone = nsec().replaced("mail.example. 300 IN NSEC ", &next, "www.example.");
    let (at, signature) =
        (zone.line("mail.example. 300 IN NSEC "), zone.line(&rrsig("mail.example.", "NSEC")));
    let lines =
        [format!("{at} mail.example. NSEC gap"), format!("{signature} mail.example. NSEC bad-signature")];
    let found = expect(&zone, &lines, 1);
    assert_eq!(found.report.findings[0].reason, Reason::Gap { expected: next, found: "www.example.".into() });
    // It says too little of its name.
    let zone = nsec().replaced("mail.example. 300 IN NSEC ", " A RRSIG", " RRSIG");
    let lines =
        [format!("{at} mail.example. NSEC types"), format!("{signature} mail.example. NSEC bad-signature")];
    let found = expect(&zone, &lines, 1);
    let types = |text: &str| text.to_owned();
    assert_eq!(
        found.report.findings[0].reason,
        Reason::Types { expected: types("A RRSIG NSEC"), found: types("RRSIG NSEC") }
    );
}

#[test]
fn a_zone_that_denies_nothing_is_bad() {
    let lines: Vec<String> = nsec().0.iter().filter(|line| !line.contains(" NSEC ")).cloned().collect();
    let found = Zone(lines).verify();
    assert_eq!(found.lines, ["- example. NSEC no-denial"]);
    assert_eq!(found.counts.good_signatures, OWN_SETS);
}

#[test]
fn records_of_a_chain_belong_to_names_of_the_zone() {
    let zone = nsec().and("ns.secure.example. 300 IN NSEC plain.example. A RRSIG NSEC");
    expect(&zone, &[format!("{} ns.secure.example. NSEC denial-needless", zone.0.len())], 0);
    // Hashes of which no parameters speak.
    let stray = "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom.example. 300 IN NSEC3 1 0 0 - 1p9mhaveqvm6t7vbl5lop2u3t2rp3tom A RRSIG";
    let zone = nsec().and(stray);
    let owner = stray.split(' ').next().unwrap();
    let at = zone.0.len();
    expect(
        &zone,
        &[format!("{at} {owner} NSEC3 nsec3-parameters"), format!("{at} {owner} NSEC3 missing")],
        0,
    );
}

/// Where a hash's record stands whose bitmap ends so, counted from 0; it is the only one.
fn link(zone: &Zone, types: &str) -> usize {
    let mut found =
        zone.0.iter().enumerate().filter(|(_, line)| line.contains(" IN NSEC3 ") && line.ends_with(types));
    let at = found.next().unwrap().0;
    assert!(found.next().is_none());
    at
}

#[test]
fn gaps_of_a_hashed_chain_are_found() {
    let at = link(nsec3(), " CNAME RRSIG");
    let owner = nsec3().0[at].split(' ').next().unwrap().to_owned();
    let gone = nsec3().without(&format!("{owner} "));
    let found = gone.verify();
    let codes: Vec<&str> = found.lines.iter().map(|line| line.split_once(' ').unwrap().1).collect();
    assert_eq!(codes.len(), 2, "{codes:?}");
    assert!(codes[0].ends_with("NSEC3 gap"), "{codes:?}");
    assert_eq!(found.lines[1], "- www.example. NSEC3 denial-missing");
    assert_eq!(found.counts.good_signatures, OWN_SETS + 1 + OWN_NAMES + 4 - 1);
    // The bitmap.
    let mut zone = nsec3().clone();
    zone.0[at] = zone.0[at].replace(" CNAME RRSIG", " A CNAME RRSIG");
    let found = zone.verify();
    let signature = zone.line(&rrsig(&owner, "NSEC3"));
    assert_eq!(
        found.lines,
        [format!("{} www.example. NSEC3 types", at + 1), format!("{signature} {owner} NSEC3 bad-signature")]
    );
    // A hash of no name.
    let zone = nsec3().and("0p9mhaveqvm6t7vbl5lop2u3t2rp3tom.example. 300 IN NSEC3 1 0 0 - 1p9mhaveqvm6t7vbl5lop2u3t2rp3tom A RRSIG");
    let codes = zone.verify().lines;
    assert!(codes.iter().any(|line| line.ends_with("NSEC3 denial-needless")), "{codes:?}");
    assert!(codes.iter().any(|line| line.ends_with("NSEC3 gap")), "{codes:?}");
}

#[test]
fn parameters_of_a_hashed_chain_are_those_of_the_zone() {
    let at = link(nsec3(), " CNAME RRSIG");
    let owner = nsec3().0[at].split(' ').next().unwrap().to_owned();
    for (from, to) in
        [("NSEC3 1 0 0 -", "NSEC3 1 0 0 ab"), ("NSEC3 1 0 0 -", "NSEC3 1 0 1 -"), ("NSEC3 1 ", "NSEC3 2 ")]
    {
        let mut zone = nsec3().clone();
        zone.0[at] = zone.0[at].replace(from, to);
        let found = zone.verify();
        assert_eq!(found.lines[0], format!("{} {owner} NSEC3 nsec3-parameters", at + 1));
        assert!(found.lines.contains(&"- www.example. NSEC3 denial-missing".to_owned()), "{:?}", found.lines);
    }
}

/// RFC 9276.
#[test]
fn iterations_have_a_limit() {
    let many = sign(PLAIN, key(), Denial::Nsec3 { iterations: 20, salt: "aabb", opts_out: false });
    let at = many.line("example. 0 IN NSEC3PARAM");
    let found = many.verify();
    assert_eq!(found.lines, [format!("~{at} example. NSEC3PARAM nsec3-iterations")]);
    let limited = verify_with(&many.text(), Settings { most_iterations: 19, ..Settings::at(NOW) }, &[]);
    assert_eq!(limited.lines, [format!("{at} example. NSEC3PARAM nsec3-too-many-iterations")]);
    assert_eq!(limited.report.findings[0].reason, Reason::TooManyIterations { found: 20, most: 19 });
    assert_eq!(limited.counts.good_signatures, found.counts.good_signatures);
    // The chain is another one for all that a changed number says.
    let zone = nsec3().replaced("example. 0 IN NSEC3PARAM", "1 0 0 -", "1 0 65535 -");
    let found = zone.verify();
    let at = zone.line("example. 0 IN NSEC3PARAM");
    assert!(found.lines.contains(&format!("{at} example. NSEC3PARAM nsec3-too-many-iterations")));
}

#[test]
fn chains_have_a_limit() {
    let mut text = PLAIN.to_owned();
    for salt in 0..10 {
        text += &format!("example. 0 IN NSEC3PARAM 1 0 100 {salt:02x}\n");
    }
    let found = sign(&text, key(), NSEC3).verify();
    assert_eq!(found.report.failures(), 1);
    assert_eq!(found.report.findings[0].reason, Reason::TooManyChains { found: 11, most: 4 });
}

#[test]
fn unknown_hashes_are_not_checked() {
    let text = format!("{PLAIN}example. 0 IN NSEC3PARAM 7 0 0 -\n");
    let zone = sign(&text, key(), Denial::Nsec);
    let at = zone.line("example. 0 IN NSEC3PARAM");
    let found = zone.verify();
    assert_eq!(found.lines, [format!("~{at} example. NSEC3PARAM nsec3-hash")]);
}

#[test]
fn opt_out_leaves_out_insecure_delegations_only() {
    let text = format!("{PLAIN}late.example. 3600 IN NS ns.example.net.\n");
    let zone = sign(PLAIN, key(), OPT_OUT);
    // Not in the chain, and need not be.
    assert_eq!(zone.and("late.example. 3600 IN NS ns.example.net.").verify().lines, [""; 0]);
    assert_eq!(sign(&text, key(), NSEC3).verify().lines, [""; 0]);
    let plain = nsec3().and("late.example. 3600 IN NS ns.example.net.").verify();
    assert_eq!(plain.lines, ["- late.example. NSEC3 denial-missing"]);
    // A secure one has to be there, and so has a name of the zone's own.
    let digest = "00".repeat(32);
    let secure = zone
        .and("late.example. 3600 IN NS ns.example.net.")
        .and(&format!("late.example. 3600 IN DS 1 13 2 {digest}"));
    let found = secure.verify().lines;
    assert_eq!(
        found,
        [
            "- late.example. NSEC3 denial-missing".to_owned(),
            format!("{} late.example. DS missing", secure.0.len())
        ]
    );
}

fn digested() -> &'static Zone {
    static ZONE: LazyLock<Zone> = LazyLock::new(|| sign_with_digest(PLAIN, key(), Denial::Nsec));
    &ZONE
}

#[test]
fn the_zones_digest_is_that_of_its_records() {
    assert_eq!(digested().verify().lines, [""; 0]);
    // Glue is signed by nobody, and digested.
    let glue = digested().replaced("ns.secure.example. 3600 IN A", "192.0.2.5", "192.0.2.6");
    let at = glue.line("example. 3600 IN ZONEMD");
    let found = glue.verify();
    assert_eq!(found.lines, [format!("{at} example. ZONEMD zonemd")]);
    assert_eq!(found.counts.good_signatures, good() + 1);
    // A name's order of records and the file's order make no difference.
    let mut turned = digested().clone();
    turned.0.reverse();
    assert_eq!(turned.verify().lines, [""; 0]);
    // What is not of the zone is not of its digest.
    let other = digested().and("elsewhere.test. 3600 IN A 192.0.2.1").verify();
    assert_eq!(other.lines.len(), 1);
    assert!(other.lines[0].ends_with("elsewhere.test. A out-of-zone"));
}

#[test]
fn wrong_digests_of_zones_are_told_apart() {
    let change = |change: &dyn Fn(&str) -> String| {
        resigned(&digested().with("example. 3600 IN ZONEMD", change), key(), Type::ZONEMD).verify().lines
    };
    let codes = |lines: Vec<String>| -> Vec<String> {
        lines.iter().map(|line| line.replace(|letter: char| letter.is_ascii_digit(), "")).collect()
    };
    let of = |code: &str| code.to_owned();
    assert_eq!(
        codes(change(&|line| line.replacen(" 7 1 1 ", " 8 1 1 ", 1))),
        [of(" example. ZONEMD zonemd-serial")]
    );
    assert_eq!(
        codes(change(&|line| line.replacen(" 7 1 1 ", " 7 240 1 ", 1))),
        [of("~ example. ZONEMD zonemd-unsupported")]
    );
    assert_eq!(
        codes(change(&|line| line.replacen(" 7 1 1 ", " 7 1 241 ", 1))),
        [of("~ example. ZONEMD zonemd-unsupported")]
    );
    let copy = change(&|line| format!("{line}\n{}", flipped(line, 1)));
    assert_eq!(codes(copy), [of(" example. ZONEMD zonemd-several"), of(" example. ZONEMD zonemd-several")]);
    // One that is right is enough.
    assert_eq!(change(&|line| format!("{line}\nexample. 3600 IN ZONEMD 7 1 2 {}", "00".repeat(64))), [""; 0]);
    assert_eq!(change(&|line| format!("{line}\nexample. 3600 IN ZONEMD 7 9 1 {}", "00".repeat(48))), [""; 0]);
}

#[test]
fn an_unsigned_zone_is_told_and_its_digest_checked() {
    let zone = Zone(PLAIN.lines().map(str::to_owned).collect());
    let found = zone.verify();
    assert_eq!(found.lines, ["- example. DNSKEY unsigned"]);
    assert_eq!((found.counts.names, found.counts.good_signatures), (OWN_NAMES, 0));
    let digested = zone.and(&format!("example. 3600 IN ZONEMD 7 1 1 {}", "00".repeat(48)));
    let at = digested.0.len();
    assert_eq!(
        digested.verify().lines,
        [format!("{at} example. ZONEMD zonemd"), "- example. DNSKEY unsigned".into()]
    );
}

#[test]
fn copies_of_records_are_told() {
    let line = "mail.example. 3600 IN A 192.0.2.3";
    let zone = nsec().and(line);
    expect(&zone, &[format!("~{} mail.example. A duplicate", zone.0.len())], 0);
    let zone = nsec().and("MAIL.Example. 3600 IN A 192.0.2.3");
    expect(&zone, &[format!("~{} mail.example. A duplicate", zone.0.len())], 0);
}

#[test]
fn times_to_live_are_those_that_were_signed() {
    let zone = nsec().replaced("mail.example. 3600 IN A 192.0.2.3", "3600", "60");
    let at = zone.line("mail.example. 60 IN A");
    expect(&zone, &[format!("{at} mail.example. A ttl-mismatch")], 0);
    let zone = zone.replaced("mail.example. 3600 IN A 192.0.2.2", "3600", "60");
    let at = zone.line(&rrsig("mail.example.", "A"));
    expect(
        &zone,
        &[format!("{at} mail.example. A original-ttl"), format!("~{at} mail.example. A signature-ttl")],
        0,
    );
    let zone = nsec().replaced(&rrsig("mail.example.", "A"), "3600", "60");
    expect(&zone, &[format!("~{at} mail.example. A signature-ttl")], 0);
    let zone = nsec().replaced(&rrsig("mail.example.", "A"), "13 2 3600", "13 2 60");
    expect(
        &zone,
        &[format!("{at} mail.example. A original-ttl"), format!("{at} mail.example. A bad-signature")],
        1,
    );
}

#[test]
fn names_may_be_odd_and_long() {
    let label = "l".repeat(63);
    let longest = format!("{label}.{label}.{label}.{}.example.", "m".repeat(53));
    let text = format!(
        "{PLAIN}{longest} 3600 IN TXT longest\n\\000\\001\\255.example. 3600 IN TXT bytes\n\\*.example. 3600 IN TXT star\n\
         a\\.b.example. 3600 IN TXT dot\n\\\\\\\"\\;.example. 3600 IN TXT marks\nUPPER.Example. 3600 IN TXT upper\n\
         types.example. 3600 IN TYPE1 \\# 4 c0000201\ntypes.example. 3600 IN TYPE65535 \\# 0\n"
    );
    for denial in [Denial::Nsec, NSEC3] {
        let zone = sign(&text, key(), denial);
        let found = zone.verify();
        assert_eq!((found.lines, found.faults), (Vec::new(), Vec::new()));
        assert!(found.counts.good_signatures > good() + 10);
        let start = format!("{longest} 3600 IN TXT");
        let found = zone.replaced(&start, "longest", "longer").verify();
        assert_eq!(
            found.lines,
            [format!("{} {longest} TXT bad-signature", zone.line(&rrsig(&longest, "TXT")))]
        );
    }
}

#[test]
fn what_a_file_can_say_makes_no_difference() {
    // CRLF, tabs, a new origin, brackets, comments, generated and included records.
    let text = format!(
        "{PLAIN}g1.example. 60 IN A 192.0.2.1\ng2.example. 60 IN A 192.0.2.2\nincluded.example. 3600 IN A 192.0.2.9\n"
    );
    let zone = sign(&text, key(), Denial::Nsec);
    let written = zone
        .without("g1.example. 60 IN A")
        .without("g2.example. 60 IN A")
        .without("included.example. 3600 IN A")
        .and("$ORIGIN example.")
        .and("$GENERATE 1-2 g$ 60 IN A 192.0.2.$")
        .and("$INCLUDE more");
    let crlf = written
        .text()
        .replace('\n', "\r\n")
        .replacen("IN SOA ", "IN SOA ( ; start\r\n\t", 1)
        .replacen(" 300\r\n", " 300 )\r\n", 1);
    let found = verify(&crlf);
    assert_eq!((found.lines, found.faults, found.counts), (Vec::new(), Vec::new(), zone.verify().counts));
}

#[test]
fn what_cannot_be_read_costs_itself_and_tells_its_line() {
    let mut text = nsec().text();
    let count = nsec().0.len() as u32;
    text += "bad.example. 3600 IN A 192.0.2.256\nopen.example. 3600 IN TXT ( x\ngood.example. 3600 IN A\nend.example. 3600 IN TXT \"cut";
    let found = verify(&text);
    let line = |after: u32, text: &str| format!("{}: {text}", count + after);
    assert_eq!(
        found.faults,
        [
            line(1, "`192.0.2.256` where an IPv4 address should be"),
            line(2, "a parenthesis that is not closed"),
            line(3, "the entry ends where an IPv4 address should be"),
            line(4, "a quoted string that is not closed in its line"),
        ]
    );
    assert_eq!((found.lines, found.counts.good_signatures), (Vec::new(), good()));
}

#[test]
fn a_truncated_file_lacks_what_it_lacks() {
    let text = nsec().text();
    let cut = text.find("secure.example. 3600 IN DS").unwrap();
    let found = verify(&text[..cut + 40]);
    assert_eq!(found.faults.len(), 1);
    assert!(found.faults[0].starts_with(&format!("{}: ", nsec().line("secure.example. 3600 IN DS"))));
    // All before it is good but the chain, and the delegation that has no glue now.
    assert!(found.counts.good_signatures > 10);
    assert!(found.lines.contains(&"- secure.example. NSEC denial-missing".to_owned()), "{:?}", found.lines);
}

#[test]
fn every_algorithm_of_the_keys_signs_every_set() {
    let keys = [
        SigningKey::new(Algorithm::ECDSAP256SHA256, 257),
        SigningKey::new(Algorithm::ED25519, 257),
        SigningKey::new(Algorithm::ED25519, 256),
    ];
    let zone = sign(PLAIN, &keys, Denial::Nsec);
    let found = zone.verify();
    assert_eq!((found.lines, found.counts.good_signatures), (Vec::new(), 3 * good()));
    let at = zone.line("mail.example. 3600 IN A 192.0.2.2");
    let gone = zone.without("mail.example. 3600 IN RRSIG A 13 ").verify();
    assert_eq!(gone.lines, [format!("{at} mail.example. A missing")]);
    assert_eq!(gone.report.findings[0].reason, Reason::MissingSignature(Algorithm::ECDSAP256SHA256));
    // One signature of each algorithm is enough.
    let tag = keys[2].tag();
    let less =
        Zone(zone.0.iter().filter(|line| !line.contains(&format!(" {tag} example. "))).cloned().collect());
    let found = less.verify();
    assert_eq!((found.lines, found.counts.good_signatures), (Vec::new(), 2 * good()));
    // None at all, and one that covers nothing.
    let none = zone.without("mail.example. 3600 IN RRSIG A ");
    assert_eq!(none.verify().lines, vec![format!("{at} mail.example. A missing"); 2]);
    let nothing = zone.without("mail.example. 3600 IN A ").without("mail.example. 3600 IN RRSIG A 15 ");
    let signature = zone.line("mail.example. 3600 IN RRSIG A 13 ");
    let chain = zone.line("mail.example. 300 IN NSEC");
    let lines = nothing.verify().lines;
    assert_eq!(
        lines,
        [format!("{chain} mail.example. NSEC types"), format!("{signature} mail.example. A nothing-signed")]
    );
}

#[test]
fn signatures_are_not_signed() {
    let zone = nsec().with(&rrsig("mail.example.", "A"), |line| {
        format!("{line}\n{}", line.replacen("RRSIG A ", "RRSIG RRSIG ", 1))
    });
    let lines = zone.verify().lines;
    assert_eq!(
        lines,
        [format!("{} mail.example. RRSIG nothing-signed", nsec().line(&rrsig("mail.example.", "A")) + 1)]
    );
}

#[test]
fn revoked_keys_sign_keys_alone() {
    let keys = [SigningKey::new(Algorithm::ED25519, 257), SigningKey::new(Algorithm::ED25519, 257 | 0x80)];
    let zone = sign(PLAIN, &keys, Denial::Nsec);
    let found = zone.verify();
    // The other key makes up for it.
    assert!(
        found.lines.iter().all(|line| line.starts_with('~') && line.ends_with("revoked-key")),
        "{:?}",
        found.lines
    );
    assert_eq!((found.lines.len() as u64, found.counts.good_signatures), (good() - 1, good() + 1));
    let alone = sign(PLAIN, &keys[1..], Denial::Nsec).verify();
    assert_eq!(alone.counts.good_signatures, 1);
    assert!(alone.report.failures() as u64 >= good() - 1, "{:?}", alone.lines);
    let unsigned: Vec<String> = sign(PLAIN, &keys[1..], Denial::Nsec).0;
    let unsigned = Zone(unsigned.into_iter().filter(|line| !line.contains("RRSIG")).collect()).verify();
    assert!(
        unsigned.lines.iter().any(|line| line.ends_with("example. DNSKEY revoked-key")),
        "{:?}",
        unsigned.lines
    );
}

#[test]
fn unknown_algorithms_are_unsupported_and_never_bad() {
    for number in [1, 3, 6, 12, 17, 23, 252, 253, 254] {
        let keys = [SigningKey::new(Algorithm::ED25519, 257)];
        let zone = sign(PLAIN, &keys, Denial::Nsec);
        let mut rdata = keys[0].rdata.clone();
        rdata[3] = number;
        let tag = Dnskey::parse(&rdata).unwrap().key_tag();
        let change = |line: &String| {
            let line = line.replace("DNSKEY 257 3 15 ", &format!("DNSKEY 257 3 {number} "));
            if !line.contains(" RRSIG ") || line.contains("NSEC ") && !line.contains("RRSIG NSEC 15") {
                return line;
            }
            line.replacen(" 15 ", &format!(" {number} "), 1)
                .replace(&format!(" {} example.", keys[0].tag()), &format!(" {tag} example."))
        };
        let found = Zone(zone.0.iter().map(change).collect()).verify();
        assert_eq!(found.lines, ["~- example. DNSKEY unsupported"], "{number}");
        assert_eq!((found.counts.unsupported_signatures, found.counts.good_signatures), (good(), 0));
    }
}

#[test]
fn an_unsupported_algorithm_beside_a_known_one_is_no_fault() {
    let text = format!("{PLAIN}example. 3600 IN DNSKEY 257 3 253 AQIDBAUGBwg=\n");
    let zone = sign(&text, key(), Denial::Nsec);
    expect(&zone, &[], 0);
    // A signature that says so is not counted as bad.
    let start = rrsig("mail.example.", "A");
    let extra = zone.0[zone.line(&start) - 1].replacen("A 13 ", "A 253 ", 1);
    let found = expect(&zone.and(&extra), &[], 0);
    assert_eq!(found.counts.unsupported_signatures, 1);
}

#[test]
fn keys_that_are_none_are_told() {
    let text = format!("{PLAIN}example. 3600 IN DNSKEY 257 3 15 AQIDBAUGBwg=\n");
    let zone = sign(&text, key(), Denial::Nsec);
    let at = zone.line("example. 3600 IN DNSKEY 257 3 15 ");
    let found = expect(&zone, &[format!("{at} example. DNSKEY unusable-key")], 0);
    let length = DnskeyError::Length { algorithm: Algorithm::ED25519, expected: 32, found: 8 };
    assert_eq!(found.report.findings[0].reason, Reason::UnusableKey(length));
    // A key of another purpose signs nothing and is nobody's business.
    let text = format!("{PLAIN}example. 3600 IN DNSKEY 0 3 15 AQIDBAUGBwg=\n");
    expect(&sign(&text, key(), Denial::Nsec), &[], 0);
}

#[test]
fn what_is_not_the_zones_own_is_not_signed() {
    let signature = nsec().0[nsec().line(&rrsig("ns.example.", "A")) - 1].clone();
    for owner in ["ns.secure.example.", "hidden.other.example."] {
        let zone = nsec().and(&signature.replacen("ns.example.", owner, 1));
        expect(&zone, &[format!("~{} {owner} A signed-glue", zone.0.len())], 0);
    }
    let zone = nsec()
        .and(&signature.replacen("ns.example.", "secure.example.", 1).replacen("RRSIG A", "RRSIG NS", 1));
    expect(&zone, &[format!("~{} secure.example. NS signed-glue", zone.0.len())], 0);
}

#[test]
fn records_of_other_zones_are_told() {
    let zone = nsec()
        .and("www.example.net. 3600 IN A 192.0.2.1")
        .and("com. 3600 IN NS ns.example.")
        .and("examplex. 60 IN TXT x");
    let at = zone.0.len();
    let lines = [
        format!("{} com. NS out-of-zone", at - 1),
        format!("{at} examplex. TXT out-of-zone"),
        format!("{} www.example.net. A out-of-zone", at - 2),
    ];
    expect(&zone, &lines, 0);
}

#[test]
fn delegations_are_looked_at() {
    let digest = "00".repeat(32);
    let text =
        format!("{PLAIN}lost.example. 3600 IN DS 1 13 2 {digest}\nexample. 3600 IN DS 1 13 2 {digest}\n");
    let zone = sign(&text, key(), Denial::Nsec);
    let lines = zone.verify().lines;
    let at = |start: &str| zone.line(start);
    assert_eq!(
        lines,
        [
            format!("{} example. DS ds-without-delegation", at("example. 3600 IN DS")),
            format!("{} lost.example. DS ds-without-delegation", at("lost.example. 3600 IN DS")),
        ]
    );
    let text = format!(
        "{PLAIN}short.example. 3600 IN NS ns.example.net.\nshort.example. 3600 IN DS \\# 6 000100020102\n"
    );
    let zone = sign(&text, key(), Denial::Nsec);
    let at = zone.line("short.example. 3600 IN DS");
    assert_eq!(zone.verify().lines, [format!("{at} short.example. DS malformed-ds")]);
    let glue = nsec().without("ns.secure.example. 3600 IN A");
    let at = glue.line("secure.example. 3600 IN NS");
    expect(&glue, &[format!("~{at} secure.example. NS missing-glue")], 0);
}

#[test]
fn aliases_stand_alone() {
    let text = format!("{PLAIN}www.example. 3600 IN A 192.0.2.9\n");
    let zone = sign(&text, key(), Denial::Nsec);
    let at = zone.line("www.example. 3600 IN CNAME");
    assert_eq!(zone.verify().lines, [format!("{at} www.example. CNAME alias-beside-others")]);
    let text = format!("{PLAIN}www.example. 3600 IN CNAME aaa.example.\n");
    let zone = sign(&text, key(), NSEC3);
    let at = zone.line("www.example. 3600 IN CNAME aaa");
    assert_eq!(zone.verify().lines, [format!("{at} www.example. CNAME alias-beside-others")]);
}

#[test]
fn a_zone_begins_with_one_soa_and_has_name_servers() {
    let text = format!("{PLAIN}mail.example. 3600 IN SOA a. b. 1 2 3 4 5\n")
        .replace("example. 3600 IN NS ns.example.\n", "");
    let zone = sign(&text, key(), Denial::Nsec);
    let at = zone.line("mail.example. 3600 IN SOA");
    assert_eq!(
        zone.verify().lines,
        ["- example. NS no-name-servers".to_owned(), format!("{at} mail.example. SOA soa-below")]
    );
    let text = format!("{PLAIN}example. 3600 IN SOA ns.example. host.example. 8 3600 600 86400 300\n");
    assert_eq!(sign(&text, key(), Denial::Nsec).verify().lines, ["- example. SOA several-soa"]);
    let (records, _) = read("a. 1 IN A 192.0.2.1\n");
    let sets = oarlock_dnssec::Sets::new(&records);
    assert!(oarlock_dnssec::Verifier::new(&sets, Settings::at(NOW)).is_err());
    let (records, _) = read("");
    let sets = oarlock_dnssec::Sets::new(&records);
    assert!(oarlock_dnssec::Verifier::new(&sets, Settings::at(NOW)).is_err());
}

/// RFC 6672 2.3: hashes stand below a DNAME too.
#[test]
fn the_apex_may_have_a_dname() {
    let text = "example. 3600 IN SOA ns.example.net. host.example.net. 7 3600 600 86400 300\n\
                example. 3600 IN NS ns.example.net.\nexample. 3600 IN DNAME example.net.\n";
    for denial in [Denial::Nsec, NSEC3] {
        let found = sign(text, key(), denial).verify();
        assert_eq!((found.lines, found.counts.names), (Vec::new(), 1));
    }
}

#[test]
fn anchors_lead_to_the_zones_keys() {
    let (keys, name) = (
        key(),
        oarlock_dnssec::NameBuf::parse(b"example.", oarlock_dnssec::Name::ROOT, oarlock_dnssec::Case::Lower),
    );
    let (name, dnskey) = (name.unwrap(), Dnskey::parse(&keys[0].rdata).unwrap());
    let ds = |digest| ds_rdata(&engines()[0], name.name(), &dnskey, digest).unwrap();
    let found = |zone: &Zone, anchors: &[Anchor]| verify_with(&zone.text(), Settings::at(NOW), anchors).lines;
    let not_anchored = ["- example. DNSKEY not-anchored"];
    for digest in [DigestType::SHA1, DigestType::SHA256, DigestType::SHA384] {
        assert_eq!(found(nsec(), &[Anchor::Ds(ds(digest))]), [""; 0]);
        let mut wrong = ds(digest);
        *wrong.last_mut().unwrap() ^= 1;
        assert_eq!(found(nsec(), &[Anchor::Ds(wrong.clone())]), not_anchored);
        assert_eq!(found(nsec(), &[Anchor::Ds(wrong), Anchor::Dnskey(keys[0].rdata.clone())]), [""; 0]);
    }
    let mut unsupported = ds(DigestType::SHA256);
    unsupported[3] = 3;
    assert_eq!(found(nsec(), &[Anchor::Ds(unsupported)]), not_anchored);
    let other = SigningKey::new(Algorithm::ECDSAP256SHA256, 257);
    assert_eq!(found(nsec(), &[Anchor::Dnskey(other.rdata.clone())]), not_anchored);
    assert_eq!(found(nsec(), &[Anchor::Dnskey(Vec::new()), Anchor::Ds(vec![0])]), not_anchored);
    // A key that is there, and does not sign the keys.
    let text = format!("{PLAIN}{}\n", other.line("example."));
    let zone = sign(&text, keys, Denial::Nsec);
    assert_eq!(found(&zone, &[Anchor::Dnskey(other.rdata.clone())]), not_anchored);
    assert_eq!(found(&zone, &[Anchor::Dnskey(keys[0].rdata.clone())]), [""; 0]);
}

#[test]
fn malformed_signatures_are_told() {
    let start = rrsig("mail.example.", "A");
    let (records, _) = read(&nsec().0[nsec().line(&start) - 1]);
    let data = records.get(0).data.to_vec();
    let head = Rrsig::read(&data).unwrap().head.len();
    let line =
        |data: &[u8]| format!("mail.example. 3600 IN RRSIG \\# {} {}", data.len(), common::signer::hex(data));
    // As far as a file can hold it.
    for len in [2, 17, 18, head - 1, head] {
        let zone = nsec().with(&start, |_| line(&data[..len]));
        let found = zone.verify();
        assert_eq!((found.faults.len(), found.counts.good_signatures), (1, good() - 1), "{len}");
        let at = nsec().line("mail.example. 3600 IN A 192.0.2.2");
        assert_eq!(found.lines, [format!("{at} mail.example. A missing")]);
    }
}
