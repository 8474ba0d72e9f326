//! Polynomials of many jobs side by side: what ML-KEM and ML-DSA share.
//!
//! | module | contents |
//! |---|---|
//! | `words` | bytes of the jobs, and words of 64 bits in lanes |
//! | `units` | the units of a lane that belong to one job each, and values of few bits in them |
//! | `transform` | the layers of the number-theoretic transform |
//! | `uniform` | polynomials that are drawn from public seeds |
//!
//! A lane holds a unit of several jobs: four of 16 bits or two of 32. Unit `p` of lane `w` belongs to job
//! `p WORDS + w`. So the words of all groups of jobs become their units by one transposition within each lane, and the
//! order of the jobs is the same for every width of vectors.

pub(crate) mod transform;
pub(crate) mod uniform;
pub(crate) mod units;
pub(crate) mod words;

/// The coefficients of a polynomial. FIPS 203 and FIPS 204, section 2.3.
pub(crate) const COEFFICIENTS: usize = 256;

/// A polynomial of every job.
pub(crate) type Poly<V> = [V; COEFFICIENTS];
