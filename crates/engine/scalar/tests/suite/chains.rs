//! Chains of cipher and MAC, CTR and ChaCha20-Poly1305 against known answers of OpenSSL and Python, and bad records.

use oarlock_core::*;

use crate::common::{self, One, field, lines, record};

const CHAIN: &str = include_str!("../../../../facade/oarlock/src/selftest/data/chain.txt");
const CTR: &str = include_str!("../../../../facade/oarlock/src/selftest/data/ctr.txt");
const CHACHA: &str = include_str!("../../../../facade/oarlock/src/selftest/data/chacha.txt");
const CHACHA_SSH: &str = include_str!("../../../../facade/oarlock/src/selftest/data/chacha-ssh.txt");

fn shape(name: &str) -> Shape {
    let found = Shape::records().into_iter().find(|shape| shape.to_string() == name);
    found.unwrap_or_else(|| panic!("no shape {name}"))
}

fn names() -> std::collections::BTreeSet<&'static str> {
    lines(CHAIN).map(|fields| fields[0]).collect()
}

#[test]
fn chains_match_known_answers_in_both_directions() {
    let (mut good, mut bad) = (0, 0);
    for fields in lines(CHAIN) {
        let [key, second_key, iv, aad, plain, sealed, last] =
            [2, 3, 4, 5, 6, 7, 8].map(|at| field(fields[at]));
        let (sealing, opening) = (format!("{}-encrypt", fields[0]), format!("{}-decrypt", fields[0]));
        let one = One {
            key: &key,
            second_key: &second_key,
            iv: &iv,
            aad: &aad,
            output_len: sealed.len(),
            ..One::default()
        };
        let is_detached = shape(&sealing).is_sealing();
        if fields[1] == "good" {
            let tag_len = if is_detached { last.len() } else { 0 };
            let made = record(shape(&sealing), &One { input: &plain, tag_len, ..one }).unwrap();
            let expected = if is_detached { [&sealed[..], &last].concat() } else { sealed.clone() };
            assert_eq!(made, expected, "{fields:?}");
        }
        let tag: &[u8] = if is_detached { &last } else { &[] };
        let opened = record(shape(&opening), &One { input: &sealed, tag, ..one });
        if fields[1] == "bad" {
            assert_eq!(opened, Err(Status::Rejected), "{fields:?}");
            bad += 1;
        } else {
            assert_eq!(opened.as_ref(), Ok(if is_detached { &plain } else { &last }), "{fields:?}");
            good += 1;
        }
    }
    assert_eq!(names().len(), 9 + 15 + 15);
    assert!(good > 4 * names().len() && bad > 3 * names().len(), "{good} good, {bad} bad");
}

#[test]
fn counters_and_chacha20_match_known_answers() {
    for fields in lines(CTR) {
        let [key, iv, plain, sealed] = [1, 2, 3, 4].map(|at| field(fields[at]));
        for (direction, input, output) in [("encrypt", &plain, &sealed), ("decrypt", &sealed, &plain)] {
            let one = One { key: &key, iv: &iv, input, output_len: input.len(), ..One::default() };
            assert_eq!(record(shape(&format!("{}-{direction}", fields[0])), &one).as_ref(), Ok(output));
        }
    }
    for (file, alg) in [(CHACHA, AeadAlg::ChaCha20Poly1305), (CHACHA_SSH, AeadAlg::ChaCha20Poly1305Ssh)] {
        for fields in lines(file) {
            let [key, iv, aad, plain, sealed, tag] = [1, 2, 3, 4, 5, 6].map(|at| field(fields[at]));
            let one = One { key: &key, iv: &iv, aad: &aad, output_len: sealed.len(), ..One::default() };
            let open = Shape::Aead { alg, direction: Direction::Decrypt };
            let opened = record(open, &One { input: &sealed, tag: &tag, ..one });
            if fields[0] == "bad" {
                assert_eq!(opened, Err(Status::Rejected));
                continue;
            }
            assert_eq!(opened.as_ref(), Ok(&plain), "{fields:?}");
            let seal = Shape::Aead { alg, direction: Direction::Encrypt };
            let made = record(seal, &One { input: &plain, tag_len: 16, ..one }).unwrap();
            assert_eq!(made, [sealed, tag].concat(), "{fields:?}");
        }
    }
}

#[test]
fn sealing_an_encrypted_length_yields_the_length() {
    let alg = AeadAlg::ChaCha20Poly1305Ssh;
    for fields in lines(CHACHA_SSH).filter(|fields| fields[0] == "good") {
        let [key, iv, _, plain, sealed, _] = [1, 2, 3, 4, 5, 6].map(|at| field(fields[at]));
        let one =
            One { key: &key, iv: &iv, input: &sealed[..4], output_len: 4, tag_len: 16, ..One::default() };
        let made = record(Shape::Aead { alg, direction: Direction::Encrypt }, &one).unwrap();
        assert_eq!(made[..4], plain[..4]);
    }
}

