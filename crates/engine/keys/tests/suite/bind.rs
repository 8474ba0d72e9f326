//! BIND's files of private keys: one that `dnssec-keygen` made, and those of RFC 6605 section 6 and RFC 8080 6.1.

use base64ct::{Base64, Encoding};
use oarlock_keys::bind::{self, MAX_BIND_LEN};
use oarlock_keys::{KeyError, generate, import};

use crate::support::fixture;

const FILES: [&str; 4] = ["rsasha256", "rfc6605-p256", "rfc6605-p384", "rfc8080-ed25519"];

fn file(name: &str) -> String {
    String::from_utf8(fixture(&format!("bind/{name}.private"))).unwrap()
}

fn refused(text: &str) -> KeyError {
    bind::import(text.as_bytes()).unwrap_err()
}

#[test]
fn public_halves_are_those_that_were_printed() {
    let base64 = |text: &str| Base64::decode_vec(text).unwrap();
    let p256 = bind::import(file("rfc6605-p256").as_bytes()).unwrap();
    let point =
        base64("GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==");
    assert_eq!((p256.algorithm, &p256.key.ec_public().unwrap().1[1..]), (13, &point[..]));
    let p384 = bind::import(file("rfc6605-p384").as_bytes()).unwrap();
    let point = base64(concat!(
        "xKYaNhWdGOfJ+nPrL8/arkwf2EY3MDJ+SErKivBVSum1w/egsXvSADtNJhyem5RCOpgQ6K8X1DRSEkrbYQ+OB+v8/uX45NBwY8rp65F6",
        "Glur8I/mlVNgF6W/qTI37m40"
    ));
    assert_eq!((p384.algorithm, &p384.key.ec_public().unwrap().1[1..]), (14, &point[..]));
    let ed25519 = bind::import(file("rfc8080-ed25519").as_bytes()).unwrap();
    let public = base64("l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=");
    assert_eq!((ed25519.algorithm, &ed25519.key.ed25519_public().unwrap()[..]), (15, &public[..]));
    let rsa = bind::import(file("rsasha256").as_bytes()).unwrap();
    assert_eq!((rsa.algorithm, rsa.key.rsa_public().unwrap().bits()), (8, 2048));
}

#[test]
fn an_exported_key_is_imported_by_format_and_by_any() {
    for name in FILES {
        let read = bind::import(file(name).as_bytes()).unwrap();
        let text = bind::export(&read.key, read.algorithm).unwrap();
        let again = bind::import(text.as_bytes()).unwrap();
        assert_eq!((again.key.fingerprint(), again.algorithm), (read.key.fingerprint(), read.algorithm));
        assert_eq!(import::any(text.as_bytes(), None).unwrap().fingerprint(), read.key.fingerprint());
    }
    // The export has the same bytes as the file of BIND without its times, with the primes in the same order.
    let text = file("rsasha256");
    let key = bind::import(text.as_bytes()).unwrap().key;
    let times = "Created: 20261123161420\nPublish: 20261123161420\nActivate: 20261123161420\n";
    assert_eq!(*bind::export(&key, 8).unwrap(), text.strip_suffix(times).unwrap());
}

#[test]
fn ends_of_lines_empty_lines_and_unknown_fields_do_not_matter() {
    let plain = file("rfc6605-p256");
    let expected = bind::import(plain.as_bytes()).unwrap().key.fingerprint();
    let crlf = plain.replace('\n', "\r\n");
    let spaced = plain.replace('\n', "\n\n");
    let newer = plain.replace("v1.2", "v1.9") + "Inactive: 20300101000000\nPredecessor: 1\n";
    let no_mnemonic = plain.replace("13 (ECDSAP256SHA256)", "13");
    for text in [crlf, spaced, newer, no_mnemonic, plain.trim_end().to_owned()] {
        assert_eq!(bind::import(text.as_bytes()).unwrap().key.fingerprint(), expected, "{text}");
    }
}

