//! The clock that times of keys are compared with, and times of keys as output.

use std::path::Path;

use oarlock_dnssec::{KeyEvent, KeyPhase, KeyTimes, rdata};
use serde::Serialize;

use super::DnssecError;
use crate::time::{TimePoint, now};

/// The first second of 2024. A clock that shows an earlier time is wrong.
const MIN_CLOCK: u32 = 1_704_067_200;

/// The time at which the times of keys are read: the given one, or that of the clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyClock {
    given: Option<TimePoint>,
    /// The time of the clock.
    clock: u32,
}

impl KeyClock {
    pub(super) fn new(given: Option<TimePoint>) -> Self {
        Self { given, clock: now() }
    }

    /// Returns seconds since 1970.
    ///
    /// # Errors
    /// The clock is wrong, and the time is not given or is relative to the clock.
    pub(super) fn now(self) -> Result<u32, DnssecError> {
        match self.given {
            Some(TimePoint::At(time)) => Ok(time),
            _ if self.clock < MIN_CLOCK => Err(DnssecError::Clock { now: self.clock }),
            given => Ok(given.map_or(self.clock, |time| time.from(self.clock))),
        }
    }

    /// Returns the phase of a key. A key without times needs no clock.
    ///
    /// # Errors
    /// See [`now`](Self::now).
    pub(super) fn phase(self, times: &KeyTimes) -> Result<KeyPhase, DnssecError> {
        if times.is_empty() { Ok(KeyPhase::Active) } else { Ok(times.phase(self.now()?)) }
    }
}

/// The times of a key, as `--json` prints them: fourteen digits in UTC.
#[derive(Debug, Serialize)]
pub(super) struct TimesLine {
    created: Option<String>,
    publish: Option<String>,
    activate: Option<String>,
    revoke: Option<String>,
    inactive: Option<String>,
    delete: Option<String>,
    sync_publish: Option<String>,
    sync_delete: Option<String>,
}

impl TimesLine {
    pub(super) fn new(times: &KeyTimes) -> Self {
        let time = |event| times.get(event).map(date);
        Self {
            created: time(KeyEvent::Created),
            publish: time(KeyEvent::Publish),
            activate: time(KeyEvent::Activate),
            revoke: time(KeyEvent::Revoke),
            inactive: time(KeyEvent::Inactive),
            delete: time(KeyEvent::Delete),
            sync_publish: time(KeyEvent::SyncPublish),
            sync_delete: time(KeyEvent::SyncDelete),
        }
    }
}

/// Warns about times in an order that makes no sense. The key is used by its times nevertheless, as BIND does.
pub(super) fn warn(path: &Path, times: &KeyTimes) {
    for wrong in times.contradictions() {
        eprintln!("oarlock: {}: warning: {wrong}", path.display());
    }
}

/// Formats a time as key files do: `20261130204425`.
pub(super) fn date(time: u32) -> String {
    let mut text = Vec::new();
    rdata::write_time(time, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_before_2024_is_refused_unless_the_time_is_given() {
        let at = |given: Option<&str>, clock| {
            let given = given.map(|text| text.parse().unwrap());
            KeyClock { given, clock }
        };
        let mut times = KeyTimes::default();
        for given in [None, Some("-1h"), Some("+1h")] {
            let clock = at(given, MIN_CLOCK - 1);
            assert_eq!(clock.phase(&times).unwrap(), KeyPhase::Active);
            let said = clock.now().unwrap_err().to_string();
            assert!(said.contains("20231231235959") && said.contains("--now YYYY"), "{said}");
        }
        times.set(KeyEvent::Activate, Some(7));
        assert!(at(None, MIN_CLOCK - 1).phase(&times).is_err());
        assert_eq!(at(Some("7"), MIN_CLOCK - 1).phase(&times).unwrap(), KeyPhase::Active);
        assert_eq!(at(None, MIN_CLOCK).now().unwrap(), MIN_CLOCK);
        assert_eq!(at(Some("-1h"), MIN_CLOCK).now().unwrap(), MIN_CLOCK - 3600);
    }
}
