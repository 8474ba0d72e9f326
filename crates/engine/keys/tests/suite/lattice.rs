//! Keys of ML-KEM and ML-DSA in every form, and wrong ones.

use base64ct::{Base64, Encoding};
use oarlock_core::{Key, KeyParts, LatticePrivate, MlDsaSet, MlKemSet};
use oarlock_engine_kit::hash::{HashState, Sha3_256};
use oarlock_engine_kit::lattice::{ml_dsa, ml_kem};
use oarlock_keys::export::{self, Protection};
use oarlock_keys::{KeyError, generate, import, raw};

use crate::support::passphrase;

fn sha3_256(message: &[u8]) -> [u8; 32] {
    let (mut hash, mut digest) = (Sha3_256::new(), [0; 32]);
    hash.update(message);
    hash.finish(&mut digest);
    digest
}

/// One value of DER.
fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut der = vec![tag];
    match content.len() {
        len @ 0..=127 => der.push(len as u8),
        len @ 128..=255 => der.extend([0x81, len as u8]),
        len => der.extend([0x82, (len >> 8) as u8, len as u8]),
    }
    der.extend_from_slice(content);
    der
}

/// PKCS#8 version 1 with this content of the private key, or version 2 with a public key.
fn pkcs8(last_arcs: [u8; 2], content: &[u8], public: Option<&[u8]>) -> Vec<u8> {
    let [kind, set] = last_arcs;
    let algorithm = tlv(0x30, &[0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, kind, set]);
    let version = tlv(0x02, &[u8::from(public.is_some())]);
    let public = public.map(|public| tlv(0x81, &[&[0], public].concat())).unwrap_or_default();
    tlv(0x30, &[version, algorithm, tlv(0x04, content), public].concat())
}

/// A parameter set with one key pair.
struct Pair {
    arcs: [u8; 2],
    seed: Vec<u8>,
    expanded: Vec<u8>,
    public: Vec<u8>,
}

fn pairs() -> Vec<Pair> {
    let kem = MlKemSet::ALL.into_iter().zip(1..).map(|(set, arc)| {
        let seed: [u8; 64] = std::array::from_fn(|index| index as u8);
        let key = ml_kem::expand(set, &seed).unwrap();
        Pair { arcs: [4, arc], seed: seed.to_vec(), expanded: key.private.to_vec(), public: key.public }
    });
    let dsa = MlDsaSet::ALL.into_iter().zip(17..).map(|(set, arc)| {
        let seed: [u8; 32] = std::array::from_fn(|index| index as u8);
        let key = ml_dsa::expand(set, &seed).unwrap();
        Pair { arcs: [3, arc], seed: seed.to_vec(), expanded: key.private.to_vec(), public: key.public }
    });
    kem.chain(dsa).collect()
}

fn seed_of(key: &Key) -> Option<&[u8]> {
    let private = match key.parts().unwrap() {
        KeyParts::MlKemPrivate(parts) => &parts.private,
        KeyParts::MlDsaPrivate(parts) => &parts.private,
        other => panic!("{other:?}"),
    };
    match private {
        LatticePrivate::Seed(seed) => Some(seed.expose()),
        LatticePrivate::Expanded(_) => None,
    }
}

#[test]
fn every_form_of_a_private_key_is_read_as_the_same_key() {
    for Pair { arcs, seed, expanded, public } in pairs() {
        let both = tlv(0x30, &[tlv(0x04, &seed), tlv(0x04, &expanded)].concat());
        let with_seed = [tlv(0x80, &seed), both, seed.clone()];
        let without = [tlv(0x04, &expanded), expanded.clone(), tlv(0x04, &[&expanded[..], &public].concat())];
        let first = import::pkcs8_der(&pkcs8(arcs, &with_seed[0], None)).unwrap();
        for content in with_seed {
            let key = import::pkcs8_der(&pkcs8(arcs, &content, Some(&public))).unwrap();
            assert_eq!((key.fingerprint(), seed_of(&key)), (first.fingerprint(), Some(&seed[..])));
            // Written as the seed, in every case.
            assert_eq!(*export::private_pkcs8_der(&key).unwrap(), pkcs8(arcs, &tlv(0x80, &seed), None));
        }
        for content in without {
            let key = import::pkcs8_der(&pkcs8(arcs, &content, None)).unwrap();
            assert_eq!((key.fingerprint(), seed_of(&key)), (first.fingerprint(), None));
            let written = export::private_pkcs8_der(&key).unwrap();
            assert_eq!(*written, pkcs8(arcs, &tlv(0x04, &expanded), None));
        }
        let spki = export::spki_der(&first).unwrap();
        assert!(spki.ends_with(&public));
        assert_eq!(import::spki_der(&spki).unwrap().fingerprint(), first.fingerprint());
        let pem = export::private_pkcs8_pem(&first).unwrap();
        assert_eq!(import::any(pem.as_bytes(), None).unwrap().fingerprint(), first.fingerprint());
    }
}

