//! Numbers with names (IANA, Domain Name System Security Algorithm Numbers; DS digests; CERT types; DSYNC schemes).

/// A name and its number.
type Named = (&'static str, u16);

/// RFC 8624 and before; the first name of a number is the one of RFC 4034's registry.
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

fn number(table: &[Named], text: &[u8]) -> Option<u16> {
    table.iter().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(text)).map(|(_, number)| *number)
}
