//! Whether a failure concerns the job or the engine.

use oarlock_core::{EngineFault, Status};

use crate::fault::failed;
use crate::ffi::LibraryError;

/// Why one job has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpError {
    /// The job, its key or its data: nobody else's concern.
    Job(Status),
    /// AWS-LC itself.
    Library(LibraryError),
}

impl OpError {
    /// What a failed import of a key means: memory is the library's concern, all else is the key's.
    pub(crate) fn from_key_error(error: LibraryError) -> Self {
        if error.is_out_of_memory() { Self::Library(error) } else { Self::Job(Status::BadKey) }
    }

    /// What a failed call means that only memory or the input's length can make fail.
    pub(crate) fn from_length_error(error: LibraryError) -> Self {
        if error.is_out_of_memory() { Self::Library(error) } else { Self::Job(Status::BadLength) }
    }

    /// The job's status, or the fault of the engine.
    pub(crate) fn status(self) -> Result<Status, EngineFault> {
        match self {
            Self::Job(status) => Ok(status),
            Self::Library(error) => Err(failed(&error.to_string())),
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
