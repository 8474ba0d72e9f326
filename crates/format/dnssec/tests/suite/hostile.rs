//! Zones with tampered signatures, keys or chains: the findings, their lines, and the checks that still count.

use oarlock_dnssec::{Dnskey, DnssecAlgorithm, FindingReason, VerifySettings};

use crate::common::signer::{Denial, NSEC3, OPT_OUT, SigningKey, sign};
use crate::common::zones::{OWN_NAMES, OWN_SETS, PLAIN, expect, flipped, good, key, nsec, nsec3, rrsig};
use crate::common::{self, NOW, Zone, verify_with};

#[test]
fn accepts_a_valid_nsec_zone() {
    let found = expect(nsec(), &[], 0);
    assert_eq!((found.counts.names, found.counts.signed_sets), (OWN_NAMES, good()));
    assert_eq!((found.counts.delegations, found.counts.secure_delegations), (3, 1));
    assert_eq!(found.counts.verifications, good());
}

#[test]
fn accepts_a_valid_nsec3_zone() {
    // Eleven names, and the empty non-terminals wild, deep, b.deep and off. The parameters are a set too.
    let found = nsec3().verify();
    assert_eq!(found.lines, [""; 0]);
    assert_eq!(found.counts.good_signatures, OWN_SETS + 1 + OWN_NAMES + 4);
    let opted_out = sign(PLAIN, key(), OPT_OUT).verify();
    assert_eq!(opted_out.lines, [""; 0]);
    // The chain omits plain, far.off and the empty non-terminal above it.
    assert_eq!(opted_out.counts.good_signatures, OWN_SETS + 1 + OWN_NAMES + 4 - 3);
}

