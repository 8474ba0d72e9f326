//! Public keys of HSS, XMSS and XMSS^MT in every form, and private keys, which are refused.

use oarlock_core::{KeyKind, StatefulKeyError};
use oarlock_keys::{KeyError, export, import, raw};

/// The object identifiers of RFC 9802, encoded.
const HSS: &[u8] = &[0x06, 0x0b, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x03, 0x11];
const XMSS: &[u8] = &[0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x06, 0x22];
const XMSS_MT: &[u8] = &[0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x06, 0x23];

/// An encoding of at most 127 bytes.
fn tlv(tag: u8, content: &[&[u8]]) -> Vec<u8> {
    let content = content.concat();
    [&[tag, content.len() as u8][..], &content].concat()
}

fn spki(oid: &[u8], public: &[u8]) -> Vec<u8> {
    tlv(0x30, &[&tlv(0x30, &[oid]), &tlv(0x03, &[&[0], public])])
}

/// A key with these numbers at its beginning, filled up with ones.
fn key(numbers: &[u32], len: usize) -> Vec<u8> {
    let mut key: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
    key.resize(len, 1);
    key
}

#[test]
fn public_keys_are_raw_and_read_again() {
    let hss = key(&[2, 5, 4], 60);
    let xmss = key(&[1], 68);
    for (oid, bytes, made, name) in [
        (HSS, &hss, raw::hss_public(&hss).unwrap(), "hss-2-sha256-h5-w8"),
        (XMSS, &xmss, raw::xmss_public(&xmss).unwrap(), "xmss-sha256-h10"),
        (XMSS_MT, &xmss, raw::xmss_mt_public(&xmss).unwrap(), "xmssmt-sha256-h20-d2"),
    ] {
        let der = export::spki_der(&made).unwrap();
        assert_eq!(der, spki(oid, bytes));
        let pem = export::spki_pem(&made).unwrap();
        for again in [import::spki_der(&der).unwrap(), import::any(pem.as_bytes(), None).unwrap()] {
            assert_eq!((again.fingerprint(), again.kind()), (made.fingerprint(), made.kind()));
        }
        let found = match made.kind() {
            KeyKind::HssPublic(set) => set.to_string(),
            KeyKind::XmssPublic(set) => set.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(found, name);
        assert!(matches!(export::private_pkcs8_der(&made), Err(KeyError::NotExportable { .. })));
    }
}

#[test]
fn a_wrapped_hss_key_of_rfc_8708_is_the_same_key() {
    let hss = key(&[1, 5, 4], 60);
    let wrapped = import::spki_der(&spki(HSS, &tlv(0x04, &[&hss]))).unwrap();
    assert_eq!(wrapped.fingerprint(), raw::hss_public(&hss).unwrap().fingerprint());
    assert_eq!(export::spki_der(&wrapped).unwrap(), spki(HSS, &hss));
    let xmss = key(&[1], 68);
    assert!(import::spki_der(&spki(XMSS, &tlv(0x04, &[&xmss]))).is_err());
}

#[test]
fn wrong_keys_name_the_field() {
    let refused = |oid, numbers: &[u32], len| import::spki_der(&spki(oid, &key(numbers, len))).unwrap_err();
    let levels = StatefulKeyError::Levels { found: 9 };
    assert_eq!(refused(HSS, &[9, 5, 4], 60), KeyError::Stateful(levels));
    let lms = StatefulKeyError::LmsType { found: 25 };
    assert_eq!(refused(HSS, &[1, 25, 4], 60), KeyError::Stateful(lms));
    let length = StatefulKeyError::Length { scheme: "XMSS", expected: 68, found: 67 };
    assert_eq!(refused(XMSS, &[1], 67), KeyError::Stateful(length));
    let set = refused(XMSS_MT, &[0x12], 68).to_string();
    assert!(set.ends_with("found XMSSMT-SHAKE_20/4_256"), "{set}");
    let parameters = tlv(0x30, &[&tlv(0x30, &[HSS, &[5, 0]]), &tlv(0x03, &[&[0], &key(&[1, 5, 4], 60)])]);
    let expected = KeyError::AlgorithmParameters { algorithm: "HSS", expected: "nothing" };
    assert_eq!(import::spki_der(&parameters).unwrap_err(), expected);
}

#[test]
fn private_keys_are_refused_by_name() {
    for (oid, algorithm) in [(HSS, "HSS"), (XMSS, "XMSS"), (XMSS_MT, "XMSS^MT")] {
        let der = tlv(0x30, &[&[2, 1, 0], &tlv(0x30, &[oid]), &tlv(0x04, &[&[7; 60]])]);
        let error = import::pkcs8_der(&der).unwrap_err();
        assert_eq!(error, KeyError::StatefulPrivate { algorithm });
        assert!(error.to_string().contains("signing with stateful keys is not offered"), "{error}");
    }
}
