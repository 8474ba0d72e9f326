//! Keys of composites in every form, and broken ones.

use der::Encode;
use der::asn1::OctetStringRef;
use oarlock_core::{CompositeAlg, Curve, Key, KeyKind};
use oarlock_keys::{KeyError, export, generate, held, import};

/// The composites whose keys are made in no time.
const QUICK: [CompositeAlg; 7] = [
    CompositeAlg::MlDsa44P256,
    CompositeAlg::MlDsa44Ed25519,
    CompositeAlg::MlDsa65P256,
    CompositeAlg::MlDsa65P384,
    CompositeAlg::MlDsa65Ed25519,
    CompositeAlg::MlDsa87P384,
    CompositeAlg::MlDsa44Rsa2048Pss,
];

/// Returns the content of PKCS#8's OCTET STRING.
fn content(key: &Key) -> Vec<u8> {
    let der = export::private_pkcs8_der(key).unwrap();
    let info = pkcs8::PrivateKeyInfoRef::try_from(&der[..]).unwrap();
    info.private_key.as_bytes().to_vec()
}

/// Imports a private key with other bytes in the OCTET STRING.
fn with_content(key: &Key, content: &[u8], public: Option<&[u8]>) -> Result<Key, KeyError> {
    let der = export::private_pkcs8_der(key).unwrap();
    let mut info = pkcs8::PrivateKeyInfoRef::try_from(&der[..]).unwrap();
    info.private_key = OctetStringRef::new(content).unwrap();
    info.public_key = public.map(|bytes| der::asn1::BitStringRef::from_bytes(bytes).unwrap());
    import::pkcs8_der(&info.to_der().unwrap())
}

/// Returns the content of the BIT STRING.
fn public_content(key: &Key) -> Vec<u8> {
    let der = export::spki_der(key).unwrap();
    let info = spki::SubjectPublicKeyInfoRef::try_from(&der[..]).unwrap();
    info.subject_public_key.raw_bytes().to_vec()
}

fn with_public_content(key: &Key, content: &[u8]) -> Result<Key, KeyError> {
    let der = export::spki_der(key).unwrap();
    let mut info = spki::SubjectPublicKeyInfoRef::try_from(&der[..]).unwrap();
    info.subject_public_key = der::asn1::BitStringRef::from_bytes(content).unwrap();
    import::spki_der(&info.to_der().unwrap())
}

#[test]
fn keys_are_written_and_read_again() {
    for alg in QUICK {
        let key = generate::composite(alg).unwrap();
        assert_eq!(key.kind(), KeyKind::CompositePrivate(alg));
        let spki = export::spki_der(&key).unwrap();
        let public = import::spki_der(&spki).unwrap();
        assert_eq!(public.kind(), KeyKind::CompositePublic(alg));
        assert_eq!(export::spki_der(&public).unwrap(), spki);
        let pem = export::private_pkcs8_pem(&key).unwrap();
        for again in [
            import::pkcs8_der(&export::private_pkcs8_der(&key).unwrap()).unwrap(),
            import::any(pem.as_bytes(), None).unwrap(),
            with_content(&key, &content(&key), Some(&public_content(&key))).unwrap(),
        ] {
            assert_eq!((again.kind(), again.fingerprint()), (key.kind(), key.fingerprint()));
        }
        let held = held::from_spki(&spki, "server", "name").unwrap();
        assert_eq!((held.kind(), held.fingerprint()), (key.kind(), key.fingerprint()));
        assert!(matches!(export::private_pkcs8_der(&public), Err(KeyError::NotExportable { .. })));
        if let Some(len) = private_len(alg) {
            assert_eq!(content(&key).len(), len, "{alg}");
        }
    }
}

/// The seed of 32 bytes, and an ECPrivateKey with its curve and without its point or a seed of Ed25519.
/// draft-ietf-lamps-pq-composite-sigs-13, appendix A.
fn private_len(alg: CompositeAlg) -> Option<usize> {
    match alg.traditional_kind() {
        KeyKind::EcPrivate(Curve::P256) => Some(32 + 51),
        KeyKind::EcPrivate(Curve::P384) => Some(32 + 64),
        KeyKind::Ed25519Private => Some(32 + 32),
        _ => None,
    }
}

