//! Keys of SLH-DSA in every form, and wrong ones.

use oarlock_core::{Key, KeyHome, KeyKind, KeyParts, SlhDsaSet};
use oarlock_keys::{KeyError, export, generate, held, import, raw};

/// The sets whose keys are quick to make.
const FAST: [SlhDsaSet; 6] = [
    SlhDsaSet::Sha2_128f,
    SlhDsaSet::Sha2_192f,
    SlhDsaSet::Sha2_256f,
    SlhDsaSet::Shake128f,
    SlhDsaSet::Shake192f,
    SlhDsaSet::Shake256f,
];

fn private(key: &Key) -> &[u8] {
    match key.parts().unwrap() {
        KeyParts::SlhDsaPrivate(_, private) => private.expose(),
        other => panic!("{other:?}"),
    }
}

/// PKCS#8 version 1 with the raw key, as OpenSSL 3.5 writes it.
fn pkcs8(set: SlhDsaSet, content: &[u8]) -> Vec<u8> {
    let arc = 20 + SlhDsaSet::ALL.iter().position(|known| *known == set).unwrap() as u8;
    let algorithm = [&[0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03][..], &[arc]];
    // The contents have 64 to 128 bytes, so that one or two bytes state each length.
    let tlv = |tag: u8, content: &[u8]| match content.len() {
        len @ 0..=127 => [&[tag, len as u8], content].concat(),
        len => [&[tag, 0x81, len as u8], content].concat(),
    };
    tlv(0x30, &[vec![2, 1, 0], algorithm.concat(), tlv(4, content)].concat())
}

#[test]
fn keys_are_written_as_bare_bytes_and_read_again() {
    for set in FAST {
        let key = generate::slh_dsa(set).unwrap();
        assert_eq!((key.kind(), private(&key).len()), (KeyKind::SlhDsaPrivate(set), 4 * set.n()));
        let der = export::private_pkcs8_der(&key).unwrap();
        assert_eq!(*der, pkcs8(set, private(&key)), "{set}");
        let again = import::pkcs8_der(&der).unwrap();
        assert_eq!((again.fingerprint(), private(&again)), (key.fingerprint(), private(&key)));
        let pem = export::private_pkcs8_pem(&key).unwrap();
        assert_eq!(import::any(pem.as_bytes(), None).unwrap().fingerprint(), key.fingerprint());
        let spki = export::spki_der(&key).unwrap();
        let public = import::spki_der(&spki).unwrap();
        assert_eq!(public.kind(), KeyKind::SlhDsaPublic(set));
        assert_eq!(
            (public.fingerprint(), public.slh_dsa_public()),
            (key.fingerprint(), key.slh_dsa_public())
        );
        let held = held::from_spki(&spki, "hsm", "one").unwrap();
        assert_eq!((held.kind(), held.fingerprint()), (key.kind(), key.fingerprint()));
        assert!(matches!(held.home(), KeyHome::Held { .. }));
        assert_eq!(format!("{:?}", key.parts().unwrap()), format!("KeyParts(SlhDsaPrivate({set:?}))"));
    }
}

/// ACVP, SLH-DSA-keyGen-FIPS205, test case 1.
#[test]
fn a_published_key_of_a_slow_set_follows_from_its_seeds() {
    let bytes = |text: &str| -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    };
    let set = SlhDsaSet::Sha2_128s;
    let private = bytes(ACVP_PRIVATE);
    let key = raw::slh_dsa_seeds(set, &private[..48]).unwrap();
    assert_eq!(self::private(&key), private);
    assert_eq!(raw::slh_dsa_private(set, &private).unwrap().fingerprint(), key.fingerprint());
}

const ACVP_PRIVATE: &str = "2f896d61d9cd9038ca303394fadaa22a24ac5ec1d86a989ca2196c3c8632419c1a05a42fe300e87b16aee116cb2e236358e2c3e62632c9de03d08a535a0eb7e7";

#[test]
fn a_root_that_does_not_follow_from_the_seeds_is_refused() {
    for set in FAST {
        let key = generate::slh_dsa(set).unwrap();
        let mut wrong = private(&key).to_vec();
        *wrong.last_mut().unwrap() ^= 1;
        let mismatch = KeyError::PublicMismatch { algorithm: set.standard_name() };
        assert_eq!(raw::slh_dsa_private(set, &wrong).unwrap_err(), mismatch);
        assert_eq!(import::pkcs8_der(&pkcs8(set, &wrong)).unwrap_err(), mismatch);
    }
}

#[test]
fn lengths_off_by_one_and_keys_of_other_sets_are_refused() {
    let set = SlhDsaSet::Sha2_192f;
    let key = generate::slh_dsa(set).unwrap();
    let (whole, public) = (private(&key), key.slh_dsa_public().unwrap().1);
    let is_length = |result: Result<Key, KeyError>| {
        matches!(result, Err(KeyError::Length { what: "SLH-DSA-SHA2-192f", .. }))
    };
    assert!(is_length(raw::slh_dsa_private(set, &whole[1..])));
    assert!(is_length(raw::slh_dsa_private(set, &[whole, &[0]].concat())));
    assert!(is_length(raw::slh_dsa_public(set, &public[1..])));
    assert!(is_length(raw::slh_dsa_seeds(set, whole)));
    assert!(is_length(import::pkcs8_der(&pkcs8(set, &whole[..95]))));
    // SHAKE-192f has keys of the same length, and another root.
    let other = SlhDsaSet::Shake192f;
    let found = import::pkcs8_der(&pkcs8(other, whole)).unwrap_err();
    assert_eq!(found, KeyError::PublicMismatch { algorithm: "SLH-DSA-SHAKE-192f" });
}
