//! A cache of key records. Each name is looked up once, however many messages wait for it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Mutex;

use crate::key_answer::{KeyAnswer, KeyName};

/// The limits of the cache: time and number of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLimits {
    /// The maximum number of names.
    pub max_names: usize,
    /// The maximum time to keep records, in seconds. It overrides a longer TTL.
    pub max_ttl_s: u64,
    /// The maximum time to keep the answer that a name does not exist, in seconds.
    pub max_negative_ttl_s: u64,
    /// The time to keep a failed lookup, in seconds. It stops every message from asking a dead server.
    pub failure_s: u64,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self { max_names: 100_000, max_ttl_s: 86_400, max_negative_ttl_s: 3_600, failure_s: 10 }
    }
}

/// The state of a name in the cache.
#[derive(Debug)]
pub enum KeyLookup<W> {
    /// The name has a valid answer.
    Known(KeyAnswer),
    /// The caller must look the name up. It then calls [`store`](KeyCache::store) or [`give_up`](KeyCache::give_up).
    Ask(W),
    /// Another caller is looking the name up. The cache keeps the waiter and returns it with the answer.
    Waits,
}

/// A cache of keys by name. One caller looks a name up, and the others wait. `W` represents a waiter, such as the
/// sender of a channel. The caller passes the time in seconds, from any clock that never goes back.
pub struct KeyCache<W> {
    limits: CacheLimits,
    entries: Mutex<HashMap<KeyName, CacheEntry<W>>>,
}

enum CacheEntry<W> {
    Until(u64, KeyAnswer),
    Asked(Vec<W>),
}

impl<W> KeyCache<W> {
    /// Makes an empty cache.
    #[must_use]
    pub fn new(limits: CacheLimits) -> Self {
        Self { limits, entries: Mutex::new(HashMap::new()) }
    }

    /// Returns a valid answer if there is one. Otherwise one caller asks and all later ones wait.
    pub fn look_up(&self, name: &KeyName, now_s: u64, waiter: W) -> KeyLookup<W> {
        let mut entries = self.lock();
        match entries.get_mut(name) {
            Some(CacheEntry::Until(end_s, answer)) if now_s < *end_s => {
                return KeyLookup::Known(answer.clone());
            }
            Some(CacheEntry::Asked(waiters)) => {
                waiters.push(waiter);
                return KeyLookup::Waits;
            }
            _ => {}
        }
        if entries.len() >= self.limits.max_names {
            evict(&mut entries, now_s, self.limits.max_names);
        }
        // The caller's own waiter goes back with `Ask`, so that only later callers are in the list.
        entries.insert(name.clone(), CacheEntry::Asked(Vec::new()));
        KeyLookup::Ask(waiter)
    }

    /// Stores an answer for as long as its TTL and the limits allow. Returns the waiters.
    pub fn store(&self, name: &KeyName, answer: &KeyAnswer, ttl_s: u64, now_s: u64) -> Vec<W> {
        let limits = &self.limits;
        let kept_s = match answer {
            // The TTL comes from another party's DNS, so the limits bound it. A revoked key must not stay for years.
            KeyAnswer::Records { .. } => ttl_s.min(limits.max_ttl_s),
            KeyAnswer::NoRecord => ttl_s.min(limits.max_negative_ttl_s),
            KeyAnswer::Unknown(_) => limits.failure_s,
        };
        let known = CacheEntry::Until(now_s.saturating_add(kept_s), answer.clone());
        match self.lock().insert(name.clone(), known) {
            Some(CacheEntry::Asked(waiters)) => waiters,
            _ => Vec::new(),
        }
    }

