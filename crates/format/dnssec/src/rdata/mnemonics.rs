//! Numbers with mnemonics: algorithms (IANA, Domain Name System Security Algorithm Numbers), DS digests, CERT types,
//! DSYNC schemes, and flags and protocols of keys.

use crate::text::word::digits;

/// A name and its number.
type Named = (&'static str, u16);

/// The algorithms of RFC 8624 and before. The first name of a number is that of RFC 4034's registry.
const ALGORITHMS: [Named; 22] = [
    ("RSAMD5", 1),
    ("DH", 2),
    ("DSA", 3),
    ("ECC", 4),
    ("RSASHA1", 5),
    ("DSA-NSEC3-SHA1", 6),
    ("NSEC3DSA", 6),
    ("RSASHA1-NSEC3-SHA1", 7),
    ("NSEC3RSASHA1", 7),
    ("RSASHA256", 8),
    ("RSASHA512", 10),
    ("ECC-GOST", 12),
    ("ECCGOST", 12),
    ("ECDSAP256SHA256", 13),
    ("ECDSAP384SHA384", 14),
    ("ED25519", 15),
    ("ED448", 16),
    ("SM2SM3", 17),
    ("ECC-GOST12", 23),
    ("INDIRECT", 252),
    ("PRIVATEDNS", 253),
    ("PRIVATEOID", 254),
];

const DIGESTS: [Named; 7] =
    [("SHA-1", 1), ("SHA1", 1), ("SHA-256", 2), ("SHA256", 2), ("GOST", 3), ("SHA-384", 4), ("SHA384", 4)];

/// RFC 4398 2.1.
const CERT_KINDS: [Named; 10] = [
    ("PKIX", 1),
    ("SPKI", 2),
    ("PGP", 3),
    ("IPKIX", 4),
    ("ISPKI", 5),
    ("IPGP", 6),
    ("ACPKIX", 7),
    ("IACPKIX", 8),
    ("URI", 253),
    ("OID", 254),
];

const SCHEMES: [Named; 1] = [("NOTIFY", 1)];

/// The flags of RFC 2535 7.1; KSK is an addition of BIND. `SIG0` to `SIG15` have their number in the lowest four
/// bits.
const KEY_FLAGS: [Named; 16] = [
    ("NOCONF", 0x4000),
    ("NOAUTH", 0x8000),
    ("NOKEY", 0xc000),
    ("FLAG2", 0x2000),
    ("EXTEND", 0x1000),
    ("FLAG4", 0x0800),
    ("FLAG5", 0x0400),
    ("USER", 0x0000),
    ("ZONE", 0x0100),
    ("HOST", 0x0200),
    ("NTYP3", 0x0300),
    ("FLAG8", 0x0080),
    ("FLAG9", 0x0040),
    ("FLAG10", 0x0020),
    ("FLAG11", 0x0010),
    ("KSK", 0x0001),
];

const KEY_PROTOCOLS: [Named; 6] =
    [("NONE", 0), ("TLS", 1), ("EMAIL", 2), ("DNSSEC", 3), ("IPSEC", 4), ("ALL", 255)];

pub(super) fn algorithm(text: &[u8]) -> Option<u16> {
    number(&ALGORITHMS, text)
}

pub(super) fn digest(text: &[u8]) -> Option<u16> {
    number(&DIGESTS, text)
}

pub(super) fn cert_kind(text: &[u8]) -> Option<u16> {
    number(&CERT_KINDS, text)
}

pub(super) fn scheme(text: &[u8]) -> Option<u16> {
    number(&SCHEMES, text)
}

/// Parses key flags: mnemonics with `|` between them.
pub(super) fn key_flags(text: &[u8]) -> Option<u16> {
    text.split(|byte| *byte == b'|').try_fold(0, |flags, name| {
        let flag = number(&KEY_FLAGS, name).or_else(|| signatory(name))?;
        Some(flags | flag)
    })
}

fn signatory(name: &[u8]) -> Option<u16> {
    let (prefix, number) = name.split_at_checked(3)?;
    digits(number)
        .filter(|number| *number <= 15 && prefix.eq_ignore_ascii_case(b"SIG"))
        .map(|number| number as u16)
}

pub(super) fn key_protocol(text: &[u8]) -> Option<u16> {
    number(&KEY_PROTOCOLS, text)
}

fn number(table: &[Named], text: &[u8]) -> Option<u16> {
    table.iter().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(text)).map(|(_, number)| *number)
}
