//! AWS-LC's functions for hashes, Keccak, ML-KEM and ML-DSA. This is the only unsafe code of the crate.

pub(crate) mod hash;
pub(crate) mod keccak;
pub(crate) mod lattice;

include!(concat!(env!("OUT_DIR"), "/symbols.rs"));
