//! Exported keys come in again, in the form that OpenSSL writes and reads.

use std::io::Write;
use std::num::NonZeroU32;
use std::process::{Command, Stdio};

use oarlock_core::{Curve, Key, KeyHome, KeyKind, KeyParts, MlDsaSet, MlKemSet};
use oarlock_keys::export::{self, Protection};
use oarlock_keys::{KeyError, Passphrase, WorkLimits, generate, held, import, raw, rsa};

use crate::support::{der, fixture, key, passphrase};

/// Files, and the SHA-256 of what `openssl pkey -pubout -outform der` made of each.
const FINGERPRINTS: [(&str, &str); 8] = [
    ("rsa1024.pem", "6b5a901432cb7f0bf58a238ae2d02fc4359a2d6ef6b7eb814462f12026929633"),
    ("rsa1025.pem", "74d9bbca318d028d481400562764c4a63b9181c7b24247873b3641db7b33f56f"),
    ("rsa2048-e3.pem", "da57cc9b397b4d99642175a3608052d9bd7af270d0d982b2146e7e46787b7819"),
    ("rsa4096.pem", "53b1c452bc308cc6ae8a8970b6ce5fa29807b4e474b685af14d06c1482414b92"),
    ("p256.pem", "e79f4122ef955b5dbf9ebcf793b0fbf27eca7495b32c2814f145682a26ed0803"),
    ("p384.pem", "1c6dc898e436ad651c2ce38a84aa7223fd106b05bef022617b0aeba1161ac4ae"),
    ("ed25519.pem", "f1f142f692575f251330e7d3d810d6a84f50e50e8a9a32651d382b0c03e49fdb"),
    ("x25519.pem", "26e72972b9d7be2314222df8572e544eba2665b7b6512a2f9764daa7866ab817"),
];

const PRIVATE: [&str; 8] = [
    "rsa1024.pem",
    "rsa1025.pem",
    "rsa2048-e3.pem",
    "rsa4096.pem",
    "p256.pem",
    "p384.pem",
    "ed25519.pem",
    "x25519.pem",
];

const PROTECTIONS: [Protection; 2] = [
    Protection::Scrypt { log_n: 14, r: 8, p: 1 },
    Protection::Pbkdf2 { iterations: NonZeroU32::new(2048).unwrap() },
];

/// Returns the output of `openssl` for `input`, or `None` if there is no openssl.
fn openssl(arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new("openssl");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "openssl {arguments:?}");
    Some(output.stdout)
}

#[test]
fn fingerprints_are_the_hash_of_what_openssl_writes() {
    for (name, expected) in FINGERPRINTS {
        assert_eq!(key(name).fingerprint().to_string(), expected, "{name}");
        let Some(spki) = openssl(&["pkey", "-pubout", "-outform", "der"], &fixture(name)) else { continue };
        assert_eq!(export::spki_der(&key(name)).unwrap(), spki, "{name}");
        let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &spki);
        assert_eq!(key(name).fingerprint().as_bytes().as_slice(), hash.as_ref(), "{name}");
    }
}

#[test]
fn exports_are_what_openssl_wrote() {
    for name in PRIVATE {
        let (key, expected) = (key(name), der(name));
        assert_eq!(*export::private_pkcs8_der(&key).unwrap(), expected, "{name}");
        let pem = export::private_pkcs8_pem(&key).unwrap();
        assert_eq!(pem.as_bytes(), fixture(name), "{name}");
    }
    for name in ["rsa2048-spki.pem", "p256-spki.pem", "p384-spki.pem", "ed25519-spki.pem", "x25519-spki.pem"]
    {
        assert_eq!(export::spki_pem(&key(name)).unwrap().as_bytes(), fixture(name), "{name}");
        assert_eq!(export::spki_der(&key(name)).unwrap(), der(name), "{name}");
    }
}

