//! EC, Ed25519 and X25519: published vectors, ranges and points.

use der::Encode;
use oarlock_core::{Curve, Key, KeyKind, KeyParts};
use oarlock_keys::{KeyError, export, import, raw};

use crate::support::{der, key};

/// G and n of SEC 2 2.4.2 and 2.5.1: curve, x, y, n.
const GENERATORS: [(Curve, &str, &str, &str); 2] = [
    (
        Curve::P256,
        "6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296",
        "4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5",
        "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551",
    ),
    (
        Curve::P384,
        "AA87CA22BE8B05378EB1C71EF320AD746E1D3B628BA79B9859F741E082542A385502F25DBF55296C3A545E3872760AB7",
        "3617DE4A96262C6F5D9E98BF9292DC29F8F41DBD289A147CE9DA3113B5F0B8C00A60B1CE1D7E819D7A431D7C90EA0E5F",
        "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973",
    ),
];

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn point(key: &Key) -> Vec<u8> {
    key.ec_public().map(|(_, point)| point.to_vec()).unwrap_or_default()
}

#[test]
fn the_scalar_one_gives_the_generator() {
    for (curve, x, y, n) in GENERATORS {
        let width = curve.scalar_len();
        let generator = [vec![4], hex(x), hex(y)].concat();
        let mut scalar = vec![0; width];
        scalar[width - 1] = 1;
        let one = raw::ec_private(curve, &scalar).unwrap();
        assert_eq!((one.kind(), point(&one)), (KeyKind::EcPrivate(curve), generator.clone()));

        // n - 1 gives -G, the same x with the other y.
        let mut last = hex(n);
        last[width - 1] -= 1;
        let negative = point(&raw::ec_private(curve, &last).unwrap());
        assert!(negative[..=width] == generator[..=width] && negative != generator);
    }
}

#[test]
fn scalars_have_their_range() {
    for (curve, _, _, n) in GENERATORS {
        let width = curve.scalar_len();
        let order = hex(n);
        for scalar in [vec![0; width], order.clone(), vec![0xff; width]] {
            assert_eq!(raw::ec_private(curve, &scalar).unwrap_err(), KeyError::ScalarRange { curve });
        }
        for len in [0, 1, width - 1, width + 1] {
            let KeyError::Length { found, .. } = raw::ec_private(curve, &vec![0; len]).unwrap_err() else {
                panic!("{len}");
            };
            assert_eq!(found, len);
        }
    }
}

#[test]
fn points_come_compressed_or_not() {
    for name in ["p256", "p384"] {
        let full = key(&format!("{name}-spki.pem"));
        let compressed = key(&format!("{name}-compressed-spki.pem"));
        assert_eq!((point(&full), full.fingerprint()), (point(&compressed), compressed.fingerprint()));
        assert_eq!(full.fingerprint(), key(&format!("{name}.pem")).fingerprint());
    }
    for (curve, x, y, _) in GENERATORS {
        let generator = [vec![4], hex(x), hex(y)].concat();
        let parity = 2 + (hex(y).last().copied().unwrap_or_default() & 1);
        let right = [vec![parity], hex(x)].concat();
        assert_eq!(point(&raw::ec_public(curve, &right).unwrap()), generator);
        let other = [vec![parity ^ 1], hex(x)].concat();
        assert_ne!(point(&raw::ec_public(curve, &other).unwrap()), generator);
    }
}

