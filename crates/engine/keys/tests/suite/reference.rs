//! Files that name a key at a server. Those in `data/reference` were put together by hand.

use oarlock_keys::KeyError;
use oarlock_keys::reference::{MAX_REFERENCE_LEN, Reference};

use crate::support::{der, fixture};

fn named(name: &str) -> Reference {
    Reference { name: name.to_owned(), spki: None }
}

#[test]
fn a_file_holds_the_name_and_the_public_key() {
    let reference = Reference::parse_pem(&fixture("reference/full.pem")).unwrap();
    let expected = Reference { name: "www.example key".to_owned(), spki: Some(der("ed25519-spki.pem")) };
    assert_eq!(reference, expected);
    assert_eq!(reference.to_pem().unwrap().as_bytes(), fixture("reference/full.pem"));
    assert_eq!(reference.to_uri(), "oarlock:www.example%20key");
    let plain = Reference::parse_pem(&fixture("reference/named.pem")).unwrap();
    assert_eq!(plain, named("caf\u{e9}"));
    assert_eq!(plain.to_pem().unwrap().as_bytes(), fixture("reference/named.pem"));
}

#[test]
fn names_are_percent_encoded_both_ways() {
    for (name, uri) in [
        ("a-z_A~Z.09", "oarlock:a-z_A~Z.09"),
        ("a b/c%", "oarlock:a%20b%2Fc%25"),
        ("\u{2713}?#", "oarlock:%E2%9C%93%3F%23"),
    ] {
        assert_eq!(named(name).to_uri(), uri);
        assert_eq!(Reference::parse_uri(uri), Ok(named(name)));
    }
    assert_eq!(Reference::parse_uri("OarLock:%e2%9c%93%61"), Ok(named("\u{2713}a")));
}

#[test]
fn other_uris_are_refused_with_a_reason() {
    for (uri, expected) in [
        ("", "another scheme"),
        ("oarlock", "another scheme"),
        ("pkcs11:object=a", "another scheme"),
        ("\u{2713}\u{2713}\u{2713}", "another scheme"),
        ("oarlock:a/b", "must be percent-encoded"),
        ("oarlock:caf\u{e9}", "must be percent-encoded"),
        ("oarlock:a%2", "without two hexadecimal digits"),
        ("oarlock:%+1", "without two hexadecimal digits"),
        ("oarlock:%FF", "not UTF-8"),
    ] {
        let refused = Reference::parse_uri(uri).unwrap_err();
        assert!(matches!(refused, KeyError::Uri { .. }), "{uri}");
        assert!(refused.to_string().contains(expected), "{uri}: {refused}");
    }
    assert_eq!(Reference::parse_uri("oarlock:"), Err(KeyError::EmptyName { what: "name" }));
    assert_eq!(named("").to_der(), Err(KeyError::EmptyName { what: "name" }));
}

#[test]
fn damaged_files_are_refused() {
    let whole = der("reference/full.pem");
    for len in 0..whole.len() {
        assert!(Reference::parse_der(&whole[..len]).is_err(), "{len}");
    }
    assert!(Reference::parse_der(&[&whole[..], &[0]].concat()).is_err());
    let mut newer = whole;
    newer[4] = 2;
    let refused = Reference::parse_der(&newer).unwrap_err();
    assert_eq!(refused, KeyError::Version { structure: "KeyReference", expected: 1, found: 2 });
    let another = Reference::parse_pem(&fixture("ed25519-spki.pem")).unwrap_err();
    assert!(another.to_string().contains("OARLOCK KEY REFERENCE"), "{another}");
    let no_key = Reference { spki: Some(vec![5, 0]), ..named("a") };
    assert!(no_key.to_pem().is_err(), "a public key must be one");
}

#[test]
fn more_than_a_file_may_have_is_refused() {
    let long = vec![b'-'; MAX_REFERENCE_LEN + 1];
    let too_long = |found| KeyError::InputTooLong { limit: MAX_REFERENCE_LEN, found };
    assert_eq!(Reference::parse_pem(&long), Err(too_long(long.len())));
    assert_eq!(Reference::parse_der(&long), Err(too_long(long.len())));
    assert_eq!(named(&"a".repeat(MAX_REFERENCE_LEN)).to_der(), Err(too_long(MAX_REFERENCE_LEN + 8)));
}
