//! Zones with invalid or unreadable records, and the checks of digests, anchors and unusual algorithms.

use std::sync::LazyLock;

use oarlock_dnssec::{
    AnchorData, DigestType, Dnskey, DnskeyError, DnssecAlgorithm, FindingReason, RecordType, Rrsig,
    TrustAnchor, VerifySettings, ds_rdata,
};

use crate::common::signer::{Denial, NSEC3, SigningKey, resigned, sign, sign_with_digest};
use crate::common::zones::{OWN_NAMES, PLAIN, expect, flipped, good, key, nsec, rrsig};
use crate::common::{self, NOW, Zone, engines, read, verify, verify_with};

fn digested() -> &'static Zone {
    static ZONE: LazyLock<Zone> = LazyLock::new(|| sign_with_digest(PLAIN, key(), Denial::Nsec));
    &ZONE
}

#[test]
fn rejects_a_wrong_zone_digest() {
    assert_eq!(digested().verify().lines, [""; 0]);
    // The digest covers glue, but no signature does.
    let glue = digested().replaced("ns.secure.example. 3600 IN A", "192.0.2.5", "192.0.2.6");
    let at = glue.line("example. 3600 IN ZONEMD");
    let found = glue.verify();
    assert_eq!(found.lines, [format!("{at} example. ZONEMD zonemd")]);
    assert_eq!(found.counts.good_signatures, good() + 1);
    // The order of the file does not matter.
    let mut turned = digested().clone();
    turned.0.reverse();
    assert_eq!(turned.verify().lines, [""; 0]);
    // The digest does not cover records outside the zone.
    let other = digested().and("elsewhere.test. 3600 IN A 192.0.2.1").verify();
    assert_eq!(other.lines.len(), 1);
    assert!(other.lines[0].ends_with("elsewhere.test. A out-of-zone"));
}

