//! Tests of the engine's properties, and of jobs that it does not offer.

use oarlock_core::*;

use crate::common::{self, One, key, records, scalar};

const DIGEST: Shape = Shape::Digest { alg: DigestAlg::Sha256 };

#[test]
fn every_shape_of_the_contract_is_offered_one_lane_at_a_time() {
    let cbc = |alg| CipherSpec { alg, mode: CipherMode::Cbc };
    let translations = BlockCipher::ALL
        .into_iter()
        .flat_map(|from| BlockCipher::ALL.map(|to| Shape::Translate { from: cbc(from), to: cbc(to) }));
    for shape in Shape::public_key().into_iter().chain(Shape::records()).chain(translations) {
        let lanes = scalar().offers(shape).unwrap_or_else(|| panic!("{shape} is not offered"));
        assert!(lanes.preferred == 1 && lanes.max >= 64);
    }
}

#[test]
fn moduli_of_512_to_8192_bits_are_offered() {
    for bits in [0, 511, 512, 1025, 8192, 8193, u16::MAX] {
        let is_offered = (512..=8192).contains(&bits);
        for shape in [
            Shape::RsaPrivate { bits },
            Shape::RsaPublic { bits, exponent: RsaExponent::F4 },
            Shape::RsaPublic { bits, exponent: RsaExponent::Other },
            Shape::ModExp { bits, exponent_bits: bits },
        ] {
            assert_eq!(scalar().offers(shape).is_some(), is_offered, "{shape}");
        }
    }
    for (exponent_bits, is_offered) in [(0, false), (1, true), (1025, true), (16_384, true), (16_385, false)]
    {
        let shape = Shape::ModExp { bits: 1024, exponent_bits };
        assert_eq!(scalar().offers(shape).is_some(), is_offered, "{shape}");
    }
}

#[test]
fn only_private_rsa_is_confirmed_inside() {
    assert_eq!(scalar().name(), "scalar");
    for shape in Shape::public_key().into_iter().chain(Shape::records()) {
        assert_eq!(scalar().confirms(shape), matches!(shape, Shape::RsaPrivate { .. }), "{shape}");
    }
}

#[test]
fn shapes_out_of_range_are_not_offered() {
    let shape = Shape::RsaPrivate { bits: 8193 };
    let jobs = Jobs::Operations(shape, &[]);
    let refused = scalar().run(&jobs, &mut Outcomes::for_jobs(&jobs));
    assert_eq!(refused, Err(EngineFault::NotOffered { engine: "scalar", shape }));
}

#[test]
fn outcomes_and_jobs_of_another_kind_are_a_fault() {
    let one = records(&One { output_len: 32, ..One::default() });
    let (parts, other) = ([&one], Records { output_len: 31, ..one.clone() });
    let jobs = Jobs::Records(DIGEST, &parts);
    let is_fault = |jobs: &Jobs<'_>, out: &mut Outcomes| {
        matches!(scalar().run(jobs, out), Err(EngineFault::Failed { engine: "scalar", .. }))
    };
    assert!(is_fault(&jobs, &mut Outcomes::default()));
    assert!(is_fault(&jobs, &mut Outcomes::for_jobs(&Jobs::Records(DIGEST, &[&other]))));
    let empty = Records::default();
    assert!(is_fault(&jobs, &mut Outcomes::for_jobs(&Jobs::Records(DIGEST, &[&one, &empty]))));
    let mixed = Jobs::Operations(DIGEST, &[]);
    assert!(is_fault(&mixed, &mut Outcomes::for_jobs(&mixed)));
    let mixed = Jobs::Records(Shape::X25519, &[]);
    assert!(is_fault(&mixed, &mut Outcomes::for_jobs(&mixed)));
}

#[test]
fn keys_of_a_holder_are_bad_keys_for_an_engine() {
    let held = Key::held(KeyKind::Ed25519Private, "hsm", "one", None, Fingerprint::new([1; 32]));
    let answer = common::run_one(Shape::Ed25519Sign, &held, b"message", SecondInput::None);
    assert_eq!(answer, Err(Status::BadKey));
}

/// Many threads use one key at once and share its prepared form.
#[test]
fn threads_share_a_prepared_key() {
    let parts = Ed25519PrivateParts { seed: vec![3; 32].into(), public: [0; 32] };
    let (ed, aes) = (key(KeyParts::Ed25519Private(parts)), common::secret(&[5; 16]));
    let one = Records {
        keys: vec![aes].into(),
        ..records(&One { input: &[9; 40], output_len: 16, ..One::default() })
    };
    let shape = Shape::Mac { alg: MacAlg::Aes128Cmac };
    let results: Vec<(Vec<u8>, Vec<u8>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let signature =
                        common::run_one(Shape::Ed25519Sign, &ed, b"message", SecondInput::None).unwrap();
                    (signature, common::run_records(shape, &[&one]).bytes().to_vec())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}
