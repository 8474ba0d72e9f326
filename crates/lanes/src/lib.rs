//! Multi-buffer kernels: eight public-key operations in lockstep, one per 64-bit lane, with AVX-512 IFMA.
//!
//! | module | what it holds |
//! |---|---|
//! | `engine` | [`LaneEngine`], its shapes and how a run is cut into groups of eight |
//! | `batch` | jobs that can be computed, refused jobs, padding of the last group |
//! | `records` | columns of records: reading, ordering, writing |
//! | `des` | DES and triple DES of 512 messages |
//! | `rsa` | RSA private (CRT), RSA public, plain modular exponentiation |
//! | `ecdsa` | P-256 and P-384: signing and verifying |
//! | `curve25519` | Ed25519 and X25519 |
//! | `aes` | AES in CBC and GCM, and CMAC |
//! | `hash` | SHA-1 and SHA-2 of many messages side by side, HMAC |
//! | `simd` | vectors: AVX-512 IFMA, the portable twin, and all `unsafe` of this crate |
//!
//! Every algorithm is written once, generic over `simd::Simd`; `docs/math` gives representations, bounds and counts.
#![deny(unsafe_code)]

mod aes;
mod batch;
mod curve25519;
mod des;
mod ecdsa;
mod engine;
mod fault;
mod hash;
#[cfg(feature = "measure")]
#[doc(hidden)]
#[path = "../benches/measure/mod.rs"]
pub mod measure;
mod records;
mod rsa;
mod scratch;
mod simd;

pub use engine::LaneEngine;
#[cfg(all(feature = "leak-check", target_arch = "x86_64"))]
#[doc(hidden)]
pub use simd::leak_check;
