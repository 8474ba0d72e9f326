//! The functions of PKCS#11 over a token in memory.
//!
//! | module | what it holds |
//! |---|---|
//! | `sessions` | sessions, logins and lockouts |
//! | `laws` | laws of attributes and templates |
//! | `keys` | generation, wrapping, unwrapping and derivation of keys |
//! | `hash_based` | keys of SLH-DSA: their values and signatures |
//! | `held` | keys that a server holds |
//! | `finds` | searches, and tokens that another process changes |
//! | `writes` | writes by one thread while others search and use objects |
//! | `locks` | no lock is held while anything is computed |
//! | `signatures` | signatures and MACs, in one step and in pieces |
//! | `ciphers` | encryption and decryption: published vectors, pieces, lengths and parameters |
//! | `encapsulation` | encapsulation by RSA-OAEP and ECDH |
//! | `lattice` | keys, secrets and signatures of ML-KEM and ML-DSA |
//! | `messages` | many messages under one key |
//! | `many` | many inputs in one call |
//! | `asynchronous` | asynchronous sessions |
//! | `attacks` | sequences of calls by an attacker who may call everything |
//! | `wycheproof` | Wycheproof's vectors by way of the functions |
//! | `wycheproof_lattice` | those of ML-KEM and ML-DSA |
//! | `common` | helpers: a token in memory, and short forms of templates |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics has failed")]

mod asynchronous;
mod attacks;
mod ciphers;
mod common;
mod encapsulation;
mod finds;
mod hash_based;
mod held;
mod keys;
mod lattice;
mod laws;
mod locks;
mod many;
mod messages;
mod sessions;
mod signatures;
mod writes;
mod wycheproof;
mod wycheproof_lattice;
