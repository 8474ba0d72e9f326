//! Keys in the phases of their lives: which are in the zone, and which sign.

use oarlock_dnssec::sign::{KeyRole, SignedPart, SignerKey, ZoneDraft, ZoneSignError};
use oarlock_dnssec::{Dnskey, KeyPhase, REVOKE, RecordType, Rrsig, ZoneRecords};

use super::{key, options, pair, scalar, signed, zone};

const APEX: &str = "$ORIGIN example.\n$TTL 60\n@ SOA . . 7 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n";

/// Returns the tags of the keys in the zone, and of those that sign a type at its apex.
fn tags(text: &str, rtype: RecordType) -> (Vec<u16>, Vec<u16>) {
    let records = zone(text);
    let keys = records.iter().filter(|record| record.rtype == RecordType::DNSKEY);
    let keys = keys.map(|record| Dnskey::parse(record.data).unwrap().key_tag());
    let signatures = records.iter().filter(|record| record.rtype == RecordType::RRSIG);
    let signers = signatures.map(|record| Rrsig::read(record.data).unwrap());
    let signers = signers.filter(|rrsig| rrsig.covered == rtype).map(|rrsig| rrsig.key_tag);
    let sorted = |mut tags: Vec<u16>| {
        tags.sort_unstable();
        tags
    };
    (sorted(keys.collect()), sorted(signers.collect()))
}

fn sign(zone: &ZoneRecords, keys: Vec<SignerKey>) -> String {
    signed(&scalar(), zone, keys, options(), None).0
}

fn refused(keys: Vec<SignerKey>) -> ZoneSignError {
    ZoneDraft::new(&scalar(), &zone(APEX), keys, options(), None).unwrap_err()
}

fn with(phase: KeyPhase, role: KeyRole, number: u8) -> SignerKey {
    key(13, role, number).with_phase(phase)
}

#[test]
fn the_phase_decides_whether_a_key_is_published_and_signs() {
    use KeyPhase::{Active, Future, Inactive, Presigning, Published, Removed};
    for (phase, is_published, signs) in [
        (Future, false, false),
        (Published, true, false),
        (Presigning, false, true),
        (Active, true, true),
        (Inactive, true, false),
        (Removed, false, false),
    ] {
        for (role, rtype) in [(KeyRole::Ksk, RecordType::DNSKEY), (KeyRole::Zsk, RecordType::SOA)] {
            let new = with(phase, role, 9);
            let tag = new.tag();
            let keys = pair().into_iter().chain([new]).collect();
            let (published, signers) = tags(&sign(&zone(APEX), keys), rtype);
            assert_eq!(published.contains(&tag), is_published, "{phase} {role:?}");
            assert_eq!(signers.contains(&tag), signs, "{phase} {role:?}");
            assert_eq!(
                (published.len(), signers.len()),
                (2 + usize::from(is_published), 1 + usize::from(signs))
            );
        }
    }
}

#[test]
fn a_key_that_does_not_sign_needs_no_private_half() {
    let private = key(13, KeyRole::Zsk, 9);
    let public = |phase| SignerKey::public(private.dnskey(), KeyRole::Zsk, phase);
    let both = [public(KeyPhase::Published).unwrap(), private.clone().with_phase(KeyPhase::Published)];
    let [one, other] = both.map(|key| sign(&zone(APEX), pair().into_iter().chain([key]).collect()));
    assert_eq!(one, other);
    for phase in [KeyPhase::Active, KeyPhase::Presigning, KeyPhase::Revoked] {
        assert_eq!(public(phase).unwrap_err(), ZoneSignError::PublicKey);
    }
}

