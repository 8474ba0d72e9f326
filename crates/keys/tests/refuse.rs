//! What is refused, with which error.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail loudly")]

mod support;

use oarlock_core::Blame;
use oarlock_keys::{KeyError, Passphrase, WorkLimits, import};
use support::{der, fixture, passphrase};

fn refused(name: &str) -> KeyError {
    match import::any(&fixture(name), Some(&passphrase())) {
        Ok(key) => panic!("{name} became {key:?}"),
        Err(error) => error,
    }
}

#[test]
fn unsupported_files_are_named() {
    let unsupported = |found: &str| KeyError::UnsupportedAlgorithm { found: found.to_owned() };
    let curve = |found: &str| KeyError::UnsupportedCurve { found: found.to_owned() };
    let encryption = |what, found: &str| KeyError::UnsupportedEncryption { what, found: found.to_owned() };
    let table = [
        ("certificate.pem", KeyError::Certificate),
        ("rsa2048-legacy-encrypted.pem", KeyError::LegacyPemEncryption),
        ("rsa2048-multiprime.pem", KeyError::MultiPrime),
        ("rsa-pss2048.pem", unsupported("1.2.840.113549.1.1.10")),
        ("ed448.pem", unsupported("1.3.101.113")),
        ("p521-sec1.pem", curve("1.3.132.0.35")),
        ("p256-explicit.pem", curve("explicit or implicit parameters")),
        ("p256-pbes2-des3.pem", encryption("cipher", "1.2.840.113549.3.7")),
        ("p256-pbes1.pem", encryption("scheme", "1.2.840.113549.1.12.1.3")),
    ];
    for (name, error) in table {
        assert_eq!(refused(name), error, "{name}");
        assert_eq!(error.blame(), Blame::Caller);
    }
    assert_eq!(import::der(&der("certificate.pem"), None).unwrap_err(), KeyError::Certificate);
    assert!(KeyError::LegacyPemEncryption.to_string().contains("openssl pkcs8 -topk8"));
}

#[test]
fn a_structure_in_another_ones_place_is_named() {
    let found = import::pkcs8_der(&der("rsa2048-pkcs1.pem")).unwrap_err();
    let expected = KeyError::Structure { expected: "PKCS#8 PrivateKeyInfo", found: "PKCS#1 RSAPrivateKey" };
    assert_eq!(found, expected);
    let is_structure = |result: Result<_, KeyError>| matches!(result, Err(KeyError::Structure { .. }));
    assert!(is_structure(import::spki_der(&der("rsa2048.pem"))));
    assert!(is_structure(import::sec1_der(&der("p256.pem"))));
    assert!(is_structure(import::pkcs1_public_der(&der("rsa2048-pkcs1.pem"))));
    assert!(is_structure(import::pkcs1_private_der(&der("rsa2048-pkcs1-public.pem"))));
    assert!(is_structure(import::encrypted_pkcs8_der(&der("p256.pem"), &passphrase())));
    assert!(is_structure(import::pkcs8_der(&der("p256-pbes2-default.pem"))));
    assert!(is_structure(import::spki_der(&der("certificate.pem"))));
}

#[test]
fn a_block_in_another_ones_place_is_named() {
    let found = import::spki_pem(&fixture("rsa2048.pem")).unwrap_err();
    assert_eq!(found, KeyError::PemLabel { expected: "PUBLIC KEY", found: "PRIVATE KEY".to_owned() });
    let none = import::pkcs8_pem(b"no PEM at all").unwrap_err();
    assert_eq!(none, KeyError::PemLabel { expected: "PRIVATE KEY", found: "no block".to_owned() });
    assert_eq!(import::pkcs8_pem(&fixture("certificate.pem")).unwrap_err(), KeyError::Certificate);
    let hostile = [b"-----BEGIN \x1b[2J-----\n".as_slice(), b"-----END \x1b[2J-----"].concat();
    let KeyError::PemLabel { found, .. } = import::any(&hostile, None).unwrap_err() else { panic!() };
    assert_eq!(found, "\\x1b[2J");
}

#[test]
fn passphrases_are_demanded_and_tried() {
    let text = fixture("p256-pbes2-default.pem");
    assert_eq!(import::any(&text, None).unwrap_err(), KeyError::PassphraseMissing);
    let empty = Passphrase::new(Vec::new());
    for encrypted in ["p256-pbes2-default.pem", "p256-pbes2-scrypt.pem"] {
        assert_eq!(import::any(&fixture(encrypted), Some(&empty)).unwrap_err(), KeyError::Decryption);
    }
    // Of 300 wrong passphrases about one leaves a padding that looks right.
    for n in 0..300 {
        let wrong = Passphrase::new(format!("wrong {n}").into_bytes());
        assert_eq!(import::any(&text, Some(&wrong)).unwrap_err(), KeyError::Decryption);
    }
}

