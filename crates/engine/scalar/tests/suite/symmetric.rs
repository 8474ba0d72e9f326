//! Published vectors of every record shape.

use oarlock_core::*;

use crate::common::{One, field, hex, lines, record};

/// Returns the record shape of a name such as `aes128-cbc-encrypt`.
fn shape(name: &str) -> Shape {
    Shape::records()
        .into_iter()
        .find(|shape| shape.to_string() == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

fn cbc(alg: &str, direction: Direction, key: &[u8], iv: &[u8], input: &[u8]) -> Vec<u8> {
    let one = One { key, iv, input, output_len: input.len(), ..One::default() };
    record(shape(&format!("{alg}-cbc-{direction}")), &one).unwrap()
}

#[test]
fn cbc_matches_published_vectors() {
    let mut tests = 0;
    for fields in lines(include_str!("../data/cbc.txt")) {
        let [alg, key, iv, plain, sealed] = fields[..] else { panic!("five fields: {fields:?}") };
        let [key, iv, plain, sealed] = [key, iv, plain, sealed].map(hex);
        assert_eq!(cbc(alg, Direction::Encrypt, &key, &iv, &plain), sealed, "{alg}");
        assert_eq!(cbc(alg, Direction::Decrypt, &key, &iv, &sealed), plain, "{alg}");
        tests += 1;
    }
    assert_eq!(tests, 8);
}

/// Runs SP 800-17 for DES and SP 800-20 for triple DES with equal keys, with parity bits set and clear.
#[test]
fn des_matches_the_tables_of_sp_800_17_and_sp_800_20() {
    let mut tests = 0;
    for fields in lines(include_str!("../data/des-sp800-17.txt")) {
        let [key, plain, sealed] = [fields[0], fields[1], fields[2]].map(hex);
        for (alg, copies) in [("des", 1), ("tdes2", 2), ("tdes3", 3)] {
            let key = key.repeat(copies);
            let other_parity: Vec<u8> = key.iter().map(|byte| byte ^ 1).collect();
            for key in [&key, &other_parity] {
                assert_eq!(cbc(alg, Direction::Encrypt, key, &[0; 8], &plain), sealed, "{alg} {fields:?}");
                assert_eq!(cbc(alg, Direction::Decrypt, key, &[0; 8], &sealed), plain, "{alg} {fields:?}");
            }
        }
        tests += 1;
    }
    assert_eq!(tests, 64 + 56 + 32 + 19);
}

#[test]
fn macs_and_their_truncations_match_published_vectors() {
    let mut seen = std::collections::BTreeSet::new();
    for fields in lines(include_str!("../data/mac.txt")) {
        let [alg, key, message, tag] = fields[..] else { panic!("four fields: {fields:?}") };
        let (key, message, tag) = (field(key), field(message), hex(tag));
        for output_len in 4..=tag.len() {
            let one = One { key: &key, input: &message, output_len, ..One::default() };
            assert_eq!(record(shape(alg), &one).as_deref(), Ok(&tag[..output_len]), "{fields:?}");
        }
        seen.insert(alg);
    }
    assert_eq!(seen.len(), MacAlg::ALL.len());
}

#[test]
fn digests_match_published_vectors() {
    for fields in lines(include_str!("../data/digest.txt")) {
        let (message, digest) = (field(fields[1]), hex(fields[2]));
        let one = One { input: &message, output_len: digest.len(), ..One::default() };
        assert_eq!(record(shape(fields[0]), &one), Ok(digest), "{fields:?}");
    }
}

#[test]
fn digests_match_the_published_million_letters() {
    let message = vec![b'a'; 1_000_000];
    for (alg, digest) in [
        ("sha1", "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        ("sha224", "20794655980c91d8bbb4c1ea97618a4bf03f42581948b2ee4ee7ad67"),
        ("sha256", "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ("sha3-256", "5c8875ae474a3634ba4fd55ec85bffd661f32aca75c6d699d0cdcb6c115891c1"),
    ] {
        let digest = hex(digest);
        let one = One { input: &message, output_len: digest.len(), ..One::default() };
        assert_eq!(record(shape(alg), &one), Ok(digest));
    }
}

/// The initial state, the padded message in two parts and the digest are known, so the parts must join.
#[test]
fn digest_parts_join_to_the_digest() {
    let initial = [
        (DigestAlg::Sha1, "67452301efcdab8998badcfe10325476c3d2e1f0"),
        (DigestAlg::Sha224, "c1059ed8367cd5073070dd17f70e5939ffc00b316858151164f98fa7befa4fa4"),
        (DigestAlg::Sha256, "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19"),
        (
            DigestAlg::Sha384,
            "cbbb9d5dc1059ed8629a292a367cd5079159015a3070dd17152fecd8f70e593967332667ffc00b318eb44a8768581511db0c2e0d64f98fa747b5481dbefa4fa4",
        ),
        (
            DigestAlg::Sha512,
            "6a09e667f3bcc908bb67ae8584caa73b3c6ef372fe94f82ba54ff53a5f1d36f1510e527fade682d19b05688c2b3e6c1f1f83d9abfb41bd6b5be0cd19137e2179",
        ),
        (
            DigestAlg::Sha512_224,
            "8c3d37c819544da273e1996689dcd4d61dfab7ae32ff9c82679dd514582f9fcf0f6d2b697bd44da877e36f7304c489423f9d85a86a1d36c81112e6ad91d692a1",
        ),
        (
            DigestAlg::Sha512_256,
            "22312194fc2bf72c9f555fa3c84c64c22393b86b6f53b151963877195940eabd96283ee2a88effe3be5e1e25538639922b0199fc2c85b8aa0eb72ddc81c52ca2",
        ),
    ];
    for alg in DigestAlg::ALL {
        // SHA-3 and SHAKE start with zeros. FIPS 202 algorithm 8, step 5.
        let known = initial.iter().find(|(known, _)| *known == alg);
        let initial = known.map_or_else(|| vec![0; 200], |(_, state)| hex(state));
        for len in [1000, alg.block_len() - 1, alg.block_len(), alg.block_len() + 1] {
            let message: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let (padded, mut state) = (padded(alg, &message), initial.clone());
            for blocks in [&padded[..0], &padded[..alg.block_len()], &padded[alg.block_len()..]] {
                let one = One { iv: &state, input: blocks, output_len: alg.state_len(), ..One::default() };
                state = record(Shape::DigestPart { alg }, &one).unwrap();
            }
            let one = One { input: &message, output_len: alg.output_len(), ..One::default() };
            assert_eq!(record(Shape::Digest { alg }, &one).unwrap(), state[..alg.output_len()], "{alg}");
        }
    }
}

/// Pads a message. FIPS 180-4 5.1, FIPS 202 5.1 and 6.
fn padded(alg: DigestAlg, message: &[u8]) -> Vec<u8> {
    let mut padded = message.to_vec();
    if alg.state_len() == 200 {
        padded.push(if matches!(alg, DigestAlg::Shake128 | DigestAlg::Shake256) { 0x1F } else { 0x06 });
        padded.resize(padded.len().next_multiple_of(alg.block_len()), 0);
        *padded.last_mut().unwrap() |= 0x80;
        return padded;
    }
    padded.push(0x80);
    while !(padded.len() + 8).is_multiple_of(alg.block_len()) {
        padded.push(0);
    }
    padded.extend_from_slice(&(8 * message.len() as u64).to_be_bytes());
    padded
}

struct Gcm {
    alg: AeadAlg,
    key: Vec<u8>,
    iv: Vec<u8>,
    aad: Vec<u8>,
    plain: Vec<u8>,
    sealed: Vec<u8>,
    tag: Vec<u8>,
}

impl Gcm {
    fn all() -> Vec<Self> {
        lines(include_str!("../data/gcm.txt"))
            .map(|fields| {
                let [key, iv, aad, plain, sealed, tag] = std::array::from_fn(|i| field(fields[i + 1]));
                let alg = if key.len() == 16 { AeadAlg::Aes128Gcm } else { AeadAlg::Aes256Gcm };
                Self { alg, key, iv, aad, plain, sealed, tag }
            })
            .collect()
    }

    fn seal(&self, tag_len: usize) -> Result<Vec<u8>, Status> {
        let one = One {
            key: &self.key,
            iv: &self.iv,
            aad: &self.aad,
            input: &self.plain,
            tag_len,
            output_len: self.plain.len(),
            ..One::default()
        };
        record(Shape::Aead { alg: self.alg, direction: Direction::Encrypt }, &one)
    }

    fn open(&self, sealed: &[u8], tag: &[u8]) -> Result<Vec<u8>, Status> {
        let one = One {
            key: &self.key,
            iv: &self.iv,
            aad: &self.aad,
            input: sealed,
            tag,
            output_len: sealed.len(),
            ..One::default()
        };
        record(Shape::Aead { alg: self.alg, direction: Direction::Decrypt }, &one)
    }
}

#[test]
fn gcm_matches_published_vectors_at_every_tag_length() {
    assert_eq!(Gcm::all().len(), 12);
    for test in Gcm::all() {
        for tag_len in 12..=16 {
            let tag = &test.tag[..tag_len];
            assert_eq!(test.seal(tag_len).unwrap(), [&test.sealed, tag].concat());
            assert_eq!(test.open(&test.sealed, tag).as_ref(), Ok(&test.plain));
        }
        assert_eq!(test.open(&test.sealed, &test.tag[..11]), Err(Status::BadLength));
    }
}

#[test]
fn gcm_releases_nothing_if_a_bit_differs() {
    for test in Gcm::all() {
        for tag_len in 12..=16 {
            for bit in 0..8 * tag_len {
                let mut tag = test.tag[..tag_len].to_vec();
                tag[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(test.open(&test.sealed, &tag), Err(Status::Rejected));
            }
        }
        for index in 0..test.sealed.len() {
            let mut sealed = test.sealed.clone();
            sealed[index] ^= 0x40;
            assert_eq!(test.open(&sealed, &test.tag), Err(Status::Rejected));
        }
    }
}

#[test]
fn key_wrap_matches_published_vectors() {
    let mut seen = std::collections::BTreeSet::new();
    for fields in lines(include_str!("../data/wrap.txt")) {
        let [alg, key, plain, wrapped] = fields[..] else { panic!("four fields: {fields:?}") };
        let [key, plain, wrapped] = [key, plain, wrapped].map(hex);
        let one = One { key: &key, input: &plain, output_len: wrapped.len(), ..One::default() };
        assert_eq!(record(shape(&format!("{alg}-wrap")), &one).as_ref(), Ok(&wrapped), "{fields:?}");
        let mut expected = plain.clone();
        expected.resize(wrapped.len() - 8, 0);
        let one = One { key: &key, input: &wrapped, output_len: expected.len(), ..One::default() };
        assert_eq!(record(shape(&format!("{alg}-unwrap")), &one), Ok(expected), "{fields:?}");
        for index in 0..wrapped.len() {
            let mut changed = wrapped.clone();
            changed[index] ^= 1;
            let one = One { input: &changed, ..one.clone() };
            assert_eq!(record(shape(&format!("{alg}-unwrap")), &one), Err(Status::Rejected), "{fields:?}");
        }
        seen.insert(alg);
    }
    assert_eq!(seen.len(), WrapAlg::ALL.len());
}
