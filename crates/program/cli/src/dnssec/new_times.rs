//! Times of keys as arguments.

use std::path::Path;
use std::str::FromStr;

use clap::Args;
use oarlock_dnssec::{KeyEvent, KeyTimes};

use super::DnssecError;
use super::times::date;
use crate::time::{TimePoint, now};

/// Times to give to a key.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Times of the key")]
pub(super) struct NewTimesArgs {
    /// Time from which the DNSKEY is in the zone
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    publish: Option<NewTime>,
    /// Time from which the key signs
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    activate: Option<NewTime>,
    /// Time from which the key is revoked (RFC 5011)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    revoke: Option<NewTime>,
    /// Time from which the key does not sign any more
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    inactive: Option<NewTime>,
    /// Time from which the DNSKEY is not in the zone any more
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    delete: Option<NewTime>,
    /// Time from which CDS and CDNSKEY of the key are in the zone
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    sync_publish: Option<NewTime>,
    /// Time from which CDS and CDNSKEY of the key are not in the zone any more
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    sync_delete: Option<NewTime>,
}

/// A time of a key, or its removal.
#[derive(Clone, Copy, Debug)]
pub(super) enum NewTime {
    At(TimePoint),
    Removed,
}

impl NewTime {
    /// Returns seconds since 1970, if the present is `now`; None for a time that is removed.
    pub(super) fn from(self, now: u32) -> Result<Option<u32>, DnssecError> {
        match self {
            Self::Removed => Ok(None),
            Self::At(time) => Ok(Some(from(time, now)?)),
        }
    }
}

impl FromStr for NewTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::Removed),
            "now" => Ok(Self::At(TimePoint::At(now()))),
            time => time.parse().map(Self::At).map_err(|error| format!("{error}; or now, or none")),
        }
    }
}

/// Returns seconds since 1970, if the present is `now`. Times of keys do not wrap.
fn from(time: TimePoint, now: u32) -> Result<u32, DnssecError> {
    u32::try_from(time.since_1970(now.into())).map_err(|_| too_late())
}

impl NewTimesArgs {
    fn given(&self) -> [(KeyEvent, Option<NewTime>); 7] {
        [
            (KeyEvent::Publish, self.publish),
            (KeyEvent::Activate, self.activate),
            (KeyEvent::Revoke, self.revoke),
            (KeyEvent::Inactive, self.inactive),
            (KeyEvent::Delete, self.delete),
            (KeyEvent::SyncPublish, self.sync_publish),
            (KeyEvent::SyncDelete, self.sync_delete),
        ]
    }

    /// Returns true if no time is given.
    pub(super) fn is_empty(&self) -> bool {
        self.given().iter().all(|(_, time)| time.is_none())
    }

    /// Changes the times that are given.
    ///
    /// # Errors
    /// A time is after 2106.
    pub(super) fn apply(&self, times: &mut KeyTimes, now: u32) -> Result<(), DnssecError> {
        for (event, time) in self.given() {
            if let Some(time) = time {
                times.set(event, time.from(now)?);
            }
        }
        Ok(())
    }

    /// Returns the times of a new key. Of publication and activation one follows from the other, and both are now if
    /// none is given.
    ///
    /// # Errors
    /// The time from publication to activation is shorter than `prepublish_s`, or a time is after 2106.
    pub(super) fn new_key(&self, now: u32, prepublish_s: u32) -> Result<KeyTimes, DnssecError> {
        let mut times = KeyTimes::default();
        times.set(KeyEvent::Created, Some(now));
        self.apply(&mut times, now)?;
        let (publish, activate) = (times.get(KeyEvent::Publish), times.get(KeyEvent::Activate));
        if self.publish.is_none() {
            let publish = activate.map_or(now, |activate| activate.saturating_sub(prepublish_s));
            times.set(KeyEvent::Publish, Some(publish));
        }
        if self.activate.is_none() {
            let published = if self.publish.is_none() { now } else { publish.unwrap_or(now) };
            times.set(KeyEvent::Activate, Some(after(published, prepublish_s)?));
        }
        match (times.get(KeyEvent::Publish), times.get(KeyEvent::Activate)) {
            (Some(publish), Some(activate)) if prepublish_s > 0 => {
                check_interval(publish, activate, now, prepublish_s)?;
            }
            _ => {}
        }
        Ok(times)
    }

    /// Returns the times of a key that signs from the time on at which another one, in the file `path`, does not.
    ///
    /// # Errors
    /// The other key has no such time, or it is sooner than `prepublish_s` from now, or a time is after 2106.
    pub(super) fn successor(
        &self,
        path: &Path,
        old: &KeyTimes,
        now: u32,
        prepublish_s: u32,
    ) -> Result<KeyTimes, DnssecError> {
        let path = path.display();
        let activate = old.get(KeyEvent::Inactive).ok_or_else(|| {
            DnssecError::Usage(format!(
                "{path}: the key has no time of Inactive, from which a successor would sign: expected one, as \
                 `oarlock dnssec settime {path} --inactive +60d` sets it"
            ))
        })?;
        let publish = activate.saturating_sub(prepublish_s);
        if publish < now {
            return Err(DnssecError::Usage(format!(
                "{path}: the key becomes Inactive {}, sooner than a successor can be published for {prepublish_s} s: expected \
                 a shorter --prepublish, or a later time by `oarlock dnssec settime {path} --inactive TIME`",
                date(activate)
            )));
        }
        if old.get(KeyEvent::Delete).is_none() {
            eprintln!(
                "oarlock: {path}: warning: the key has no time of Delete, so it stays in the zone after its successor \
                 signs; `oarlock dnssec settime {path} --delete TIME` sets it"
            );
        }
        let mut times = KeyTimes::default();
        times.set(KeyEvent::Created, Some(now));
        times.set(KeyEvent::Publish, Some(publish));
        times.set(KeyEvent::Activate, Some(activate));
        self.apply(&mut times, now)?;
        Ok(times)
    }
}