#[test]
fn encrypted_exports_come_back_here_and_in_openssl() {
    for name in ["rsa1024.pem", "p384.pem", "ed25519.pem"] {
        for protection in PROTECTIONS {
            let key = key(name);
            let pem = export::encrypted_pkcs8_pem(&key, &passphrase(), protection).unwrap();
            let back = import::any(pem.as_bytes(), Some(&passphrase())).unwrap();
            assert_eq!((back.kind(), back.fingerprint()), (key.kind(), key.fingerprint()));
            assert_eq!(export::private_pkcs8_der(&back), export::private_pkcs8_der(&key));
            let again = export::encrypted_pkcs8_pem(&key, &passphrase(), protection).unwrap();
            assert_ne!(again, pem, "salt and IV are drawn anew");
            let other = Passphrase::new(b"other".as_slice());
            assert!(import::any(pem.as_bytes(), Some(&other)).is_err());
            let decrypt = ["pkcs8", "-passin", "pass:secret"];
            if let Some(plain) = openssl(&decrypt, pem.as_bytes()) {
                assert_eq!(plain, fixture(name), "{name} by {protection:?}");
            }
        }
    }
}

#[test]
fn protections_are_bounded_like_imports() {
    let key = key("p256.pem");
    let limits =
        WorkLimits { pbkdf2_iterations: 2047, scrypt_memory_bytes: 1 << 20, scrypt_work_bytes: 1 << 20 };
    let passphrase = passphrase().with_limits(limits);
    let export = |protection| export::encrypted_pkcs8_der(&key, &passphrase, protection).unwrap_err();
    for protection in PROTECTIONS {
        assert!(matches!(export(protection), KeyError::TooCostly { .. }), "{protection:?}");
    }
    for (log_n, r, p) in [(0, 8, 1), (64, 8, 1), (4, 0, 1), (4, 8, 0), (4, 1 << 30, 1)] {
        let protection = Protection::Scrypt { log_n, r, p };
        assert!(matches!(export(protection), KeyError::EncryptionParameter { .. }), "{protection:?}");
    }
    assert!(matches!(export(Protection::Scrypt { log_n: 63, r: 1 << 29, p: 1 }), KeyError::TooCostly { .. }));
}

#[test]
fn public_symmetric_and_held_keys_have_no_private_export() {
    let stays = |key: &Key| matches!(export::private_pkcs8_der(key), Err(KeyError::NotExportable { .. }));
    let held = held::from_spki(&fixture("p256-spki.pem"), "token", "label").unwrap();
    let mod_exp = rsa::mod_exp(&[0xff; 128], &[5], 3).unwrap();
    for key in [&held, &mod_exp, &raw::secret(vec![7; 16]).unwrap(), &key("rsa2048-spki.pem")] {
        assert!(stays(key), "{key:?}");
        assert!(export::encrypted_pkcs8_pem(key, &passphrase(), Protection::default()).is_err());
    }
    assert!(matches!(export::spki_der(&mod_exp), Err(KeyError::NotExportable { .. })));
}

#[test]
fn held_keys_have_the_fingerprint_of_their_public_half() {
    let table = [
        ("rsa2048-spki.pem", KeyKind::RsaPrivate(2048)),
        ("p384-compressed-spki.pem", KeyKind::EcPrivate(Curve::P384)),
        ("ed25519-spki.pem", KeyKind::Ed25519Private),
        ("x25519-spki.pem", KeyKind::X25519Private),
    ];
    for (name, kind) in table {
        for spki in [fixture(name), der(name)] {
            let held = held::from_spki(&spki, "token", "label").unwrap();
            let home = KeyHome::Held { holder: "token".into(), reference: "label".into() };
            assert_eq!((held.kind(), held.home()), (kind, &home));
            assert_eq!(held.fingerprint(), key(name).fingerprint());
            assert_eq!(export::spki_der(&held), export::spki_der(&key(name)));
        }
    }
    assert_eq!(
        held::from_spki(&fixture("p256-spki.pem"), "", "label").unwrap_err(),
        KeyError::EmptyName { what: "holder name" }
    );
    assert_eq!(
        held::from_spki(&fixture("p256-spki.pem"), "token", "").unwrap_err(),
        KeyError::EmptyName { what: "reference" }
    );
    assert!(held::from_spki(&fixture("p256.pem"), "token", "label").is_err());
}