#[test]
fn reports_the_fault_of_each_zone_digest() {
    let change = |change: &dyn Fn(&str) -> String| {
        resigned(&digested().with("example. 3600 IN ZONEMD", change), key(), RecordType::ZONEMD)
            .verify()
            .lines
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
    // One good digest is enough.
    assert_eq!(change(&|line| format!("{line}\nexample. 3600 IN ZONEMD 7 1 2 {}", "00".repeat(64))), [""; 0]);
    assert_eq!(change(&|line| format!("{line}\nexample. 3600 IN ZONEMD 7 9 1 {}", "00".repeat(48))), [""; 0]);
}

#[test]
fn reports_an_unsigned_zone_and_checks_its_digest() {
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
fn reports_duplicates_of_records() {
    let line = "mail.example. 3600 IN A 192.0.2.3";
    let zone = nsec().and(line);
    expect(&zone, &[format!("~{} mail.example. A duplicate", zone.0.len())], 0);
    let zone = nsec().and("MAIL.Example. 3600 IN A 192.0.2.3");
    expect(&zone, &[format!("~{} mail.example. A duplicate", zone.0.len())], 0);
    let zone = nsec().and("mail.example. 60 IN A 192.0.2.3");
    let at = zone.0.len();
    expect(
        &zone,
        &[format!("~{at} mail.example. A duplicate"), format!("{at} mail.example. A ttl-mismatch")],
        0,
    );
}

#[test]
fn the_first_soa_of_the_file_names_the_zone() {
    let zone = nsec().and("aaa. 3600 IN SOA a. b. 1 2 3 4 5");
    expect(&zone, &[format!("{} aaa. SOA out-of-zone", zone.0.len())], 0);
}

#[test]
fn rejects_times_to_live_that_differ_from_the_signed_ones() {
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
fn layout_and_notation_do_not_change_the_records() {
    // CRLF, tabs, another origin, parentheses, comments, generated and included records.
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
fn an_unreadable_entry_is_skipped_and_its_line_named() {
    let mut text = nsec().text();
    let count = nsec().0.len() as u32;
    text += "bad.example. 3600 IN A 192.0.2.256\nopen.example. 3600 IN TXT ( x\ngood.example. 3600 IN A\nend.example. 3600 IN TXT \"cut";
    let found = verify(&text);
    let line = |after: u32, text: &str| format!("{}: {text}", count + after);
    assert_eq!(
        found.faults,
        [
            line(1, "found `192.0.2.256`, expected an IPv4 address"),
            line(2, "a parenthesis is never closed"),
            line(3, "the entry ends, expected an IPv4 address"),
            line(4, "a quoted string does not end in its line"),
        ]
    );
    assert_eq!((found.lines, found.counts.good_signatures), (Vec::new(), good()));
}

#[test]
fn a_truncated_zone_file_fails_its_checks() {
    let text = nsec().text();
    let cut = text.find("secure.example. 3600 IN DS").unwrap();
    let found = verify(&text[..cut + 40]);
    assert_eq!(found.faults.len(), 1);
    assert!(found.faults[0].starts_with(&format!("{}: ", nsec().line("secure.example. 3600 IN DS"))));
    // The records before the end are good, except the chain and a delegation that has lost its glue.
    assert!(found.counts.good_signatures > 10);
    assert!(found.lines.contains(&"- secure.example. NSEC denial-missing".to_owned()), "{:?}", found.lines);
}

#[test]
fn every_algorithm_of_the_keys_signs_every_set() {
    let keys = [
        SigningKey::new(DnssecAlgorithm::ECDSAP256SHA256, 257),
        SigningKey::new(DnssecAlgorithm::ED25519, 257),
        SigningKey::new(DnssecAlgorithm::ED25519, 256),
    ];
    let zone = sign(PLAIN, &keys, Denial::Nsec);
    let found = zone.verify();
    assert_eq!((found.lines, found.counts.good_signatures), (Vec::new(), 3 * good()));
    let at = zone.line("mail.example. 3600 IN A 192.0.2.2");
    let gone = zone.without("mail.example. 3600 IN RRSIG A 13 ").verify();
    assert_eq!(gone.lines, [format!("{at} mail.example. A missing")]);
    assert_eq!(
        gone.report.findings[0].reason,
        FindingReason::MissingSignature(DnssecAlgorithm::ECDSAP256SHA256)
    );
    // One signature of each algorithm is enough.
    let tag = keys[2].tag();
    let less =
        Zone(zone.0.iter().filter(|line| !line.contains(&format!(" {tag} example. "))).cloned().collect());
    let found = less.verify();
    assert_eq!((found.lines, found.counts.good_signatures), (Vec::new(), 2 * good()));
    // No signature at all, and then a signature without records.
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
    let keys = [
        SigningKey::new(DnssecAlgorithm::ED25519, 257),
        SigningKey::new(DnssecAlgorithm::ED25519, 257 | 0x80),
    ];
    let zone = sign(PLAIN, &keys, Denial::Nsec);
    let found = zone.verify();
    // The signature of the other key makes it a warning.
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
fn unknown_algorithms_are_unsupported_and_not_bad() {
    for number in [1, 3, 6, 12, 17, 23, 252, 253, 254] {
        let keys = [SigningKey::new(DnssecAlgorithm::ED25519, 257)];
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
fn accepts_an_unsupported_algorithm_beside_a_supported_one() {
    let text = format!("{PLAIN}example. 3600 IN DNSKEY 257 3 253 AQIDBAUGBwg=\n");
    let zone = sign(&text, key(), Denial::Nsec);
    expect(&zone, &[], 0);
    // A signature with an unsupported algorithm does not count as bad.
    let start = rrsig("mail.example.", "A");
    let extra = zone.0[zone.line(&start) - 1].replacen("A 13 ", "A 253 ", 1);
    let found = expect(&zone.and(&extra), &[], 0);
    assert_eq!(found.counts.unsupported_signatures, 1);
}

#[test]
fn reports_unusable_keys() {
    let text = format!("{PLAIN}example. 3600 IN DNSKEY 257 3 15 AQIDBAUGBwg=\n");
    let zone = sign(&text, key(), Denial::Nsec);
    let at = zone.line("example. 3600 IN DNSKEY 257 3 15 ");
    let found = expect(&zone, &[format!("{at} example. DNSKEY unusable-key")], 0);
    let length = DnskeyError::Length { algorithm: DnssecAlgorithm::ED25519, expected: 32, found: 8 };
    assert_eq!(found.report.findings[0].reason, FindingReason::UnusableKey(length));
    // A key without the zone key bit is ignored.
    let text = format!("{PLAIN}example. 3600 IN DNSKEY 0 3 15 AQIDBAUGBwg=\n");
    expect(&sign(&text, key(), Denial::Nsec), &[], 0);
}

#[test]
fn records_outside_the_zone_are_not_signed() {
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
fn reports_records_of_other_zones() {
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
fn checks_delegations() {
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
    let (_, faults) = read("short.example. 3600 IN DS \\# 6 000100020102\n");
    assert_eq!(faults, ["1: the length of a SHA-256 digest is 2: 32 bytes are allowed"]);
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
    let sets = oarlock_dnssec::RecordSets::new(&records);
    assert!(oarlock_dnssec::ZoneVerifier::new(&sets, VerifySettings::at(NOW)).is_err());
    let (records, _) = read("");
    let sets = oarlock_dnssec::RecordSets::new(&records);
    assert!(oarlock_dnssec::ZoneVerifier::new(&sets, VerifySettings::at(NOW)).is_err());
}

/// RFC 6672 2.3: hashed names may stand below a DNAME of the apex.
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
        oarlock_dnssec::DomainNameBuf::parse(
            b"example.",
            oarlock_dnssec::DomainName::ROOT,
            oarlock_dnssec::LetterCase::Lower,
        ),
    );
    let (name, dnskey) = (name.unwrap(), Dnskey::parse(&keys[0].rdata).unwrap());
    let ds = |digest| ds_rdata(&engines()[0], name.name(), &dnskey, digest).unwrap();
    let found = |zone: &Zone, anchors: &[TrustAnchor]| {
        verify_with(&zone.text(), VerifySettings::at(NOW), anchors).lines
    };
    let not_anchored = ["- example. DNSKEY not-anchored"];
    for digest in [DigestType::SHA1, DigestType::SHA256, DigestType::SHA384] {
        assert_eq!(found(nsec(), &[anchor_ds(ds(digest))]), [""; 0]);
        let mut wrong = ds(digest);
        *wrong.last_mut().unwrap() ^= 1;
        assert_eq!(found(nsec(), &[anchor_ds(wrong.clone())]), not_anchored);
        assert_eq!(found(nsec(), &[anchor_ds(wrong), anchor_key(keys[0].rdata.clone())]), [""; 0]);
    }
    let mut unsupported = ds(DigestType::SHA256);
    unsupported[3] = 3;
    assert_eq!(found(nsec(), &[anchor_ds(unsupported)]), not_anchored);
    // RFC 4509 section 3: a SHA-1 digest counts only without a stronger supported one.
    let mut other_key = ds(DigestType::SHA256);
    *other_key.last_mut().unwrap() ^= 1;
    assert_eq!(found(nsec(), &[anchor_ds(ds(DigestType::SHA1)), anchor_ds(other_key.clone())]), not_anchored);
    other_key[2] = 200;
    assert_eq!(found(nsec(), &[anchor_ds(ds(DigestType::SHA1)), anchor_ds(other_key)]), [""; 0]);
    let other = SigningKey::new(DnssecAlgorithm::ECDSAP256SHA256, 257);
    assert_eq!(found(nsec(), &[anchor_key(other.rdata.clone())]), not_anchored);
    assert_eq!(found(nsec(), &[anchor_key(Vec::new()), anchor_ds(vec![0])]), not_anchored);
    // The key exists but does not sign the keys.
    let text = format!("{PLAIN}{}\n", other.line("example."));
    let zone = sign(&text, keys, Denial::Nsec);
    assert_eq!(found(&zone, &[anchor_key(other.rdata)]), not_anchored);
    assert_eq!(found(&zone, &[anchor_key(keys[0].rdata.clone())]), [""; 0]);
    // Digests of another zone are ignored.
    let of_zone = |zone: &[u8], digest| {
        let owner = oarlock_dnssec::DomainNameBuf::parse(
            zone,
            oarlock_dnssec::DomainName::ROOT,
            oarlock_dnssec::LetterCase::Lower,
        );
        TrustAnchor { owner: owner.unwrap(), data: AnchorData::Ds(ds(digest)) }
    };
    let mixed = [of_zone(b"example.", DigestType::SHA1), of_zone(b"example.net.", DigestType::SHA256)];
    assert_eq!(found(nsec(), &mixed), [""; 0]);
    assert_eq!(found(nsec(), &mixed[1..]), not_anchored);
}

fn anchor_ds(data: Vec<u8>) -> TrustAnchor {
    TrustAnchor { owner: example(), data: AnchorData::Ds(data) }
}

fn anchor_key(data: Vec<u8>) -> TrustAnchor {
    TrustAnchor { owner: example(), data: AnchorData::Dnskey(data) }
}

fn example() -> oarlock_dnssec::DomainNameBuf {
    oarlock_dnssec::DomainNameBuf::parse(
        b"example.",
        oarlock_dnssec::DomainName::ROOT,
        oarlock_dnssec::LetterCase::Lower,
    )
    .unwrap()
}

#[test]
fn reports_malformed_signatures() {
    let start = rrsig("mail.example.", "A");
    let (records, _) = read(&nsec().0[nsec().line(&start) - 1]);
    let data = records.get(0).data.to_vec();
    let head = Rrsig::read(&data).unwrap().head.len();
    let line =
        |data: &[u8]| format!("mail.example. 3600 IN RRSIG \\# {} {}", data.len(), common::signer::hex(data));
    // The lengths that the generic form can state.
    for len in [2, 17, 18, head - 1, head] {
        let zone = nsec().with(&start, |_| line(&data[..len]));
        let found = zone.verify();
        assert_eq!((found.faults.len(), found.counts.good_signatures), (1, good() - 1), "{len}");
        let at = nsec().line("mail.example. 3600 IN A 192.0.2.2");
        assert_eq!(found.lines, [format!("{at} mail.example. A missing")]);
    }
}
