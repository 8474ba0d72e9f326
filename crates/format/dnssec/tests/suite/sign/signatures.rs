//! Signatures: their sets, keys and lifetimes, and the reuse of earlier ones.

use std::collections::BTreeSet;

use oarlock::keys::raw;
use oarlock::{Accelerator, Input, Job, MlDsaSet, SlhDsaSet};
use oarlock_dnssec::sign::{DenialMethod, KeyRole, Nsec3Options, SignOptions, SignerKey};
use oarlock_dnssec::{
    Dnskey, DnssecAlgorithm, RecordSets, RecordType, Rrsig, VerifyReport, VerifySettings, ZonePublicKey,
    ZoneRecords, ZoneVerifier,
};

use super::zones::{RFC_4035, RFC_5155};
use super::{NOW, engines, key, lines, of_type, options, pair, scalar, signed, zone};

fn denials() -> [DenialMethod; 3] {
    let nsec3 = |is_opt_out| DenialMethod::Nsec3(Nsec3Options { is_opt_out, ..Nsec3Options::default() });
    [DenialMethod::Nsec, nsec3(false), nsec3(true)]
}

/// Verifies every signature, and returns owner, type and key tags of every set.
fn verified(accelerator: &Accelerator, records: &ZoneRecords) -> Vec<(String, RecordType, Vec<u16>)> {
    let sets = RecordSets::new(records);
    let keys: Vec<_> = records.iter().filter(|record| record.rtype == RecordType::DNSKEY).collect();
    let keys: Vec<_> = keys.iter().map(|record| Dnskey::parse(record.data).unwrap()).collect();
    let mut found = Vec::new();
    for set in (0..sets.name_count()).flat_map(|name| sets.of_name(name).collect::<Vec<_>>()) {
        let tags = set.signatures.iter().map(|row| {
            let record = records.get(*row as usize);
            let rrsig = Rrsig::read(record.data).unwrap();
            assert_eq!((record.ttl, rrsig.original_ttl), (set.ttl(), set.ttl()));
            let key = keys.iter().find(|key| key.key_tag() == rrsig.key_tag).unwrap();
            let ZonePublicKey::Accelerated(public) = key.public_key().unwrap() else { unreachable!() };
            let mut message = Vec::new();
            rrsig.write_signed(set.owner, set.data(), &mut message);
            let scheme = key.algorithm.verify_scheme().unwrap();
            let job = Job::with_scheme(scheme, &public, Input::Message(&message), rrsig.signature);
            accelerator.run_all(&[job]).get(0).unwrap();
            rrsig.key_tag
        });
        found.push((set.owner.to_string(), set.rtype, tags.collect()));
    }
    found
}

fn tags_of(found: &[(String, RecordType, Vec<u16>)], owner: &str, rtype: RecordType) -> Vec<u16> {
    let row = found.iter().find(|(name, other, _)| name == owner && *other == rtype);
    row.map(|(_, _, tags)| tags.clone()).unwrap()
}

#[test]
fn signs_a_zone_with_every_algorithm_on_every_engine() {
    for accelerator in engines() {
        for algorithm in [5, 7, 8, 10, 13, 14, 15] {
            let keys = vec![key(algorithm, KeyRole::Ksk, 1), key(algorithm, KeyRole::Zsk, 2)];
            let [ksk, zsk] = [keys[0].tag(), keys[1].tag()];
            let denial = if algorithm == 5 { DenialMethod::Nsec } else { denials()[2].clone() };
            let options = SignOptions { denial, zone_digests: vec![1, 2], ..options() };
            let (text, _) = signed(&accelerator, &zone(RFC_4035), keys, options, None);
            let found = verified(&accelerator, &zone(&text));
            for (owner, rtype, expected) in [
                ("example.", RecordType::SOA, vec![zsk]),
                ("example.", RecordType::DNSKEY, vec![ksk]),
                ("example.", RecordType::ZONEMD, vec![zsk]),
                ("a.example.", RecordType::NS, vec![]),
                ("a.example.", RecordType::DS, vec![zsk]),
                ("ns1.a.example.", RecordType::A, vec![]),
                ("b.example.", RecordType::NS, vec![]),
                ("*.w.example.", RecordType::MX, vec![zsk]),
            ] {
                assert_eq!(tags_of(&found, owner, rtype), expected, "{algorithm} {owner} {rtype}");
            }
            let chain = if algorithm == 5 { RecordType::NSEC } else { RecordType::NSEC3 };
            let of_chain: Vec<_> = found.iter().filter(|(_, rtype, _)| *rtype == chain).collect();
            assert!(of_chain.len() > 8 && of_chain.iter().all(|(_, _, tags)| *tags == [zsk]));
        }
    }
}

