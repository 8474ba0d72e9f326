//! Zones whose keys were signed elsewhere.

use oarlock_dnssec::sign::{KeyRole, PresignedSet, SignOptions, SigningPlan, ZoneDraft, ZoneSignError};
use oarlock_dnssec::{
    RecordSets, RecordType, SECURE_ENTRY_POINT, VerifySettings, ZONE_KEY, ZoneRecords, ZoneVerifier,
};

use super::{NOW, engines, key, lines, of_type, options, scalar, signed, zone};

const ZONE: &str = "\
example. 3600 IN SOA ns.example. host.example. 7 7200 3600 1209600 300
example. 3600 IN NS ns.example.
example. 60 IN CDS 1 13 2 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
example. 60 IN DNSKEY 256 3 15 oWfn5nXc+euzyc/yM31lzyHW3ioY9rqUpvY1a6mIThM=
ns.example. 3600 IN A 192.0.2.1
";

/// Returns the sets of a zone that was signed with both keys, in the form of a response.
fn presigned() -> Vec<PresignedSet> {
    let text = ZONE.lines().filter(|line| !line.contains("DNSKEY") && !line.contains("CDS"));
    let text = text.collect::<Vec<_>>().join("\n") + "\n";
    let (whole, _) = signed(&scalar(), &zone(&text), super::pair(), options(), None);
    let records = zone(&whole);
    let of = |rtype: RecordType, covered: Option<RecordType>| -> Vec<Vec<u8>> {
        let is_wanted =
            |data: &[u8]| covered.is_none_or(|covered| data.starts_with(&covered.0.to_be_bytes()));
        let found = records.iter().filter(|record| record.rtype == rtype && is_wanted(record.data));
        found.map(|record| record.data.to_vec()).collect()
    };
    let keys = PresignedSet {
        rtype: RecordType::DNSKEY,
        ttl: 3600,
        data: of(RecordType::DNSKEY, None),
        signatures: of(RecordType::RRSIG, Some(RecordType::DNSKEY)),
    };
    let none = |rtype| PresignedSet { rtype, ttl: 0, data: Vec::new(), signatures: Vec::new() };
    vec![keys, none(RecordType::CDNSKEY), none(RecordType::CDS)]
}

fn with(presigned: Vec<PresignedSet>) -> SignOptions {
    SignOptions { presigned, ..options() }
}

fn failures(text: &str) -> (usize, u64) {
    let records = zone(text);
    let sets = RecordSets::new(&records);
    let verifier = ZoneVerifier::new(&sets, VerifySettings::at(NOW)).unwrap();
    let mut report = verifier.check_names(&scalar(), 0..verifier.name_count()).unwrap();
    report.merge(verifier.check_whole(&scalar()).unwrap());
    (report.failures(), report.counts.good_signatures)
}

#[test]
fn a_zone_signing_key_alone_signs_a_zone_with_the_keys_of_a_response() {
    for accelerator in engines() {
        for digests in [vec![], vec![1]] {
            let options = SignOptions { zone_digests: digests, ..with(presigned()) };
            let zsk = vec![key(13, KeyRole::Zsk, 2)];
            let (text, signatures) = signed(&accelerator, &zone(ZONE), zsk, options, None);
            let all: Vec<String> = text.lines().map(str::to_owned).collect();
            // The keys of the response replace those of the zone, and its CDS records are gone.
            assert_eq!((of_type(&all, "DNSKEY").len(), of_type(&all, "CDS").len()), (2, 0), "{text}");
            let of_keys: Vec<_> =
                of_type(&all, "RRSIG").into_iter().filter(|line| line.contains("RRSIG DNSKEY")).collect();
            assert_eq!(of_keys.len(), 1, "{text}");
            let (failures, good) = failures(&text);
            assert_eq!(failures, 0, "{text}");
            let made: usize = signatures.iter().map(oarlock_dnssec::sign::Signatures::len).sum();
            // The signature of the keys, and perhaps that of the digest, are made apart.
            assert_eq!(good as usize, made + 1 + usize::from(text.contains("ZONEMD")));
        }
    }
}

#[test]
fn refuses_a_key_that_is_not_among_those_of_the_response() {
    let zsk = vec![key(13, KeyRole::Zsk, 3)];
    let error = ZoneDraft::new(&scalar(), &zone(ZONE), zsk.clone(), with(presigned()), None).unwrap_err();
    let (tag, algorithm) = (zsk[0].tag(), zsk[0].algorithm());
    assert_eq!(error, ZoneSignError::NotPresigned { tag, algorithm });
}

#[test]
fn a_second_run_keeps_signatures_and_takes_the_keys_of_the_response_again() {
    let zsk = || vec![key(13, KeyRole::Zsk, 2)];
    let (first, _) = signed(&scalar(), &zone(ZONE), zsk(), with(presigned()), None);
    let previous: ZoneRecords = zone(&first);
    let (second, signatures) = signed(&scalar(), &zone(ZONE), zsk(), with(presigned()), Some(&previous));
    assert_eq!(first, second);
    assert!(signatures.iter().all(|part| part.reused() == part.len()));
}

#[test]
fn counts_only_the_signatures_that_are_made_here() {
    let zsk = vec![key(13, KeyRole::Zsk, 2)];
    let draft = ZoneDraft::new(&scalar(), &zone(ZONE), zsk, with(presigned()), None).unwrap();
    let plan = SigningPlan::new(&draft, None).unwrap();
    // SOA, NS, NSEC twice, A.
    assert_eq!(plan.signatures_len().0, 5);
    let flags: Vec<u16> = draft
        .records()
        .iter()
        .filter(|record| record.rtype == RecordType::DNSKEY)
        .map(|record| u16::from_be_bytes([record.data[0], record.data[1]]))
        .collect();
    assert!(flags.contains(&(ZONE_KEY | SECURE_ENTRY_POINT)) && flags.contains(&ZONE_KEY), "{flags:?}");
    assert!(!lines(draft.records()).iter().any(|line| line.contains("CDS")));
}
