//! Log lines about the acceptance of connections.

use std::io;
use std::time::Duration;

use oarlock_network::{HandshakeAdmission, LogLimit};
use tracing::warn;

/// Limits the lines about connections that could not be accepted.
static FAILURES: LogLimit = LogLimit::new(Duration::from_secs(10));

/// Limits the lines about many connections without a handshake.
static CROWDS: LogLimit = LogLimit::new(Duration::from_secs(10));

/// Reports a connection that could not be accepted.
pub fn report_failure(error: &io::Error) {
    if let Some(suppressed) = FAILURES.admit() {
        warn!(%error, suppressed, "a connection could not be accepted; descriptors run out if `ulimit -n` is low");
    }
}

/// Reports that half of the maximum of handshakes is open, before any of them has to give way. `limits` are the names
/// of the limits.
pub fn report_crowd(handshakes: &HandshakeAdmission, limits: &str) {
    if handshakes.is_crowded()
        && let Some(suppressed) = CROWDS.admit()
    {
        let open = handshakes.len();
        warn!(open, suppressed, "many connections have not finished their handshake ([limits] {limits})");
    }
}
