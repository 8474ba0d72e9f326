//! The start of futures on tokio.

use futures_util::FutureExt;
use tokio::runtime::Runtime;

/// Runs the future of a command to its end.
///
/// `block_on` is generic and holds the code of its future once per scheduler of tokio. A boxed future has one copy of
/// that code. The futures of the services are the largest functions of the program.
pub(crate) fn run_future<T>(runtime: &Runtime, future: impl Future<Output = T>) -> T {
    runtime.block_on(future.boxed_local())
}