    /// Ends a lookup without an answer. Returns the waiters; the next caller asks again.
    pub fn give_up(&self, name: &KeyName) -> Vec<W> {
        match self.lock().entry(name.clone()) {
            Entry::Occupied(entry) if matches!(entry.get(), CacheEntry::Asked(_)) => match entry.remove() {
                CacheEntry::Asked(waiters) => waiters,
                CacheEntry::Until(..) => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// Returns the number of names that have an answer or a lookup in progress.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns true if the cache holds no name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<KeyName, CacheEntry<W>>> {
        // Every update is a single map operation, so that a panic elsewhere leaves the map consistent.
        self.entries.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Drops expired entries. If that is not enough, drops the quarter of the entries that expires first.
fn evict<W>(entries: &mut HashMap<KeyName, CacheEntry<W>>, now_s: u64, max: usize) {
    let end_of = |known: &CacheEntry<W>| match known {
        CacheEntry::Until(end_s, _) => *end_s,
        // An entry with waiters must never be dropped, or they would wait for ever.
        CacheEntry::Asked(_) => u64::MAX,
    };
    entries.retain(|_, known| end_of(known) > now_s);
    let wanted = max - max / 4;
    if entries.len() > wanted {
        let mut ends: Vec<u64> = entries.values().map(end_of).collect();
        let over = entries.len() - wanted;
        // A selection in linear time is enough; the order of the rest does not matter.
        let (_, last, _) = ends.select_nth_unstable(over - 1);
        let last = *last;
        let mut left = over;
        entries.retain(|_, known| {
            // Several entries may expire at the same time, so that the count decides among them.
            let goes = left > 0 && end_of(known) <= last && end_of(known) != u64::MAX;
            left -= usize::from(goes);
            !goes
        });
    }
}

impl<W> fmt::Debug for KeyCache<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyCache({} names)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: usize) -> KeyName {
        KeyName::new(&format!("s{number}"), "example.com")
    }

    fn records() -> KeyAnswer {
        KeyAnswer::from_records(["v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="])
    }

    #[test]
    fn only_one_caller_looks_a_name_up() {
        let cache = KeyCache::new(CacheLimits::default());
        assert!(matches!(cache.look_up(&name(1), 0, 'a'), KeyLookup::Ask('a')));
        assert!(matches!(cache.look_up(&name(1), 0, 'b'), KeyLookup::Waits));
        assert!(matches!(cache.look_up(&name(2), 0, 'c'), KeyLookup::Ask('c')));
        assert!(matches!(cache.look_up(&name(1), 0, 'd'), KeyLookup::Waits));
        assert_eq!(cache.store(&name(1), &records(), 60, 0), ['b', 'd']);
        assert!(matches!(cache.look_up(&name(1), 59, 'e'), KeyLookup::Known(KeyAnswer::Records { .. })));
        assert!(matches!(cache.look_up(&name(1), 60, 'f'), KeyLookup::Ask('f')));
        assert!(matches!(cache.look_up(&name(1), 60, 'g'), KeyLookup::Waits));
        assert_eq!(cache.give_up(&name(1)), ['g']);
        assert!(matches!(cache.look_up(&name(1), 60, 'h'), KeyLookup::Ask('h')));
    }

    #[test]
    fn every_kind_of_answer_has_its_lifetime() {
        let cache = KeyCache::new(CacheLimits::default());
        let until = |answer: &KeyAnswer, ttl_s, end_s| {
            cache.look_up(&name(1), u64::MAX - 1, ());
            cache.store(&name(1), answer, ttl_s, 0);
            let at = |now_s| matches!(cache.look_up(&name(1), now_s, ()), KeyLookup::Known(_));
            assert!((end_s == 0 || at(end_s - 1)) && !at(end_s), "{answer:?}");
            cache.give_up(&name(1));
        };
        until(&records(), 30, 30);
        until(&records(), 1 << 40, 86_400);
        until(&records(), 0, 0);
        until(&KeyAnswer::NoRecord, 1 << 40, 3_600);
        until(&KeyAnswer::Unknown("x".into()), 9_999, 10);
    }

    #[test]
    fn a_full_cache_drops_expiring_entries_and_keeps_waiters() {
        let cache = KeyCache::new(CacheLimits { max_names: 8, ..CacheLimits::default() });
        for number in 0..8 {
            cache.look_up(&name(number), 0, number);
            if number != 3 {
                cache.store(&name(number), &records(), 100 + number as u64, 0);
            }
        }
        cache.look_up(&name(3), 0, 33);
        assert!(matches!(cache.look_up(&name(8), 50, 8), KeyLookup::Ask(8)));
        assert_eq!(cache.len(), 7);
        assert!(matches!(cache.look_up(&name(7), 50, 7), KeyLookup::Known(_)));
        assert_eq!(cache.store(&name(3), &records(), 1, 50), [33]);
        assert!(matches!(cache.look_up(&name(0), 50, 0), KeyLookup::Ask(0)));
    }
}
