use oarlock::keys::generate;
use oarlock::{Accelerator, Input, Job};

use super::*;
use crate::examples::{KEYS, hex};

fn rsa_rdata(algorithm: DnssecAlgorithm, exponent: &[u8], modulus: &[u8]) -> Vec<u8> {
    [&[1, 0, 3, algorithm.number(), exponent.len() as u8], exponent, modulus].concat()
}

fn fault(rdata: &[u8]) -> DnskeyError {
    Dnskey::parse(rdata).unwrap().public_key().unwrap_err()
}

/// Reads rows of exponent, modulus and signature.
fn rsa_keys() -> Vec<[Vec<u8>; 3]> {
    let lines = include_str!("rsa_sizes.txt").lines().skip(1);
    let parts = |line: &str| {
        let mut parts = line.split(' ').map(hex);
        [0; 3].map(|_| parts.next().unwrap())
    };
    lines.map(parts).collect()
}

#[test]
fn computes_the_tags_printed_in_rfcs() {
    for example in &KEYS {
        let rdata = example.dnskey();
        let dnskey = Dnskey::parse(&rdata).unwrap();
        assert_eq!(dnskey.key_tag(), example.key_tag, "{}", example.source);
        assert!(dnskey.is_zone_key() && !dnskey.is_revoked() && dnskey.public_key().is_ok());
        assert_eq!(dnskey.is_entry_point(), example.flags == 257);
    }
}

#[test]
fn computes_tags_of_odd_lengths_of_algorithm_1_and_of_long_keys() {
    let tag = |rdata: &[u8]| Dnskey::parse(rdata).unwrap().key_tag();
    // RFC 4034 Appendix B: the last byte counts as the high half of a word.
    assert_eq!(tag(&[1, 0, 3, 8, 0x12]), 0x0100 + 0x0308 + 0x1200);
    // Appendix B.1: bits 16 to 23 and 8 to 15 of the modulus.
    assert_eq!(tag(&[1, 0, 3, 1, 1, 3, 0xaa, 0xbb, 0xcc]), 0xaabb);
    assert_eq!(tag(&[1, 0, 3, 1]), 0);
    let longest = vec![0xff; 65_535];
    // 32767 words of ffff, and ff00: 7fff7f01.
    assert_eq!(tag(&longest), 0x7fff + 0x7f01);
}

#[test]
fn encodes_decoded_keys_to_the_same_data() {
    for example in KEYS.iter().filter(|example| example.algorithm != 16) {
        let rdata = example.dnskey();
        let Ok(ZonePublicKey::Accelerated(key)) = Dnskey::parse(&rdata).unwrap().public_key() else {
            panic!()
        };
        let again = dnskey_rdata(example.flags, example.algorithm.into(), &key).unwrap();
        assert_eq!(again, rdata, "{}", example.source);
    }
    let ed25519 = generate::ed25519().unwrap();
    let wrong = dnskey_rdata(256, DnssecAlgorithm::RSASHA256, &ed25519).unwrap_err();
    assert!(matches!(wrong, DnskeyError::WrongKey { algorithm: DnssecAlgorithm::RSASHA256, .. }));
    let unknown = dnskey_rdata(256, DnssecAlgorithm::ED448, &ed25519).unwrap_err();
    assert_eq!(unknown, DnskeyError::UnsupportedAlgorithm(DnssecAlgorithm::ED448));
}

#[test]
fn rsa_keys_of_any_size_verify_on_every_engine() {
    let engines =
        ["scalar", "lanes"].map(|name| Accelerator::builder().engines([name]).lazy().build().unwrap());
    let scheme = DnssecAlgorithm::RSASHA256.verify_scheme().unwrap();
    let message = Input::Message(b"data to be signed");
    for [exponent, modulus, signature] in rsa_keys() {
        let rdata = rsa_rdata(DnssecAlgorithm::RSASHA256, &exponent, &modulus);
        let Ok(ZonePublicKey::Accelerated(key)) = Dnskey::parse(&rdata).unwrap().public_key() else {
            panic!()
        };
        assert_eq!(DnssecAlgorithm::RSASHA256.signature_len(&key), Some(signature.len()));
        let mut bad = signature.clone();
        bad[signature.len() / 2] ^= 4;
        for accelerator in &engines {
            // Enough signatures to fill the lanes of an engine.
            let both = [&signature, &bad];
            let jobs: Vec<_> =
                (0..40).map(|at| Job::with_scheme(scheme, &key, message, both[at % 2])).collect();
            let answers = accelerator.run_all(&jobs);
            for at in 0..jobs.len() {
                let answer = answers.get(at).map(drop);
                assert_eq!(answer.is_ok(), at % 2 == 0, "{} bits: {answer:?}", 8 * modulus.len());
            }
        }
    }
}

