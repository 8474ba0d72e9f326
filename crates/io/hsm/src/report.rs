//! The state and the statistics of a device.

use serde::{Deserialize, Serialize};

/// The state of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum HsmState {
    /// It looks for the token, opens a session and logs in.
    #[default]
    Connecting,
    /// It takes jobs.
    Ready,
    /// Its jobs fail at once. It is probed now and then.
    Quarantined {
        /// The error of the last connection, or the one that ended it.
        reason: String,
    },
}

/// The state and the statistics of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HsmReport {
    /// The state at this moment.
    pub state: HsmState,
    /// The names of the mechanisms that the token offered last, as `CKM_ECDSA`, in its order. Those that this program
    /// does not know are left out.
    pub mechanisms: Vec<String>,
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
    /// The number of processes of the module that have ended by themselves or were ended because they hung.
    pub restarts: u64,
}

impl HsmReport {
    /// Adds the counts of an earlier life of the device, whose state and sessions are gone.
    pub(crate) fn with_past(mut self, past: &Self) -> Self {
        self.answered += past.answered;
        self.failed += past.failed;
        self.wrong += past.wrong;
        self.abandoned += past.abandoned;
        self.repaired += past.repaired;
        self.connected += past.connected;
        self.restarts += past.restarts;
        if self.mechanisms.is_empty() {
            self.mechanisms.clone_from(&past.mechanisms);
        }
        self
    }
}