#[test]
fn signs_a_record_at_a_name_that_is_also_a_hash() {
    let salted = DenialMethod::Nsec3(Nsec3Options {
        iterations: 12,
        salt: vec![0xaa, 0xbb, 0xcc, 0xdd],
        is_opt_out: true,
    });
    let options = SignOptions { denial: salted, ..options() };
    let (text, _) = signed(&scalar(), &zone(RFC_5155), pair(), options, None);
    let found = verified(&scalar(), &zone(&text));
    for rtype in [RecordType::A, RecordType::NSEC3] {
        assert_eq!(tags_of(&found, "2t7b4g4vsa5smi47k61mv5bv1a22bojr.example.", rtype).len(), 1);
    }
}

#[test]
fn every_algorithm_of_the_keys_signs_everything() {
    let rows: [(Vec<SignerKey>, usize, usize); 5] = [
        (vec![key(13, KeyRole::Csk, 1)], 1, 1),
        (vec![key(13, KeyRole::Zsk, 1)], 1, 1),
        (vec![key(13, KeyRole::Ksk, 1), key(13, KeyRole::Zsk, 2), key(15, KeyRole::Ksk, 3)], 2, 2),
        (vec![key(13, KeyRole::Csk, 1), key(13, KeyRole::Zsk, 2)], 1, 2),
        (vec![key(13, KeyRole::Ksk, 1), key(13, KeyRole::Ksk, 2), key(13, KeyRole::Zsk, 3)], 2, 1),
    ];
    let text = format!("{RFC_4035}@ CDS 1 13 2 {}\n@ CDNSKEY 257 3 13 AAAA\n", "00".repeat(32));
    for (keys, of_keys, of_rest) in rows {
        let (text, _) = signed(&scalar(), &zone(&text), keys, options(), None);
        let found = verified(&scalar(), &zone(&text));
        for rtype in [RecordType::DNSKEY, RecordType::CDS, RecordType::CDNSKEY] {
            assert_eq!(tags_of(&found, "example.", rtype).len(), of_keys, "{rtype}");
        }
        assert_eq!(tags_of(&found, "example.", RecordType::SOA).len(), of_rest);
    }
}

/// RFC 5011 2.1.
#[test]
fn a_revoked_key_signs_keys_only() {
    let seed = oarlock::keys::raw::ed25519_private(&[5; 32]).unwrap();
    let revoked =
        SignerKey::new(seed, KeyRole::Csk, 257 | 128, oarlock_dnssec::DnssecAlgorithm::ED25519).unwrap();
    let tag = revoked.tag();
    let keys = vec![revoked, key(15, KeyRole::Csk, 1)];
    let (text, _) = signed(&scalar(), &zone(RFC_4035), keys, options(), None);
    let found = verified(&scalar(), &zone(&text));
    assert!(tags_of(&found, "example.", RecordType::DNSKEY).contains(&tag));
    assert!(!tags_of(&found, "example.", RecordType::SOA).contains(&tag));
}

/// Returns the report of the verifier on a zone.
fn report(accelerator: &Accelerator, text: &str) -> VerifyReport {
    report_with(accelerator, text, VerifySettings::at(NOW))
}

fn report_with(accelerator: &Accelerator, text: &str, settings: VerifySettings) -> VerifyReport {
    let records = zone(text);
    let sets = RecordSets::new(&records);
    let verifier = ZoneVerifier::new(&sets, settings).unwrap();
    let mut report = verifier.check_whole(accelerator).unwrap();
    report.merge(verifier.check_names(accelerator, 0..verifier.name_count()).unwrap());
    report
}