#[test]
fn identifiers_are_those_of_the_draft() {
    for (alg, arc) in [(CompositeAlg::MlDsa44P256, 40), (CompositeAlg::MlDsa65Ed25519, 48)] {
        let spki = export::spki_der(&generate::composite(alg).unwrap()).unwrap();
        let identifier = [0x30, 0x0a, 0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x06, arc];
        assert_eq!(spki[4..16], identifier, "{alg}");
    }
}

#[test]
fn broken_private_keys_name_their_fault() {
    let key = generate::composite(CompositeAlg::MlDsa44P256).unwrap();
    let good = content(&key);
    for len in [0, 1, 31] {
        let error = with_content(&key, &good[..len], None).unwrap_err().to_string();
        assert!(error.starts_with("MLDSA44-ECDSA-P256-SHA256: expected seed of 32 bytes"), "{error}");
    }
    let cut = with_content(&key, &good[..good.len() - 1], None).unwrap_err();
    assert!(matches!(cut, KeyError::Der { structure: "SEC 1 ECPrivateKey", .. }), "{cut}");
    assert!(with_content(&key, &good[..32], None).is_err());
    let other = public_content(&generate::composite(CompositeAlg::MlDsa44P256).unwrap());
    let mismatch = KeyError::PublicMismatch { algorithm: "MLDSA44-ECDSA-P256-SHA256" };
    assert_eq!(with_content(&key, &good, Some(&other)).unwrap_err(), mismatch);
    // The scalar zero.
    let mut zero = good;
    zero[39..71].fill(0);
    assert!(matches!(with_content(&key, &zero, None), Err(KeyError::ScalarRange { .. })));
    let edwards = generate::composite(CompositeAlg::MlDsa44Ed25519).unwrap();
    let good = content(&edwards);
    let longer = [&good[..], &[0]].concat();
    for bytes in [&good[..63], &longer] {
        assert!(matches!(with_content(&edwards, bytes, None), Err(KeyError::Length { .. })));
    }
    let curve = with_content(&key, &content(&generate::composite(CompositeAlg::MlDsa65P384).unwrap()), None);
    assert!(matches!(curve, Err(KeyError::CurvesDiffer { .. })));
}

#[test]
fn broken_public_keys_name_their_fault() {
    let key = generate::composite(CompositeAlg::MlDsa44P256).unwrap();
    let good = public_content(&key);
    let point = 1312;
    assert_eq!((good.len(), good[point]), (point + 65, 4));
    for len in [0, 1, point - 1] {
        assert!(matches!(with_public_content(&key, &good[..len]), Err(KeyError::Length { .. })));
    }
    let mut compressed = good[..point + 33].to_vec();
    compressed[point] = 2 + good[point + 64] % 2;
    let error = with_public_content(&key, &compressed).unwrap_err().to_string();
    assert!(error.contains("expected an uncompressed point of 65 bytes, found 33"), "{error}");
    let mut off_curve = good;
    off_curve[point + 64] ^= 1;
    assert!(matches!(with_public_content(&key, &off_curve), Err(KeyError::PointOffCurve { .. })));
    // A modulus of another length than the algorithm names.
    let rsa = generate::composite(CompositeAlg::MlDsa44Rsa2048Pss).unwrap();
    let short = export::spki_der(&generate::rsa(1024).unwrap()).unwrap();
    let short = spki::SubjectPublicKeyInfoRef::try_from(&short[..]).unwrap();
    let bytes = [&public_content(&rsa)[..point], short.subject_public_key.raw_bytes()].concat();
    let error = with_public_content(&rsa, &bytes).unwrap_err();
    assert_eq!(error, KeyError::ModulusBits { min: 2048, max: 2048, found: 1024 });
    assert_eq!(error.to_string(), "RSA modulus: expected 2048 bits, found 1024");
}

#[test]
fn composites_without_their_component_here_are_refused_by_number() {
    // id-MLDSA87-Ed448-SHAKE256
    let mut spki = export::spki_der(&generate::composite(CompositeAlg::MlDsa65Ed25519).unwrap()).unwrap();
    spki[15] = 51;
    assert!(matches!(import::spki_der(&spki), Err(KeyError::UnsupportedAlgorithm { .. })));
}
