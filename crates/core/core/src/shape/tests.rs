use std::collections::BTreeSet;

use super::*;

#[test]
fn names_are_unique_and_kinds_are_disjoint() {
    let (operations, records) = (Shape::public_key(), Shape::records());
    assert!(operations.iter().all(|shape| !shape.is_record()));
    assert!(records.iter().all(|shape| shape.is_record()));
    let names: BTreeSet<String> = operations.iter().chain(&records).map(ToString::to_string).collect();
    assert_eq!(names.len(), operations.len() + records.len());
}

#[test]
fn names_of_records_are_stable() {
    let names: Vec<String> = Shape::records().iter().map(ToString::to_string).collect();
    for name in [
        "aes128-ctr-encrypt",
        "chacha20-poly1305-encrypt",
        "chacha20-poly1305-ssh-decrypt",
        "sha224-part",
        "hmac-sha224",
        "hmac-sha512",
        "aes128-cbc-hmac-sha256-mte-decrypt",
        "tdes3-cbc-hmac-sha1-etm-encrypt",
        "aes256-ctr-hmac-sha512-eam-encrypt",
    ] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
}

#[test]
fn every_record_shape_is_possible_and_its_reverse_too() {
    for shape in Shape::records() {
        assert!(shape.is_possible(), "{shape}");
        if let Some(reversed) = shape.reversed() {
            assert!(reversed != shape && reversed.reversed() == Some(shape), "{shape}");
        }
    }
    let ctr = CipherSpec { alg: BlockCipher::Aes128, mode: CipherMode::Ctr };
    assert!(!Shape::Translate { from: ctr, to: ctr }.is_possible());
    let des = Shape::Cipher { alg: BlockCipher::Des, mode: CipherMode::Ctr, direction: Direction::Encrypt };
    assert!(!des.is_possible());
}

#[test]
fn an_agreement_takes_an_uncompressed_point_and_its_result_is_secret() {
    for (curve, name, width) in [(Curve::P256, "p256-derive", 32), (Curve::P384, "p384-derive", 48)] {
        let shape = Shape::Ecdh { curve };
        assert_eq!(shape.to_string(), name);
        assert_eq!((shape.input_len(), shape.output_len()), (Some(1 + 2 * width), width));
        assert!(shape.result_is_secret() && !shape.is_record());
    }
}

#[test]
fn lattice_shapes_have_the_lengths_of_their_tables_and_secret_results_where_secrets_leave() {
    // FIPS 203 table 3 and FIPS 204 table 2.
    let kem =
        [(MlKemSet::MlKem512, 800, 768), (MlKemSet::MlKem768, 1184, 1088), (MlKemSet::MlKem1024, 1568, 1568)];
    for (set, public, ciphertext) in kem {
        let (keygen, encaps) = (Shape::MlKemKeygen { set }, Shape::MlKemEncaps { set });
        let decaps = Shape::MlKemDecaps { set };
        assert_eq!((keygen.input_len(), keygen.output_len()), (Some(0), public));
        assert_eq!((encaps.input_len(), encaps.output_len()), (Some(32), ciphertext + 32));
        assert_eq!((decaps.input_len(), decaps.output_len()), (Some(ciphertext), 32));
        assert!(encaps.result_is_secret() && decaps.result_is_secret() && !keygen.result_is_secret());
        assert_eq!(decaps.to_string(), format!("{set}-decaps"));
    }
    for (set, signature) in MlDsaSet::ALL.into_iter().zip([2420, 3309, 4627]) {
        let (sign, verify) = (Shape::MlDsaSign { set }, Shape::MlDsaVerify { set });
        assert_eq!((sign.input_len(), sign.output_len()), (Some(64), signature));
        assert_eq!((verify.input_len(), verify.signature_len()), (Some(64), Some(signature)));
        assert!(!sign.result_is_secret());
    }
}

#[test]
fn hash_based_shapes_take_whole_messages_and_only_making_is_long() {
    for set in SlhDsaSet::ALL {
        let (keygen, sign) = (Shape::SlhDsaKeygen { set }, Shape::SlhDsaSign { set });
        let verify = Shape::SlhDsaVerify { set };
        assert_eq!((keygen.input_len(), keygen.output_len()), (Some(0), set.public_len()));
        assert_eq!((sign.input_len(), sign.output_len()), (None, set.signature_len()));
        assert_eq!((verify.input_len(), verify.signature_len()), (None, Some(set.signature_len())));
        assert!(keygen.is_long() && sign.is_long() && !verify.is_long());
        assert!(!keygen.result_is_secret() && !sign.result_is_secret());
        assert_eq!(sign.to_string(), format!("{set}-sign"));
    }
    for verify in [Shape::HssVerify, Shape::XmssVerify] {
        assert_eq!((verify.input_len(), verify.signature_len(), verify.output_len()), (None, None, 0));
        assert!(!verify.is_long() && !verify.is_record());
    }
}

#[test]
fn odd_modulus_sizes_round_up_to_bytes() {
    assert_eq!(Shape::RsaPrivate { bits: 1025 }.output_len(), 129);
    assert_eq!(Shape::RsaPrivate { bits: 2048 }.input_len(), Some(256));
}
