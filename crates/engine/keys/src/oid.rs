//! Names of object identifiers, for error texts.

use der::asn1::ObjectIdentifier;

/// The algorithms, curves and ciphers that occur in key files and that this crate does not support.
const NAMES: [(&str, &str); 37] = [
    ("1.2.840.113549.1.1.10", "RSASSA-PSS"),
    ("1.2.840.113549.1.1.7", "RSAES-OAEP"),
    ("1.2.840.10040.4.1", "DSA"),
    ("1.2.840.10046.2.1", "X9.42 Diffie-Hellman"),
    ("1.2.840.113549.1.3.1", "PKCS#3 Diffie-Hellman"),
    ("1.3.132.1.12", "ECDH"),
    ("1.3.101.111", "X448"),
    ("1.3.101.113", "Ed448"),
    ("1.2.156.10197.1.301", "SM2"),
    ("1.2.643.7.1.1.1.1", "GOST R 34.10-2012"),
    ("1.2.840.10045.3.1.1", "P-192"),
    ("1.3.132.0.33", "P-224"),
    ("1.2.840.10045.3.1.7", "P-256"),
    ("1.3.132.0.34", "P-384"),
    ("1.3.132.0.35", "P-521"),
    ("1.3.132.0.10", "secp256k1"),
    ("1.3.36.3.3.2.8.1.1.7", "brainpoolP256r1"),
    ("1.3.36.3.3.2.8.1.1.11", "brainpoolP384r1"),
    ("1.3.36.3.3.2.8.1.1.13", "brainpoolP512r1"),
    ("1.2.840.113549.1.5.3", "pbeWithMD5AndDES-CBC"),
    ("1.2.840.113549.1.5.10", "pbeWithSHA1AndDES-CBC"),
    ("1.2.840.113549.1.12.1.1", "pbeWithSHA1And128BitRC4"),
    ("1.2.840.113549.1.12.1.3", "pbeWithSHA1And3-KeyTripleDES-CBC"),
    ("1.2.840.113549.1.12.1.4", "pbeWithSHA1And2-KeyTripleDES-CBC"),
    ("1.2.840.113549.1.12.1.5", "pbeWithSHA1And128BitRC2-CBC"),
    ("1.2.840.113549.1.12.1.6", "pbeWithSHA1And40BitRC2-CBC"),
    ("1.2.840.113549.1.5.13", "PBES2"),
    ("1.2.840.113549.1.5.12", "PBKDF2"),
    ("1.3.6.1.4.1.11591.4.11", "scrypt"),
    ("1.2.840.113549.3.2", "RC2-CBC"),
    ("1.2.840.113549.3.7", "DES-EDE3-CBC"),
    ("1.3.14.3.2.7", "DES-CBC"),
    ("2.16.840.1.101.3.4.1.6", "AES-128-GCM"),
    ("2.16.840.1.101.3.4.1.46", "AES-256-GCM"),
    ("1.2.840.113549.2.5", "MD5"),
    ("1.2.840.113549.2.8", "HMAC-SHA-224"),
    ("1.2.156.10197.1.104.2", "SM4-CBC"),
];

/// The maximum number of bytes of an unknown identifier that an error shows. In a damaged file the bytes may belong to
/// the key, and so few of them do not help an attacker.
const MAX_SHOWN_LEN: usize = 5;

/// Returns the name and the numbers of a known identifier, as in `Ed448 (1.3.101.113)`. Of a long unknown identifier it
/// returns the first numbers only.
pub(crate) fn shown(oid: &ObjectIdentifier) -> String {
    let numbers = oid.to_string();
    if let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == numbers) {
        return format!("{name} ({numbers})");
    }
    if oid.as_bytes().len() <= MAX_SHOWN_LEN {
        return numbers;
    }
    let mut first = String::new();
    for arc in oid.arcs().take_while(|arc| *arc < 1 << 20).take(4) {
        if !first.is_empty() {
            first.push('.');
        }
        first.push_str(&arc.to_string());
    }
    format!("{first}... (object identifier of {} bytes)", oid.as_bytes().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_identifiers_have_names_and_others_their_first_numbers() {
        let shown = |numbers| shown(&ObjectIdentifier::new_unwrap(numbers));
        assert_eq!(shown("1.3.101.113"), "Ed448 (1.3.101.113)");
        assert_eq!(shown("1.2.3.4.5"), "1.2.3.4.5");
        assert_eq!(shown("1.3.6.1.4.1.311.2.1"), "1.3.6.1... (object identifier of 9 bytes)");
    }
}
