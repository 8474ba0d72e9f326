//! Proofs of kernels for every input within their bounds. Development only.
//!
//! | module | content |
//! |---|---|
//! | `dyadic`, `interval`, `polynomial` | exact numbers `m 2^e`, their intervals, polynomials over them |
//! | `analysis` | what each word of a kernel is: a polynomial of inputs and of fresh variables, and an interval |
//! | `statement` | the statements that are proved of the kernels |
//! | `proof` | the proof of a statement |
//!
//! A kernel comes as the instructions that it executes on one lane (`oarlock_lanes::prove`). Its words have no value
//! there, so that it cannot branch on one or use it as an index: it would not compile.
//!
//! A word stands for an integer that is its value modulo 2^64. Sums and shifts to the left act on the polynomial. Parts
//! of an integer x introduce a variable: `x mod 2^k` is one, and then `x >> k` is `(x - low) / 2^k` exactly. The high
//! half of a product is a variable h, and its low half `a b - 2^52 h`. An instruction that depends on more than the
//! residue modulo 2^64 is accepted only if the interval shows that nothing was lost.

pub mod analysis;
pub mod dyadic;
pub mod interval;
pub mod polynomial;
pub mod proof;
pub mod statement;
