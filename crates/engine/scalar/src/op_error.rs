//! Errors of one operation or record: the fault of the job, or the fault of the engine.

use oarlock_core::{EngineFault, Status};

use crate::fault::engine_failure;
use crate::ffi::LibraryError;

/// An error that leaves one job without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpError {
    /// The job, its key or its data is wrong. Other jobs are not affected.
    Job(Status),
    /// AWS-LC failed.
    Library(LibraryError),
}

impl OpError {
    /// Classifies a failed import of a key. Lack of memory is a fault of the engine; everything else is a bad key.
    pub(crate) fn from_key_error(error: LibraryError) -> Self {
        if error.is_out_of_memory() { Self::Library(error) } else { Self::Job(Status::BadKey) }
    }

    /// Classifies a failed import of a peer's public value. Lack of memory is a fault of the engine; everything else is
    /// a value out of range.
    pub(crate) fn from_peer_error(error: LibraryError) -> Self {
        if error.is_out_of_memory() { Self::Library(error) } else { Self::Job(Status::OutOfRange) }
    }

    /// Classifies a failed call that can only fail for lack of memory or for the length of its input.
    pub(crate) fn from_length_error(error: LibraryError) -> Self {
        if error.is_out_of_memory() { Self::Library(error) } else { Self::Job(Status::BadLength) }
    }

    /// Returns the status of the job, or the fault of the engine.
    pub(crate) fn status(self) -> Result<Status, EngineFault> {
        match self {
            Self::Job(status) => Ok(status),
            Self::Library(error) => Err(engine_failure(&error.to_string())),
        }
    }
}

impl From<LibraryError> for OpError {
    fn from(error: LibraryError) -> Self {
        Self::Library(error)
    }
}

impl From<Status> for OpError {
    fn from(status: Status) -> Self {
        Self::Job(status)
    }
}
