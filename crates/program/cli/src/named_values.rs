//! Options whose values are names: the help lists them one per line, each with its meaning.

use std::fmt::Display;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use oarlock::{FpeAlg, MacAlg};
use oarlock_records::{Encoding, Padding, RowCipher, TOKEN_ALGS};

type NamedValues = [(&'static str, &'static str)];

const CIPHERS: &NamedValues = &[
    ("des-cbc", "DES in CBC mode, key of 8 bytes, too short to be safe"),
    ("tdes2-cbc", "Triple DES with two keys in CBC mode, key of 16 bytes"),
    ("tdes3-cbc", "Triple DES with three keys in CBC mode, key of 24 bytes"),
    ("aes128-cbc", "AES in CBC mode, key of 16 bytes; authenticates nothing"),
    ("aes256-cbc", "AES in CBC mode, key of 32 bytes; authenticates nothing"),
    ("aes128-gcm", "AES-GCM, key of 16 bytes; each value needs an IV of its own"),
    ("aes256-gcm", "AES-GCM, key of 32 bytes; each value needs an IV of its own"),
    ("aes128-siv", "AES-SIV, key of 32 bytes; without IVs equal values have equal results"),
    ("aes256-siv", "AES-SIV, key of 64 bytes; without IVs equal values have equal results"),
    ("aes128-gcm-siv", "AES-GCM-SIV, key of 16 bytes; IVs may repeat"),
    ("aes256-gcm-siv", "AES-GCM-SIV, key of 32 bytes; IVs may repeat"),
];

const MACS: &NamedValues = &[
    ("des-mac", "CBC-MAC with DES, padding of zeros, key of 8 bytes"),
    ("des-mac-pad2", "CBC-MAC with DES, padding method 2 of ISO 9797-1, key of 8 bytes"),
    ("retail-mac", "ANSI X9.19, padding of zeros, key of 16 bytes"),
    ("retail-mac-pad2", "ANSI X9.19, padding method 2 of ISO 9797-1, key of 16 bytes"),
    ("tdes2-cmac", "CMAC with triple DES, key of 16 bytes"),
    ("tdes3-cmac", "CMAC with triple DES, key of 24 bytes"),
    ("aes128-cmac", "CMAC with AES, key of 16 bytes"),
    ("aes256-cmac", "CMAC with AES, key of 32 bytes"),
    ("hmac-sha1", "HMAC with SHA-1, 20 bytes"),
    ("hmac-sha224", "HMAC with SHA-224, 28 bytes"),
    ("hmac-sha256", "HMAC with SHA-256, 32 bytes"),
    ("hmac-sha384", "HMAC with SHA-384, 48 bytes"),
    ("hmac-sha512", "HMAC with SHA-512, 64 bytes"),
];

const TOKENS: &NamedValues =
    &[("aes128-ff1", "FF1 with AES, key of 16 bytes"), ("aes256-ff1", "FF1 with AES, key of 32 bytes")];

const ENCODINGS: &NamedValues = &[
    ("hex", "Hexadecimal digits"),
    ("base64", "Base64 with padding"),
    (
        "text",
        "UTF-8 for plaintext and associated data, hex for the rest. Arrow: decrypted values are strings",
    ),
];

const PADDINGS: &NamedValues = &[
    ("none", "Reject values whose last block is incomplete"),
    ("pkcs7", "Fill the last block as PKCS #7 says"),
];

/// Returns the parser of a cipher.
pub(crate) fn cipher() -> impl TypedValueParser<Value = RowCipher> {
    parser(CIPHERS, &RowCipher::ALL)
}

/// Returns the parser of an algorithm of message authentication codes.
pub(crate) fn mac() -> impl TypedValueParser<Value = MacAlg> {
    parser(MACS, &MacAlg::ALL)
}

/// Returns the parser of an algorithm of tokens.
pub(crate) fn token_algorithm() -> impl TypedValueParser<Value = FpeAlg> {
    parser(TOKENS, &TOKEN_ALGS)
}

/// Returns the parser of an encoding of columns.
pub(crate) fn encoding() -> impl TypedValueParser<Value = Encoding> {
    parser(ENCODINGS, &Encoding::ALL)
}

/// Returns the parser of a padding.
pub(crate) fn padding() -> impl TypedValueParser<Value = Padding> {
    parser(PADDINGS, &Padding::ALL)
}

fn parser<T>(names: &'static NamedValues, all: &'static [T]) -> impl TypedValueParser<Value = T>
where
    T: Display + Copy + Send + Sync + 'static,
{
    let values = names.iter().map(|(name, meaning)| PossibleValue::new(*name).help(*meaning));
    let find = |name: String| all.iter().copied().find(|value| value.to_string() == name).ok_or("unknown");
    PossibleValuesParser::new(values).try_map(find)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_names_of<T: Display>(names: &NamedValues, all: &[T]) {
        let known: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(names.iter().map(|(name, _)| *name).collect::<Vec<_>>(), known);
    }

    #[test]
    fn every_value_has_a_meaning() {
        has_names_of(CIPHERS, &RowCipher::ALL);
        has_names_of(MACS, &MacAlg::ALL);
        has_names_of(TOKENS, &TOKEN_ALGS);
        has_names_of(ENCODINGS, &Encoding::ALL);
        has_names_of(PADDINGS, &Padding::ALL);
    }
}
