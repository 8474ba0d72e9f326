//! The options of a submission.

use std::time::Duration;

/// Options of a submission. `SubmitOptions::default()` suits most jobs; the methods change one option each.
///
/// ```
/// use std::time::Duration;
/// use oarlock_dispatch::SubmitOptions;
///
/// let options = SubmitOptions::default().with_tenant(7).with_deadline(Duration::from_millis(20));
/// assert_eq!(options.tenant, 7);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubmitOptions {
    /// The tenant that owns the jobs. Engine time is shared equally between tenants with waiting jobs, and each has
    /// its own bounds.
    pub tenant: u64,
    /// The time from now after which unanswered jobs end with `DeadlineExceeded`.
    pub deadline: Option<Duration>,
    /// True if the jobs must never be computed on the caller's thread. Use it for callers with a short stack, such as
    /// OpenSSL's `ASYNC_JOB` fibres with 32 KiB: an engine's batch needs more. The submission itself needs little
    /// stack. It copies inputs, takes a lock and starts threads the first time.
    pub never_on_caller_thread: bool,
    /// Delays waking a worker until the future has been polled twice, so that jobs of other ready tasks join the
    /// batch. Use it with many tasks per thread. If the jobs are cheap and still all that waits then, the second poll
    /// computes them itself, unless that is forbidden. [`wait`](crate::Ticket::wait) wakes a worker at once.
    pub coalesce: bool,
}

impl SubmitOptions {
    /// Sets the tenant that owns the jobs.
    #[must_use]
    pub fn with_tenant(self, tenant: u64) -> Self {
        Self { tenant, ..self }
    }

    /// Sets the time from now after which unanswered jobs end with `DeadlineExceeded`, or removes it.
    #[must_use]
    pub fn with_deadline(self, deadline: impl Into<Option<Duration>>) -> Self {
        Self { deadline: deadline.into(), ..self }
    }

    /// Forbids or allows computing the jobs on the caller's thread.
    #[must_use]
    pub fn with_never_on_caller_thread(self, never_on_caller_thread: bool) -> Self {
        Self { never_on_caller_thread, ..self }
    }

    /// Sets if a worker is woken only after other ready tasks have submitted their jobs.
    #[must_use]
    pub fn with_coalesce(self, coalesce: bool) -> Self {
        Self { coalesce, ..self }
    }
}
