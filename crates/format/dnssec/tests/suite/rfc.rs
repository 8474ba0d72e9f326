//! Zones, answers and signatures printed in RFCs: the signatures of their authors verify on each engine.

use oarlock::{DigestAlg, Input, Job};
use oarlock_dnssec::{
    Dnskey, DomainName, DomainNameBuf, LetterCase, RecordSets, RecordType, Rrsig, VerifySettings,
    ZONEMD_SIMPLE, ZonePublicKey, Zonemd, signed_labels, zone_digest, zonemd_digest,
};

use crate::common::zones::flipped;
use crate::common::{engines, read, verify_with};

const RFC_4035: &str = include_str!("../rfc/rfc4035-a.zone");
const RFC_5155: &str = include_str!("../rfc/rfc5155-a.zone");
const RFC_6605: &str = include_str!("../rfc/rfc6605-6.zone");
const RFC_8080: &str = include_str!("../rfc/rfc8080-6.zone");
/// The text and the name of each zone of RFC 8976 Appendix A.
const RFC_8976: [(&str, &str); 5] = [
    (include_str!("../rfc/rfc8976-a1.zone"), "example."),
    (include_str!("../rfc/rfc8976-a2.zone"), "example."),
    (include_str!("../rfc/rfc8976-a3.zone"), "example."),
    (include_str!("../rfc/rfc8976-a4.zone"), "uri.arpa."),
    (include_str!("../rfc/rfc8976-a5.zone"), "root-servers.net."),
];

/// 2004-04-12, within the lifetime of the signatures.
const RFC_4035_NOW: u32 = 1_081_800_000;
/// 2008-01-10.
const RFC_5155_NOW: u32 = 1_200_000_000;
/// 2010-09-01.
const RFC_6605_NOW: u32 = 1_283_299_200;
/// 2015-08-08.
const RFC_8080_NOW: u32 = 1_439_000_000;
/// 2021-02-01.
const RFC_8976_NOW: u32 = 1_612_137_600;

/// RFC 4035 Appendix A: RSA of 1024 bits with SHA-1, and NSEC.
#[test]
fn the_zone_of_rfc_4035_verifies() {
    let found = verify_with(RFC_4035, VerifySettings::at(RFC_4035_NOW), &[]);
    assert_eq!((found.lines, found.faults), (Vec::new(), Vec::new()));
    let signatures = signature_count(RFC_4035);
    assert_eq!((found.counts.good_signatures, found.counts.verifications), (signatures, signatures));
    assert_eq!((found.counts.delegations, found.counts.secure_delegations), (2, 1));
    let damaged = damaged(RFC_4035, "ai.example. 3600 IN RRSIG HINFO ");
    let found = verify_with(&damaged, VerifySettings::at(RFC_4035_NOW), &[]);
    assert!(matches!(&found.lines[..], [line] if line.ends_with(" ai.example. HINFO bad-signature")));
}

/// RFC 5155 Appendix A: RSA of 512 bits with SHA-1, NSEC3 with opt-out, and a name that looks like a hash.
#[test]
fn the_zone_of_rfc_5155_verifies() {
    let found = verify_with(RFC_5155, VerifySettings::at(RFC_5155_NOW), &[]);
    // RFC 9276 3.1 is newer than the zone.
    let warning = "~12 example. NSEC3PARAM nsec3-iterations".to_owned();
    assert_eq!((found.lines, found.faults), (vec![warning], Vec::new()));
    let signatures = signature_count(RFC_5155);
    assert_eq!((found.counts.good_signatures, found.counts.verifications), (signatures, signatures));
}

/// RFC 4035 B.6 and RFC 5155 B.4: a.z.w.example MX, expanded from *.w.example.
#[test]
fn answers_expanded_from_a_wildcard_verify() {
    for zone in [RFC_4035, RFC_5155] {
        assert!(is_signed_answer(zone, "a.z.w.example.", "*.w.example.", RecordType::MX));
        // Another wildcard, and a damaged signature.
        assert!(!is_signed_answer(zone, "a.z.v.example.", "*.w.example.", RecordType::MX));
        let damaged = damaged(zone, "*.w.example. 3600 IN RRSIG MX ");
        assert!(!is_signed_answer(&damaged, "a.z.w.example.", "*.w.example.", RecordType::MX));
    }
}

/// Returns true if the signature is good for an answer expanded from a wildcard: the set of the zone under another
/// name.
fn is_signed_answer(zone: &str, owner: &str, wildcard: &str, rtype: RecordType) -> bool {
    let (records, _) = read(zone);
    let sets = RecordSets::new(&records);
    let of_type =
        |name: &str, rtype| sets.of_type(sets.find(self::name(name).name()).unwrap(), rtype).unwrap();
    let set = of_type(wildcard, rtype);
    let rrsig = Rrsig::read(records.get(set.signatures[0] as usize).data).unwrap();
    let owner = name(owner);
    assert!(usize::from(rrsig.labels) < signed_labels(owner.name()));
    let mut message = Vec::new();
    rrsig.write_signed(owner.name(), set.data(), &mut message);
    let keys = of_type("example.", RecordType::DNSKEY);
    let mut keys = keys.data().map(|data| Dnskey::parse(data).unwrap());
    let key = keys.find(|key| key.key_tag() == rrsig.key_tag).unwrap();
    is_signed(&key, &message, rrsig.signature)
}

