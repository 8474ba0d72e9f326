//! Conversions between errors of jobs, statuses of records, and codes of the protocol.

use std::collections::HashMap;

use oarlock::JobError;
use oarlock::{self, Status};

use crate::proto::{Blame, Code, Fault};

/// Returns the code of a job's error.
fn code_of(error: &JobError) -> Code {
    match error {
        JobError::Rejected | JobError::SmallOrderPeer | JobError::PeerNotOnCurve => Code::Rejected,
        JobError::KeyType { .. } | JobError::UnusableKey { .. } => Code::WrongKey,
        JobError::Unsupported { .. } => Code::Unsupported,
        JobError::Refused { reason } => code_of_status(*reason),
        JobError::BadCheckValue => Code::BadKey,
        JobError::DependencyFailed => Code::DependencyFailed,
        JobError::Overloaded { .. } => Code::ResourceExhausted,
        JobError::DeadlineExceeded => Code::DeadlineExceeded,
        JobError::Cancelled | JobError::Forked | JobError::ShutDown => Code::Unavailable,
        other => match other.blame() {
            oarlock::Blame::Machine => Code::Failed,
            oarlock::Blame::Peer => Code::Rejected,
            oarlock::Blame::Caller => Code::Invalid,
        },
    }
}

/// Returns the code of a record's status.
#[must_use]
pub fn code_of_status(status: Status) -> Code {
    match status {
        Status::Done => Code::Done,
        Status::Rejected => Code::Rejected,
        Status::OutOfRange | Status::BadLength | Status::Malformed => Code::Invalid,
        Status::BadKey | Status::WrongKeyType => Code::WrongKey,
        Status::DependencyFailed => Code::DependencyFailed,
        Status::UnknownKey => Code::NoSuchKey,
        Status::Forbidden | Status::IvForbidden => Code::PermissionDenied,
        Status::KeyUsedUp => Code::UsedUp,
        Status::WeakKey | Status::BadCheckValue => Code::BadKey,
        Status::Unsupported => Code::Unsupported,
        _ => Code::Failed,
    }
}

/// Returns the status of a record with this code. A code that several statuses have becomes the first of them.
#[must_use]
pub fn status_of_code(code: Code) -> Status {
    match code {
        Code::Done => Status::Done,
        Code::Rejected => Status::Rejected,
        Code::Invalid => Status::BadLength,
        Code::WrongKey | Code::BadKey => Status::BadKey,
        Code::DependencyFailed => Status::DependencyFailed,
        Code::NoSuchKey => Status::UnknownKey,
        Code::PermissionDenied => Status::Forbidden,
        Code::UsedUp => Status::KeyUsedUp,
        Code::Unsupported => Status::Unsupported,
        _ => Status::EngineFailed,
    }
}

/// Returns the fault of a job that failed.
#[must_use]
pub fn fault_of(index: u32, error: &JobError) -> Fault {
    let retry_after_ms = if matches!(error, JobError::Overloaded { .. }) { RETRY_AFTER_MS } else { 0 };
    let blame = blame_of(error.blame()).into();
    Fault { index, code: code_of(error).into(), message: error.to_string(), blame, retry_after_ms }
}

/// Returns the protocol's value for who is to blame.
#[must_use]
pub fn blame_of(blame: oarlock::Blame) -> Blame {
    match blame {
        oarlock::Blame::Caller => Blame::Caller,
        oarlock::Blame::Peer => Blame::Peer,
        oarlock::Blame::Machine => Blame::Machine,
    }
}

/// The time after which a refused client may try again. A full queue empties in less time.
const RETRY_AFTER_MS: u32 = 250;

/// Returns the error of a job that a server answered with this fault.
#[must_use]
pub fn error_of(fault: &Fault, server: &str) -> JobError {
    let (holder, reason) = (server.to_owned(), fault.message.clone());
    match (fault.code(), fault.blame()) {
        (Code::Rejected, _) => JobError::Rejected,
        // The order counts: a code with an error of its own wins over the general rule by blame.
        (Code::DependencyFailed, _) => JobError::DependencyFailed,
        (Code::DeadlineExceeded, _) => JobError::DeadlineExceeded,
        (Code::Done | Code::Failed | Code::Unavailable | Code::ResourceExhausted, _)
        | (_, Blame::Machine) => JobError::HolderFailed { holder, reason },
        _ => JobError::HolderRefused { holder, reason },
    }
}

/// The distinct faults of one answer. The size of the table does not grow with the number of operations.
#[derive(Debug, Default)]
pub(crate) struct FaultTable {
    faults: Vec<Fault>,
    indices: HashMap<(i32, i32, String), u8>,
}

/// The maximum number of faults of one answer. One byte per operation is the index of its fault, and 0 means no fault.
pub(crate) const MAX_FAULTS: usize = 255;

/// The maximum bytes of a fault's message.
pub(crate) const MAX_FAULT_BYTES: usize = 512;

impl FaultTable {
    /// Adds the fault of the operation at `index` if it is new. Returns the fault's number from 1, or 0 if the table is
    /// full.
    pub(crate) fn add(&mut self, index: u32, fault: &Fault) -> u8 {
        // Neighbouring operations often fail alike, and a comparison is cheaper than a look-up.
        if let Some(last) = self.faults.last()
            && (last.code, last.blame, &last.message) == (fault.code, fault.blame, &fault.message)
        {
            return self.faults.len() as u8;
        }
        let mut message = fault.message.clone();
        // Cut at a character, because protobuf strings must be UTF-8.
        let is_end = |end: &usize| message.is_char_boundary(*end);
        message.truncate((0..=MAX_FAULT_BYTES.min(message.len())).rev().find(is_end).unwrap_or(0));
        let key = (fault.code, fault.blame, message);
        if let Some(number) = self.indices.get(&key) {
            return *number;
        }
        // The code of the operation stays correct: only its reason is left out.
        if self.faults.len() >= MAX_FAULTS {
            return 0;
        }
        self.faults.push(Fault { index, message: key.2.clone(), ..fault.clone() });
        let number = self.faults.len() as u8;
        self.indices.insert(key, number);
        number
    }

    /// Returns the faults in the order of their numbers.
    pub(crate) fn into_faults(self) -> Vec<Fault> {
        self.faults
    }
}