#[test]
fn generated_keys_can_be_exported_and_imported() {
    let made = [
        (generate::rsa(1024).unwrap(), KeyKind::RsaPrivate(1024)),
        (generate::rsa(2048).unwrap(), KeyKind::RsaPrivate(2048)),
        (generate::ec(Curve::P256).unwrap(), KeyKind::EcPrivate(Curve::P256)),
        (generate::ec(Curve::P384).unwrap(), KeyKind::EcPrivate(Curve::P384)),
        (generate::ed25519().unwrap(), KeyKind::Ed25519Private),
        (generate::x25519().unwrap(), KeyKind::X25519Private),
    ];
    for (key, kind) in made {
        assert_eq!(key.kind(), kind);
        let back = import::pkcs8_der(&export::private_pkcs8_der(&key).unwrap()).unwrap();
        assert_eq!(back.fingerprint(), key.fingerprint());
    }
    assert_ne!(generate::ed25519().unwrap().fingerprint(), generate::ed25519().unwrap().fingerprint());
    let secrets = [generate::secret(32).unwrap(), generate::secret(32).unwrap()];
    assert_ne!(secrets[0].secret(), secrets[1].secret());
    assert_eq!(secrets[0].kind(), KeyKind::Secret(32));
    for len in [0, raw::MAX_SECRET_LEN + 1, usize::MAX] {
        assert!(generate::secret(len).is_err());
    }
    let KeyError::CannotGenerate { remedy, .. } = generate::rsa(1536).unwrap_err() else { panic!() };
    assert!(remedy.contains("openssl genrsa"));
}

/// Hexadecimal, decimal lists and raw text of every secret part, searched in what keys and errors print.
#[test]
fn nothing_printed_shows_material() {
    for name in PRIVATE {
        let key = key(name);
        let shown = format!("{key:?} {key:#?} {:?} {:#?} {:?}", key.parts(), key.parts(), passphrase());
        let secrets: Vec<Vec<u8>> = match key.parts() {
            Some(KeyParts::RsaPrivate(rsa)) => [&rsa.d, &rsa.p, &rsa.q, &rsa.dp, &rsa.dq, &rsa.qinv]
                .map(|part| part.expose().to_vec())
                .to_vec(),
            Some(KeyParts::EcPrivate(ec)) => vec![ec.scalar.expose().to_vec()],
            Some(KeyParts::Ed25519Private(ed)) => vec![ed.seed.expose().to_vec()],
            Some(KeyParts::X25519Private(x)) => vec![x.scalar.expose().to_vec()],
            other => panic!("{other:?}"),
        };
        let shown = shown.to_lowercase();
        for secret in secrets.iter().chain([&b"secret".to_vec()]) {
            let start = &secret[..6];
            let hex: String = start.iter().map(|byte| format!("{byte:02x}")).collect();
            let list = format!("{start:?}");
            assert!(!shown.contains(&hex) && !shown.contains(list.trim_matches(['[', ']'])), "{name}");
        }
        assert!(shown.contains(&key.fingerprint().to_string()));
    }
}

#[test]
fn a_seed_and_its_expanded_form_are_one_key() {
    for set in MlKemSet::ALL {
        let key = generate::ml_kem(set).unwrap();
        let expanded = export::expanded(&key).unwrap();
        assert_eq!(expanded.len(), set.expanded_len());
        let again = raw::ml_kem_expanded(set, expanded.expose()).unwrap();
        assert_eq!(again.fingerprint(), key.fingerprint());
        assert_eq!(export::expanded(&again).unwrap(), expanded);
    }
    for set in MlDsaSet::ALL {
        let key = generate::ml_dsa(set).unwrap();
        let expanded = export::expanded(&key).unwrap();
        assert_eq!(expanded.len(), set.expanded_len());
        let again = raw::ml_dsa_expanded(set, expanded.expose()).unwrap();
        assert_eq!(again.fingerprint(), key.fingerprint());
    }
    let other = export::expanded(&generate::ed25519().unwrap());
    assert!(matches!(other, Err(KeyError::NotExportable { what: "expanded key", .. })));
}
