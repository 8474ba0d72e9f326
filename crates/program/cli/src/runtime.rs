//! The start of futures on tokio, and the limits of their process.

use futures_util::FutureExt;
use tokio::runtime::Runtime;

/// Runs the future of a command to its end.
///
/// `block_on` is generic and holds the code of its future once per scheduler of tokio. A boxed future has one copy of
/// that code. The futures of the services are the largest functions of the program.
pub(crate) fn run_future<T>(runtime: &Runtime, future: impl Future<Output = T>) -> T {
    runtime.block_on(future.boxed_local())
}

/// Raises the limit of open files as far as the system allows it. Logs a warning if the connections of a service need
/// more.
pub(crate) fn raise_open_files(needed: usize) {
    let allowed = oarlock_service_kit::raise_open_files();
    if allowed.is_some_and(|allowed| allowed < needed as u64) {
        tracing::warn!(
            needed,
            allowed,
            "the system allows fewer open files than [limits] max_connections needs: lower it, or raise `ulimit -n`"
        );
    }
}
