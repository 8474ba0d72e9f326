//! The time that the engine adds to AWS-LC. Each line times the bare call and the engine's run in turns, in one
//! process.
//!
//! `cargo bench -p oarlock-scalar` prints the name, the nanoseconds of the bare call and of the engine, their
//! difference and their ratio. The arguments `rsa`, `curves` and `records` select groups.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench that panics has failed")]

#[path = "../src/ffi/mod.rs"]
#[allow(unsafe_code, dead_code, unused_imports)]
mod ffi;

use std::hint::black_box;
use std::time::{Duration, Instant};

use oarlock_core::*;
use oarlock_engine_kit::hash::{HashState, Sha3_256, Sha256};
use oarlock_scalar::ScalarEngine;

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |group: &str| wanted.is_empty() || wanted.iter().any(|argument| argument == group);
    for (group, run) in [("rsa", rsa as fn()), ("curves", curves), ("records", records)] {
        if is_wanted(group) {
            run();
        }
    }
}

/// Returns the median nanoseconds per operation of both. They are measured in turns, so that changes of the clock
/// rate affect both.
fn compare(name: &str, operations: usize, mut bare: impl FnMut(), mut engine: impl FnMut()) {
    let time = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    let (mut bare_times, mut engine_times) = (Vec::new(), Vec::new());
    let begin = Instant::now();
    // `cargo test` runs this program too, without this argument. Then a turn shows that it works.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let (min_time, min_turns) =
        if is_bench { (Duration::from_millis(1500), 20) } else { (Duration::ZERO, 1) };
    while begin.elapsed() < min_time || bare_times.len() < min_turns {
        bare_times.push(time(&mut bare));
        engine_times.push(time(&mut engine));
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times[times.len() / 2].as_nanos() as f64 / operations as f64
    };
    let (bare, engine) = (median(&mut bare_times), median(&mut engine_times));
    println!(
        "{name:32} bare {bare:10.1} ns  engine {engine:10.1} ns  {:+7.1} ns  {:.4}",
        engine - bare,
        engine / bare
    );
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn fingerprinted(parts: KeyParts) -> Key {
    Key::local(parts, Fingerprint::new([0; 32]))
}

/// Times batches of 1 and 64 of one operation.
fn operations(shape: Shape, key: &Key, input: &[u8], extra: SecondInput<'_>, mut bare: impl FnMut()) {
    let scalar = ScalarEngine::detect().unwrap();
    for size in [1, 64] {
        let operations = vec![Operation::new(shape, key, input, extra).unwrap(); size];
        let jobs = Jobs::Operations(shape, &operations);
        let mut out = Outcomes::default();
        let run_engine = || {
            out.reset(&jobs);
            scalar.run(black_box(&jobs), &mut out).unwrap();
            assert!(out.statuses()[0] == Status::Done);
        };
        compare(&format!("{shape} x{size}"), size, || (0..size).for_each(|_| bare()), run_engine);
    }
}

fn rsa() {
    for name in ["1024", "2048", "4096"] {
        let line = include_str!("../tests/data/rsa-keys.txt")
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")));
        let fields: Vec<Vec<u8>> = line.unwrap().split(' ').skip(1).map(hex).collect();
        let [n, e, d, p, q, dp, dq, qinv] = fields.try_into().unwrap();
        let mut input = n.clone();
        input[0] = 0;
        let public = RsaPublicParts { n, e };
        let parts = RsaPrivateParts {
            public: public.clone(),
            d: d.into(),
            p: p.into(),
            q: q.into(),
            dp: dp.into(),
            dq: dq.into(),
            qinv: qinv.into(),
        };
        let (private, public_key) =
            (ffi::RsaPrivate::new(&parts).unwrap(), ffi::RsaPublic::new(&public).unwrap());
        let bits = public.bits();
        let key = fingerprinted(KeyParts::RsaPrivate(parts));
        let mut out = vec![0; input.len()];
        operations(Shape::RsaPrivate { bits }, &key, &input, SecondInput::None, || {
            private.transform(black_box(&input), &mut out).unwrap();
        });
        let shape = Shape::RsaPublic { bits, exponent: RsaExponent::F4 };
        operations(shape, &key, &input, SecondInput::None, || {
            public_key.transform(black_box(&input), &mut out).unwrap();
        });
    }
}

fn curves() {
    for line in
        include_str!("../tests/data/rfc6979.txt").lines().filter(|line| line.contains(" sample sha384 "))
    {
        let fields: Vec<&str> = line.split(' ').collect();
        let curve = Curve::ALL.into_iter().find(|curve| curve.to_string() == fields[0]).unwrap();
        let [scalar, public, digest, signature] = [1, 2, 5, 6].map(|i| hex(fields[i]));
        let private = ffi::EcPrivate::new(curve, &scalar).unwrap();
        let own_public = ffi::EcPublic::new(curve, &public).unwrap();
        let point = public.clone();
        let key = fingerprinted(KeyParts::EcPrivate(EcPrivateParts { curve, scalar: scalar.into(), public }));
        let mut out = vec![0; signature.len()];
        let extra = SecondInput::NonceInput(NonceInput::Hedged(&[1; 32]));
        operations(Shape::EcdsaSign { curve }, &key, &digest, extra, || {
            private.sign(black_box(&digest), &mut out).unwrap();
        });
        let mut secret = vec![0; curve.scalar_len()];
        operations(Shape::Ecdh { curve }, &key, &point, SecondInput::None, || {
            let peer = ffi::EcPoint::new(curve, black_box(&point)).unwrap();
            private.derive(&peer, &mut secret).unwrap();
        });
        let extra = SecondInput::Signature(&signature);
        operations(Shape::EcdsaVerify { curve }, &key, &digest, extra, || {
            assert!(own_public.verify(black_box(&digest), &signature).unwrap());
        });
    }
    let line = include_str!("../tests/data/ed25519-rfc8032.txt").lines().last().unwrap();
    let [seed, public, message, signature] =
        line.split(' ').skip(1).map(hex).collect::<Vec<_>>().try_into().unwrap();
    let (mut out, both) = ([0; 64], [seed.clone(), public.clone()].concat().try_into().unwrap());
    let public: [u8; 32] = public.try_into().unwrap();
    let key = fingerprinted(KeyParts::Ed25519Private(Ed25519PrivateParts { seed: seed.into(), public }));
    operations(Shape::Ed25519Sign, &key, &message, SecondInput::None, || {
        ffi::ed25519_sign(&both, black_box(&message), &mut out).unwrap();
    });
    let own_signature = signature.clone().try_into().unwrap();
    operations(Shape::Ed25519Verify, &key, &message, SecondInput::Signature(&signature), || {
        assert!(ffi::ed25519_verify(&public, black_box(&message), &own_signature));
    });
    let mut out = [0; 32];
    let key =
        fingerprinted(KeyParts::X25519Private(X25519PrivateParts { scalar: vec![7; 32].into(), public }));
    operations(Shape::X25519, &key, &public, SecondInput::None, || {
        ffi::x25519(&[7; 32], black_box(&public), &mut out);
    });
}

const KEYS: usize = 1024;
const RECORDS: usize = 65_536;

/// Records of `len` bytes, each with an IV and one of 1,024 keys at random, or of as many keys as records.
struct Set {
    count: usize,
    records: Records<'static>,
    index: Vec<usize>,
    secrets: Vec<Vec<u8>>,
    iv_len: usize,
    len: usize,
}

impl Set {
    fn new(key_len: usize, iv_len: usize, len: usize, output_len: usize, tag_len: usize) -> Self {
        Self::with_sizes(RECORDS, key_len, iv_len, len, output_len, tag_len)
    }

    fn with_sizes(
        count: usize,
        key_len: usize,
        iv_len: usize,
        len: usize,
        output_len: usize,
        tag_len: usize,
    ) -> Self {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        let secrets: Vec<Vec<u8>> =
            (0..KEYS.min(count)).map(|_| (0..key_len).map(|_| next() as u8).collect()).collect();
        let index: Vec<usize> = (0..count).map(|_| next() % KEYS.min(count)).collect();
        let row = iv_len + len;
        let span = |start, len| Span::new(start, len).unwrap();
        let spans = |at, len, row| (0..count).map(|i| span(i * row + at, len)).collect::<Vec<_>>();
        let stride = output_len + tag_len;
        let records = Records {
            len: count,
            keys: secrets
                .iter()
                .map(|key| fingerprinted(KeyParts::Secret(key.clone().into())))
                .collect::<Vec<_>>()
                .into(),
            data: (0..count * row).map(|_| next() as u8).collect::<Vec<_>>().into(),
            output_len: count * stride,
            key: Column::Each(index.iter().map(|i| KeySource::Table(*i as u32)).collect::<Vec<_>>().into()),
            iv: Column::Each(spans(0, iv_len, row).into()),
            input: Column::Each(
                spans(iv_len, len, row).into_iter().map(InputSource::Data).collect::<Vec<_>>().into(),
            ),
            output: Column::Each(
                spans(0, output_len, stride).into_iter().map(OutputSink::Output).collect::<Vec<_>>().into(),
            ),
            tag: Column::Each(spans(if tag_len == 0 { 0 } else { output_len }, tag_len, stride).into()),
            ..Records::default()
        };
        Self { count, records, index, secrets, iv_len, len }
    }

    /// Times the engine against `bare`, and compares their results.
    fn compare(&self, shape: Shape, bare: impl FnMut(usize, &[u8], &[u8], &mut [u8])) {
        let (bare_output, out) = self.time(shape, bare);
        assert_eq!(bare_output, out.bytes(), "{shape}");
    }

    /// Times the engine against `bare`, which gets the index of the key, the IV, the input and the memory for output
    /// and tag. Returns both results.
    fn time(
        &self,
        shape: Shape,
        mut bare: impl FnMut(usize, &[u8], &[u8], &mut [u8]),
    ) -> (Vec<u8>, Outcomes) {
        let scalar = ScalarEngine::detect().unwrap();
        let (parts, mut out) = ([&self.records], Outcomes::default());
        let jobs = Jobs::Records(shape, &parts);
        let stride = self.records.output_len / self.count;
        let mut bare_output = vec![0; self.records.output_len];
        let rows = self.records.data.chunks_exact(self.iv_len + self.len);
        let mut bare_run = || {
            for ((index, row), out) in
                self.index.iter().zip(rows.clone()).zip(bare_output.chunks_exact_mut(stride))
            {
                let (iv, input) = row.split_at(self.iv_len);
                bare(*index, iv, input, out);
            }
        };
        let mut engine_run = || {
            out.reset(&jobs);
            scalar.run(black_box(&jobs), &mut out).unwrap();
            assert!(out.statuses()[self.count - 1] == Status::Done);
        };
        // Small batches are repeated, because reading the clock takes as long as one of them.
        let repeats = 1024_usize.div_ceil(self.count);
        compare(
            &format!("{shape} {} B x{}", self.len, self.count),
            self.count * repeats,
            || (0..repeats).for_each(|_| bare_run()),
            || (0..repeats).for_each(|_| engine_run()),
        );
        (bare_output, out)
    }
}

fn records() {
    let cbc = |alg| Shape::Cipher { alg, mode: CipherMode::Cbc, direction: Direction::Encrypt };
    for count in [1, 16, 256, RECORDS] {
        let set = Set::with_sizes(count, 16, 16, 48, 48, 0);
        let keys: Vec<_> = set.secrets.iter().map(|key| ffi::AesEncrypt::new(key).unwrap()).collect();
        set.compare(cbc(BlockCipher::Aes128), |index, iv, input, out| {
            keys[index].cbc(&mut iv.try_into().unwrap(), input, out);
        });
    }
    let set = Set::new(16, 0, 48, 16, 0);
    let keys: Vec<_> = set.secrets.iter().map(|key| ffi::AesEncrypt::new(key).unwrap()).collect();
    let zeros = [0; 16];
    // Without subkeys, so that the results differ: the time of the blocks alone.
    set.time(Shape::Mac { alg: MacAlg::Aes128Cmac }, |index, _, input, out| {
        let mut state = zeros;
        for block in input.chunks_exact(16) {
            state.iter_mut().zip(block).for_each(|(to, from)| *to ^= from);
            keys[index].block(&mut state);
        }
        out.copy_from_slice(&state);
    });
    let set = Set::new(8, 8, 40, 40, 0);
    let keys: Vec<_> = set.secrets.iter().map(|key| ffi::DesKey::new(key[..].try_into().unwrap())).collect();
    set.compare(cbc(BlockCipher::Des), |index, iv, input, out| {
        keys[index].encrypt_cbc(&mut iv.try_into().unwrap(), input, out);
    });
    let set = Set::new(24, 8, 40, 40, 0);
    let part = |key: &[u8], n: usize| key[8 * n..8 * n + 8].try_into().unwrap();
    let tdes = |key: &Vec<u8>| ffi::TdesKey::new([&part(key, 0), &part(key, 1), &part(key, 2)]);
    let keys: Vec<_> = set.secrets.iter().map(tdes).collect();
    set.compare(cbc(BlockCipher::Tdes3), |index, iv, input, out| {
        keys[index].encrypt_cbc(&mut iv.try_into().unwrap(), input, out);
    });
    let set = Set::new(16, 12, 40, 40, 16);
    let keys: Vec<_> = set.secrets.iter().map(|key| ffi::AeadContext::gcm(key, 16).unwrap()).collect();
    let shape = Shape::Aead { alg: AeadAlg::Aes128Gcm, direction: Direction::Encrypt };
    set.compare(shape, |index, iv, input, result| {
        let (out, tag) = result.split_at_mut(40);
        keys[index].seal(iv, &[], input, out, tag).unwrap();
    });
    for len in [64, 1024] {
        let set = Set::new(0, 0, len, 32, 0);
        set.compare(Shape::Digest { alg: DigestAlg::Sha256 }, |_, _, input, out| {
            let mut hash = Sha256::new();
            hash.update(input);
            hash.finish(out);
        });
        set.compare(Shape::Digest { alg: DigestAlg::Sha3_256 }, |_, _, input, out| {
            let mut hash = Sha3_256::new();
            hash.update(input);
            hash.finish(out);
        });
    }
}
