//! Multi-buffer kernels: many operations in lockstep, one per lane of a vector, on the best vectors of the CPU.
//! Internal to Oarlock: the interface changes without notice.
//!
//! | module | contents |
//! |---|---|
//! | `engine` | [`LaneEngine`]: its shapes, and the run of a batch |
//! | `leaves` | the table of the leaves of each family, and the choice for a shape |
//! | `kernels` | the kernels of a family as trait objects |
//! | `batch` | jobs that can be computed, refused jobs, padding of the last group |
//! | `records` | columns of records: reading and ordering |
//! | `des` | DES and triple DES |
//! | `rsa` | RSA private (CRT), RSA public, plain modular exponentiation |
//! | `ecdsa` | P-256 and P-384: signing and verifying |
//! | `curve25519` | Ed25519 and X25519 |
//! | `aes` | AES in CBC, CTR, GCM and GCM-SIV, CMAC, and FF1 |
//! | `chacha` | ChaCha20-Poly1305 |
//! | `cipher_mac` | a cipher and an HMAC over each record |
//! | `keccak` | the permutation of SHA-3 and SHAKE |
//! | `lattice` | what ML-KEM and ML-DSA share: units of lanes, transforms, draws |
//! | `ml_kem` | ML-KEM-768 and ML-KEM-1024 |
//! | `ml_dsa` | ML-DSA: verifying and signing |
//! | `slh_dsa` | SLH-DSA: its hash steps |
//! | `stateful` | HSS and XMSS: the hash functions of their trees |
//! | `hash` | SHA-1, SHA-2, SHA-3 and SHAKE of many messages side by side, HMAC |
//! | `prove` | kernels as the instructions that they execute, for `lab/prove`; only with the feature of that name |
//! | `scratch` | memory that threads keep between runs |
//! | `fault` | faults of the engine |
//! | `simd` | vectors of every leaf, and all `unsafe` of this crate |
//!
//! Every algorithm is written once, generic over `simd::Simd`. `docs/math` gives representations, bounds and counts.
//!
//! The feature `portable` adds `LaneEngine::portable`, the same algorithms in plain Rust, which is most of the code.
//! `make test-all` compares the leaves with it; the program and `make test` are built without it.
#![deny(unsafe_code)]
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(
        unused,
        clippy::bind_instead_of_map,
        reason = "other CPUs have no leaf for some kinds of kernels, so nothing calls these kernels"
    )
)]

mod aes;
mod batch;
mod chacha;
mod cipher_mac;
mod curve25519;
mod des;
mod ecdsa;
mod engine;
mod fault;
mod hash;
mod keccak;
mod kernels;
mod lattice;
mod leaves;
#[cfg(feature = "measure")]
#[doc(hidden)]
#[path = "../benches/measure/mod.rs"]
pub mod measure;
mod ml_dsa;
mod ml_kem;
#[cfg(feature = "prove")]
#[doc(hidden)]
pub mod prove;
mod records;
mod rsa;
mod scratch;
mod simd;
mod slh_dsa;
mod stateful;

pub use engine::LaneEngine;
pub use simd::Leaf;
#[cfg(all(feature = "leak-check", target_arch = "x86_64"))]
#[doc(hidden)]
pub use simd::leak_check;
