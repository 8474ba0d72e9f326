//! The inputs that are refused, and their errors.

use oarlock_core::Blame;
use oarlock_keys::{KeyError, Passphrase, WorkLimits, import};

use crate::support::{self, der, fixture, passphrase};

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
        ("rsa-pss2048.pem", unsupported("RSASSA-PSS (1.2.840.113549.1.1.10)")),
        ("ed448.pem", unsupported("Ed448 (1.3.101.113)")),
        ("p521-sec1.pem", curve("P-521 (1.3.132.0.35)")),
        ("p256-explicit.pem", KeyError::ExplicitCurve),
        ("p256-pbes2-des3.pem", encryption("cipher", "DES-EDE3-CBC (1.2.840.113549.3.7)")),
        (
            "p256-pbes1.pem",
            encryption("scheme", "pbeWithSHA1And3-KeyTripleDES-CBC (1.2.840.113549.1.12.1.3)"),
        ),
    ];
    for (name, error) in table {
        assert_eq!(refused(name), error, "{name}");
        assert_eq!(error.blame(), Blame::Caller);
    }
    assert_eq!(import::der(&der("certificate.pem"), None).unwrap_err(), KeyError::Certificate);
    assert!(KeyError::LegacyPemEncryption.to_string().contains("openssl pkcs8 -topk8"));
}

