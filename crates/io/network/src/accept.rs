//! Accepting connections with a pause after each failure.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::time::sleep;

/// The pause after a failed accept. It is short enough to go unnoticed, and long enough that a process without free
/// descriptors does not spend its time on failures.
const BACK_OFF: Duration = Duration::from_millis(20);

/// Accepts the next connection. After each failure it calls `on_failure`, pauses, and tries again.
///
/// The future may be dropped at any time: no connection is lost, because `accept` is cancel-safe for the listeners of
/// tokio.
pub async fn accept_next<T, F>(mut accept: impl FnMut() -> F, mut on_failure: impl FnMut(io::Error)) -> T
where
    F: Future<Output = io::Result<T>>,
{
    loop {
        match accept().await {
            Ok(connection) => return connection,
            Err(error) => on_failure(error),
        }
        // A listener stays ready while the process has no free descriptor. Without a pause this loop would never yield
        // the CPU.
        sleep(BACK_OFF).await;
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn accepting_pauses_after_each_failure_and_reports_it() {
        let began = Instant::now();
        let (mut attempts, mut failures) = (0, Vec::new());
        let accept = || {
            attempts += 1;
            ready(if attempts < 3 { Err(io::Error::other(attempts.to_string())) } else { Ok("stream") })
        };
        let accepted = accept_next(accept, |error| failures.push(error.to_string())).await;
        assert_eq!((accepted, failures), ("stream", vec!["1".to_owned(), "2".to_owned()]));
        assert_eq!(began.elapsed(), 2 * BACK_OFF);
    }
}