#[test]
fn points_off_the_curve_are_refused() {
    for (curve, x, y, _) in GENERATORS {
        let width = curve.scalar_len();
        let off = KeyError::PointOffCurve { curve };
        let mut point = [vec![4], hex(x), hex(y)].concat();
        point[2 * width] ^= 1;
        assert_eq!(raw::ec_public(curve, &point).unwrap_err(), off);
        assert_eq!(raw::ec_public(curve, &vec![4; 1 + 2 * width]).unwrap_err(), off);
        assert_eq!(raw::ec_public(curve, &[&[2], vec![0xff; width].as_slice()].concat()).unwrap_err(), off);
        // Half of all x have no y: among 20 some are refused, some are not.
        let found = (0..20_u8).map(|low| {
            let mut compressed = vec![0; 1 + width];
            (compressed[0], compressed[width]) = (2, low);
            raw::ec_public(curve, &compressed)
        });
        let (good, bad): (Vec<_>, Vec<_>) = found.partition(Result::is_ok);
        assert!(!good.is_empty() && !bad.is_empty());
        assert!(bad.into_iter().all(|result| result.unwrap_err() == off));
        assert_eq!(raw::ec_public(curve, &[0]).unwrap_err(), KeyError::PointAtInfinity { curve });
    }
}

#[test]
fn points_in_other_forms_are_refused() {
    let (curve, x, y, _) = GENERATORS[0];
    let hybrid = [vec![7], hex(x), hex(y)].concat();
    let refused = |point: &[u8]| match raw::ec_public(curve, point).unwrap_err() {
        KeyError::PointForm { form, found, .. } => (form, found),
        other => panic!("{other}"),
    };
    assert_eq!(refused(&hybrid), (7, 65));
    assert_eq!(refused(&[]), (0, 0));
    assert_eq!(refused(&hybrid[..33]), (7, 33));
    assert_eq!(refused(&[4; 64]), (4, 64));
    assert_eq!(refused(&[2; 34]), (2, 34));
    assert_eq!(refused(&[4; 97]), (4, 97));
}

/// The tail of a SEC 1 key is its public point.
#[test]
fn a_foreign_public_point_is_refused() {
    let mut foreign = der("p256-sec1.pem");
    let at = foreign.len() - 65;
    foreign[at..].copy_from_slice(&point(&key("p256.pem")));
    assert_eq!(import::sec1_der(&foreign).unwrap_err(), KeyError::PublicMismatch { algorithm: "EC" });
}

fn sec1_key<'a>(private_key: &'a [u8], curve: Option<&str>) -> sec1::EcPrivateKey<'a> {
    let oid = curve.and_then(|oid| der::asn1::ObjectIdentifier::new(oid).ok());
    let parameters = oid.map(sec1::EcParameters::NamedCurve);
    sec1::EcPrivateKey { private_key, parameters, public_key: None }
}

#[test]
fn scalars_within_sec1_are_brought_to_width() {
    let p256 = Some("1.2.840.10045.3.1.7");
    let import = |scalar: &[u8]| import::sec1_der(&sec1_key(scalar, p256).to_der().unwrap());
    let five = raw::ec_private(Curve::P256, &[vec![0; 31], vec![5]].concat()).unwrap();
    for scalar in
        [vec![5], vec![0, 5], vec![0; 31].into_iter().chain([5]).collect(), [vec![0; 40], vec![5]].concat()]
    {
        let key = import(&scalar).unwrap();
        assert_eq!(key.fingerprint(), five.fingerprint());
        let Some(KeyParts::EcPrivate(parts)) = key.parts() else { panic!() };
        assert_eq!(parts.scalar.len(), 32);
    }
    assert!(matches!(import(&[]), Err(KeyError::Length { found: 0, .. })));
    assert!(matches!(import(&[1; 33]), Err(KeyError::Length { found: 33, .. })));
    assert_eq!(import(&[0; 32]).unwrap_err(), KeyError::ScalarRange { curve: Curve::P256 });
}

#[test]
fn curves_must_be_named_once_and_alike() {
    let bare = sec1_key(&[5], None).to_der().unwrap();
    let error = KeyError::UnsupportedCurve { found: "no curve".to_owned() };
    assert_eq!(import::sec1_der(&bare).unwrap_err(), error);

    // A P-256 algorithm identifier around a key that says P-384.
    let inner = sec1_key(&[5], Some("1.3.132.0.34")).to_der().unwrap();
    let p256 = der::asn1::ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
    let outer = spki::AlgorithmIdentifierRef {
        oid: der::asn1::ObjectIdentifier::new_unwrap("1.2.840.10045.2.1"),
        parameters: Some((&p256).into()),
    };
    let info = pkcs8::PrivateKeyInfoRef::new(outer, der::asn1::OctetStringRef::new(&inner).unwrap());
    let error = KeyError::CurvesDiffer { outer: Curve::P256, inner: Curve::P384 };
    assert_eq!(import::pkcs8_der(&info.to_der().unwrap()).unwrap_err(), error);
}

