//! OpenSSL and AWS-LC as peers, measured beside Oarlock's engines in the same process: libcrypto of OpenSSL is loaded
//! at run time, and AWS-LC is in the program.
//!
//! | module | what it holds |
//! |---|---|
//! | `libcrypto` | the libraries, their functions and contexts; the only `unsafe` of this crate |
//! | [`task`](PeerTask) | the work of both sides: keys, inputs and their order |
//! | [`prepared`](PreparedTask) | a task with keys and contexts set up, ready to be timed |
//! | [`openssl_speed`] | the `openssl speed` program, whose rate counts if it is the better one |
//!
//! ```text
//! let library = Libcrypto::load(None)?;                  // or Some(path); several versions may be loaded
//! let mut prepared = library.prepare(task)?;             // keys parsed, contexts made
//! prepared.check_all(|item, output| ours[item] == output)?;
//! prepared.run(1000)?;                                   // timed by the caller
//! ```

mod libcrypto;
pub(crate) mod openssl_speed;
mod prepared;
mod task;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub(crate) use libcrypto::Libcrypto;
pub(crate) use libcrypto::aws_lc::version as aws_lc_version;
pub(crate) use prepared::{PreparedTask, prepare_aws_lc};
pub(crate) use task::{ByteColumn, PeerAlgorithm, PeerTask};

/// The reason why a peer gives no figure. Only [`Differs`](PeerError::Differs) is a fault; the others name what is
/// absent.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its fields mean")]
pub enum PeerError {
    /// No libcrypto under any of the names tried.
    #[error("no libcrypto found: {reason}")]
    NotFound { reason: String },
    /// A library was loaded, but it is not OpenSSL 3.0 or later.
    #[error("{path}: not OpenSSL 3.0 or later, `{symbol}` is missing", path = path.display())]
    Unsuitable { path: PathBuf, symbol: &'static str },
    /// This build or configuration of the library lacks an algorithm.
    #[error("{library} has no {algorithm}: {reason}")]
    Unavailable { library: String, algorithm: &'static str, reason: String },
    /// The library rejected a key, an input or an operation.
    #[error("{library}: {call} failed: {reason}")]
    Failed { library: String, call: &'static str, reason: String },
    /// The task itself is inconsistent: a caller's fault.
    #[error("task: expected {expected}, found {found}")]
    Task { expected: String, found: String },
    /// The library's result is not the expected one.
    #[error("{library} and this program differ at item {item}")]
    Differs { library: String, item: usize },
}

impl PeerError {
    /// True if the row stays empty with a note; all other errors end the run.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(self, Self::NotFound { .. } | Self::Unavailable { .. })
    }
}
