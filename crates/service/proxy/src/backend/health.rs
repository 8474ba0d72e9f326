//! The health of an endpoint: what its connections say, and what checks say.

use std::time::Duration;

use tokio::time::Instant;

/// The time for which an endpoint rests after its first failed connect. Each further failure doubles it.
const MIN_REST: Duration = Duration::from_secs(1);

/// The maximum time for which an endpoint rests.
const MAX_REST: Duration = Duration::from_secs(30);

/// The health of an endpoint. An endpoint is healthy until something says otherwise.
#[derive(Debug, Default)]
pub(super) struct EndpointHealth {
    /// The number of failed connects in a row. Those that began while the endpoint rested already do not count.
    failures: u32,
    /// The end of the rest after a failure.
    rests_until: Option<Instant>,
    /// True if checks have found the endpoint down.
    is_down: bool,
    /// The number of checks in a row that contradict `is_down`.
    contradictions: u32,
    /// True if a check has passed. Until then one that fails is enough.
    has_passed: bool,
}

/// The use that may be made of an endpoint. Greater values are worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Availability {
    Ready,
    /// Its last connect failed. It gets connections only if no other endpoint can take them.
    Resting,
    /// Checks have found it down. It gets no connections.
    Down,
}

/// A change that operators learn of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HealthChange {
    Worse,
    Better,
}

/// The weight of an attempt to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectKind {
    /// The endpoint is healthy.
    Ordinary,
    /// The endpoint has rested, and this connection finds out whether it works again.
    Probe,
    /// The endpoint rests, and no other one is left.
    LastResort,
}

impl EndpointHealth {
    /// Returns true unless the last connect failed, or checks have found the endpoint down. A rest that has passed does
    /// not show that the endpoint works again.
    pub(super) fn is_healthy(&self, has_checks: bool) -> bool {
        self.rests_until.is_none() && !(has_checks && self.is_down)
    }

    /// Returns the use that may be made of the endpoint. Results of checks count only while the settings have checks.
    pub(super) fn availability(&self, now: Instant, has_checks: bool) -> Availability {
        match self.rests_until {
            _ if has_checks && self.is_down => Availability::Down,
            Some(end) if now < end => Availability::Resting,
            _ => Availability::Ready,
        }
    }

    /// Begins a connect. After a rest one connection tries the endpoint, and the others wait for its result elsewhere.
    pub(super) fn begin(&mut self, now: Instant) -> ConnectKind {
        match self.rests_until {
            None => ConnectKind::Ordinary,
            Some(end) if now < end => ConnectKind::LastResort,
            Some(_) => {
                // Until its result is known: a silent endpoint must not cost the time of a second client.
                self.rests_until = Some(now + MAX_REST);
                ConnectKind::Probe
            }
        }
    }

    /// Ends a connect that succeeded.
    pub(super) fn succeed(&mut self) -> Option<HealthChange> {
        self.failures = 0;
        self.rests_until.take().map(|_| HealthChange::Better)
    }

    /// Ends a connect that failed through a fault of the endpoint. Only the first of many that fail together lengthens
    /// the rest.
    pub(super) fn fail(&mut self, kind: ConnectKind, now: Instant) -> Option<HealthChange> {
        let counts = match kind {
            ConnectKind::Ordinary => self.rests_until.is_none(),
            ConnectKind::Probe => true,
            ConnectKind::LastResort => false,
        };
        if !counts {
            return None;
        }
        self.failures = self.failures.saturating_add(1);
        self.rests_until = Some(now + self.rest());
        (kind == ConnectKind::Ordinary).then_some(HealthChange::Worse)
    }

    /// Ends a connect that says nothing about the endpoint. The next connection may try it.
    pub(super) fn abandon(&mut self, kind: ConnectKind, now: Instant) {
        if kind == ConnectKind::Probe && self.rests_until.is_some() {
            self.rests_until = Some(now);
        }
    }