#[test]
fn damage_is_refused_with_the_line_or_the_field() {
    let (ec, rsa) = (file("rfc6605-p256"), file("rsasha256"));
    let line = |text: &str, expected: usize| {
        assert!(matches!(refused(text), KeyError::BindLine { line, .. } if line == expected), "{text}");
    };
    line("", 1);
    line("Private-key-format: 1.3\n", 1);
    line("Private-key-format: v1\n", 1);
    line("Private-key-format: v.3\n", 1);
    line("Algorithm: 13\n", 1);
    line(&ec.replace("13 (", "x ("), 2);
    line(&ec.replace("13 (", "256 ("), 2);
    line(&(ec.clone() + "words\n"), 4);
    line(&(ec.clone() + "Engine: cGtjczExAA==\n"), 4);
    let field = |text: &str, expected: &str, wrong: &str| {
        let found = refused(text);
        assert!(
            matches!(found, KeyError::BindField { field, what } if field == expected && what == wrong),
            "{found}"
        );
    };
    field(&ec.replace("mQ=", "m!="), "PrivateKey", "not base64");
    field(&ec.replace("PrivateKey", "Privatekey"), "PrivateKey", "missing");
    field(&(ec.clone() + "Algorithm: 13\n"), "Algorithm", "given twice");
    field(&(ec.clone() + "PrivateKey: AAAA\n"), "PrivateKey", "given twice");
    field("Private-key-format: v1.3\n", "Algorithm", "missing");
    for name in [
        "Modulus",
        "PublicExponent",
        "PrivateExponent",
        "Prime1",
        "Prime2",
        "Exponent1",
        "Exponent2",
        "Coefficient",
    ] {
        field(&rsa.replace(&format!("{name}:"), "Other:"), name, "missing");
    }
    let version = refused(&ec.replace("v1.2", "v2.0"));
    assert!(matches!(version, KeyError::Version { expected: 1, found: 2, .. }), "{version}");
    let long = refused(&" ".repeat(MAX_BIND_LEN + 1));
    assert!(matches!(long, KeyError::InputTooLong { .. }));
}

#[test]
fn keys_are_validated_as_all_others() {
    let (ec, rsa) = (file("rfc6605-p256"), file("rsasha256"));
    let zero = ec.replace("GU6SnQ/Ou+xC5RumuIUIuJZteXT2z0O/ok1s38Et6mQ=", &Base64::encode_string(&[0; 32]));
    assert!(matches!(refused(&zero), KeyError::ScalarRange { .. }));
    let other_curve = ec.replace("13 (ECDSAP256SHA256)", "15 (ED25519)").replace("GU6S", "");
    assert!(matches!(refused(&other_curve), KeyError::Length { .. }));
    for algorithm in [16, 12, 1, 255] {
        let other = ec.replace("13 (ECDSAP256SHA256)", &algorithm.to_string());
        assert!(matches!(refused(&other), KeyError::UnsupportedAlgorithm { .. }));
    }
    let swapped = rsa.replace("Prime1", "X").replace("Prime2", "Prime1").replace("X:", "Prime2:");
    assert!(matches!(refused(&swapped), KeyError::Inconsistent { .. }));
    let exponent = rsa.replace("PublicExponent: AQAB", "PublicExponent: Aw==");
    assert!(matches!(refused(&exponent), KeyError::Inconsistent { .. }));
}

#[test]
fn only_private_keys_of_the_algorithm_are_exported() {
    let key = generate::ed25519().unwrap();
    let public = import::any(oarlock_keys::export::spki_pem(&key).unwrap().as_bytes(), None).unwrap();
    for (key, algorithm) in [(&key, 13), (&key, 8), (&public, 15)] {
        let refused = bind::export(key, algorithm).unwrap_err();
        assert!(matches!(refused, KeyError::NotExportable { .. }), "{refused}");
    }
    assert!(matches!(bind::export(&key, 16), Err(KeyError::UnsupportedAlgorithm { .. })));
}