#[test]
fn a_role_without_active_key_is_an_error() {
    use KeyPhase::{Active, Future, Inactive, Presigning, Published, Removed};
    use KeyRole::{Ksk, Zsk};
    // dnssec-signzone refuses each of them too.
    for (ksk, zsk, part, message) in [
        (Active, Inactive, SignedPart::Rest, "signs the zone's records"),
        (Active, Published, SignedPart::Rest, "is published"),
        (Inactive, Active, SignedPart::Keys, "signs the zone's keys"),
        (Inactive, Inactive, SignedPart::Keys, "is inactive"),
        (Removed, Future, SignedPart::Keys, "is future"),
        (Active, Presigning, SignedPart::Rest, "is presigning"),
    ] {
        let error = refused(vec![with(ksk, Ksk, 1), with(zsk, Zsk, 2)]);
        assert!(matches!(error, ZoneSignError::NoActiveKey { part: found, .. } if found == part), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
    // Each published algorithm needs its own signatures. One that only signs needs no published key.
    let other = || key(15, KeyRole::Csk, 3);
    for (phase, is_refused) in [(Published, true), (Inactive, true), (Presigning, false), (Future, false)] {
        let keys: Vec<_> = pair().into_iter().chain([other().with_phase(phase)]).collect();
        match ZoneDraft::new(&scalar(), &zone(APEX), keys, options(), None) {
            Ok(_) => assert!(!is_refused, "{phase}"),
            Err(ZoneSignError::NoActiveKey { algorithm, .. }) => {
                assert!(is_refused && algorithm == other().algorithm(), "{phase}");
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Makes the keys' records for a zone file.
fn published(keys: &[SignerKey]) -> String {
    let record = |key: &SignerKey| {
        let hex: String = key.dnskey().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("@ TYPE48 \\# {} {hex}\n", key.dnskey().len())
    };
    keys.iter().map(record).collect()
}

#[test]
fn a_removed_key_leaves_a_zone_that_has_it() {
    let old = key(13, KeyRole::Zsk, 9);
    let foreign = key(13, KeyRole::Zsk, 10);
    let text = format!("{APEX}{}", published(&[old.clone(), foreign.clone()]));
    for phase in [KeyPhase::Removed, KeyPhase::Future, KeyPhase::Presigning] {
        let keys = pair().into_iter().chain([old.clone().with_phase(phase)]).collect();
        let (found, _) = tags(&sign(&zone(&text), keys), RecordType::SOA);
        assert!(!found.contains(&old.tag()) && found.contains(&foreign.tag()), "{phase}");
    }
}

/// RFC 5011 2.1.
#[test]
fn a_revoked_key_replaces_its_former_record_and_signs_the_keys() {
    let [ksk, zsk] = <[SignerKey; 2]>::try_from(pair()).unwrap();
    for role in [KeyRole::Ksk, KeyRole::Zsk] {
        let old = key(13, role, 9);
        let flags = Dnskey::parse(old.dnskey()).unwrap().flags | REVOKE;
        let revoked = SignerKey::new(old.key().clone(), role, flags, old.algorithm()).unwrap();
        assert_eq!(revoked.phase(), KeyPhase::Revoked);
        let text = format!("{APEX}{}", published(std::slice::from_ref(&old)));
        let signed = sign(&zone(&text), vec![ksk.clone(), zsk.clone(), revoked.clone()]);
        let (keys, signers) = tags(&signed, RecordType::DNSKEY);
        assert!(keys.contains(&revoked.tag()) && !keys.contains(&old.tag()), "{role:?}");
        assert_eq!(signers.len(), 2);
        assert!(signers.contains(&revoked.tag()) && signers.contains(&ksk.tag()), "{role:?}");
        assert_eq!(tags(&signed, RecordType::SOA).1, [zsk.tag()]);
        // A revoked key is not a key of the zone any more, so it cannot be the only one.
        assert!(matches!(refused(vec![revoked]), ZoneSignError::NoActiveKey { .. }));
    }
}

#[test]
fn signatures_of_a_key_that_became_inactive_are_not_kept() {
    let [ksk, old] = <[SignerKey; 2]>::try_from(pair()).unwrap();
    let new = key(13, KeyRole::Zsk, 9);
    let (before, _) = signed(&scalar(), &zone(APEX), vec![ksk.clone(), old.clone()], options(), None);
    let keys = vec![ksk.clone(), old.with_phase(KeyPhase::Inactive), new.clone()];
    let (after, signatures) = signed(&scalar(), &zone(APEX), keys, options(), Some(&zone(&before)));
    assert_eq!(tags(&after, RecordType::SOA).1, [new.tag()]);
    assert_eq!(tags(&after, RecordType::DNSKEY).1, [ksk.tag()]);
    assert_eq!(signatures.iter().map(oarlock_dnssec::sign::Signatures::reused).sum::<usize>(), 0);
}
