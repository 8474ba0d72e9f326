//! libcrypto against AWS-LC and published vectors, and AWS-LC's own functions against the same vectors. If the machine
//! has no libcrypto, each test of it prints that it is skipped, and passes.

use aws_lc_rs::digest;
use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
    RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey, VerificationAlgorithm,
};

use super::task::{CbcCipher, ChainHash};
use super::*;

macro_rules! library_or_return {
    () => {
        match Libcrypto::load(None) {
            Ok(library) => library,
            Err(error) => {
                eprintln!("SKIPPED: {error}");
                return;
            }
        }
    };
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn column<const N: usize>(values: [&[u8]; N]) -> ByteColumn {
    values.into_iter().collect()
}

fn messages(count: u8) -> Vec<[u8; 32]> {
    (0..count).map(|index| [index; 32]).collect()
}

fn digests(messages: &[[u8; 32]]) -> ByteColumn {
    messages.iter().map(|message| digest::digest(&digest::SHA256, message)).collect()
}

/// Signs with libcrypto, verifies with AWS-LC and with libcrypto, and shows libcrypto a broken signature.
fn round_trip(
    [sign, verify]: [PeerAlgorithm; 2],
    private: &[&[u8]],
    public_spki: &[&[u8]],
    public_raw: &[&[u8]],
    with: &'static dyn VerificationAlgorithm,
) {
    let library = library_or_return!();
    let messages = messages(8);
    let inputs: ByteColumn =
        if sign == PeerAlgorithm::Ed25519Sign { messages.iter().collect() } else { digests(&messages) };
    let key_of: Vec<u32> = [1, 0, 0, 1, 1, 1, 0, 0].into();
    let keys = private.iter().collect();
    let task = PeerTask {
        algorithm: sign,
        keys,
        key_of: key_of.clone(),
        inputs: inputs.clone(),
        extras: ByteColumn::default(),
    };
    let mut signer = library.prepare(task).unwrap();
    signer.run(20).unwrap();
    let accepted = |item: usize, signature: &[u8]| {
        let key = UnparsedPublicKey::new(with, public_raw[key_of[item] as usize]);
        key.verify(&messages[item], signature).is_ok()
    };
    signer.check_all(accepted).unwrap();
    let refused = signer.check_all(|item, _| item != 5).unwrap_err();
    assert!(matches!(refused, PeerError::Differs { item: 5, .. }), "{refused}");

    let mut signatures: Vec<Vec<u8>> = (0..8).map(|item| signer.output(item).to_vec()).collect();
    let last = signatures[3].len() - 1;
    signatures[3][last] ^= 1;
    signatures[6].clear();
    let keys = public_spki.iter().collect();
    let task = PeerTask { algorithm: verify, keys, key_of, inputs, extras: signatures.iter().collect() };
    let mut verifier = library.prepare(task).unwrap();
    verifier.check_all(|item, verdict| verdict == [u8::from(item != 3 && item != 6)]).unwrap();
}

#[test]
fn rsa_signatures_are_understood_both_ways() {
    let pairs = [KeySize::Rsa2048, KeySize::Rsa3072].map(|size| RsaKeyPair::generate(size).unwrap());
    let private = pairs.each_ref().map(|pair| AsDer::<Pkcs8V1Der<'_>>::as_der(pair).unwrap());
    let spki = pairs.each_ref().map(|pair| AsDer::<PublicKeyX509Der<'_>>::as_der(pair.public_key()).unwrap());
    round_trip(
        [PeerAlgorithm::RsaSign, PeerAlgorithm::RsaVerify],
        &private.each_ref().map(|der| der.as_ref()),
        &spki.each_ref().map(|der| der.as_ref()),
        &pairs.each_ref().map(|pair| pair.public_key().as_ref()),
        &RSA_PKCS1_2048_8192_SHA256,
    );
}

#[test]
fn ecdsa_signatures_are_understood_both_ways() {
    let private = [(); 2].map(|()| {
        EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new()).unwrap()
    });
    let pairs = private
        .each_ref()
        .map(|der| EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, der.as_ref()).unwrap());
    let spki = pairs.each_ref().map(|pair| AsDer::<PublicKeyX509Der<'_>>::as_der(pair.public_key()).unwrap());
    round_trip(
        [PeerAlgorithm::EcdsaSign, PeerAlgorithm::EcdsaVerify],
        &private.each_ref().map(|der| der.as_ref()),
        &spki.each_ref().map(|der| der.as_ref()),
        &pairs.each_ref().map(|pair| pair.public_key().as_ref()),
        &ECDSA_P256_SHA256_ASN1,
    );
}

#[test]
fn ed25519_signatures_are_understood_both_ways() {
    let pairs = [(); 2].map(|()| Ed25519KeyPair::generate().unwrap());
    let private = pairs.each_ref().map(|pair| pair.to_pkcs8v1().unwrap());
    let spki = pairs.each_ref().map(|pair| AsDer::<PublicKeyX509Der<'_>>::as_der(pair.public_key()).unwrap());
    round_trip(
        [PeerAlgorithm::Ed25519Sign, PeerAlgorithm::Ed25519Verify],
        &private.each_ref().map(|der| der.as_ref()),
        &spki.each_ref().map(|der| der.as_ref()),
        &pairs.each_ref().map(|pair| pair.public_key().as_ref()),
        &ED25519,
    );
}

#[test]
fn x25519_agrees_with_rfc_7748() {
    let library = library_or_return!();
    // RFC 7748 6.1; the private key wrapped as RFC 8410 7 has it.
    let alice = "302e020100300506032b656e04220420\
                 77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a";
    let bob = hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
    let shared = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
    let task = PeerTask {
        algorithm: PeerAlgorithm::X25519,
        keys: column([&hex(alice)]),
        key_of: vec![0; 3],
        inputs: column([&bob; 3].map(Vec::as_slice)),
        extras: ByteColumn::default(),
    };
    library.prepare(task).unwrap().check_all(|_, output| output == shared).unwrap();
}

#[test]
fn ecdh_agrees_with_rfc_5903() {
    let library = library_or_return!();
    // RFC 5903 8.1; the private key wrapped as RFC 5915 and RFC 5958 have it, and the peer's point as RFC 5480 has it.
    let initiator = "3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420\
                     c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433";
    let responder = hex("3059301306072a8648ce3d020106082a8648ce3d030107034200\
                         04d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf63\
                         56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab");
    let shared = hex("d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de");
    let task = PeerTask {
        algorithm: PeerAlgorithm::Ecdh,
        keys: column([&hex(initiator)]),
        key_of: vec![0; 3],
        inputs: column([&responder; 3].map(Vec::as_slice)),
        extras: ByteColumn::default(),
    };
    library.prepare(task).unwrap().check_all(|_, output| output == shared).unwrap();
}

/// The key of each item: one context per key, which stays set, and one context that gets the key of each item.
const KEYS_OF: [&[u32]; 2] = [&[0, 1, 1, 0, 1], &[0, 1, 1]];

/// Runs the same item under one key between items under another, in OpenSSL and in AWS-LC, so that a context that keeps
/// anything of an earlier record shows.
fn expect_output(algorithm: PeerAlgorithm, [key, extra, input, output]: [&str; 4]) {
    let [key, extra, input, output] = [key, extra, input, output].map(hex);
    let other = vec![0x5a; key.len()];
    let is_keyed = !key.is_empty();
    for key_of in KEYS_OF {
        let task = PeerTask {
            algorithm,
            keys: if is_keyed { column([&other, &key]) } else { ByteColumn::default() },
            key_of: if is_keyed { key_of.to_vec() } else { Vec::new() },
            inputs: key_of.iter().map(|_| &input).collect(),
            extras: key_of.iter().map(|_| &extra).collect(),
        };
        assert_eq!(task.has_recurring_keys(), is_keyed && key_of.len() == 5);
        let libcrypto = Libcrypto::load(None).and_then(|library| library.prepare(task.clone()));
        for prepared in [libcrypto, prepare_aws_lc(task)] {
            match prepared {
                Ok(mut prepared) => {
                    prepared.run(3).unwrap();
                    let is_right =
                        |item: usize, found: &[u8]| (found == output) == (!is_keyed || key_of[item] == 1);
                    prepared.check_all(is_right).unwrap();
                }
                Err(error) if error.is_absence() => eprintln!("SKIPPED: {error}"),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

const AES_KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const DES_KEY: &str = "0123456789abcdef";
/// `Now is the time for all `
const DES_TEXT: &str = "4e6f7720697320746865207469 6d6520666f7220616c6c20";

#[test]
fn ciphers_agree_with_published_vectors() {
    // FIPS 81, table C1.
    let sealed = "e5c7cdde872bf27c43e934008c389c0f683788499a7c05f6";
    expect_output(PeerAlgorithm::Cbc(CbcCipher::Des), [DES_KEY, "1234567890abcdef", DES_TEXT, sealed]);
    // SP 800-67 B.1: the first block of ECB is CBC under a zero IV.
    let keys = "0123456789abcdef23456789abcdef01456789abcdef0123";
    let block = ["5468652071756663", "a826fd8ce53b855f"];
    expect_output(PeerAlgorithm::Cbc(CbcCipher::Tdes), [keys, "0000000000000000", block[0], block[1]]);
    // SP 800-38A F.2.1.
    let iv = "000102030405060708090a0b0c0d0e0f";
    let block = ["6bc1bee22e409f96e93d7e117393172a", "7649abac8119b246cee98e9b12e9197d"];
    expect_output(PeerAlgorithm::Cbc(CbcCipher::Aes), [AES_KEY, iv, block[0], block[1]]);
    // The GCM specification, test case 3.
    let text = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
    let sealed = "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
                  21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985\
                  4d5c2af327cd64a62cf35abd2ba6fab4";
    let key = "feffe9928665731c6d6a8f9467308308";
    expect_output(PeerAlgorithm::AesGcm, [key, "cafebabefacedbaddecaf888", text, sealed]);
    // SP 800-38A F.5.1.
    let counter = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
    let block = ["6bc1bee22e409f96e93d7e117393172a", "874d6191b620e3261bef6864990db6ce"];
    expect_output(PeerAlgorithm::AesCtr, [AES_KEY, counter, block[0], block[1]]);
    // RFC 8452 C.1, the second case.
    let key = "01000000000000000000000000000000";
    let sealed = "b5d839330ac7b786578782fff6013b815b287c22493a364c";
    expect_output(PeerAlgorithm::AesGcmSiv, [key, "030000000000000000000000", "0100000000000000", sealed]);
}

/// Both peers have the kept contexts that make them fast, and no test above is skipped for AWS-LC.
#[test]
fn aws_lc_has_a_direct_way_for_short_records() {
    for (name, key, extra, input) in [
        ("aes128-cbc-48", 16, 16, 48),
        ("aes256-ctr-40", 32, 16, 40),
        ("tdes-cbc-40", 24, 8, 40),
        ("aes256-gcm-40", 32, 12, 40),
        ("aes128-gcm-siv-40", 16, 12, 40),
        ("chacha20-poly1305-40", 32, 12, 40),
        ("aes-cmac-48", 16, 0, 48),
        ("des-mac-40", 8, 0, 40),
        ("sha512-64", 0, 0, 64),
    ] {
        let algorithm = PeerAlgorithm::of_operation(name).unwrap();
        let task = PeerTask {
            algorithm,
            keys: (0..u8::from(key > 0)).map(|_| vec![7; key]).collect(),
            key_of: vec![0; if key > 0 { 3 } else { 0 }],
            inputs: (0..3).map(|_| vec![1; input]).collect(),
            extras: (0..3).map(|_| vec![2; extra]).collect(),
        };
        prepare_aws_lc(task).and_then(|mut prepared| prepared.run(4)).unwrap();
    }
    assert!(aws_lc_version().starts_with("AWS-LC "), "{}", aws_lc_version());
}

/// A record through the ciphers of AWS-LC with HMAC is the record of OpenSSL's.
#[test]
fn both_peers_make_the_same_tls_records() {
    let library = library_or_return!();
    for hash in [ChainHash::Sha1, ChainHash::Sha256] {
        for len in [1, 64, 1024] {
            let header = [0, 0, 0, 0, 0, 0, 0, 9, 23, 3, 1];
            let extra = [&[3; 16][..], &header, &vec![4; hash.tag_len()]].concat();
            let task = PeerTask {
                algorithm: PeerAlgorithm::Chain(CbcCipher::Aes, hash),
                keys: column([&[5; 16]]),
                key_of: vec![0; 2],
                inputs: (0..2).map(|_| vec![6; len]).collect(),
                extras: (0..2).map(|_| &extra).collect(),
            };
            let (ours, theirs) = (prepare_aws_lc(task.clone()), library.prepare(task));
            if let Some(absence) = [&ours, &theirs].into_iter().find_map(|prepared| prepared.as_ref().err()) {
                assert!(absence.is_absence(), "{absence}");
                eprintln!("SKIPPED: {absence}");
                return;
            }
            let (mut ours, mut theirs) = (ours.unwrap(), theirs.unwrap());
            theirs.run(2).unwrap();
            ours.run(2).unwrap();
            ours.check_all(|item, record| record == theirs.output(item) && record.len() > len).unwrap();
        }
    }
}

#[test]
fn hashes_and_codes_agree_with_published_vectors() {
    // FIPS 180: "abc".
    expect_output(PeerAlgorithm::Sha1, ["", "", "616263", "a9993e364706816aba3e25717850c26c9cd0d89d"]);
    let digest = "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7";
    expect_output(PeerAlgorithm::Sha224, ["", "", "616263", digest]);
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    expect_output(PeerAlgorithm::Sha256, ["", "", "616263", digest]);
    let digest = "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                  2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f";
    expect_output(PeerAlgorithm::Sha512, ["", "", "616263", digest]);
    // FIPS 202: "abc".
    let digest = "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532";
    expect_output(PeerAlgorithm::Sha3_256, ["", "", "616263", digest]);
    let digest = "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e\
                  10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0";
    expect_output(PeerAlgorithm::Sha3_512, ["", "", "616263", digest]);
    // The same message by `openssl dgst -shake128 -xoflen 32` and `-shake256 -xoflen 64`.
    let digest = "5881092dd818bf5cf8a3ddb793fbcba74097d5c526a6d35f97b83351940f2cc8";
    expect_output(PeerAlgorithm::Shake128, ["", "", "616263", digest]);
    let digest = "483366601360a8771c6863080cc4114d8db44530f8f1e1ee4f94ea37e78b5739\
                  d5a15bef186a5386c75744c0527e1faa9f8726e462a12a4feb06bd8801e751e4";
    expect_output(PeerAlgorithm::Shake256, ["", "", "616263", digest]);
    // RFC 4231 4.3.
    let code = "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554\
                9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737";
    let text = "7768617420646f2079612077616e7420666f72206e6f7468696e673f";
    expect_output(PeerAlgorithm::HmacSha512, ["4a656665", "", text, code]);
    // ISO 9797-1 annex B, algorithm 1.
    expect_output(PeerAlgorithm::DesMac, [DES_KEY, "", DES_TEXT, "70a30640cc76dd8b"]);
    // RFC 4493 4, example 2.
    let block = "6bc1bee22e409f96e93d7e117393172a";
    expect_output(PeerAlgorithm::AesCmac, [AES_KEY, "", block, "070a16b46b4d4144f79bdd9dd04a287c"]);
}

fn refused(algorithm: PeerAlgorithm, key: &[u8], extra: &[u8], input: &[u8]) -> PeerError {
    let library = Libcrypto::load(None).unwrap();
    let task = PeerTask {
        algorithm,
        keys: column([key]),
        key_of: vec![0],
        inputs: column([input]),
        extras: column([extra]),
    };
    library.prepare(task).and_then(|mut prepared| prepared.run_once()).unwrap_err()
}

#[test]
fn bad_keys_and_lengths_are_typed_errors() {
    let _present = library_or_return!();
    let aes = PeerAlgorithm::Cbc(CbcCipher::Aes);
    assert!(matches!(refused(aes, &[0; 15], &[0; 16], &[0; 16]), PeerError::Task { .. }));
    assert!(matches!(refused(aes, &[0; 16], &[0; 15], &[0; 16]), PeerError::Task { .. }));
    assert!(matches!(refused(aes, &[0; 16], &[0; 16], &[0; 17]), PeerError::Task { .. }));
    assert!(matches!(refused(PeerAlgorithm::AesGcm, &[0; 16], &[0; 16], &[0; 17]), PeerError::Task { .. }));
    assert!(matches!(refused(PeerAlgorithm::AesCmac, &[0; 8], &[], &[0; 8]), PeerError::Task { .. }));
    assert!(matches!(refused(PeerAlgorithm::RsaSign, &[0x30, 0], &[], &[0; 20]), PeerError::Task { .. }));
    for der in [&[][..], &[0x30], &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff], &[0; 64]] {
        assert!(matches!(refused(PeerAlgorithm::RsaSign, der, &[], &[0; 32]), PeerError::Failed { .. }));
        assert!(matches!(refused(PeerAlgorithm::EcdsaVerify, der, &[], &[0; 32]), PeerError::Failed { .. }));
        assert!(matches!(refused(PeerAlgorithm::Ed25519Sign, der, &[], &[0; 32]), PeerError::Failed { .. }));
    }
}

#[test]
fn inconsistent_tasks_are_refused() {
    let library = library_or_return!();
    let good = || PeerTask {
        algorithm: PeerAlgorithm::Cbc(CbcCipher::Aes),
        keys: column([&[1; 16]]),
        key_of: vec![0; 2],
        inputs: column([&[2; 16]; 2]),
        extras: column([&[3; 16]; 2]),
    };
    assert!(library.prepare(good()).is_ok());
    let bad = [
        PeerTask { inputs: ByteColumn::default(), ..good() },
        PeerTask { extras: column([&[3; 16]]), ..good() },
        PeerTask { key_of: vec![0], ..good() },
        PeerTask { key_of: vec![0, 1], ..good() },
        PeerTask { keys: ByteColumn::default(), ..good() },
    ];
    for task in bad {
        assert!(matches!(library.prepare(task), Err(PeerError::Task { .. })));
    }
}

#[test]
fn unfit_libraries_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let absent = Libcrypto::load(Some(folder.path().join("libcrypto.so.3").as_ref())).unwrap_err();
    assert!(matches!(absent, PeerError::NotFound { .. }) && absent.is_absence(), "{absent}");
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let other = Libcrypto::load(Some("libm.so.6".as_ref())).unwrap_err();
        assert!(matches!(other, PeerError::Unsuitable { symbol: "OPENSSL_version_major", .. }), "{other}");
    }
}

#[test]
fn the_version_is_short_and_work_moves_between_threads() {
    let library = library_or_return!();
    let (name, number) = library.version().split_once(' ').unwrap();
    assert_eq!(name, "OpenSSL");
    assert!(number.split('.').count() >= 3, "{number}");
    let task = PeerTask {
        algorithm: PeerAlgorithm::Sha256,
        keys: ByteColumn::default(),
        key_of: Vec::new(),
        inputs: column([b"abc"]),
        extras: ByteColumn::default(),
    };
    let mut prepared = library.prepare(task).unwrap();
    std::thread::spawn(move || prepared.run(3)).join().unwrap().unwrap();
}

#[test]
fn debug_shows_no_key_bytes() {
    let task = PeerTask {
        algorithm: PeerAlgorithm::AesCmac,
        keys: column([&[0xab; 16]]),
        key_of: vec![0],
        inputs: column([b"x"]),
        extras: ByteColumn::default(),
    };
    assert!(!format!("{task:?}").contains("171"), "{task:?}");
}

#[test]
fn operation_names_find_their_algorithm() {
    let cases = [
        ("rsa2048-sign", Some(PeerAlgorithm::RsaSign)),
        ("p256-verify-hot", Some(PeerAlgorithm::EcdsaVerify)),
        ("tdes-cbc-40", Some(PeerAlgorithm::Cbc(CbcCipher::Tdes))),
        ("aes128-gcm-40", Some(PeerAlgorithm::AesGcm)),
        ("aes256-ctr-40", Some(PeerAlgorithm::AesCtr)),
        ("chacha20-poly1305-40", Some(PeerAlgorithm::ChaCha20Poly1305)),
        ("chacha20-poly1305-ssh-40", None),
        ("aes128-cbc-sha1-40", Some(PeerAlgorithm::Chain(CbcCipher::Aes, ChainHash::Sha1))),
        ("tdes-cbc-sha1-40", Some(PeerAlgorithm::Chain(CbcCipher::Tdes, ChainHash::Sha1))),
        ("hmac-sha512-64", Some(PeerAlgorithm::HmacSha512)),
        ("aes128-gcm-siv-16", Some(PeerAlgorithm::AesGcmSiv)),
        ("aes128-siv-16", None),
        ("des-mac-40", Some(PeerAlgorithm::DesMac)),
        ("aes-cmac-48", Some(PeerAlgorithm::AesCmac)),
        ("sha1-8192", Some(PeerAlgorithm::Sha1)),
        ("sha3-256-64", Some(PeerAlgorithm::Sha3_256)),
        ("sha3-512-64", Some(PeerAlgorithm::Sha3_512)),
        ("shake256-64", Some(PeerAlgorithm::Shake256)),
        ("rsa2048-derive", None),
        ("rsa2048", None),
        ("", None),
    ];
    for (name, algorithm) in cases {
        assert_eq!(PeerAlgorithm::of_operation(name), algorithm, "{name}");
    }
}
