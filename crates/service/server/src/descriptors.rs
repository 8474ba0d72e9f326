//! Limits of connections that fit into the number of open files.

use rustix::process::{Resource, getrlimit};

use crate::config::ServerLimits;

/// The number of files that are reserved for other uses: listeners, the event loop, logs, key files, and connections
/// for metrics.
const RESERVED: u64 = 28;

/// Returns limits whose connections fit into the open files that this process may have, and a warning about limits that
/// were reduced.
pub(crate) fn fit_to_descriptors(limits: ServerLimits) -> (ServerLimits, Option<String>) {
    match getrlimit(Resource::Nofile).current {
        None => (limits, None),
        Some(open_files) => fit(limits, open_files),
    }
}

/// Reduces limits to a number of open files: at most a quarter for the UNIX socket, a quarter for handshakes, and the
/// rest for clients of the network.
fn fit(limits: ServerLimits, open_files: u64) -> (ServerLimits, Option<String>) {
    let available = usize::try_from(open_files.saturating_sub(RESERVED)).unwrap_or(usize::MAX).max(4);
    let wanted = limits
        .max_connections
        .saturating_add(limits.max_handshakes)
        .saturating_add(limits.max_unix_connections);
    if wanted <= available {
        return (limits, None);
    }
    let quarter = (available / 4).max(1);
    let (handshakes, unix) = (limits.max_handshakes.min(quarter), limits.max_unix_connections.min(quarter));
    let max_connections = limits.max_connections.min(available - handshakes - unix);
    let warning = format!(
        "only {open_files} files may be open (LimitNOFILE, `ulimit -n`), which [limits] would exceed: max_connections is \
         {max_connections} in place of {}, max_handshakes {handshakes} in place of {}, max_unix_connections {unix} in place of {}",
        limits.max_connections, limits.max_handshakes, limits.max_unix_connections
    );
    let fitted =
        ServerLimits { max_connections, max_handshakes: handshakes, max_unix_connections: unix, ..limits };
    (fitted, Some(warning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduces_connections_to_the_open_files() {
        let (same, warning) = fit(ServerLimits::default(), 1 << 20);
        assert!(same == ServerLimits::default() && warning.is_none());
        let (fitted, warning) = fit(ServerLimits::default(), 64);
        assert_eq!((fitted.max_connections, fitted.max_handshakes, fitted.max_unix_connections), (18, 9, 9));
        assert!(warning.unwrap().contains("only 64 files"));
        let (fitted, _) = fit(ServerLimits { max_handshakes: 2, ..ServerLimits::default() }, 64);
        assert_eq!((fitted.max_connections, fitted.max_handshakes, fitted.max_unix_connections), (25, 2, 9));
        let (fitted, _) = fit(ServerLimits::default(), 3);
        assert_eq!((fitted.max_connections, fitted.max_handshakes, fitted.max_unix_connections), (2, 1, 1));
    }
}
