//! Tests of hashes and HMAC: published vectors, every length around the block size, lanes that end early, and parts
//! that join.

use oarlock_core::*;
use oarlock_lanes::{LaneEngine, Leaf};
use oarlock_scalar::ScalarEngine;

use crate::common::leaves_for;

fn hex(text: &str) -> Vec<u8> {
    let digits = if text == "-" { "" } else { text };
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn shape(name: &str) -> Option<Shape> {
    Shape::records().into_iter().find(|shape| shape.to_string() == name)
}

fn key(bytes: &[u8]) -> Key {
    Key::local(KeyParts::Secret(SecretBytes::new(bytes.to_vec())), Fingerprint::new([0; 32]))
}

/// The inputs of a record.
#[derive(Clone, Default)]
struct One {
    key: Vec<u8>,
    state: Vec<u8>,
    message: Vec<u8>,
    result_len: usize,
}

fn records(ones: &[One]) -> Records<'static> {
    let mut data = Vec::new();
    let mut store = |bytes: &[u8]| {
        data.extend_from_slice(bytes);
        Span::new(data.len() - bytes.len(), bytes.len()).unwrap()
    };
    let states: Vec<Span> = ones.iter().map(|one| store(&one.state)).collect();
    let inputs: Vec<InputSource> = ones.iter().map(|one| InputSource::Data(store(&one.message))).collect();
    let mut output_len = 0;
    let output_of = |one: &One| {
        output_len += one.result_len;
        OutputSink::Output(Span::new(output_len - one.result_len, one.result_len).unwrap())
    };
    let outputs: Vec<OutputSink> = ones.iter().map(output_of).collect();
    Records {
        len: ones.len(),
        keys: ones.iter().map(|one| key(&one.key)).collect::<Vec<_>>().into(),
        data: data.into(),
        output_len,
        key: Column::Each((0..ones.len() as u32).map(KeySource::Table).collect::<Vec<_>>().into()),
        iv: Column::Each(states.into()),
        input: Column::Each(inputs.into()),
        output: Column::Each(outputs.into()),
        ..Records::default()
    }
}

fn run(engine: &dyn Engine, shape: Shape, ones: &[One]) -> Vec<Vec<u8>> {
    let records = records(ones);
    let parts = [&records];
    let jobs = Jobs::Records(shape, &parts);
    let mut out = Outcomes::for_jobs(&jobs);
    engine.run(&jobs, &mut out).unwrap();
    assert!(out.statuses().iter().all(|status| *status == Status::Done), "{shape}");
    let mut bytes = out.bytes();
    let result = |one: &One| bytes.split_off(..one.result_len).unwrap().to_vec();
    ones.iter().map(result).collect()
}

/// Runs vectors of one shape in one batch, each in every lane once.
fn check_published(shape: Shape, ones: &[One], results: &[Vec<u8>]) {
    for engine in leaves_for(shape) {
        for first in 0..16 {
            let turned: Vec<One> = ones.iter().cycle().skip(first).take(48).cloned().collect();
            let expected: Vec<Vec<u8>> = results.iter().cycle().skip(first).take(48).cloned().collect();
            assert_eq!(run(&engine, shape, &turned), expected, "{shape} from {first}");
        }
    }
}

/// The fields are algorithm, message and digest.
#[test]
fn digests_match_published_vectors() {
    let lines = include_str!("../../../scalar/tests/data/digest.txt").lines();
    let vectors: Vec<[&str; 3]> = lines
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(' ').collect::<Vec<_>>().try_into().unwrap())
        .collect();
    for alg in DigestAlg::ALL {
        let of_alg = || vectors.iter().filter(|[name, ..]| *name == alg.to_string());
        let one = |[_, message, _]: &[&str; 3]| One {
            message: hex(message),
            result_len: alg.output_len(),
            ..One::default()
        };
        let digests: Vec<Vec<u8>> = of_alg().map(|[_, _, digest]| hex(digest)).collect();
        assert_eq!(digests.len(), 3);
        check_published(Shape::Digest { alg }, &of_alg().map(one).collect::<Vec<_>>(), &digests);
    }
}