#[test]
fn signed_zones_verify() {
    for accelerator in engines() {
        for denial in denials() {
            let options = SignOptions { denial, zone_digests: vec![1, 2], ..options() };
            let (text, _) = signed(&accelerator, &zone(RFC_4035), pair(), options, None);
            let found = report(&accelerator, &text).findings;
            assert!(found.is_empty(), "{found:?}");
            let broken = text.replace("192.0.2.10", "192.0.2.11");
            assert!(report(&accelerator, &broken).findings.len() > 1);
        }
    }
}

/// The object identifiers of two algorithms share one number, and every set has a signature of each.
#[test]
fn experimental_algorithms_verify_where_they_are_allowed() {
    let ml_dsa = || raw::ml_dsa_seed(MlDsaSet::MlDsa44, &[1; 32]).unwrap();
    let slh_dsa = || raw::slh_dsa_seeds(SlhDsaSet::Sha2_128s, &[2; 48]).unwrap();
    let keys = || {
        vec![
            SignerKey::new(ml_dsa(), KeyRole::Csk, 257, DnssecAlgorithm::ML_DSA_44).unwrap(),
            SignerKey::new(slh_dsa(), KeyRole::Csk, 257, DnssecAlgorithm::SLH_DSA_SHA2_128S).unwrap(),
        ]
    };
    let small = "$ORIGIN example.\n$TTL 60\n@ SOA . . 7 2 3 4 5\n@ NS a.\n";
    let allowed = VerifySettings { takes_experimental: true, ..VerifySettings::at(NOW) };
    for accelerator in engines() {
        let (text, _) = signed(&accelerator, &zone(small), keys(), options(), None);
        // Number 254, and the identifiers of RFC 9881 and RFC 9909 behind their length.
        let of_keys = of_type(&lines(&zone(&text)), "DNSKEY");
        assert!(of_keys.iter().all(|line| line.contains("257 3 254 CwYJYIZIAWUDBAM")), "{of_keys:?}");
        let found = report_with(&accelerator, &text, allowed);
        assert!(found.findings.is_empty() && found.counts.unsupported_signatures == 0, "{found:?}");
        assert_eq!(found.counts.verifications, 2 * found.counts.signed_sets);
        let broken = text.replace("NS a.", "NS b.");
        assert!(!report_with(&accelerator, &broken, allowed).findings.is_empty());
        // Others take the zone for unsigned.
        let found = report(&accelerator, &text);
        assert_eq!(found.counts.verifications, 0);
        assert_eq!(found.counts.unsupported_signatures, 2 * found.counts.signed_sets);
    }
}

/// The zone has several ranges of names, and the file is in another order.
#[test]
fn a_zone_of_several_ranges_is_sorted_and_complete() {
    let mut names: Vec<String> = (0..5000).map(|at| format!("n{:04}", at * 7919 % 5000)).collect();
    let text = |names: &[String]| {
        let rows: String =
            names.iter().map(|name| format!("{name} NS ns.{name}\nns.{name} A 192.0.2.1\n")).collect();
        format!("$ORIGIN example.\n$TTL 60\n@ SOA . . 7 2 3 4 5\n@ NS a.\n{rows}")
    };
    let (mixed, signatures) = signed(&engines()[1], &zone(&text(&names)), pair(), options(), None);
    assert!(signatures.len() > 2);
    names.sort();
    let (sorted, _) = signed(&engines()[1], &zone(&text(&names)), pair(), options(), None);
    assert_eq!(mixed, sorted);
    let made: usize = signatures.iter().map(|signatures| signatures.len()).sum();
    assert_eq!(made, 5000 + 4);
    assert_eq!(mixed.lines().filter(|line| line.contains(" IN RRSIG ")).count(), made);
    assert!(mixed.starts_with("example. 60 IN SOA "));
}

#[test]
fn deterministic_signatures_do_not_depend_on_the_engine() {
    let [scalar, lanes] = engines();
    for algorithm in [13, 14, 15] {
        let sign = |accelerator| {
            let keys = vec![key(algorithm, KeyRole::Csk, 1)];
            signed(accelerator, &zone(RFC_4035), keys, options(), None).0
        };
        assert_eq!(sign(&scalar), sign(&lanes));
    }
}