#[test]
fn an_unexpected_structure_is_named() {
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
fn an_unexpected_block_is_named() {
    let found = import::spki_pem(&fixture("rsa2048.pem")).unwrap_err();
    assert_eq!(found, KeyError::PemLabel { expected: "PUBLIC KEY", found: "PRIVATE KEY".to_owned() });
    let none = import::pkcs8_pem(b"no PEM at all").unwrap_err();
    assert_eq!(none, KeyError::PemLabel { expected: "PRIVATE KEY", found: "no block".to_owned() });
    assert_eq!(import::pkcs8_pem(&fixture("certificate.pem")).unwrap_err(), KeyError::Certificate);
    let hostile = [b"-----BEGIN \x1b[2J-----\n".as_slice(), b"-----END \x1b[2J-----"].concat();
    assert_eq!(import::any(&hostile, None).unwrap_err(), KeyError::PemBegin);
    let long = format!("-----BEGIN {0}-----\nAAAA\n-----END {0}-----", "A".repeat(65));
    assert_eq!(import::any(long.as_bytes(), None).unwrap_err(), KeyError::PemBegin);
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
fn costly_encryption_is_refused_before_any_work() {
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
fn each_kind_of_damage_to_pem_has_its_own_error() {
    let text = String::from_utf8(fixture("p256.pem")).unwrap();
    let malformed = |text: &str| match import::any(text.as_bytes(), None).unwrap_err() {
        KeyError::PemMalformed { label, what } => (label, what),
        other => panic!("{other}"),
    };
    let in_private_key = |what| ("PRIVATE KEY".to_owned(), what);
    assert_eq!(malformed(text.split("-----END").next().unwrap()), in_private_key("no END"));
    assert_eq!(
        malformed(&text.replace("END PRIVATE", "END PUBLIC")),
        in_private_key("its END names another label")
    );
    assert_eq!(malformed(&text.replace("MIG", "M!G")), in_private_key("not base64"));
    assert_eq!(malformed(&text.replace("MIG", "X-Header: 1\n\nMIG")), in_private_key("headers within"));
    assert_eq!(
        malformed(&text.replace("-----END", "-----BEGIN X-----\n-----END")),
        in_private_key("another BEGIN within")
    );
    assert_eq!(
        malformed("-----BEGIN PRIVATE KEY-----\nA\n-----END PRIVATE KEY-----"),
        in_private_key("not base64")
    );
}

/// Sixty-four hexadecimal digits are a legal label, and 32 bytes of a key.
#[test]
fn a_label_that_no_program_writes_is_not_quoted() {
    let digits = "49F82E4726A027933ADFC7F11C29B659A865844F186F044B1C7E0123456789AB";
    let begin = format!("-----BEGIN {digits}-----\n");
    let end = format!("-----END {digits}-----\n");
    for text in [
        begin.clone(),
        format!("{begin}AA==\n{end}"),
        format!("{begin}A\n{end}"),
        format!("{begin}X: 1\n\nAA==\n{end}"),
        format!("{begin}{begin}{end}"),
        format!("{begin}AA==\n-----END PRIVATE KEY-----\n"),
        format!("-----BEGIN PRIVATE KEY-----\nAA==\n{end}"),
    ] {
        for error in [import::any(text.as_bytes(), None), import::pkcs8_pem(text.as_bytes())] {
            let error = error.unwrap_err();
            let said = format!("{error} {error:?}");
            assert!(!said.contains(&digits[..12]), "{said}");
        }
    }
    let unknown = import::any(format!("{begin}AA==\n{end}").as_bytes(), None).unwrap_err().to_string();
    assert!(unknown.ends_with("found one with an unknown label"), "{unknown}");
    let cut = import::any(begin.as_bytes(), None).unwrap_err().to_string();
    assert_eq!(cut, "malformed PEM block with an unknown label: no END");
}

#[test]
fn pem_may_be_indented_unbroken_and_amid_other_text() {
    let text = String::from_utf8(fixture("p256.pem")).unwrap();
    let fingerprint = support::key("p256.pem").fingerprint();
    let same =
        |text: &str| assert_eq!(import::any(text.as_bytes(), None).unwrap().fingerprint(), fingerprint);
    let body: String = text.lines().filter(|line| !line.starts_with('-')).collect();
    same(&format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"));
    same(&text.replace('\n', "\n    "));
    same(&text.replace('\n', "\r"));
    same(&format!("Bag Attributes: 1\n{text}trailing -----BEGIN text\n"));
    let certificate = String::from_utf8(fixture("certificate.pem")).unwrap();
    same(&format!("{certificate}\n{text}"));
    // OpenSSL's tools write a public key or parameters beside a private key.
    let public = String::from_utf8(fixture("p384-spki.pem")).unwrap();
    same(&format!("{text}{public}"));
    same(&format!("# -----BEGIN PRIVATE KEY----- was here\n{text}"));
}

/// An environment variable, a JSON string, a folded YAML value, a shell variable without quotes.
#[test]
fn pem_that_lost_its_line_ends_is_read() {
    for name in ["p256.pem", "p256-sec1.pem", "rsa2048-pkcs1.pem", "ed25519.pem", "p256-pbes2-scrypt.pem"] {
        let text = String::from_utf8(fixture(name)).unwrap();
        let fingerprint = support::key(name).fingerprint();
        let line = |between: &str| text.trim_end().replace('\n', between);
        for lost in [
            line(""),
            line(" "),
            line("\\n"),
            line("\\r\\n"),
            line("\\\\n"),
            line("\t"),
            format!("KEY=\"{}\"", line("\\n")),
            format!("{{\"private_key\": \"{}\\n\"}}", line("\\n")),
            format!("\u{feff}{text}"),
            format!("key: >\n  {}\n", line(" ")),
        ] {
            let key = import::any(lost.as_bytes(), Some(&passphrase())).unwrap();
            assert_eq!(key.fingerprint(), fingerprint, "{name}");
        }
    }
}

#[test]
fn base64_without_begin_and_end_lines_is_read() {
    for name in ["rsa2048-spki.pem", "p256.pem", "ed25519-spki.pem"] {
        let text = String::from_utf8(fixture(name)).unwrap();
        let body: String =
            text.lines().filter(|line| !line.starts_with('-')).map(|line| format!("{line}\n")).collect();
        let key = import::any(body.as_bytes(), None).unwrap();
        assert_eq!(key.fingerprint(), support::key(name).fingerprint(), "{name}");
    }
    assert_eq!(import::any(b"bm8ga2V5IGF0IGFsbA==", None).unwrap_err(), KeyError::UnknownFormat);
}

#[test]
fn several_private_keys_in_a_file_are_refused() {
    let text = |name| String::from_utf8(fixture(name)).unwrap();
    let two = format!("{}{}", text("p256.pem"), text("p384.pem"));
    assert_eq!(import::any(two.as_bytes(), None).unwrap_err(), KeyError::SeveralKeys { found: 2 });
    assert_eq!(import::pkcs8_pem(two.as_bytes()).unwrap_err(), KeyError::SeveralKeys { found: 2 });
    let kinds = format!("{}{}{}", text("p256-sec1.pem"), text("rsa2048-pkcs1.pem"), text("p384.pem"));
    assert_eq!(import::any(kinds.as_bytes(), None).unwrap_err(), KeyError::SeveralKeys { found: 3 });
    // Of blocks of several kinds, the named functions take theirs.
    import::pkcs8_pem(kinds.as_bytes()).unwrap();
}

#[test]
fn formats_of_other_programs_are_named_with_what_converts_them() {
    let pkcs12 = [
        &[0x30, 0x16, 2, 1, 3, 0x30, 0x11, 6, 9][..],
        b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01",
        &[0xa0, 4, 4, 2, 1, 2],
    ];
    // The same in BER, whose lengths are not stated, and in base64.
    let ber = [
        &[0x30, 0x80, 2, 1, 3, 0x30, 0x80, 6, 9][..],
        b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01",
        &[0xa0, 0x80, 0x24, 0x80, 4, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0],
    ];
    let base64 = b"MBYCAQMwEQYJKoZIhvcNAQcBoAQEAgEC\n";
    let openssh =
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n";
    let ed25519 = openssh.replace("b3BlbnNzaC1rZXktdjEAAAAA", "c3NoLWVkMjU1MTkA");
    let table: [(&[u8], &str, &str); 19] = [
        (&pkcs12.concat(), "PKCS#12", "openssl pkcs12"),
        (&ber.concat(), "PKCS#12", "-legacy"),
        (base64, "PKCS#12 in base64", "base64 -d FILE"),
        (b"MIAGCSqGSIb3DQEHAaCA", "expected PEM or DER", "found"),
        (b"age-encryption.org/v1\n-> X25519 TEiF\n", "a file sealed with age", "oarlock keys unseal FILE"),
        (
            b"-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----\n",
            "a file sealed with age",
            "[keys] identity",
        ),
        (b"PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none", "PuTTY", "puttygen"),
        (b" {\"kty\":\"EC\",\"d\":\"abc\"}", "JSON Web Key", "PKCS#8"),
        (b"PuTTY-User-Key-File-3: ssh-ed25519\r\nEncryption: none", "PuTTY", "oarlock keys generate ed25519"),
        (b"{ \"kty\" : \"oct\", \"k\":\"abc\"}", "symmetric JSON Web Key", "file of symmetric keys"),
        (b"LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t\n", "PEM in base64", "base64 -d"),
        (b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 me", "OpenSSH public key", "oarlock keys generate ed25519"),
        (b"ecdsa-sha2-nistp256 AAAA me", "OpenSSH public key", "ssh-keygen -e"),
        (openssh.as_bytes(), "OpenSSH private key", "ssh-keygen -p -m PKCS8 -f FILE"),
        (ed25519.as_bytes(), "OpenSSH private key for Ed25519", "oarlock keys generate"),
        (
            &openssh.replace("OPENSSH PRIVATE KEY", "CERTIFICATE REQUEST").into_bytes(),
            "request",
            "openssl req",
        ),
        (&[0xff, 0xfe, b'-', 0, b'-', 0], "UTF-16", "iconv"),
        (&b"30".repeat(40), "hexadecimal", "xxd"),
        (&[0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2], "Java", "keytool"),
    ];
    for (bytes, name, remedy) in table {
        let said = import::any(bytes, None).unwrap_err().to_string();
        assert!(said.contains(name) && said.contains(remedy), "{said}");
    }
    assert_eq!(import::private_key_format(&pkcs12.concat()), Some("PKCS#12"));
    assert_eq!(import::private_key_format(&ber.concat()), Some("PKCS#12"));
    assert_eq!(import::private_key_format(base64), Some("PKCS#12 in base64"));
    assert_eq!(import::private_key_format(&fixture("p256.pem")), Some("a private key in PEM"));
    assert_eq!(import::private_key_format(&der("p256.pem")), Some("a private key in DER"));
    assert_eq!(import::private_key_format(b"age-encryption.org/v1\n"), Some("a file sealed with age"));
    for public in [&fixture("p256-spki.pem")[..], &der("certificate.pem"), b"ssh-rsa AAAA", b"notes", b""] {
        assert_eq!(import::private_key_format(public), None);
    }
}

#[test]
fn input_that_is_neither_pem_nor_der_is_refused() {
    for bytes in [b"\0".as_slice(), b"0", b"key", &[0x30, 0x80, 0, 0], &[0x30, 0], &[0xff; 64]] {
        assert_eq!(import::any(bytes, None).unwrap_err(), KeyError::UnknownFormat, "{bytes:?}");
    }
    assert_eq!(import::any(b"", None).unwrap_err(), KeyError::Empty { len: 0 });
    assert_eq!(import::any(b" \n", None).unwrap_err(), KeyError::Empty { len: 2 });
    let mut trailing = der("p256.pem");
    let expected = trailing.len();
    let length = |found| KeyError::DerLength { expected, found };
    assert_eq!(import::any(&trailing[..100], None).unwrap_err(), length(100));
    trailing.push(0);
    assert_eq!(import::any(&trailing, None).unwrap_err(), length(expected + 1));
    assert_eq!(import::der(&trailing, None).unwrap_err(), length(expected + 1));
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
