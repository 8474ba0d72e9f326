//! The records that signing copies, changes or drops.

use oarlock_dnssec::sign::{KeyRole, LoadRule, SerialPolicy, SignOptions, ZoneChange, ZoneDraft};
use oarlock_dnssec::{Dnskey, RecordType};

use super::{NOW, draft, drafted, key, lines, of_type, options, pair, scalar, zone};

const APEX: &str = "$ORIGIN example.\n$TTL 60\n@ SOA . . 7 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n";

#[test]
fn removes_earlier_signatures_and_chains() {
    let text = format!(
        "{APEX}@ RRSIG SOA 13 1 60 20300101000000 20200101000000 1 example. AAAA\n\
         @ NSEC ns A NS\n@ NSEC3PARAM 1 0 5 ab\n\
         0p9mhaveqvm6t7vbl5lop2u3t2rp3tom NSEC3 1 0 5 ab 2t7b4g4vsa5smi47k61mv5bv1a22bojr A\n\
         0p9mhaveqvm6t7vbl5lop2u3t2rp3tom RRSIG NSEC3 13 2 60 20300101000000 20200101000000 1 example. AAAA\n"
    );
    assert_eq!(drafted(&text, options()), drafted(APEX, options()));
}

#[test]
fn the_digest_of_the_former_zone_is_dropped() {
    let digest = "00".repeat(48);
    let text = format!("{APEX}@ ZONEMD 7 1 1 {digest}\n");
    let drafted = draft(&text, options()).unwrap();
    assert_eq!(drafted.changes().count(ZoneChange::ZoneDigest), 1);
    assert!(of_type(&lines(drafted.records()), "ZONEMD").is_empty());
    let drafted = draft(&text, SignOptions { zone_digests: vec![1, 2], ..options() }).unwrap();
    assert_eq!(drafted.changes().count(ZoneChange::ZoneDigest), 0);
    assert_eq!(of_type(&lines(drafted.records()), "ZONEMD").len(), 2);
}

#[test]
fn keys_are_published_once_and_others_stay() {
    let published = key(13, KeyRole::Zsk, 9);
    let pair = &pair()[0];
    let [mut other, mut mine] = [&published, pair].map(|key| {
        let mut text = String::from("@ 99 TYPE48 \\# ");
        text += &format!("{} ", key.dnskey().len());
        key.dnskey().iter().for_each(|byte| text += &format!("{byte:02x}"));
        text + "\n"
    });
    let keys = |text: &str| {
        let drafted = draft(text, options()).unwrap();
        let keys = drafted.records().iter().filter(|record| record.rtype == RecordType::DNSKEY);
        keys.map(|record| (Dnskey::parse(record.data).unwrap().key_tag(), record.ttl)).collect::<Vec<_>>()
    };
    assert_eq!(keys(APEX).len(), 2);
    assert!(keys(APEX).iter().all(|(_, ttl)| *ttl == 60));
    other.insert_str(0, APEX);
    let three = keys(&other);
    assert_eq!(three.len(), 3);
    assert!(three.contains(&(published.tag(), 99)) && three.iter().all(|(_, ttl)| *ttl == 99));
    mine.insert_str(0, APEX);
    assert_eq!(keys(&mine).len(), 2);
}

#[test]
fn drops_and_reports_records_of_other_zones_and_duplicates() {
    let text = format!("{APEX}other. A 192.0.2.1\nother. A 192.0.2.2\nns A 192.0.2.1\n");
    let drafted = draft(&text, options()).unwrap();
    let told: Vec<_> =
        drafted.changes().iter().map(|(change, count, spot)| (change, count, spot.line)).collect();
    assert_eq!(told, [(ZoneChange::Copy, 1, 8), (ZoneChange::OutOfZone, 2, 6)]);
    assert_eq!(lines(drafted.records()), lines(draft(APEX, options()).unwrap().records()));
}

/// RFC 2181 5.2.
#[test]
fn times_to_live_of_a_set_become_the_lowest() {
    let text = format!("{APEX}x 30 A 192.0.2.1\nx 20 A 192.0.2.2\nx 30 A 192.0.2.3\n");
    let drafted = draft(&text, options()).unwrap();
    assert_eq!(drafted.changes().count(ZoneChange::Ttl), 1);
    let of_x: Vec<_> = drafted.records().iter().filter(|record| record.line > 5).collect();
    assert_eq!(of_x.iter().map(|record| record.ttl).collect::<Vec<_>>(), [20; 3]);
}

#[test]
fn keeps_and_reports_hidden_records() {
    let text = format!("{APEX}a NS ns.a\nns.a A 192.0.2.1\nx.a TXT x\nd DNAME e.\nx.d TXT x\n");
    let drafted = draft(&text, options()).unwrap();
    assert_eq!(drafted.changes().count(ZoneChange::Hidden), 2);
    assert_eq!(of_type(&lines(drafted.records()), "TXT").len(), 2);
}

#[test]
fn reports_missing_name_servers_and_old_algorithms() {
    let text = "example. 60 SOA . . 7 2 3 4 5\nexample. DNSKEY 257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=\n";
    let drafted =
        ZoneDraft::new(&scalar(), &zone(text), vec![key(7, KeyRole::Csk, 1)], options(), None).unwrap();
    for change in [ZoneChange::Load(LoadRule::NoNameServers), ZoneChange::Sha1, ZoneChange::UnusedAlgorithm] {
        assert_eq!(drafted.changes().count(change), 1, "{change}");
    }
}

#[test]
fn the_serial_number_follows_its_policy() {
    for (serial, expected) in [
        (SerialPolicy::Keep, 7),
        (SerialPolicy::Increment, 8),
        (SerialPolicy::UnixTime, NOW),
        (SerialPolicy::Date, 2_023_111_400),
    ] {
        let drafted = draft(APEX, SignOptions { serial, zone_digests: vec![1], ..options() }).unwrap();
        assert_eq!(drafted.serial(), expected);
        let lines = lines(drafted.records());
        assert_eq!(of_type(&lines, "SOA"), [format!("example. 60 IN SOA . . {expected} 2 3 4 5")]);
        assert!(of_type(&lines, "ZONEMD")[0].contains(&format!(" ZONEMD {expected} 1 1 ")));
    }
}

#[test]
fn the_serial_number_follows_that_of_the_former_zone() {
    let previous = zone("example. 60 SOA . . 20 2 3 4 5\n");
    let options = SignOptions { serial: SerialPolicy::Increment, ..options() };
    let drafted = ZoneDraft::new(&scalar(), &zone(APEX), pair(), options, Some(&previous)).unwrap();
    assert_eq!(drafted.serial(), 21);
}
