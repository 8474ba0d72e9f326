//! Wrong arguments at the tables of C: parameters, lengths, numbers, templates, null mechanisms, keys of ML-KEM and
//! ML-DSA, and many inputs.

mod cancel;
mod lattice;
mod numbers;
mod outputs;
mod parameters;
mod templates;
mod vendor;

use cryptoki_sys::CK_ULONG;

/// The number of bytes of a `CK_ULONG`.
const ULONG: usize = size_of::<CK_ULONG>();
