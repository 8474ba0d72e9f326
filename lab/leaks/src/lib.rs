//! Checks that kernels do not leak secrets: neither by their time nor by their branches and addresses.
//!
//! | module | content |
//! |---|---|
//! | [`subject`] | shapes with a secret: batches under a fixed secret, and under random secrets |
//! | `lattice` | keys of ML-KEM and ML-DSA that differ in their secrets alone |
//! | [`leaves`] | the leaves that are checked |
//! | [`welch`] | Welch's t over two classes of samples, whole and cropped |
//! | [`timing`] | batches of both classes timed in random order (dudect: Reparaz, Balasch, Verbauwhede 2017) |
//! | [`padding`] | decryptions of valid and invalid paddings |
//! | [`tls`] | openings of TLS records in CBC mode with paddings of chosen length |
//! | [`poison`] | batches whose secrets Valgrind watches (ctgrind: Langley 2010) |
//! | [`planted`] | an engine that leaks on purpose, which every check must find |
//! | [`saved`] | samples of earlier runs |
//! | [`report`] | findings as a table and as JSON |
//!
//! `cargo run --release -p oarlock-leaks -- time NAME` takes minutes for a million samples of a curve's shape, up to
//! hours for RSA's; `cargo run --release -p oarlock-leaks --features valgrind -- valgrind` takes minutes.
#![forbid(unsafe_code)]

mod lattice;
pub mod leaves;
pub mod padding;
pub mod planted;
pub mod poison;
pub mod report;
pub mod saved;
pub mod subject;
pub mod timing;
pub mod tls;
pub mod welch;

use std::path::PathBuf;

use oarlock::BuildError;
use oarlock_core::EngineFault;
use oarlock_keys::KeyError;

/// An error that prevents a verdict.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeakError {
    /// A secret could not be made.
    #[error("keys for {subject}: {error}")]
    Key {
        /// The subject of the keys.
        subject: String,
        /// The reason.
        error: KeyError,
    },
    /// The accelerator that decrypts could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// An engine failed.
    #[error(transparent)]
    Engine(#[from] EngineFault),
    /// A job under a valid key failed, so that the time was not that of the operation.
    #[error("{subject}: a job was rejected")]
    Refused {
        /// The subject of the job.
        subject: String,
    },
    /// No subject has this name.
    #[error("unknown subject {found:?}: expected one of {known}")]
    Unknown {
        /// The name.
        found: String,
        /// The names of all subjects.
        known: String,
    },
    /// No leaf has this name.
    #[error("unknown leaf {found:?}: expected one of {known}")]
    UnknownLeaf {
        /// The name.
        found: String,
        /// The names of all leaves.
        known: String,
    },
    /// This processor has no leaf to time.
    #[error(
        "this processor has no such leaf; built with --features valgrind, --leaf portable times plain Rust"
    )]
    NoLanes,
    /// Valgrind could not be run, or did not finish.
    #[error("valgrind: {0}")]
    Valgrind(String),
    /// The samples of earlier runs could not be read or written.
    #[error("{}: {error}", path.display())]
    Saved {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// Output could not be written.
    #[error("stdout: {0}")]
    Stdout(#[from] std::io::Error),
}