/// The fields are algorithm, key, message and tag, from RFC 2202 and RFC 4231. Every truncation of each tag is
/// tested.
#[test]
fn hmac_tags_and_their_truncations_match_published_vectors() {
    let mut tests = 0;
    for line in
        include_str!("../../../scalar/tests/data/mac.txt").lines().filter(|line| line.starts_with("hmac"))
    {
        let [name, key, message, tag] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let tag = hex(tag);
        let one = |result_len| One { key: hex(key), message: hex(message), result_len, ..One::default() };
        let ones: Vec<One> = (4..=tag.len()).map(one).collect();
        let tags: Vec<Vec<u8>> = (4..=tag.len()).map(|len| tag[..len].to_vec()).collect();
        check_published(shape(name).unwrap(), &ones, &tags);
        tests += 1;
    }
    assert_eq!(tests, 40);
}

/// Runs the long examples of FIPS 180-4 and FIPS 202, as NIST publishes them, alone and among short messages, so that
/// the lane outlasts all others.
#[test]
fn digests_match_the_published_million_letters() {
    let one = |len, result_len| One { message: vec![b'a'; len], result_len, ..One::default() };
    for (name, digest) in [
        ("sha1", "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        ("sha224", "20794655980c91d8bbb4c1ea97618a4bf03f42581948b2ee4ee7ad67"),
        ("sha256", "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ("sha3-256", "5c8875ae474a3634ba4fd55ec85bffd661f32aca75c6d699d0cdcb6c115891c1"),
    ] {
        let mut ones = vec![one(3, hex(digest).len()); 40];
        ones[21] = one(1_000_000, hex(digest).len());
        let shape = shape(name).unwrap();
        for engine in leaves_for(shape) {
            assert_eq!(run(&engine, shape, &ones[21..22]), [hex(digest)]);
            assert_eq!(run(&engine, shape, &ones)[21], hex(digest));
        }
    }
}

/// Returns a batch of messages of these lengths, with keys of many lengths, or states, if the shape has them.
fn batch(shape: Shape, lens: impl Iterator<Item = usize>) -> Vec<One> {
    let bytes = |seed: usize, len: usize| (0..len).map(|at| (seed * 31 + at * at / 5 + at) as u8).collect();
    let one = |(seed, len): (usize, usize)| match shape {
        Shape::Digest { alg } => {
            One { message: bytes(seed, len), result_len: alg.output_len(), ..One::default() }
        }
        Shape::DigestPart { alg } => One {
            state: bytes(seed + 1, alg.state_len()),
            message: bytes(seed, len * alg.block_len()),
            result_len: alg.state_len(),
            ..One::default()
        },
        Shape::Mac { alg } => One {
            key: bytes(seed + 1, seed % 140),
            message: bytes(seed, len),
            result_len: 4 + seed % (alg.tag_len() - 3),
            ..One::default()
        },
        _ => unreachable!(),
    };
    lens.enumerate().map(one).collect()
}

fn agree(what: &str, lens: &[usize]) {
    for shape in Shape::records().into_iter().filter(|shape| is_hash(*shape)) {
        let ones = batch(shape, lens.iter().copied());
        let expected = run(&ScalarEngine::detect().unwrap(), shape, &ones);
        for engine in leaves_for(shape) {
            let leaf = engine.leaf(shape).unwrap().name;
            assert_eq!(run(&engine, shape, &ones), expected, "{shape}, {what}, leaf {leaf}");
        }
    }
}

fn is_hash(shape: Shape) -> bool {
    match shape {
        Shape::Mac { alg } => alg.hmac_digest().is_some(),
        _ => matches!(shape, Shape::Digest { .. } | Shape::DigestPart { .. }),
    }
}

/// Returns the leaf by which an engine computes a shape.
fn leaf_of(engine: &LaneEngine, shape: Shape) -> Option<Leaf> {
    let name = engine.leaf(shape)?.name;
    Leaf::ALL.iter().copied().find(|leaf| leaf.name() == name)
}

/// The portable leaf has every hash, and the SHA extensions have SHA-1, SHA-224 and SHA-256 alone. AVX-512 comes before
/// them, they before AVX2, except that AVX2 comes before them for SHA-1 on some CPUs.
#[test]
fn every_hash_has_a_leaf_and_the_best_one_is_chosen() {
    for shape in Shape::records().into_iter().filter(|shape| is_hash(*shape)) {
        #[cfg(feature = "portable")]
        assert_eq!(leaf_of(&LaneEngine::portable(), shape), Some(Leaf::Portable), "{shape}");
        let is_short = matches!(
            shape,
            Shape::Digest { alg: DigestAlg::Sha1 | DigestAlg::Sha224 | DigestAlg::Sha256 }
                | Shape::DigestPart { alg: DigestAlg::Sha1 | DigestAlg::Sha224 | DigestAlg::Sha256 }
                | Shape::Mac { alg: MacAlg::HmacSha1 | MacAlg::HmacSha224 | MacAlg::HmacSha256 }
        );
        let Some(streams) = LaneEngine::of_leaf(Leaf::ShaNi) else {
            eprintln!("SKIPPED: this processor has no leaf {}", Leaf::ShaNi.name());
            continue;
        };
        assert_eq!(leaf_of(&streams, shape), is_short.then_some(Leaf::ShaNi), "{shape}");
        let chosen = LaneEngine::detect().unwrap();
        let better = chosen.leaf(shape).and_then(|leaf| leaf.better);
        let is_slower = better == Some((Leaf::Avx512.name(), LeafAbsence::Slower));
        let is_sha1 = matches!(
            shape,
            Shape::Digest { alg: DigestAlg::Sha1 }
                | Shape::DigestPart { alg: DigestAlg::Sha1 }
                | Shape::Mac { alg: MacAlg::HmacSha1 }
        );
        let expected = match LaneEngine::of_leaf(Leaf::Avx512) {
            Some(_) if !is_slower => Some(Leaf::Avx512),
            _ if is_sha1 && leaf_of(&chosen, shape) == Some(Leaf::Avx2) => Some(Leaf::Avx2),
            _ if is_short => Some(Leaf::ShaNi),
            _ => LaneEngine::of_leaf(Leaf::Avx2).map(|_| Leaf::Avx2),
        };
        assert_eq!(leaf_of(&chosen, shape), expected, "{shape}");
    }
}

#[test]
fn hashes_agree_with_scalar_at_every_length_side_by_side() {
    let lens: Vec<usize> = (0..=300).chain([16_384 / 64, 16_384]).collect();
    agree("ascending", &lens);
    let mixed: Vec<usize> = (0..301).map(|at| at * 67 % 301).collect();
    agree("mixed", &mixed);
}

#[test]
fn hashes_agree_with_scalar_at_every_length_alone_in_a_group() {
    for len in (0..=300).chain([16_384]) {
        agree("equal", &[len; 16]);
    }
}

#[test]
fn hashes_agree_with_scalar_at_the_seams_of_groups() {
    for lanes in [8, 16] {
        for count in [0, 1, 2, 3, 4, 5, lanes - 1, lanes, lanes + 1, 2 * lanes - 1, 2 * lanes, 2 * lanes + 1]
        {
            agree("seam", &vec![64; count]);
            agree("seam", &(0..count).map(|at| at * 13).collect::<Vec<_>>());
        }
    }
}

/// One message continues when all others have ended, in every lane.
#[test]
fn hashes_agree_with_scalar_if_all_other_lanes_have_ended() {
    for lane in [0, 7, 20] {
        let mut lens = vec![1; 21];
        lens[lane] = 256;
        agree("one long", &lens);
        lens[(lane + 3) % 21] = 100;
        agree("two long", &lens);
    }
}

/// The state after any number of blocks, continued over the rest with its padding, gives the digest.
#[test]
fn parts_of_a_digest_join_to_the_digest_at_every_block() {
    for alg in DigestAlg::ALL {
        for engine in leaves_for(Shape::DigestPart { alg }) {
            let whole = One { message: vec![7; 1000], result_len: alg.output_len(), ..One::default() };
            let digest = run(&engine, Shape::Digest { alg }, &[whole]).remove(0);
            let padded = padded(alg, vec![7; 1000]);
            for split in (0..=padded.len()).step_by(alg.block_len()) {
                let mut state = initial(alg);
                for blocks in [&padded[..split], &[], &padded[split..]] {
                    let one =
                        One { message: blocks.to_vec(), result_len: state.len(), state, ..One::default() };
                    let ones = vec![one; 9];
                    state = run(&engine, Shape::DigestPart { alg }, &ones).remove(8);
                }
                assert_eq!(state[..alg.output_len()], digest, "{alg} split at {split}");
            }
        }
    }
}

/// FIPS 202 5.1 and 6: the padding is one byte if a message ends a byte before the end of a block.
#[test]
fn sponges_pad_at_each_rate_as_the_standard_says() {
    for alg in DigestAlg::ALL.into_iter().filter(|alg| alg.state_len() == 200) {
        for len in [alg.block_len() - 2, alg.block_len() - 1, alg.block_len(), 2 * alg.block_len() - 1] {
            let message: Vec<u8> = (0..len).map(|at| at as u8).collect();
            let padded = padded(alg, message.clone());
            assert_eq!(padded.len(), (len + 1).next_multiple_of(alg.block_len()));
            for engine in leaves_for(Shape::Digest { alg }) {
                let whole = One { message: message.clone(), result_len: alg.output_len(), ..One::default() };
                let part =
                    One { message: padded.clone(), result_len: 200, state: initial(alg), ..One::default() };
                let digest = run(&engine, Shape::Digest { alg }, &[whole]).remove(0);
                let state = run(&engine, Shape::DigestPart { alg }, &[part]).remove(0);
                assert_eq!(state[..alg.output_len()], digest, "{alg}, {len} bytes");
            }
        }
    }
}

/// Returns a message with its padding. FIPS 180-4 5.1, FIPS 202 5.1 and 6.
fn padded(alg: DigestAlg, mut message: Vec<u8>) -> Vec<u8> {
    let (bits, block) = (8 * message.len() as u64, alg.block_len());
    if alg.state_len() == 200 {
        message.push(if matches!(alg, DigestAlg::Shake128 | DigestAlg::Shake256) { 0x1F } else { 0x06 });
        message.resize(message.len().next_multiple_of(block), 0);
        *message.last_mut().unwrap() |= 0x80;
        return message;
    }
    message.push(0x80);
    message.resize((message.len() + block / 8).next_multiple_of(block) - 8, 0);
    message.extend_from_slice(&bits.to_be_bytes());
    message
}

/// Returns the initial hash value. FIPS 180-4 5.3, FIPS 202 algorithm 8, step 5.
fn initial(alg: DigestAlg) -> Vec<u8> {
    if alg.state_len() == 200 {
        return vec![0; 200];
    }
    hex(match alg {
        DigestAlg::Sha1 => "67452301efcdab8998badcfe10325476c3d2e1f0",
        DigestAlg::Sha224 => "c1059ed8367cd5073070dd17f70e5939ffc00b316858151164f98fa7befa4fa4",
        DigestAlg::Sha256 => "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19",
        DigestAlg::Sha384 => {
            "cbbb9d5dc1059ed8629a292a367cd5079159015a3070dd17152fecd8f70e593967332667ffc00b318eb44a8768581511db0c2e0d64f98fa747b5481dbefa4fa4"
        }
        DigestAlg::Sha512_224 => {
            "8c3d37c819544da273e1996689dcd4d61dfab7ae32ff9c82679dd514582f9fcf0f6d2b697bd44da877e36f7304c489423f9d85a86a1d36c81112e6ad91d692a1"
        }
        DigestAlg::Sha512_256 => {
            "22312194fc2bf72c9f555fa3c84c64c22393b86b6f53b151963877195940eabd96283ee2a88effe3be5e1e25538639922b0199fc2c85b8aa0eb72ddc81c52ca2"
        }
        _ => {
            "6a09e667f3bcc908bb67ae8584caa73b3c6ef372fe94f82ba54ff53a5f1d36f1510e527fade682d19b05688c2b3e6c1f1f83d9abfb41bd6b5be0cd19137e2179"
        }
    })
}
