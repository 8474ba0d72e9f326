//! A time limit for idle connections.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// A time limit that restarts whenever bytes are received or sent.
///
/// A restart costs one store. The timer of tokio is set again only if it fires before the limit has passed.
#[derive(Debug)]
pub struct IdleTimer {
    limit: Duration,
    /// The start of the wait; None if nothing has waited since the last restart.
    since: Option<Instant>,
    timer: Pin<Box<Sleep>>,
}

impl IdleTimer {
    /// Makes a timer with this limit. Needs a tokio runtime.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        Self { limit, since: None, timer: Box::pin(sleep(limit)) }
    }

    /// Restarts the limit at the next call of [`poll_expired`](Self::poll_expired).
    pub fn renew(&mut self) {
        self.since = None;
    }

    /// Returns `Ready` if the limit has passed since the first call after a restart.
    pub fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let end = *self.since.get_or_insert_with(Instant::now) + self.limit;
        while self.timer.as_mut().poll(context).is_ready() {
            if end <= Instant::now() {
                return Poll::Ready(());
            }
            // The timer was set before the last restart, so it fired too early.
            self.timer.as_mut().reset(end);
        }
        Poll::Pending
    }

    /// Waits until the limit has passed. The future may be dropped at any time.
    pub fn expired(&mut self) -> impl Future<Output = ()> + '_ {
        std::future::poll_fn(|context| self.poll_expired(context))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_renewed_timer_waits_for_its_whole_limit_again() {
        let mut timer = IdleTimer::new(LIMIT);
        advance(LIMIT - Duration::from_secs(1)).await;
        timer.renew();
        let began = Instant::now();
        timer.expired().await;
        assert!((LIMIT..LIMIT + Duration::from_secs(1)).contains(&began.elapsed()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_that_is_polled_again_keeps_its_start() {
        let mut timer = IdleTimer::new(LIMIT);
        let began = Instant::now();
        tokio::select! {
            biased;
            () = timer.expired() => unreachable!("the limit has not passed"),
            () = sleep(LIMIT / 2) => {}
        }
        timer.expired().await;
        assert!((LIMIT..LIMIT + Duration::from_secs(1)).contains(&began.elapsed()));
    }
}