#[test]
fn a_flipped_bit_in_any_byte_of_a_record_is_rejected() {
    for name in ["aes128-cbc-hmac-sha256-mte", "tdes3-cbc-hmac-sha1-mte", "aes256-ctr-hmac-sha512-etm"] {
        let fields = lines(CHAIN).find(|fields| fields[0] == name).unwrap();
        let [key, second_key, iv, aad, _, sealed, last] = [2, 3, 4, 5, 6, 7, 8].map(|at| field(fields[at]));
        let opening = shape(&format!("{name}-decrypt"));
        let tag: &[u8] = if opening.is_opening() { &last } else { &[] };
        let one = One { key: &key, second_key: &second_key, iv: &iv, aad: &aad, tag, ..One::default() };
        for at in 0..sealed.len() {
            let mut input = sealed.clone();
            input[at] ^= 1 << (at % 8);
            let opened = record(opening, &One { input: &input, output_len: input.len(), ..one });
            assert_eq!(opened, Err(Status::Rejected), "{name}, byte {at}");
        }
    }
}

#[test]
fn combinations_without_a_protocol_are_refused_and_never_computed() {
    let spec = |alg, mode| CipherSpec { alg, mode };
    let (order, direction) = (ChainOrder::MacThenEncrypt, Direction::Encrypt);
    let ctr = spec(BlockCipher::Aes128, CipherMode::Ctr);
    for shape in [
        Shape::Chain { cipher: ctr, mac: MacAlg::HmacSha1, order, direction },
        Shape::Chain {
            cipher: spec(BlockCipher::Des, CipherMode::Cbc),
            mac: MacAlg::HmacSha1,
            order,
            direction,
        },
        Shape::Chain {
            cipher: spec(BlockCipher::Aes128, CipherMode::Cbc),
            mac: MacAlg::Aes128Cmac,
            order: ChainOrder::EncryptThenMac,
            direction,
        },
        Shape::Cipher { alg: BlockCipher::Des, mode: CipherMode::Ctr, direction },
        Shape::Translate { from: ctr, to: ctr },
    ] {
        let one = common::records(&One { key: &[1; 16], iv: &[2; 16], ..One::default() });
        let parts = [&one];
        let jobs = Jobs::Records(shape, &parts);
        let found = common::scalar().run(&jobs, &mut Outcomes::for_jobs(&jobs));
        assert_eq!(found, Err(EngineFault::NotOffered { engine: "scalar", shape }));
        assert!(one.resolve(shape).all(|record| record.is_err()));
    }
}

#[test]
fn lengths_that_no_protocol_has_are_refused() {
    let cbc = CipherSpec { alg: BlockCipher::Aes128, mode: CipherMode::Cbc };
    let mac = MacAlg::HmacSha1;
    let chain = |order, direction| Shape::Chain { cipher: cbc, mac, order, direction };
    let (seal, open) = (Direction::Encrypt, Direction::Decrypt);
    let good = One { key: &[1; 16], second_key: &[3; 20], iv: &[2; 16], aad: &[0; 11], ..One::default() };
    let tls = |direction, one: One<'_>| record(chain(ChainOrder::MacThenEncrypt, direction), &one).err();
    let bad = Some(Status::BadLength);
    let long = vec![0; MAX_MTE_SEALED + 16];
    assert_eq!(tls(seal, One { input: &[0; 5], output_len: 32, ..good }), None);
    assert_eq!(tls(seal, One { input: &[0; 5], output_len: 48, ..good }), bad);
    assert_eq!(tls(seal, One { input: &[0; 5], output_len: 32, aad: &[0; 13], ..good }), bad);
    assert_eq!(tls(seal, One { input: &long, output_len: long.len() + 32, ..good }), bad);
    assert_eq!(tls(open, One { input: &[0; 16], output_len: 16, ..good }), bad);
    assert_eq!(tls(open, One { input: &[0; 40], output_len: 40, ..good }), bad);
    assert_eq!(tls(open, One { input: &[0; 48], output_len: 48, ..good }), Some(Status::Rejected));
    assert_eq!(tls(open, One { input: &long, output_len: long.len(), ..good }), bad);
    let etm = |one: One<'_>| record(chain(ChainOrder::EncryptThenMac, seal), &one).err();
    assert_eq!(etm(One { input: &[0; 16], output_len: 16, tag_len: 12, ..good }), None);
    assert_eq!(etm(One { input: &[0; 16], output_len: 16, tag_len: 9, ..good }), bad);
    assert_eq!(etm(One { input: &[0; 16], output_len: 16, tag_len: 21, ..good }), bad);
    assert_eq!(etm(One { input: &[0; 17], output_len: 17, tag_len: 12, ..good }), bad);
}