/// RFC 9881 appendix C.1 and RFC 9935 appendix C.1: the seeds are 00 01 02 ...
#[test]
fn the_examples_of_the_standards_are_read_and_give_their_expanded_keys() {
    let seed = "MDQCAQAwCwYJYIZIAWUDBAMRBCKAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
    let expanded = "MIIKGAIBADALBglghkgBZQMEAxEEggoEBIIKANeytHJUquDbReeTDUqY0sl9jxOX0Xidr6FwJLMW6b7JOc4Pf3f421ZE3No2a\
                    /5HNL2V9DX/mmE6pUqkHCxpTAQymgex+rtI9SownxGhiY+EjiMi/+Yj7IENs77jNoWFSogmnaMg1RIL/P6JoY4w9xFNg6pA\
                    SmRrbJlziYYNElIu4ABuI4SBkYZhmyYNEYZk1KYoIhhEgkAomBRhSKZhTEJIoZII";
    check_example([3, 17], seed, expanded);
    let seed = "MFQCAQAwCwYJYIZIAWUDBAQCBEKAQAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";
    let expanded = "MIIJeAIBADALBglghkgBZQMEBAIEgglkBIIJYCfSp38zdW9hII7xE6voJZWHPUq8cw5bXWeVKb9qTOtjg0JyMahhL0FVBRWsulLk\
                    jq2LlCgzu+aGXRPRSnnSxcPgfwoFbY3nqt/KugWMSTyAs3yrjFYnU7s7";
    check_example([4, 2], seed, expanded);
}

fn check_example(arcs: [u8; 2], seed: &str, expanded: &str) {
    let key = import::pkcs8_der(&Base64::decode_vec(seed).unwrap()).unwrap();
    let pair = pairs().into_iter().find(|pair| pair.arcs == arcs).unwrap();
    assert_eq!(seed_of(&key), Some(&pair.seed[..]));
    let ours = Base64::encode_string(&pkcs8(arcs, &tlv(0x04, &pair.expanded), None));
    assert!(ours.starts_with(expanded));
}

fn refuse(arcs: [u8; 2], content: &[u8]) -> KeyError {
    import::pkcs8_der(&pkcs8(arcs, content, None)).unwrap_err()
}

#[test]
fn a_key_that_states_both_forms_must_state_one_key() {
    for Pair { arcs, seed, expanded, .. } in pairs() {
        let len = expanded.len();
        // The last bytes of an ML-KEM key are z, which only the seed checks.
        for at in [0, 40, len / 2, len - 40, len - 1] {
            let mut other = expanded.clone();
            other[at] ^= 1;
            let both = tlv(0x30, &[tlv(0x04, &seed), tlv(0x04, &other)].concat());
            assert!(matches!(refuse(arcs, &both), KeyError::SeedMismatch { .. }), "byte {at}");
        }
        let short = tlv(0x30, &[tlv(0x04, &seed[1..]), tlv(0x04, &expanded)].concat());
        assert!(matches!(refuse(arcs, &short), KeyError::Length { .. }));
        let longer = tlv(0x30, &[tlv(0x04, &seed), tlv(0x04, &expanded), tlv(0x04, &[])].concat());
        assert!(matches!(refuse(arcs, &longer), KeyError::Der { .. }));
    }
}