#[test]
fn costly_encryption_is_refused_unspent() {
    let what = "PBKDF2 iterations";
    let expected = KeyError::TooCostly { what, limit: 10_000_000, found: 50_000_000 };
    assert_eq!(refused("p256-pbes2-costly.pem"), expected);

    let scrypt = der("p256-pbes2-scrypt.pem");
    let with = |limits| import::encrypted_pkcs8_der(&scrypt, &passphrase().with_limits(limits));
    let memory = 128 * 16384 * 8;
    let exact = WorkLimits { scrypt_memory_bytes: memory, scrypt_work_bytes: memory, pbkdf2_iterations: 0 };
    assert!(with(exact).is_ok());
    let (what, found) = ("scrypt memory in bytes", memory);
    let less = WorkLimits { scrypt_memory_bytes: memory - 1, ..exact };
    assert_eq!(with(less).unwrap_err(), KeyError::TooCostly { what, limit: memory - 1, found });
    let less = WorkLimits { scrypt_work_bytes: memory - 1, ..exact };
    let what = "scrypt work in bytes";
    assert_eq!(with(less).unwrap_err(), KeyError::TooCostly { what, limit: memory - 1, found });
}

/// `N = 16384, r = 8, p = 1` of the fixture, overwritten with numbers of the same encoded length.
#[test]
fn hostile_scrypt_parameters_are_refused() {
    let original = der("p256-pbes2-scrypt.pem");
    let costs = [0x02, 0x02, 0x40, 0x00, 0x02, 0x01, 0x08, 0x02, 0x01, 0x01];
    let at = original.windows(costs.len()).position(|window| window == costs).unwrap();
    let with = |offset: usize, bytes: &[u8]| {
        let mut changed = original.clone();
        changed[at + offset..at + offset + bytes.len()].copy_from_slice(bytes);
        import::encrypted_pkcs8_der(&changed, &passphrase()).unwrap_err()
    };
    let parameter = |what, expected, found| KeyError::EncryptionParameter { what, expected, found };
    assert_eq!(with(2, &[0x40, 0x01]), parameter("scrypt N", "a power of two above 1", 0x4001));
    assert_eq!(with(6, &[0]), parameter("scrypt r", "1 to 2^30 - 1", 0));
    assert_eq!(with(9, &[0]), parameter("scrypt p", "1 to 2^30 - 1", 0));
    assert_eq!(with(6, &[0x7f]), KeyError::Decryption);
    let what = "scrypt work in bytes";
    let changed = with(2, &[0x40, 0x00, 2, 1, 0x7f, 2, 1, 0x7f]);
    assert_eq!(changed, KeyError::TooCostly { what, limit: 1 << 30, found: 128 * 16384 * 127 * 127 });
}

#[test]
fn damaged_pem_is_told_apart() {
    let text = String::from_utf8(fixture("p256.pem")).unwrap();
    let malformed = |text: &str| match import::any(text.as_bytes(), None).unwrap_err() {
        KeyError::PemMalformed { label, what } => (label, what),
        other => panic!("{other}"),
    };
    let own = |what| ("PRIVATE KEY".to_owned(), what);
    assert_eq!(malformed(text.split("-----END").next().unwrap()), own("no END"));
    assert_eq!(malformed(&text.replace("END PRIVATE", "END PUBLIC")), own("its END names another label"));
    assert_eq!(malformed(&text.replace("MIG", "M!G")), own("not base64"));
    assert_eq!(malformed(&text.replace("MIG", "X-Header: 1\n\nMIG")), own("headers within"));
    assert_eq!(
        malformed(&text.replace("-----END", "-----BEGIN X-----\n-----END")),
        own("another BEGIN within")
    );
    assert_eq!(malformed("-----BEGIN PRIVATE KEY-----\nA\n-----END PRIVATE KEY-----"), own("not base64"));
}

#[test]
fn pem_may_be_indented_unbroken_and_amid_other_text() {
    let text = String::from_utf8(fixture("p256.pem")).unwrap();
    let own = support::key("p256.pem").fingerprint();
    let same = |text: &str| assert_eq!(import::any(text.as_bytes(), None).unwrap().fingerprint(), own);
    let body: String = text.lines().filter(|line| !line.starts_with('-')).collect();
    same(&format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"));
    same(&text.replace('\n', "\n    "));
    same(&text.replace('\n', "\r"));
    same(&format!("Bag Attributes: 1\n{text}trailing -----BEGIN text\n"));
    let certificate = String::from_utf8(fixture("certificate.pem")).unwrap();
    same(&format!("{certificate}\n{text}"));
    let other = String::from_utf8(fixture("p384.pem")).unwrap();
    same(&format!("{text}{other}"));
}

#[test]
fn neither_pem_nor_der_is_neither() {
    for bytes in [b"".as_slice(), b"\0", b"0", b"key", &[0x30, 0x80, 0, 0], &[0x30, 0], &[0xff; 64]] {
        assert_eq!(import::any(bytes, None).unwrap_err(), KeyError::UnknownFormat, "{bytes:?}");
    }
    let mut trailing = der("p256.pem");
    trailing.push(0);
    assert_eq!(import::any(&trailing, None).unwrap_err(), KeyError::UnknownFormat);
    assert!(matches!(import::pkcs8_der(&trailing), Err(KeyError::Der { .. })));
}

#[test]
fn inputs_are_bounded() {
    let limit = import::MAX_INPUT_LEN;
    let expected = KeyError::InputTooLong { limit, found: limit + 1 };
    let long = vec![b'x'; limit + 1];
    assert_eq!(import::any(&long, None).unwrap_err(), expected);
    assert_eq!(import::pem(&long, None).unwrap_err(), expected);
    assert_eq!(import::spki_der(&long).unwrap_err(), expected);
    assert_eq!(import::any(&long[1..], None).unwrap_err(), KeyError::UnknownFormat);
}
