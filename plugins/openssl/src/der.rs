//! DER structures of signatures: DigestInfo and AlgorithmIdentifier. All of them are shorter than 128 bytes.

use crate::digest::NamedDigest;

const SEQUENCE: u8 = 0x30;
const NULL: &[u8] = &[0x05, 0x00];

/// Encodes `DigestInfo`. RFC 8017 9.2 step 2.
pub(crate) fn digest_info(digest: &NamedDigest, hash: &[u8]) -> Vec<u8> {
    tagged(SEQUENCE, &[&with_null(digest.oid), &tagged(0x04, &[hash])])
}

/// Encodes the `AlgorithmIdentifier` of a PKCS#1 v1.5 signature. RFC 8017 A.2.4.
pub(crate) fn rsa_pkcs1(digest: &NamedDigest) -> Vec<u8> {
    with_null(digest.rsa_oid)
}

/// Encodes the `AlgorithmIdentifier` of a PSS signature without fields that have their default value. RFC 8017 A.2.3.
pub(crate) fn rsa_pss(digest: &NamedDigest, mgf: &NamedDigest, salt_len: u16) -> Vec<u8> {
    const SHA1: &[u8] = b"\x2b\x0e\x03\x02\x1a";
    let mut fields = Vec::new();
    if digest.oid != SHA1 {
        fields.extend(tagged(0xA0, &[&with_null(digest.oid)]));
    }
    if mgf.oid != SHA1 {
        let mgf1 = tagged(SEQUENCE, &[&oid(b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x08"), &with_null(mgf.oid)]);
        fields.extend(tagged(0xA1, &[&mgf1]));
    }
    if salt_len != 20 {
        fields.extend(tagged(0xA2, &[&integer(salt_len)]));
    }
    let pss = oid(b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a");
    tagged(SEQUENCE, &[&pss, &tagged(SEQUENCE, &[&fields])])
}

/// Encodes the `AlgorithmIdentifier` of an ECDSA signature. RFC 5758 3.2.
pub(crate) fn ecdsa(digest: &NamedDigest) -> Vec<u8> {
    tagged(SEQUENCE, &[&oid(digest.ecdsa_oid)])
}

/// Encodes the `AlgorithmIdentifier` of Ed25519. RFC 8410 section 3.
pub(crate) fn ed25519() -> Vec<u8> {
    tagged(SEQUENCE, &[&oid(b"\x2b\x65\x70")])
}

/// Encodes an `AlgorithmIdentifier` without parameters, of an object identifier with tag and length. RFC 9881 section
/// 3.
pub(crate) fn without_parameters(identifier: &[u8]) -> Vec<u8> {
    tagged(SEQUENCE, &[identifier])
}

fn with_null(identifier: &[u8]) -> Vec<u8> {
    tagged(SEQUENCE, &[&oid(identifier), NULL])
}

fn oid(identifier: &[u8]) -> Vec<u8> {
    tagged(0x06, &[identifier])
}

fn integer(value: u16) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    let is_short = value < 0x80;
    match (is_short, bytes[0]) {
        (true, _) => tagged(0x02, &[&bytes[1..]]),
        (false, 0..0x80) if value > 0xFF => tagged(0x02, &[&bytes]),
        _ => tagged(0x02, &[&[0], if bytes[0] == 0 { &bytes[1..] } else { &bytes }]),
    }
}

fn tagged(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    debug_assert!(len < 0x80, "lengths of one byte");
    let mut out = vec![tag, len as u8];
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> &'static NamedDigest {
        NamedDigest::named(name).unwrap()
    }

    #[test]
    fn encodes_the_digest_info_of_rfc_8017() {
        let info = digest_info(named("sha256"), &[7; 32]);
        assert_eq!(
            info[..19],
            *b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"
        );
        assert_eq!(info[19..], [7; 32]);
    }

    /// The identifier of RFC 8702's and every certificate's rsassa-pss with SHA-256 and 32 bytes of salt.
    #[test]
    fn omits_default_fields_of_a_pss_identifier() {
        let sha256 = named("SHA2-256");
        let expected = b"\x30\x41\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a\x30\x34\
            \xa0\x0f\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\
            \xa1\x1c\x30\x1a\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x08\
            \x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\xa2\x03\x02\x01\x20";
        assert_eq!(rsa_pss(sha256, sha256, 32), expected);
        let sha1 = named("SHA1");
        assert_eq!(rsa_pss(sha1, sha1, 20), b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a\x30\x00");
    }

    #[test]
    fn encodes_integers_as_short_as_possible() {
        for (value, der) in [(0, &[2, 1, 0][..]), (127, &[2, 1, 127]), (128, &[2, 2, 0, 128])] {
            assert_eq!(integer(value), der);
        }
        assert_eq!(integer(256), [2, 2, 1, 0]);
        assert_eq!(integer(0x8000), [2, 3, 0, 0x80, 0]);
    }
}
