//! The formats that are imported, and the keys that come out.

use base64ct::{Base64, Encoding};
use der::asn1::BitStringRef;
use der::{Decode, Encode};
use oarlock_core::{Curve, KeyHome, KeyKind};
use oarlock_keys::{KeyError, import};
use pkcs8::PrivateKeyInfoRef;
use spki::SubjectPublicKeyInfoRef;

use crate::support::{self, der, fixture, key, passphrase};

#[test]
fn every_supported_file_becomes_its_kind() {
    let table = [
        ("rsa512.pem", KeyKind::RsaPrivate(512)),
        ("rsa1024.pem", KeyKind::RsaPrivate(1024)),
        ("rsa1025.pem", KeyKind::RsaPrivate(1025)),
        ("rsa1536.pem", KeyKind::RsaPrivate(1536)),
        ("rsa2048.pem", KeyKind::RsaPrivate(2048)),
        ("rsa2048-e3.pem", KeyKind::RsaPrivate(2048)),
        ("rsa2048-pkcs1.pem", KeyKind::RsaPrivate(2048)),
        ("rsa2048-pkcs1-public.pem", KeyKind::RsaPublic(2048)),
        ("rsa2048-spki.pem", KeyKind::RsaPublic(2048)),
        ("rsa2048-with-text.pem", KeyKind::RsaPrivate(2048)),
        ("rsa2048-pbes2-default.pem", KeyKind::RsaPrivate(2048)),
        ("rsa3072.pem", KeyKind::RsaPrivate(3072)),
        ("rsa4096.pem", KeyKind::RsaPrivate(4096)),
        ("p256.pem", KeyKind::EcPrivate(Curve::P256)),
        ("p256-crlf.pem", KeyKind::EcPrivate(Curve::P256)),
        ("p256-sec1.pem", KeyKind::EcPrivate(Curve::P256)),
        ("p256-nopublic-sec1.pem", KeyKind::EcPrivate(Curve::P256)),
        ("p256-compressed-sec1.pem", KeyKind::EcPrivate(Curve::P256)),
        ("p256-spki.pem", KeyKind::EcPublic(Curve::P256)),
        ("p256-compressed-spki.pem", KeyKind::EcPublic(Curve::P256)),
        ("p256-pbes2-default.pem", KeyKind::EcPrivate(Curve::P256)),
        ("p256-pbes2-scrypt.pem", KeyKind::EcPrivate(Curve::P256)),
        ("p256-pbes2-sha1-aes128.pem", KeyKind::EcPrivate(Curve::P256)),
        ("p256-pbes2-sha512-aes192.pem", KeyKind::EcPrivate(Curve::P256)),
        ("p256-pbes2-sha384-aes256.pem", KeyKind::EcPrivate(Curve::P256)),
        ("p384.pem", KeyKind::EcPrivate(Curve::P384)),
        ("p384-sec1.pem", KeyKind::EcPrivate(Curve::P384)),
        ("p384-compressed-sec1.pem", KeyKind::EcPrivate(Curve::P384)),
        ("p384-spki.pem", KeyKind::EcPublic(Curve::P384)),
        ("p384-compressed-spki.pem", KeyKind::EcPublic(Curve::P384)),
        ("ed25519.pem", KeyKind::Ed25519Private),
        ("ed25519-spki.pem", KeyKind::Ed25519Public),
        ("ed25519-pbes2-scrypt.pem", KeyKind::Ed25519Private),
        ("x25519.pem", KeyKind::X25519Private),
        ("x25519-spki.pem", KeyKind::X25519Public),
    ];
    for (name, kind) in table {
        let from_pem = key(name);
        assert_eq!((from_pem.kind(), from_pem.home()), (kind, &KeyHome::Local), "{name}");
        let from_der = import::any(&der(name), Some(&passphrase())).unwrap();
        assert_eq!((from_der.kind(), from_der.fingerprint()), (kind, from_pem.fingerprint()), "{name}");
    }
}

/// The form of rcgen and of older versions of ring, which OpenSSL refuses.
#[test]
fn an_explicitly_tagged_public_key_is_read_and_compared() {
    const KEY: &str = "MFMCAQEwBQYDK2VwBCIEIDEB7u3IOyKilZVbQcw9l1YN5z6EXJJtp9/znBHjkpJ4oSMDIQChVrTkaii1ZJ7sDNGYIfCpb7N9kBHpKaTx0EyhF/mi7Q==";
    let pem = |body: &str| format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
    let key = import::any(pem(KEY).as_bytes(), None).unwrap();
    assert_eq!(key.kind(), KeyKind::Ed25519Private);
    let whole = Base64::decode_vec(KEY).unwrap();
    // Without the public key it is the same key, in version 1.
    let mut short = whole[..whole.len() - 37].to_vec();
    short[1] = short.len() as u8 - 2;
    short[4] = 0;
    assert_eq!(import::pkcs8_der(&short).unwrap().fingerprint(), key.fingerprint());
    let mut other = whole.clone();
    *other.last_mut().unwrap() ^= 1;
    assert!(matches!(import::pkcs8_der(&other), Err(KeyError::PublicMismatch { .. })));
    for damage in [whole.len() - 37, whole.len() - 35, whole.len() - 34] {
        let mut damaged = whole.clone();
        damaged[damage] ^= 0x12;
        assert!(import::pkcs8_der(&damaged).is_err(), "{damage}");
    }
}

