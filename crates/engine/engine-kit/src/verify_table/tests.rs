use std::sync::atomic::{AtomicUsize, Ordering};

use oarlock_core::{Fingerprint, KeyParts, ProcessMark};

use super::*;

const KILO: usize = 1024;

/// A table of one kilobyte that holds its public key.
#[derive(Debug)]
struct ToyTable([u8; 32]);

impl VerifyTable for ToyTable {
    const BYTES: usize = KILO;
    const USES: u32 = 4;

    fn public(key: &Key) -> Option<&[u8]> {
        key.ed25519_public().map(|public| &public[..])
    }

    fn is_right(&self, public: &[u8]) -> bool {
        self.0 == public
    }
}

fn build(public: &[u8]) -> Option<ToyTable> {
    public.try_into().ok().map(ToyTable)
}

fn key(number: u8) -> Key {
    Key::local(KeyParts::Ed25519Public([number; 32]), Fingerprint::new([number; 32]))
}

fn bytes(cache: &VerifyTableCache) -> usize {
    cache.table_usage().bytes
}

/// Asks for the tables of these keys in one run. Returns true for each key that has its own table.
fn ask(cache: &VerifyTableCache, keys: &[u8]) -> Vec<bool> {
    let keys: Vec<Key> = keys.iter().map(|number| key(*number)).collect();
    let tables = cache.tables(keys.iter(), build);
    let is_own =
        |(index, key): (usize, &Key)| tables.get(index).map(|table| &table.0) == key.ed25519_public();
    keys.iter().enumerate().map(is_own).collect()
}

#[test]
fn a_table_is_built_in_the_background_after_enough_uses() {
    let cache = VerifyTableCache::new(8 * KILO);
    assert_eq!(ask(&cache, &[1, 2, 1]), [false; 3]);
    cache.wait_for_tables();
    assert_eq!(bytes(&cache), 0);
    assert_eq!(ask(&cache, &[1, 1]), [false; 2]);
    cache.wait_for_tables();
    assert_eq!(bytes(&cache), KILO);
    assert_eq!(ask(&cache, &[2, 1, 2, 1]), [false, true, false, true]);
    assert_eq!(ask(&cache, &[2]), [false]);
    cache.wait_for_tables();
    assert_eq!(ask(&cache, &[2, 1]), [true; 2]);
}

#[test]
fn a_cache_that_builds_at_once_has_a_table_for_the_first_use() {
    let cache = VerifyTableCache::new(8 * KILO).at_once();
    assert_eq!(ask(&cache, &[1, 2, 1, 3]), [true; 4]);
    assert_eq!(bytes(&cache), 3 * KILO);
}

#[test]
fn a_new_table_evicts_the_table_idle_longest_and_never_one_in_use() {
    let cache = VerifyTableCache::new(2 * KILO).at_once();
    assert_eq!(ask(&cache, &[1]), [true]);
    assert_eq!(ask(&cache, &[2]), [true]);
    assert_eq!(ask(&cache, &[1]), [true]);
    assert_eq!(ask(&cache, &[3]), [true], "the table of 3 evicts that of 2");
    assert_eq!(ask(&cache, &[3, 1]), [true, true]);
    assert_eq!(ask(&cache, &[2, 3, 1]), [false, true, true], "all tables are in use");
    assert_eq!(bytes(&cache), 2 * KILO);
}

#[test]
fn more_keys_than_fit_do_not_evict_each_other_in_turn() {
    let (cache, rounds) = (VerifyTableCache::new(3 * KILO), if cfg!(miri) { 20 } else { 100 });
    for _ in 0..rounds {
        (0..6).for_each(|number| drop(ask(&cache, &[number])));
        cache.wait_for_tables();
    }
    let before: Vec<bool> = (0..6).flat_map(|number| ask(&cache, &[number])).collect();
    assert_eq!(before.iter().filter(|has_table| **has_table).count(), 3);
    for _ in 0..rounds {
        let now: Vec<bool> = (0..6).flat_map(|number| ask(&cache, &[number])).collect();
        cache.wait_for_tables();
        assert_eq!(now, before);
    }
}

#[test]
fn a_dropped_table_is_built_again() {
    let cache = VerifyTableCache::new(2 * KILO).at_once();
    assert_eq!(ask(&cache, &[1]), [true]);
    cache.drop_tables();
    assert_eq!(bytes(&cache), 0);
    assert_eq!(ask(&cache, &[1]), [true]);
}

#[test]
fn a_table_beyond_the_budget_is_never_built() {
    static BUILT: AtomicUsize = AtomicUsize::new(0);
    let cache = VerifyTableCache::new(KILO - 1).at_once();
    let key = key(1);
    let tables = cache.tables([&key; 9].into_iter(), |public| {
        BUILT.fetch_add(1, Ordering::Relaxed);
        build(public)
    });
    assert!((0..9).all(|index| tables.get(index).is_none()));
    assert_eq!((bytes(&cache), BUILT.load(Ordering::Relaxed)), (0, 0));
}