fn expirations(text: &str) -> BTreeSet<u32> {
    let records = zone(text);
    let signatures = records.iter().filter(|record| record.rtype == RecordType::RRSIG);
    signatures.map(|record| Rrsig::read(record.data).unwrap().expiration).collect()
}

#[test]
fn jitter_spreads_expirations_and_stays_within_its_bound() {
    let sign = |jitter_s, jitter_seed| {
        let mut options = options();
        (options.lifetime.jitter_s, options.lifetime.jitter_seed) = (jitter_s, jitter_seed);
        expirations(&signed(&scalar(), &zone(RFC_4035), pair(), options, None).0)
    };
    let end = options().lifetime.expiration;
    assert_eq!(sign(0, 0), [end].into());
    let spread = sign(86_400, 0);
    assert!(spread.len() > 15 && spread.iter().all(|time| (end - 86_400..=end).contains(time)));
    assert_eq!(sign(86_400, 0), spread);
    assert_ne!(sign(86_400, 1), spread);
}

#[test]
fn unchanged_sets_keep_their_signatures() {
    let accelerator = scalar();
    for denial in denials() {
        let options = |now: u32| {
            let lifetime = oarlock_dnssec::sign::SignatureLifetime::from(now);
            SignOptions { denial: denial.clone(), zone_digests: vec![1], ..SignOptions::new(lifetime) }
        };
        let (first, _) = signed(&accelerator, &zone(RFC_4035), pair(), options(NOW), None);
        let previous = zone(&first);
        let count = |text: &str, now| {
            let (text, signatures) = signed(&accelerator, &zone(text), pair(), options(now), Some(&previous));
            verified(&accelerator, &zone(&text));
            let made: usize = signatures.iter().map(|all| all.len() - all.reused()).sum();
            let replaced: usize = signatures.iter().map(|all| all.replaced()).sum();
            (made, replaced, text)
        };
        assert_eq!(count(RFC_4035, NOW), (0, 0, first.clone()));
        assert_eq!(count(&first, NOW + 86_400), (0, 0, first.clone()));
        let changed = RFC_4035.replace("192.0.2.10", "192.0.2.11");
        assert_eq!(count(&changed, NOW).0, 1);
        // A new name changes two records of the chain.
        assert_eq!(count(&format!("{RFC_4035}zz A 192.0.2.1\n"), NOW).0, 1 + 2);
        // All signatures are about to expire, or have another original TTL.
        let all = first.lines().filter(|line| line.contains(" IN RRSIG ")).count() - 1;
        assert_eq!(count(RFC_4035, NOW + 25 * 86_400).0, all);
        assert!(count(&RFC_4035.replace("$TTL 3600", "$TTL 3000"), NOW).0 > all / 2);
    }
}

#[test]
fn earlier_signatures_that_do_not_verify_are_made_again() {
    let accelerator = scalar();
    let (first, _) = signed(&accelerator, &zone(RFC_4035), pair(), options(), None);
    let broken: String = first
        .lines()
        .map(|line| match line.split_once("RRSIG MX") {
            Some((front, back)) => {
                format!("{front}RRSIG MX{}AAAA{}\n", &back[..back.len() - 10], &back[back.len() - 6..])
            }
            None => format!("{line}\n"),
        })
        .collect();
    assert_ne!(first, broken);
    let (again, signatures) = signed(&accelerator, &zone(RFC_4035), pair(), options(), Some(&zone(&broken)));
    assert_eq!(again, first);
    let replaced: usize = signatures.iter().map(|all| all.replaced()).sum();
    assert_eq!(replaced, 4);
    // A key with the same tag and algorithm may be another key.
    let other = vec![key(13, KeyRole::Csk, 77)];
    let (_, signatures) = signed(&accelerator, &zone(RFC_4035), other, options(), Some(&zone(&first)));
    assert_eq!(signatures.iter().map(|all| all.reused()).sum::<usize>(), 0);
}
