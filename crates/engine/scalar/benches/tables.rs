//! Verification with tables of keys that recur, beside AWS-LC and `ring` in the same turns. It shows the gain on a
//! processor without a lane engine.
//!
//! `cargo bench -p oarlock-scalar --bench tables [p256|ed25519]` prints, for each algorithm, number of keys and size
//! of a run, the nanoseconds per signature and the speed of tables relative to the others. Then it prints the cost
//! of a table. It uses one thread and messages of 32 bytes. For ECDSA `ring` hashes the message (one block of
//! SHA-256); the others get the digest.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench that panics has failed")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use oarlock_core::*;
use oarlock_scalar::ScalarEngine;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
    UnparsedPublicKey, VerificationAlgorithm,
};

/// The number of signatures of each algorithm, all different.
const SIGNATURES: usize = 256;
/// The time of each contender in a turn.
const TURN: Duration = Duration::from_millis(20);
const TURNS: usize = 40;

/// Returns the number of turns: one under `cargo test`, which only checks that the bench runs.
fn turn_count() -> usize {
    if std::env::args().any(|argument| argument == "--bench") { TURNS } else { 1 }
}

fn main() {
    println!(
        "one thread, {SIGNATURES} signatures, messages of 32 bytes; median of {} turns, ns per signature\n",
        turn_count()
    );
    println!("algorithm   keys  a run     ring   AWS-LC   tables   x ring  x AWS-LC");
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|argument| argument == name);
    let algorithms = [("p256", p256 as fn(usize) -> SignedWork), ("ed25519", ed25519)];
    let algorithms = || algorithms.iter().filter(|(name, _)| is_wanted(name)).map(|(_, make)| make);
    for make in algorithms() {
        for keys in [1, 8, 64] {
            for size in [1, 64] {
                compare(&make(keys), keys, size);
            }
        }
    }
    println!("\nalgorithm   bytes of a table  to build and check");
    algorithms().for_each(|make| cost(&make(SIGNATURES)));
}

/// Signatures under several keys in turn.
struct SignedWork {
    name: &'static str,
    shape: Shape,
    ring: &'static dyn VerificationAlgorithm,
    keys: Vec<(Vec<u8>, Key)>,
    /// The message, the input for the engines, and the signature.
    signed: Vec<(Vec<u8>, Vec<u8>, Vec<u8>)>,
}

impl SignedWork {
    fn operations(&self) -> Vec<Operation<'_>> {
        let all = self.signed.iter().enumerate();
        all.map(|(at, (_, input, signature))| {
            let key = &self.keys[at % self.keys.len()].1;
            Operation::new(self.shape, key, input, SecondInput::Signature(signature)).unwrap()
        })
        .collect()
    }
}

fn message(at: usize) -> Vec<u8> {
    (0..32).map(|byte| (at * 7 + byte) as u8).collect()
}

fn fingerprint(at: usize) -> Fingerprint {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&at.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes());
    Fingerprint::new(bytes)
}

fn p256(keys: usize) -> SignedWork {
    let random = SystemRandom::new();
    let alg = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let pair = |_| {
        let document = EcdsaKeyPair::generate_pkcs8(alg, &random).unwrap();
        EcdsaKeyPair::from_pkcs8(alg, document.as_ref(), &random).unwrap()
    };
    let pairs: Vec<EcdsaKeyPair> = (0..keys).map(pair).collect();
    let signed = |at: usize| {
        let message = message(at);
        let digest = ring::digest::digest(&ring::digest::SHA256, &message).as_ref().to_vec();
        let signature = pairs[at % keys].sign(&random, &message).unwrap().as_ref().to_vec();
        (message, digest, signature)
    };
    let public = |(at, pair): (usize, &EcdsaKeyPair)| {
        let public = pair.public_key().as_ref().to_vec();
        (public.clone(), Key::local(KeyParts::EcPublic(Curve::P256, public), fingerprint(at)))
    };
    SignedWork {
        name: "p256",
        shape: Shape::EcdsaVerify { curve: Curve::P256 },
        ring: &ECDSA_P256_SHA256_FIXED,
        signed: (0..SIGNATURES).map(signed).collect(),
        keys: pairs.iter().enumerate().map(public).collect(),
    }
}