#[test]
fn every_algorithm_verifies() {
    for algorithm in DnssecAlgorithm::SUPPORTED {
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
fn detects_flipped_bits_of_a_signature() {
    let start = rrsig("mail.example.", "A");
    for from_end in [12, 40, 80] {
        let zone = nsec().with(&start, |line| flipped(line, from_end));
        let found = expect(&zone, &[format!("{} mail.example. A bad-signature", zone.line(&start))], 1);
        assert!(found.report.findings[0].key_tag == Some(key()[0].tag()));
    }
    // The signature is too short, or its data is malformed.
    let zone = nsec().with(&start, |line| line[..line.len() - 8].to_owned());
    expect(&zone, &[format!("{} mail.example. A bad-signature", zone.line(&start))], 1);
}

#[test]
fn detects_flipped_bits_of_data() {
    let zone = nsec().replaced("mail.example. 3600 IN A 192.0.2.3", "192.0.2.3", "192.0.2.7");
    let at = zone.line(&rrsig("mail.example.", "A"));
    expect(&zone, &[format!("{at} mail.example. A bad-signature")], 1);
    let zone = nsec().without("mail.example. 3600 IN A 192.0.2.3");
    expect(&zone, &[format!("{at} mail.example. A bad-signature")], 1);
}

#[test]
fn a_flipped_bit_in_a_key_fails_the_whole_zone() {
    // The point of the key is invalid, and then that of another key.
    let line = key()[0].line("example.");
    for from_end in [1, 30] {
        let at = line.len() - from_end;
        let digit = if line.as_bytes()[at] == b'1' { '2' } else { '1' };
        let other = format!("{}{digit}{}", &line[..at], &line[at + 1..]);
        let found = nsec().with("example. 3600 IN DNSKEY", |_| other.clone()).verify();
        let failures = found.report.failures() as u64;
        assert!(found.counts.good_signatures == 0 && failures >= good(), "{:?}", found.lines);
        let owners = found.report.findings.iter().map(|finding| &finding.reason);
        let unknown = owners.filter(|reason| **reason == FindingReason::UnknownKey).count() as u64;
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
fn rejects_a_signature_with_another_label_count() {
    let start = rrsig("mail.example.", "A");
    for count in [1, 3, 0, 255] {
        let zone = nsec().replaced(&start, "A 13 2 ", &format!("A 13 {count} "));
        let found = expect(&zone, &[format!("{} mail.example. A wrong-labels", zone.line(&start))], 1);
        assert_eq!(found.report.findings[0].reason, FindingReason::WrongLabels { expected: 2, found: count });
    }
}

/// RFC 4035 2.2: a record expanded from a wildcard is not allowed in a zone, though a resolver would accept it.
#[test]
fn rejects_records_expanded_from_a_wildcard() {
    let (record, signature) = ("*.wild.example. 3600 IN TXT", rrsig("*.wild.example.", "TXT"));
    let copy = |start: &str| nsec().0[nsec().line(start) - 1].replacen("*.wild", "made.wild", 1);
    let zone = nsec().and(&copy(record)).and(&copy(&signature));
    let at = zone.line(&rrsig("made.wild.example.", "TXT"));
    let chain = zone.line("*.wild.example. 300 IN NSEC");
    let lines = [
        format!("{chain} *.wild.example. NSEC gap"),
        "- made.wild.example. NSEC denial-missing".to_owned(),
        format!("{at} made.wild.example. TXT wrong-labels"),
    ];
    expect(&zone, &lines, 0);
}

#[test]
fn a_signature_is_valid_within_its_lifetime_only() {
    let at = |now| verify_with(&nsec().text(), VerifySettings::at(now), &[]);
    for (now, code) in [(NOW + 1001, "expired"), (NOW - 1001, "not-yet-valid")] {
        let found = at(now);
        assert_eq!((found.report.failures() as u64, found.counts.verifications), (good(), 0));
        assert!(found.lines.iter().all(|line| line.ends_with(code)), "{:?}", found.lines);
    }
    for now in [NOW - 1000, NOW + 1000] {
        assert_eq!(at(now).lines, [""; 0]);
    }
    let expired = at(NOW + 1001);
    assert_eq!(expired.report.findings[0].reason, FindingReason::Expired { expiration: NOW + 1000 });
}

#[test]
fn a_good_signature_makes_an_expired_one_a_warning() {
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
fn rejects_a_signature_of_another_zone() {
    let start = rrsig("mail.example.", "A");
    let zone = nsec().with(&start, |line| line.replacen(" example. ", " mail.example. ", 1));
    let found = expect(&zone, &[format!("{} mail.example. A wrong-signer", zone.line(&start))], 1);
    assert!(found.report.findings[0].reason.to_string().contains("mail.example."));
}

#[test]
fn reports_a_signature_of_an_unknown_key() {
    let start = rrsig("mail.example.", "A");
    let tag = key()[0].tag();
    let zone = nsec().with(&start, |line| line.replacen(&format!(" {tag} "), &format!(" {} ", tag ^ 1), 1));
    expect(&zone, &[format!("{} mail.example. A unknown-key", zone.line(&start))], 1);
}

/// Makes keys with the same tag: swapping words of an RSA modulus keeps their sum.
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
    let keys = [SigningKey::new(DnssecAlgorithm::RSASHA256, 257)];
    let mut text = PLAIN.to_owned();
    for rdata in colliding(&keys[0], 99) {
        text += &format!("example. 3600 IN DNSKEY \\# {} {}\n", rdata.len(), common::signer::hex(&rdata));
    }
    let zone = sign(&text, &keys, Denial::Nsec);
    let max =
        |max_keys| verify_with(&zone.text(), VerifySettings { max_keys, ..VerifySettings::at(NOW) }, &[]);
    for max_keys in [1, 4] {
        let found = max(max_keys);
        let usable = found.lines.iter().filter(|line| line.ends_with("unusable-key")).count();
        assert!(found.counts.verifications <= good() * max_keys as u64, "{:?}", found.counts);
        let many = found.lines.iter().filter(|line| line.ends_with("too-many-keys")).count() as u64;
        assert_eq!(many + found.counts.good_signatures, good());
        assert_eq!(found.report.failures() as u64, many + usable as u64);
    }
    let all = max(1000);
    assert_eq!(all.counts.good_signatures, good());
    // Each of a hundred bad signatures with that tag costs a few verifications.
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
fn a_revoked_key_with_the_same_tag_does_not_hinder_another_key() {
    let keys = [SigningKey::new(DnssecAlgorithm::RSASHA256, 257)];
    // A word of the modulus compensates for the revoke bit.
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
fn detects_gaps_in_an_nsec_chain() {
    let next = nsec().0[nsec().line("mail.example. 300 IN NSEC ") - 1].split(' ').nth(4).unwrap().to_owned();
    // The record is missing.
    let gone = nsec().without("mail.example. 300 IN NSEC ").without(&rrsig("mail.example.", "NSEC"));
    expect(&gone, &["- mail.example. NSEC denial-missing".to_owned()], 1);
    // The record skips a name.
    let zone = nsec().replaced("mail.example. 300 IN NSEC ", &next, "www.example.");
    let (at, signature) =
        (zone.line("mail.example. 300 IN NSEC "), zone.line(&rrsig("mail.example.", "NSEC")));
    let lines =
        [format!("{at} mail.example. NSEC gap"), format!("{signature} mail.example. NSEC bad-signature")];
    let found = expect(&zone, &lines, 1);
    assert_eq!(
        found.report.findings[0].reason,
        FindingReason::Gap { expected: next, found: "www.example.".into() }
    );
    // The record omits a type.
    let zone = nsec().replaced("mail.example. 300 IN NSEC ", " A RRSIG", " RRSIG");
    let lines =
        [format!("{at} mail.example. NSEC types"), format!("{signature} mail.example. NSEC bad-signature")];
    let found = expect(&zone, &lines, 1);
    let types = |text: &str| text.to_owned();
    assert_eq!(
        found.report.findings[0].reason,
        FindingReason::Types { expected: types("A RRSIG NSEC"), found: types("RRSIG NSEC") }
    );
}

#[test]
fn rejects_a_zone_without_nsec_and_nsec3() {
    let lines: Vec<String> = nsec().0.iter().filter(|line| !line.contains(" NSEC ")).cloned().collect();
    let found = Zone(lines).verify();
    assert_eq!(found.lines, ["- example. NSEC no-denial"]);
    assert_eq!(found.counts.good_signatures, OWN_SETS);
}

#[test]
fn records_of_a_chain_belong_to_names_of_the_zone() {
    let zone = nsec().and("ns.secure.example. 300 IN NSEC plain.example. A RRSIG NSEC");
    expect(&zone, &[format!("{} ns.secure.example. NSEC denial-needless", zone.0.len())], 0);
    // A hash without parameters in the zone.
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

/// Returns the index of the only NSEC3 record whose bitmap ends so.
fn link(zone: &Zone, types: &str) -> usize {
    let mut found =
        zone.0.iter().enumerate().filter(|(_, line)| line.contains(" IN NSEC3 ") && line.ends_with(types));
    let at = found.next().unwrap().0;
    assert!(found.next().is_none());
    at
}

#[test]
fn detects_gaps_in_an_nsec3_chain() {
    let at = link(nsec3(), " CNAME RRSIG");
    let owner = nsec3().0[at].split(' ').next().unwrap().to_owned();
    let gone = nsec3().without(&format!("{owner} "));
    let found = gone.verify();
    let codes: Vec<&str> = found.lines.iter().map(|line| line.split_once(' ').unwrap().1).collect();
    assert_eq!(codes.len(), 2, "{codes:?}");
    assert!(codes[0].ends_with("NSEC3 gap"), "{codes:?}");
    assert_eq!(found.lines[1], "- www.example. NSEC3 denial-missing");
    assert_eq!(found.counts.good_signatures, OWN_SETS + 1 + OWN_NAMES + 4 - 1);
    // The bitmap is wrong.
    let mut zone = nsec3().clone();
    zone.0[at] = zone.0[at].replace(" CNAME RRSIG", " A CNAME RRSIG");
    let found = zone.verify();
    let signature = zone.line(&rrsig(&owner, "NSEC3"));
    assert_eq!(
        found.lines,
        [format!("{} www.example. NSEC3 types", at + 1), format!("{signature} {owner} NSEC3 bad-signature")]
    );
    // The hash belongs to no name.
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

/// RFC 9276 3.2.
#[test]
fn limits_nsec3_iterations() {
    let many = sign(PLAIN, key(), Denial::Nsec3 { iterations: 20, salt: "aabb", opts_out: false });
    let at = many.line("example. 0 IN NSEC3PARAM");
    let found = many.verify();
    assert_eq!(found.lines, [format!("~{at} example. NSEC3PARAM nsec3-iterations")]);
    let limited =
        verify_with(&many.text(), VerifySettings { max_iterations: 19, ..VerifySettings::at(NOW) }, &[]);
    assert_eq!(limited.lines, [format!("{at} example. NSEC3PARAM nsec3-too-many-iterations")]);
    assert_eq!(limited.report.findings[0].reason, FindingReason::TooManyIterations { found: 20, max: 19 });
    assert_eq!(limited.counts.good_signatures, found.counts.good_signatures);
    // With other parameters, every hash of the chain is another one.
    let zone = nsec3().replaced("example. 0 IN NSEC3PARAM", "1 0 0 -", "1 0 65535 -");
    let found = zone.verify();
    let at = zone.line("example. 0 IN NSEC3PARAM");
    assert!(found.lines.contains(&format!("{at} example. NSEC3PARAM nsec3-too-many-iterations")));
}

#[test]
fn limits_the_number_of_nsec3_chains() {
    let mut text = PLAIN.to_owned();
    for salt in 0..10 {
        text += &format!("example. 0 IN NSEC3PARAM 1 0 100 {salt:02x}\n");
    }
    let found = sign(&text, key(), NSEC3).verify();
    assert_eq!(found.report.failures(), 1);
    assert_eq!(found.report.findings[0].reason, FindingReason::TooManyChains { found: 11, max: 4 });
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
    // The chain may omit an insecure delegation.
    assert_eq!(zone.and("late.example. 3600 IN NS ns.example.net.").verify().lines, [""; 0]);
    assert_eq!(sign(&text, key(), NSEC3).verify().lines, [""; 0]);
    let plain = nsec3().and("late.example. 3600 IN NS ns.example.net.").verify();
    assert_eq!(plain.lines, ["- late.example. NSEC3 denial-missing"]);
    // The chain must not omit a secure delegation or a name of the zone.
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