#[test]
fn lengths_of_another_parameter_set_and_foreign_structures_are_refused() {
    let pairs = pairs();
    for Pair { arcs, seed, expanded, public } in &pairs {
        for content in [tlv(0x80, &seed[1..]), tlv(0x80, &[]), tlv(0x04, &expanded[1..]), tlv(0x04, &[])] {
            assert!(matches!(refuse(*arcs, &content), KeyError::Length { .. }), "{content:02x?}");
        }
        for content in
            [vec![], vec![0x30], tlv(0x81, seed), tlv(0xA0, seed), tlv(0x0C, seed), expanded[1..].to_vec()]
        {
            assert!(matches!(refuse(*arcs, &content), KeyError::Der { .. } | KeyError::Length { .. }));
        }
        for other in pairs.iter().filter(|other| other.arcs != *arcs) {
            let error = refuse(*arcs, &tlv(0x04, &other.expanded));
            assert!(matches!(error, KeyError::Length { .. }), "{error}");
        }
        let mut other = public.clone();
        other[0] ^= 1;
        let version2 = import::pkcs8_der(&pkcs8(*arcs, &tlv(0x80, seed), Some(&other)));
        assert!(matches!(version2, Err(KeyError::PublicMismatch { .. })));
        let oqs = refuse(*arcs, &tlv(0x04, &[&expanded[..], &other].concat()));
        assert!(matches!(oqs, KeyError::PublicMismatch { .. }));
    }
}

#[test]
fn keys_of_ml_kem_with_wrong_parts_are_refused() {
    for set in MlKemSet::ALL {
        let key = ml_kem::expand(set, &[1; 64]).unwrap();
        let other = ml_kem::expand(set, &[2; 64]).unwrap();
        let (secret, hash) = (set.expanded_len() - set.public_len() - 64, set.expanded_len() - 64);
        let mut wrong_hash = key.private.to_vec();
        wrong_hash[hash] ^= 1;
        // The encapsulation key of another pair, with its right hash: FIPS 203 7.3 would take it.
        let mut mixed = key.private.to_vec();
        mixed[secret..hash].copy_from_slice(&other.public);
        mixed[hash..hash + 32].copy_from_slice(&sha3_256(&other.public));
        for private in [wrong_hash, mixed] {
            let refused = raw::ml_kem_expanded(set, &private);
            assert!(matches!(refused, Err(KeyError::ExpandedKey { .. })), "{set}");
        }
        // The first two coefficients are 3329, the modulus: 12 bits each.
        let mut public = key.public.clone();
        public[..3].copy_from_slice(&[0x01, 0x1D, 0xD0]);
        assert!(matches!(raw::ml_kem_public(set, &public), Err(KeyError::EncapsulationKey { .. })));
        for len in [0, 1, set.public_len() - 1] {
            assert!(matches!(raw::ml_kem_public(set, &public[..len]), Err(KeyError::Length { .. })));
        }
    }
}

#[test]
fn keys_of_ml_dsa_with_wrong_parts_are_refused() {
    for set in MlDsaSet::ALL {
        let key = ml_dsa::expand(set, &[1; 32]).unwrap();
        // rho, tr, the first coefficients of s1 (beyond eta), and the last bytes of t0.
        for at in [0, 64, 128, set.expanded_len() - 1] {
            let mut private = key.private.to_vec();
            private[at] = if at == 128 { 0xFF } else { private[at] ^ 1 };
            let refused = raw::ml_dsa_expanded(set, &private);
            assert!(matches!(refused, Err(KeyError::ExpandedKey { .. })), "{set}, byte {at}");
        }
        // A public key of zeros is valid. FIPS 204 algorithm 23 refuses none.
        assert!(raw::ml_dsa_public(set, &vec![0; set.public_len()]).is_ok());
        assert!(matches!(raw::ml_dsa_public(set, &[]), Err(KeyError::Length { .. })));
    }
}

#[test]
fn new_keys_differ_and_debug_shows_no_secret() {
    let (one, other) = (generate::ml_kem(MlKemSet::MlKem768), generate::ml_kem(MlKemSet::MlKem768));
    assert_ne!(one.unwrap().fingerprint(), other.unwrap().fingerprint());
    let key = generate::ml_dsa(MlDsaSet::MlDsa65).unwrap();
    assert!(format!("{key:?}").starts_with("Key(MlDsaPrivate(MlDsa65), Local, "));
    assert_eq!(format!("{:?}", key.parts().unwrap()), "KeyParts(MlDsaPrivate(MlDsa65))");
    let sealed = export::encrypted_pkcs8_pem(&key, &passphrase(), Protection::default()).unwrap();
    let again = import::any(sealed.as_bytes(), Some(&passphrase())).unwrap();
    assert_eq!(again.fingerprint(), key.fingerprint());
}
