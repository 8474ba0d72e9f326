//! The signed zone that tests tamper with, and the numbers of its sets and names.

use std::sync::LazyLock;

use oarlock_dnssec::DnssecAlgorithm;

use super::signer::{Denial, NSEC3, SigningKey, sign};
use super::{CheckedZone, Zone};

pub const PLAIN: &str = "\
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

/// The number of signed sets of the zone without its chain.
pub const OWN_SETS: u64 = 3 + 2 + 1 + 1 + 1 + 1 + 1 + 1 + 1;
/// The number of names in the NSEC chain.
pub const OWN_NAMES: u64 = 11;

pub fn key() -> &'static [SigningKey] {
    static KEY: LazyLock<Vec<SigningKey>> =
        LazyLock::new(|| vec![SigningKey::new(DnssecAlgorithm::ECDSAP256SHA256, 257)]);
    &KEY
}

pub fn nsec() -> &'static Zone {
    static ZONE: LazyLock<Zone> = LazyLock::new(|| sign(PLAIN, key(), Denial::Nsec));
    &ZONE
}

pub fn nsec3() -> &'static Zone {
    static ZONE: LazyLock<Zone> = LazyLock::new(|| sign(PLAIN, key(), NSEC3));
    &ZONE
}

pub fn good() -> u64 {
    OWN_SETS + OWN_NAMES
}

/// Checks that the findings are exactly these, and that all signatures but `bad` are good.
pub fn expect(zone: &Zone, lines: &[String], bad: u64) -> CheckedZone {
    let found = zone.verify();
    assert_eq!(found.lines, lines, "{:#?}", found.report);
    assert_eq!(found.counts.good_signatures, good() - bad);
    assert_eq!(found.faults, [""; 0]);
    found
}

/// Returns the start of a signature's line.
pub fn rrsig(owner: &str, covered: &str) -> String {
    format!("{owner} {} IN RRSIG {covered} ", if covered.starts_with("NSEC") { 300 } else { 3600 })
}

/// Changes a character in the last word of a line.
pub fn flipped(line: &str, from_end: usize) -> String {
    let mut bytes = line.as_bytes().to_vec();
    let at = bytes.len() - from_end;
    bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
    String::from_utf8(bytes).unwrap()
}
