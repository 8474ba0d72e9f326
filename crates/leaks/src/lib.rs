//! Shows that no secret of a kernel shows: neither in its time nor in its branches and addresses.
//!
//! | module | what it holds |
//! |---|---|
//! | [`subject`] | shapes with a secret: batches under one fixed secret, and under random ones |
//! | [`welch`] | Welch's t over two classes of samples, whole and cropped |
//! | [`timing`] | batches of both classes timed in random order (dudect: Reparaz, Balasch, Verbauwhede 2017) |
//! | [`padding`] | decryptions of good and bad paddings |
//! | [`poison`] | batches whose secrets Valgrind watches (ctgrind: Langley 2010) |
//! | [`planted`] | an engine that leaks: whoever does not notice it proves nothing |
//! | [`report`] | what was found, as table and JSON |
//!
//! `cargo run --release -p oarlock-leaks -- time NAME` takes minutes for a million samples of a curve's shape, up to
//! hours for RSA's; `cargo run --release -p oarlock-leaks --features valgrind -- valgrind` takes minutes.
#![forbid(unsafe_code)]

pub mod padding;
pub mod planted;
pub mod poison;
pub mod report;
pub mod subject;
pub mod timing;
pub mod welch;

use oarlock::BuildError;
use oarlock_core::EngineFault;
use oarlock_keys::KeyError;

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeakError {
    /// A secret could not be made.
    #[error("keys for {subject}: {error}")]
    Key {
        /// What it was for.
        subject: String,
        /// Why not.
        error: KeyError,
    },
    /// There is no accelerator to decrypt with.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// An engine failed.
    #[error(transparent)]
    Engine(#[from] EngineFault),
    /// A job under a good key was refused: what was timed was not the operation.
    #[error("{subject}: a job was refused")]
    Refused {
        /// Which.
        subject: String,
    },
    /// There is nothing of that name.
    #[error("unknown subject {found:?}: expected some of {known}")]
    Unknown {
        /// What was asked for.
        found: String,
        /// What there is.
        known: String,
    },
    /// This processor has no lanes to time.
    #[error("this processor has no AVX-512 IFMA: there is nothing to time (--portable times the twin)")]
    NoLanes,
    /// Valgrind could not be run, or did not finish.
    #[error("valgrind: {0}")]
    Valgrind(String),
    /// Output could not be written.
    #[error("stdout: {0}")]
    Stdout(#[from] std::io::Error),
}