/// Returns the verdict on a signature, which must be the same on each engine.
fn is_signed(key: &Dnskey<'_>, message: &[u8], signature: &[u8]) -> bool {
    let Ok(ZonePublicKey::Accelerated(public)) = key.public_key() else { return false };
    let scheme = key.algorithm.verify_scheme().unwrap();
    let job = Job::with_scheme(scheme, &public, Input::Message(message), signature);
    let verdicts: Vec<bool> = engines().iter().map(|engine| engine.run_all(&[job]).get(0).is_ok()).collect();
    assert!(verdicts.iter().all(|verdict| *verdict == verdicts[0]), "engines differ: {verdicts:?}");
    verdicts[0]
}

/// RFC 6605 6.1 and 6.2, RFC 8080 6.1 and 6.2: sets of zones that are printed in part.
#[test]
fn sets_signed_on_every_curve_verify() {
    let examples = [(RFC_6605, "example.net.", RFC_6605_NOW, 2), (RFC_8080, "example.com.", RFC_8080_NOW, 4)];
    for (records, apex, now, count) in examples {
        let zone = format!("{records}{apex} 3600 IN SOA . . 1 2 3 4 5\n{apex} 3600 IN NS ns.example.org.\n");
        let found = verify_with(&zone, VerifySettings::at(now), &[]);
        assert_eq!((found.counts.good_signatures, found.counts.verifications), (count, count));
        assert!(!found.lines.iter().any(|line| line.ends_with("bad-signature")), "{:?}", found.lines);
        for signature in records.lines().filter(|line| line.contains(" IN RRSIG ")) {
            let damaged = zone.replacen(signature, &flipped(signature, 20), 1);
            assert_eq!(verify_with(&damaged, VerifySettings::at(now), &[]).counts.good_signatures, count - 1);
        }
    }
}

/// RFC 8976 A.4: RSA of 1024 and 2048 bits with SHA-256, NSEC and a digest.
#[test]
fn the_signed_zone_of_rfc_8976_verifies() {
    let (zone, _) = RFC_8976[3];
    let found = verify_with(zone, VerifySettings::at(RFC_8976_NOW), &[]);
    assert_eq!((found.lines, found.faults), (Vec::new(), Vec::new()));
    assert_eq!(found.counts.good_signatures, signature_count(zone));
}

/// RFC 8976 A.1 to A.5: every digest of a known kind.
#[test]
fn computes_the_zone_digests_of_the_standard() {
    let one = vec![DigestAlg::Sha384];
    let two = vec![DigestAlg::Sha384, DigestAlg::Sha512];
    let kinds = RFC_8976.map(|(zone, apex)| known_digests(zone, apex));
    assert_eq!(kinds, [one.clone(), one.clone(), two, one.clone(), one]);
    for (zone, apex) in RFC_8976 {
        let is_wrong = |zone: &str| {
            let lines = verify_with(zone, VerifySettings::at(RFC_8976_NOW), &[]).lines;
            lines.iter().any(|line| line.ends_with(" zonemd"))
        };
        assert!(!is_wrong(zone), "{apex}");
        assert!(is_wrong(&format!("{zone}another.{apex} 60 IN A 192.0.2.1\n")), "{apex}");
    }
}

/// Returns the kinds of the zone digests that match the records.
fn known_digests(zone: &str, apex: &str) -> Vec<DigestAlg> {
    let ((records, faults), apex) = (read(zone), name(apex));
    assert_eq!(faults, [""; 0]);
    let sets = RecordSets::new(&records);
    let set = sets.of_type(sets.find(apex.name()).unwrap(), RecordType::ZONEMD).unwrap();
    let simple = set.data().filter_map(Zonemd::read).filter(|one| one.scheme == ZONEMD_SIMPLE);
    let known: Vec<_> = simple.filter_map(|one| Some((zonemd_digest(one.algorithm)?, one.digest))).collect();
    for (alg, digest) in &known {
        let digests = engines().iter().map(|engine| zone_digest(engine, &sets, apex.name(), *alg).unwrap());
        assert!(digests.into_iter().all(|one| one == *digest), "{alg:?} of {apex}");
    }
    known.into_iter().map(|(alg, _)| alg).collect()
}

fn name(text: &str) -> DomainNameBuf {
    DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, LetterCase::Lower).unwrap()
}

/// Counts the signatures of a zone, one in each line.
fn signature_count(zone: &str) -> u64 {
    zone.lines().filter(|line| line.contains(" IN RRSIG ")).count() as u64
}

/// Changes a character of the signature in the line with this start.
fn damaged(text: &str, start: &str) -> String {
    let change = |line: &str| if line.starts_with(start) { flipped(line, 20) } else { line.to_owned() };
    let damaged: Vec<String> = text.lines().map(change).collect();
    let damaged = damaged.join("\n") + "\n";
    assert_ne!(damaged, text);
    damaged
}