#[test]
fn exponents_have_lengths_of_one_byte_or_three_and_numbers_may_have_leading_zeros() {
    let [exponent, modulus, _] = &rsa_keys()[3];
    let long = [&[1, 0, 3, 8, 0, 0, 3], exponent.as_slice(), modulus].concat();
    let zeros = [&[1, 0, 3, 8, 5, 0, 0], exponent.as_slice(), &[0], modulus].concat();
    let usual = rsa_rdata(DnssecAlgorithm::RSASHA256, exponent, modulus);
    let prints = [long, zeros, usual].map(|rdata| match Dnskey::parse(&rdata).unwrap().public_key() {
        Ok(ZonePublicKey::Accelerated(key)) => key.fingerprint(),
        other => panic!("{other:?}"),
    });
    assert!(prints.iter().all(|print| *print == prints[2]));
}

#[test]
fn distinguishes_unsupported_keys_from_malformed_ones() {
    let [exponent, modulus, _] = &rsa_keys()[0];
    let sized = |algorithm, len: usize| {
        let modulus = [&[0xc1][..], &vec![1; len - 1]].concat();
        fault(&rsa_rdata(algorithm, exponent, &modulus))
    };
    let unsupported = [
        fault(&[1, 0, 3, 12, 1, 2, 3]),
        fault(&[1, 0, 3, 3]),
        sized(DnssecAlgorithm::RSASHA256, 63),
        sized(DnssecAlgorithm::RSASHA1, 513),
        sized(DnssecAlgorithm::RSASHA512, 127),
        fault(&rsa_rdata(DnssecAlgorithm::RSASHA256, &[3, 0, 0, 0, 1], modulus)),
        fault(&rsa_rdata(DnssecAlgorithm::RSASHA256, &[1; 200], modulus)),
    ];
    for fault in unsupported {
        assert!(fault.is_unsupported(), "{fault}");
    }
    let mut even = modulus.clone();
    *even.last_mut().unwrap() &= 0xfe;
    let malformed = [
        fault(&[1, 0, 4, 8, 1, 3, 9]),
        fault(&[1, 0, 3, 8]),
        fault(&[1, 0, 3, 8, 0, 1]),
        fault(&[1, 0, 3, 8, 0, 0, 0, 9]),
        fault(&[1, 0, 3, 8, 3, 1, 0]),
        fault(&[1, 0, 3, 8, 3, 1, 0, 1]),
        fault(&rsa_rdata(DnssecAlgorithm::RSASHA256, exponent, &even)),
        fault(&rsa_rdata(DnssecAlgorithm::RSASHA256, &[1], modulus)),
        fault(&rsa_rdata(DnssecAlgorithm::RSASHA256, &[4], modulus)),
        fault(&[&[1, 0, 3, 13][..], &[1; 64]].concat()),
        fault(&[&[1, 0, 3, 13][..], &[1; 63]].concat()),
        fault(&[&[1, 0, 3, 14][..], &[1; 64]].concat()),
        fault(&[&[1, 0, 3, 15][..], &[1; 33]].concat()),
        fault(&[&[1, 0, 3, 16][..], &[0xff; 57]].concat()),
    ];
    for fault in malformed {
        assert!(!fault.is_unsupported(), "{fault}");
    }
    assert_eq!(Dnskey::parse(&[1, 0, 3]), Err(DnskeyError::Short { found: 3 }));
    assert!(Dnskey::parse(&DELETE_CDNSKEY).unwrap().is_delete());
}
