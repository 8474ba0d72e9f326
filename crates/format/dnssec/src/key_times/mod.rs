//! The times of a key, as BIND's key files hold them: `K<zone>+<algorithm>+<tag>.private` in fields, and `.key` in
//! comments.
//!
//! ```text
//! Publish: 20261130204425                                  a field of a private key
//! ; Publish: 20261130204425 (Mon Nov 30 20:44:25 2026)     a comment beside a DNSKEY
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`KeyTimes`], [`KeyPhase`] | the times of a key, and what the key does at a time |
//! | `files` | key files, read and rewritten |

mod files;
#[cfg(test)]
mod tests;

use std::fmt;

pub use self::files::{KeyTimesError, KeyTimesFault, TimedFile};

/// A time in the life of a key. The names are those of BIND's key files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyEvent {
    /// The key is made.
    Created,
    /// Its DNSKEY is in the zone from then on.
    Publish,
    /// It signs from then on.
    Activate,
    /// It is revoked from then on. RFC 5011 section 2.
    Revoke,
    /// It does not sign any more.
    Inactive,
    /// Its DNSKEY is not in the zone any more.
    Delete,
    /// Its CDS and CDNSKEY are in the zone from then on. RFC 7344.
    SyncPublish,
    /// Its CDS and CDNSKEY are not in the zone any more.
    SyncDelete,
}

/// The times of a key, in seconds from 1970 to 2106. Unlike the times of signatures they do not wrap: a later number is
/// a later time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyTimes {
    times: [Option<u32>; KeyEvent::ALL.len()],
}

/// The state of a key at a time, as `dnssec-signzone -S` derives it from the key's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPhase {
    /// The key is neither in the zone nor signs.
    Future,
    /// Its DNSKEY is in the zone, and the key does not sign yet.
    Published,
    /// The key signs, and its DNSKEY is not in the zone yet: double signatures. RFC 6781 4.1.1.2.
    Presigning,
    /// Its DNSKEY is in the zone, and the key signs.
    Active,
    /// Its DNSKEY is in the zone, and the key does not sign any more.
    Inactive,
    /// Its DNSKEY is in the zone with the revoke bit, and the key signs the zone's keys. RFC 5011 2.1.
    Revoked,
    /// The key is neither in the zone nor signs, because its time is over.
    Removed,
}

/// Two times in an order that makes no sense. BIND reports the pairs of which the second is [`KeyEvent::Delete`] or
/// [`KeyEvent::Inactive`], and uses the key nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyTimesContradiction {
    /// The event that should be the earlier one.
    pub first: KeyEvent,
    /// The event that should be the later one.
    pub then: KeyEvent,
}

impl KeyEvent {
    /// All events, in the order of BIND's key files.
    pub const ALL: [Self; 8] = [
        Self::Created,
        Self::Publish,
        Self::Activate,
        Self::Revoke,
        Self::Inactive,
        Self::Delete,
        Self::SyncPublish,
        Self::SyncDelete,
    ];

    /// Returns the name of the field.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "Created",
            Self::Publish => "Publish",
            Self::Activate => "Activate",
            Self::Revoke => "Revoke",
            Self::Inactive => "Inactive",
            Self::Delete => "Delete",
            Self::SyncPublish => "SyncPublish",
            Self::SyncDelete => "SyncDelete",
        }
    }

    fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name().as_bytes() == name)
    }
}

impl KeyTimes {
    /// Returns the time of an event.
    #[must_use]
    pub fn get(&self, event: KeyEvent) -> Option<u32> {
        self.times[event as usize]
    }

    /// Sets or removes the time of an event.
    pub fn set(&mut self, event: KeyEvent, time: Option<u32>) {
        self.times[event as usize] = time;
    }

    /// Returns true if no time is set. Such a key is always active.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.iter().all(Option::is_none)
    }

    /// Returns true if the time of an event is set and not after `now`.
    #[must_use]
    pub fn has_come(&self, event: KeyEvent, now: u32) -> bool {
        self.get(event).is_some_and(|time| time <= now)
    }

    /// Returns the state of the key at a time, by the rules of `dnssec-signzone -S`. A key that only states when it was
    /// created waits for its other times. A key without times is active.
    #[must_use]
    pub fn phase(&self, now: u32) -> KeyPhase {
        if self.is_empty() {
            return KeyPhase::Active;
        }
        if self.has_come(KeyEvent::Delete, now) {
            return KeyPhase::Removed;
        }
        let is_inactive = self.has_come(KeyEvent::Inactive, now);
        let signs = self.has_come(KeyEvent::Activate, now) && !is_inactive;
        // An active key without a time of publication is published.
        let is_published = match self.get(KeyEvent::Publish) {
            Some(publish) => publish <= now,
            None => signs,
        };
        match (is_published, signs) {
            (true, _) if self.has_come(KeyEvent::Revoke, now) => KeyPhase::Revoked,
            (true, true) => KeyPhase::Active,
            (true, false) if is_inactive => KeyPhase::Inactive,
            (true, false) => KeyPhase::Published,
            (false, true) => KeyPhase::Presigning,
            (false, false) if is_inactive => KeyPhase::Removed,
            (false, false) => KeyPhase::Future,
        }
    }

    /// Returns the pairs of times in an order that makes no sense.
    pub fn contradictions(&self) -> impl Iterator<Item = KeyTimesContradiction> {
        const ORDER: [(KeyEvent, KeyEvent); 6] = [
            (KeyEvent::Publish, KeyEvent::Activate),
            (KeyEvent::Publish, KeyEvent::Delete),
            (KeyEvent::Activate, KeyEvent::Inactive),
            (KeyEvent::Activate, KeyEvent::Delete),
            (KeyEvent::Inactive, KeyEvent::Delete),
            (KeyEvent::SyncPublish, KeyEvent::SyncDelete),
        ];
        let is_wrong = |(first, then)| matches!((self.get(first), self.get(then)), (Some(first), Some(then)) if then < first);
        let wrong = ORDER.into_iter().filter(move |pair| is_wrong(*pair));
        wrong.map(|(first, then)| KeyTimesContradiction { first, then })
    }
}

impl KeyPhase {
    /// Returns true if the DNSKEY is in the zone.
    #[must_use]
    pub fn is_published(self) -> bool {
        matches!(self, Self::Published | Self::Active | Self::Inactive | Self::Revoked)
    }

    /// Returns true if the key makes signatures. A revoked key makes those of the zone's keys only.
    #[must_use]
    pub fn signs(self) -> bool {
        matches!(self, Self::Presigning | Self::Active | Self::Revoked)
    }
}

impl fmt::Display for KeyEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for KeyPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Future => "future",
            Self::Published => "published",
            Self::Presigning => "presigning",
            Self::Active => "active",
            Self::Inactive => "inactive",
            Self::Revoked => "revoked",
            Self::Removed => "removed",
        })
    }
}

impl fmt::Display for KeyTimesContradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is before {}", self.then, self.first)
    }
}