    /// Notes the result of a check. A check that passes ends a rest, too.
    pub(super) fn check(&mut self, has_passed: bool, rise: u32, fall: u32) -> Option<HealthChange> {
        let mut change = None;
        if has_passed {
            change = self.succeed();
        }
        let needed = match self.is_down {
            true => rise,
            false if !self.has_passed => 1,
            false => fall,
        };
        self.has_passed |= has_passed;
        if has_passed != self.is_down {
            self.contradictions = 0;
            return change;
        }
        self.contradictions += 1;
        if self.contradictions < needed {
            return None;
        }
        (self.is_down, self.contradictions) = (!has_passed, 0);
        Some(if has_passed { HealthChange::Better } else { HealthChange::Worse })
    }

    fn rest(&self) -> Duration {
        let doublings = self.failures.saturating_sub(1).min(16);
        MIN_REST.saturating_mul(1 << doublings).min(MAX_REST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_rest_grows_with_each_probe_that_fails_and_ends_with_a_success() {
        let (mut health, mut now) = (EndpointHealth::default(), Instant::now());
        let first = health.begin(now);
        assert_eq!(health.fail(first, now), Some(HealthChange::Worse));
        for rest in [1, 2, 4, 8, 16, 30, 30] {
            assert_eq!(health.availability(now + seconds(rest) - MIN_REST / 2, false), Availability::Resting);
            now += seconds(rest);
            assert_eq!(health.availability(now, true), Availability::Ready);
            let probe = health.begin(now);
            assert_eq!(probe, ConnectKind::Probe);
            assert_eq!(health.fail(probe, now), None, "the log has it already");
        }
        now += seconds(30);
        assert_eq!(health.begin(now), ConnectKind::Probe);
        assert_eq!(health.succeed(), Some(HealthChange::Better));
        assert_eq!(health.begin(now), ConnectKind::Ordinary);
        assert_eq!(health.succeed(), None);
    }

    #[test]
    fn checks_count_in_a_row_and_the_first_one_counts_alone() {
        let (mut health, now) = (EndpointHealth::default(), Instant::now());
        let is_down = |health: &EndpointHealth| health.availability(now, true) == Availability::Down;
        assert_eq!(health.check(false, 2, 3), Some(HealthChange::Worse), "nothing is known yet");
        assert!(is_down(&health) && health.availability(now, false) == Availability::Ready);
        for (passed, change) in [
            (true, None),
            (false, None),
            (true, None),
            (true, Some(HealthChange::Better)),
            (false, None),
            (false, None),
            (true, None),
            (false, None),
            (false, None),
            (false, Some(HealthChange::Worse)),
        ] {
            assert_eq!(health.check(passed, 2, 3), change, "{health:?}");
        }
        assert!(is_down(&health));
    }

    #[test]
    fn a_check_that_passes_ends_a_rest() {
        let (mut health, now) = (EndpointHealth::default(), Instant::now());
        let kind = health.begin(now);
        health.fail(kind, now);
        assert_eq!(health.availability(now, true), Availability::Resting);
        assert_eq!(health.check(true, 2, 3), Some(HealthChange::Better));
        assert_eq!(health.availability(now, true), Availability::Ready);
    }

    #[test]
    fn connects_that_fail_together_count_as_one() {
        let (mut health, now) = (EndpointHealth::default(), Instant::now());
        let kinds: Vec<_> = (0..100).map(|_| health.begin(now)).collect();
        for kind in kinds {
            health.fail(kind, now);
        }
        assert_eq!(health.begin(now), ConnectKind::LastResort);
        assert_eq!(health.fail(ConnectKind::LastResort, now), None);
        assert_eq!(health.availability(now + seconds(1), false), Availability::Ready);
    }

    #[test]
    fn one_connection_probes_while_the_others_stay_away() {
        let (mut health, now) = (EndpointHealth::default(), Instant::now());
        let first = health.begin(now);
        health.fail(first, now);
        let later = now + seconds(1);
        let probe = health.begin(later);
        assert_eq!(probe, ConnectKind::Probe);
        assert_eq!(health.availability(later, true), Availability::Resting);
        health.abandon(probe, later);
        assert_eq!(health.begin(later), ConnectKind::Probe, "another connection takes its place");
    }
}
