//! Metrics of one kind, by key. They are found without a lock.

use std::fmt;
use std::sync::OnceLock;

/// Values by key. A member is added at its first use and stays. There are few members, so a linear search is as fast
/// as hashing. Keys beyond the maximum share one value, so that no peer can make a family grow without end.
pub struct MetricFamily<K, V> {
    members: Box<[OnceLock<(K, V)>]>,
    rest: V,
}

impl<K: Clone + Eq, V: Default> MetricFamily<K, V> {
    /// Creates a family of at most `max` members.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self { members: (0..max).map(|_| OnceLock::new()).collect(), rest: V::default() }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &K) -> &V {
        // The thread that initialises a free member first takes it. A thread that loses this race reads the
        // winner's key and continues, so that no key gets two members.
        for member in &self.members {
            let (member_key, value) = member.get_or_init(|| (key.clone(), V::default()));
            if member_key == key {
                return value;
            }
        }
        &self.rest
    }

    /// Returns the value that keys beyond the maximum share.
    pub fn rest(&self) -> &V {
        &self.rest
    }

    /// Returns every member, and at last the shared value under the key None.
    pub fn iter(&self) -> impl Iterator<Item = (Option<&K>, &V)> {
        let members = self.members.iter().map_while(OnceLock::get);
        members.map(|(key, value)| (Some(key), value)).chain([(None, &self.rest)])
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for MetricFamily<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = self.members.iter().map_while(OnceLock::get).map(|(key, value)| (key, value));
        f.debug_map().entries(members).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn members_stay_and_the_rest_share_a_value() {
        let family: MetricFamily<char, AtomicU64> = MetricFamily::new(2);
        for key in "abacada".chars() {
            family.get(&key).fetch_add(1, Ordering::Relaxed);
        }
        let read: Vec<_> =
            family.iter().map(|(key, value)| (key.copied(), value.load(Ordering::Relaxed))).collect();
        assert_eq!(read, [(Some('a'), 4), (Some('b'), 1), (None, 2)]);
    }

    #[test]
    fn threads_that_meet_at_a_new_key_count_into_one_value() {
        let family: MetricFamily<u32, AtomicU64> = MetricFamily::new(8);
        std::thread::scope(|scope| {
            for first in 0..4 {
                let family = &family;
                scope.spawn(move || {
                    for key in 0..4 {
                        family.get(&((first + key) % 4)).fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        let mut read: Vec<_> =
            family.iter().map(|(key, value)| (key.copied(), value.load(Ordering::Relaxed))).collect();
        read.sort_unstable();
        assert_eq!(read, [(None, 0), (Some(0), 4), (Some(1), 4), (Some(2), 4), (Some(3), 4)]);
    }
}