#[test]
fn a_table_that_fails_to_build_is_tried_only_once() {
    static TRIED: AtomicUsize = AtomicUsize::new(0);
    let fail = |_: &[u8]| {
        TRIED.fetch_add(1, Ordering::Relaxed);
        None::<ToyTable>
    };
    let wrong = |_: &[u8]| {
        TRIED.fetch_add(1, Ordering::Relaxed);
        Some(ToyTable([0; 32]))
    };
    let panics = |_: &[u8]| -> Option<ToyTable> {
        TRIED.fetch_add(1, Ordering::Relaxed);
        // Without the message of a panic, which would look like a failure in the output of the test.
        std::panic::resume_unwind(Box::new("a build that panics"))
    };
    for cache in [VerifyTableCache::new(8 * KILO), VerifyTableCache::new(8 * KILO).at_once()] {
        TRIED.store(0, Ordering::Relaxed);
        for _ in 0..10 {
            let (one, two, three) = (key(1), key(2), key(3));
            assert!(cache.tables([&one; 4].into_iter(), fail).get(3).is_none());
            assert!(cache.tables([&two; 4].into_iter(), wrong).get(3).is_none());
            assert!(cache.tables([&three; 4].into_iter(), panics).get(3).is_none());
            cache.wait_for_tables();
        }
        assert_eq!((TRIED.load(Ordering::Relaxed), bytes(&cache)), (3, 0));
        assert_eq!(ask(&cache, &[4, 4, 4, 4]), [cache.timing == BuildTiming::AtOnce; 4]);
        cache.wait_for_tables();
        assert_eq!(ask(&cache, &[4]), [true], "the builder continues after a panic");
    }
}

#[test]
fn a_key_with_the_fingerprint_of_another_key_does_not_get_its_table() {
    let cache = VerifyTableCache::new(8 * KILO).at_once();
    assert_eq!(ask(&cache, &[1]), [true]);
    let imitation = Key::local(KeyParts::Ed25519Public([2; 32]), Fingerprint::new([1; 32]));
    assert!(cache.tables([&imitation, &key(1)].into_iter(), build).get(0).is_none());
    assert!(cache.tables([&key(1), &imitation].into_iter(), build).get(1).is_none());
}

#[test]
fn a_key_of_another_kind_has_no_table() {
    let cache = VerifyTableCache::new(8 * KILO).at_once();
    let other = Key::local(KeyParts::X25519Public([1; 32]), Fingerprint::new([9; 32]));
    let present = key(1);
    let tables = cache.tables([&other, &present].into_iter(), build);
    assert!(tables.get(0).is_none() && tables.get(1).is_some());
}

#[test]
fn keys_that_are_used_once_are_forgotten_when_there_are_too_many() {
    let cache = VerifyTableCache::new(8 * KILO);
    let many = if cfg!(miri) { 20 } else { 20_000 };
    for number in 0..many {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&u64::to_ne_bytes(number));
        let key = Key::local(KeyParts::Ed25519Public(bytes), Fingerprint::new(bytes));
        assert!(cache.tables([&key].into_iter(), build).get(0).is_none());
    }
    assert!(cache.shared().store.entries() <= 8192);
    assert_eq!(ask(&cache, &[200; 4]), [false; 4]);
    cache.wait_for_tables();
    assert_eq!(ask(&cache, &[200]), [true]);
}

#[test]
#[cfg_attr(miri, ignore = "leaks on purpose")]
fn the_child_of_a_fork_builds_its_own_tables() {
    let cache_of_child = VerifyTableCache::new(8 * KILO);
    // Inherited from a parent: the builder thread is lost, and its lock is held for ever.
    let inherited = VerifyTableCache::new(8 * KILO);
    let parent = inherited.state.get_for(ProcessMark::imaginary(1), |_| CacheOwner::new(8 * KILO));
    let held = parent.0.builder.hold();
    for cache in [&cache_of_child, &inherited] {
        assert_eq!(ask(cache, &[1; 4]), [false; 4]);
        cache.wait_for_tables();
        assert_eq!((ask(cache, &[1]), bytes(cache)), (vec![true], KILO));
    }
    drop(held);
}

#[test]
fn a_cache_shared_by_threads_stays_within_its_budget() {
    let cache = VerifyTableCache::new(4 * KILO);
    let rounds = if cfg!(miri) { 4 } else { 250 };
    std::thread::scope(|scope| {
        for first in 0..4 {
            let cache = &cache;
            scope.spawn(move || {
                for round in 0..rounds {
                    let keys: Vec<u8> = (0..8).map(|n| (first + n * (round % 3 + 1)) % 12).collect();
                    ask(cache, &keys);
                    assert!(bytes(cache) <= 4 * KILO);
                }
            });
        }
    });
    cache.wait_for_tables();
    assert!(bytes(&cache) <= 4 * KILO);
}
