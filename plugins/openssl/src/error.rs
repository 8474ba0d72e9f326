//! The reasons why an operation fails, as they appear in OpenSSL's error queue.

use std::ffi::{CStr, c_uint};

use oarlock::JobError;
use oarlock::keys::KeyError;
use oarlock::tls_groups::ShareError;
use oarlock_wire::PoolError;

/// The setting without which HAProxy sets RLIMIT_NPROC to zero at its start. Users other than root then get no threads.
pub(crate) const INSECURE_FORK: &str = " (HAProxy: insecure-fork-wanted allows threads)";

/// An error of a provider call.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProviderError {
    #[error("{name} = {value:?}: expected {expected}")]
    Setting { name: &'static str, value: String, expected: &'static str },
    #[error("digest {0} is not offered by oarlock")]
    Digest(String),
    #[error("{what} is not offered by oarlock")]
    Unsupported { what: String },
    #[error("{what}: expected {expected}")]
    Parameter { what: &'static str, expected: String },
    #[error("the provider that does what oarlock does not offer has refused")]
    Fallback,
    #[error("no key was given")]
    NoKey,
    #[error("no digest was given, or no init function was called")]
    NotInitialised,
    #[error("the output buffer has {available} bytes, the output needs {needed}")]
    OutputTooSmall { needed: usize, available: usize },
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Job(#[from] JobError),
    #[error(transparent)]
    Share(#[from] ShareError),
    #[error("cryptoserver: {0}")]
    Service(#[from] PoolError),
    #[error("key {0:?} lives in a cryptoserver, which mode = local does not ask")]
    NoService(String),
    #[error("{0}")]
    Reference(String),
    #[error("no descriptor to wait for: {0}")]
    Descriptor(#[from] std::io::Error),
    #[error("no accelerator: {0}")]
    Accelerator(String),
}

/// The reasons by number: the texts of `ERR_reason_error_string`.
// Numbers keep their meaning: programs and log filters compare them with ERR_GET_REASON(3).
pub(crate) const REASONS: [(c_uint, &CStr); 7] = [
    (1, c"bad configuration"),
    (2, c"not offered"),
    (3, c"bad parameter"),
    (4, c"bad key"),
    (5, c"operation failed"),
    (6, c"cryptoserver"),
    (7, c"no resources"),
];

impl ProviderError {
    /// True if another provider may offer what this one lacks.
    pub(crate) fn is_not_offered(&self) -> bool {
        matches!(self, Self::Digest(_) | Self::Unsupported { .. })
    }

    /// Returns the number of the error in [`REASONS`].
    pub(crate) fn reason(&self) -> c_uint {
        match self {
            Self::Setting { .. } | Self::NoService(_) => 1,
            Self::Digest(_) | Self::Unsupported { .. } => 2,
            Self::Parameter { .. } | Self::Share(_) | Self::NotInitialised | Self::OutputTooSmall { .. } => 3,
            Self::NoKey | Self::Key(_) | Self::Reference(_) => 4,
            Self::Job(_) | Self::Fallback => 5,
            Self::Service(_) => 6,
            Self::Descriptor(_) | Self::Accelerator(_) => 7,
        }
    }
}
