//! The state and the statistics of a device.

use crate::HsmError;

/// The state of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HsmState {
    /// It looks for the token, opens a session and logs in.
    Connecting,
    /// It takes jobs.
    Ready,
    /// Its jobs fail at once. It is probed now and then.
    Quarantined {
        /// The error of the last connection, or the one that ended it.
        reason: HsmError,
    },
}

/// The state and the statistics of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HsmReport {
    /// The state at this moment.
    pub state: HsmState,
    /// The number of threads that have or open a session.
    pub sessions: usize,
    /// The number of queued jobs and calls.
    pub queued: usize,
    /// The number of threads that hang in the module at present.
    pub hanging: usize,
    /// The number of jobs and calls that succeeded.
    pub answered: u64,
    /// The number of jobs and calls that failed or were refused.
    pub failed: u64,
    /// The number of wrong answers.
    pub wrong: u64,
    /// The number of calls that were abandoned.
    pub abandoned: u64,
    /// The number of sessions and logins that were repaired.
    pub repaired: u64,
    /// The number of connections.
    pub connected: u64,
}