fn ed25519(keys: usize) -> SignedWork {
    let pair = |at: usize| Ed25519KeyPair::from_seed_unchecked(fingerprint(at + 1).as_bytes()).unwrap();
    let pairs: Vec<Ed25519KeyPair> = (0..keys).map(pair).collect();
    let signed = |at: usize| {
        let message = message(at);
        (message.clone(), message.clone(), pairs[at % keys].sign(&message).as_ref().to_vec())
    };
    let public = |(at, pair): (usize, &Ed25519KeyPair)| {
        let public = pair.public_key().as_ref().to_vec();
        let parts = KeyParts::Ed25519Public(public.clone().try_into().unwrap());
        (public, Key::local(parts, fingerprint(at)))
    };
    SignedWork {
        name: "ed25519",
        shape: Shape::Ed25519Verify,
        ring: &ED25519,
        signed: (0..SIGNATURES).map(signed).collect(),
        keys: pairs.iter().enumerate().map(public).collect(),
    }
}

/// Prints the row for one number of keys and one size of runs.
fn compare(work: &SignedWork, keys: usize, size: usize) {
    let operations = work.operations();
    let (plain, tables) =
        (ScalarEngine::detect().unwrap(), ScalarEngine::detect().unwrap().with_tables_at_once());
    let engine = |engine: &ScalarEngine| {
        for operations in operations.chunks(size) {
            let jobs = Jobs::Operations(work.shape, operations);
            let mut out = Outcomes::for_jobs(&jobs);
            engine.run(black_box(&jobs), &mut out).unwrap();
            assert!(out.statuses().iter().all(|status| *status == Status::Done));
        }
    };
    let ring = || {
        for (at, (message, _, signature)) in work.signed.iter().enumerate() {
            let key = UnparsedPublicKey::new(work.ring, &work.keys[at % keys].0);
            key.verify(black_box(message), signature).unwrap();
        }
    };
    engine(&tables);
    let mut contenders: [&dyn Fn(); 3] = [&ring, &|| engine(&plain), &|| engine(&tables)];
    let [ring, plain, tables] = medians(&mut contenders);
    println!(
        "{:10} {keys:5}  {size:5} {ring:8.0} {plain:8.0} {tables:8.0} {:8.2} {:9.2}",
        work.name,
        ring / tables,
        plain / tables
    );
}

/// Returns the nanoseconds per signature of each contender, measured in turns.
fn medians<const N: usize>(contenders: &mut [&dyn Fn(); N]) -> [f64; N] {
    let mut turns: [Vec<f64>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..turn_count() {
        for (contender, turns) in contenders.iter().zip(&mut turns) {
            let (start, mut runs) = (Instant::now(), 0);
            while start.elapsed() < TURN {
                contender();
                runs += 1;
            }
            turns.push(start.elapsed().as_nanos() as f64 / f64::from(runs) / SIGNATURES as f64);
        }
    }
    turns.map(|mut turns| {
        turns.sort_by(f64::total_cmp);
        turns[turns.len() / 2]
    })
}

/// Prints the extra cost of the first use of a key, which builds and checks its table.
fn cost(work: &SignedWork) {
    let operations = work.operations();
    let tables = ScalarEngine::detect().unwrap().with_tables_at_once();
    let run = || {
        let start = Instant::now();
        for operations in operations.chunks(64) {
            let jobs = Jobs::Operations(work.shape, operations);
            let mut out = Outcomes::for_jobs(&jobs);
            tables.run(&jobs, &mut out).unwrap();
        }
        start.elapsed()
    };
    run();
    let bytes = tables.table_usage().bytes / SIGNATURES;
    tables.drop_tables();
    let (first, second) = (run(), run());
    let micros = (first - second).as_nanos() as f64 / 1000.0 / SIGNATURES as f64;
    println!("{:10} {bytes:17} {micros:13.0} µs", work.name);
}