/// RFC 8032 7.1, test 1.
#[test]
fn ed25519_of_rfc_8032() {
    let key = raw::ed25519_private(&hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"));
    let public = hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    assert_eq!(key.unwrap().ed25519_public().unwrap().as_slice(), public);
}

/// RFC 7748 6.1, Bob.
#[test]
fn x25519_of_rfc_7748() {
    let key = raw::x25519_private(&hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"));
    let public = hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
    assert_eq!(key.unwrap().x25519_public().unwrap().as_slice(), public);
}

/// RFC 8410 10.3: version 1, and version 2 with attributes and public key.
const RFC_8410: [&str; 2] = [
    "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC",
    "MHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\
     oB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrB\
     Z9w7lshQhqowtrbLDFw4rXAxZuE=",
];

#[test]
fn both_versions_of_pkcs8() {
    use base64ct::{Base64, Encoding};
    let [first, second] = RFC_8410.map(|text| Base64::decode_vec(text).unwrap());
    let public = hex("19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1");
    for der in [&first, &second] {
        assert_eq!(import::any(der, None).unwrap().ed25519_public().unwrap().as_slice(), public);
    }
    let mut foreign = second;
    *foreign.last_mut().unwrap() ^= 1;
    let error = KeyError::PublicMismatch { algorithm: "Ed25519" };
    assert_eq!(import::pkcs8_der(&foreign).unwrap_err(), error);
}

#[test]
fn keys_of_another_length_than_32_bytes_are_refused() {
    for len in [0, 31, 33, 64] {
        let bytes = vec![9; len];
        let imports = [raw::ed25519_private, raw::ed25519_public, raw::x25519_private, raw::x25519_public];
        for import in imports {
            assert!(matches!(import(&bytes), Err(KeyError::Length { found, .. }) if found == len));
        }
    }
}

#[test]
fn parameters_where_none_belong_are_refused() {
    let oid = der::asn1::ObjectIdentifier::new_unwrap("1.3.101.112");
    let algorithm = spki::AlgorithmIdentifierRef { oid, parameters: Some(der::asn1::AnyRef::NULL) };
    let subject_public_key = der::asn1::BitStringRef::from_bytes(&[7; 32]).unwrap();
    let spki = spki::SubjectPublicKeyInfoRef { algorithm, subject_public_key }.to_der().unwrap();
    let error = KeyError::AlgorithmParameters { algorithm: "Ed25519", expected: "nothing" };
    assert_eq!(import::spki_der(&spki).unwrap_err(), error);
}

#[test]
fn symmetric_keys_have_bounds_and_no_shared_fingerprint() {
    for len in [1, 8, 16, 24, 32, raw::MAX_SECRET_LEN] {
        let key = raw::secret(vec![7; len]).unwrap();
        assert_eq!(key.kind(), KeyKind::Secret(len as u16));
        assert_eq!(key.secret().unwrap().expose(), vec![7; len]);
    }
    for len in [0, raw::MAX_SECRET_LEN + 1] {
        assert!(matches!(raw::secret(vec![7; len]), Err(KeyError::Length { found, .. }) if found == len));
    }
    let twice = [raw::secret(vec![7; 16]).unwrap(), raw::secret(vec![7; 16]).unwrap()];
    assert_ne!(twice[0].fingerprint(), twice[1].fingerprint());
    assert!(matches!(export::spki_der(&twice[0]), Err(KeyError::NotExportable { .. })));
}