fn check_interval(publish: u32, activate: u32, now: u32, prepublish_s: u32) -> Result<(), DnssecError> {
    if activate.saturating_sub(publish) < prepublish_s {
        return Err(DnssecError::Usage(format!(
            "--prepublish {prepublish_s}s: Publish {} and Activate {} are closer together",
            date(publish),
            date(activate)
        )));
    }
    if activate.saturating_sub(prepublish_s) < now {
        return Err(DnssecError::Usage(format!(
            "--prepublish {prepublish_s}s: Activate {} is sooner: expected a later --activate, or a shorter --prepublish",
            date(activate)
        )));
    }
    Ok(())
}

/// Returns the time so many seconds after another one. Times of keys do not wrap.
fn after(time: u32, seconds: u32) -> Result<u32, DnssecError> {
    time.checked_add(seconds).ok_or_else(too_late)
}

fn too_late() -> DnssecError {
    DnssecError::Usage("a time of a key is after 7 February 2106, where the format of key files ends".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u32 = 1_800_000_000;
    const DAY: u32 = 86_400;

    #[test]
    fn times_of_keys_end_in_2106() {
        let time = |text: &str| text.parse::<NewTime>().unwrap().from(4_000_000_000);
        assert_eq!(time("none").unwrap(), None);
        assert_eq!(time("+1h").unwrap(), Some(4_000_003_600));
        assert_eq!(time("21060207062815").unwrap(), Some(u32::MAX));
        let said = time("+3500d").unwrap_err().to_string();
        assert!(said.contains("2106"), "{said}");
        for wrong in ["21060207062816", "tomorrow", "", "None"] {
            assert!(wrong.parse::<NewTime>().is_err(), "{wrong}");
        }
    }

    fn args(publish: Option<&str>, activate: Option<&str>) -> NewTimesArgs {
        let time = |text: Option<&str>| text.map(|text| text.parse().unwrap());
        NewTimesArgs { publish: time(publish), activate: time(activate), ..NewTimesArgs::default() }
    }

    #[test]
    fn of_publication_and_activation_one_follows_from_the_other() {
        // The rows of `dnssec-keygen -P, -A, -i`, but for the first, where BIND activates a key that is not published.
        let at = |days: i64| Some((i64::from(NOW) + days * i64::from(DAY)) as u32);
        for (publish, activate, prepublish_d, expected) in [
            (Some("+2d"), None, 0, (at(2), at(2))),
            (None, None, 0, (at(0), at(0))),
            (Some("none"), None, 0, (None, at(0))),
            (None, Some("none"), 0, (at(0), None)),
            (None, Some("-2d"), 0, (at(-2), at(-2))),
            (Some("+2d"), None, 3, (at(2), at(5))),
            (None, None, 3, (at(0), at(3))),
            (Some("+2d"), Some("none"), 0, (at(2), None)),
            (None, Some("+9d"), 5, (at(4), at(9))),
        ] {
            let times = args(publish, activate).new_key(NOW, prepublish_d * DAY).unwrap();
            let found = (times.get(KeyEvent::Publish), times.get(KeyEvent::Activate));
            assert_eq!(found, expected, "{publish:?} {activate:?} {prepublish_d}");
            assert_eq!(times.get(KeyEvent::Created), Some(NOW));
        }
        let refused = |publish, activate, days: u32| {
            args(publish, activate).new_key(NOW, days * DAY).unwrap_err().to_string()
        };
        assert!(refused(None, Some("+2d"), 5).contains("is sooner"));
        assert!(refused(Some("+2d"), Some("+3d"), 5).contains("closer together"));
    }

    #[test]
    fn a_successor_signs_when_its_predecessor_does_not() {
        let mut old = KeyTimes::default();
        let path = Path::new("Kexample.+013+00001");
        let successor = |old: &KeyTimes, days: u32| args(None, None).successor(path, old, NOW, days * DAY);
        let said = successor(&old, 30).unwrap_err().to_string();
        assert!(said.contains("no time of Inactive") && said.contains("settime"), "{said}");
        old.set(KeyEvent::Inactive, Some(NOW + 20 * DAY));
        let said = successor(&old, 30).unwrap_err().to_string();
        assert!(said.contains("sooner than"), "{said}");
        let times = successor(&old, 20).unwrap();
        assert_eq!(times.get(KeyEvent::Publish), Some(NOW));
        assert_eq!(times.get(KeyEvent::Activate), Some(NOW + 20 * DAY));
    }
}