#[test]
fn certificates_are_read_under_every_label_and_without_keys() {
    let pem = String::from_utf8(fixture("certificate.pem")).unwrap();
    let expected = vec![der("certificate.pem")];
    let x509 = pem.replace(" CERTIFICATE-", " X509 CERTIFICATE-");
    let indented: String = pem.lines().map(|line| format!("    {line}\n")).collect();
    let key = String::from_utf8(fixture("p256.pem")).unwrap();
    // A certificate that OpenSSL trusts for some uses has another SEQUENCE behind it.
    let trusted = Base64::encode_string(&[&expected[0][..], &[0x30, 0x02, 0x05, 0x00]].concat());
    let trusted =
        format!("-----BEGIN TRUSTED CERTIFICATE-----\n{trusted}\n-----END TRUSTED CERTIFICATE-----\n");
    for text in [pem.clone(), x509, indented, format!("\u{feff}{key}{pem}"), trusted, pem.replace('\n', "\r")]
    {
        assert_eq!(import::certificates(text.as_bytes()).unwrap(), expected, "{text}");
    }
    assert_eq!(import::certificates((pem.clone() + &pem).as_bytes()).unwrap().len(), 2);
    assert!(import::certificates(key.as_bytes()).unwrap().is_empty());
    let utf16: Vec<u8> = pem.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [&pem.as_bytes()[..100], &utf16, pem.replace("MII", "M!!").as_bytes()] {
        assert!(import::certificates(bytes).is_err());
    }
}

#[test]
fn files_of_one_key_have_one_fingerprint() {
    let families = [
        ("rsa2048.pem", "rsa2048-"),
        ("p256.pem", "p256-"),
        ("p384.pem", "p384-"),
        ("ed25519.pem", "ed25519-"),
        ("x25519.pem", "x25519-"),
    ];
    let others = ["rsa2048-e3.pem", "p256-sec1.pem", "p384-sec1.pem"];
    for (name, prefix) in families {
        let fingerprint = key(name).fingerprint();
        let mut count = 0;
        for (other, text) in support::fixtures() {
            let Ok(key) = import::any(&text, Some(&passphrase())) else { continue };
            let is_family = (other == name || other.starts_with(prefix)) && !others.contains(&other.as_str());
            assert_eq!(key.fingerprint() == fingerprint, is_family, "{name} and {other}");
            count += usize::from(is_family);
        }
        assert!(count >= 2, "{name}");
    }
}

#[test]
fn named_imports_take_their_own_structure() {
    import::pkcs8_pem(&fixture("rsa2048.pem")).unwrap();
    import::pkcs8_der(&der("x25519.pem")).unwrap();
    import::encrypted_pkcs8_pem(&fixture("p256-pbes2-scrypt.pem"), &passphrase()).unwrap();
    import::encrypted_pkcs8_der(&der("p256-pbes2-default.pem"), &passphrase()).unwrap();
    import::pkcs1_private_pem(&fixture("rsa2048-pkcs1.pem")).unwrap();
    import::pkcs1_private_der(&der("rsa2048-pkcs1.pem")).unwrap();
    import::pkcs1_public_pem(&fixture("rsa2048-pkcs1-public.pem")).unwrap();
    import::pkcs1_public_der(&der("rsa2048-pkcs1-public.pem")).unwrap();
    import::sec1_pem(&fixture("p384-sec1.pem")).unwrap();
    import::sec1_der(&der("p384-sec1.pem")).unwrap();
    import::spki_pem(&fixture("ed25519-spki.pem")).unwrap();
    import::spki_der(&der("ed25519-spki.pem")).unwrap();
}

/// RFC 5958 section 2: version 2 carries the public key beside the private one.
#[test]
fn a_public_key_beside_the_private_one_must_be_its_own() {
    let table = [
        ("rsa2048", "RSA", "rsa1024"),
        ("p256", "EC", "p256-sec1"),
        ("ed25519", "Ed25519", "x25519"),
        ("x25519", "X25519", "ed25519"),
    ];
    for (name, algorithm, other) in table {
        let (private, other) = (der(&format!("{name}.pem")), key(&format!("{other}.pem")));
        let spki = oarlock_keys::export::spki_der(&key(&format!("{name}.pem"))).unwrap();
        let foreign = oarlock_keys::export::spki_der(&other).unwrap();
        let with = |spki: &[u8]| {
            let mut info = PrivateKeyInfoRef::from_der(&private).unwrap();
            let public = SubjectPublicKeyInfoRef::from_der(spki).unwrap().subject_public_key;
            info.public_key = Some(BitStringRef::from_bytes(public.raw_bytes()).unwrap());
            import::any(&info.to_der().unwrap(), None).map(|key| key.fingerprint())
        };
        assert_eq!(with(&spki), Ok(key(&format!("{name}.pem")).fingerprint()));
        assert_eq!(with(&foreign), Err(KeyError::PublicMismatch { algorithm }));
    }
}
